"""Native code: traced functions as machine code, made without a compiler and kept on disk; and exact derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base import load_when_used

if TYPE_CHECKING:
    from .cache import cache_folder
    from .compiling import Options, compile_kernels, compile_lanes, improve_program
    from .derivatives import (
        FEW_CALLS,
        Sweep,
        build_jacobian,
        find_rough_entries,
    )
    from .kernel import Kernel, KernelModule, LaneModule
    from .machine import has_wide_registers, has_wide_vectors
    from .program import Program
    from .reading import UnsupportedOperation, is_plain, read_program

__getattr__, __dir__, __all__ = load_when_used(__name__)
