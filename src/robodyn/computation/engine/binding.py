"""Binding of the C engine: its structures, as the headers declare them, filled from Python values; its functions."""

from __future__ import annotations

import ctypes
import os
import re
import stat
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, Flaw, ModelError
from robodyn.computation.native.cache import cache_folder

from .building import (
    FOLDER,
    LIBRARY,
    SUFFIX,
    BuildError,
    build_library,
    is_made_from,
    source_digest,
)
from .tableaus import method_table

# --------------------------------------------------------------------------------------------------
# Engine library: which shared library is the engine?
#
# The one beside its C sources. Where these have been edited since (an editable install), it is compiled anew, in place
# or, where that cannot be written, in the user's cache. ROBODYN_ENGINE names another one, made from the same sources.


@cache
def load_library() -> ctypes.CDLL:
    """The engine, ready to be called.

    Raises:
        ModelError: where it had to be compiled and could not be.
    """
    digest = source_digest(FOLDER)
    try:
        named = os.environ.get("ROBODYN_ENGINE")
        if not named:
            return _load_or_build(digest)
        if not is_made_from(Path(named), digest):
            raise BuildError(f"ROBODYN_ENGINE: {named} is not a library made from these sources", "build it again")
        return _open(Path(named))
    except BuildError as error:
        raise ModelError([Flaw("engine", error.what, error.remedy)]) from error


def _load_or_build(digest: str) -> ctypes.CDLL:
    beside, in_cache = FOLDER / LIBRARY, cache_folder() / "engine" / f"{digest}{SUFFIX}"
    loaded = _load(beside, digest)
    if loaded is None and in_cache.is_file() and _is_owned(in_cache) and _is_owned(in_cache.parent):
        loaded = _load(in_cache, digest)
    return loaded or _build(beside) or _build_in_cache(in_cache)


def _load(library: Path, digest: str) -> ctypes.CDLL | None:
    """A library, unless it is missing, damaged, for other machines or from other sources."""
    if not is_made_from(library, digest):
        return None
    try:
        loaded = _open(library)
    except OSError:
        return None
    # A system's loader knows a library by its path: it gives the old one where that is loaded already.
    return loaded if loaded.engine_digest() == digest.encode() else None


def _open(library: Path) -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(library.absolute()))
    loaded.engine_digest.restype = ctypes.c_char_p
    return loaded


def _build(library: Path) -> ctypes.CDLL | None:
    """A new library, unless its folder cannot be written."""
    if not os.access(library.parent, os.W_OK):
        return None
    sys.stderr.write("robodyn: compiling the engine\n")
    try:
        return _load(library, build_library(library, FOLDER))
    except OSError:
        return None


def _build_in_cache(library: Path) -> ctypes.CDLL:
    """A new library in a folder of this user alone, as machine code from it is run."""
    remedy = "let ROBODYN_CACHE name a folder of your own"
    try:
        library.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(f"there is no place for the compiled engine: {error}", remedy) from error
    if not _is_owned(library.parent):
        raise BuildError(f"{library.parent} belongs to someone else, or others can write to it", remedy)
    loaded = _build(library)
    if loaded is None:
        raise BuildError(f"the engine compiled to {library} cannot be loaded", remedy)
    return loaded


