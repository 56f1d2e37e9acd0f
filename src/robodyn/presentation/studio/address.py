"""Address of a studio: where was it the last time? Pages that are still open find it there after a restart.

Kept in a file that only the user can read, as it holds the token.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from robodyn.computation.native import cache_folder
from robodyn.computation.native.private import make_private, open_private


@dataclass(frozen=True)
class Address:
    """Port and token of a studio."""

    port: int
    token: str


def last_address(scenario: str) -> Address | None:
    """Of this scenario's studio; None where there was none, or where others could have written it."""
    try:
        with open_private(_file(scenario)) as file:
            kept = json.load(file)
        return Address(int(kept["port"]), str(kept["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_address(scenario: str, port: int, token: str) -> None:
    """Keep it for the next time; where that is not possible, the next time has another one."""
    file = _file(scenario)
    with contextlib.suppress(OSError):
        make_private(file.parent)
        draft = file.with_suffix(f".{os.getpid()}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(asdict(Address(port, token)), stream)
        draft.replace(file)


def _file(scenario: str) -> Path:
    path = Path(scenario)
    known = str(path.resolve()) if path.suffix else scenario
    return cache_folder() / "studio" / f"{hashlib.sha256(known.encode()).hexdigest()[:32]}.json"
