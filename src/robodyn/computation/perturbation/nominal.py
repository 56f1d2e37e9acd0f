"""Nominal motion of a scenario: positions, torques by inverse dynamics, linear equations along it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.waiting import report_progress
from robodyn.computation.assembly import System
from robodyn.computation.perturbation.equations import Equations, derive_equations
from robodyn.computation.perturbation.knots import evaluation_times, place_knots
from robodyn.computation.perturbation.scope import outline_system
from robodyn.computation.simulation.problem import break_times

POINTS = 400
"""Pieces that the duration is divided into."""


@dataclass(frozen=True, eq=False)
class Nominal:
    """A nominal motion at the ends of its pieces (R rows), and the linear equations of small deviations from it.

        M0 a' + C0 v' + K0 q' = tau - torque,    y = outputs + outputs_by_position q' + outputs_by_velocity v'

    A time that occurs twice is a break: the first row belongs to the piece before, the second to the one after.

    Attributes:
        points: number of pieces asked for; joints, signals, curved: names of the columns of the arrays.
        position, velocity, acceleration, torque: q0, v0, a0 and what the motion needs without friction, (R, n).
        torque_rate: explicit change of the torque with time, where folded forces depend on it, (R, n).
        mass, damping, stiffness_structural, stiffness_geometric, stiffness_dynamic: M0, C0, parts of K0, (R, n, n).
        outputs: y of `signals`, where "joint.carried" is the torque of folded forces and loads on a joint, (R, k), with
            their derivatives outputs_by_position, outputs_by_velocity (R, k, n).
        curvature: d2s/dq2 of the coordinates `curved`, (R, n, n each, side by side).
        parameters: the numbers it depends on; digest: fingerprint of the equations.
    """

    points: int
    joints: tuple[str, ...]
    signals: tuple[str, ...]
    curved: tuple[str, ...]
    parameters: Mapping[str, float]
    digest: str
    times: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray
    torque_rate: np.ndarray
    mass: np.ndarray
    damping: np.ndarray
    stiffness_structural: np.ndarray
    stiffness_geometric: np.ndarray
    stiffness_dynamic: np.ndarray
    outputs: np.ndarray
    outputs_by_position: np.ndarray
    outputs_by_velocity: np.ndarray
    curvature: np.ndarray

    @property
    def stiffness(self) -> np.ndarray:
        """K0, all parts together, (R, n, n)."""
        return self.stiffness_structural + self.stiffness_geometric + self.stiffness_dynamic

    @property
    def duration(self) -> float:
        """Of the nominal motion [s]."""
        return float(self.times[-1])


COLUMNS = ("torque", "torque_rate", "outputs")
"""Terms that are columns; all others are matrices."""
ARRAYS = tuple(field.name for field in fields(Nominal) if field.type == "np.ndarray")
"""Fields that are arrays, one row a point."""


@report_progress("computing the nominal motion of")
def compute_nominal(
    system: System | Equations, points: int = POINTS, parameters: Mapping[str, float] | None = None
) -> Nominal:
    """The nominal motion of a system, by inverse dynamics without friction and control.

    Args:
        system: as assembled, or its equations derived before, for many parameters.
        points: pieces that the duration is divided into; breaks of the reference move the nearest ends onto them.
        parameters: tunable numbers to change.
    """
    equations = system if isinstance(system, Equations) else derive_equations(outline_system(system))
    values = parameter_values(equations.outline.system, parameters or {})
    p = equations.module.prepare(list(values.values()))
    scenario = equations.outline.system.scenario
    numbers = {name: number.value for name, number in equations.outline.system.numbers.items()} | values
    breaks = break_times(equations.outline.system.discrete.breaks, numbers, 0.0, scenario.duration)
    times, instants = evaluation_times(*place_knots(scenario.duration, points, breaks.tolist()))
    rows = [_evaluate(equations, instant, p) for instant in instants]
    arrays: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    outline = equations.outline
    kept = {name: values[name] for name in equations.parameters}
    names = (outline.joints, equations.outputs, outline.curved)
    return Nominal(points, *names, kept, equations.digest, times=times, **arrays)


def parameter_values(system: System, changes: Mapping[str, float]) -> dict[str, float]:
    """All tunable numbers with some changed; an unknown one is an error."""
    values = {number.name: number.value for number in system.parameters}
    flaws = FlawList()
    for name in changes:
        if name not in values:
            flaws.add(name, "is not tunable in this system", nearest(name, values))
    flaws.raise_if_any("parameters")
    return values | dict(changes)


def _evaluate(equations: Equations, instant: float, p: np.ndarray) -> dict[str, np.ndarray]:
    """Everything at one instant."""
    none = np.zeros(equations.outline.system.n_q)
    t = np.array([instant])
    motion = {name: part.ravel() for name, part in equations.evaluate("motion", (t, none, none, none, p)).items()}
    terms = equations.evaluate("terms", (t, *motion.values(), p))
    return motion | {name: part.ravel() if name in COLUMNS else part for name, part in terms.items()}
