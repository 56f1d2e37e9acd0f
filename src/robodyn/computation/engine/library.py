"""Engine library: which shared library is the engine?

The one beside its C sources. Where these have been edited since (an editable install), it is compiled anew, in place
or, where that cannot be written, in the user's cache. ROBODYN_ENGINE names another one, made from the same sources.
"""

from __future__ import annotations

import ctypes
import functools
import os
import stat
import sys
from pathlib import Path

from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.engine.building import (
    FOLDER,
    LIBRARY,
    SUFFIX,
    BuildError,
    build_library,
    is_made_from,
    source_digest,
)
from robodyn.computation.native.cache import cache_folder


@functools.cache
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
            raise BuildError(f"ROBODYN_ENGINE: {named} is no library made from these sources", "build it again")
        return _open(Path(named))
    except BuildError as error:
        raise ModelError([Flaw("engine", error.what, error.remedy)]) from error


def _load_or_build(digest: str) -> ctypes.CDLL:
    beside, kept = FOLDER / LIBRARY, cache_folder() / "engine" / f"{digest}{SUFFIX}"
    loaded = _load(beside, digest)
    if loaded is None and kept.is_file() and _is_owned(kept) and _is_owned(kept.parent):
        loaded = _load(kept, digest)
    return loaded or _build(beside) or _build_in_cache(kept)


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
