"""Joint-space path: where are the joints, and how do they change, at arc length s of a planned path?

Joint positions with their exact first and second derivatives by s are tabulated at knots; between two knots the six
values at their ends make a polynomial of degree 5 (Hermite), so that position, speed and acceleration are continuous
and belong to each other. Where a new piece of the path begins, its knot stands twice: once for each side.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from robodyn.base.records import dataclass
from robodyn.description.laws.speed_profile import Phase, plan_legs, travel
from robodyn.description.paths.cartesian import CartesianPath

# Rows: coefficients of u^0 .. u^5; columns: q, h q', h^2 q'' at the left end, then at the right one.
HERMITE = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
        [-10.0, -6.0, -1.5, 10.0, -4.0, 0.5],
        [15.0, 8.0, 1.5, -15.0, 7.0, -1.0],
        [-6.0, -3.0, -0.5, 6.0, -3.0, 0.5],
    ]
)


@dataclass(frozen=True, eq=False)
class JointTable:
    """Polynomials of degree 5 between knots.

    Attributes:
        starts: where they begin [m], increasing, (n,); widths: how far they go [m], (n,).
        coefficients: of u^0 to u^5, u = (s - start) / width, (n, 6, n_joints).
    """

    starts: np.ndarray
    widths: np.ndarray
    coefficients: np.ndarray

    def at(self, s: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q [rad], dq/ds [rad/m] and d2q/ds2 [rad/m^2] at some ways s [m], (n, n_joints) each."""
        s = np.atleast_1d(np.asarray(s, float))
        k = np.clip(np.searchsorted(self.starts, s, side="right") - 1, 0, len(self.starts) - 1)
        u, h = ((s - self.starts[k]) / self.widths[k])[:, None], self.widths[k][:, None]
        c = np.moveaxis(self.coefficients[k], 1, 0)
        return evaluate(c, u), evaluate_slope(c, u) / h, evaluate_bend(c, u) / h**2


def evaluate(c: Any, u: Any) -> Any:
    """c0 + c1 u + ... + c5 u^5."""
    return c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))))


def evaluate_slope(c: Any, u: Any) -> Any:
    """Its derivative by u."""
    return c[1] + u * (2 * c[2] + u * (3 * c[3] + u * (4 * c[4] + u * (5 * c[5]))))


def evaluate_bend(c: Any, u: Any) -> Any:
    """Its second derivative by u."""
    return 2 * c[2] + u * (6 * c[3] + u * (12 * c[4] + u * (20 * c[5])))


def make_table(knots: Any, position: Any, slope: Any, bend: Any) -> JointTable:
    """Polynomials through positions (m, n_joints) with given first and second derivatives at knots (m,)."""
    knots = np.asarray(knots, float)
    k = np.flatnonzero(np.diff(knots) > 0)
    h = np.diff(knots)[k]
    scaled = [
        np.asarray(rows, float)[k + side] * h[:, None] ** power
        for side in (0, 1)
        for power, rows in enumerate((position, slope, bend))
    ]
    coefficients = np.einsum("ij,jnk->nik", HERMITE, np.array(scaled))
    return JointTable(knots[k], h, coefficients)


@dataclass(frozen=True, eq=False)
class PathRequest:
    """What a path was planned from, as `plan_path` takes it: by this it is planned again, and written to files."""

    point: str
    path: CartesianPath
    near: tuple[float, ...] | None = None
    branch: int | None = None
    free: tuple[str, ...] = ()
    prefer: Any = None
    singular: float | None = None
    spacing: float | None = None


@dataclass(frozen=True, eq=False)
class JointPath:
    """A path of the tool as a path of the joints.

    Attributes:
        joints: names, in the order of the columns; point: the tool's.
        knots: ways [m], never decreasing, (m,); a knot between two pieces stands twice.
        position: [rad], (m, n_joints); slope: dq/ds [rad/m]; bend: d2q/ds2 [rad/m^2].
        error: largest error of the interpolation, measured half way between the knots [rad].
        closeness: smallest singular value of the scaled Jacobian at the knots, (m,): 0 at a singularity.
        units: of the joints' positions; rad where there are none.
        rests: ways between its ends at which the tool rests [m].
        request: what it was planned from.
    """

    joints: tuple[str, ...]
    point: str
    knots: np.ndarray
    position: np.ndarray
    slope: np.ndarray
    bend: np.ndarray
    error: float
    closeness: np.ndarray
    units: tuple[str, ...] = ()
    rests: tuple[float, ...] = ()
    request: PathRequest | None = None

    @property
    def length(self) -> float:
        """The whole way [m]."""
        return float(self.knots[-1])

    @property
    def piece_ends(self) -> tuple[float, ...]:
        """Ways at which one piece of the path ends and another begins [m]."""
        return tuple(float(s) for s in self.knots[:-1][np.diff(self.knots) == 0])

    @cached_property
    def table(self) -> JointTable:
        """The polynomials between the knots."""
        return make_table(self.knots, self.position, self.slope, self.bend)

    def at(self, s: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, dq/ds and d2q/ds2 at some ways s [m], interpolated, (n, n_joints) each."""
        return self.table.at(s)

    def phases(
        self, *, speed: float, acceleration: float, jerk: float | None = None, begin: float = 0.0, pause: float = 0.0
    ) -> tuple[Phase, ...]:
        """How the path is gone along, from rest to rest, with a pause [s] at each rest between."""
        return plan_legs(
            (0.0, *self.rests, self.length), speed, acceleration, np.inf if jerk is None else jerk, begin, pause
        )

    def duration(self, **profile: Any) -> float:
        """Time at which the end is reached [s], begin included; profile as `phases` takes it."""
        return float(self.phases(**profile)[-1].begin)

    def motion(self, time: Any, **profile: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Joint positions, velocities and accelerations at some times [s], (n, n_joints) each.

        v = q' s_dot,   a = q'' s_dot^2 + q' s_ddot
        """
        phases = self.phases(**profile)
        s, rate, change, _ = (column[:, None] for column in travel(np.atleast_1d(np.asarray(time, float)), phases))
        q, slope, bend = self.at(s[:, 0])
        return q, slope * rate, bend * rate**2 + slope * change
