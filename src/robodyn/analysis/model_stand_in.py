"""Stand-in for a controller's model: with what is a law called that is looked at alone, without its machine?

The simplest machine: each axis moves a unit mass without weight, `f = s''`, and the task are the first axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robodyn.description.model import Block, ControlModel
from robodyn.description.model.control_model import TaskRows

Values = Sequence[Any]


class UnitModel:
    """Has the functions of `ModelDynamics`, on numbers or symbols."""

    def __init__(self, axes: Sequence[str], rows: TaskRows) -> None:
        self.axes, self.rows, self.task = tuple(axes), rows, rows.names

    def inverse_dynamics(self, position: Values, velocity: Values, acceleration: Values) -> tuple[Any, ...]:
        return tuple(acceleration)

    def gravity(self, position: Values) -> tuple[Any, ...]:
        return tuple(0.0 * s for s in position)

    def mass_matrix(self, position: Values) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(float(i == k) for k in range(len(self.axes))) for i in range(len(self.axes)))

    def friction(self, position: Values, velocity: Values) -> tuple[Any, ...]:
        return tuple(-v for v in velocity)

    def task_target(self, position: Values = (), *rest: Any) -> Values:
        """Positions alone: rotations are wanted at 0."""
        positions = dict(zip(self.rows.positions, position, strict=True))
        return tuple(positions.get(name, 0.0) for name in self.task)

    def task_error(self, position: Values, target: Values) -> tuple[Any, ...]:
        return tuple(goal - s for goal, s in zip(target, position, strict=False))

    def task_error_rate(self, position: Values, velocity: Values, target: Values) -> tuple[Any, ...]:
        return tuple(-v for v in velocity[: len(self.task)])

    def jacobian(self, position: Values, target: Values = ()) -> tuple[tuple[Any, ...], ...]:
        return self.mass_matrix(position)[: len(self.task)]

    def task_dynamics(
        self, position: Values, velocity: Values, acceleration: Values, target: Values
    ) -> tuple[Any, ...]:
        return self.task_push(position, tuple(-a for a in acceleration))

    def task_push(self, position: Values, force: Values, target: Values = ()) -> tuple[Any, ...]:
        return (*force, *(0.0,) * (len(self.axes) - len(self.task)))

    def null_space(self, position: Values, forces: Values, target: Values = ()) -> tuple[Any, ...]:
        return (*(0.0,) * len(self.task), *forces[len(self.task) :])

    def independence(self, position: Values) -> Any:
        return 1.0


def stand_in(block: Block) -> UnitModel:
    """A model with as many axes as the block's model names, or else as its longest input has entries."""
    rows = (block.model or ControlModel()).rows
    longest = max((len(source) for source in block.inputs.values() if isinstance(source, tuple)), default=1)
    return UnitModel(block.axes or [f"axis{k}" for k in range(max(longest, len(rows.all)))], rows)
