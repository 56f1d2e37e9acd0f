"""How much faster is the welding robot's closed loop than SciPy with Pinocchio's dynamics, at no less accuracy?

Two pieces of the weld of 0.25 s each: its start, and the middle where joints 2 and 3 turn back. All begin with the same
states and memory. Errors are distances of the tip at any tick from a converged run of robodyn's, with perfect encoders:
a count that falls a tick earlier or later would hide them. Times are those with the encoders' counts. SciPy's tight
settings approach the converged run: that is the check that both sides solve the same problem.

The rival has the sampled loops in plain Python, `solve_ivp` from tick to tick, and the right-hand side

    (M(q) + T' Jr T) a = T' kT i + B' friction(B v, z) + spring(q) - h(q, v)
    L i_dot = U - kT T v - R i,   z_dot = w - c0 |w| z / level(w),   w = B v

Mass matrix M and bias h are Pinocchio's; T are the gears, B the seven places of friction. Of the rest plain floats are
made, several times faster than small arrays. States are [q (6), v (6), z (7), i (6)].
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import cos, exp, floor
from typing import Any

import numpy as np
import scipy
from scipy.integrate import solve_ivp
from scipy.linalg.lapack import dposv

from benchmarks.arm import pinocchio_arm
from benchmarks.findings import Disagreement, Findings, Row, Table, find_rival, require_agreement
from benchmarks.rx90 import CONVERGED, OURS, PERFECT, compiled, shorten
from benchmarks.timing import time_interleaved
from robodyn.computation.assembly import assemble
from robodyn.computation.engine import EngineProblem, EngineRecording, integrate
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.problem import build_problem
from robodyn.computation.simulation.starting import Start, find_start
from robodyn.description.model import Recording as Kept
from robodyn.description.model import Solver
from robodyn_studies.catalog import rx90_weld

TIP = ("tool.position.x", "tool.position.y", "tool.position.z")
RIVALS = {"Radau": (1e-3, 1e-6), "LSODA": (1e-4, 1e-6), "RK45": (1e-3,), "RK23": (1e-3,)}
# Radau's tighter setting must be within a nanometre of the converged run, ours within a tenth of a micrometre [m].
SAME_PROBLEM, ACCURATE = 1e-9, 1e-7
GOAL = 1 / 300


@dataclass(frozen=True)
class Size:
    """Pieces of the weld.

    Attributes:
        first: ticks at which they begin: motion begins at 0.3 s, joints 2 and 3 turn back at 3.4 s.
        ticks: length of each.
        repeats: runs of ours in a turn: of one run a turn would be too short beside the rival's to meet the same load.
    """

    first: tuple[int, ...]
    ticks: int
    rivals: Mapping[str, tuple[float, ...]]
    rounds: int
    repeats: int

    @property
    def duration(self) -> float:
        """Of all pieces [s]."""
        return len(self.first) * self.ticks / RATE


SIZES = {
    "smallest": Size((2000,), 12, {"Radau": (1e-6,), "RK45": (1e-3,)}, 1, 1),
    "usual": Size((1000, 13400), 1000, RIVALS, 3, 100),
}


@dataclass(frozen=True)
class Trial:
    """One setting: its error [m] and computing time for all pieces [s]."""

    name: str
    seconds: float
    error: float
    run: Callable[[], object]


def measure(size: Size) -> Findings:
    """Ours beside SciPy's Radau, and beside the fastest of its methods."""
    pinocchio = find_rival("pinocchio")
    windows = {perfect: [find_window(first, size.ticks, perfect) for first in size.first] for perfect in (False, True)}
    exact = [prepare_piece(window, CONVERGED).run() for window in windows[True]]

    def find_error(tips: Sequence[np.ndarray]) -> float:
        """Largest distance from the converged run, both with perfect encoders [m]."""
        pairs = zip(tips, exact, strict=True)
        return max(float(np.max(np.linalg.norm(one - best, axis=1))) for one, best in pairs)

    pieces = {perfect: [prepare_piece(window, OURS) for window in windows[perfect]] for perfect in windows}
    run = partial(run_pieces, pieces[False], size.repeats)
    seconds = min(_clock(run) for _ in range(3)) / size.repeats
    ours = Trial("rosw2", seconds, find_error([piece.run() for piece in pieces[True]]), run)
    agreements = [require_agreement("tips of ours and of a converged run", ours.error, ACCURATE, "m")]
    rivals = []
    if pinocchio:
        plant = Plant()
        for method, rtol in [(method, rtol) for method, rtols in size.rivals.items() for rtol in rtols]:
            settings = {"method": method, "rtol": rtol, "atol": rtol / 100 * MAGNITUDES}
            run = partial(run_scipy, plant, windows[False], **settings)
            states = run_scipy(plant, windows[True], **settings)
            error = find_error([plant.find_tips(x[:, :6]) for x in states])
            rivals.append(Trial(f"{method} {rtol:.0e}", _clock(run), error, run))
        nearest = min(trial.error for trial in rivals if trial.name.startswith("Radau"))
        agreements.append(require_agreement("tips of SciPy's Radau and of that run", nearest, SAME_PROBLEM, "m"))

    radau = [trial for trial in rivals if trial.name.startswith("Radau")]
    rows = (
        compare("against SciPy's Radau", ours, radau, GOAL, size),
        compare("against SciPy's fastest", ours, rivals, None, size),
    )
    costs = [(trial, 1e3 * trial.seconds / size.duration) for trial in (ours, *rivals)]
    lines = tuple((trial.name, cost, 1e3 / cost, f"{trial.error * 1e6:.2g}") for trial, cost in costs)
    columns = ("method", "ms/s", "times real time", "tip error with perfect encoders, um")
    title = f"RX90B weld, {len(size.first)} pieces of {size.ticks / RATE:g} s, one run each"
    return Findings(rows, (Table(title, columns, lines),), tuple(agreements), () if pinocchio else ("pinocchio",))


