"""Sampled linear models: what do sampled controllers and the machine do together from cycle to cycle?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product

import casadi as ca
import numpy as np
from scipy.linalg import expm, schur

from robodyn.analysis.jumps import Jump, describe_staircases, find_staircases, smooth_expressions
from robodyn.analysis.point_functions import PointFunctions
from robodyn.base import Array, Flaw, FlawList, ModelError, frozen, refuse, refuse_unknown, refuse_word
from robodyn.base.symbolic import changed_entries
from robodyn.computation.assembly import System, assemble
from robodyn.description.model import Scenario

from .linear_model import Variable
from .linearisation import OperatingPoint, Place, find_point, find_tangent, free_motions
from .modes import FRICTION, friction_states, ideal_numbers
from .poles import sort_roots
from .trim import memory_changes

# --------------------------------------------------------------------------------------------------
# Sampled-data linear model: how does a machine under sampled controllers answer to small changes, tick by tick?
#
#     x' = A x + B m,   y = C x + D m          between ticks, the memory m held
#     m[places] <- J_x x + J_m m               at the ticks of each task, one after another
#
# All are deviations. Memory is what tasks remember and what they hold as outputs. Over a cycle of all ticks it is one
# matrix, [x, m] after the cycle from [x, m] before it; its eigenvalues mu are the multipliers, log(mu) / T the poles.


MOST_WORK = 10**9
"""Base periods of a cycle times the entries of its matrix that are followed: seconds of computing."""
STABLE = 1e-7
"""How much above one a multiplier may be: an integrator's double one is known to half the digits."""
FORGOTTEN = 1e-6
"""Multipliers smaller than this, by base period, are those of memory that is written anew: they are no motion."""


@frozen(eq=False)
class Update:
    """The change that a task makes to the memory at ticks `offset + k period` of the base period.

    Attributes:
        places: of the memory it writes, (k,); by_state: (k, n), by_memory: (k, n_memory).
    """

    name: str
    period: int
    offset: int
    places: Array
    by_state: Array
    by_memory: Array

    def is_due(self, tick: int) -> bool:
        return (tick - self.offset) % self.period == 0

    @cached_property
    def reads(self) -> tuple[Array, Array]:
        """Places of [x, m] that it depends on, and its slopes by them."""
        slopes = np.hstack([self.by_state, self.by_memory])
        places = np.flatnonzero(slopes.any(axis=0))
        return places, slopes[:, places]


