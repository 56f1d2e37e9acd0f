"""Native code: traced functions as machine code, made without a compiler and kept on disk; and exact derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.native.cache import cache_folder
    from robodyn.native.compiling import compile_kernels, compile_lanes, improve_program
    from robodyn.native.derivatives import Pattern, directional, jacobian, pattern
    from robodyn.native.kernel import Kernel, KernelModule, LaneModule
    from robodyn.native.machine import has_wide_vectors
    from robodyn.native.program import Program
    from robodyn.native.reading import UnsupportedOperation, is_plain, read_program
    from robodyn.native.smoothness import find_rough_entries
    from robodyn.native.sweeps import FEW_CALLS, Sweep, build_jacobian

__all__ = [
    "FEW_CALLS",
    "Kernel",
    "KernelModule",
    "LaneModule",
    "Pattern",
    "Program",
    "Sweep",
    "UnsupportedOperation",
    "build_jacobian",
    "cache_folder",
    "compile_kernels",
    "compile_lanes",
    "directional",
    "find_rough_entries",
    "has_wide_vectors",
    "improve_program",
    "is_plain",
    "jacobian",
    "pattern",
    "read_program",
]

__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.native.cache": "cache_folder",
        "robodyn.native.derivatives": "Pattern directional jacobian pattern",
        "robodyn.native.compiling": "compile_kernels compile_lanes improve_program",
        "robodyn.native.kernel": "Kernel KernelModule LaneModule",
        "robodyn.native.machine": "has_wide_vectors",
        "robodyn.native.program": "Program",
        "robodyn.native.reading": "UnsupportedOperation is_plain read_program",
        "robodyn.native.smoothness": "find_rough_entries",
        "robodyn.native.sweeps": "FEW_CALLS Sweep build_jacobian",
    },
)