def _clock(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def compare(label: str, ours: Trial, rivals: list[Trial], goal: float | None, size: Size) -> Row:
    """Time ours in turn with the fastest rival that is no less accurate."""
    contenders, note, rival_name = {"ours": ours.run}, f"tip within {ours.error * 1e6:.2g} um", ""
    if rivals:
        able = [trial for trial in rivals if trial.error <= ours.error]
        if not able:
            raise Disagreement(f"no setting of SciPy is as accurate as ours, {ours.error:.1e} m")
        rival = min(able, key=lambda trial: trial.seconds)
        contenders["rival"] = rival.run
        note += f" (ours) and {rival.error * 1e6:.2g} um of a converged run"
        rival_name = f"scipy {scipy.__version__} {rival.name}, pinocchio {find_rival('pinocchio').__version__}"
    return time_interleaved(contenders, size.rounds).row(
        f"RX90B weld, closed loop, {label}",
        "ours",
        "ms/s",
        1e3 / size.duration / size.repeats,
        note=note,
        rival="rival",
        rival_name=rival_name,
        rival_scale=1e3 / size.duration,
        goal=goal,
    )


@dataclass(frozen=True)
class Window:
    """A piece of the weld from a slow tick on.

    Args:
        first, last: ticks; names: every state and memory just before the samples of the first, by robodyn's names.
        wanted: setpoints at the slow ticks from the first on, (n, 18), columns SET_POINTS.
        perfect: whether encoders round nothing.
    """

    first: int
    last: int
    names: Mapping[str, float]
    wanted: np.ndarray
    perfect: bool

    @property
    def times(self) -> np.ndarray:
        """The ticks [s]."""
        return np.arange(self.first, self.last + 1) / RATE

    @property
    def changes(self) -> dict[str, float]:
        """Numbers that are not the catalogue's."""
        return PERFECT if self.perfect else {}


def find_window(first: int, ticks: int, perfect: bool) -> Window:
    """Where a piece begins: the run so far ends a billionth of a second before the first tick takes its samples."""
    code = compiled("rigid", OURS.method, SET_POINTS)
    changed = {"parameters": PERFECT if perfect else {}, "recording": Kept(rate=RATE / SLOW, signals=SET_POINTS)}
    through = simulate(shorten(code, (first + ticks) / RATE), OURS, **changed)
    wanted = np.array([through[name].values for name in SET_POINTS]).T
    before = simulate(shorten(code, first / RATE - 1e-9), OURS, **changed)
    return Window(first, first + ticks, before.end, wanted[first // SLOW :], perfect)


@dataclass(frozen=True)
class Piece:
    """A piece ready to be integrated by one of our solvers."""

    problem: EngineProblem
    solver: Solver
    start: Start
    p: np.ndarray
    times: np.ndarray

    def run(self) -> np.ndarray:
        """Tips at the ticks, (n, 3) [m]."""
        recording, start = EngineRecording("times", times=self.times), self.start
        return integrate(self.problem, self.solver, start.time, self.times[-1], start.x, start.m, self.p, recording).y


def run_pieces(pieces: list[Piece], repeats: int) -> None:
    for _ in range(repeats):
        for piece in pieces:
            piece.run()


def prepare_piece(window: Window, solver: Solver) -> Piece:
    """The compiled system with the states and memory at the begin of a piece."""
    code = compiled("rigid", solver.method, TIP)
    values = code.system.parameter_values(window.changes)
    x = np.array([window.names[state.name] for state in code.system.states])
    m = np.array([window.names[memory.name] for memory in code.system.memory])
    start = replace(find_start(code, values), time=window.first / RATE, x=x, m=m)
    p = code.module.prepare(values)
    return Piece(build_problem(code, p, code.number_values(values), start), solver, start, p, window.times)


def run_scipy(plant: Plant, windows: Sequence[Window], **settings: Any) -> list[np.ndarray]:
    """States at the ticks of all pieces."""
    return [simulate_scipy(plant, window, **settings) for window in windows]


AXES = range(1, 7)
PLACES = (*(f"joint{k}" for k in AXES), "wrist")
STATES = (
    *(f"joint{k}.position" for k in AXES),
    *(f"joint{k}.velocity" for k in AXES),
    *(f"{place}.friction.bristle" for place in PLACES),
    *(f"axis{k}.drive.current" for k in AXES),
)
# Magnitudes of the states, which scale the absolute tolerances as robodyn does; bristles bend by some 1e-5 rad.
MAGNITUDES = np.array([1.0] * 12 + [1e-5] * 7 + [1.0] * 6)
FRICTION = ("stiffness", "damping", "viscous", "coulomb", "static", "coulomb_back", "static_back")
STRIBECK = ("stribeck_velocity", "exponent")
MOTOR = ("torque_constant", "resistance", "inductance")


@cache
def numbers() -> dict[str, float]:
    """All numbers of the scenario by name."""
    return {name: number.value for name, number in rx90_weld().numbers().items()}


def gears_of(k: int) -> list[float]:
    """Gear ratios of the joints that turn a motor: joints 5 and 6 both turn motor 6."""
    name = f"axis{k}.position_loop.gears"
    return [numbers()[name]] if name in numbers() else [numbers()[f"{name}.{j}"] for j in range(2)]


class Plant:
    """Arm, gears, friction and motors."""

    def __init__(self) -> None:
        N = numbers()
        scenario = rx90_weld()
        mechanism = scenario.machine.mechanism
        mechanics = assemble(replace(scenario, machine=replace(scenario.machine, tunable=()))).motion.mechanics
        assert mechanism is not None
        assert mechanics is not None
        self.model, self.data = pinocchio_arm(mechanics.tree)
        gears = [gears_of(k)[0] for k in AXES]
        rotors = [N[f"motor{k}.inertia"] * gear**2 for k, gear in zip(AXES, gears, strict=True)]
        # Motor 6 turns with joints 5 and 6: its rotor couples them.
        self.coupling = rotors[5]
        self.model.armature = np.array([*rotors[:4], rotors[4] + rotors[5], rotors[5]])
        self.friction = [tuple(N[f"{place}.friction.{key}"] for key in (*FRICTION, *STRIBECK)) for place in PLACES]
        self.motors = [(gears[k - 1], *(N[f"axis{k}.drive.{key}"] for key in MOTOR)) for k in AXES]
        points = {point.name: point.origin for point in mechanism.points}
        self.spring = N["balance.spring.stiffness"] * points["spring_top"][2] * points["spring_foot"][0]
        self.tip = np.array(points["tool"])

    def rates(self, t: float, x: np.ndarray, voltages: Sequence[float]) -> list[float]:
        """x_dot under held voltages."""
        import pinocchio as pin

        q, v = x[:6], x[6:12]
        M = pin.crba(self.model, self.data, q)
        M[4, 5] += self.coupling
        h = pin.nonLinearEffects(self.model, self.data, q, v)
        speeds = v.tolist()
        tau, currents_dot = self.drive(speeds, x[19:].tolist(), voltages)
        friction, bristles_dot = self.rub([*speeds, speeds[4] + speeds[5]], x[12:19].tolist())
        for k in range(6):
            tau[k] += friction[k]
        tau[4] += friction[6]
        tau[5] += friction[6]
        tau[1] += self.spring * cos(q[1])
        # Cholesky's method on the upper triangle, the only one that Pinocchio computes.
        a = dposv(M, tau - h)[1]
        return [*speeds, *a.tolist(), *bristles_dot, *currents_dot]

    def drive(
        self, v: list[float], currents: list[float], voltages: Sequence[float]
    ) -> tuple[list[float], list[float]]:
        """Torques of the motors on the joints, and rates of the currents."""
        tau, rates = [], []
        turns = (*v[:5], v[4] + v[5])
        for w, i, U, (gear, constant, resistance, inductance) in zip(
            turns, currents, voltages, self.motors, strict=True
        ):
            tau.append(gear * constant * i)
            rates.append((U - constant * gear * w - resistance * i) / inductance)
        tau[4] += tau[5]
        return tau, rates

    def rub(self, speeds: list[float], bristles: list[float]) -> tuple[list[float], list[float]]:
        """LuGre friction with levels for both directions: torques, and rates of the bristles."""
        torques, rates = [], []
        for w, z, (c0, c1, c2, forth, static, back, static_back, ws, exponent) in zip(
            speeds, bristles, self.friction, strict=True
        ):
            low, high = (back, static_back) if w < 0 else (forth, static)
            size = abs(w)
            z_dot = w - c0 * size * z / (low + (high - low) * exp(-((size / ws) ** exponent)))
            torques.append(-(c0 * z + c1 * z_dot + c2 * w))
            rates.append(z_dot)
        return torques, rates

    def find_tips(self, positions: np.ndarray) -> np.ndarray:
        """Where the tool's tip is [m], (n, 3), at joint positions (n, 6)."""
        import pinocchio as pin

        tips = []
        for q in positions:
            pin.forwardKinematics(self.model, self.data, np.array(q))
            tips.append(self.data.oMi[6].act(self.tip))
        return np.array(tips)


# Ticks a second, and ticks of the slow loops.
RATE, SLOW = 4000, 4
QUANTITIES = ("position", "velocity", "acceleration")
SET_POINTS = tuple(f"setpoints.{quantity}{k}" for quantity in QUANTITIES for k in AXES)
FEED = ("inertia", "coulomb", "viscous", "smoothing_velocity", "torque_constant")


class Axis:
    """Controller of one axis: its numbers, and what it remembers."""

    def __init__(self, k: int, window: Window) -> None:
        N, m, of = numbers(), window.names, f"axis{k}"
        self.gears = gears_of(k)
        self.joints = (4, 5) if k == 6 else (k - 1,)
        self.resolution = 0.0 if window.perfect else N[f"{of}.encoder.resolution"]
        self.proportional, self.integral = (N[f"{of}.position_loop.{key}"] for key in ("proportional", "integral"))
        self.derivative, self.limit = (N[f"{of}.velocity_loop.{key}"] for key in ("derivative", "current_limit"))
        self.current_gains = tuple(N[f"{of}.current_loop.{key}"] for key in ("proportional", "integral"))
        self.voltage_limit = N[f"{of}.current_loop.voltage_limit"]
        self.feed = tuple(N[f"{of}.feed_forward.{key}"] for key in FEED)
        self.previous = m[f"{of}.encoder.previous"]
        self.held = m[f"{of}.position_loop.held"]
        slow = ("position_loop.command", "feed_forward.current", "feed_forward.velocity_ref")
        self.slow = tuple(m[f"{of}.{name}"] for name in slow)
        self.pending = tuple(m[f"{of}.{name}.pending.0"] for name in slow)
        self.excess = m[f"{of}.velocity_loop.excess"]
        self.current_held = m[f"{of}.current_loop.held"]
        self.voltage = m[f"{of}.current_loop.voltage"]

    def turn(self, values: list[float], first: int = 0) -> float:
        """Motor side of a quantity of the joints, which begins at an entry."""
        return sum(gear * values[first + j] for gear, j in zip(self.gears, self.joints, strict=True))

    def read(self, joints: list[float]) -> tuple[float, float]:
        """The encoder's position and speed."""
        r, angle = self.resolution, self.turn(joints)
        measured = r * floor(angle / r + 0.5) if r > 0 else angle
        rate = (measured - self.previous) * RATE
        self.previous = measured
        return measured, rate

    def sample_slow(self, wanted: list[float], measured: float) -> None:
        """PI on the position, and feedforward; both take effect a tick later."""
        error, speed = self.turn(wanted) - measured, self.turn(wanted, 6)
        command = self.proportional * error + self.held
        step = self.integral * (SLOW / RATE) * error
        self.held += 0.0 if self.excess * step > 0 else step
        inertia, coulomb, viscous, smoothing, constant = self.feed
        dry = coulomb * min(max(speed / smoothing, -1.0), 1.0)
        self.pending = command, (inertia * self.turn(wanted, 12) + dry + viscous * speed) / constant, speed

    def sample_fast(self, rate: float, current: float) -> None:
        """D on the speed, then PI on the current: the voltage until the next tick."""
        command, ahead, speed = self.slow
        wanted = command + ahead + self.derivative * (speed - rate)
        limited = min(max(wanted, -self.limit), self.limit)
        self.excess = wanted - limited
        proportional, integral = self.current_gains
        error = limited - current
        asked = proportional * error + self.current_held
        self.voltage = min(max(asked, -self.voltage_limit), self.voltage_limit)
        step = integral / RATE * error
        self.current_held += 0.0 if (asked - self.voltage) * step > 0 else step


class Controller:
    """All axes."""

    def __init__(self, window: Window) -> None:
        self.axes = [Axis(k, window) for k in AXES]
        self.wanted = window.wanted.tolist()

    @property
    def voltages(self) -> list[float]:
        return [axis.voltage for axis in self.axes]

    def sample(self, tick: int, x: np.ndarray) -> None:
        """What is due at a tick, counted from the window's first."""
        joints, currents = x[:6].tolist(), x[19:].tolist()
        for axis, current in zip(self.axes, currents, strict=True):
            if tick % SLOW == 1:
                axis.slow = axis.pending
            measured, rate = axis.read(joints)
            if tick % SLOW == 0:
                axis.sample_slow(self.wanted[tick // SLOW], measured)
            axis.sample_fast(rate, current)


def simulate_scipy(plant: Plant, window: Window, **settings: Any) -> np.ndarray:
    """States at the window's ticks, (n, 25); settings are solve_ivp's."""
    controller = Controller(window)
    times = window.times
    x = np.array([window.names[name] for name in STATES])
    states = [x]
    for tick, span in enumerate(itertools.pairwise(times)):
        controller.sample(tick, x)
        x = solve_ivp(plant.rates, span, x, args=(controller.voltages,), **settings).y[:, -1]
        states.append(x)
    return np.array(states)
