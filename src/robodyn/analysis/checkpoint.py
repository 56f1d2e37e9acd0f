"""Checkpoint of a search: how does a fit or a tuning go on after an interruption? What is known is kept in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, Flaw, ModelError, refuse, write_file


class Checkpoint:
    """What a search of one kind has found, as plain data, in a file that the same search goes on from.

    Args:
        path: None keeps nothing; decides: all that decides what the search finds.

    Raises:
        ModelError: where the file is of another search.
    """

    def __init__(self, kind: str, path: str | Path | None, *decides: Any) -> None:
        self.head = {"format": f"robodyn {kind} 2", "fingerprint": fingerprint(*decides)}
        self.path = None if path is None else Path(path)
        self.kept: Any = None
        if self.path is None or not self.path.exists():
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
        if self.path is not None:
            write_file(self.path, json.dumps(self.head | {"kept": results}))


def fingerprint(*parts: Any) -> str:
    """A digest of plain data."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]


class Memo:
    """Arrays by kind and place, in memory and in a checkpoint that the same tuning goes on from."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.plain: dict[str, tuple[list[int], list[float]]] = checkpoint.kept or {}

    def recall(self, kind: str, z: Array, compute: Callable[[], Array]) -> Array:
        """What was put, or is computed now."""
        key = f"{kind} {' '.join(float(zk).hex() for zk in z)}"
        if key not in self.plain:
            array = np.asarray(compute(), float)
            self.plain[key] = list(array.shape), array.ravel().tolist()
            self.checkpoint.save(self.plain)
        shape, values = self.plain[key]
        return np.array(values, float).reshape(shape)