@frozen(eq=False)
class SampledModel:
    """A linear model of a machine between and at its ticks.

    Attributes:
        updates: in the order in which tasks due at the same tick run.
        period: base period [s], of which all times are multiples.
        notes: sentences for whoever uses the numbers.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    updates: tuple[Update, ...]
    period: float
    states: tuple[Variable, ...] = ()
    memory: tuple[Variable, ...] = ()
    outputs: tuple[Variable, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> int:
        """How many states; the memory comes behind them."""
        return len(self.A)

    @property
    def size(self) -> int:
        """Number of states, with the held inputs."""
        return len(self.A) + self.B.shape[1]

    @cached_property
    def turn(self) -> int:
        """Base periods until all tasks are in step again."""
        return int(np.lcm.reduce([update.period for update in self.updates])) if self.updates else 1

    @property
    def turn_time(self) -> float:
        """[s]."""
        return self.turn * self.period

    @cached_property
    def writers(self) -> Mapping[int, list[int]]:
        """Numbers of the updates that write each place of the memory."""
        writers: dict[int, list[int]] = {place: [] for place in range(self.B.shape[1])}
        for number, update in enumerate(self.updates):
            for place in update.places.tolist():
                writers[place].append(number)
        return writers

    def flow(self, time: float) -> Array:
        """x a time [s] after [x, m], without ticks: exact, the memory being held; (n, size)."""
        n, read = self.order, np.flatnonzero(self.B.any(axis=0))
        rates = np.zeros((n + read.size, n + read.size))
        rates[:n, :n], rates[:n, n:] = self.A, self.B[:, read]
        transition = np.zeros((n, self.size))
        transition[:, [*range(n), *(n + read)]] = expm(rates * time)[:n]
        return transition

    @cached_property
    def glide(self) -> Array:
        """x a base period after [x, m]."""
        return self.flow(self.period)

    def apply(self, tick: int, whole: Array) -> None:
        """All tasks due at a tick, on the rows of a matrix [x, m] <- start, in place."""
        n = self.order
        for update in self.updates:
            if update.is_due(tick):
                places, slopes = update.reads
                whole[n + update.places] = slopes @ whole[places]

    @cached_property
    def matrix(self) -> Array:
        """[x, m] before the tasks of a cycle's first tick, from the same a cycle before."""
        if self.turn * self.size**2 > MOST_WORK:
            what = f"{self.size} states and memory are too many for {self.turn} base periods until sample times meet"
            refuse("loop", what, "choose longer periods, or shorter delays")
        whole = np.eye(self.size)
        with np.errstate(over="ignore", invalid="ignore"):
            for tick in range(self.turn):
                self.apply(tick, whole)
                whole[: self.order] = self.glide @ whole
        if not np.isfinite(whole).all():
            what = "its motion overflows before its sample times coincide again"
            refuse("loop", what, "reduce the gains")
        return whole

    @cached_property
    def multipliers(self) -> Array:
        """The factors of the motions in a cycle, complex, the largest first; those of zero are left out."""
        places = remembered(self.matrix)
        multipliers = np.linalg.eigvals(self.matrix[np.ix_(places, places)])
        multipliers = multipliers[np.abs(multipliers) > FORGOTTEN**self.turn]
        return multipliers[np.argsort(-np.abs(multipliers), kind="stable")]

    def poles(self) -> Array:
        """log(mu) / T [rad/s], by magnitude; frequencies above half a cycle's look lower than they are."""
        return sort_roots(np.log(self.multipliers.astype(complex)) / self.turn_time)

    @property
    def growth(self) -> float:
        """Rate of the motion that grows most or decays least [1/s]."""
        largest = abs(self.multipliers[0]) if self.multipliers.size else 0.0
        return float(np.log(largest) / self.turn_time) if largest else -np.inf


def count_above_one(multipliers: Array) -> int:
    """How many motions grow."""
    return int(np.sum(np.abs(multipliers) > 1 + STABLE))


def remembered(matrix: Array, *readers: Array) -> Array:
    """Places of a cycle's start that its end, or a reader, depends on; the others only add multipliers of zero."""
    places = np.arange(len(matrix))
    while True:
        columns = np.vstack([matrix[np.ix_(places, places)], *(reader[:, places] for reader in readers)])
        used = columns.any(axis=0)
        if used.all():
            return places
        places = places[used]


# --------------------------------------------------------------------------------------------------
# Sampled-data linearisation: which linear model does a machine have with sampled controllers? Exact derivatives.
#
# Rates, tasks and signals of the traced system are differentiated by states and memory; see `sampled_model`.


MOST_TICKS = 100_000


def linearise_sampled(
    what: System | Scenario,
    at: Place = "start",
    *,
    outputs: Sequence[str] = (),
    friction: str = "none",
    parameters: Mapping[str, float] | None = None,
) -> SampledModel:
    """The linear model of a machine from tick to tick, around a point that need not be at rest.

    Limits and quantisers count as ideal. The point is frozen: for a machine under way the model is that of its
    surroundings there.

    Args:
        at: as `linearise` takes it.
        outputs: names of signals.
        friction: "none" leaves it out, which damps least; "stuck" takes it as at rest (bristles are springs; all
            speeds are 0); "sliding" with bristles bent as at the point's speeds.
        parameters: tunable numbers to change.
    """
    return sampled_lineariser(what, outputs, friction)(at, parameters)


def sampled_lineariser(
    what: System | Scenario, outputs: Sequence[str] = (), friction: str = "none"
) -> Callable[[Place, Mapping[str, float] | None], SampledModel]:
    """The function of places and parameters that gives linear models, compiled once for many of them."""
    refuse_word("friction", friction, FRICTION, "loops")
    system = what if isinstance(what, System) else assemble(what)
    check_sampled(system)
    system = system.without_friction if friction == "none" else system
    parts, ideal = SampledParts(system, tuple(outputs), friction), ideal_numbers(system.scenario)

    def linearise(at: Place, parameters: Mapping[str, float] | None = None) -> SampledModel:
        # The point with ideal limits and resolutions, and speeds as the friction is wanted.
        point = find_point(system, at, parameters)
        x, values = point.x.copy(), dict(zip(system.places, point.p, strict=True))
        if friction == "stuck":
            x[system.n_q : system.n_q + system.n_v] = 0.0
        p = np.array([ideal.get(name, value) for name, value in values.items()], float)
        return parts.build(replace(point, x=x, p=p))

    return linearise


