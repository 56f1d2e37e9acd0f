"""How long does the two-link arm's sampled loop with LuGre friction take, beside SciPy at the same accuracy?

All settings are tried first; then the fastest of SciPy's that are no less accurate than ours are timed again,
in turn with ours. Errors are the largest of a joint angle at any tick, against a converged run of robodyn's.
SciPy's tightest settings approach it too: that is the check that both sides solve the same problem.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import cos, exp, sin
from typing import Any

import numpy as np
import scipy
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from benchmarks.findings import Disagreement, Findings, Row, Table, require_agreement
from benchmarks.timing import prepare, time_interleaved
from robodyn.computation.assembly import assemble
from robodyn.description.catalog import two_link_loop
from robodyn.description.model import Solver

Settings = Mapping[str, tuple[float, ...]]
"""Relative tolerances that are tried with each method."""
OURS: Settings = {"rodas4": (1e-3, 1e-4, 1e-5, 1e-6), "trbdf2": (1e-3, 1e-4, 1e-5, 1e-6), "dopri5": (1e-2, 1e-3, 1e-5)}
STIFF: Settings = {"Radau": (1e-3, 1e-5, 1e-7), "BDF": (1e-7, 1e-9), "LSODA": (1e-7, 1e-9, 1e-10, 1e-11)}
EXPLICIT: Settings = {"RK23": (1e-4, 1e-5, 1e-6), "RK45": (1e-3, 1e-5, 1e-7), "DOP853": (1e-3, 1e-5)}
CATALOGUE = ("rodas4", 1e-5)
FINALISTS = 3
GOAL = 1 / 100
# SciPy's tightest run must be within a billionth of the largest angle, each of ours within a ten-millionth.
SAME_PROBLEM, ACCURATE = 1e-9, 1e-7
# Errors below are not told apart: the converged run itself is no better known [rad].
ROUNDING = 1e-12
ANGLES = ("shoulder.position", "elbow.position")
# Magnitudes of the states, which scale the absolute tolerances on both sides; bristles bend by some 1e-5 rad.
MAGNITUDES = np.array([1.0, 1.0, 1.0, 1.0, 1e-5, 1e-5])


@dataclass(frozen=True)
class Size:
    duration: float
    rounds: int
    ours: Settings
    stiff: Settings
    explicit: Settings


SIZES = {
    "smallest": Size(0.02, 1, {"rodas4": (1e-5,), "dopri5": (1e-3,)}, {"Radau": (1e-7,)}, {"RK45": (1e-7,)}),
    "usual": Size(2.0, 5, OURS, STIFF, EXPLICIT),
}


@dataclass(frozen=True)
class Trial:
    """One setting: its error [rad] and computing time for the whole run [s]."""

    method: str
    rtol: float
    seconds: float
    error: float
    run: Callable[[], Any]

    @property
    def label(self) -> str:
        return f"{self.method} {self.rtol:.0e}"


def measure(size: Size) -> Findings:
    """The catalogue's solver beside SciPy's stiff ones, then the fastest of all on both sides."""
    duration, ticks = size.duration, round(size.duration / TICK)
    # Compiled for stiff methods, which have all that explicit ones need.
    prepared = prepare(assemble(two_link_loop(duration)), Solver("rodas4"), ANGLES)

    def find_angles(solver: Solver) -> np.ndarray:
        return prepared.run(solver, duration, np.arange(ticks + 1) * TICK).y

    # Another method of that tolerance moves the angles by 1e-14 rad.
    exact = find_angles(Solver("rodas4", rtol=1e-11, atol=1e-13))

    def try_ours(method: str, rtol: float) -> Trial:
        """The absolute tolerance is a hundredth of the relative one times each state's magnitude, on both sides."""
        solver = Solver(method, rtol=rtol, atol=rtol / 100)
        run = partial(prepared.run, solver, duration)
        seconds = min(_clock(run) for _ in range(3))
        return Trial(method, rtol, seconds, float(np.abs(find_angles(solver) - exact).max()), run)

    def try_scipy(method: str, rtol: float) -> Trial:
        run = partial(simulate_scipy, ticks, method=method, rtol=rtol, atol=rtol / 100 * MAGNITUDES)
        return Trial(method, rtol, _clock(run), float(np.abs(run()[:, :2] - exact).max()), run)

    ours = [try_ours(method, rtol) for method, rtol in list_pairs(size.ours)]
    stiff = [try_scipy(method, rtol) for method, rtol in list_pairs(size.stiff)]
    rivals = stiff + [try_scipy(method, rtol) for method, rtol in list_pairs(size.explicit)]
    nearest, worst = min(trial.error for trial in stiff), max(trial.error for trial in ours)
    largest = float(np.abs(exact).max())
    agreements = (
        require_agreement("SciPy's most accurate angles and the converged ones", nearest / largest, SAME_PROBLEM),
        require_agreement("angles of all our settings and the converged ones", worst / largest, ACCURATE),
    )
    catalogue = next(trial for trial in ours if (trial.method, trial.rtol) == CATALOGUE)
    quickest = min(ours, key=lambda trial: trial.seconds)
    rows = (
        compare("the catalogue's solver against SciPy's stiff ones", catalogue, stiff, size),
        compare("fastest method against SciPy's fastest", quickest, rivals, size),
    )
    tables = (tabulate("robodyn", ours, duration), tabulate("scipy.solve_ivp", rivals, duration))
    return Findings(rows, tables, agreements)


