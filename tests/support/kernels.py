"""Kernels for tests: Python functions behind the engine's machine signature, and one that is compiled."""

import ctypes

import casadi as ca
import numpy as np

from robodyn.computation.engine import EngineProblem
from robodyn.computation.native import compile_kernels

SIGNATURE = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_double)] * 6)
ALIVE = []
"""Callbacks live as long as the tests: the engine knows only their addresses."""


def kernel(function) -> int:
    """Machine address of a function that reads t[0], x, d, m, p and writes out."""
    callback = SIGNATURE(function)
    ALIVE.append(callback)
    return ctypes.cast(callback, ctypes.c_void_p).value


def copy_states(n: int) -> int:
    """A kernel whose outputs are the first n states."""

    def copy(t, x, d, m, p, out):
        for i in range(n):
            out[i] = x[i]

    return kernel(copy)


def make_problem(rhs: int, n_x: int, **fields) -> EngineProblem:
    """A problem whose outputs are its states, unless told otherwise."""
    sizes = {"n_q": 0, "n_m": 0, "n_d": 0, "n_guards": 0, "n_limited": 0}
    if "outputs" not in fields:
        fields["outputs"], fields["n_y"] = copy_states(n_x), n_x
    for name in ("guard_direction", "guard_terminal", "guard_action"):
        fields.setdefault(name, np.zeros(fields.get("n_guards", 0), np.int64))
    return EngineProblem(**{**sizes, "n_x": n_x, "rhs": rhs, **fields})


def compile_sine(factor=2.5):
    """Value at 2 of a function of x, and how often it was compiled."""
    x = ca.SX.sym("x")
    messages = []
    module = compile_kernels({"f": ca.Function("f", [x], [ca.sin(x) * factor])}, on_compile=messages.append)
    return float(module.kernels["f"](2.0)[0]), len(messages)


def compile_together(barrier, results):
    """The value of a function compiled when the other processes are ready to compile it too."""
    barrier.wait()
    results.put(compile_sine()[0])


def call_program(machine, k, program, inputs):
    """All outputs, one after another, of program k of machine code."""
    arrays = [np.ascontiguousarray(array, float) for array in inputs] + [np.zeros(size) for size in program.out_sizes]
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))
    signature(machine.address_of(f"k{k}"))(*(array.ctypes.data for array in arrays))
    return np.concatenate([np.zeros(0), *arrays[len(inputs) :]])
