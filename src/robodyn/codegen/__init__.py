"""Code generation: exported models as C, and the compilers that make programs of it."""

from robodyn.codegen.c_folder import Written, write_c
from robodyn.codegen.web_folder import write_wasm

__all__ = ["Written", "write_c", "write_wasm"]
