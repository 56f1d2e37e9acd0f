"""Fast moves along a path: how fast can it be gone along, within what drives, joints and currents allow?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base import Array, FlawList, bisect, frozen, refuse, report_progress
from robodyn.description.laws.speed_profile import plan_phases, travel
from robodyn.description.model import Machine, Scenario
from robodyn.description.paths import CartesianPath, JointPath
from robodyn.description.paths.deviation import deviation_blocks
from robodyn.description.paths.reference import joint_motion, timed_block

from .efforts import InverseDynamics, check_unconstrained
from .moving import (
    NAME,
    SETTLING,
    Move,
    encoders_of,
    plan_from,
    start_of,
    with_references,
)

# --------------------------------------------------------------------------------------------------
# Limits along a path: which speeds and accelerations along it do drives, joints and currents allow?
#
#     tau_j = m_j(s) s'' + h_j(s) s'^2 + g_j(s) + sign(q_j') (coulomb_j + viscous_j |q_j'| s')
#     |(1 +- loss_j) (tau_j without friction) + friction| <= effort_j,
#     |q_j'| s' <= speed_j,   |q_j''| <= acceleration_j
#
# with the true inverse dynamics of the machine, payload included. A current limit is one of effort: i = tau / k_t.


@frozen(eq=False)
class PathLimits:
    """Coefficients at ways s (k,) of all moving joints, (k, n), and their limits (n,).

    Attributes:
        inertia, centrifugal, gravity: m, h, g; slope, bend: q', q''.
        coulomb: sliding friction in the direction of the motion, (k, n); viscous, loss: of friction and gears.
        effort, speed, acceleration: limits, inf where there is none.
    """

    joints: tuple[str, ...]
    s: Array
    slope: Array
    bend: Array
    inertia: Array
    centrifugal: Array
    gravity: Array
    coulomb: Array
    viscous: Array
    loss: Array
    effort: Array
    speed: Array
    acceleration: Array

    def rows(self, k: Any, v: Any, a: Any) -> list[tuple[Any, float]]:
        """Quantities at the ways k for a speed v and an acceleration a along the path, and limits of their sizes.

        Works on numbers and CasADi's symbols alike.
        """
        found = []
        for j in range(len(self.joints)):
            slope, bend = self.slope[k, j], self.bend[k, j]
            if np.isfinite(self.effort[j]):
                driven = self.inertia[k, j] * a + self.centrifugal[k, j] * v**2 + self.gravity[k, j]
                rubbing = np.sign(slope) * (self.coulomb[k, j] + self.viscous[j] * np.abs(slope) * v)
                shares = (1 + self.loss[j], 1 - self.loss[j]) if self.loss[j] else (1.0,)
                found += [(share * driven + rubbing, float(self.effort[j])) for share in shares]
            if np.isfinite(self.speed[j]):
                found.append((slope * v, float(self.speed[j])))
            if np.isfinite(self.acceleration[j]):
                found.append((bend * v**2 + slope * a, float(self.acceleration[j])))
        return found

    def use(self, v: Array, a: Array) -> Array:
        """Largest share of any limit at each way, (k,)."""
        every = np.arange(len(self.s))
        return np.max([np.abs(row) / limit for row, limit in self.rows(every, v, a)], axis=0)


def find_limits(
    flaws: FlawList,
    machine: Machine,
    plan: JointPath,
    places: Mapping[str, float],
    s: Array,
    current: Mapping[str, float],
) -> PathLimits:
    """The limits of a machine along a planned path.

    Args:
        places: positions of the joints that stay; current: limits of motors' currents by joint [A].
    """
    inverse = InverseDynamics(machine, plan.joints, places)
    check_unconstrained(flaws, inverse.dynamics, inverse.rest, plan.joints)
    flaws.raise_if_any("fast path")
    q, slope, bend = plan.at(s)
    still = np.zeros(len(plan.joints))
    gravity = np.array([inverse(row, still, still) for row in q])
    inertia = np.array([inverse(row, still, d) for row, d in zip(q, slope, strict=True)]) - gravity
    centrifugal = np.array([inverse(*rows) for rows in zip(q, slope, bend, strict=True)]) - gravity
    own = {joint.name: joint for joint in machine.any_mechanism.joints}
    columns = [[own[name] for name in names if name in own] for names in inverse.columns]
    forward, back, viscous, loss = _friction(machine, inverse.columns)
    coulomb = np.where(slope < 0, back, forward)
    effort = np.array([_least(joint.effort_limit for joint in joints) for joints in columns])
    effort = np.minimum(effort, _by_current(flaws, machine, plan.joints, inverse.columns, current))
    speed = np.array([_least(joint.speed_limit for joint in joints) for joints in columns])
    acceleration = np.array([_least(joint.acceleration_limit for joint in joints) for joints in columns])
    if not np.isfinite(effort).any():
        flaws.add("joints", "none has an effort limit", "give the joints effort_limit, or dress the robot")
    flaws.raise_if_any("fast path")
    return PathLimits(
        plan.joints, s, slope, bend, inertia, centrifugal, gravity, coulomb, viscous, loss, effort, speed, acceleration
    )


def _least(limits: Any) -> float:
    return min((value for value in limits if value is not None), default=np.inf)


def _friction(machine: Machine, columns: Sequence[Sequence[str]]) -> Array:
    """Coulomb forward and back, viscous and loss of each joint, (4, n): sums over what rubs on it or on its drive."""
    found = np.zeros((4, len(columns)))
    for block in machine.all_blocks:
        j = next((j for j, names in enumerate(columns) if block.on in names), None)
        if j is not None and block.info.disturbance:
            numbers = {key: value for key, value in block.parameters.items() if isinstance(value, float)}
            coulomb = numbers.get("coulomb", 0.0)
            back = numbers.get("coulomb_back", coulomb)
            found[:, j] += coulomb, back, numbers.get("viscous", 0.0), numbers.get("load_loss", 0.0)
    return found


def _by_current(
    flaws: FlawList,
    machine: Machine,
    joints: Sequence[str],
    columns: Sequence[Sequence[str]],
    current: Mapping[str, float],
) -> Array:
    """Efforts that currents allow, by the torque constants of the motors."""
    found = np.full(len(joints), np.inf)
    flaws.add_unknown(current, joints, "is not a joint of the path", "current")
    for name, limit in ((name, limit) for name, limit in current.items() if name in joints):
        j = joints.index(name)
        motors = [block for block in machine.blocks if block.on in columns[j] and "torque_constant" in block.parameters]
        if not motors:
            flaws.add(f"current.{name}", "the joint has no motor with a torque_constant", "leave it out")
        elif not limit > 0:
            flaws.add(f"current.{name}", f"must be positive, is {limit:g}")
        else:
            numbers = motors[0].parameters
            found[j] = float(str(numbers["torque_constant"])) * float(str(numbers.get("gear", 1.0))) * limit
    return found


# --------------------------------------------------------------------------------------------------
# Time-optimal path parameterisation: how fast can a given path be gone along, within what the drives can give?
#
#     minimise  sum_i 2 ds / (v_i + v_i+1),   a_i = (v_i+1^2 - v_i^2) / (2 ds)
#
# over the speeds v at ways along the path, within all limits at both ends of every interval, and with a jerk limit
#
#     |a_i - a_i-1| / ds v_i <= jerk
#
# Solved by CasADi and IPOPT with exact derivatives. Reachability methods (TOPP-RA) are faster, but take neither jerk
# nor viscous friction: with these the set of allowed accelerations is not one interval that depends on v^2 alone.


POINTS = 200
SLOWEST = 1e-6
"""Least speed inside a path, by its length in a second: only its ends are at rest."""
SAMPLES = 401
TRAPEZOIDS, HALVINGS = 16, 24
"""Speeds that are tried for the trapezoid to compare with, and halvings of the range of its acceleration."""


def _nothing() -> Array:
    return np.zeros(0)


@frozen(eq=False)
class FastMove(Move):
    """A move in the least time.

    Attributes:
        way, speed, change: along the path at the samples [m, m/s, m/s^2], (k,).
        limits: along the path; use: largest share of any limit at the samples, (k,).
        timing: time since the begin, way, speed and acceleration of the reference's table, (4, m).
        trapezoid: duration [s] of the fastest move with a trapezoidal speed (an S-curve, with a jerk limit) that keeps
            the same limits; trapezoid_speed: its speed at the samples of `way` [m/s], (k,).
    """

    JSON = """
    duration: [s]
    trapezoid = trapezoid_end: when the fastest trapezoid would end [s]
    use = greatest_use: largest share of any limit
    joints = peaks
    """
    way: Array = field(default_factory=_nothing)
    speed: Array = field(default_factory=_nothing)
    change: Array = field(default_factory=_nothing)
    use: Array = field(default_factory=_nothing)
    limits: PathLimits | None = None
    timing: Array = field(default_factory=_nothing)
    trapezoid: float = float("nan")
    trapezoid_speed: Array = field(default_factory=_nothing)

    @property
    def trapezoid_end(self) -> float:
        """When the fastest trapezoid would end [s]."""
        return float(self.time[0]) + self.trapezoid

    @property
    def greatest_use(self) -> float:
        """Largest share of any limit."""
        return float(self.use.max())


@report_progress("timing the path of")
def move_fast(
    what: Machine | Scenario,
    along: CartesianPath,
    *,
    tool: str | None = None,
    jerk: float = np.inf,
    top_speed: float = np.inf,
    current: Mapping[str, float] | None = None,
    share: float = 1.0,
    start: Mapping[str, float] | None = None,
    begin: float = 0.0,
    points: int = POINTS,
    **choice: Any,
) -> FastMove:
    """Plan the fastest move of a tool along a path, from rest to rest, within the machine's limits.

    Args:
        jerk, top_speed: along the path [m/s^3, m/s]; current: limits of motors' currents by joint [A].
        share: part of all limits that may be used, at most 1: the rest is for the controllers.
        points: intervals of the path; the others as `move` takes them.

    Raises:
        ModelError: what hinders the path, or limits that not even standing on it keeps.
    """
    machine = what.machine if isinstance(what, Scenario) else what
    flaws = FlawList()
    for key, value in {"jerk": jerk, "top_speed": top_speed}.items():
        if not value > 0:
            flaws.add(key, f"must be positive, is {value:g}")
    if not 0 < share <= 1:
        flaws.add("share", f"must be above 0 and at most 1, is {share:g}")
    if points < 10:
        flaws.add("points", f"must be at least 10, is {points}")
    mechanism = machine.any_mechanism
    if not mechanism.points:
        flaws.add("machine", "has no point that could follow a path", "give it a mechanism with points")
    if along.stops:
        flaws.add("along", "stops on the way", "time the legs one by one, or blend the corners")
    flaws.raise_if_any("fast path")
    places = start_of(flaws, what, mechanism, start or {})
    point = tool or mechanism.points[0].name
    plan = plan_from(flaws, what, point, along, places, **choice)
    # Ways that are closer at both ends, where speeds rise steeply with the way.
    s = plan.length * (1 - np.cos(np.linspace(0, np.pi, points + 1))) / 2
    limits = find_limits(flaws, machine, plan, places, s, current or {})
    _check_standing(limits, share)
    v, a = optimise_speeds(limits, jerk, top_speed, share)
    time = np.concatenate([[0.0], np.cumsum(_weights(points, jerk) * np.diff(s) / (v[1:] + v[:-1]))])
    block = timed_block(NAME, plan, time, s, v, a, begin=begin)
    samples = np.linspace(0.0, time[-1], SAMPLES)
    way, speed, change = (np.interp(samples, time, part) for part in (s, v, a))
    motion = joint_motion(plan, way, speed, change)
    there = find_limits(flaws, machine, plan, places, way, current or {})
    effort = there.inertia * change[:, None] + there.centrifugal * speed[:, None] ** 2 + there.gravity
    measured = encoders_of(machine, plan.joints)
    blocks = (block, *deviation_blocks(mechanism, NAME, point, along, measured))
    duration = begin + float(time[-1])
    scenario = with_references(what, blocks, duration + SETTLING, plan) if isinstance(what, Scenario) else None
    # Duration [s], speed and acceleration of the fastest move with one of each for the whole path, by search. Where the
    # path allows most; what it allows elsewhere is seen along the whole profile.
    allowed = np.min(share * limits.speed / np.maximum(np.abs(limits.slope), 1e-12), axis=1)
    fastest = min(top_speed, float(np.max(allowed)))
    fastest = fastest if np.isfinite(fastest) else 100 * plan.length
    speeds = fastest * np.geomspace(0.02, 1.0, TRAPEZOIDS)
    best = min(_steepest(limits, plan.length, speed, jerk, share) for speed in speeds)
    # Once more between the neighbours of the best.
    near = np.clip(best[1] * (speeds[1] / speeds[0]) ** np.linspace(-1, 1, TRAPEZOIDS), 0.0, fastest)
    rival, top, ramp = (
        min(best, *(_steepest(limits, plan.length, speed, jerk, share) for speed in near)) if best[1] else best
    )
    slower = _profile(way, plan.length, top, ramp, jerk * share)[0] if np.isfinite(rival) else np.full(SAMPLES, np.nan)
    return FastMove(
        plan.joints, duration, begin + samples, *motion, effort, blocks, scenario, plan, way, speed, change,
        there.use(speed, change), limits, np.array([time, s, v, a]), rival, slower,
    )  # fmt: skip


def _weights(intervals: int, jerk: float) -> Array:
    """Time of an interval, by its length over the sum of its speeds: 2 with an even acceleration, 3 with an even jerk
    from rest or to it."""
    weights = np.full(intervals, 2.0)
    if np.isfinite(jerk):
        weights[[0, -1]] = 3.0
    return weights


def _check_standing(limits: PathLimits, share: float) -> None:
    still = np.zeros(len(limits.s))
    use = limits.use(still, still)
    worst = int(np.argmax(use))
    if use[worst] >= share:
        what = f"at {1e3 * limits.s[worst]:.1f} mm of the path {100 * use[worst]:.4g} % of a limit is needed to stand"
        refuse("path", what, "reduce the load, or use larger drives", "fast path")


def optimise_speeds(limits: PathLimits, jerk: float, top_speed: float, share: float) -> tuple[Array, Array]:
    """Speeds and accelerations at the ways, from rest to rest in the least time."""
    s = limits.s
    n, ds = len(s) - 1, np.diff(s)
    inner = ca.MX.sym("v", n - 1)
    v = ca.vertcat(0, inner, 0)
    a = (v[1:] ** 2 - v[:-1] ** 2) / (2 * ds)
    rows = []
    for k, speed in ((np.arange(n), v[:-1]), (np.arange(1, n + 1), v[1:])):
        for row, limit in limits.rows(k, speed, a):
            rows.append(row / (share * limit))
    upper = np.full(n - 1, top_speed)
    if np.isfinite(jerk):
        rows.append((a[1:] - a[:-1]) / (0.5 * (ds[1:] + ds[:-1])) * inner / (share * jerk))
        # From rest with a constant jerk: s = j t^3 / 6, v = j t^2 / 2.
        first, last = (0.5 * share * jerk * (6 * d / (share * jerk)) ** (2 / 3) for d in (ds[0], ds[-1]))
        upper[0], upper[-1] = min(upper[0], first), min(upper[-1], last)
    total = ca.sum1(_weights(n, jerk) * ds / (v[1:] + v[:-1]))
    problem = {"x": inner, "f": total, "g": ca.vertcat(*rows)}
    quiet: Any = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "max_iter": 500, "tol": 1e-8}}
    solver = ca.nlpsol("timing", "ipopt", problem, quiet)
    guess = _guess(limits, jerk, top_speed, share)
    found = solver(x0=guess[1:-1], lbx=SLOWEST * s[-1], ubx=np.minimum(upper, 1e6), lbg=-1, ubg=1)
    if not solver.stats()["success"]:
        what = f"no timing was found: {solver.stats()['return_status']}"
        refuse("path", what, "use fewer points, or another jerk limit", "fast path")
    speeds = np.concatenate([[0.0], np.array(found["x"]).ravel(), [0.0]])
    steps = np.diff(speeds**2) / (2 * ds)
    middle = (steps[1:] * ds[:-1] + steps[:-1] * ds[1:]) / (ds[1:] + ds[:-1])
    ends = (0.0, 0.0) if np.isfinite(jerk) else (steps[0], steps[-1])
    return speeds, np.concatenate([[ends[0]], middle, [ends[1]]])


def _guess(limits: PathLimits, jerk: float, top_speed: float, share: float) -> Array:
    """Speeds of a slow S-curve that keeps all limits."""
    length, speed = float(limits.s[-1]), min(0.1 * float(limits.s[-1]), top_speed)
    while True:
        v, a = _profile(limits.s, length, speed, 10 * speed**2 / length, jerk * share)
        if np.all(limits.use(v, a) < share) or speed < 1e-9 * length:
            return np.maximum(v, 2 * SLOWEST * length)
        speed /= 2


def _profile(s: Array, length: float, speed: float, acceleration: float, jerk: float) -> tuple[Array, Array]:
    """Speed and acceleration along a trapezoid or S-curve at ways."""
    phases = plan_phases(length, speed, acceleration, jerk, 0.0)
    time = np.linspace(0, float(phases[-1].begin), 1001)
    way, v, a, _ = travel(time, phases)
    a[-1] = a[-2]
    return np.interp(s, way, v), np.interp(s, way, a)


def _steepest(limits: PathLimits, length: float, speed: float, jerk: float, share: float) -> tuple[float, float, float]:
    """Duration, speed and the largest acceleration to it within the limits; (inf, 0, 0) where there is none."""

    def is_beyond(acceleration: float) -> bool:
        profile = _profile(limits.s, length, speed, acceleration, jerk * share)
        return not np.all(limits.use(*profile) <= share)

    low, high = 1e-2 * speed**2 / length, 1e4 * speed**2 / length
    low, _ = bisect(is_beyond, low, high, HALVINGS, halve=lambda a, b: np.sqrt(a * b))
    if is_beyond(low):
        return np.inf, 0.0, 0.0
    return float(plan_phases(length, speed, low, jerk * share, 0.0)[-1].begin), float(speed), float(low)