def check_sampled(system: System) -> None:
    """Refuse systems that cannot be followed from tick to tick."""
    flaws = FlawList()
    if system.discrete.tasks and system.delays:
        what = "has both sampled blocks and continuous delays, whose poles are not found together"
        flaws.add("system", what, "give the delay as a delay of the sampled block")
    if system.discrete.tasks and np.lcm.reduce([task.period for task in system.discrete.tasks]) > MOST_TICKS:
        what = f"its sample times meet again only after more than {MOST_TICKS} base periods"
        flaws.add("system", what, "choose periods that are multiples of each other")
    flaws.raise_if_any("poles")


@frozen
class SampledParts:
    """Rows [rates, constraints, tasks, outputs] and columns [x, m] in a system's expressions."""

    system: System
    outputs: tuple[str, ...]
    friction: str

    def build(self, point: OperatingPoint) -> SampledModel:
        point = self._bend_bristles(point) if self.friction == "sliding" else point
        system, states, memory = self.system, self._states, self._memory
        tangent = find_tangent(system, point.x[states], self._functions("rates", point), states)
        n, m = len(tangent.variables), len(memory)
        slopes = self._functions.slopes(point)
        if not np.isfinite(slopes).all():
            what = "some slopes are not numbers at this operating point"
            refuse("at", what, "choose another one", system.scenario.name)
        # The matrices of all groups of rows.
        slopes = np.hstack([slopes[:, : len(states)] @ tangent.into, slopes[:, len(states) :]])
        cuts = np.cumsum([row.numel() for row in self._rows])[:-1]
        rates, closed, *tasks, outputs = np.split(slopes, cuts)
        rates = tangent.out @ rates + np.hstack([tangent.turning, np.zeros((n, m))])
        values = self._functions("outputs", point)
        N, chosen = free_motions(closed[:, :n]) if system.motion.constraint_forces else (np.eye(n), list(range(n)))
        rates = rates[chosen]
        units = system.signal_units
        blocks = [block.name for block in self.system.scenario.machine.all_blocks if block.info.disturbance]
        message = {"none": "is left out", "stuck": "sticks", "sliding": "slides"}[self.friction]
        friction = f"friction {message}: {', '.join(blocks)}" if blocks else ""
        # Of the rows of a task those that it writes; the others only repeat the memory.
        updates = []
        for task, matrix in zip(system.discrete.tasks, tasks, strict=True):
            changed = {*changed_entries(system.symbols.m, system.memory_after(task))}
            places = np.array([row for row, k in enumerate(memory) if k in changed], int)
            by_state, by_memory = matrix[places, :n] @ N, matrix[places, n:]
            updates.append(Update(task.name, task.period, task.offset, places, by_state, by_memory))
        late_reads = map(str, system.discrete.late_reads)
        notes = tuple(filter(None, [friction, describe_staircases(self.staircases), *late_reads]))
        return SampledModel(
            *(rates[:, :n] @ N, rates[:, n:], outputs[:, :n] @ N, outputs[:, n:]),
            tuple(updates),
            float(system.discrete.base_period or 0),
            tuple(tangent.variables[k] for k in chosen),
            tuple(Variable(system.memory[k].name, system.memory[k].unit, float(point.m[k])) for k in memory),
            tuple(Variable(name, units[name], float(v)) for name, v in zip(self.outputs, values, strict=True)),
            notes,
        )

    @cached_property
    def _memory(self) -> list[int]:
        """Places of the memory that tasks change."""
        return [k for k, change in enumerate(memory_changes(self.system)) if change is not None]

    @cached_property
    def _states(self) -> list[int]:
        """Places of the states that count: friction that exerts nothing moves nothing; books are read by nothing."""
        left_out = friction_states(self.system.scenario) if self.friction == "none" else frozenset()
        return [k for k in range(self.system.n_moving) if self.system.state_names[k] not in left_out]

    @cached_property
    def _rows(self) -> list[ca.SX]:
        system, signals = self.system, self.system.signal_names
        where = f"scenario '{system.scenario.name}'"
        refuse_unknown(self.outputs, signals, "there is no such signal", where, "outputs")
        expressions = smooth_expressions(system, self.staircases)
        closed = expressions.constraints if system.motion.constraint_forces else ca.SX(0, 1)
        updates = [expressions.updates[task.function] for task in system.discrete.tasks if task.function]
        tasks = [after[self._memory, 0] for after in updates]
        outputs = expressions.outputs[[signals.index(name) for name in self.outputs], 0]
        return [expressions.rhs[self._states, 0], closed, *tasks, outputs]

    @cached_property
    def _functions(self) -> PointFunctions:
        symbols, rows = self.system.symbols, self._rows
        slopes = ca.vertcat(*rows), ca.vertcat(symbols.x[self._states, 0], symbols.m[self._memory, 0])
        return PointFunctions(self.system, {"rates": rows[0], "outputs": rows[-1]}, slopes, quick=True)

    def _bend_bristles(self, point: OperatingPoint) -> OperatingPoint:
        """Bristles as steady sliding bends them: z' = w - s z is zero at z' / s more, s their own rate.

        Where the joint is at rest (s = 0) they stay as they are.
        """
        names, x = friction_states(self.system.scenario), point.x.copy()
        for row, k in enumerate(self._states):
            state = self.system.states[k]
            if state.name in names:
                step = state.nominal * (np.arange(x.size) == k)
                here, there = (self._functions("rates", replace(point, x=at))[row] for at in (x, x + step))
                slope = (there - here) / state.nominal
                x[k] -= here / slope if slope < 0 else 0.0
        return replace(point, x=x)

    @cached_property
    def staircases(self) -> tuple[Jump, ...]:
        """Blocks with steps."""
        return find_staircases(self.system.scenario, rubs=self.friction != "none")