def _is_owned(path: Path) -> bool:
    """Whether a file or folder, no link, belongs to this user and nobody else can write to it."""
    if sys.platform == "win32":
        return True
    state = path.lstat()
    return not stat.S_ISLNK(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o022


# --------------------------------------------------------------------------------------------------
# Structures of the headers, filled from Python values, and the functions of the library.


HEADERS = tuple(Path(__file__).with_name(name) for name in ("engine.h", "coupling.h"))
NUMBERS = {"double": ctypes.c_double, "int64_t": ctypes.c_int64}
"""Types of the fields that are numbers; all others are addresses."""
ENGINE_NAMES = ("Model", "Method", "Solver", "Recording", "Run", "Check", "Slice", "Record", "March")
NAMES = (*ENGINE_NAMES, "Trend", "CoupledUnit", "Channel", "Port", "Pair", "Coupling")

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
    kinds: dict[str, type[ctypes.Structure]] = {}
    for _, name in _STRUCTURE.findall(_text()):
        fields = [(field, NUMBERS.get(kind, ctypes.c_void_p)) for field, kind in fields_of(name).items()]
        kinds[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    sizes = (ctypes.c_int64 * len(NAMES))()
    load_library().engine_sizes(sizes)
    load_library().coupling_sizes(ctypes.byref(sizes, len(ENGINE_NAMES) * ctypes.sizeof(ctypes.c_int64)))
    read = [ctypes.sizeof(kinds[name]) for name in NAMES]
    if list(sizes) != read:
        raise RuntimeError(f"the engine's library has structures of {list(sizes)} bytes, its header of {read}")
    return kinds


def address_of(array: Array) -> int:
    return array.__array_interface__["data"][0]


class EngineRun:
    """A run in the engine's memory, which is given back when nobody looks at it any more.

    Attributes:
        address: of its structure `Run`; fields: that structure.
    """

    def __init__(self, *parts: Any) -> None:
        self.free = functions().run_free
        self.address = functions().run_new(*(ctypes.addressof(part) for part in parts))
        if not self.address:
            raise MemoryError("there is not enough memory for the run")
        self.fields: Any = structures()["Run"].from_address(self.address)
        # The engine reads them as long as the run lives.
        self.parts = parts

    def __del__(self) -> None:
        # Not there where there was no memory for it.
        if self.address:
            self.free(self.address)

    def view(self, address: int | None, count: int) -> Array:
        """Numbers of this run as an array that keeps it alive."""
        if not count:
            return np.zeros(0)
        memory: Any = (ctypes.c_double * count).from_address(address or 0)
        memory.run = self
        return np.frombuffer(memory)


@cache
def functions() -> Any:
    """The engine's library with the types of what it returns."""
    library = load_library()
    pointer, number, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    for name, result, arguments in (
        ("run_new", pointer, [pointer] * 4),
        ("run_free", None, [pointer]),
        ("run_reset", None, [pointer]),
        ("run_begin", None, [pointer, real, real]),
        ("run_extend", None, [pointer, real]),
        ("run_advance", number, [pointer]),
        ("run_reopen", None, [pointer, number, number, number]),
        ("run_conclude", None, [pointer, number]),
        ("run_drop_rows", None, [pointer, number]),
        ("run_state_size", number, [pointer]),
        ("run_save", None, [pointer, pointer]),
        ("run_restore", number, [pointer, pointer, number]),
        ("pack_new", pointer, [number, number, pointer, pointer, number, pointer, number, number]),
        ("pack_free", None, [pointer]),
        ("pack_advance", number, [pointer, pointer, number, pointer, number]),
        ("pack_count", None, [pointer, pointer]),
        ("compute_many", None, [pointer, number, number, number, pointer, pointer, number, pointer]),
        ("check_watched", None, [pointer, number, pointer, number, real, real, real, pointer]),
        ("take_measure", real, [number, number, pointer, pointer, number]),
        ("find_errors_between", number, [pointer, real, pointer]),
        ("column_weights", None, [number, pointer, pointer]),
        ("encode_columns", None, [number, number] + [pointer] * 6),
        ("decode_column", None, [number, pointer, real, number, pointer, pointer]),
        ("slice_begin", None, [pointer, pointer, number]),
        ("slice_judge", None, [pointer, pointer, number, pointer, pointer]),
        ("coupling_advance", number, [pointer]),
        ("coupling_exchange", number, [pointer]),
        ("coupling_save", number, [pointer]),
        ("coupling_restore", number, [pointer]),
        ("coupling_note", None, [pointer]),
        ("unit_read", None, [pointer]),
        ("unit_prepare", None, [pointer]),
        ("unit_write", None, [pointer, pointer, number, number, pointer, real]),
        ("unit_reduce", None, [pointer] * 2),
        ("unit_attach", None, [pointer] * 3 + [real, number]),
        ("interface_work", number, [number] * 3),
        ("interface_reduce", None, [pointer]),
        ("interface_join", None, [pointer] * 2),
        ("invert_symmetric", None, [pointer, number, pointer, pointer]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def function_address(name: str) -> int:
    """Where a function of the engine stands."""
    return ctypes.cast(getattr(functions(), name), ctypes.c_void_p).value or 0


def fill(name: str, source: Any, **others: Any) -> Any:
    """A structure of the engine from the numbers and arrays of the same names."""
    structure: Any = structures()[name]()
    for field, *_ in structure._fields_:
        value = others.get(field, getattr(source, field, None))
        if value is not None:
            setattr(structure, field, address_of(value) if isinstance(value, np.ndarray) else value)
    return structure


class EngineStructure:
    """A structure of the engine with the arrays and structures that it points to, which it keeps alive."""

    def __init__(self, name: str, **fields: Any) -> None:
        self.fields: Any = structures()[name]()
        self.arrays: dict[str, Any] = {}
        self.set(**fields)

    def set(self, **fields: Any) -> None:
        """Give fields their values; arrays and structures by their addresses."""
        for key, value in fields.items():
            address = value
            if isinstance(value, np.ndarray):
                address = address_of(value)
            elif isinstance(value, EngineStructure):
                address = value.address
            elif isinstance(value, ctypes.Array):
                address = ctypes.addressof(value)
            if address is not value:
                self.arrays[key] = value
            setattr(self.fields, key, address)

    @property
    def address(self) -> int:
        return ctypes.addressof(self.fields)


def line_up(name: str, parts: Sequence[EngineStructure]) -> Any:
    """Structures one behind the other; each part is one of them from now on."""
    row = (structures()[name] * len(parts))(*(part.fields for part in parts))
    for part, entry in zip(parts, row, strict=True):
        part.fields = entry
    return row


def copied(structure: Any, **changes: int) -> Any:
    """A structure of its own, with some numbers changed."""
    other = type(structure).from_buffer_copy(structure)
    for field, value in changes.items():
        setattr(other, field, value)
    return other


@cache
def method_structure(name: str, partner: str | None = None) -> tuple[Any, Any]:
    """A method's tables for the engine, with those of its stiff partner, and what keeps them alive."""
    table = method_table(name)
    stiff, alive = method_structure(partner) if partner else (None, None)
    address = ctypes.addressof(stiff) if stiff else 0
    return fill("Method", table, n_dense=len(table.P), stiff=address), (table, stiff, alive)
