"""At which macro steps do the couplings of arm and payload hold, and what becomes of the singular rigid arm?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from robodyn.catalog import pendulum, two_link_loop
from robodyn.catalog.space_case import WAYS
from robodyn.cosimulation import Master
from robodyn.errors import ModelError
from robodyn.fmi import write_fmu
from robodyn.model import Scenario
from robodyn.results import OutcomeKind
from robodyn.studies.cosimulation_case import (
    ACCURATE,
    COMPARED,
    MILLI,
    SIGNAL_SPAN,
    STABLE,
    couple,
    longest,
    models,
    signals,
    whole,
)
from robodyn.studies.figure import Figure, above, below

STUDY = "study of co-simulated flexible robots"
SHORT = 0.005
"""Macro step of the rigid arm's run [s]: short enough for a communication point to lie where it is singular."""
OWN = "own"
EXPORTED = (pendulum, two_link_loop)
"""Scenarios whose units are tried: one free, one under sampled loops with friction."""
WARNING = Master(COMPARED).condition_warning


def manoeuvre_figures() -> Iterator[Figure]:
    """The monolithic runs."""
    begin, end = WAYS[1]
    for flexible in (False, True):
        kind = "flexible" if flexible else "rigid"
        run = whole(flexible)
        touch = next(event.time for event in run.events if event.name == "touch.touches")
        told = "point A touches the wall while the payload turns"
        yield Figure(f"touch_{kind}_s", None, touch, "s", reason=told, source=STUDY, holds=begin < touch < end)
        force = run["touch.force.normal"].final
        yield above(f"contact_force_{kind}_n", force, 0.0, "N", "it stays in touch", STUDY)


def model_figures() -> Iterator[Figure]:
    """Reduced interface models of the flexible arm and of the payload, in both directions."""
    found = models()
    worst = MILLI * found[COMPARED].error
    reason = f"distance of point A, macro step {MILLI * COMPARED:g} ms, against the monolithic flexible run"
    yield below("rim_flexible_max_error_mm", worst, MILLI * ACCURATE, "mm", reason, STUDY)
    yield _limit("rim_flexible_accuracy_limit_ms", longest(found, accurate=True), "stays within 1 mm")
    yield _limit("rim_flexible_stability_limit_ms", longest(found), f"stays within {MILLI * STABLE:g} mm")
    force = couple("model-force", True, COMPARED)
    reason = f"the arm's model in the payload, its mean force sent back, macro step {MILLI * COMPARED:g} ms"
    yield below("rim_one_way_max_error_mm", MILLI * force.error, MILLI * STABLE, "mm", reason, OWN)


def signal_figures() -> Iterator[Figure]:
    """Force one way, motion the other, through a latch."""
    rim = longest(models())
    for order, name in ((0, "signal_stability_limit_ms"), (1, "signal_linear_stability_limit_ms")):
        limit = longest(signals(order))
        reason = (
            f"longest macro step tried that stays within {MILLI * STABLE:g} mm for {SIGNAL_SPAN:g} s, signals "
            f"{'held' if order == 0 else 'extrapolated in a line'}; less than that of reduced models"
        )
        yield below(name, MILLI * limit, MILLI * rim, "ms", reason, STUDY)
        least = MILLI * min(case.error for case in signals(order).values())
        told = "smallest error of the macro steps tried: none is within 1 mm of the monolithic run, which has no latch"
        yield above(f"signal_order{order}_least_error_mm", least, MILLI * ACCURATE, "mm", told, OWN)


def rigid_figures() -> Iterator[Figure]:
    """The reduced interface model of the rigid arm, where its wrist crosses the shoulder's roll axis."""
    case = couple("model-model", False, SHORT)
    outcome = case.run.outcome
    told = (
        f"{outcome.kind.name.lower().replace('_', ' ')} at this time, models in both directions, macro step "
        f"{MILLI * SHORT:g} ms: the condition number is beyond {Master.condition_limit:.0e}, the master's limit"
    )
    holds = outcome.kind is OutcomeKind.ILL_CONDITIONED
    yield Figure("rim_rigid_outcome", None, outcome.time, "s", reason=told, source=STUDY, holds=holds)
    unwatched = couple("model-model", False, SHORT, watched=False)
    told = "the same without that limit: it goes on, since nothing moves this arm in the direction that it lacks"
    yield below("rim_rigid_unwatched_error_mm", MILLI * unwatched.error, MILLI * ACCURATE, "mm", told, OWN)
    stepped, flexible = couple("model-model", False, COMPARED), models()[COMPARED]
    reason = (
        f"macro step {MILLI * COMPARED:g} ms, in both directions: no communication point lies near enough to where it "
        "is singular, and the run goes on with a warning"
    )
    yield below("rim_rigid_stepped_over_error_mm", MILLI * stepped.error, MILLI * ACCURATE, "mm", reason, OWN)
    told = "largest condition number of the interface's mobility at communication points, and where a warning begins"
    yield above("condition_rigid", stepped.condition, WARNING, "", told, OWN)
    yield below("condition_flexible", flexible.condition, WARNING, "", told, OWN)


def exchange_figures() -> Iterator[Figure]:
    """Units by the Functional Mock-up Interface: run in another program, against our own run."""
    name = "fmu_export_max_error"
    try:
        with tempfile.TemporaryDirectory() as folder:
            errors = [_export(make, version, Path(folder)) for make in EXPORTED for version in (2, 3)]
    except (ImportError, ModelError) as error:
        yield Figure(name, None, None, "", reason=f"no unit could be made here: {error}")
        return
    reason = "largest difference of any signal by its peak, run in FMPy, versions 2.0 and 3.0"
    yield below(name, max(errors), 1e-9, "", reason, OWN)


def _export(make: Callable[[], Scenario], version: int, folder: Path) -> float:
    return write_fmu(make(), folder / f"{make.__name__}-{version}.fmu", fmi=version).agreement.error


def _limit(name: str, limit: float, what: str) -> Figure:
    return above(name, MILLI * limit, 0.0, "ms", f"longest macro step tried up to which the distance {what}", STUDY)
