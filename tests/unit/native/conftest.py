"""How do tests run a program just as it is, in chunks of any size?"""

import pytest
from support.kernels import call_program

from robodyn.computation.native.emit import emit_module
from robodyn.computation.native.machine import MachineCode, compile_objects


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def run_program():
    """Callable (program, inputs, chunk_size, longest) -> all outputs one after another."""

    def run(program, inputs, chunk_size=10**9, longest=1):
        machine = MachineCode(compile_objects(emit_module([program], chunk_size, longest=longest)), ["k0"])
        return call_program(machine, 0, program, inputs)

    return run
