"""Checkpoint of a long task: how does a fit, a comparison or a validation go on after an interruption? What is known is
kept in a file."""

from __future__ import annotations

import base64
import hashlib
import json
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, Flaw, ModelError, refuse, write_file

SELDOM, QUICK = 20.0, 0.1
"""Time between two writings by the time that one takes, and the time of one [s] below which none is left out."""


class Checkpoint:
    """The findings of a task of one kind, as plain data, in a file that the same task goes on from.

    Args:
        path: None keeps nothing; decides: all that decides what the task finds.

    Raises:
        ModelError: where the file is of another task.
    """

    def __init__(self, kind: str, path: str | Path | None, *decides: Any) -> None:
        self.path = None if path is None else Path(path)
        self.kept: Any = None
        if self.path is None:
            return
        self.head = {"format": f"robodyn {kind} 3", "fingerprint": fingerprint(*decides)}
        if not self.path.exists():
            # What cannot be written is said before the work begins.
            self.save(None)
            return
        try:
            state = json.loads(self.path.read_text(encoding="utf-8"))
            same = all(state[key] == value for key, value in self.head.items())
            self.kept = state["kept"]
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError([Flaw("", f"is not the state of a {kind}", "name another file")], str(path)) from error
        if not same:
            what = f"is the state of another {kind}: the scenario, the data or the settings differ"
            refuse("", what, "name another file, or delete it to start over", str(path))

    def save(self, results: Any) -> None:
        """Keep this instead of what was there before, all or nothing."""
        if self.path is None:
            return
        try:
            write_file(self.path, json.dumps(self.head | {"kept": results}, default=_array_as_text))
        except OSError as error:
            refuse("", f"cannot be written: {error.strerror}", "name another file", str(self.path))


def fingerprint(*parts: Any) -> str:
    """A digest of plain data and arrays."""
    return _digest(json.dumps(parts, sort_keys=True, default=_digest_of).encode())


def _digest_of(value: Any) -> str:
    return _digest(np.ascontiguousarray(value).tobytes()) if isinstance(value, np.ndarray) else str(value)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


Recall = Callable[[str, Callable[[], Any]], Any]
"""A part of a task by its name, and how it is computed where it is not known."""


def compute_now(name: str, compute: Callable[[], Any]) -> Any:
    """Recall nothing."""
    return compute()


class Memo:
    """Parts of a task by name, plain data and arrays, in memory and in a checkpoint that the same task goes on from.

    Where writing takes long, a part that is found soon after another one waits for the next writing, or for Ctrl-C
    while the next one is computed.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.parts: dict[str, Any] = checkpoint.kept or {}
        self.due = 0.0

    def recall(self, name: str, compute: Callable[[], Any]) -> Any:
        """A part that was kept, or is computed now; arrays come back as they were, tuples as lists."""
        if name not in self.parts:
            try:
                self.parts[name] = compute()
            except KeyboardInterrupt:
                self.checkpoint.save(self.parts)
                raise
            begun = time.monotonic()
            if begun >= self.due:
                self.checkpoint.save(self.parts)
                took = time.monotonic() - begun
                self.due = begun + (SELDOM * took if took > QUICK else 0.0)
        return text_as_array(self.parts[name])

    def within(self, part: str) -> Recall:
        """Recall what belongs to one of several parts that are alike."""
        return lambda name, compute: self.recall(f"{part}: {name}", compute)

    def recall_at(self, name: str, z: Array, compute: Callable[[], Array]) -> Array:
        """An array that belongs to a place z."""
        return self.recall(f"{name} {' '.join(float(zk).hex() for zk in z)}", lambda: np.asarray(compute(), float))


def _array_as_text(value: Any) -> dict[str, Any]:
    """An array of numbers for JSON, to the last bit."""
    array = np.asarray(value, float)
    return {"shape": array.shape, "zlib": base64.b64encode(zlib.compress(array.tobytes(), 1)).decode()}


def text_as_array(value: Any) -> Any:
    match value:
        case {"shape": shape, "zlib": text}:
            return np.frombuffer(zlib.decompress(base64.b64decode(text))).reshape(shape).copy()
        case dict():
            return {key: text_as_array(own) for key, own in value.items()}
        case list() | tuple():
            return [text_as_array(own) for own in value]
    return value
