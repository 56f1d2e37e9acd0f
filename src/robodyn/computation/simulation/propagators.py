"""Propagators along a nominal motion: which tables does the engine march by?

At both ends of every piece of the nominal motion A, B and what follows from them are computed:

    A = [0, 1, 0; M^-1 (L_q - c_q), M^-1 (L_v - c_v), M^-1 L_z; L of the other states]
    Phi = exp(A h),   G = int exp(A s) ds [0; M^-1; 1]

On the piece they are linear in time. Interpolated, they act on deviations from the nominal motion y0(t) alone:

    y1 = y0(t1) + Phi (y - y0(t)) + G (u + what is left of the linear parts on the nominal motion)

whose parts without y and u are one affine column for each step, the same for all robots.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import Array, ca, frozen
from robodyn.base.symbolic import pick_entries, to_column
from robodyn.computation.assembly.system import INPUTS, System
from robodyn.computation.native.kernel import row_loop
from robodyn.computation.native.prelude import SUFFIX
from robodyn.computation.native.propagation import count_columns, padded, propagation_addresses
from robodyn.computation.native.rows import HEADER
from robodyn.description.model import Solver

if TYPE_CHECKING:
    from robodyn.computation.engine import EngineRecording
    from robodyn.computation.native.kernel import Kernel

    from .compiled import CompiledSystem
    from .starting import Start

# --------------------------------------------------------------------------------------------------
# Exponential step of linear mechanics: how does a robot near its nominal motion take a step by propagators?
#
#     M(t) a + c(t, q, v) = tau(t, x, m),   q_dot = v,   z_dot = f(t, x, m)        c affine in q and v
#
# The states are of three kinds:
#
#     y = [q, v, z]     z: states whose rates are affine in y with constant coefficients, such as currents of motors
#     relaxing          their own rate is affine in themselves alone, such as the bristles of friction
#     book-keeping      nothing depends on them
#
# What of tau and f is affine in y with constant coefficients is part of the matrix A of y_dot = A(t) y + B(t) u + b(t).
# The rest u - friction, voltages that sampled loops hold - is evaluated once a step, at its middle, where y is
# extrapolated from the last step. In between A, u and b stand still, and the step is exact:
#
#     y1 = exp(A h) y0 + int exp(A s) ds (B u + b)
#
# So is that of a relaxing state, z_dot = alpha - beta z with alpha and beta of the middle, and its mean is what u sees:
#
#     z1 = z0 + h phi1(beta h) (alpha - beta z0),    mean = z0 + h phi2(beta h) (alpha - beta z0)
#     phi1(x) = (1 - e^-x) / x,   phi2(x) = (1 - phi1) / x
#
# with 1 / (1 + x + x^2/2 + x^3/6 + x^4/24) for e^-x, which decays as surely, is exact to fourth order and needs no
# exponential; a state that grows by itself, beta < 0, is none that relaxes.
#
# The propagators are the same for all robots that differ in friction, gains or sampled loops: see `propagators`. A
# working vector holds [y, u, y before (what u depends on), relaxing and book-keeping states].


REST, NOMINAL, TERMS = "march_rest", "march_nominal", "march_terms"
MARCH = "march_"
"""Before the names of outputs, of what is watched, and of sampled tasks, as functions of the working vector."""
SAMPLES = 8
"""States at which is seen whether others decay; own choice."""


NOT_LINEAR = "its mechanics are not linear"
"""Why runs that are not near a nominal motion have no propagators."""


@frozen
class Propagation:
    """How a system is moved by propagators; plain values.

    Attributes:
        place: of each state in the working vector. n_linear, n_inputs, n_work: entries of y, of u, of all.
        n_other: how many states z are. inputs: which of tau and f, one behind the other, have a rest u; before: which
            entries of y this depends on.
        step: length of a step [s]; per_tick: steps between two ticks, 0 where there are none.
        fixed: numbers of the parameters that propagators and what depends on time alone depend on.
        reason: why there are none; empty where there are.
    """

    place: tuple[int, ...] = ()
    n_linear: int = 0
    n_inputs: int = 0
    n_work: int = 0
    n_other: int = 0
    inputs: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    step: float = 0.0
    per_tick: int = 0
    fixed: tuple[int, ...] = ()
    reason: str = ""

    def __bool__(self) -> bool:
        return not self.reason


@frozen
class PropagatedStep:
    """The functions of a step: of [t, working vector, d, m, p], and of [t, x, d, m, p] what propagators are made of."""

    propagation: Propagation
    work: ca.SX
    functions: Mapping[str, ca.Function]

    def of_work(self, system: System, function: ca.Function) -> ca.Function:
        """A function of the states as one of the working vector."""
        symbols = system.symbols
        x = pick_entries(self.work, self.propagation.place)
        outputs = function.call([symbols.t, x, symbols.d, symbols.m, symbols.p])
        columns = [*symbols._replace(x=self.work)]
        return ca.Function(f"march_{function.name()}", columns, [ca.densify(output) for output in outputs])


def trace_propagated_step(system: System, solver: Solver) -> PropagatedStep:
    """The step of a system, or why it cannot be taken."""
    from robodyn.computation.native.reading import read_program

    from .step_equations import find_rates

    reason = _find_obstacle(system, solver)
    others, relaxing = ([], []) if reason else _sort_states(system)
    reason = reason or _find_entangled(system, relaxing)
    if reason:
        return PropagatedStep(Propagation(reason=reason), ca.SX(0, 1), {})
    symbols, rates, n = system.symbols, find_rates(system), system.n_v
    f = ca.vertcat(rates.z_dot, rates.book)
    y = pick_entries(symbols.x, [*range(2 * n), *others])

    # The parts of tau and f that are affine in y with constant coefficients, and the rest.
    column = ca.vertcat(rates.tau, pick_entries(f, [k - 2 * n for k in others]))
    L, rest = _split_linear(column, y, ca.vertcat(symbols.t, symbols.x, symbols.m))
    inputs = tuple(i for i in range(column.numel()) if not rest[i].is_zero())
    read = ca.vertcat(rest, pick_entries(f, [k - 2 * n for k in relaxing]))
    before = tuple(i for i in range(y.numel()) if ca.depends_on(read, y[i]))
    n_y, n_u = y.numel(), len(inputs)
    first = n_y + n_u + len(before)
    place = {k: i for i, k in enumerate([*range(2 * n), *others])} | {k: first + i for i, k in enumerate(relaxing)}
    work = ca.SX.sym("work", first + len(relaxing))

    # The middle of the step: y extrapolated, relaxing states by their means. Book-keeping ones read these, too.
    middle = ca.SX(work[:n_y])
    for k, i in enumerate(before):
        middle[i] = work[i] + 0.5 * (work[i] - work[n_y + n_u + k])
    step, per_tick = choose_step(system, solver)
    ends, means = [], []
    for k in relaxing:
        state, start = symbols.x[k], work[place[k]]
        beta = -ca.jacobian(f[k - 2 * n], state)
        rate, decay = ca.substitute([f[k - 2 * n], step * beta], [y, state], [middle, start])
        phi1, phi2 = _phi(decay)
        ends.append(start + step * phi1 * rate)
        means.append(start + step * phi2 * rate)
    states = [y, pick_entries(symbols.x, relaxing)]
    values = [middle, to_column(means)]
    u, after = ca.substitute([pick_entries(rest, inputs), to_column(ends)], states, values)
    whole = ca.vertcat(u, pick_entries(work, before), after)

    functions = {REST: ca.Function(REST, [*symbols._replace(x=work)], [ca.densify(whole)])}
    functions |= _nominal_functions(system, L, n)
    nodes = [node for name in (NOMINAL, TERMS) for node in read_program(functions[name]).nodes]
    parameters = INPUTS.index("p")
    fixed = sorted({node[2] for node in nodes if node[0] == "input" and node[1] == parameters})
    sizes = n_y, n_u, work.numel(), len(others), inputs, before
    places = tuple(place[k] for k in range(len(system.states)))
    return PropagatedStep(Propagation(places, *sizes, step, per_tick, tuple(fixed)), work, functions)


def _sort_states(system: System) -> tuple[list[int], list[int]]:
    """Places of the other states that are part of y, and of those that are not, book-keeping ones last."""
    symbols, n = system.symbols, 2 * system.n_v
    f = system.expressions.rhs
    varying = ca.vertcat(symbols.t, symbols.x, symbols.m)
    others = list(range(n, system.n_moving))
    while True:
        y = pick_entries(symbols.x, [*range(n), *others])
        # One that leaves makes those that read it no less linear: to them it is an input.
        left = [k for k in others if ca.depends_on(ca.jacobian(f[k], y), varying)]
        if not left:
            return others, [k for k in range(n, len(system.states)) if k not in others]
        others = [k for k in others if k not in left]


def _find_entangled(system: System, relaxing: list[int]) -> str:
    """A sentence of the first state that neither is part of y nor relaxes by itself; empty where there is none."""
    x, f = system.symbols.x, system.expressions.rhs
    alone = relaxing[: len(relaxing) - system.n_quadratures]
    for k in alone:
        others = pick_entries(x, [i for i in relaxing if i != k])
        by_itself = not ca.depends_on(ca.jacobian(f[k], x[k]), x[k])
        if not by_itself or (others.numel() and ca.depends_on(f[k], others)):
            return f"the rate of {system.states[k].name} is linear neither in all states nor in itself alone"
    # Whether they decay is seen at some states, with the numbers as described.
    slopes = to_column(ca.jacobian(f[k], x[k]) for k in alone)
    for sample in range(SAMPLES):
        signs = np.sin(1.0 + sample + np.arange(len(system.states)))
        state = signs * [info.nominal for info in system.states]
        for k, slope in zip(alone, system.evaluate(slopes, x=state).ravel(), strict=True):
            if slope > 0:
                return f"{system.states[k].name} grows by itself"
    return ""


def _find_obstacle(system: System, solver: Solver) -> str:
    """What keeps a system from steps by propagators, whatever its laws; empty where nothing does."""
    discrete = system.discrete
    obstacles = {
        NOT_LINEAR: system.motion.terms is None,
        f"the method {solver.method} chooses or composes its steps itself": not solver.fused_step,
        "orientations of balls are not linear": system.has_balls,
        "there are events": bool(discrete.guards or discrete.problems or discrete.start_action),
        "there are delays": bool(system.delays),
        "states have limits": bool(system.limited),
        "tasks are plain Python": any(task.function is None for task in discrete.tasks),
    }
    return next((what for what, is_so in obstacles.items() if is_so), "")


def choose_step(system: System, solver: Solver) -> tuple[float, int]:
    """Steps that divide the time between two ticks, no longer than the solver's."""
    base, step = system.discrete.base_period, solver.step
    assert step is not None, "methods that take a whole step have one"
    if base is None or not system.discrete.tasks:
        return step, 0
    per_tick = max(1, math.ceil(float(base) / step - 1e-9))
    return float(base) / per_tick, per_tick


