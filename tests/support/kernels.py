"""Kernels for tests of the engine, compiled by numba with the engine's machine signature."""

import numba
import numpy as np
from numba import types

from robodyn.engine import Problem

SIGNATURE = types.void(*[types.CPointer(types.float64)] * 6)


class Kernels:
    """Compiles functions f(t, x, d, m, p, out) and keeps them alive as long as their addresses are used."""

    def __init__(self):
        self.alive = []

    def address(self, function) -> int:
        """Machine address of a function that reads t[0], x, d, m, p and writes out."""
        compiled = numba.cfunc(SIGNATURE, error_model="numpy")(function)
        self.alive.append(compiled)
        return compiled.address


KERNELS = Kernels()


def kernel(function) -> int:
    """Machine address of a kernel; it lives as long as the tests."""
    return KERNELS.address(function)


def copy_states(n: int) -> int:
    """A kernel whose outputs are the first n states."""

    def copy(t, x, d, m, p, out):
        for i in range(n):
            out[i] = x[i]

    return kernel(copy)


def make_problem(rhs: int, n_x: int, **fields) -> Problem:
    """A problem whose outputs are its states, unless told otherwise."""
    sizes = {"n_q": 0, "n_v": 0, "n_m": 0, "n_d": 0, "n_guards": 0, "n_limited": 0}
    if "outputs" not in fields:
        fields["outputs"], fields["n_y"] = copy_states(n_x), n_x
    for name in ("guard_direction", "guard_terminal", "guard_action"):
        fields.setdefault(name, np.zeros(fields.get("n_guards", 0), np.int64))
    return Problem(**{**sizes, "n_x": n_x, "rhs": rhs, **fields})
