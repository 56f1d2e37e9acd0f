"""Kernel cache: where are compiled kernels kept between runs, and how is a kept one known to be whole?

A file holds a mark, the SHA-256 of its key and content, and the content. It appears under its name only when complete
(written aside, then renamed), so processes may write at the same time. A file that is damaged, made for something else
or that others could have written counts as absent.
"""

import contextlib
import functools
import hashlib
import itertools
import os
import sys
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path

from robodyn.computation.native.private import HAS_OWNERS, make_private, open_private
from robodyn.computation.native.upkeep import UNFINISHED, mark_used, prune

KERNELS, SYSTEMS = "kernels", "systems"
SHARES = {KERNELS: 1.0, SYSTEMS: 0.1}
"""Kinds of contents, each a folder, and the share each may have of the size that is allowed: systems are small, but
every number that is changed makes another one."""
_MARK = b"robodyn object 2\n"
_DIGEST_SIZE = hashlib.sha256().digest_size
BETWEEN_PRUNES = 50
"""Files that a process adds before it looks again whether the folder has become too large."""
_SAVES = {kind: itertools.count() for kind in SHARES}


def cache_folder() -> Path:
    """Folder for files that can be made again: ROBODYN_CACHE, else the user's cache, else a temporary one."""
    chosen = os.environ.get("ROBODYN_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    folder = _user_cache() / "robodyn"
    return folder if _is_writable(folder) else _temporary_folder()


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _is_writable(folder: Path) -> bool:
    """Whether files can be kept there; not in another user's folder, as under sudo with that user's home."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        own = not HAS_OWNERS or folder.stat().st_uid == os.getuid()
    except OSError:
        return False
    return own and os.access(folder, os.W_OK | os.X_OK)


@functools.cache
def _temporary_folder() -> Path:
    """A folder that nobody else can write to, as machine code from it is run."""
    if HAS_OWNERS:
        folder = Path(tempfile.gettempdir()) / f"robodyn-{os.getuid()}"
        with contextlib.suppress(OSError):
            make_private(folder)
            return folder
    return Path(tempfile.mkdtemp(prefix="robodyn-"))


def key_of(parts: Iterable[str]) -> str:
    """Name of a content by everything it was made from."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(b"%d:" % len(encoded) + encoded)
    return digest.hexdigest()


def load(key: str, kind: str = KERNELS) -> bytes | None:
    """The content of a kind saved under a key; None if there is none that can be trusted."""
    try:
        with open_private(_path(key, kind)) as file:
            data = file.read()
            mark_used(file.fileno())
    except OSError:
        return None
    content = data[len(_MARK) + _DIGEST_SIZE :]
    return content if data[: len(_MARK) + _DIGEST_SIZE] == _head(key, content) else None


def save(key: str, content: bytes, kind: str = KERNELS) -> bool:
    """Saves a content under a key; False if the folder cannot be used, so that it must be made again."""
    path = _path(key, kind)
    try:
        make_private(path.parent)
        _write(path, _head(key, content) + content)
    except OSError as error:
        _report_unusable(path.parent, error.strerror)
        return False
    # Looking at every file takes milliseconds: the first one that a process adds is enough, and some of a long one.
    if next(_SAVES[kind]) % BETWEEN_PRUNES == 0:
        prune(path.parent, SHARES[kind])
    return True


def _head(key: str, content: bytes) -> bytes:
    return _MARK + hashlib.sha256(key.encode() + content).digest()


def _write(path: Path, data: bytes) -> None:
    """A file that is there as a whole or not at all."""
    handle, temporary = tempfile.mkstemp(prefix=path.name, suffix=UNFINISHED, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            # Not flushed to the disk, which takes milliseconds: a file torn by a power failure is known by its digest.
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@functools.cache
def _report_unusable(folder: Path, reason: str) -> None:
    """Once a process: it is lived without."""
    message = f"compiled code cannot be kept in {folder} ({reason}) and is made anew each time"
    warnings.warn(f"{message}; ROBODYN_CACHE names another folder", stacklevel=2)


def _path(key: str, kind: str) -> Path:
    return cache_folder() / kind / f"{key}.bin"
