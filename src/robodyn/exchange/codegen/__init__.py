"""Code generation: exported models as C, and the compilers that make programs of it."""

from robodyn.exchange.codegen.c_folder import WrittenCode, write_c
from robodyn.exchange.codegen.web import LiveModel, Slider, make_live, write_wasm

__all__ = ["LiveModel", "Slider", "WrittenCode", "make_live", "write_c", "write_wasm"]
