"""Loops of dressed robots: which gains keep the margins, for cascades and computed torque?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from robodyn.analysis.linear.margins import EigenvalueCurves, find_margins
from robodyn.analysis.linear.sampling import STABLE, SampledModel, lift, sampled_lineariser
from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
from robodyn.base import Flaw, ModelError, frozen, report_progress
from robodyn.description.model import Block, Machine, Scenario
from robodyn.description.model.control_model import ControlModel

from .drive_sizes import Control, DriveAxis, Gains

# --------------------------------------------------------------------------------------------------
# Cascade tuning: which gains do a joint's loops get from the inertia it moves, and which margins do they keep?
#
# With Jmin and Jmax the least and largest inertia a joint sees over poses (others held, rotor included), T the lag of
# the velocity loop,
#
#     w = (90 deg - margin - atan(1 / 5)) / T,   P = w Jmin,   I = P w' / 5,   position gain = w' / 5,   w' = P / Jmax
#
# is the rigid design. Elastic gears and the other joints take their part: every loop is cut in the linear model of the
# whole machine, at several poses, and gains of joints that keep less than the margins wanted are lowered until they do.
# An unstable machine does not say which joint makes it so, and all are lowered: after that each joint is raised again,
# between the highest gain known to keep the margins and the lowest known not to.


CORNER = 5.0
"""Velocity loop over the corner of its integral, and over the position loop."""
LOWERED, MOST_ROUNDS = 0.8, 40
RAISED, MOST_RAISES = 1.25, 12
"""How near to each other a gain that keeps the margins and one that does not are found, and rounds of that."""
POSES, SEED = 64, 17
"""Random poses at which inertias are looked for."""
UNLIMITED = {"rad": math.pi, "m": 0.0}
"""Half range of a joint without limits."""


@frozen
class Inertias:
    """Inertias that the joints see over poses.

    Attributes:
        least, most: of each joint, by name [kg m^2 or kg]; poses: at which the margins are checked, q (k, n).
    """

    least: dict[str, float]
    most: dict[str, float]
    poses: tuple[dict[str, float], ...]


@frozen
class LoopMargins:
    """Least margins of a joint's loops over the poses: phase [rad], factor on the gain; at which pose."""

    phase: float
    gain: float
    pose: int

    @staticmethod
    def least(margins: Sequence[LoopMargins]) -> LoopMargins:
        """The least of several; the pose is that of the phase."""
        worst = min(margins, key=lambda m: m.phase)
        return LoopMargins(worst.phase, min(m.gain for m in margins), worst.pose)


def find_inertias(dynamics: MachineDynamics, axes: Sequence[DriveAxis], start: Mapping[str, float]) -> Inertias:
    """Diagonal entries of the mass matrix at the start, the middle of the limits and random poses within them."""
    random = np.random.default_rng(SEED)
    ranges = {axis.name: _range(axis) for axis in axes}
    middle = {name: 0.5 * (low + high) for name, (low, high) in ranges.items()}
    poses = [dict(start), dict(start) | middle]
    poses += [dict(start) | {name: random.uniform(*ends) for name, ends in ranges.items()} for _ in range(POSES)]
    places = {name: dynamics.velocities.index(f"{name}.velocity") for name in ranges}
    at = [dynamics.positions_at({f"{name}.position": q for name, q in pose.items()}) for pose in poses]
    values = np.array([np.diag(dynamics.mass_matrix(q)) for q in at])
    seen = {name: values[:, place] for name, place in places.items()}
    heaviest = max(seen, key=lambda name: float(np.ptp(seen[name]) / np.min(seen[name])))
    extremes = [int(np.argmin(seen[heaviest])), int(np.argmax(seen[heaviest]))]
    chosen = [poses[k] for k in dict.fromkeys([0, 1, *extremes])]
    least = {name: float(np.min(column)) for name, column in seen.items()}
    return Inertias(least, {name: float(np.max(column)) for name, column in seen.items()}, tuple(chosen))


def _range(axis: DriveAxis) -> tuple[float, float]:
    half = UNLIMITED[axis.unit]
    lower, upper = axis.joint.lower_limit, axis.joint.upper_limit
    if lower is None or upper is None:
        centre = lower if lower is not None else upper if upper is not None else 0.0
        return centre - (half if lower is None else 0.0), centre + (half if upper is None else 0.0)
    return lower, upper


def crossover(control: Control) -> float:
    """Frequency [rad/s] up to which the lags leave the phase margin wanted."""
    # A held sample and a difference of two lag by half a sample each, the current by its time constant.
    lag = 1 / control.velocity_rate + control.delay + control.current_lag
    return (math.pi / 2 - control.phase_margin - math.atan(1 / CORNER)) / lag