# --------------------------------------------------------------------------------------------------
# Lifting of a multirate loop: what does a held signal do round its loop, over a whole cycle of all ticks?
#
# The signal is cut: whoever reads it reads u_j instead, from the instant of its j-th writing on; w_j is what its block
# wrote there. Over a cycle, with X what is remembered from cycle to cycle,
#
#     X+ = M X + B u,   w = C X + D u,   y = P X + Q u
#
# and w = L(z) u with L(z) = C (z I - M)^-1 B + D, a square matrix with a row for each writing. The loop closed with a
# gain k, u = k w, has the multipliers of M + k B (I - k D)^-1 C. All of this is exact, whatever periods, offsets and
# delays are.


MANY = 32
"""So many frequencies are worth a triangular form of the equations."""
CHECKED, MODAL_ERROR = 16, 1e-4
"""Places at which a sum of modes is checked, and the relative error allowed there."""
MOST_WRITINGS = 128
"""How often cut signals may be written in a turn: a loop's gain is a matrix of that size at each frequency."""


@frozen(eq=False)
class Lifted:
    """A loop cut open at held signals, over one cycle.

    Attributes:
        times: of the writings in the cycle [s], (r,); output_times: of the ticks at which P, Q give outputs.
        late: whole cycles that pass between a writing and its being read, (r,).
        turn_time: [s].
    """

    M: Array
    B: Array
    C: Array
    D: Array
    P: Array
    Q: Array
    times: Array
    output_times: Array
    late: Array
    turn_time: float

    def gain(self, z: Array) -> Array:
        """L(z), (n, r, r) for n values of z."""
        return self._transfer(z, self.C, self.D)

    def answer(self, z: Array) -> Array:
        """From u to the outputs, (n, n_ticks n_outputs, r)."""
        return self._transfer(z, self.P, self.Q)

    def _transfer(self, z: Array, C: Array, D: Array) -> Array:
        if z.size < MANY:
            resolvent = z[:, None, None] * np.eye(len(self.M)) - self.M
            try:
                return np.asarray(C @ np.linalg.solve(resolvent, self.B[None].astype(complex)) + D)
            except np.linalg.LinAlgError:
                raise _poles_lost() from None
        # M = U T U^H once, T triangular, solved from the last row up at all z together.
        T, U = self._triangle
        left, right, count = C @ U, U.conj().T @ self.B, len(T)
        x = np.empty((count, z.size, right.shape[1]), complex)
        below = z - np.diag(T)[:, None]
        if not below.all():
            raise _poles_lost()
        for k in reversed(range(count)):
            x[k] = (right[k] + np.tensordot(T[k, k + 1 :], x[k + 1 :], 1)) / below[k][:, None]
        return np.tensordot(left, x, 1).swapaxes(0, 1) + D

    @cached_property
    def _triangle(self) -> tuple[Array, Array]:
        return schur(self.M, output="complex")

    def estimate_gain(self, z: Array) -> Array:
        """L(z) by modes, sum_k (C v_k) (w_k B) / (z - lambda_k) + D: cheap at many z, to a few digits; exact where
        modes are almost the same, which is seen at some of the places."""
        values, V = np.linalg.eig(self.M)
        left = np.linalg.lstsq(V, self.B.astype(complex), rcond=None)[0]
        gain: Array = (self.C @ V) @ (left[None] / (z[:, None] - values)[:, :, None]) + self.D
        some = np.linspace(0, z.size - 1, CHECKED).astype(int)
        exact = self.gain(z[some])
        near = np.abs(gain[some] - exact).max(axis=(1, 2)) <= MODAL_ERROR * np.abs(exact).max(axis=(1, 2))
        return gain if near.all() else self.gain(z)

    def close(self, gain: complex = 1.0) -> Array:
        """The matrix of a cycle with u = gain w; writings that are read cycles later wait in further rows."""
        if self.late.any():
            # u_j = gain w_j of `late` cycles before: state [X, w 1 cycle ago, w 2 cycles ago, ...].
            r, n, depth = len(self.D), len(self.M), int(self.late.max())
            size = n + r * depth
            # u = S [X, past] + now w: rows of S choose from the past, `now` are those of this cycle.
            now = np.diag((self.late == 0).astype(float))
            S = np.zeros((r, size))
            for j in np.flatnonzero(self.late):
                S[j, n + r * (self.late[j] - 1) + j] = 1.0
            C = np.hstack([self.C, np.zeros((r, r * depth))])
            w = np.linalg.solve(np.eye(r) - gain * self.D @ now, C + gain * self.D @ S)
            whole = np.zeros((size, size), w.dtype)
            whole[:n, :n] = self.M
            whole[:n] += self.B @ (gain * (now @ w + S))
            whole[n : n + r] = w
            whole[n + r :, n:-r] = np.eye(size - n - r)
            return whole
        inner = np.linalg.solve(np.eye(len(self.D)) - gain * self.D, gain * self.C)
        return self.M + self.B @ inner

    def multipliers(self, gain: complex = 1.0) -> Array:
        """The multipliers of a cycle with the loop closed by a gain, complex."""
        return np.linalg.eigvals(self.close(gain))

    def count_growing(self, gain: float) -> int:
        """How many motions grow with the loop closed by a gain."""
        return count_above_one(self.multipliers(gain))

    def radius(self, gain: complex = 1.0) -> float:
        """Largest multiplier's magnitude with the loop closed by a gain."""
        return float(np.abs(self.multipliers(gain)).max(initial=0.0))

    @cached_property
    def closes(self) -> bool:
        """Whether what is written depends on what was: L is not zero."""
        reached = self.B.any(axis=1)
        for _ in range(len(self.M)):
            reached = reached | self.M[:, reached].any(axis=1)
        return bool(self.D.any() or self.C[:, reached].any())


