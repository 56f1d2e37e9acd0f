"""Cache eviction: how is the cache kept small? What was not used for long goes, then what was used longest ago.

Processes need not agree: a file is gone or whole, and one that is gone is made again.
"""

import contextlib
import os
import time
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path

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
    found = {}
    for path in paths:
        with contextlib.suppress(OSError):
            found[path] = path.lstat().st_size
    return found


def clear(folder: Path) -> dict[Path, int]:
    """Remove robodyn's files from a cache folder: what was removed, with sizes [bytes]."""
    return {path: size for path, size in list_files(folder).items() if _remove(path)}


def _remove(path: str | Path) -> bool:
    """Whether it was this process that removed a file."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