def _split_linear(column: ca.SX, y: ca.SX, varying: ca.SX) -> tuple[ca.SX, ca.SX]:
    """L and the rest of column = L y + rest: an entry of L is constant, or the rest has it."""
    J = ca.sparsify(ca.jacobian(column, y))
    L = ca.SX(*J.shape)
    constant: dict[int, list[int]] = {}
    for i, j in zip(*J.sparsity().get_triplet(), strict=True):
        if not ca.depends_on(J[i, j], varying):
            L[i, j] = J[i, j]
            constant.setdefault(i, []).append(j)
    rest = ca.SX(column)
    for i, entries in constant.items():
        # A row is affine in such an entry: without it, it is what is left at zero.
        rest[i] = ca.substitute(column[i], to_column(y[j] for j in entries), ca.SX.zeros(len(entries)))
    return L, ca.sparsify(rest) if rest.numel() else rest


def _phi(x: ca.SX) -> tuple[ca.SX, ca.SX]:
    """phi1 and phi2 of a decay, with 1 / (1 + x + x^2/2 + x^3/6 + x^4/24) for e^-x; of none they are known."""
    if x.is_zero():
        return ca.SX(1.0), ca.SX(0.5)
    # In pairs, as short a chain as possible.
    square = x * x
    inverse = 1.0 / ((1.0 + x) + square * ((1.0 / 2 + x / 6) + square / 24))
    phi1 = ((1.0 + x / 2) + square * (1.0 / 6 + x / 24)) * inverse
    phi2 = ((1.0 / 2 + x / 3) + square * (1.0 / 8 + x / 24)) * inverse
    return phi1, phi2


