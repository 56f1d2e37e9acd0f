"""Constraints study: poles of the delta robot, what the method adds to them, and where it is unstable (section 5).

The study measured its robot's parameters and does not print them. Ours are fitted to its poles and to the angle of the
crossing, so that these figures show that such a robot exists and that our linear models are right, no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from robodyn.analysis import (
    LinearModel,
    PolePath,
    find_cancelled_pairs,
    find_hidden_poles,
    find_minimal,
    find_stability_limit,
    find_zeros,
    follow_poles,
    linearise,
    reduce_constraints,
    truncate,
)
from robodyn.computation.assembly import assemble
from robodyn.presentation.studies import Kind, PublishedValue, below
from robodyn_studies.catalog import delta_hold, delta_stand
from robodyn_studies.catalog.delta_parameters import AUTONOX, FITTED, DeltaRobot
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS
from robodyn_studies.constraints_delta import TORQUES
from robodyn_studies.constraints_runs import POLE, STUDY, held_delta

ANGLES = tuple(f"{motor}.position" for motor in MOTORS)
PLOT = f"{STUDY}, section 5 and figure 10"
ROUNDED = "the fitted parameters, rounded to three digits, leave this much"
FREE = "lengths, masses, inertias and damping of the robot"
# The fit before rounding.
UNROUNDED = DeltaRobot(
    base_radius=0.1542,
    proximal_length=0.28235,
    distal_length=0.41791,
    platform_radius=0.06,
    proximal_com=0.11294,
    distal_com=0.20896,
    proximal_mass=0.68041,
    distal_mass=0.24735,
    platform_mass=0.56835,
    proximal_inertia=0.00980,
    distal_inertia=0.00360,
    damping=(0.06929, 0.08881, 0.03764),
)
SETTLED = "own reference for the fitted parameters"


@cache
def full_model() -> LinearModel:
    """From the motors' torques to their angles, in all coordinates."""
    return linearise(held_delta(), inputs=TORQUES, outputs=ANGLES)


@cache
def reduced_model() -> LinearModel:
    """The same in the motors' coordinates."""
    return reduce_constraints(full_model(), held_delta(), MOTORS)


@cache
def pole_path() -> PolePath:
    """Poles of the robot with all motors at one angle, 0 to 40 deg."""
    return follow_poles(held_delta(), ANGLES, np.radians(np.arange(0.0, 41.0, 1.0)), by=TORQUES)


def pole_figures() -> Iterator[PublishedValue]:
    """The six poles of the robot, those of the fit to more digits, and the crossing."""
    poles = reduced_model().poles()
    rounded, exact = _named_poles(poles), _named_poles(unrounded_poles())
    printed = {"unstable": 5.2, "fast": -6.5, "pair_real": -2.0, "pair_imag": 1.0}
    own = {"unstable": 5.1759, "fast": -6.4734, "pair_real": -1.9903, "pair_imag": 1.1362}
    digits = "half a unit of its digit; the fit with five digits of its parameters"
    for name, value in printed.items():
        figure = (f"delta_pole_{name}", value, exact[name], "rad/s", 0.05, digits, PLOT, Kind.INPUT)
        yield PublishedValue(*figure, fitted=FREE)
        reason = "known to four digits: the catalogue's robot, whose parameters are rounded to three"
        yield PublishedValue(f"delta_pole_{name}_rounded", own[name], rounded[name], "rad/s", 6e-5, reason, SETTLED)
    count = int(np.sum(np.abs(poles.imag) > 1e-6))
    reason = "counted: two equal pairs, as the robot's symmetry has it"
    yield PublishedValue("delta_pole_pairs", 4, count, "", 0, reason, PLOT, Kind.RESULT)
    limit = find_stability_limit(held_delta(), ANGLES, 0.0, 0.7, by=TORQUES)
    angle = float(np.degrees(limit.value))
    yield PublishedValue(
        *("delta_crossing_angle", 22.0, angle, "deg", 0.5, f"about 22; {ROUNDED}", PLOT, Kind.INPUT), fitted=FREE
    )
    yield PublishedValue("delta_crossing_angle_of_fit", 21.998, angle, "deg", 1e-3, "printed to five digits", SETTLED)
    yield from _other_figures(limit.value)


@cache
def unrounded_poles() -> np.ndarray:
    """Poles of the fit before its parameters were rounded, those of the method among them."""
    return linearise(assemble(delta_hold(UNROUNDED))).poles()