def list_pairs(settings: Settings) -> list[tuple[str, float]]:
    """All pairs of method and relative tolerance."""
    return [(method, rtol) for method, tolerances in settings.items() for rtol in tolerances]


def _clock(run: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def compare(label: str, ours: Trial, rivals: list[Trial], size: Size) -> Row:
    """Time ours in turn with the fastest rivals that are no less accurate; the row has the best of them."""
    allowed = max(ours.error, ROUNDING)
    accurate = sorted((trial for trial in rivals if trial.error <= allowed), key=lambda trial: trial.seconds)
    if not accurate:
        raise Disagreement(f"no setting of SciPy is as accurate as {ours.label}, {ours.error:.1e} rad")
    finalists = accurate[:FINALISTS]
    timings = time_interleaved({trial.label: trial.run for trial in [ours, *finalists]}, size.rounds)
    rival = min(finalists, key=lambda trial: timings.median(trial.label))
    return timings.row(
        f"two-link sampled loop with LuGre friction, {label}",
        ours.label,
        "ms/s",
        1e3 / size.duration,
        note=f"errors {ours.error:.1e} rad ({ours.label}) and {rival.error:.1e} rad ({rival.label})",
        rival=rival.label,
        rival_name=f"scipy {scipy.__version__} {rival.label}",
        goal=GOAL,
    )


def tabulate(who: str, trials: list[Trial], duration: float) -> Table:
    """Error against time of all settings tried, one run each."""
    lines = tuple(
        (trial.method, f"{trial.rtol:.0e}", trial.seconds / duration * 1e3, f"{trial.error:.1e}") for trial in trials
    )
    columns = ("method", "rtol", "ms per simulated s", "error, rad")
    return Table(f"two-link loop: error against computing time, {who}", columns, lines)


# The loop as a user of SciPy would write it: `solve_ivp` from tick to tick.
#
#     M(q) a = tau - c(q, v) - g(q) + friction(v, z),   z_dot = v - c0 |v| z / level(v)
#
# Plain floats and the `math` module: for six states they are several times faster than small arrays.

NUMBERS = {name: number.value for name, number in two_link_loop().numbers().items()}
JOINTS = ("shoulder", "elbow")


def values(pattern: str) -> list[float]:
    """A number of each joint, by its name with "{}" for the joint."""
    return [NUMBERS[pattern.format(joint)] for joint in JOINTS]


GRAVITY = -NUMBERS["gravity.z"]
TICK = NUMBERS["shoulder.velocity_loop.period"]
TICKS_PER_POSITION_SAMPLE = round(NUMBERS["shoulder.position_loop.period"] / TICK)
POSITION_GAINS = values("{}.position_loop.proportional")
PROPORTIONAL, INTEGRAL = values("{}.velocity_loop.proportional"), values("{}.velocity_loop.integral")
TORQUE_LIMITS = values("{}.velocity_loop.limit")
KNOTS = [NUMBERS[f"shoulder.reference.times.{k}"] for k in range(3)]

M1, M2 = NUMBERS["upper_arm.mass"], NUMBERS["forearm.mass"]
L1, L2 = NUMBERS["elbow.origin.x"], NUMBERS["tool.origin.x"]
B1, B2 = values("{}.armature")
# Moments of slender arms about their ends, and the product that couples them.
J1 = B1 + M1 * L1**2 / 3 + M2 * L1**2
J2 = M2 * L2**2 / 3
COUPLING = M2 * L1 * L2 / 2
WEIGHT1 = GRAVITY * (M1 * L1 / 2 + M2 * L1)
WEIGHT2 = GRAVITY * M2 * L2 / 2
FRICTION_KEYS = ("stiffness", "damping", "viscous", "coulomb", "static", "stribeck_velocity")
FRICTION = list(zip(*(values(f"{{}}.friction.{key}") for key in FRICTION_KEYS), strict=True))
POINTS = zip(*(values(f"{{}}.reference.points.{k}") for k in range(3)), strict=True)
SPLINES = [CubicSpline(KNOTS, points, bc_type="clamped").c[::-1] for points in POINTS]


def friction(v: float, z: float, c0: float, c1: float, c2: float, coulomb: float, static: float, vs: float):
    """LuGre friction: torque on the joint and rate of the bristle."""
    level = coulomb + (static - coulomb) * exp(-((v / vs) ** 2))
    z_dot = v - c0 * abs(v) * z / level
    return -(c0 * z + c1 * z_dot + c2 * v), z_dot


def rates(t: float, x: np.ndarray, tau1: float, tau2: float) -> tuple[float, ...]:
    """x_dot of x = [q1, q2, v1, v2, z1, z2] under held drive torques."""
    q1, q2, v1, v2, z1, z2 = x.tolist()
    f1, z1_dot = friction(v1, z1, *FRICTION[0])
    f2, z2_dot = friction(v2, z2, *FRICTION[1])
    m12 = J2 + COUPLING * cos(q2)
    m11 = J1 + J2 + 2 * COUPLING * cos(q2)
    m22 = J2 + B2
    h = COUPLING * sin(q2)
    weight = WEIGHT2 * cos(q1 + q2)
    r1 = tau1 + f1 + h * v2 * (2 * v1 + v2) - WEIGHT1 * cos(q1) - weight
    r2 = tau2 + f2 - h * v1 * v1 - weight
    d = m11 * m22 - m12 * m12
    return v1, v2, (m22 * r1 - m12 * r2) / d, (m11 * r2 - m12 * r1) / d, z1_dot, z2_dot


def follow_spline(t: float, c: np.ndarray) -> tuple[float, float]:
    """Position and velocity of the cubic spline."""
    k = 0 if t < KNOTS[1] else 1
    s = min(max(t, KNOTS[0]), KNOTS[2]) - KNOTS[k]
    position = c[0, k] + s * (c[1, k] + s * (c[2, k] + s * c[3, k]))
    moving = KNOTS[0] <= t < KNOTS[2]
    return position, c[1, k] + s * (2 * c[2, k] + 3 * s * c[3, k]) if moving else 0.0


class Controller:
    """Position loops at 1 kHz and velocity loops at 4 kHz, with held outputs."""

    def __init__(self) -> None:
        self.commands = [0.0, 0.0]
        self.sums = [0.0, 0.0]

    def sample(self, tick: int, x: np.ndarray) -> list[float]:
        """Drive torques from now to the next tick [N m]."""
        if tick % TICKS_PER_POSITION_SAMPLE == 0:
            for k, spline in enumerate(SPLINES):
                position, velocity = follow_spline(tick * TICK, spline)
                self.commands[k] = velocity + POSITION_GAINS[k] * (position - float(x[k]))
        return [self.torque(k, float(x[2 + k])) for k in range(2)]

    def torque(self, k: int, v: float) -> float:
        """Limited PI control of a joint's velocity, its sum held while it would drive it further beyond."""
        limit = TORQUE_LIMITS[k]
        error = self.commands[k] - v
        wanted = PROPORTIONAL[k] * error + INTEGRAL[k] * self.sums[k]
        if not (abs(wanted) > limit and wanted * INTEGRAL[k] * error > 0):
            self.sums[k] += TICK * error
        return min(max(wanted, -limit), limit)


def simulate_scipy(ticks: int, **settings: Any) -> np.ndarray:
    """States at the ticks 0 .. ticks from rest, (ticks + 1, 6); settings are solve_ivp's."""
    x, controller = np.zeros(6), Controller()
    states = [x]
    for tick in range(ticks):
        torques = controller.sample(tick, x)
        x = solve_ivp(rates, (tick * TICK, (tick + 1) * TICK), x, args=tuple(torques), **settings).y[:, -1]
        states.append(x)
    return np.array(states)