def _nominal_functions(system: System, L: ca.SX, n: int) -> dict[str, ca.Function]:
    """What the propagators are made of.

    march_nominal: q0, v0, then what is left of the forces and of the rates f on the nominal motion by the linear parts,
    L y0 - [M a0 + c(q0, v0), 0]. march_terms: M, dc/dq, dc/dv, L, column by column.
    """
    symbols, nominal, outputs = system.symbols, system.scenario.nominal, system.signal_expressions
    joints = [state.name.removesuffix(".position") for state in system.states[:n]]
    q0 = to_column(outputs[nominal[j]] if j in nominal else ca.SX(0) for j in joints)
    v0 = ca.densify(ca.jacobian(q0, symbols.t))
    a0 = ca.jacobian(v0, symbols.t)
    M, c, q, v = system.mass_matrix, system.bias, system.q, system.v
    needed = M @ a0 + ca.substitute(c, ca.vertcat(q, v), ca.vertcat(q0, v0))
    linear = L[:, : 2 * n] @ ca.vertcat(q0, v0)
    left = linear - ca.vertcat(needed, ca.SX.zeros(L.shape[0] - n))
    parts = [ca.densify(part) for part in (M, ca.jacobian(c, q), ca.jacobian(c, v), L)]
    terms = to_column(ca.reshape(part, -1, 1) for part in parts)
    return {
        NOMINAL: ca.Function(NOMINAL, [*symbols], [ca.densify(ca.vertcat(q0, v0, left))]),
        TERMS: ca.Function(TERMS, [*symbols], [ca.densify(terms)]),
    }


