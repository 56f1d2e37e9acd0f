"""How are the parts of the engine compiled, and where are they kept?

Numba's own cache does not notice edits in the files of called functions, so the folder's name holds a digest
of all of the engine's sources, of the versions of numba and numpy and of the processor.
"""

import hashlib
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np

from robodyn.native.cache import cache_folder


def engine_digest() -> str:
    """Sixteen hexadecimal digits that change whenever compiled code could differ."""
    content = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        content.update(source.name.encode() + source.read_bytes())
    content.update(f"{numba.__version__} {np.__version__} {llvm.get_host_cpu_name()}".encode())
    return content.hexdigest()[:16]


DIGEST = engine_digest()
"""Taken when the engine is loaded: sources edited later must not give their name to code made from these."""


@cache
def engine_folder() -> Path | None:
    """The folder of this engine's compiled code, or None when it can't be written."""
    try:
        folder = Path(cache_folder()) / f"engine-{DIGEST}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writable").touch()
    except OSError:
        return None
    return folder


def empty_folder() -> None:
    """Throw away the engine's compiled code, so that it is compiled anew."""
    folder = engine_folder()
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)


def compile_entry(function: Callable[..., Any], signature: Any) -> Any:
    """A function with a C entry point, from the engine's folder if it is there; numba's own setting is left
    as it was."""
    folder = engine_folder()
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder or before)
    try:
        return numba.cfunc(signature, cache=folder is not None, error_model="numpy")(function)
    finally:
        settings.CACHE_DIR = before


def compiled(function: Callable[..., Any]) -> Any:
    """A helper, compiled into each part that calls it."""
    return numba.njit(error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A small helper, merged into its callers."""
    return numba.njit(error_model="numpy", forceinline=True)(function)
