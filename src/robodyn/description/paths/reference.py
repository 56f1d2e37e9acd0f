"""References along a path, by place or by time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from inspect import Signature, signature
from itertools import pairwise
from typing import Any

import numpy as np

from robodyn.base import Array, frozen
from robodyn.base import symbolic as sym
from robodyn.description.laws import LawInfo
from robodyn.description.laws.references import number_motions
from robodyn.description.laws.speed_profile import Phase, plan_legs, time_at, travel
from robodyn.description.model import Block, as_floats

from .cartesian import CartesianPath

# --------------------------------------------------------------------------------------------------
# Joint-space path: where are the joints, and how do they change, at arc length s of a planned path?
#
# Joint positions with their exact first and second derivatives by s are tabulated at knots; between two knots the six
# values at their ends make a polynomial of degree 5 (Hermite), so that position, speed and acceleration are continuous
# and belong to each other. Where a new piece of the path begins, its knot stands twice: once for each side.


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


@frozen(eq=False)
class JointTable:
    """Polynomials of degree 5 between knots.

    Attributes:
        starts: where they begin [m], increasing, (n,); widths: how far they go [m], (n,).
        coefficients: of u^0 to u^5, u = (s - start) / width, (n, 6, n_joints).
    """

    starts: Array
    widths: Array
    coefficients: Array

    def at(self, s: Any) -> tuple[Array, Array, Array]:
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


@frozen(eq=False)
class PathRequest:
    """The request of which a path was planned, as `plan_path` takes it: by this it is planned again, and written to
    files."""

    point: str
    path: CartesianPath
    near: tuple[float, ...] | None
    branch: int | None
    free: tuple[str, ...]
    prefer: Any
    singular: float | None
    spacing: float | None


@frozen(eq=False)
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
    knots: Array
    position: Array
    slope: Array
    bend: Array
    error: float
    closeness: Array
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

    def at(self, s: Any) -> tuple[Array, Array, Array]:
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

    def motion(self, time: Any, **profile: Any) -> tuple[Array, Array, Array]:
        """Joint positions, velocities and accelerations at some times [s], (n, n_joints) each.

        v = q' s_dot,   a = q'' s_dot^2 + q' s_ddot
        """
        phases = self.phases(**profile)
        s, rate, change, _ = (column[:, None] for column in travel(np.atleast_1d(np.asarray(time, float)), phases))
        q, slope, bend = self.at(s[:, 0])
        return q, slope * rate, bend * rate**2 + slope * change


# --------------------------------------------------------------------------------------------------
# Reference block of a path: where should the joints be at a time, so that the tool follows it?


Rows = tuple[tuple[float, ...], ...]
NUMBERS = ("speed", "acceleration", "jerk")
MOTION_UNITS = {"time": "s", "begin": "s", "s": "m", "speed": "m/s"}


def _joint_units(law: PathReference | TimedReference) -> dict[str, str]:
    """Units of what a law of several joints gives: `position1`, `velocity1`, `acceleration1` and so on."""
    units: dict[str, str] = {}
    for k, unit in enumerate(law.units or ["rad"] * len(law.joints), start=1):
        units |= {f"position{k}": unit, f"velocity{k}": f"{unit}/s", f"acceleration{k}": f"{unit}/s^2"}
    return units


def look_up(s: Any, table: JointTable) -> list[tuple[Any, Any, Any]]:
    """Value, slope and bend of each column of a table at a way s, a number or a symbol."""

    def hold(values: Array) -> Any:
        """The entry of the piece that s lies in; a plain number where all are alike."""
        return float(values[0]) if np.ptp(values) == 0.0 else sym.hold_table(s, table.starts, values)

    width = hold(table.widths)
    u = (s - hold(table.starts)) / width
    columns = []
    for k in range(table.coefficients.shape[2]):
        c = [hold(table.coefficients[:, power, k]) for power in range(6)]
        columns.append((evaluate(c, u), evaluate_slope(c, u) / width, evaluate_bend(c, u) / width**2))
    return columns


@frozen
class PathReference:
    """Law: joints' positions, velocities and accelerations on a planned path, gone along from rest to rest.

        q = q(s(t)),   v = q' s_dot,   a = q'' s_dot^2 + q' s_ddot

    Speed, acceleration, jerk and begin are parameters, which change without compiling again; the table is folded into
    the code. Outputs: `position1`, `velocity1`, `acceleration1` and so on for each joint, `s` [m] and `speed` [m/s].

    Attributes:
        joints: names, in the order of the columns; knots, position, slope, bend, rests: as in a `JointPath`. With
            rests there is one more parameter, their `pause` [s].
        request: what the path was planned from.
    """

    joints: tuple[str, ...]
    knots: tuple[float, ...]
    position: Rows = field(repr=False)
    slope: Rows = field(repr=False)
    bend: Rows = field(repr=False)
    units: tuple[str, ...] = ()
    rests: tuple[float, ...] = ()
    request: PathRequest | None = field(default=None, repr=False, compare=False)

    __name__ = "path_reference"

    def __call__(
        self, time: Any, *, speed: Any, acceleration: Any, jerk: Any = np.inf, begin: Any = 0.0, pause: Any = 0.0
    ) -> Any:
        s, rate, change, _ = travel(time, plan_legs(self._ends, speed, acceleration, jerk, begin, pause))
        positions, slopes, bends = zip(*look_up(s, self._table), strict=True)
        velocities = tuple(slope * rate for slope in slopes)
        accelerations = tuple(bend * rate**2 + slope * change for slope, bend in zip(slopes, bends, strict=True))
        return number_motions(positions, velocities, accelerations) | {"s": s, "speed": rate}

    @property
    def __signature__(self) -> Signature:
        whole = signature(type(self).__call__)
        unused = {"self"} if self.rests else {"self", "pause"}
        return whole.replace(parameters=[p for p in whole.parameters.values() if p.name not in unused])

    @property
    def _ends(self) -> tuple[float, ...]:
        return 0.0, *self.rests, self.knots[-1]

    @cached_property
    def _table(self) -> JointTable:
        return make_table(self.knots, self.position, self.slope, self.bend)

    @cached_property
    def law_info(self) -> LawInfo:
        """Units and checks of the law that it is."""
        units = MOTION_UNITS | {"acceleration": "m/s^2", "jerk": "m/s^3"} | _joint_units(self)
        checks = dict.fromkeys(NUMBERS, "positive")
        if self.rests:
            units, checks = units | {"pause": "s"}, checks | {"pause": "non-negative"}
        return LawInfo(units=units, checks=checks, breaks=self.breaks)

    def breaks(self, parameters: Mapping[str, float]) -> list[float]:
        """Times [s] at which the acceleration or its rate jumps: phases of the speed, and pieces of the path."""
        speed, acceleration, jerk, begin = (parameters[key] for key in (*NUMBERS, "begin"))
        phases = plan_legs(self._ends, speed, acceleration, jerk, begin, parameters.get("pause", 0.0))
        ends = [a for a, b in pairwise(self.knots) if a == b and a not in self.rests]
        return sorted([*(float(phase.begin) for phase in phases), *(time_at(end, phases) for end in ends)])


def path_law(path: JointPath) -> PathReference:
    """The law of a planned path."""
    position, slope, bend = (as_floats(table) for table in (path.position, path.slope, path.bend))
    return PathReference(
        path.joints, as_floats(path.knots), position, slope, bend, path.units, path.rests, path.request
    )


def path_block(
    name: str,
    path: JointPath,
    *,
    speed: float,
    acceleration: float,
    jerk: float | None = None,
    begin: float = 0.0,
    pause: float | None = None,
    period: float | None = None,
    delay: float = 0.0,
) -> Block:
    """A block that gives the joints' references along a planned path.

    Args:
        speed: top speed along the path [m/s]; acceleration: [m/s^2]; jerk: [m/s^3], None for a trapezoidal speed.
        begin: time at which it starts to move [s]; pause: at each rest on the way [s], 0 by default.
        period: sample time [s] of setpoints, None for a continuous reference; delay: of their effect [s].
    """
    numbers = {"speed": speed, "acceleration": acceleration, "jerk": np.inf if jerk is None else jerk, "begin": begin}
    paused = {} if pause is None else {"pause": pause}
    return Block(name, path_law(path), parameters=numbers | paused, period=period, delay=delay)


# --------------------------------------------------------------------------------------------------
# Reference block of a path with a timing of its own: where should the joints be at a time?


@frozen
class TimedReference:
    """Law: joints' positions, velocities and accelerations, and the way along the path, from a table over time.

    Polynomials of degree 5 between the times, so that all three belong to each other. Before and after the table the
    joints stand. Outputs as those of `PathReference`.

    Attributes:
        times: since the begin [s]; position, velocity, acceleration: of the joints and, last, of the way.
        request: what the path was planned from.
    """

    joints: tuple[str, ...]
    times: tuple[float, ...] = field(repr=False)
    position: Rows = field(repr=False)
    velocity: Rows = field(repr=False)
    acceleration: Rows = field(repr=False)
    units: tuple[str, ...] = ()
    request: PathRequest | None = field(default=None, repr=False, compare=False)

    __name__ = "timed_reference"

    def __call__(self, time: Any, *, begin: Any = 0.0) -> Any:
        t = sym.clip(time - begin, 0.0, self.times[-1])
        moving = sym.logical_and(time >= begin, time < begin + self.times[-1])
        positions, slopes, bends = zip(*look_up(t, self._table), strict=True)
        rates, changes = (tuple(sym.where(moving, entry, 0.0) for entry in column) for column in (slopes, bends))
        joints = number_motions(positions[:-1], rates[:-1], changes[:-1])
        return joints | {"s": positions[-1], "speed": rates[-1]}

    @cached_property
    def _table(self) -> JointTable:
        return make_table(self.times, self.position, self.velocity, self.acceleration)

    @cached_property
    def law_info(self) -> LawInfo:
        return LawInfo(units=MOTION_UNITS | _joint_units(self), breaks=self.breaks)

    def breaks(self, parameters: Mapping[str, float]) -> list[float]:
        """Times [s] at which it begins and ends."""
        return [parameters["begin"], parameters["begin"] + self.times[-1]]


def timed_block(
    name: str,
    plan: JointPath,
    time: Any,
    s: Any,
    rate: Any,
    change: Any,
    *,
    begin: float = 0.0,
    period: float | None = None,
    delay: float = 0.0,
) -> Block:
    """A block that gives the joints' references along a planned path with a given timing.

    Args:
        time: since the begin [s], (k,); s, rate, change: way [m], speed [m/s] and acceleration [m/s^2] then.
        period, delay: as `path_block` takes them.
    """
    motion = joint_motion(plan, s, rate, change)
    tables = [np.column_stack([part, way]) for part, way in zip(motion, (s, rate, change), strict=True)]
    position, velocity, acceleration = (as_floats(table) for table in tables)
    times = as_floats(np.asarray(time))
    law = TimedReference(plan.joints, times, position, velocity, acceleration, plan.units, plan.request)
    return Block(name, law, parameters={"begin": begin}, period=period, delay=delay)


def joint_motion(plan: JointPath, s: Any, rate: Any, change: Any) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations of the joints, (k, n) each, from those along the path."""
    q, slope, bend = plan.at(np.asarray(s))
    v, a = np.asarray(rate)[:, None], np.asarray(change)[:, None]
    return q, slope * v, bend * v**2 + slope * a