def rigid_gains(axis: DriveAxis, least: float, most: float) -> Gains:
    """The design for a rigid gear: fastest where the inertia is least, the slower loops for where it is largest."""
    proportional = crossover(axis.control) * least
    slowest = proportional / most
    return Gains(slowest / CORNER, proportional, proportional * slowest / CORNER)


@report_progress("designing the loops of")
def design_loops(
    scenario: Scenario, axes: Sequence[DriveAxis], gains: Mapping[str, Gains], inertias: Inertias
) -> tuple[dict[str, Gains], dict[str, LoopMargins]]:
    """Gains that keep the margins at all poses, from those of the rigid design, and the margins they keep.

    Raises:
        ModelError: where lower gains do not help.
    """
    linearise = sampled_lineariser(scenario)
    found, left, measure, raised = dict(gains), list(axes), estimate_margins, False
    for _ in range(MOST_ROUNDS):
        margins = _find_margins(linearise, axes, found, inertias.poses, left, measure)
        short = {axis.name: _shortfall(axis, margins) for axis in left}
        # Joints that keep their margins are looked at again when all do, exactly.
        left = [axis for axis in left if any(short[axis.name])]
        if not left and measure is exact_margins:
            return found, {axis.name: _least(axis, margins) for axis in axes}
        if not left:
            if not raised:
                found, raised = _raise_gains(linearise, axes, found, gains, inertias), True
            left, measure = list(axes), exact_margins
            continue
        if measure is exact_margins:
            measure = estimate_margins
        for axis in left:
            # Gains of the loops that are short of margins, the position loop kept slower than the velocity loop.
            own, (position, velocity) = found[axis.name], short[axis.name]
            proportional = own.proportional * (LOWERED if velocity else 1.0)
            slowest = proportional / inertias.most[axis.name]
            outer = min(own.position * (LOWERED if position else 1.0), slowest / CORNER)
            found[axis.name] = Gains(outer, proportional, proportional * slowest / CORNER)
    flaws = []
    for axis in left:
        what = f"no gains keep the required margins: P = {found[axis.name].proportional:.3g} has "
        least = _least(axis, margins)
        flaws.append(Flaw(f"joints.{axis.name}", what + describe_margins(least), remedy_for(axis, least)))
    raise ModelError(flaws, f"control of '{scenario.name}'")


def describe_margins(margins: LoopMargins) -> str:
    """Margins in words."""
    if not margins.phase:
        return "an unstable loop"
    return f"a phase margin of {math.degrees(margins.phase):.3g} deg and a gain margin of {margins.gain:.3g}"


def remedy_for(axis: DriveAxis, margins: LoopMargins) -> str:
    """Ways to give a joint more margin, or to ask for less."""
    ways = []
    if axis.gear is not None:
        ways.append(f"a rotor_inertia above {axis.sized['rotor_inertia']:.3g} kg m^2")
        ways.append(f"a stiffness above {axis.sized['stiffness']:.4g}")
    ways.append(f"a velocity_rate above {axis.control.velocity_rate:.6g} Hz")
    if 0 < margins.phase < axis.control.phase_margin:
        ways.append(f'phase_margin = "{math.floor(math.degrees(margins.phase))} deg"')
    if 1 < margins.gain < axis.control.gain_margin:
        ways.append(f"gain_margin = {math.floor(100 * margins.gain) / 100:g}")
    return f"{', '.join(ways[:-1])} or {ways[-1]}" if len(ways) > 1 else ways[0]


def _raise_gains(
    linearise: Callable[..., SampledModel],
    axes: Sequence[DriveAxis],
    gains: Mapping[str, Gains],
    rigid: Mapping[str, Gains],
    inertias: Inertias,
) -> dict[str, Gains]:
    """Gains that keep the margins, raised towards the rigid design as far as each joint still keeps them.

    Between the highest proportional gain known to do, low, and the lowest known not to do, high, the geometric mean is
    tried for all joints at once.
    """
    low = {axis.name: 1.0 for axis in axes}
    high = {axis.name: rigid[axis.name].proportional / gains[axis.name].proportional for axis in axes}
    for _ in range(MOST_RAISES):
        open_ones = [axis for axis in axes if high[axis.name] > RAISED * low[axis.name]]
        if not open_ones:
            break
        factors = dict(low) | {axis.name: math.sqrt(low[axis.name] * high[axis.name]) for axis in open_ones}
        trial = {axis.name: _scaled(gains[axis.name], factors[axis.name]) for axis in axes}
        margins = _find_margins(linearise, axes, trial, inertias.poses, axes, estimate_margins)
        short = [axis for axis in axes if any(_shortfall(axis, margins))]
        for axis in open_ones:
            if axis in short:
                high[axis.name] = factors[axis.name]
            elif not short:
                low[axis.name] = factors[axis.name]
    return {axis.name: _scaled(gains[axis.name], low[axis.name]) for axis in axes}


