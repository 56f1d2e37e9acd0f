"""Where are compiled kernels kept between runs, and how is a kept one known to be whole?

A file holds a mark, the SHA-256 of its content, and the content. It appears under its name only when complete
(written aside, then renamed), so processes may write at the same time; a damaged file counts as absent.
"""

import contextlib
import functools
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

_MARK = b"robodyn object 1\n"
_DIGEST_SIZE = hashlib.sha256().digest_size


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
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


@functools.cache
def _temporary_folder() -> Path:
    """A folder that nobody else can write to, as machine code from it is run."""
    if hasattr(os, "getuid"):
        folder = Path(tempfile.gettempdir()) / f"robodyn-{os.getuid()}"
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            state = folder.lstat()
            if stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o022:
                return folder
    return Path(tempfile.mkdtemp(prefix="robodyn-"))


def key_of(parts: Iterable[str]) -> str:
    """Name of a content by everything it was made from."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(b"%d:" % len(encoded) + encoded)
    return digest.hexdigest()


def load(key: str) -> bytes | None:
    """The content saved under a key; None if there is none or it is damaged."""
    try:
        data = _path(key).read_bytes()
    except OSError:
        return None
    content = data[len(_MARK) + _DIGEST_SIZE :]
    whole = data[: len(_MARK) + _DIGEST_SIZE] == _MARK + hashlib.sha256(content).digest()
    return content if whole else None


def save(key: str, content: bytes) -> bool:
    """Saves a content under a key; False if the folder cannot be written, so that it must be made again."""
    path = _path(key)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(_MARK + hashlib.sha256(content).digest() + content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return False
    return True


def _path(key: str) -> Path:
    return cache_folder() / "kernels" / f"{key}.bin"
