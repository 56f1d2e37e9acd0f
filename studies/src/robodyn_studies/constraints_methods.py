"""Constraints study: do all constraint methods give one motion, and what do they leave of h and of the energy?

Baumgarte's method is the study's. Its baseline is a tool that reduces the index by dummy derivatives and selects states
on the way: here `charts`, minimal coordinates that change. Index 3 has h = 0 itself in every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from math import pi

import numpy as np
from scipy.special import ellipk

from robodyn.analysis import hamiltonian_system, simulate_symplectic
from robodyn.computation.assembly import assemble
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import cartesian_pendulum, pendulum
from robodyn.description.model import ConstraintMethod, Recording, Scenario, Solver
from robodyn.presentation.studies import PublishedValue, above, below
from robodyn_studies.catalog import delta_fall
from robodyn_studies.catalog.delta_parameters import FITTED
from robodyn_studies.catalog.delta_robot import MOTORS
from robodyn_studies.constraints_delta import PLATFORM, falling_run
from robodyn_studies.constraints_runs import GRAVITY, OWN, POLE, STUDY, distance, swing_exactly

TOLERANCE, STEP = 1e-8, 1e-3
ADAPTIVE, STEPPED = Solver("dopri5", rtol=TOLERANCE, atol=TOLERANCE), Solver("generalised_alpha", step=STEP)
TIMES = np.linspace(0.0, 10.0, 501)
WAYS: Mapping[str, tuple[ConstraintMethod, Solver]] = {
    "baumgarte": (ConstraintMethod(pole=POLE), ADAPTIVE),
    "projection": (ConstraintMethod("projection"), ADAPTIVE),
    "index3": (ConstraintMethod("index3"), STEPPED),
    "minimal": (ConstraintMethod("minimal", independent=MOTORS), ADAPTIVE),
    "charts": (ConstraintMethod("minimal"), ADAPTIVE),
}
SPEED = 8.0
"""At the lowest point of a pendulum that overturns [m/s]."""
# Of an order of 2 with steps of 1 ms: accelerations of 30 m/s^2 times h^2, added up over some swings.
SECOND_ORDER = 3e-4
HAMILTON = f"{STUDY}, section 3.3"


def constraint_method_figures() -> Iterator[PublishedValue]:
    """Motion, constraint and energy of the pendulum and of the falling delta robot, each way."""
    for way in WAYS:
        yield from _pendulum_figures(way)
    for way in WAYS:
        yield from _delta_figures(way)
    ended = delta_run("minimal").outcome
    reason = "the motors no longer determine the falling robot there; all other ways go on, charts by choosing others"
    stopped = not ended.carried_through and all(delta_run(way).outcome.ok for way in WAYS if way != "minimal")
    yield PublishedValue(
        "delta_minimal_ends", None, ended.time, "s", None, reason, f"{STUDY}, section 2", holds=stopped
    )


def chart_figures() -> Iterator[PublishedValue]:
    """Full turns of the pendulum in coordinates that change, and of the delta robot where its motors are not enough."""
    turns = 3 * 4 / SPEED * float(ellipk(4 * GRAVITY / SPEED**2))
    over = replace(overturning("charts"), duration=turns)
    run = simulate(over, ADAPTIVE)
    changes = sum(event.name == "constraints.chart" for event in run.events)
    reason = f"place after three turns, {turns:.3f} s by an elliptic integral; x and z change {changes} times"
    reason += "; tolerance 1e-8, of which the slanting coordinate loses a digit"
    yield below("pendulum_charts_off_after_turns", abs(float(run["x.position"].final)), 1e-4, "m", reason, OWN)
    changed = sum(event.name == "constraints.chart" for event in delta_run("charts").events)
    reason = "changes of coordinates while the delta robot falls for 3 s, where its motors alone last 0.36 s"
    yield above("delta_charts_changes", changed, 0, "", reason, OWN)


def overturning(way: str) -> Scenario:
    """A pendulum that goes round, its constraint kept one way."""
    scenario = cartesian_pendulum(constraint_method=WAYS[way][0])
    return replace(scenario, initial={"x.position": 0.0, "z.position": -1.0, "x.velocity": SPEED})


def falling(way: str) -> Scenario:
    """The delta robot let go, its constraints kept one way."""
    return replace(delta_fall(), constraint_method=WAYS[way][0])


def _delta_figures(way: str) -> Iterator[PublishedValue]:
    run = delta_run(way)
    apart = distance(run, falling_run(), PLATFORM, np.linspace(0, run.time[-1], 151))
    reason = f"falling delta robot against the catalogue's run for {run.time[-1]:.2g} s; {_told(way)}"
    limit = SECOND_ORDER if way == "index3" else 1e-6
    yield below(f"delta_{way}_motion_error", apart, limit, "m", reason, OWN)
    left = run.statistics.extra["constraint_position_error"]
    reason = f"largest residual; {_told(way)}"
    yield below(f"delta_{way}_constraint_error", left, _drift_limit(way), "m", reason, OWN)


def _told(way: str) -> str:
    return f"steps of {1e3 * STEP:g} ms, order 2" if way == "index3" else f"tolerance {TOLERANCE:g}"


def _drift_limit(way: str) -> float:
    """What may be left of h: the tolerance where it drifts or is interpolated, else what Newton leaves."""
    return 10 * TOLERANCE if way in ("baumgarte", "projection") else 1e-9


def _pendulum_run(way: str) -> Run:
    """In Cartesian coordinates; minimal ones of a full swing are the angle."""
    constraint_method, solver = WAYS[way]
    if way == "minimal":
        return simulate(pendulum(angle=pi / 2), solver)
    return simulate(cartesian_pendulum(constraint_method=constraint_method), solver)


def _pendulum_figures(way: str) -> Iterator[PublishedValue]:
    run = _pendulum_run(way)
    exact = dict(zip("xz", swing_exactly(TIMES), strict=True))
    apart = max(float(np.abs(run[f"tip.position.{axis}"](TIMES) - place).max()) for axis, place in exact.items())
    limit = {"index3": SECOND_ORDER, "charts": 1e-5}.get(way, 1e-6)
    reason = f"pendulum against elliptic functions over 10 s; {_told(way)}"
    yield below(f"pendulum_{way}_motion_error", apart, limit, "m", reason, "closed form")
    if way != "minimal":
        left = run.statistics.extra["constraint_position_error"]
        reason = f"largest residual of the rod's length; {_told(way)}"
        yield below(f"pendulum_{way}_constraint_error", left, _drift_limit(way), "m", reason, STUDY)
    error = run.statistics.energy_error
    reason = f"largest change of its energy by the energy; {_told(way)}"
    limit = 1e-4 if way == "index3" else 1e-6
    yield below(f"pendulum_{way}_energy_error", np.inf if error is None else error, limit, "relative", reason, OWN)


@cache
def delta_run(way: str) -> Run:
    """The robot that falls for 3 s."""
    return simulate(falling(way), WAYS[way][1])


def hamiltonian_figures() -> Iterator[PublishedValue]:
    """The delta robot in momenta, and long swings of a pendulum by symplectic steps."""
    scenario = delta_fall()
    apart = distance(_in_momenta(scenario), falling_run(), PLATFORM, np.linspace(0, 3, 151))
    reason = "positions and momenta against positions and velocities, falling robot, both at 1e-8"
    yield below("delta_hamiltonian_against_lagrangian", apart, 1e-6, "m", reason, HAMILTON)
    coarse, fine = (_undamped_symplectic(step) for step in (2e-3, 1e-3))
    swings = [
        float(np.ptp(run["energy.balance"].values) / np.ptp(run["energy.potential"].values)) for run in (coarse, fine)
    ]
    reason = (
        "undamped robot falling for 3 s by RATTLE, steps of 2 ms: its energy by what it falls; h^2 of swings of 0.2 s"
    )
    yield below("delta_symplectic_energy_swing", swings[0], 1e-3, "relative", reason, HAMILTON)
    reason = "the same over that with half the step: order 2, next terms of some percent"
    yield PublishedValue("delta_symplectic_order", 4.0, swings[0] / swings[1], "", 0.1, reason, "closed form: 2^2")
    left = fine.statistics.extra["constraint_position_error"]
    yield below("delta_symplectic_constraint_error", left, 1e-9, "m", "solved for in every step", HAMILTON)
    early, late = _mean_energies()
    reason = "100 s of a pendulum by RATTLE, steps of 10 ms: mean of the last fifth less that of the first, by m g L"
    yield below("pendulum_symplectic_energy_drift", abs(late - early) / GRAVITY, 1e-5, "relative", reason, HAMILTON)


def _in_momenta(scenario: Scenario) -> Run:
    return simulate(hamiltonian_system(assemble(scenario)), Solver("dopri5", rtol=1e-8, atol=1e-10))


def _undamped_symplectic(step: float) -> Run:
    free = replace(FITTED, damping=(0.0, 0.0, 0.0))
    return simulate_symplectic(delta_fall(free), step)


def _mean_energies() -> tuple[float, float]:
    scenario = cartesian_pendulum(duration=100.0)
    watched = Recording(rate=20.0, signals=("energy.*", "constraints.*"))
    energy = simulate_symplectic(replace(scenario, recording=watched), 0.01)["energy.balance"]
    early, late = energy.time <= 20.0, energy.time >= 80.0
    return float(np.mean(energy.values[early])), float(np.mean(energy.values[late]))