def _scaled(gains: Gains, factor: float) -> Gains:
    """A velocity loop faster by a factor, its integral and the position loop with it."""
    return Gains(gains.position * factor, gains.proportional * factor, gains.integral * factor**2)


Cuts = dict[str, list[LoopMargins]]


def _find_margins(
    linearise: Callable[..., SampledModel],
    axes: Sequence[DriveAxis],
    gains: Mapping[str, Gains],
    poses: Sequence[Mapping[str, float]],
    looked_at: Sequence[DriveAxis],
    measure: Callable[[SampledModel, str], tuple[float, float]],
) -> dict[str, Cuts]:
    """Margins by joint and by place of the cut, at each pose."""
    parameters = {}
    for axis in axes:
        own = gains[axis.name]
        parameters[f"{axis.name}.position_loop.proportional"] = own.position
        parameters[f"{axis.name}.velocity_loop.proportional"] = own.proportional
        parameters[f"{axis.name}.velocity_loop.integral"] = own.integral
    margins: dict[str, Cuts] = {axis.name: {"position": [], "velocity": []} for axis in looked_at}
    for k, pose in enumerate(poses):
        model = linearise(place_axes(axes, pose), parameters)
        for axis in looked_at:
            cuts = {"position": f"{axis.name}.position_loop.velocity_command"}
            cuts["velocity"] = f"{axis.name}.velocity_loop.torque_command"
            for where, signal in cuts.items():
                margins[axis.name][where].append(LoopMargins(*measure(model, signal), k))
    return margins


def place_axes(axes: Sequence[DriveAxis], pose: Mapping[str, float]) -> dict[str, float]:
    """Joints and the drives of elastic ones at a pose."""
    place = {f"{name}.position": q for name, q in pose.items()}
    drives = {f"{axis.gear.drive}.position": pose[axis.name] for axis in axes if axis.gear is not None}
    return place | drives


def estimate_margins(model: SampledModel, signal: str) -> tuple[float, float]:
    """Phase and gain margin of a loop cut at one signal, read off its curves without refinement; 0 where unstable."""
    lifted = lift(model, (signal,))
    if lifted.radius() > 1 + STABLE:
        return 0.0, 0.0
    values = EigenvalueCurves(lifted, estimated=True).values
    first, second = values[:-1], values[1:]
    crossed = (np.abs(first) > 1) != (np.abs(second) > 1)
    met = (first.imag > 0) != (second.imag > 0)
    # Positive feedback: the loop is at its limit where an eigenvalue is 1.
    phases = np.abs(np.angle(np.where(np.abs(first) > np.abs(second), second, first)))[crossed]
    reals = np.maximum(first.real, second.real)[met]
    limits = reals[(reals > 0) & (reals < 1)]
    return float(np.min(phases, initial=math.pi)), 1 / float(np.max(limits, initial=1e-9))


def exact_margins(model: SampledModel, signal: str) -> tuple[float, float]:
    """The margins of a loop by the analysis that `robodyn loops` prints."""
    found = find_margins(model, signal, delay=False)
    return (math.radians(found.phase), found.gain_to) if found.stable else (0.0, 0.0)


def _shortfall(axis: DriveAxis, margins: Mapping[str, Cuts]) -> tuple[bool, bool]:
    """Whether the position gain, and whether those of the velocity loop have to go down."""
    few = {
        where: not all(keeps_margins(axis, m) for m in margins[axis.name][where]) for where in ("position", "velocity")
    }
    return few["position"] and not few["velocity"], few["velocity"]


def keeps_margins(axis: DriveAxis, margins: LoopMargins) -> bool:
    """Whether a loop has the margins wanted."""
    return margins.phase >= axis.control.phase_margin and margins.gain >= axis.control.gain_margin


def _least(axis: DriveAxis, margins: Mapping[str, Cuts]) -> LoopMargins:
    return LoopMargins.least([m for cut in margins[axis.name].values() for m in cut])


# --------------------------------------------------------------------------------------------------
# Computed torque of a dressed robot: which error dynamics do its axes get, and which margins do the loops keep?
#
#     f = L (s_ref'' + kd e' + kp e) + b,    e'' + kd e' + kp e = 0
#
# for all axes alike, from the rigid model of the robot at its encoders, drives' inertias included. With w as fast as
# the lags allow (`loop_design.py`), kd = w and kp = w^2 / 5. Elastic gears take their part: each axis' torque is cut in
# the linear model of the whole machine, and w is lowered until all loops keep their margins.


NAME = "computed_torque"
"""Of the block, and of its law."""


