"""Provenance: where do the numbers of a run come from?"""

import hashlib
import json
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from robodyn.base.records import dataclass

Plain = dict[str, Any]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Provenance:
    """All that is needed to know, and to repeat, how a run was made.

    Dictionaries are kept as plain JSON values: tuples and arrays become lists, NumPy numbers plain ones.

    Args:
        scenario: name of what was run; "measured" for recorded data.
        description: the model.
        parameters: {name: {"value": number, "unit": text}} as used in this run.
        equations: the model's equations as lines of text.
        versions: {package: version}.
        created: ISO 8601 time in UTC.
    """

    JSON = """
    ...
    digest: of the model's description
    """
    scenario: str
    description: Plain = field(default_factory=dict)
    parameters: dict[str, Plain] = field(default_factory=dict)
    solver: Plain = field(default_factory=dict)
    equations: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    created: str = field(default_factory=_now)

    def __post_init__(self) -> None:
        for part in ("description", "parameters", "solver", "equations", "versions"):
            object.__setattr__(self, part, plain(getattr(self, part), part))

    @property
    def digest(self) -> str:
        """SHA-256 of the model's description, equal for equal models whatever the order of their keys."""
        text = json.dumps(self.description, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class PlainDict(dict[str, Any]):
    """A dictionary of plain values already, shared by many runs as it is."""


class PlainList(list[Any]):
    """A list of plain values already, shared by many runs as it is."""


def plain(value: Any, where: str) -> Any:
    """The value as plain JSON types, or a TypeError that names where it stands."""
    if isinstance(value, PlainDict | PlainList):
        return value
    try:
        return json.loads(json.dumps(value, default=_from_numpy))
    except TypeError as error:
        raise TypeError(f"{where}: only plain values can be stored with a run: {error}") from error


def _from_numpy(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is a {type(value).__name__}")
