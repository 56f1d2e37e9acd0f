"""Atomic writing: how is a file written so that no reader ever sees half of it?"""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside the wanted one, moved onto it once the block has written it without error.

    Folders that are missing are made. The data is on the disk before the name points to it.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        yield draft
        _flush(draft)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    _flush_folder(target.parent)


def _flush(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Make the new name durable, where the system lets a folder be flushed."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