BESIDE = 1e-10
"""Part of the duration before the end of a piece, where it is evaluated; beside a break, too."""
JUMP = 1e-6
"""Change of a nominal position or velocity at a break [rad, m, their rates] that is none: so much it may move there."""
UNSTABLE = 1.001
"""Growth of disturbances in a step, beside that of the linear equations, that is not rounding; own choice."""
GROUP = 32
"""Steps with one propagator: it hardly changes from step to step, and acts on deviations alone; own choice."""
WATCH = 32
"""Steps between two looks at what runs watch of themselves, apart from limits of joints; own choice."""
TAYLOR = 14
"""Terms of the exponential of a matrix of norm 1/2: the next is below 1e-17."""


@frozen(eq=False)
class MarchTables:
    """What the engine's structure `March` is filled with, see engine.h; reason: why there is nothing."""

    fields: Mapping[str, Any]
    reason: str = ""


def make_tables(
    compiled: CompiledSystem,
    p: Array,
    numbers: Mapping[str, Any],
    start: Start,
    end: float,
    recording: EngineRecording,
    solver: Solver,
) -> MarchTables:
    """The tables of runs from a start up to a time whose fixed parameters are those in p."""
    plan, system, kernels = compiled.propagation, compiled.system, compiled.module.kernels
    if not plan:
        return MarchTables({}, plan.reason)
    if choose_step(system, solver) != (plan.step, plan.per_tick):
        return MarchTables({}, f"they were compiled for steps of {1e3 * plan.step:.4g} ms")
    if recording.kind == "steps":
        return MarchTables({}, "points of every step are recorded, not rows at a rate or at times")
    begin = start.time
    n, n_y = system.n_v, plan.n_linear
    n_steps = int(np.floor((end - begin) / plan.step + 1e-9))
    instants = _step_times(compiled, begin, n_steps)
    rows = _find_rows(recording, instants, plan.step)
    if rows is None:
        return MarchTables({}, "rows are asked for between the ends of steps")
    if n_steps == 0:
        return MarchTables({}, "the run is shorter than a step")
    middles = 0.5 * (instants[:-1] + instants[1:])
    breaks = system.discrete.break_times(numbers, begin, end)

    def evaluate(name: str, times: Array) -> Array:
        return evaluate_at(kernels[name], times, p)

    # The nominal motion at the ends of steps, and what it leaves in their middles.
    y0 = np.zeros((n_steps + 1, n_y))
    y0[:, : 2 * n] = evaluate(NOMINAL, instants)[:, : 2 * n]
    left = evaluate(NOMINAL, middles)[:, 2 * n :]
    for time in breaks:
        before, after = evaluate(NOMINAL, time + BESIDE * (end - begin) * np.array([-1.0, 1.0]))[:, : 2 * n]
        if np.max(np.abs(after - before)) > JUMP * max(1.0, np.max(np.abs(after))):
            return MarchTables({}, f"the nominal motion jumps at {time:g} s")
    for k in np.unique(np.searchsorted(instants, breaks, side="right") - 1):
        # A step with a break inside: the mean over its parts.
        if 0 <= k < n_steps:
            inside = [time for time in breaks if instants[k] < time < instants[k + 1]]
            ends = np.array([instants[k], *inside, instants[k + 1]])
            parts = evaluate(NOMINAL, 0.5 * (ends[:-1] + ends[1:]))[:, 2 * n :]
            left[k] = np.diff(ends) @ parts / (ends[-1] - ends[0])

    # Propagators at both ends of each piece; where nothing breaks, an end is the next beginning.
    width = compiled.module.width
    knots = compiled.module.data[HEADER:].reshape(-1, width)[:, 0]
    piece_ends = np.append(knots[1:], system.scenario.duration)
    starts = evaluate(TERMS, knots)
    stops = evaluate(TERMS, piece_ends - BESIDE * system.scenario.duration)
    apart = np.ones(len(knots), bool)
    scale = np.max(np.abs(starts), axis=0) + 1e-300
    apart[:-1] = np.max(np.abs(stops[:-1] - starts[1:]) / scale, axis=1) > 1e-6
    Phi, G = propagate_matrices(np.concatenate([starts, stops[apart]]), n, plan.n_other, plan.step)
    following = np.empty(len(knots), int)
    following[~apart] = np.flatnonzero(~apart) + 1
    following[apart] = len(knots) + np.arange(np.count_nonzero(apart))

    # Of each group of steps: the piece that it is on, and how far along it; of each step its affine column.
    groups = -(-n_steps // GROUP)
    centres = instants[np.minimum(GROUP * np.arange(groups) + GROUP // 2, n_steps)]
    knot = np.clip(np.searchsorted(knots, centres, side="right") - 1, 0, len(knots) - 1)
    weight = np.clip((centres - knots[knot]) / (piece_ends - knots)[knot], 0.0, 1.0)
    knots_of_steps, weights = (np.repeat(each, GROUP)[:n_steps] for each in (knot, weight))
    affine = np.zeros((n_steps, padded(n_y)))
    affine[:, :n_y] = y0[1:]
    firsts = np.searchsorted(knots_of_steps, np.arange(len(knots) + 1))
    for k in range(len(knots)):
        steps = slice(firsts[k], firsts[k + 1])
        for end_of_piece, part in ((k, 1.0 - weights[steps]), (following[k], weights[steps])):
            moved = left[steps] @ G[end_of_piece].T - y0[:-1][steps] @ Phi[end_of_piece].T
            affine[steps, :n_y] += part[:, None] * moved
    inputs = list(plan.inputs)
    fastest = int(np.argmax(np.sum(y0[:, n : 2 * n] ** 2, axis=1)))
    for y in (np.array(start.x)[: 2 * n], y0[fastest, : 2 * n]):
        growth = _find_growth(compiled, p, start, y, np.concatenate([Phi[0], G[0][:, inputs]], axis=1))
        if not growth <= UNSTABLE * max(1.0, float(np.max(np.abs(np.linalg.eigvals(Phi[0]))))):
            what = f"steps of {1e3 * plan.step:.4g} ms are too long for forces that are not linear"
            return MarchTables({}, f"{what}: disturbances would grow by {growth:.3g} in each")
    values = _pad_columns(np.concatenate([Phi, G[:, :, inputs]], axis=2), count_columns(n_y, plan.n_inputs))
    slopes = values[following] - values[: len(knots)]
    pairs = np.stack([values[: len(knots)], slopes], axis=1)

    propagate, interpolate = propagation_addresses(n_y, plan.n_inputs, 1)
    fields = {
        "n_linear": n_y,
        "n_work": plan.n_work,
        "n_steps": n_steps,
        "per_tick": plan.per_tick,
        "group": GROUP,
        "watch": WATCH,
        "begin": begin,
        "step": plan.step,
        "place": np.array(plan.place, np.int64),
        "first_before": n_y + plan.n_inputs,
        "n_before": len(plan.before),
        "before": np.array(plan.before, np.int64),
        "n_fixed": len(plan.fixed),
        "fixed": np.array(plan.fixed, np.int64),
        "fixed_values": p[list(plan.fixed)],
        "knot": knot.astype(np.int64),
        "weight": weight,
        "affine": affine,
        "affine_width": affine.shape[1],
        "pairs": np.ascontiguousarray(pairs),
        "pair_width": pairs[0].size,
        "propagate": propagate,
        "interpolate": interpolate,
        "row_step": rows,
        **_timetables(compiled, evaluate, instants, middles, recording),
    }
    return MarchTables(fields)


def _find_growth(compiled: CompiledSystem, p: Array, start: Start, y: Array, A: Array) -> float:
    """By how much small disturbances grow in a step from some positions and velocities: the spectral radius of its
    derivative, by differences."""
    plan, kernel = compiled.propagation, compiled.module.kernels[REST]
    n_y, scale = plan.n_linear, np.array([state.nominal for state in compiled.system.states])
    place = np.array(plan.place)
    work, sizes = np.zeros(plan.n_work), np.full(plan.n_work, 1e-6)
    work[place], sizes[place] = start.x, 1e-6 * scale
    work[: len(y)] = y
    before = slice(n_y + plan.n_inputs, n_y + plan.n_inputs + len(plan.before))
    work[before], sizes[before] = work[list(plan.before)], sizes[list(plan.before)]
    row = evaluate_at(compiled.module.kernels[REST + SUFFIX], np.array([start.time]), p)[0]

    def take_step(s: Array) -> Array:
        after = kernel(row, s, np.zeros(0), np.array(start.m, float), p[: kernel.in_sizes[4]])
        return np.concatenate([A @ np.concatenate([s[:n_y], after[: plan.n_inputs]]), after])

    # Inputs are found anew in each step.
    states = [k for k in range(plan.n_work) if not n_y <= k < n_y + plan.n_inputs]
    base, columns = take_step(work), []
    for k in states:
        moved = work.copy()
        moved[k] += sizes[k]
        columns.append((take_step(moved) - base)[states] / sizes[k])
    return float(np.max(np.abs(np.linalg.eigvals(np.array(columns)))))


def evaluate_at(kernel: Kernel, times: Array, p: Array) -> Array:
    """What a function of time and parameters gives at some times, a row each."""
    times = np.ascontiguousarray(times, float)
    rows, nothing = np.empty((len(times), kernel.out_sizes[0])), np.zeros(max(kernel.in_sizes[1:4]) + 1)
    inputs = [times.ctypes.data, 8, *[nothing.ctypes.data, 0] * 3, p.ctypes.data, 0]
    if rows.size:
        row_loop(6)(kernel.address, len(times), *inputs, rows.ctypes.data, rows.strides[0])
    return rows


def _step_times(compiled: CompiledSystem, begin: float, n_steps: int) -> Array:
    """Ends of all steps: ticks from whole numbers, as the engine has them."""
    plan, base = compiled.propagation, compiled.system.discrete.base_period
    steps = np.arange(n_steps + 1)
    if not plan.per_tick or base is None:
        return begin + steps * plan.step
    ticks, within = np.divmod(steps, plan.per_tick)
    return begin + (ticks * base.numerator) / base.denominator + within * plan.step


def _find_rows(recording: EngineRecording, instants: Array, step: float) -> Array | None:
    """Number of the step at whose beginning each row is; None where one is between two."""
    times = np.zeros(0) if recording.times is None else np.asarray(recording.times)
    steps = np.rint((times - instants[0]) / step).astype(np.int64)
    inside = steps < len(instants)
    at = instants[np.minimum(steps, len(instants) - 1)]
    # The end of the run is no beginning of a step: its row is for the engine to keep.
    if np.any(np.abs(times - at)[inside] > 1e-9 * step):
        late = inside & (np.abs(times - at) > 1e-9 * step) & (times < instants[-1])
        if late.any():
            return None
    return steps


def _timetables(compiled: CompiledSystem, evaluate: Any, instants: Any, middles: Any, recording: Any) -> dict[str, Any]:
    """Rows of what depends on time alone: of the rest at the middles of steps, of tasks at their ticks, of outputs."""
    kernels, plan = compiled.module.kernels, compiled.propagation
    at = compiled.address
    tables: dict[str, Any] = {"rest": at(REST), "rest_rows": evaluate(REST + SUFFIX, middles)}
    tables["rest_width"] = tables["rest_rows"].shape[1]
    times = np.zeros(0) if recording.times is None else np.asarray(recording.times, float)
    seen = {"outputs": times, "within": instants, "watched": instants[::WATCH]}
    for name in (name for name in seen if MARCH + name in kernels):
        rows = evaluate(MARCH + name + SUFFIX, seen[name])
        tables |= {name: at(MARCH + name), f"{name}_rows": rows, f"{name}_width": rows.shape[1]}
    tasks, widths, places = [], [], []
    for tick in compiled.ticks:
        name = f"{MARCH}{tick.function}"
        apart = min(tick.period * plan.per_tick, len(instants))
        due = instants[tick.offset * plan.per_tick :: apart] if plan.per_tick else instants[:0]
        places.append(evaluate(name + SUFFIX, due))
        tasks.append(at(name))
        widths.append(places[-1].shape[1])
    tables["task"] = np.array(tasks, np.int64)
    tables["task_width"] = np.array(widths, np.int64)
    tables["task_rows"] = np.array([table.ctypes.data for table in places], np.int64)
    tables["kept"] = places
    return tables


def propagate_matrices(terms: Array, n: int, n_other: int, step: float) -> tuple[Array, Array]:
    """Phi and G of M, c_q, c_v and L, each row of terms one of them behind the other, column by column."""
    count, n_y = len(terms), 2 * n + n_other
    sizes = [(n, n), (n, n), (n, n), (n + n_other, n_y)]
    cuts = np.cumsum([rows * columns for rows, columns in sizes])[:-1]
    parts = zip(np.split(terms, cuts, axis=1), sizes, strict=True)
    M, c_q, c_v, L = (part.reshape(count, size[1], size[0]).transpose(0, 2, 1) for part, size in parts)
    forces = L[:, :n].copy()
    forces[:, :, :n] -= c_q
    forces[:, :, n : 2 * n] -= c_v
    A, B = np.zeros((count, n_y, n_y)), np.zeros((count, n_y, n + n_other))
    A[:, :n, n : 2 * n] = np.eye(n)
    A[:, n : 2 * n] = np.linalg.solve(M, forces)
    A[:, 2 * n :] = L[:, n:]
    B[:, n : 2 * n, :n] = np.linalg.inv(M)
    B[:, 2 * n :, n:] = np.eye(n_other)
    scale = _balance(np.max(np.abs(A), axis=0))
    X = A * step * (scale[None, None, :] / scale[None, :, None])
    size = np.max(np.sum(np.abs(X), axis=1))
    halvings = max(0, int(np.ceil(np.log2(max(size, 1e-300) / 0.5))))
    X = X / 2.0**halvings
    one = np.eye(n_y)
    # phi1 = 1 + X/2 (1 + X/3 (1 + ...))
    phi = np.broadcast_to(one, X.shape)
    for k in range(TAYLOR, 1, -1):
        phi = one + X @ phi / k
    Phi = one + X @ phi
    for _ in range(halvings):
        phi = 0.5 * phi @ (one + Phi)
        Phi = Phi @ Phi
    back = scale[None, :, None] / scale[None, None, :]
    return Phi * back, step * (phi * back) @ B


def _balance(A: Array) -> Array:
    """Units of the states, powers of two, in which rows and columns of a matrix are about as large as each other: they
    are not to decide how often the step is halved (Osborne 1960)."""
    A, scale = A.copy(), np.ones(len(A))
    np.fill_diagonal(A, 0.0)
    for _ in range(6):
        for k in range(len(A)):
            row, column = np.sum(A[k]), np.sum(A[:, k])
            if row > 0 and column > 0:
                factor = 2.0 ** np.rint(0.5 * np.log2(row / column))
                A[:, k] *= factor
                A[k] /= factor
                scale[k] *= factor
    return scale


def _pad_columns(matrices: Array, columns: int) -> Array:
    """Matrices column by column, as `native.propagation` reads them: filled up with zeros."""
    count, rows, width = matrices.shape
    filled = np.zeros((count, columns, padded(rows)))
    filled[:, :width, :rows] = matrices.transpose(0, 2, 1)
    return filled
