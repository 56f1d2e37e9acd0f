"""Native code: traced functions as machine code, made without a compiler and kept on disk; and exact derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.computation.native.cache import cache_folder
    from robodyn.computation.native.compiling import Options, compile_kernels, compile_lanes, improve_program
    from robodyn.computation.native.derivatives import (
        FEW_CALLS,
        Sweep,
        build_jacobian,
        find_rough_entries,
    )
    from robodyn.computation.native.kernel import Kernel, KernelModule, LaneModule
    from robodyn.computation.native.machine import has_wide_registers, has_wide_vectors
    from robodyn.computation.native.program import Program
    from robodyn.computation.native.reading import UnsupportedOperation, is_plain, read_program

__all__ = [
    "FEW_CALLS",
    "Kernel",
    "KernelModule",
    "LaneModule",
    "Options",
    "Program",
    "Sweep",
    "UnsupportedOperation",
    "build_jacobian",
    "cache_folder",
    "compile_kernels",
    "compile_lanes",
    "find_rough_entries",
    "has_wide_registers",
    "has_wide_vectors",
    "improve_program",
    "is_plain",
    "read_program",
]

__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.computation.native.cache": "cache_folder",
        "robodyn.computation.native.derivatives": "FEW_CALLS Sweep build_jacobian find_rough_entries",
        "robodyn.computation.native.compiling": "Options compile_kernels compile_lanes improve_program",
        "robodyn.computation.native.kernel": "Kernel KernelModule LaneModule",
        "robodyn.computation.native.machine": "has_wide_registers has_wide_vectors",
        "robodyn.computation.native.program": "Program",
        "robodyn.computation.native.reading": "UnsupportedOperation is_plain read_program",
    },
)