@frozen
class ErrorDynamics:
    """The error dynamics of every axis: stiffness kp [1/s^2] and damping kd [1/s]."""

    stiffness: float
    damping: float

    @staticmethod
    def at(frequency: float) -> ErrorDynamics:
        """Those of a crossover [rad/s]."""
        return ErrorDynamics(frequency**2 / CORNER, frequency)


def torque_signal(k: int) -> str:
    """The signal by which the law commands an axis."""
    return f"{NAME}.torque.{k}"


def with_computed_torque(machine: Machine, axes: Sequence[DriveAxis], gains: ErrorDynamics) -> Machine:
    """The machine with the block that controls all its axes."""
    signals = {
        "position": "encoder.measured",
        "velocity": "encoder.measured_rate",
        "target": "reference.position",
        "target_velocity": "reference.velocity",
        "target_acceleration": "reference.acceleration",
    }
    gears = [axis.gear for axis in axes if axis.gear is not None]
    block = Block(
        NAME,
        NAME,
        inputs={key: tuple(f"{axis.name}.{signal}" for axis in axes) for key, signal in signals.items()},
        parameters={"stiffness": gains.stiffness, "damping": gains.damping},
        period=1 / axes[0].control.velocity_rate,
        delay=axes[0].control.delay,
        model=ControlModel(axes=tuple(axis.driven for axis in axes), rigid=tuple(gear.twist for gear in gears)),
    )
    return machine.replaced(blocks=(*machine.blocks, block))


@report_progress("designing the control of")
def design_error_dynamics(
    scenario: Scenario, axes: Sequence[DriveAxis], poses: Sequence[Mapping[str, float]]
) -> tuple[ErrorDynamics, dict[str, LoopMargins]]:
    """The fastest error dynamics that keep the margins of all axes at all poses, and the margins they keep.

    Raises:
        ModelError: where slower ones do not help, with the joints that are short of margins at the best ones.
    """
    linearise, frequency = sampled_lineariser(scenario), crossover(axes[0].control)
    best: tuple[float, ErrorDynamics, list[SampledModel]] | None = None
    for _ in range(MOST_ROUNDS):
        gains = ErrorDynamics.at(frequency)
        frequency *= LOWERED
        numbers = {f"{NAME}.stiffness": gains.stiffness, f"{NAME}.damping": gains.damping}
        models = [linearise(place_axes(axes, place), numbers) for place in poses]
        # Margins take long, and are those of a stable machine.
        if any(lift(model, (torque_signal(0),)).radius() > 1 + STABLE for model in models):
            if best is not None:
                break  # slower error dynamics no longer hold the weight
            continue
        margins = _least_margins(models, axes, estimate_margins)
        if all(keeps_margins(axis, margins[axis.name]) for axis in axes):
            margins = _least_margins(models, axes, exact_margins)
        if all(keeps_margins(axis, margins[axis.name]) for axis in axes):
            return gains, margins
        worst = min(_share(axis, margins[axis.name]) for axis in axes)
        if best is None or worst > best[0]:
            best = worst, gains, models
    if best is None:
        unstable = LoopMargins(0.0, 0.0, 0)
        what = "is unstable with all error dynamics"
        flaws = [Flaw(f"joints.{axis.name}", what, remedy_for(axis, unstable)) for axis in axes]
        raise ModelError(flaws, f"computed torque of '{scenario.name}'")
    _, gains, models = best
    margins = _least_margins(models, axes, exact_margins)
    flaws = []
    for axis in axes:
        own = margins[axis.name]
        if not keeps_margins(axis, own):
            at = f"with the best gains, kd = {gains.damping:.3g} 1/s and kp = {gains.stiffness:.3g} 1/s^2"
            remedy = f"{remedy_for(axis, own)}, or a cascade"
            flaws.append(Flaw(f"joints.{axis.name}", f"has {describe_margins(own)} {at}", remedy))
    if not flaws:
        return gains, margins  # the estimates were below what they keep
    raise ModelError(flaws, f"computed torque of '{scenario.name}' cannot keep its margins")


def _least_margins(
    models: Sequence[SampledModel],
    axes: Sequence[DriveAxis],
    measure: Callable[[SampledModel, str], tuple[float, float]],
) -> dict[str, LoopMargins]:
    """The least margins of each axis over the poses."""
    least_margins = {}
    for k, axis in enumerate(axes):
        every = [LoopMargins(*measure(model, torque_signal(k)), pose) for pose, model in enumerate(models)]
        least_margins[axis.name] = LoopMargins.least(every)
    return least_margins


def _share(axis: DriveAxis, margins: LoopMargins) -> float:
    """How much of the margins wanted an axis has."""
    return min(margins.phase / axis.control.phase_margin, (margins.gain - 1) / (axis.control.gain_margin - 1))
