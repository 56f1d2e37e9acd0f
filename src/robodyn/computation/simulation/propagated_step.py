"""Exponential step of linear mechanics: how does a robot near its nominal motion take a step by propagators?

    M(t) a + c(t, q, v) = tau(t, x, m),   q_dot = v,   z_dot = f(t, x, m)        c affine in q and v

The states are of three kinds:

    y = [q, v, z]     z: states whose rates are affine in y with constant coefficients, such as currents of motors
    relaxing          their own rate is affine in themselves alone, such as the bristles of friction
    book-keeping      nothing depends on them

What of tau and f is affine in y with constant coefficients is part of the matrix A of y_dot = A(t) y + B(t) u + b(t).
The rest u - friction, voltages that sampled loops hold - is evaluated once a step, at its middle, where y is
extrapolated from the last step. In between A, u and b stand still, and the step is exact:

    y1 = exp(A h) y0 + int exp(A s) ds (B u + b)

So is that of a relaxing state, z_dot = alpha - beta z with alpha and beta of the middle, and its mean is what u sees:

    z1 = z0 + h phi1(beta h) (alpha - beta z0),    mean = z0 + h phi2(beta h) (alpha - beta z0)
    phi1(x) = (1 - e^-x) / x,   phi2(x) = (1 - phi1) / x

The propagators are the same for all robots that differ in friction, gains or sampled loops: see `propagators`.
A working vector holds [y, u, y before (what u depends on), relaxing and book-keeping states].
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import casadi as ca

from robodyn.computation.assembly.functions import INPUTS
from robodyn.computation.assembly.system import System
from robodyn.computation.native import read_program
from robodyn.computation.simulation.step_equations import find_rates
from robodyn.description.model import Solver

REST, NOMINAL, TERMS = "march_rest", "march_nominal", "march_terms"
MARCH = "march_"
"""Before the names of outputs, of what is watched, and of sampled tasks, as functions of the working vector."""
SMALL = 1e-3
"""beta h below which phi1 and phi2 are sums: three terms are then exact to 1e-10, as the quotients are above it."""


NOT_LINEAR = "its mechanics are not linear"
"""Why runs that are not near a nominal motion have no propagators."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class PropagatedStep:
    """The functions of a step: of [t, working vector, d, m, p], and of [t, x, d, m, p] what propagators are made of."""

    propagation: Propagation
    work: ca.SX
    functions: Mapping[str, ca.Function]

    def of_work(self, system: System, function: ca.Function) -> ca.Function:
        """A function of the states as one of the working vector."""
        symbols = system.symbols
        x = ca.vertcat(ca.SX(0, 1), *(self.work[k] for k in self.propagation.place))
        outputs = function.call([symbols.t, x, symbols.d, symbols.m, symbols.p])
        columns = [*symbols._replace(x=self.work)]
        return ca.Function(f"march_{function.name()}", columns, [ca.densify(output) for output in outputs])


def trace_propagated_step(system: System, solver: Solver) -> PropagatedStep:
    """The step of a system, or why it cannot be taken."""
    reason = _find_obstacle(system, solver)
    others, relaxing = ([], []) if reason else _sort_states(system)
    reason = reason or _find_entangled(system, relaxing)
    if reason:
        return PropagatedStep(Propagation(reason=reason), ca.SX(0, 1), {})
    symbols, rates, n = system.symbols, find_rates(system), system.n_v
    f = ca.vertcat(rates.z_dot, rates.book)
    y = _gather(symbols.x, [*range(2 * n), *others])

    # The parts of tau and f that are affine in y with constant coefficients, and the rest.
    column = ca.vertcat(rates.tau, _gather(f, [k - 2 * n for k in others]))
    L, rest = _split_linear(column, y, ca.vertcat(symbols.t, symbols.x, symbols.m))
    inputs = tuple(i for i in range(column.numel()) if not rest[i].is_zero())
    read = ca.vertcat(rest, _gather(f, [k - 2 * n for k in relaxing]))
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
        own, start = symbols.x[k], work[place[k]]
        beta = -ca.jacobian(f[k - 2 * n], own)
        rate, decay = ca.substitute([f[k - 2 * n], step * beta], [y, own], [middle, start])
        phi1, phi2 = _phi(decay)
        ends.append(start + step * phi1 * rate)
        means.append(start + step * phi2 * rate)
    states = [y, _gather(symbols.x, relaxing)]
    values = [middle, ca.vertcat(ca.SX(0, 1), *means)]
    u, after = ca.substitute([_gather(rest, inputs), ca.vertcat(ca.SX(0, 1), *ends)], states, values)
    whole = ca.vertcat(u, _gather(work, before), after)

    functions = {REST: ca.Function(REST, [*symbols._replace(x=work)], [ca.densify(whole)])}
    functions |= _nominal_functions(system, L, n)
    nodes = [node for name in (NOMINAL, TERMS) for node in read_program(functions[name]).nodes]
    parameters = INPUTS.index("p")
    fixed = sorted({node[2] for node in nodes if node[0] == "input" and node[1] == parameters})
    sizes = n_y, n_u, work.numel(), len(others), inputs, before
    places = tuple(place[k] for k in range(len(system.states)))
    return PropagatedStep(Propagation(places, *sizes, step, per_tick, tuple(fixed)), work, functions)


