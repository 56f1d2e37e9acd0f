"""Code generation: exported models as C, and the compilers that make programs of it."""

from robodyn.base import imported_names

from .c_folder import WrittenCode, write_c
from .web import LiveModel, Slider, make_live, write_wasm

__all__ = imported_names(__name__)
