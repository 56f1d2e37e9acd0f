"""A second engine: plain Python, fixed tiny steps, events by bisection, modes by trying all of them.

It takes the same `System` as the engine in C and shares nothing with it. CasADi evaluates the functions, not machine
code. Steps are those of the classical Runge-Kutta method between two instants, as short as one likes. An event is where
a guard changes its sign, bisected to the last bits. Which rows of friction and contact hold is found by trying all
combinations. Each run is made twice, the second time with half the step: the difference says how far to trust it.

    referee = SecondEngine(assemble(scenario))
    states, error, reached = referee.run(times)
"""

from __future__ import annotations

from itertools import product
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.contact.modes import COLUMNS, FOLLOWS
from robodyn.computation.results import OutcomeKind, Run
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.starting import search_start
from robodyn.description.model import Recording, Scenario, Solver

STEP = 2e-4
"""Longest step [s], of which the second run takes half."""
ACROSS, SHORTEST = 1e-8, 1e-12
"""What a careful step may differ from its two halves, as part of the largest values so far, and the step [s] that is
not halved any more. The error of a step across a jump or a kink that no guard tells is no smooth function of its
length: two runs with other steps may agree by chance."""
BISECTIONS = 60
MOST_EVENTS, MOST_LOCATED = 50, 1000
"""At one instant, and in a run: each takes as long as a hundred steps."""
MOST_ROWS = 7
"""Of a complementarity problem: 3^7 combinations of modes."""
HELD, FORWARD, BACKWARD = 0.0, 1.0, -1.0
CLOSE, SHARE, GROWN = 1e-5, 3.0, 1e-3
"""Difference of the engines, as part of the largest values, that is allowed at least, and as part of what halved steps
change; above the last nothing is compared."""


class NotForThis(Exception):
    """A system that this engine does not run, and why."""


class EndsHere(Exception):
    """A terminal event."""


class Called:
    """A function of CasADi on arrays that are there already: t, x, no delays, m, p -> a column."""

    def __init__(self, function: Any) -> None:
        self.buffer, self.evaluate = function.buffer()
        self.inputs = [np.zeros(function.numel_in(k)) for k in range(function.n_in())]
        self.result = np.zeros(function.numel_out(0))
        for k, array in enumerate(self.inputs):
            self.buffer.set_arg(k, memoryview(array))
        self.buffer.set_res(0, memoryview(self.result))

    def __call__(self, t: float, x: np.ndarray, m: np.ndarray, p: np.ndarray) -> np.ndarray:
        for array, value in zip(self.inputs, (t, x, 0.0, m, p), strict=True):
            array[:] = value
        self.evaluate()
        return self.result.copy()