def _named_poles(poles: np.ndarray) -> dict[str, float]:
    """The robot's own: the unstable one, the fastest, and the pair."""
    own = poles[np.abs(poles + POLE) > 1e-2]
    real = np.sort(own[np.abs(own.imag) < 1e-6].real)
    pair = own[np.argmax(own.imag)]
    return {"unstable": real[-1], "fast": real[0], "pair_real": float(pair.real), "pair_imag": float(pair.imag)}


def _other_figures(crossing: float) -> Iterator[PublishedValue]:
    poles = unrounded_poles()
    off = max(np.abs(poles - pole).min() for pole in (5.2, -6.5, -2 + 1j))
    reason = (
        "the fit before its parameters were rounded: each of the study's poles is one of its, to five digits of them"
    )
    yield below("delta_poles_off_before_rounding", float(off), 1e-3, "rad/s", reason, "own fit")
    step = 1e-5
    slope = (FITTED.holding_torque(crossing + step) - FITTED.holding_torque(crossing - step)) / (2 * step)
    reason = "the crossing is where the holding torque is greatest: its slope there, by virtual work; 1e-7 rad of angle"
    yield below("delta_torque_slope_at_crossing", abs(slope), 1e-6, "N m/rad", reason, "closed form")
    poles = linearise(assemble(delta_hold(AUTONOX))).poles()
    reason = "known to four digits; an industrial robot is unstable there too, undamped"
    yield PublishedValue("autonox_pole_unstable", 1.888, float(poles.real.max()), "rad/s", 6e-4, reason, SETTLED)


def structure_figures() -> Iterator[PublishedValue]:
    """Pairs that cancel at the method's pole, and the model of order six that is left."""
    full = full_model()
    pairs = find_cancelled_pairs(full)
    yield PublishedValue("delta_cancelled_pairs", 12, len(pairs), "", 0, "counted", PLOT, Kind.RESULT)
    off = max((abs(pair.pole + POLE) for pair in pairs), default=np.inf)
    reason = "six double roots at -5, each known to half its digits"
    yield below("delta_cancelled_pole_off", off, 1e-3, "1/s", reason, PLOT, Kind.RESULT)
    hidden = find_hidden_poles(full)
    place = f"{STUDY}, section 3.4"
    count = len(hidden.uncontrollable)
    yield PublishedValue("delta_uncontrollable", 12, count, "", 0, "counted", place, Kind.RESULT)
    reason = "the study calls all twelve unobservable: an error that decays is seen in the motors' angles, half of it"
    count = len(hidden.unobservable)
    yield PublishedValue("delta_unobservable", 12, count, "", None, reason, place, Kind.RESULT)
    order = truncate(full).model.order
    reason = "counted: balanced truncation keeps what matters"
    yield PublishedValue("delta_reduced_order", 6, order, "", 0, reason, place, Kind.RESULT)
    yield below("delta_reduced_models_apart", _models_apart(), 1e-8, "relative", _MODELS, place, Kind.RESULT)
    reason = "counted: three torques to three angles of the robot alone have none"
    yield PublishedValue("delta_zeros_of_robot", 0, len(find_zeros(reduced_model())), "", 0, reason, PLOT, Kind.RESULT)


_MODELS = "truncated, minimal and in the motors' coordinates against all 18 states, 0.1 to 100 rad/s"


def _models_apart() -> float:
    omega = np.logspace(-1, 2, 60)
    wanted = full_model().frequency_response(omega)
    models = (truncate(full_model()).model, find_minimal(full_model()), reduced_model())
    apart = [np.abs(model.frequency_response(omega) - wanted).max() for model in models]
    return float(max(apart) / np.abs(wanted).max())


def gain_figures() -> Iterator[PublishedValue]:
    """The least proportional gain that holds the robot upright: continuous, and at 1 kHz."""
    step = 1e-5
    slope = (FITTED.holding_torque(-step) - FITTED.holding_torque(step)) / (2 * step)
    gains = tuple(f"{arm}.control.proportional" for arm in ARMS)
    for name, period in (("continuous", None), ("sampled", 1e-3)):
        limit = find_stability_limit(assemble(delta_stand(period=period)), gains, 0.0, 10.0)
        reason = "PD loops around constant torques: the gain must outdo the slope of the holding torque at 0"
        where = f"closed form; {STUDY}, section 5: such a limit exists"
        yield PublishedValue(f"delta_least_gain_{name}", slope, limit.value, "N m/rad", 1e-5, reason, where)