def _poles_lost() -> ModelError:
    """Beside entries of 1e16 the number z is lost."""
    return ModelError([Flaw("loop", "its gains are too large for its poles to be computed", "reduce them")])


def lift(model: SampledModel, signals: Sequence[str], extra_delay: float = 0.0) -> Lifted:
    """Cut the loop at held signals.

    Args:
        signals: outputs of sampled blocks, by name.
        extra_delay: how much later than they are written they are read [s].
    """
    places = find_held(model, signals)
    if not can_lift(model, signals):
        what = f"is written more than {MOST_WRITINGS} times until all sample times meet again"
        remedy = "cut the loop at a slower block, or choose periods that meet sooner"
        refuse(f"signals.{signals[0]}", what, remedy, "loop")

    # Writings: tick, number of the task, place among the cut signals.
    written = sorted((number, k) for k, place in enumerate(places.tolist()) for number in model.writers[place])
    due = product(range(model.turn), written)
    writings = [(tick, number, k) for tick, (number, k) in due if model.updates[number].is_due(tick)]
    times = np.array([tick for tick, _, _ in writings]) * model.period
    # Cycles that pass before each writing is read, and when in the cycle it is; at once without a delay.
    late, arrivals = np.zeros(len(writings), int), list[tuple[float, int, int]]()
    if extra_delay:
        # In base periods; what falls on a tick but for rounding is there.
        instants = (times + extra_delay) / model.period
        instants = np.where(np.abs(instants - np.round(instants)) < 1e-9, np.round(instants), instants)
        late = (instants // model.turn).astype(int)
        seconds = ((instants - late * model.turn) * model.period).tolist()
        arrivals = [(time, 0, j) for j, time in enumerate(seconds)]

    # Rows are [x, m, s], s being what readers of the cut signals see; columns are [the same at the start, u].
    n, size, width = model.order, model.size, model.size + places.size
    whole = np.hstack([np.eye(width), np.zeros((width, len(writings)))])
    written_rows = np.zeros((len(writings), width + len(writings)))
    flows = {1.0: model.glide}

    # Rows at which readers see [x, m].
    seen = np.arange(size)
    seen[n + places] = size + np.arange(places.size)

    def glide(time: float) -> None:
        if time > 0 and n:
            # Gaps that differ by rounding are the same.
            key = round(time / model.period, 12)
            if key not in flows:
                flows[key] = model.flow(time)
            whole[:n] = flows[key] @ whole[seen]

    def arrive(j: int) -> None:
        """Readers see u_j from now on."""
        row = size + writings[j][2]
        whole[row] = 0.0
        whole[row, width + j] = 1.0

    # One cycle from instant to instant; what arrives at a tick is there before its tasks run.
    ticks = [(tick * model.period, 1, tick) for tick in range(model.turn)]
    now, outputs = 0.0, []
    for time, is_tick, number in sorted([*ticks, *arrivals]):
        glide(time - now)
        now = time
        if not is_tick:
            arrive(number)
            continue
        for task, update in enumerate(model.updates):
            if update.is_due(number):
                read, slopes = update.reads
                whole[n + update.places] = slopes @ whole[seen[read]]
                for j, (tick, writer, k) in enumerate(writings):
                    if (tick, writer) == (number, task):
                        written_rows[j] = whole[n + places[k]]
                        if not extra_delay:
                            arrive(j)
        outputs.append(np.hstack([model.C, model.D]) @ whole[seen])
    glide(model.turn_time - now)

    (M, B), (C, D), (P, Q) = (np.split(part, [width], axis=1) for part in (whole, written_rows, np.vstack(outputs)))
    kept = remembered(M, C, P)
    parts = (M[np.ix_(kept, kept)], B[kept], C[:, kept], D, P[:, kept], Q)
    return Lifted(*parts, times, np.arange(model.turn) * model.period, late, model.turn_time)


def can_lift(model: SampledModel, signals: Sequence[str]) -> bool:
    """Whether signals are written seldom enough in a turn."""
    places = find_held(model, signals)
    writers = [model.updates[number] for place in places.tolist() for number in model.writers[place]]
    return sum(model.turn // update.period for update in writers) <= MOST_WRITINGS


def find_held(model: SampledModel, signals: Sequence[str]) -> Array:
    """Places of held signals in the memory."""
    names = [variable.name for variable in model.memory]
    refuse_unknown(signals, names, "is not held by a sampled block", "loop", "signals")
    return np.array([names.index(name) for name in signals], int)


def scale_held(model: SampledModel, signals: Sequence[str], gain: float) -> SampledModel:
    """The model with what is read of held signals multiplied by a gain."""
    factors = np.ones(len(model.memory))
    factors[find_held(model, signals)] = gain

    def scaled(update: Update) -> Update:
        return replace(update, by_memory=update.by_memory * factors)

    return replace(model, B=model.B * factors, D=model.D * factors, updates=tuple(map(scaled, model.updates)))
