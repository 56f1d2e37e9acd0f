"""Provenance: where do the numbers of a run come from?"""

import hashlib
import json
import math
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from robodyn.base import frozen

Plain = dict[str, Any]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@frozen
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


# --------------------------------------------------------------------------------------------------
# Statistics of a run: what did it cost, and how well did it keep its energy balance?


@frozen
class Statistics:
    """Counts and costs of one run.

    Args:
        rejected: steps tried and thrown away by the error control.
        evaluations: right-hand sides computed.
        wall_time: computing time [s].
        simulated_time: time that passed in the model [s].
        energy_error: largest |E - W - E0| relative to the largest energy, None where it was not watched.
        extra: what else the solver reports by name, for example a constraint residual, or the method it chose and why.
    """

    JSON = """
    ...
    times_real_time
    """
    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    jacobians: int = 0
    factorisations: int = 0
    events: int = 0
    ticks: int = 0
    wall_time: float = 0.0
    simulated_time: float = 0.0
    energy_error: float | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra", plain(self.extra, "extra"))

    @property
    def times_real_time(self) -> float:
        """Simulated seconds per second of computing; not a number if nothing was computed."""
        return self.simulated_time / self.wall_time if self.wall_time > 0 else math.nan
