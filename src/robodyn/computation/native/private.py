"""File ownership: can only this user have written a file? Machine code from anywhere else is never loaded.

Owner and permissions are asked of what is open, not of a name: nothing can be put in its place meanwhile. Where files
have no owners of this kind (Windows), the system guards the user's folders itself.
"""

import os
import stat
import sys
from collections.abc import Callable
from errno import EPERM
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
        raise PermissionError(EPERM, "is no plain file or folder", str(path))
    if state.st_uid != os.getuid():
        raise PermissionError(EPERM, "belongs to another user", str(path))
    if state.st_mode & WRITABLE_BY_OTHERS:
        raise PermissionError(EPERM, "can be written by other users", str(path))
