"""How do tests run a program just as it is, in chunks of any size?"""

import pytest
from support.kernels import call_program

from robodyn.computation.native.emit import emit_module
from robodyn.computation.native.machine import MachineCode, compile_objects


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def run_program():
    """Callable (program, inputs, chunk_size, longest) -> all outputs one after another; compiled once."""
    compiled = {}

    def run(program, inputs, chunk_size=10**9, longest=1):
        key = (id(program), chunk_size, longest)
        if key not in compiled:
            machine = MachineCode(compile_objects(emit_module([program], chunk_size, longest=longest)), ["k0"])
            # With the program, whose number no other one gets meanwhile.
            compiled[key] = program, machine
        return call_program(compiled[key][1], 0, program, inputs)

    return run