class SecondEngine:
    """Runs of one system; `x` and `m` are states and memory where a run is, `t` the time."""

    def __init__(self, system: System) -> None:
        self.system, discrete = system, system.discrete
        if system.delays or any(task.call for task in discrete.tasks) or any(guard.call for guard in discrete.guards):
            raise NotForThis("delays, or calls of Python")
        if system.expressions.projection is not None:
            raise NotForThis("constraints that are kept by projection")
        if any(problem.rows > MOST_ROWS for problem in discrete.problems):
            raise NotForThis("too many rows of friction and contacts")
        self.p = np.array([number.value for number in system.parameters])
        columns = system.expressions.columns()
        wanted = ["rhs", "guards", "limits", *system.expressions.updates, *system.expressions.actions]
        wanted += [problem.name for problem in discrete.problems]
        self.functions = {name: Called(spell_out(system.function(ca.densify(columns[name])))) for name in wanted}
        self.states = system.states
        self.problems = {problem.name: problem for problem in discrete.problems}
        self.terminal = ""
        self.careful = False

    def run(
        self, times: np.ndarray, step: float = STEP, careful: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States at these times (as far as the run goes), what they may be off by, and the times that were reached.

        Args:
            careful: whether steps that differ from their halves are shortened, as across a jump that no guard tells.
        """
        self.careful = careful
        rough, fine = self._run(times, step), self._run(times, step / 2)
        n = min(len(rough), len(fine))
        return fine[:n], np.abs(fine[:n] - rough[:n]), times[:n]

    def _run(self, times: np.ndarray, step: float) -> np.ndarray:
        system, duration = self.system, self.system.scenario.duration
        begin = search_start(system, self.p)
        self.t, self.x, self.m = 0.0, begin.x.copy(), begin.m.copy()
        self.largest, self.located = np.abs(self.x), 0
        # What interrupts the motion: ticks, breaks of references, and the times that are asked for.
        values = {name: number.value for name, number in system.numbers.items()}
        breaks = [float(t) for t in system.discrete.break_times(values, 0.0, duration)]
        base = float(system.discrete.base_period or 0)
        ticks: dict[float, list[Any]] = {}
        for task in system.discrete.tasks:
            for k in range(task.offset, int(duration / base * (1 + 1e-9)) + 1, task.period):
                ticks.setdefault(k * base, []).append(task)
        order = {task.name: k for k, task in enumerate(system.discrete.tasks)}
        stops = sorted({*breaks, *ticks, *times.tolist(), duration})
        rows: list[np.ndarray] = []
        try:
            self._begin(ticks.get(0.0, []), order)
            for stop in stops:
                if stop > self.t:
                    self._move(stop, step)
                self._do_tasks(ticks.get(stop, []) if stop > 0 else [], order)
                if np.any(times == stop):
                    rows.append(self.x.copy())
        except EndsHere as end:
            self.terminal = str(end)
        return np.array(rows).reshape(len(rows), len(self.x))

    def _call(self, name: str, t: float, x: np.ndarray, m: np.ndarray) -> np.ndarray:
        return self.functions[name](t, x, m, self.p)

    def _begin(self, tasks: list[Any], order: dict[str, int]) -> None:
        """The first samples, then states and memory made consistent."""
        for task in sorted(tasks, key=lambda one: order[one.name]):
            self.m = self._call(task.function, 0.0, self.x, self.m)
        start = self.system.discrete.start_action
        if start:
            self._act(start, self.system.discrete.start_problems)
        self._clip()
        self.signs = np.sign(self._call("guards", self.t, self.x, self.m))
        self._settle(set())

    def _do_tasks(self, tasks: list[Any], order: dict[str, int]) -> None:
        for task in sorted(tasks, key=lambda one: order[one.name]):
            self.m = self._call(task.function, self.t, self.x, self.m)
        self._settle(set())

    def _move(self, stop: float, step: float) -> None:
        """To the next instant in equal steps, through all events on the way."""
        while self.t < stop:
            h = (stop - self.t) / np.ceil((stop - self.t) / step - 1e-9)
            h, fresh = self._step_across(h, stop) if self.careful else (h, self._step(h, stop))
            signs = np.sign(self._call("guards", min(self.t + h, stop), fresh, self.m))
            if not self._crossed(signs).any():
                ends = abs(self.t + h - stop) < 1e-9 * step
                self.t, self.x, self.signs = (stop if ends else self.t + h), fresh, signs
                self._clip()
                continue
            self.located += 1
            if self.located > MOST_LOCATED:
                raise NotForThis("events without end")
            # The first change of any guard within the step, by bisection of its length.
            low, high = 0.0, 1.0
            for _ in range(BISECTIONS):
                middle = 0.5 * (low + high)
                x = self._step(middle * h, stop)
                signs = np.sign(self._call("guards", min(self.t + middle * h, stop), x, self.m))
                low, high = (low, middle) if self._crossed(signs).any() else (middle, high)
            self.x = self._step(high * h, stop)
            self.t = min(self.t + high * h, stop)
            signs = np.sign(self._call("guards", self.t, self.x, self.m))
            fired = {int(j) for j in np.flatnonzero(self._crossed(signs))}
            self._clip()
            self.signs = signs
            self._settle(set(), fired)

    def _step(self, h: float, stop: float) -> np.ndarray:
        """x after a step of the classical Runge-Kutta method; nothing sees what begins at the next instant."""
        last = np.nextafter(stop, -np.inf)

        def rate(part: float, x: np.ndarray) -> np.ndarray:
            return self._call("rhs", min(self.t + part * h, last), x, self.m)

        k1 = rate(0.0, self.x)
        k2 = rate(0.5, self.x + 0.5 * h * k1)
        k3 = rate(0.5, self.x + 0.5 * h * k2)
        k4 = rate(1.0, self.x + h * k3)
        return np.asarray(self.x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))

    def _step_across(self, h: float, stop: float) -> tuple[float, np.ndarray]:
        """A step that its two halves agree with, shorter where they do not, and x after it."""
        t, x = self.t, self.x
        sizes = np.maximum(self.largest, [0.1 * s.nominal if np.isfinite(s.nominal) else np.inf for s in self.states])
        while True:
            whole = self._step(h, stop)
            self.t, self.x = t + 0.5 * h, self._step(0.5 * h, stop)
            halves = self._step(0.5 * h, stop)
            self.t, self.x = t, x
            if h < SHORTEST or np.all(np.abs(whole - halves) <= ACROSS * sizes):
                self.largest = np.maximum(self.largest, np.abs(halves))
                return h, whole
            h *= 0.5

    def _clip(self) -> None:
        """States between their limits."""
        limited = list(self.system.limited)
        if limited:
            bounds = self._call("limits", self.t, self.x, self.m)
            self.x[limited] = np.clip(self.x[limited], bounds[: len(limited)], bounds[len(limited) :])

    def _crossed(self, signs: np.ndarray) -> np.ndarray:
        """Which guards have changed their sign in the direction that counts."""
        directions = np.array([guard.direction for guard in self.system.discrete.guards], float).reshape(len(signs))
        changed = (signs != self.signs) & (self.signs != 0)
        return np.asarray(changed & ((directions == 0) | (np.sign(signs - self.signs) == directions)))

    def _settle(self, done: set[int], fired: set[int] | None = None) -> None:
        """Actions of the guards that fired, and of those that these make jump, each once at an instant."""
        guards = self.system.discrete.guards
        for _ in range(MOST_EVENTS):
            if fired is None:
                signs = np.sign(self._call("guards", self.t, self.x, self.m))
                fired = {int(j) for j in np.flatnonzero(self._crossed(signs))} - done
                self.signs = signs
            if not fired:
                return
            for j in sorted(fired):
                done.add(j)
                if guards[j].action:
                    self._act(guards[j].action, guards[j].problems)
                if guards[j].terminal:
                    raise EndsHere(guards[j].name)
            fired = None
        raise NotForThis("events without end")

    def _act(self, action: str, problems: Any) -> None:
        """Modes first, then what they change."""
        for name in problems:
            modes = self._find_modes(name)
            place = self.system.mode_place(self.problems[name])
            self.m[place : place + len(modes)] = modes
        changed = self._call(action, self.t, self.x, self.m)
        self.x, self.m = changed[: len(self.x)].copy(), changed[len(self.x) :].copy()

    def _find_modes(self, name: str) -> np.ndarray:
        """The modes of a complementarity problem that contradict themselves least, of all that there may be.

        HELD      w_i = 0,          lower_i <= f_i <= upper_i
        FORWARD   f_i = below_i,    w_i >= 0
        BACKWARD  f_i = above_i,    w_i <= 0,        w = b + K W f

        Friction of a contact that does not push has no force in any mode.
        """
        problem = self.problems[name]
        k, n, data = problem.rows, problem.joints, self._call(name, self.t, self.x, self.m)
        columns = dict(zip(("b", "compliance", *COLUMNS), data[: k * (2 + len(COLUMNS))].reshape(-1, k), strict=True))
        rows, W = data[k * (2 + len(COLUMNS)) :][: k * n].reshape(k, n), data[-k * n :].reshape(k, n).T
        A = rows @ W
        # Rows whose mode is free; of a row that only pushes, BACKWARD is none.
        choices = []
        for i in range(k):
            pushes = columns["upper"][i] > 1e299
            free = (HELD, FORWARD) if pushes else (HELD, FORWARD, BACKWARD)
            choices.append(free if columns["allowed"][i] == 1.0 else (columns["initial"][i],))
        best, least = None, np.inf
        for modes in product(*choices):
            wrong = _contradiction(np.array(modes), A, columns)
            # Of several that fit the one nearest to where the search of the engine begins.
            wrong += 1e-6 * float(np.sum(np.array(modes) != columns["initial"])) / k
            if wrong < least:
                best, least = np.array(modes), wrong
        if best is None or least > 1.0:
            raise NotForThis("no modes fit")
        return self._follow(best, A, columns)

    @staticmethod
    def _follow(modes: np.ndarray, A: np.ndarray, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Rows that follow have no force, and the direction of their motion as their mode."""
        following = columns["allowed"] == FOLLOWS
        if following.any():
            _, w = _forces(modes, A, columns)
            modes = np.where(following, np.where(w < 0, BACKWARD, FORWARD), modes)
        return modes


def _idle(modes: np.ndarray, columns: dict[str, np.ndarray]) -> np.ndarray:
    """Friction of contacts that do not push: it has no force, whatever its mode."""
    partners = columns["partner"].astype(int)
    return np.asarray((partners >= 0) & (modes[partners] != HELD))


def _forces(modes: np.ndarray, A: np.ndarray, columns: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Forces and motions of given modes: rows that are held do not move, the others have their forces of sliding."""
    k, following = len(modes), columns["allowed"] == FOLLOWS
    held = (modes == HELD) & ~following & ~_idle(modes, columns)
    # f = f0 + B f_held: what slides beside a force that holds is a part of it.
    f0, B = np.zeros(k), np.diag(held.astype(float))
    for i in range(k):
        partner = int(columns["partner"][i])
        if held[i] or following[i]:
            continue
        if partner >= 0:
            B[i, partner] = -modes[i] * columns["coefficient"][i] * held[partner]
        else:
            f0[i] = columns["below" if modes[i] > 0 else "above"][i]
    free = np.flatnonzero(held)
    w0 = columns["b"] + A @ f0
    f_held = np.zeros(k)
    if len(free):
        S = (A @ B)[np.ix_(free, free)]
        f_held[free] = np.linalg.lstsq(S, -w0[free], rcond=1e-13)[0]
    f = f0 + B @ f_held
    return f, columns["b"] + A @ f


def _contradiction(modes: np.ndarray, A: np.ndarray, columns: dict[str, np.ndarray]) -> float:
    """How far modes contradict themselves, in tolerances of their motions; below 1 they do not."""
    f, w = _forces(modes, A, columns)
    own = np.abs(np.diag(A)) + columns["compliance"]
    worst, idle = 0.0, _idle(modes, columns)
    for i, mode in enumerate(modes):
        if columns["allowed"][i] != 1.0 or idle[i]:
            continue
        slack = max(columns["tolerance"][i], 1e-300)
        if mode != HELD:
            wrong = -mode * w[i] / slack
        else:
            partner = int(columns["partner"][i])
            upper = columns["coefficient"][i] * f[partner] if partner >= 0 else columns["upper"][i]
            lower = -upper if partner >= 0 else columns["lower"][i]
            wrong = max(lower - f[i], f[i] - upper) * own[i] / slack
            wrong = max(wrong, abs(w[i]) / (1e3 * slack))
        worst = max(worst, float(wrong))
    return worst


def compare_engines(scenario: Scenario, compiled: CompiledSystem | None = None, samples: int = 20) -> str:
    """In what the two engines differ beyond their errors, nothing where they agree.

    Args:
        compiled: the same machine where it is there already.

    Raises:
        NotForThis: where the second engine has no run to compare with.
    """
    system = compiled.system if compiled else assemble(scenario)
    times = (np.arange(samples) + 0.377) / samples * scenario.duration
    solver = Solver("dopri5", rtol=1e-8, atol=1e-9, max_steps=30_000, max_wall_time=60.0)
    referee = SecondEngine(system)
    found = referee.run(times)
    run = simulate(compiled or system, solver, recording=Recording(times=tuple(times)))
    if run.outcome.cut_short:
        raise NotForThis("too stiff for explicit steps")
    difference = find_difference(system, run, *found)
    return difference and find_difference(system, run, *referee.run(times, careful=True))


def find_difference(system: System, run: Run, states: np.ndarray, errors: np.ndarray, reached: np.ndarray) -> str:
    """In what a run differs from states that may be off by some errors, at the times that were reached."""
    n = min(len(reached), len(run.time))
    error, apart, worst = np.zeros(n), np.zeros(n), ""
    for k, state in enumerate(system.states):
        if not np.isfinite(state.nominal) or state.name not in run:
            continue
        values = run[state.name].values[:n]
        size = max(np.max(np.abs(values), initial=0.0), 0.1 * state.nominal)
        difference = np.abs(values - states[:n, k]) / size
        worst = state.name if np.max(difference, initial=0.0) > np.max(apart, initial=0.0) else worst
        apart, error = np.maximum(apart, difference), np.maximum(error, errors[:n, k] / size)
    error = np.maximum.accumulate(error)
    wrong = (apart > CLOSE + SHARE * error) & (error < GROWN)
    if np.any(wrong):
        k = int(np.argmax(wrong))
        return f"{worst} differs by {apart[k]:.2g} at {reached[k]:.4g} s, where halved steps change {error[k]:.2g}"
    # One that ends by an event must end with the other, unless errors have grown by then. Of events without end the
    # second engine sees those that its steps are short enough for.
    endless = np.max(error, initial=0.0) >= GROWN or run.outcome.kind is OutcomeKind.CHATTERING
    same = len(reached) == len(run.time) or endless
    return "" if same else f"ends at {reached[-1]:.4g} s, not at {run.time[-1]:.4g} s"
