"""Co-simulation study: up to which macro step is each coupling of arm and payload stable, and accurate to 1 mm?

A way is stable at a macro step if no disturbance grows in it: from the start, where the arm is at rest, and for models
also where the payload is held against the wall. It is accurate if the distance of point A stays within 1 mm of the
monolithic run. Both limits are bisected. The manoeuvre is the variant in a plane, which no singularity ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from robodyn.analysis import MacroSteps, StepLimit, find_limit
from robodyn.computation.cosimulation import CosimSettings
from robodyn_studies.catalog.space_case import PITCH
from robodyn_studies.cosimulation_case import MILLI, UNLIMITED, Way, couple

START, HELD = 0.0, 35.0
"""Instants at which disturbances are tried [s]."""
REACHED = 0.05
"""Macro step by which the later instant is reached [s]."""
NEAR_LIMITS = {"model-model": 0.1, "model-force": 0.1, "signals": 0.004, "displacements": 0.016}
"""Macro steps from which limits are near, as the whole search found [s]."""
STRIDE = 1.25
"""Between macro steps tried for their stability: some couplings are unstable, and stable again at longer ones."""
STILL = 1e-4
"""Growth in a macro step that is taken for none: of the size of the solvers' errors."""
SPAN = 10.0
"""Of runs that are compared in many ways [s]: the free motion, in which the errors of the distance are largest."""
SHORTEST, LONGEST = 1e-3, 1.0
"""Macro steps tried [s]."""
TABLE_STEPS = (0.005, 0.01, 0.02, 0.05)
MODELS, RIGID_MODELS = (Way("model-model", flexible, manoeuvre=PITCH) for flexible in (True, False))
ONE_WAY = Way("model-force", scheme="sequential", first="payload", manoeuvre=PITCH)
MANY_WAYS = {
    "models both ways": MODELS,
    "models both ways, order 1": Way("model-model", order=1, manoeuvre=PITCH),
    "models both ways, implicit": Way("model-model", implicit=True, manoeuvre=PITCH),
    "models both ways, halfway": Way("model-model", join="mean", manoeuvre=PITCH),
    "models both ways, rigid arm": RIGID_MODELS,
    "model one way, parallel": Way("model-force", manoeuvre=PITCH),
    "model one way, payload first": ONE_WAY,
    "force-displacement": Way("signals", manoeuvre=PITCH),
    "force-displacement, order 1": Way("signals", order=1, manoeuvre=PITCH),
    "force-displacement, order 2": Way("signals", order=2, manoeuvre=PITCH),
    "force-displacement, arm first": Way("signals", scheme="sequential", manoeuvre=PITCH),
    "displacement-displacement": Way("displacements", manoeuvre=PITCH),
    "displacement-displacement, order 1": Way("displacements", order=1, manoeuvre=PITCH),
    "displacement-displacement, order 2": Way("displacements", order=2, manoeuvre=PITCH),
    "displacement-displacement, arm first": Way("displacements", scheme="sequential", manoeuvre=PITCH),
}
"""What is compared; signals and models are held where no order is given, and parallel where none goes first."""


@cache
def stability_limit(way: Way, time: float = START, begin: float | None = None) -> StepLimit:
    """Where disturbances begin to grow, at one instant of the manoeuvre.

    Args:
        begin: first macro step tried [s]; None begins so low that gaps in the stable ones are found.
    """
    settings = CosimSettings(REACHED, way.scheme, condition_limit=UNLIMITED)
    steps = MacroSteps(way.units(), [way.connection], settings=settings, time=time)
    start = begin or (0.002 if way.latched else 0.02)
    return find_limit(
        lambda step: steps.growth(step) <= 1 + STILL, start, shortest=SHORTEST, longest=LONGEST, stride=STRIDE
    )


def quick_stability_limit(way: Way) -> StepLimit:
    """The same, from a macro step near the limit: where models hold the payload at the wall, signals at the start."""
    return stability_limit(way, START if way.latched else HELD, NEAR_LIMITS[way.coupling])


def whole_stability_limit(way: Way) -> StepLimit:
    """The smaller of the limits at the start and, for models, in touch with the wall."""
    times = (START,) if way.latched else (START, HELD)
    return min((stability_limit(way, time) for time in times), key=lambda limit: limit.holds)


@cache
def accuracy_limit(way: Way) -> StepLimit:
    """Where the distance of point A leaves 1 mm in the first part of the manoeuvre."""
    begin = 0.008 if way.latched else 0.05
    return find_limit(
        lambda step: couple(way, step, SPAN, watched=False).accurate, begin, shortest=SHORTEST, longest=LONGEST
    )


@dataclass(frozen=True)
class Row:
    """One way of coupling: its limits [s], and largest errors [m] by macro step, None where it is unstable.

    What is unstable does not count as accurate, even if it does not show in the time of the runs.
    """

    name: str
    stable: StepLimit
    accurate: StepLimit
    errors: dict[float, float | None]


def compare_ways(names: Sequence[str] = tuple(MANY_WAYS), steps: Sequence[float] = TABLE_STEPS) -> Iterator[Row]:
    """Limits and errors of all ways; minutes."""
    for name in names:
        way = MANY_WAYS[name]
        stable, accurate = whole_stability_limit(way), accuracy_limit(way)
        errors = {step: couple(way, step, SPAN, watched=False).error if step < stable.fails else None for step in steps}
        yield Row(name, stable, min(stable, accurate, key=lambda limit: limit.holds), errors)


def write_row(row: Row) -> str:
    """A row of a table in Markdown, in milliseconds and millimetres."""
    errors = ["unstable" if error is None else _digits(MILLI * error) for error in row.errors.values()]
    return f"| {' | '.join([row.name, _describe(row.stable), _describe(row.accurate), *errors])} |"


def _describe(limit: StepLimit) -> str:
    if limit.holds == 0.0:
        return f"below {_digits(MILLI * limit.fails)}"
    if limit.fails == float("inf"):
        return f"above {_digits(MILLI * limit.holds)}"
    return _digits(MILLI * limit.holds)


def _digits(value: float) -> str:
    """Two digits, without an exponent."""
    return f"{float(f'{value:.2g}'):.6g}"
