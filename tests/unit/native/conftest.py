"""How do tests run a program just as it is, in chunks of any size?"""

import ctypes

import numpy as np
import pytest

from robodyn.computation.native.emit import emit_module
from robodyn.computation.native.machine import Machine, compile_objects


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def run_program():
    """Callable (program, inputs, chunk_size, longest) -> all outputs one after another."""

    def run(program, inputs, chunk_size=10**9, longest=1):
        machine = Machine(compile_objects(emit_module([program], chunk_size, longest=longest)), ["k0.frame"])
        frame = np.concatenate([*inputs, np.zeros(sum(program.out_sizes))])
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(machine.address_of("k0.frame"))(frame.ctypes.data)
        return frame[sum(program.in_sizes) :]

    return run
