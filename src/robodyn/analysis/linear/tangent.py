"""Tangent space: which small deviations does a state have, where orientations are quaternions?

    dx = T dz,   dz = T^+ dx,   dz' = (T^+ A T + d(T^+)/dt T) dz

The deviation of an orientation is a small rotation in the child's axes, `base.rotation.x` ...; of all other states
it is that of the state itself. The length of a quaternion means nothing and has no part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.linear.linear_model import Variable
from robodyn.computation.assembly import System
from robodyn.description.model.numbers import XYZ


@dataclass(frozen=True, eq=False)
class Tangent:
    """Deviations z of some states x at a point of a motion.

    Attributes:
        into: T, (n_x, n_z); out: T^+, (n_z, n_x); turning: d(T^+)/dt T, (n_z, n_z).
    """

    variables: tuple[Variable, ...]
    into: np.ndarray
    out: np.ndarray
    turning: np.ndarray


def find_tangent(system: System, x: np.ndarray, x_dot: np.ndarray, states: Sequence[int]) -> Tangent:
    """The deviations of states at x, which changes by x_dot; both in the order of `states`."""
    names = [system.states[k].name for k in states]
    mechanism = system.scenario.machine.mechanism
    balls = [f for f in mechanism.freedoms if not f.is_single and next(iter(f.positions)) in names] if mechanism else []
    inside = {name for ball in balls for name in ball.positions}
    variables: list[Variable] = []
    columns, rows, rates = [], [], []
    size = len(names)
    for k, name in enumerate(names):
        if name not in inside:
            variables.append(Variable(name, system.states[states[k]].unit, float(x[k])))
            unit = np.eye(size)[:, [k]]
            columns.append(unit)
            rows.append(unit.T)
            rates.append(np.zeros((1, size)))
        elif ball := next((b for b in balls if next(iter(b.positions)) == name), None):
            part = slice(k, k + 4)
            variables += [Variable(f"{ball.name}.rotation.{axis}", "rad", 0.0) for axis in XYZ]
            lift = np.eye(size)[:, part]
            length = float(x[part] @ x[part])
            columns.append(lift @ _rates(x[part]))
            # N^T N is a quarter of the squared length.
            rows.append(4.0 / length * _rates(x[part]).T @ lift.T)
            rates.append(4.0 / length * _rates(x_dot[part]).T @ lift.T)
    into = np.hstack([np.zeros((size, 0)), *columns])
    out = np.vstack([np.zeros((0, size)), *rows])
    turning = np.vstack([np.zeros((0, size)), *rates]) @ into
    return Tangent(tuple(variables), into, out, turning)


def positions_by(system: System, x: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Changes of the positions q by their deviations, (n_q, n_v), and the names of these."""
    n = system.n_q
    tangent = find_tangent(system, x[:n], np.zeros(n), range(n))
    return tangent.into, tuple(variable.name for variable in tangent.variables)


def _rates(q: np.ndarray) -> np.ndarray:
    """N(q): rates of a quaternion by the angular velocity in the child's axes, (4, 3)."""
    w, x, y, z = q
    return 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
