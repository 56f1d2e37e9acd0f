"""Computed torque of a dressed robot: which error dynamics do its axes get, and which margins do the loops keep?

    f = L (s_ref'' + kd e' + kp e) + b,    e'' + kd e' + kp e = 0

for all axes alike, from the rigid model of the robot at its encoders, drives' inertias included. With w as fast as the
lags allow (`loop_design.py`), kd = w and kp = w^2 / 5. Elastic gears take their part: each axis'
torque is cut in the linear model of the whole machine, and w is lowered until all loops keep their margins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from robodyn.analysis.commissioning.axis import Axis
from robodyn.analysis.commissioning.loop_design import (
    CORNER,
    LOWERED,
    MOST_ROUNDS,
    LoopMargins,
    crossover,
    describe_margins,
    estimate_margins,
    exact_margins,
    keeps_margins,
    place_axes,
    remedy_for,
)
from robodyn.analysis.linear.lifting import lift
from robodyn.analysis.linear.margins import STABLE
from robodyn.analysis.linear.sampled_model import SampledModel
from robodyn.analysis.linear.sampling import sampled_lineariser
from robodyn.base.errors import Flaw, ModelError
from robodyn.base.waiting import told_if_slow
from robodyn.description.model import Block, Machine, Scenario
from robodyn.description.model.control_model import ControlModel

NAME = "computed_torque"
"""Of the block, and of its law."""


@dataclass(frozen=True)
class ErrorDynamics:
    """Of every axis: stiffness kp [1/s^2] and damping kd [1/s]."""

    stiffness: float
    damping: float

    @staticmethod
    def at(frequency: float) -> ErrorDynamics:
        """Those of a crossover [rad/s]."""
        return ErrorDynamics(frequency**2 / CORNER, frequency)


def torque_signal(k: int) -> str:
    """What the law commands to an axis."""
    return f"{NAME}.torque.{k}"


def with_computed_torque(machine: Machine, axes: Sequence[Axis], gains: ErrorDynamics) -> Machine:
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


@told_if_slow("designing the control of")
def design_error_dynamics(
    scenario: Scenario, axes: Sequence[Axis], poses: Sequence[Mapping[str, float]]
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
    models: Sequence[SampledModel], axes: Sequence[Axis], measure: Callable[[SampledModel, str], tuple[float, float]]
) -> dict[str, LoopMargins]:
    """The least margins of each axis over the poses."""
    found = {}
    for k, axis in enumerate(axes):
        every = [LoopMargins(*measure(model, torque_signal(k)), pose) for pose, model in enumerate(models)]
        found[axis.name] = LoopMargins.least(every)
    return found


def _share(axis: Axis, margins: LoopMargins) -> float:
    """How much of the margins wanted an axis has."""
    return min(margins.phase / axis.control.phase_margin, (margins.gain - 1) / (axis.control.gain_margin - 1))