def _gather(column: ca.SX, places: Iterable[int]) -> ca.SX:
    """Some entries of a column."""
    return ca.vertcat(ca.SX(0, 1), *(column[k] for k in places))


def _sort_states(system: System) -> tuple[list[int], list[int]]:
    """Places of the other states that are part of y, and of those that are not, book-keeping ones last."""
    symbols, n = system.symbols, 2 * system.n_v
    f = system.expressions.rhs
    varying = ca.vertcat(symbols.t, symbols.x, symbols.m)
    others = list(range(n, len(system.states) - system.n_quadratures))
    while True:
        y = _gather(symbols.x, [*range(n), *others])
        # One that leaves makes those that read it no less linear: to them it is an input.
        left = [k for k in others if ca.depends_on(ca.jacobian(f[k], y), varying)]
        if not left:
            return others, [k for k in range(n, len(system.states)) if k not in others]
        others = [k for k in others if k not in left]


def _find_entangled(system: System, relaxing: list[int]) -> str:
    """A sentence of the first state that neither is part of y nor relaxes by itself; empty where there is none."""
    x, f = system.symbols.x, system.expressions.rhs
    for k in relaxing[: len(relaxing) - system.n_quadratures]:
        others = _gather(x, [i for i in relaxing if i != k])
        by_itself = not ca.depends_on(ca.jacobian(f[k], x[k]), x[k])
        if not by_itself or (others.numel() and ca.depends_on(f[k], others)):
            return f"the rate of {system.states[k].name} is linear neither in all states nor in itself alone"
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
        rest[i] = ca.substitute(column[i], ca.vertcat(*(y[j] for j in entries)), ca.SX.zeros(len(entries)))
    return L, ca.sparsify(rest) if rest.numel() else rest


def _phi(x: ca.SX) -> tuple[ca.SX, ca.SX]:
    """phi1 and phi2 of a decay; that of a state that does not decay is known."""
    if x.is_zero():
        return ca.SX(1.0), ca.SX(0.5)
    is_small = ca.fabs(x) < SMALL
    inverse = 1.0 / ca.if_else(is_small, 1.0, x)
    phi1 = (1.0 - ca.exp(-x)) * inverse
    first, second = 1.0 - x * (0.5 - x / 6.0), 0.5 - x * (1.0 / 6.0 - x / 24.0)
    return ca.if_else(is_small, first, phi1), ca.if_else(is_small, second, (1.0 - phi1) * inverse)


def _nominal_functions(system: System, L: ca.SX, n: int) -> dict[str, ca.Function]:
    """What the propagators are made of.

    march_nominal: q0, v0, then what is left of the forces and of the rates f on the nominal motion by the linear parts,
    L y0 - [M a0 + c(q0, v0), 0]. march_terms: M, dc/dq, dc/dv, L, column by column.
    """
    symbols, signals = system.symbols, dict(zip(system.signal_names, range(len(system.signals)), strict=True))
    nominal, outputs = system.scenario.nominal, system.expressions.outputs
    joints = [state.name.removesuffix(".position") for state in system.states[:n]]
    q0 = ca.vertcat(*(outputs[signals[nominal[j]]] if j in nominal else ca.SX(0) for j in joints))
    v0 = ca.densify(ca.jacobian(q0, symbols.t))
    a0 = ca.jacobian(v0, symbols.t)
    M, c, q, v = system.mass_matrix, system.bias, system.q, system.v
    needed = M @ a0 + ca.substitute(c, ca.vertcat(q, v), ca.vertcat(q0, v0))
    linear = L[:, : 2 * n] @ ca.vertcat(q0, v0)
    left = linear - ca.vertcat(needed, ca.SX.zeros(L.shape[0] - n))
    parts = [ca.densify(part) for part in (M, ca.jacobian(c, q), ca.jacobian(c, v), L)]
    terms = ca.vertcat(*(ca.reshape(part, -1, 1) for part in parts))
    return {
        NOMINAL: ca.Function(NOMINAL, [*symbols], [ca.densify(ca.vertcat(q0, v0, left))]),
        TERMS: ca.Function(TERMS, [*symbols], [ca.densify(terms)]),
    }
