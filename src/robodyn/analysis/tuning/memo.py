"""Memo of a tuning: what has been computed at which gains? A search that is repeated finds it here."""

from __future__ import annotations

import numpy as np

from robodyn.analysis.checkpoint import Checkpoint
from robodyn.results.signal import Floats


class Memo:
    """Arrays by kind and place, in memory and in a checkpoint that the same tuning goes on from."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.plain: dict[str, tuple[list[int], list[float]]] = checkpoint.kept or {}

    def get(self, kind: str, z: Floats) -> Floats | None:
        """What was put, if anything was."""
        found = self.plain.get(_key(kind, z))
        return None if found is None else np.array(found[1], float).reshape(found[0])

    def put(self, kind: str, z: Floats, value: Floats) -> None:
        array = np.asarray(value, float)
        self.plain[_key(kind, z)] = list(array.shape), array.ravel().tolist()
        self.checkpoint.save(self.plain)


def _key(kind: str, z: Floats) -> str:
    return f"{kind} {' '.join(float(zk).hex() for zk in z)}"
