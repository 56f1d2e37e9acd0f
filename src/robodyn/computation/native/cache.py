"""Kernel cache: where are compiled kernels kept between runs, how is a kept one known to be whole and this user's own?

A file holds a mark, the SHA-256 of its key and content, and the content. It appears under its name only when complete
(written aside, then renamed), so processes may write at the same time. A file that is damaged, made for something else
or that others could have written counts as absent: machine code from anywhere else is never loaded. Owner and
permissions are asked of what is open, not of a name: nothing can be put in its place meanwhile. Where files have no
owners of this kind (Windows), the system guards the user's folders itself.

What was not used for long goes, then what was used longest ago. Processes need not agree: a file that is gone is made
again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from errno import EPERM
from functools import cache
from pathlib import Path
from typing import BinaryIO

HAS_OWNERS = sys.platform != "win32"
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
# A link is not followed, and a pipe in place of a file is opened without waiting for its other end.
_AS_IT_IS = os.O_RDONLY if sys.platform == "win32" else os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def open_private(path: Path) -> BinaryIO:
    """A regular file that only this user can write, in a folder that only this user can write.

    Raises:
        OSError: also where the file or its folder is somebody else's.
    """
    if not HAS_OWNERS:
        return path.open("rb")
    folder = os.open(path.parent, _AS_IT_IS | os.O_DIRECTORY)
    try:
        _check(os.fstat(folder), stat.S_ISDIR, path.parent)
        file = os.open(path.name, _AS_IT_IS, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        _check(os.fstat(file), stat.S_ISREG, path)
        return os.fdopen(file, "rb")
    except OSError:
        os.close(file)
        raise


def make_private(folder: Path) -> None:
    """Make a folder that only this user can write; an own one that others can write is closed to them.

    Raises:
        OSError: also where the folder is somebody else's.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not HAS_OWNERS:
        return
    handle = os.open(folder, _AS_IT_IS | os.O_DIRECTORY)
    try:
        state = os.fstat(handle)
        if state.st_uid == os.getuid() and state.st_mode & WRITABLE_BY_OTHERS:
            os.fchmod(handle, stat.S_IMODE(state.st_mode) & ~WRITABLE_BY_OTHERS)
        _check(os.fstat(handle), stat.S_ISDIR, folder)
    finally:
        os.close(handle)


def _check(state: os.stat_result, is_kind: Callable[[int], bool], path: Path) -> None:
    if not is_kind(state.st_mode):
        raise PermissionError(EPERM, "is not a plain file or folder", str(path))
    if state.st_uid != os.getuid():
        raise PermissionError(EPERM, "belongs to another user", str(path))
    if state.st_mode & WRITABLE_BY_OTHERS:
        raise PermissionError(EPERM, "can be written by other users", str(path))


SIZE = "ROBODYN_CACHE_SIZE"
"""Environment variable: megabytes of compiled kernels to keep."""
DEFAULT_SIZE = 500.0
DAY = 86400.0
LONGEST_UNUSED = 90 * DAY
"""Seconds after which a kernel that no run has loaded goes."""
UNFINISHED = ".part"
"""Ending of a file that is being written; a day later its writer is gone."""
OURS = ("kernels", "systems", "engine", "engine-*")
"""Patterns of what robodyn puts, or has put, into the folder, which may be one with other things in it."""


def mark_used(descriptor: int) -> None:
    """A file's age counts from its last use; written to the disk at most once a day."""
    if os.utime in os.supports_fd and time.time() - os.fstat(descriptor).st_mtime > DAY:
        with contextlib.suppress(OSError):
            os.utime(descriptor)


def prune(folder: Path, share: float = 1.0) -> None:
    """Remove what is too old or too much; called when a file was added: no other start can have made it too much.

    Args:
        share: of the allowed size that this folder may have.
    """
    now, room = time.time(), share * find_size()
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for used, size, entry in sorted(_states(entries), key=lambda state: -state[0]):
            finished = not entry.name.endswith(UNFINISHED)
            room -= size if finished else 0
            # Old, or left by a process that died while writing, or beyond the room that is allowed.
            if now - used > (LONGEST_UNUSED if finished else DAY) or (finished and room < 0):
                _remove(entry.path)


def _states(entries: Iterable[os.DirEntry[str]]) -> Iterable[tuple[float, int, os.DirEntry[str]]]:
    for entry in entries:
        # Another process may remove what is listed.
        with contextlib.suppress(OSError):
            state = entry.stat(follow_symlinks=False)
            yield state.st_mtime, state.st_size, entry


def find_size() -> float:
    """Bytes of kernels to keep."""
    return 1e6 * _read_size(os.environ.get(SIZE, ""))


@cache
def _read_size(text: str) -> float:
    try:
        return max(float(text), 0.0) if text else DEFAULT_SIZE
    except ValueError:
        warnings.warn(f"{SIZE}: must be a number of megabytes, is '{text}'; {DEFAULT_SIZE:g} taken", stacklevel=2)
        return DEFAULT_SIZE


def list_files(folder: Path) -> dict[Path, int]:
    """robodyn's files in a cache folder with their sizes [bytes]."""
    tops = [top for pattern in OURS for top in folder.glob(pattern) if not top.is_symlink()]
    paths = [Path(base) / name for top in tops for base, _, names in os.walk(top) for name in names]
    paths += [top for top in tops if top.is_file()]
    sizes = {}
    for path in paths:
        with contextlib.suppress(OSError):
            sizes[path] = path.lstat().st_size
    return sizes


def clear_files(folder: Path) -> dict[Path, int]:
    """Remove robodyn's files from a cache folder: what was removed, with sizes [bytes]."""
    return {path: size for path, size in list_files(folder).items() if _remove(path)}


def _remove(path: str | Path) -> bool:
    """Whether it was this process that removed a file."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


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
        is_ours = not HAS_OWNERS or folder.stat().st_uid == os.getuid()
    except OSError:
        return False
    return is_ours and os.access(folder, os.W_OK | os.X_OK)


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
    message = f"compiled code cannot be stored in {folder} ({reason}) and is compiled again each time"
    warnings.warn(f"{message}; ROBODYN_CACHE names another folder", stacklevel=2)


def _path(key: str, kind: str) -> Path:
    return cache_folder() / kind / f"{key}.bin"
