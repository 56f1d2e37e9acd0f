"""Checkpoint of a tuning: what has been computed at which gains? A search that is repeated finds it here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from robodyn.errors import Flaw, ModelError
from robodyn.results.atomic import replacing
from robodyn.results.signal import Floats

FORMAT = "robodyn tune 1"


@dataclass
class Memo:
    """Arrays by kind and place, in memory and, with a path, in a file that the same tuning goes on from."""

    path: Path | None = None
    mark: str = ""
    kept: dict[str, Floats] = field(default_factory=dict)

    def get(self, kind: str, z: Floats) -> Floats | None:
        return self.kept.get(_key(kind, z))

    def put(self, kind: str, z: Floats, value: Floats) -> None:
        self.kept[_key(kind, z)] = np.asarray(value, float)
        if self.path is not None:
            plain = {key: [list(array.shape), array.ravel().tolist()] for key, array in self.kept.items()}
            with replacing(self.path) as draft:
                draft.write_text(json.dumps({"format": FORMAT, "fingerprint": self.mark, "kept": plain}), "utf-8")


def _key(kind: str, z: Floats) -> str:
    return f"{kind} {' '.join(float(zk).hex() for zk in z)}"


def load_memo(path: str | Path | None, mark: str) -> Memo:
    """What an interrupted tuning has computed; a file of another one is a ModelError."""
    memo = Memo(None if path is None else Path(path), mark)
    if memo.path is None or not memo.path.exists():
        return memo
    try:
        state = json.loads(memo.path.read_text(encoding="utf-8"))
        kept = {key: np.array(values, float).reshape(shape) for key, (shape, values) in state["kept"].items()}
        same = state["format"] == FORMAT and state["fingerprint"] == mark
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError([Flaw("", "is not the state of a tuning", "name another file")], str(path)) from error
    if not same:
        what = "is the state of another tuning: the scenario or the settings differ"
        raise ModelError([Flaw("", what, "name another file, or delete it to begin anew")], str(path))
    memo.kept.update(kept)
    return memo
