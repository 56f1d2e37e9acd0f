"""Checkpoint of a fit: how does it go on after an interruption? Finished starts are kept in a file of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from robodyn.analysis.fitting.result import FitStart
from robodyn.errors import Flaw, ModelError
from robodyn.results.atomic import replacing

FORMAT = "robodyn fit 1"


def fingerprint(*parts: Any) -> str:
    """A digest of all that decides what the starts of a fit lead to."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load_starts(path: Path | None, mark: str) -> list[FitStart]:
    """The finished starts of the same fit; a file of another one is a ModelError."""
    if path is None or not path.exists():
        return []
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        known = kept["format"] == FORMAT
        starts = [
            FitStart(tuple(s["begin"]), tuple(s["values"]), s["cost"], s["evaluations"], s["message"])
            for s in kept["starts"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError([Flaw("", "is not the state of a fit", "name another file")], str(path)) from error
    if not known or kept["fingerprint"] != mark:
        what = "is the state of another fit: the scenario, the data or the settings differ"
        raise ModelError([Flaw("", what, "name another file, or delete it to begin anew")], str(path))
    return starts


def save_starts(path: Path | None, mark: str, starts: Sequence[FitStart]) -> None:
    """Keep the finished starts, all or nothing."""
    if path is None:
        return
    state = {"format": FORMAT, "fingerprint": mark, "starts": [asdict(start) for start in starts]}
    with replacing(path) as draft:
        draft.write_text(json.dumps(state, indent=1), encoding="utf-8")
