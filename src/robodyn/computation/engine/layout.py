"""Structures of the C engine: which fields have they? Read from its headers, where each is declared once."""

import ctypes
import re
from functools import cache
from pathlib import Path

from robodyn.computation.engine.library import load_library

HEADERS = tuple(Path(__file__).with_name(name) for name in ("engine.h", "coupling.h"))
NUMBERS = {"double": ctypes.c_double, "int64_t": ctypes.c_int64}
"""Types of the fields that are numbers; all others are addresses."""
ENGINE_NAMES = ("Model", "Method", "Solver", "Recording", "Run", "Check", "Slice", "Record", "March")
NAMES = (*ENGINE_NAMES, "Trend", "CoupledRun", "Channel", "Port", "Pair", "Coupling")

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRUCTURE = re.compile(r"typedef struct (?:\w+ )?\{(.*?)\} (\w+);", re.DOTALL)
_FIELD = re.compile(r"(?:const )?(?:struct )?(\w+) (\*?)(\w+);")


@cache
def _text() -> str:
    return _COMMENT.sub("", "".join(header.read_text(encoding="utf-8") for header in HEADERS))


@cache
def fields_of(name: str) -> dict[str, str]:
    """The fields of a structure with their C types: `int64_t`, `double`, `Kernel`, `double*`, ..."""
    body = next(body for body, structure in _STRUCTURE.findall(_text()) if structure == name)
    return {field: f"{kind}{star}" for kind, star, field in _FIELD.findall(body)}


@cache
def structures() -> dict[str, type[ctypes.Structure]]:
    """The structures by name, compared with the sizes that the library was compiled with."""
    found: dict[str, type[ctypes.Structure]] = {}
    for _, name in _STRUCTURE.findall(_text()):
        fields = [(field, NUMBERS.get(kind, ctypes.c_void_p)) for field, kind in fields_of(name).items()]
        found[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    sizes = (ctypes.c_int64 * len(NAMES))()
    load_library().engine_sizes(sizes)
    load_library().coupling_sizes(ctypes.byref(sizes, len(ENGINE_NAMES) * ctypes.sizeof(ctypes.c_int64)))
    read = [ctypes.sizeof(found[name]) for name in NAMES]
    if list(sizes) != read:
        raise RuntimeError(f"the engine's library has structures of {list(sizes)} bytes, its header of {read}")
    return found
