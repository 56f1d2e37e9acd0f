"""Constraints study: does the pendulum drift, start, break and linearise as the study says? (section 2)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from robodyn.analysis import (
    LinearModel,
    find_cancelled_pairs,
    find_hidden_poles,
    linearise,
    reduce_constraints,
    truncate,
)
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run
from robodyn.computation.simulation import close_constraints, simulate
from robodyn.description.catalog import breaking_pendulum, cartesian_pendulum
from robodyn.description.model import Block, ConstraintMethod, Scenario, Solver
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.catalog import delta_fall
from robodyn_studies.catalog.delta_robot import MOTORS, symmetric_pose
from robodyn_studies.constraints_runs import (
    FINE,
    GRAVITY,
    OWN,
    POLE,
    STRENGTH,
    STUDY,
    break_exactly,
    breaking_run,
    drift_of,
    held_delta,
    pendulum_run,
)

SECTION = f"{STUDY}, section 2"
BROKEN = f"{STUDY}, section 2.1 and figure 5"


def drift_figures() -> Iterator[PublishedValue]:
    """Largest |h| over 10 s at two tolerances, without the method, and at rest."""
    for tolerance in (1e-4, 1e-8):
        drift = float(np.abs(drift_of(pendulum_run(tolerance))).max())
        same = tolerance / 10 < drift < 10 * tolerance
        reason = "said to be of the order of the solver's tolerance: within a factor of ten of it"
        name = f"pendulum_drift_rtol_{tolerance:.0e}".replace("e-0", "e-")
        yield PublishedValue(name, None, drift, "m^2", None, reason, f"{SECTION} and figure 4", Kind.RESULT, holds=same)
    loose, kept = (_drift_after(30.0, pole) for pole in (1e-9, POLE))
    reason = "largest |h| with h'' = 0 alone (pole 1e-9/s) over that of a pole of 5/s, 30 s at tolerance 1e-6"
    yield above("pendulum_drift_without_stabilisation", loose / kept, 100.0, "", reason, OWN)
    rest = float(np.abs(drift_of(_damped_run())[-1]))
    reason = "with drag it comes to rest in 40 s; tolerance 1e-4, so that rounding is far below what is left in motion"
    yield below("pendulum_drift_at_rest", rest, 1e-12, "m^2", reason, SECTION, Kind.RESULT)


def _drift_after(duration: float, pole: float) -> float:
    scenario = cartesian_pendulum(duration=duration, constraint_method=ConstraintMethod(pole=pole))
    return float(np.abs(drift_of(simulate(scenario, Solver("dopri5", rtol=1e-6, atol=1e-6)))).max())


def _with_blocks(scenario: Scenario, *blocks: Block) -> Scenario:
    return replace(scenario, machine=replace(scenario.machine, blocks=blocks))


def _damped_run() -> Run:
    scenario = cartesian_pendulum(duration=40.0, constraint_method=ConstraintMethod(pole=POLE))
    drag = [Block(f"{axis}_drag", "damper", on=axis, parameters={"damping": 1.0}) for axis in "xz"]
    return simulate(_with_blocks(scenario, *drag), Solver("dopri5", rtol=1e-4))


def initialisation_figures() -> Iterator[PublishedValue]:
    """From an inconsistent start: Newton's method, and the method's own decay."""
    yield from _newton_figures()
    run = simulate(
        replace(cartesian_pendulum(constraint_method=ConstraintMethod(pole=POLE)), initial={"x.position": -1.1}), FINE
    )
    # The rod's own equation, its length, obeys h'' + 2 p h' + p^2 h = 0 exactly.
    left = np.hypot(run["x.position"].values, run["z.position"].values) - 1.0
    decay = 0.1 * (1 + POLE * run.time) * np.exp(-POLE * run.time)
    reason = "started 0.1 m off; the error against 0.1 (1 + p t) exp(-p t), solved to 1e-11"
    yield below("relaxation_against_closed_form", float(np.abs(left - decay).max()), 1e-9, "m", reason, SECTION)
    reason = "after 10 s of it: rounding of a length of 1 m"
    yield below("relaxation_error_left", abs(float(left[-1])), 1e-12, "m", reason, SECTION)


def _newton_figures() -> Iterator[PublishedValue]:
    """The delta robot with its elbows 0.3 rad off, motors held: nine joints, six equations."""
    system = held_delta()
    guess = {name: angle + 0.3 for name, angle in symmetric_pose().items() if name.endswith("q2.position")}
    found = close_constraints(system, guess=guess, keep=[f"{motor}.position" for motor in MOTORS])
    reason = "Newton's method from 0.3 rad off: five or six steps of quadratic convergence, some more for its damping"
    yield below("newton_steps_delta", found.iterations, 10, "steps", reason, OWN)
    yield below("newton_error_left_delta", found.residual, 1e-9, "m", "what counts as closed", OWN)
    pulled = simulate(replace(delta_fall(), initial=symmetric_pose() | guess))
    begun, left = (float(pulled["constraints.position_error"].values[k]) for k in (0, -1))
    expected = begun * (1 + 3 * POLE) * np.exp(-3 * POLE)
    reason = f"the falling robot starts {begun:.2g} m off; (1 + p t) exp(-p t) of it is left, solved at 1e-8"
    yield PublishedValue("relaxation_error_left_delta", expected, left, "m", 1e-8, reason, "closed form")


@cache
def linear_pendulum() -> tuple[System, LinearModel]:
    """The pendulum hanging at rest, from a horizontal force to its place."""
    pushed = _with_blocks(
        replace(cartesian_pendulum(constraint_method=ConstraintMethod(pole=POLE)), initial={"z.position": -1.0}),
        Block("push", "constant_force", "x", parameters={"value": 0.0}),
    )
    system = assemble(pushed)
    return system, linearise(system, inputs=["push.value"], outputs=["x.position"])


def structure_figures() -> Iterator[PublishedValue]:
    """What the method adds to the pendulum, and what is left of order two (equations 3 to 5)."""
    system, full = linear_pendulum()
    yield PublishedValue("pendulum_order", 4, full.order, "", 0, "counted: places and velocities", SECTION, Kind.INPUT)
    pairs = find_cancelled_pairs(full)
    reason = "counted; a double root is known to half its digits, 1e-4 of its size"
    yield PublishedValue("pendulum_cancelled_pairs", 2, len(pairs), "", 0, reason, SECTION, Kind.RESULT)
    off = max(abs(pair.pole + POLE) for pair in pairs) if pairs else np.inf
    yield below("pendulum_cancelled_pole_off", off, 1e-3, "1/s", reason, f"{SECTION}, equation 4", Kind.RESULT)
    count = len(find_hidden_poles(full).uncontrollable)
    reason = "counted: the force does not reach them"
    yield PublishedValue("pendulum_uncontrollable", 2, count, "", 0, reason, SECTION, Kind.RESULT)
    small = truncate(full).model
    reason = "counted: balanced truncation"
    yield PublishedValue("pendulum_reduced_order", 2, small.order, "", 0, reason, SECTION, Kind.RESULT)
    omega = np.logspace(-1, 2, 40)
    minimal = reduce_constraints(full, system, ["x"]).frequency_response(omega)
    apart = np.abs(small.frequency_response(omega) - minimal).max() / np.abs(minimal).max()
    reason = "truncated against linearised in the free coordinate x, 0.1 to 100 rad/s; rounding"
    yield below("pendulum_reduced_against_minimal", float(apart), 1e-8, "relative", reason, SECTION, Kind.RESULT)
    swing = float(np.abs(small.poles().imag).max())
    yield PublishedValue(
        "pendulum_frequency", np.sqrt(GRAVITY), swing, "rad/s", 1e-9, "sqrt(g / L), rounding", "closed form"
    )


def breaking_figures() -> Iterator[PublishedValue]:
    """Where and when the rod breaks, and the flight after it."""
    run = breaking_run()
    time, x, z = break_exactly()
    seen = run.events[0].time
    reason = f"located to the solver's tolerance of 1e-11; strength {STRENGTH:.4g} N, this project's own choice"
    where = "closed form: 3 m g sin(depth), elliptic integrals"
    yield PublishedValue("fracture_time", time, seen, "s", 1e-8, reason, where)
    for axis, place in (("x", x), ("z", z)):
        found = float(run[f"{axis}.position"](seen))
        yield PublishedValue(f"fracture_{axis}", place, found, "m", 1e-8, reason, where)
    multiplier = float(run["rod.tension"](seen - 1e-9)) / 2
    reason = "half the tension over the length of 1 m; it rises by 1e-8 N in the nanosecond before"
    yield PublishedValue("fracture_multiplier", STRENGTH / 2, multiplier, "N/m", 1e-6, reason, "closed form")
    yield from _flight_figures(run, seen)


def _flight_figures(run: Run, seen: float) -> Iterator[PublishedValue]:
    flight = run.time > seen
    t = run.time[flight] - seen
    speed = np.sqrt(2 * STRENGTH / 3)
    _, x, z = break_exactly()
    # It moves perpendicular to the rod: (-z, x) is that direction, x and z both negative.
    expected = x - speed * z * t, z + speed * x * t - GRAVITY / 2 * t**2
    found = run["x.position"].values[flight], run["z.position"].values[flight]
    apart = max(float(np.abs(a - b).max()) for a, b in zip(found, expected, strict=True))
    yield below("flight_off_parabola", apart, 1e-8, "m", "the solver's tolerance of 1e-11", "closed form")
    left = float(np.abs(run["rod.tension"].values[flight]).max())
    yield below("flight_tension", left, 0.0, "N", "a broken rod pulls nothing, exactly", BROKEN, Kind.RESULT)
    error = run.statistics.energy_error
    reason = "breaking takes no energy; the solver's tolerance of 1e-11"
    yield below("flight_energy_error", float("inf") if error is None else error, 1e-8, "relative", reason, OWN)
    plain, breaking = assemble(cartesian_pendulum()), assemble(breaking_pendulum())
    equations = (plain.motion.constraint_forces, breaking.motion.constraint_forces)
    same = len(plain.states) == len(breaking.states) and equations[0] == equations[1]
    reason = "as many states and equations before and after, and as without the fracture"
    yield PublishedValue("fracture_keeps_the_equations", None, None, "", None, reason, BROKEN, Kind.RESULT, holds=same)
