"""Atomic writing: how is a file written so that no reader ever sees half of it, and nothing is lost on a full disk?"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | Path, visible: bool = False) -> Iterator[Path]:
    """A temporary path beside the wanted one, moved onto it once the block has written it without error.

    Folders that are missing are made. The data is on the disk before the name points to it. A link stays a link, and a
    file that is replaced keeps its permissions; a pipe or a device is written to as it is.

    Args:
        visible: whether the temporary file is of use by itself: its name then ends in `.part`, and it stays where the
            block ends in an error.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        yield target
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    once = uuid.uuid4().hex[:8]
    draft = target.with_name(f"{target.name}.{once}.part" if visible else f".{target.name}.{once}.tmp")
    try:
        yield draft
        with open(draft, "rb+") as file:
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        os.replace(draft, target)
    finally:
        if not visible:
            draft.unlink(missing_ok=True)
    # The new name too is made durable, where the system lets a folder be flushed.
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_file(path: str | Path, text: str) -> None:
    """Write a text file, which is there as a whole or as it was before."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
