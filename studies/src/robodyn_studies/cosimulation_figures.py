"""Co-simulation study: at which macro steps do the couplings hold, and what becomes of the singular rigid arm?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from robodyn.base.errors import ModelError
from robodyn.computation.cosimulation import CosimSettings
from robodyn.computation.results import OutcomeKind
from robodyn.description.catalog import pendulum, two_link_loop
from robodyn.description.model import Scenario
from robodyn.exchange.fmi import write_fmu
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.catalog.space_case import PITCH, YAW
from robodyn_studies.cosimulation_case import (
    ACCURATE,
    COMPARED,
    DISTANCE,
    MILLI,
    MODELS,
    RIGID_MODELS,
    Way,
    couple,
    whole,
)
from robodyn_studies.cosimulation_limits import MANY_WAYS, ONE_WAY, SPAN, accuracy_limit, quick_stability_limit
from robodyn_studies.cosimulation_limits import MODELS as PLANE_MODELS
from robodyn_studies.cosimulation_limits import RIGID_MODELS as PLANE_RIGID_MODELS
from robodyn_studies.cosimulation_singular import (
    HIT,
    MISSED,
    NEAR,
    ROLL,
    effective_masses,
    rolling_error,
    singular_step,
)

STUDY = "study of co-simulated flexible robots"
OWN = "own"
EXPORTED = (pendulum, two_link_loop)
"""Scenarios whose units are tried: one free, one under sampled loops with friction."""
WARNING = CosimSettings(COMPARED).condition_warning
APART = 1.06
"""How far from a limit the runs are that show it."""
EXTRAPOLATED = ("held", "extrapolated in a line", "extrapolated in a parabola")


def manoeuvre_figures() -> Iterator[PublishedValue]:
    """The monolithic runs."""
    begin, end = YAW.ways[1]
    for flexible in (False, True):
        kind = "flexible" if flexible else "rigid"
        run = whole(flexible)
        touch = next(event.time for event in run.events if event.name == "touch.touches")
        message = "point A touches the wall while the payload turns"
        yield PublishedValue(
            f"touch_{kind}_s", None, touch, "s", reason=message, source=STUDY, holds=begin < touch < end
        )
        force = run["touch.force.normal"].final
        yield above(f"contact_force_{kind}_n", force, 0.0, "N", "it stays in touch", STUDY)


def model_figures() -> Iterator[PublishedValue]:
    """Reduced interface models of the flexible arm and of the payload, in both directions."""
    at = f"macro step {MILLI * COMPARED:g} ms, against the monolithic flexible run"
    error = MILLI * couple(MODELS, COMPARED).error
    yield below(
        "rim_flexible_max_error_mm", error, MILLI * ACCURATE, "mm", f"distance of point A, {at}", STUDY, Kind.RESULT
    )
    shift = MILLI * couple(MODELS, COMPARED).displacement
    yield below("rim_flexible_displacement_mm", shift, MILLI * ACCURATE, "mm", f"point A in space, {at}", OWN)
    early = f"in the first {SPAN:g} s, macro step {MILLI * COMPARED:g} ms"
    for name, way, message in (
        (
            "rim_flexible_linear_max_error_mm",
            Way("model-model", order=1),
            "forces of the models extrapolated in a line",
        ),
        ("rim_one_way_max_error_mm", ONE_WAY, "the arm's model in the payload, which goes first, its mean force back"),
    ):
        error = MILLI * couple(way, COMPARED, SPAN).error
        yield below(name, error, 1.0 if way.order else 100.0, "mm", f"{message}, {early}", OWN)
    limit = MILLI * accuracy_limit(PLANE_MODELS).holds
    yield above("rim_flexible_accuracy_limit_ms", limit, MILLI * COMPARED, "ms", _told("stays within 1 mm"), STUDY)
    yield from _model_limits("rim_flexible", PLANE_MODELS)


def _model_limits(name: str, way: Way) -> Iterator[PublishedValue]:
    """Where the held payload begins to jump: from growth, and shown by runs on both sides of the limit."""
    limit = quick_stability_limit(way)
    message = "longest macro step at which no disturbance grows while the payload is held at the wall, bisected"
    yield above(f"{name}_stability_limit_ms", MILLI * limit.holds, 0.0, "ms", message, STUDY)
    runs = [couple(way, step, watched=False) for step in (limit.holds / APART, limit.fails * APART)]
    holds = runs[0].in_touch and not runs[1].in_touch
    message = "the payload stays at the wall in a run at this macro step, and leaves it in one some 15 % longer"
    yield PublishedValue(
        f"{name}_in_touch_ms", None, MILLI * limit.holds / APART, "ms", reason=message, source=OWN, holds=holds
    )


def signal_figures() -> Iterator[PublishedValue]:
    """Signals through a latch: a force one way and a motion the other, or motions both ways."""
    latch = whole(True, PITCH, latched=True)
    apart = MILLI * float(max(abs(latch[DISTANCE].values - whole(True, PITCH)[DISTANCE](latch.time))))
    message = (
        "what the latch itself does to the distance, in monolithic runs; signals are compared with the latched one"
    )
    yield above("latch_mm", apart, 0.0, "mm", message, OWN)
    rim = MILLI * quick_stability_limit(PLANE_MODELS).holds
    names = ("signal_stability_limit_ms", "signal_linear_stability_limit_ms", "signal_quadratic_stability_limit_ms")
    for order, name in enumerate(names):
        limit = MILLI * quick_stability_limit(Way("signals", order=order, manoeuvre=PITCH)).holds
        message = f"longest macro step at which no disturbance grows, force and motion {EXTRAPOLATED[order]}, bisected"
        yield below(name, limit, rim, "ms", f"{message}; less than that of reduced models", STUDY, Kind.RESULT)
    yield from _divergence(MANY_WAYS["force-displacement, order 1"])
    motions = MANY_WAYS["displacement-displacement, order 2"]
    for name, way, step, relation in (
        ("signal_order0_error_mm", MANY_WAYS["force-displacement"], 0.005, above),
        ("displacement_order2_error_mm", motions, 0.01, below),
    ):
        error = MILLI * couple(way, step, SPAN).error
        message = f"largest error of the distance in the first {SPAN:g} s, macro step {MILLI * step:g} ms"
        yield relation(name, error, MILLI * ACCURATE, "mm", message, OWN)


def _divergence(way: Way) -> Iterator[PublishedValue]:
    """Runs on both sides of the limit of extrapolated signals."""
    limit = quick_stability_limit(way)
    inside, outside = (couple(way, step, SPAN) for step in (limit.holds / APART, limit.fails * APART))
    holds = inside.finished and outside.run.outcome.kind is OutcomeKind.DIVERGED
    message = "of a run in a line that is a little within its limit; one a little beyond diverges"
    error = MILLI * inside.error
    yield PublishedValue("signal_order1_error_mm", None, error, "mm", reason=message, source=OWN, holds=holds)


def rigid_figures() -> Iterator[PublishedValue]:
    """The reduced interface model of the rigid arm, whose wrist turns into a singular posture at the wall."""
    case = couple(RIGID_MODELS, COMPARED)
    message = (
        f"ill conditioned at this time, models in both directions, macro step {MILLI * COMPARED:g} ms: while it "
        "holds the "
        f"payload at the wall the condition number passes {CosimSettings.condition_limit:.0e}, the "
        "co-simulation's limit"
    )
    end = case.run.outcome.time
    yield PublishedValue("rim_rigid_outcome", None, end, "s", reason=message, source=STUDY, holds=case.singular)
    yield from _model_limits("rim_rigid", PLANE_RIGID_MODELS)
    message = "largest effective mass of the arm at its interface in the monolithic run, turns in units of 5 m"
    rigid, flexible = (float(np.max(np.abs(effective_masses(kind)[1]))) for kind in (False, True))
    yield above("effective_mass_rigid_kg", rigid, 1e9, "kg", message, OWN)
    yield below("effective_mass_flexible_kg", flexible, 1e4, "kg", message, OWN)
    message = "largest condition number of the interface's mobility at communication points, and where a warning begins"
    yield above("condition_rigid", case.condition, WARNING, "", message, OWN)
    yield below("condition_flexible", couple(MODELS, COMPARED).condition, WARNING, "", message, OWN)


def rolling_figures() -> Iterator[PublishedValue]:
    """The variant in which the shoulder rolls: what it lacks is asked of the rigid arm, or not."""
    shift = f"error of point A in space, the shoulder rolls by {ROLL:g} rad"
    for name, flexible, join, phases, relation, limit, message in (
        ("rim_rigid_halfway_error_mm", False, "mean", HIT, above, 30.0, "sides meet halfway, where it is singular"),
        ("rim_rigid_missed_error_mm", False, "mean", MISSED, below, 10.0, "the same, 0.1 % shorter: half a step away"),
        ("rim_flexible_halfway_error_mm", True, "mean", HIT[:1], below, 10.0, "flexible arm, there, halfway"),
        (
            "rim_rigid_inertia_error_mm",
            False,
            "inertia",
            HIT[:1],
            below,
            10.0,
            "rigid arm, there, sides meet by inertia",
        ),
    ):
        error = MILLI * rolling_error(flexible, join, phases)
        steps = ", ".join(f"{MILLI * singular_step(flexible, ROLL, NEAR, phase):.6g}" for phase in phases)
        yield relation(name, error, limit, "mm", f"{shift}; {message}; macro step {steps} ms", OWN)


def exchange_figures() -> Iterator[PublishedValue]:
    """Units by the Functional Mock-up Interface: run in another program, against our own run."""
    name = "fmu_export_max_error"
    try:
        with tempfile.TemporaryDirectory() as folder:
            errors = [_export(make, version, Path(folder)) for make in EXPORTED for version in (2, 3)]
    except (ImportError, ModelError) as error:
        yield PublishedValue(name, None, None, "", reason=f"no unit could be made here: {error}")
        return
    reason = "largest difference of any signal by its peak, run in FMPy, versions 2.0 and 3.0"
    yield below(name, max(errors), 1e-9, "", reason, OWN)


def _export(make: Callable[[], Scenario], version: int, folder: Path) -> float:
    return write_fmu(make(), folder / f"{make.__name__}-{version}.fmu", fmi=version).agreement.error


def _told(what: str) -> str:
    return f"longest macro step at which the distance {what} in the first {SPAN:g} s, bisected"
