"""Generated C as something to call."""

import ctypes

import numpy as np

from robodyn.computation.native.c_code import PREAMBLE, emit_program, emit_sweep, emit_tables
from robodyn.exchange.codegen.compilers import compile_library, host_platform


def build_c(program, folder, *, swept=False, chunk_size=400):
    """Callable of the program's inputs that gives its output, computed by generated C."""
    entry = '__attribute__((visibility("default"))) void entry(const double **i, double *o) '
    n = len(program.in_sizes) - swept
    arguments = ", ".join([*(f"i[{k}]" for k in range(n)), "o"])
    body = emit_sweep("f", program) if swept else emit_program("f", program, chunk_size=chunk_size)
    (folder / "f.c").write_text(PREAMBLE + emit_tables([program]) + body + entry + f"{{ f({arguments}); }}\n")
    compile_library(host_platform(), folder, ["f.c"], "f.so")
    call = ctypes.CDLL(str(folder / host_platform() / "f.so")).entry
    size = program.out_sizes[0] * (program.in_sizes[-1] if swept else 1)

    def run(*inputs):
        arrays = [np.ascontiguousarray(values, dtype=float) for values in inputs]
        result = np.zeros(size)
        pointers = (ctypes.c_void_p * max(n, 1))(*[array.ctypes.data for array in arrays])
        call(pointers, ctypes.c_void_p(result.ctypes.data))
        return result

    return run
