"""Computed torque of a dressed robot: which error dynamics do its axes get, and which margins do the loops keep?

    f = L (s_ref'' + kd e' + kp e) + b,    e'' + kd e' + kp e = 0

for all axes alike, from the rigid model of the robot at its encoders, drives' inertias included. With w as fast as the
lags allow (`robodyn.commissioning.loop_design`), kd = w and kp = w^2 / 5. Elastic gears take their part: each axis'
torque is cut in the linear model of the whole machine, and w is lowered until all loops keep their margins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robodyn.analysis.linear.sampling import sampled_lineariser
from robodyn.commissioning.axis import Axis
from robodyn.commissioning.loop_design import (
    CORNER,
    LOWERED,
    MOST_ROUNDS,
    LoopMargins,
    crossover,
    exact_margins,
    keeps_margins,
    place_axes,
)
from robodyn.errors import Flaw, ModelError
from robodyn.model import Block, Machine, Scenario
from robodyn.model.control_model import ControlModel
from robodyn.waiting import told_if_slow

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
        model=ControlModel(axes=tuple(axis.driven for axis in axes), rigid=tuple(gear.twist for gear in gears)),
    )
    return machine.replaced(blocks=(*machine.blocks, block))


@told_if_slow("designing the control of")
def design_error_dynamics(
    scenario: Scenario, axes: Sequence[Axis], poses: Sequence[Mapping[str, float]]
) -> tuple[ErrorDynamics, dict[str, LoopMargins]]:
    """The fastest error dynamics that keep the margins of all axes at all poses, and the margins they keep.

    Raises:
        ModelError: where slower ones do not help.
    """
    linearise, frequency = sampled_lineariser(scenario), crossover(axes[0].control)
    for _ in range(MOST_ROUNDS):
        gains = ErrorDynamics.at(frequency)
        numbers = {f"{NAME}.stiffness": gains.stiffness, f"{NAME}.damping": gains.damping}
        found: dict[str, list[LoopMargins]] = {axis.name: [] for axis in axes}
        for pose, place in enumerate(poses):
            model = linearise(place_axes(axes, place), numbers)
            for k, axis in enumerate(axes):
                found[axis.name].append(LoopMargins(*exact_margins(model, torque_signal(k)), pose))
        if all(keeps_margins(axis, margins) for axis in axes for margins in found[axis.name]):
            return gains, {name: LoopMargins.least(margins) for name, margins in found.items()}
        frequency *= LOWERED
    remedy = "faster rates, stiffer gears, smaller margins, a cascade, or dress joints that fall freely"
    raise ModelError([Flaw("", "no error dynamics keep the margins wanted", remedy)], f"control of '{scenario.name}'")
