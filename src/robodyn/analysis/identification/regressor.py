"""Regressor of inverse dynamics: which combinations of masses, inertias, friction and stiffness show?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, cast

import casadi as ca
import numpy as np

from robodyn.base import Array, FlawList, ModelError, frozen, refuse
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.constraints.redundancy import close
from robodyn.computation.assembly.control.models import friction_laws
from robodyn.computation.assembly.values import collect_values
from robodyn.computation.engine.pack import MOST_ENTRIES, ManyCall
from robodyn.computation.native import LaneModule, Options, compile_kernels, compile_lanes
from robodyn.description.model import Block, Body, LinearCombination, PrescribedMotion, Scenario
from robodyn.description.model.block import JointBlock
from robodyn.description.model.body import TENSOR, tensor_of

# --------------------------------------------------------------------------------------------------
# Constraints in a regression: how do all joints follow those that are independent, and which forces are left?
#
# Symbols: u independent, w dependent joints, h(q) = 0 the constraints, K = h_q = [K_u K_w], lam their forces.
#
#     v_w = T v_u,  T = -K_w^-1 K_u,    K_w a_w = -K_u a_u - K' v
#     [1 T^T] (Y theta + tau_0) = [1 T^T] tau
#
# Forces of constraints do no work along [1; T], so that they vanish from the equations of the independent joints
# (d'Alembert): loops, coupled gears and joints that follow others need no measured reaction, and no position but those
# of the independent joints, from which the others are found by Newton's method.


INDEPENDENT = 1e-8
"""Part of a gradient, by its size, that is its own."""
STAGES = 16
"""Straight pieces from the start to a position, in which Newton's method follows the dependent joints."""
NEWTON = 4
"""Steps of it in each: quadratic convergence from within a sixteenth of the way."""
CLOSED = 1e-9


@frozen(eq=False)
class Closure:
    """How all joints of a machine follow its independent ones.

    Attributes:
        own, others: places of independent and dependent joints; rows: equations that do not follow from others.
        start: a position in which all equations are met.
        equations: of q, (n_rows,); gradients: K_w and K_u by q; drift: K' v by q and v.
    """

    own: tuple[int, ...]
    others: tuple[int, ...]
    start: Array
    q: ca.SX
    v: ca.SX
    equations: ca.SX
    by_own: ca.SX
    by_others: ca.SX
    drift: ca.SX

    @property
    def follow(self) -> ca.SX:
        """T by q."""
        return -ca.solve(self.by_others, self.by_own)

    def project(self, a: ca.SX, columns: list[ca.SX]) -> tuple[list[ca.SX], list[ca.SX]]:
        """Rows of the independent joints, and the symbols (q, v_u, a_u) that they are functions of.

        Args:
            columns: matrices with a row for each joint, by q, v and a.
        """
        T = self.follow
        v_own, a_own = ca.SX.sym("v", len(self.own)), ca.SX.sym("a", len(self.own))
        v = self._spread(v_own, T @ v_own)
        drift = ca.substitute(self.drift, self.v, v)
        a_others = -ca.solve(self.by_others, self.by_own @ a_own + drift)
        rows = [column[list(self.own), :] + T.T @ column[list(self.others), :] for column in columns]
        moving = [ca.vertcat(self.v, a), ca.vertcat(v, self._spread(a_own, a_others))]
        return ca.substitute(rows, [moving[0]], [moving[1]]), [self.q, v_own, a_own]

    def _spread(self, own: ca.SX, others: ca.SX) -> ca.SX:
        whole = ca.SX.zeros(len(self.own) + len(self.others))
        for places, values in ((self.own, own), (self.others, others)):
            for i, k in enumerate(places):
                whole[k] = values[i]
        return whole

    def gradient_of(self, gradient: ca.SX) -> ca.SX:
        """A gradient by all joints as one by the independent ones, a row."""
        return gradient[:, list(self.own)] + gradient[:, list(self.others)] @ self.follow

    def lever(self, row: Array) -> Array | None:
        """A constant gradient by all joints as one by the independent ones; None where that changes on the way."""
        if not np.any(row[list(self.others)]):
            return row[list(self.own)]
        reduced = ca.cse(ca.simplify(self.gradient_of(ca.SX(row[None]))))
        return np.array(ca.DM(ca.densify(reduced))).ravel() if reduced.is_constant() else None

    def complete(self, u: Array) -> Array:
        """Positions of all joints from those of the independent ones, (n_times, n).

        Raises:
            ModelError: where the equations cannot be met.
        """
        q = np.tile(self.start, (len(u), 1))
        begin = self.start[list(self.own)]
        k = len(self.others)
        for stage in range(1, STAGES + 1):
            q[:, list(self.own)] = begin + (u - begin) * stage / STAGES
            for _ in range(NEWTON):
                h, slopes = self._newton.call_rows(q)
                q[:, list(self.others)] -= _solve(slopes.reshape(-1, k, k).transpose(0, 2, 1), h)
        left = np.abs(self._newton.call_rows(q)[0]).max(axis=1, initial=0.0)
        open_rows = np.flatnonzero(~(left < CLOSED))
        if open_rows.size:
            names = [self.q[k].name() for k in self.own]
            where = ", ".join(f"{n} = {x:.4g}" for n, x in zip(names, u[open_rows[0]], strict=True))
            what = f"cannot be met at {where} and {open_rows.size - 1} more positions"
            remedy = "look at signs, offsets and units of the positions, and at the scenario's start position"
            refuse("constraints", what, remedy, "identification")
        return q

    @cached_property
    def _newton(self) -> Any:
        columns = [ca.densify(self.equations), ca.densify(ca.vec(self.by_others))]
        return compile_kernels({"newton": ca.Function("newton", [self.q], columns)}, None).kernels["newton"]


def _solve(slopes: Array, h: Array) -> Array:
    """Steps of all rows; a singular one is none."""
    regular = np.abs(np.linalg.det(slopes)) > 0
    steps = np.zeros_like(h)
    steps[regular] = np.linalg.solve(slopes[regular], h[regular][:, :, None])[:, :, 0]
    return steps


def find_closure(system: System, driven: Collection[str], guess: Array) -> Closure | None:
    """How joints follow the independent ones; None without constraints.

    Args:
        system: the mechanism alone; driven: joints that are to be independent where they can be.
        guess: a position of all joints near one that meets the constraints.
    """
    count = len(system.motion.constraint_forces)
    if not count:
        return None
    numbers = ca.vertcat(system.symbols.p, system.symbols.m)
    values = ca.SX([n.value for n in system.parameters] + [info.start for info in system.memory])
    h, h_dot = ca.substitute(
        [system.expressions.constraints[:count], system.expressions.constraints[count:]], [numbers], [values]
    )
    q, v = system.q, system.v
    K = ca.jacobian(h_dot, v)
    both = ca.Function("constraints", [q], [ca.densify(h), ca.densify(ca.jacobian(h, q)), ca.densify(K)])

    def evaluate(at: Array) -> tuple[Array, Array, Array]:
        h, by_positions, gradients = (np.array(part) for part in both(at))
        return h.ravel(), by_positions, gradients

    start, left = close(evaluate, guess)
    # Refuse equations of velocities alone, of time, and such that the start does not meet.
    remedy = "fit its numbers by simulation instead: robodyn fit"
    if any(h[row].is_zero() for row in range(h.numel())):
        refuse("constraints", "hold velocities alone (wheels)", remedy, "identification")
    if any(ca.which_depends(h, system.symbols.t, 1, False)):
        refuse("constraints", "depend on time (prescribed motions)", remedy, "identification")
    if not left < 1e-6:
        what, near = f"are not met at the start: {left:.2g} is left", "give a start position that is near to closed"
        refuse("constraints", what, near, "identification")
    at = np.array(both(start)[2])
    rows = _independent(at.T, range(count))
    names = [symbol.name().removesuffix(".position") for symbol in ca.vertsplit(q)]
    order = sorted(range(len(names)), key=lambda k: (names[k] in driven, -k))
    others = sorted(_independent(at[rows], order))
    own = [k for k in range(len(names)) if k not in others]
    drift = ca.jtimes(h_dot[rows], q, v)
    return Closure(tuple(own), tuple(others), start, q, v, h[rows], K[rows, own], K[rows, others], drift)


def _independent(columns: Array, order: Collection[int]) -> list[int]:
    """Columns, taken in an order, that do not follow from those before them."""
    return [k for k, part in own_parts(columns, order, INDEPENDENT, INDEPENDENT).items() if part > INDEPENDENT]


def own_parts(columns: Array, order: Collection[int], none: float, dependent: float) -> dict[int, float]:
    """The share of each column, in an order, that those kept before it do not give: Gram-Schmidt, done twice.

    Args:
        none: size of a column, by the largest, that is left out; dependent: share up to which one is not kept.
    """
    found: dict[int, float] = {}
    basis = np.zeros((columns.shape[0], 0))
    sizes = np.linalg.norm(columns, axis=0)
    for k in (k for k in order if sizes[k] > none * sizes.max()):
        own = columns[:, k] / sizes[k]
        for _ in range(2):
            own = own - basis @ (basis.T @ own)
        found[k] = float(np.linalg.norm(own))
        if found[k] > dependent:
            basis = np.column_stack([basis, own / found[k]])
    return found


# --------------------------------------------------------------------------------------------------
# Regressor of inverse dynamics: which combinations of masses, inertias, friction and stiffness show?


# --------------------------------------------------------------------------------------------------
# Parameters of inverse dynamics: in which numbers of a machine are its joint forces linear?
#
# Of a body they are mass m, first moments h = m c and the inertia L about the origin of its frame,
#
#     L = I + m (c.c 1 - c c^T)
#
# of a rotor its inertia, of a law those of its numbers by which its force has no second derivative.


MOMENTS = ("hx", "hy", "hz")
OF_BODY = ("mass", *MOMENTS, *(f"L{key}" for key in TENSOR))
"""What a body's ten parameters are called behind its name."""
NON_NEGATIVE = ("mass", "Lxx", "Lyy", "Lzz")
UNITS = ("kg", *("kg m",) * 3, *("kg m^2",) * 6)
TESTS = 8
LINEAR = 1e-9
"""Second derivative, by the first one's size, that is none."""


@frozen
class Parameter:
    """One number in which joint forces are linear.

    Attributes:
        given: its value by the scenario; number: the scenario's own number where it is one, "" for a body's parameters.
        non_negative: whether a negative value could not be.
        wave: number of the phase where this is the cosine or the sine part of a wave, and which of both.
    """

    name: str
    unit: str
    given: float
    number: str = ""
    body: str = ""
    non_negative: bool = False
    wave: tuple[str, int] | None = None


def body_parameters(body: Body) -> list[Parameter]:
    """The ten of one body."""
    # (m, h, L) of mass, centre of mass and inertia about it, (10,).
    com = np.array(body.com)
    about_origin = tensor_of(body.inertia) + body.mass * (com @ com * np.eye(3) - np.outer(com, com))
    values = np.concatenate([[body.mass], body.mass * com, entries_of(about_origin)])
    return [
        Parameter(f"{body.name}.{key}", unit, float(value), body=body.name, non_negative=key in NON_NEGATIVE)
        for key, unit, value in zip(OF_BODY, UNITS, values, strict=True)
    ]


def entries_of(tensor: Array) -> Array:
    """xx, yy, zz, xy, xz, yz."""
    return np.array([tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]])


def body_numbers(body: str, values: Array) -> dict[str, float]:
    """The scenario's numbers of a body from its ten parameters."""
    mass, h = float(values[0]), values[1:4]
    com = h / mass
    tensor = tensor_of(values[4:].tolist()) - mass * (com @ com * np.eye(3) - np.outer(com, com))
    found = {f"{body}.mass": mass} | {f"{body}.com.{axis}": float(c) for axis, c in zip("xyz", com, strict=True)}
    return found | {f"{body}.inertia.{key}": float(e) for key, e in zip(TENSOR, entries_of(tensor), strict=True)}


def linear_numbers(
    force: Any, symbols: Mapping[str, Any], given: Mapping[str, float], moving: Sequence[Any]
) -> list[str]:
    """Names of numbers by which a force is linear, all of them together; those without effect are left out.

    Looked at where they are somewhat off their values, at random motions.
    """
    names = list(symbols)
    if not names:
        return []
    p, rest = ca.vertcat(*symbols.values()), ca.vertcat(*moving)
    gradient = ca.jacobian(ca.SX(force), p)
    curvature = ca.Function("h", [p, rest], [gradient, ca.densify(ca.jacobian(gradient, p))])
    rng = np.random.default_rng(1)
    values = np.array([given[name] for name in names])
    bent, slopes = np.zeros((len(names), len(names))), np.zeros(len(names))
    for test in range(TESTS):
        at = values * rng.uniform(0.5, 1.5, len(names)) + 1e-3 * rng.random(len(names))
        # Slow motions too: the Stribeck effect is none else.
        slope, second = (np.array(part) for part in curvature(at, rng.normal(0, 10.0 ** -(test % 4), rest.numel())))
        slopes = np.maximum(slopes, np.abs(np.nan_to_num(slope).ravel()))
        bent = np.maximum(bent, np.abs(np.nan_to_num(second)) * np.maximum(np.abs(at), 1e-3))
    kept: list[int] = []
    effects = slopes * np.abs([given[name] or 1.0 for name in names])
    for k in range(len(names)):
        size = LINEAR * max(slopes[k], 1e-300)
        if effects[k] > LINEAR * effects.max() and bent[k, k] <= size and all(bent[k, j] <= size for j in kept):
            kept.append(k)
    return [names[k] for k in kept]


def massive_bodies(scenario: Scenario) -> list[Body]:
    """Bodies whose mass the scenario gives; massless ones stay so."""
    mechanism = scenario.machine.mechanism
    return [body for body in (mechanism.bodies if mechanism else ()) if isinstance(body, Body) and body.mass > 0]


# --------------------------------------------------------------------------------------------------
# Regressor of inverse dynamics: the matrix by which joint forces follow linearly from parameters, exact, any machine.
#
# Symbols: q, v, a positions, velocities, accelerations of the joints, f(s, s') forces of springs, dampers and friction
# on joints and coordinates s(q), theta the parameters of `parameters`.
#
#     tau = M(q) a + c(q, v) - loads - sum (ds/dq)^T f(s, s', u) = Y(q, v, a, u) theta + tau_0
#
# with u what laws read that was measured, such as a load or a temperature. The forces of constraints vanish from the
# rows of the independent joints: see `Closure`.
#
# M and c are traced once with the bodies' numbers as symbols, Y is their derivative: at c = 0 and m = 1 that by mass,
# centre of mass and inertia is that by m, h and L.


NOTHING = np.zeros(0)
LANES = 8
"""Rows that one call computes."""
COM = ("com.x", "com.y", "com.z")
NEAR_START = (0.5, 0.2, 0.05, 0.01)
"""How far from the start joints are moved at random where loops must close [rad or m]."""


@frozen(eq=False)
class Regressor:
    """tau = Y theta + tau_0 of a machine's joints.

    Attributes:
        joints: names in the order of tau, without those that constraints make follow others; forces: their units.
        function: (q, v, a, u) -> Y (n, n_theta), tau_0 (n,), by CasADi; q of all joints.
        inputs: measured signals u that laws depend on.
        rubbing: gradients of the joints and coordinates on which friction is, (n_places, n): its direction is theirs.
        closure: how the other joints follow, None without constraints.
        rates: speeds of these places by q and v, where `rubbing` is that of the start alone.
        offsets: how constant offsets of measured efforts, the last parameters, act on the joints, (n_offsets, n).
    """

    joints: tuple[str, ...]
    forces: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    function: ca.Function
    scenario: Scenario
    rubbing: Array
    offsets: Array = field(default_factory=lambda: np.zeros((0, 0)))
    closure: Closure | None = None
    rates: ca.Function | None = None
    inputs: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of the columns."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def given(self) -> Array:
        """theta of the scenario."""
        return np.array([parameter.given for parameter in self.parameters])

    def __call__(self, q: Array, v: Array, a: Array, u: Array | None = None) -> tuple[Array, Array]:
        """Y (n_times, n, n_theta) and tau_0 (n_times, n) along a motion, each (n_times, n), and measured inputs."""
        n, count = len(self.joints), len(self.parameters)
        u = np.zeros((len(q), len(self.inputs))) if u is None else u
        flat, fixed = self._compute(np.hstack([self.complete(q), v, a, u]))
        Y = flat.reshape(len(q), n, count)
        if len(self.offsets):
            Y[:, :, -len(self.offsets) :] = self.offsets.T
        return Y, fixed

    def complete(self, q: Array) -> Array:
        """Positions of all joints."""
        return self.closure.complete(q) if self.closure else q

    def speeds(self, q: Array, v: Array) -> Array:
        """The speeds of the places with friction, (n_times, n_places); nan where a position or velocity is."""
        if self.closure is None or self.rates is None:
            return np.asarray(v @ self.rubbing.T)
        found = np.full((len(v), len(self.rubbing)), np.nan)
        there = np.isfinite(np.hstack([q, v])).all(axis=1)
        if there.any() and found.size:
            found[there] = np.array(self.rates.map(int(there.sum()))(self.complete(q[there]).T, v[there].T)).T
        return found

    def draw_positions(self, rng: np.random.Generator, count: int) -> Array:
        """Random positions of the joints, near the start where loops do not let them go everywhere."""
        if self.closure is None:
            return rng.uniform(-3, 3, (count, len(self.joints)))
        middle = self.closure.start[list(self.closure.own)]
        for reach in NEAR_START:
            q = middle + rng.uniform(-reach, reach, (count, len(self.joints)))
            try:
                self.complete(q)
            except ModelError:
                continue
            return q
        refuse("constraints", "cannot be met near the start", "start elsewhere", "identification")

    def choose(self, places: Sequence[int]) -> Regressor:
        """This regressor with some of its parameters, in their order; code for the others is not even compiled."""
        own = len(self.parameters) - len(self.offsets)
        inner, outer = [k for k in places if k < own], [k - own for k in places if k >= own]
        motion = [ca.SX.sym(name, self.function.size1_in(k)) for k, name in enumerate(("q", "v", "a", "u"))]
        Y, fixed = self.function(*motion)
        function = ca.Function("regressor", motion, [Y[:, inner], fixed])
        parameters = tuple(self.parameters[k] for k in places)
        return replace(self, parameters=parameters, function=function, offsets=self.offsets[outer])

    def with_offsets(self, names: Sequence[str], units: Sequence[str], jacobians: Array) -> Regressor:
        """This regressor with an unknown constant in each measured effort, which acts on the joints by a row of
        jacobians."""
        own = [Parameter(f"{name}.effort_offset", unit, 0.0) for name, unit in zip(names, units, strict=True)]
        return replace(self, parameters=(*self.parameters, *own), offsets=jacobians)

    def _compute(self, rows: Array) -> tuple[Array, Array]:
        """Y, row after row, and tau_0 at rows [q, v, a, u]; columns of offsets are empty."""
        vectors, sizes = self._vectors
        if not vectors:
            return cast(tuple[Array, Array], self._kernel.call_rows(rows))
        found, nothing = [], np.zeros((1, 0))
        for name, size in zip(("regressor", "fixed"), sizes, strict=True):
            there = name in vectors.addresses
            found.append(np.empty((len(rows), size)) if there else np.zeros((len(rows), size)))
            if there:
                ManyCall(vectors, name, [rows, nothing, nothing, nothing, found[-1]], NOTHING)()
        return found[0], found[1]

    @cached_property
    def _kernel(self) -> Any:
        """Native code of one row."""
        state, flat, fixed = self._trace()
        function = ca.Function("regressor", [state], [flat, fixed])
        return compile_kernels({"regressor": function}, None).kernels["regressor"]

    @cached_property
    def _vectors(self) -> tuple[LaneModule | None, tuple[int, int]]:
        """Native code of several rows at once, and how many numbers a row gives; none where these are too many."""
        state, flat, fixed = self._trace()
        sizes = flat.numel(), fixed.numel()
        if max(sizes) > MOST_ENTRIES:
            return None, sizes
        inputs = [ca.SX.sym("t"), state, *(ca.SX.sym(name, 0) for name in "dmp")]
        columns = {"regressor": flat} | ({} if fixed.is_zero() else {"fixed": fixed})
        functions = {name: ca.Function(name, inputs, [column]) for name, column in columns.items()}
        options = Options(inexact=tuple(functions))
        return compile_lanes(functions, len(inputs) - 1, LANES, options), sizes

    def _trace(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """The symbols of a row, Y row after row, and tau_0."""
        n = len(self.joints)
        places = np.cumsum([0, *(self.function.size1_in(k) for k in range(4))]).tolist()
        state = ca.SX.sym("state", places[-1])
        Y, fixed = self.function(*ca.vertsplit(state, places))
        whole = ca.horzcat(Y, ca.SX(n, len(self.offsets)))
        return state, ca.densify(ca.vec(whole.T)), ca.densify(fixed)


def make_regressor(what: Scenario | System, bare: System | None = None) -> Regressor:
    """The regressor of a scenario's machine: bodies, rotors, springs, dampers and friction on it.

    Args:
        what: the scenario, or its system; bare: its mechanism alone, see `bare_system`, where that is there already.

    Raises:
        ModelError: for joints with more than one position, wheels and prescribed motions.
    """
    _check(what.scenario if isinstance(what, System) else what)
    whole = what if isinstance(what, System) else assemble(what)
    scenario = whole.scenario
    bodies = massive_bodies(scenario)
    system = bare or bare_system(scenario)
    numbers = {number.name: p for number, p in zip(system.parameters, ca.vertsplit(system.symbols.p), strict=True)}
    a = ca.SX.sym("a", system.n_v)
    tau = system.mass_matrix @ a + system.bias - system.motion.loads
    parameters: list[Parameter] = []
    reference: dict[str, float] = {}
    for body in bodies:
        names = [f"{body.name}.{key}" for key in ("mass", *COM, *(f"inertia.{key}" for key in TENSOR))]
        parameters += body_parameters(body)
        reference |= dict(zip(names, [1.0, *(0.0,) * 9], strict=True))
    rotors = [number for number in system.parameters if _is_rotor(scenario, number.name)]
    for number in rotors:
        parameters.append(Parameter(number.name, number.unit, number.value, number.name, non_negative=True))
        reference[number.name] = 0.0
    theta = ca.vertcat(*(numbers[name] for name in reference))
    Y = ca.jacobian(tau, theta)
    Y, fixed = ca.substitute([Y, tau - Y @ theta], [theta], [ca.SX(list(reference.values()))])
    inputs = {signal: ca.SX.sym(signal) for block in passive_blocks(scenario) for signal in _read(block).values()}
    laws, law_columns, law_fixed = _trace_laws(whole, system, inputs)
    Y, fixed = ca.horzcat(Y, law_columns), fixed + law_fixed
    return _finish(whole, system, (*parameters, *laws), a, inputs, Y, fixed)


def _finish(
    whole: System,
    system: System,
    parameters: tuple[Parameter, ...],
    a: ca.SX,
    inputs: Mapping[str, ca.SX],
    Y: ca.SX,
    fixed: ca.SX,
) -> Regressor:
    """The function of the motion alone: other numbers are those of the scenario."""
    scenario, start = whole.scenario, np.array([info.start for info in whole.states[: whole.n_q]])
    symbols = system.symbols
    others = ca.vertcat(symbols.p, symbols.m)
    numbers = ca.SX([n.value for n in system.parameters] + [info.start for info in system.memory])
    Y, fixed = ca.substitute([Y, fixed], [others], [numbers])
    closure = find_closure(system, _driven(scenario), start)
    motion = [system.q, system.v, a]
    places = dict.fromkeys(str(block.on) for block in passive_blocks(scenario) if block.info.disturbance)
    gradients = [ca.jacobian(system.motion.coordinates[place], system.q) for place in places]
    rates = None
    if closure:
        (Y, fixed), motion = closure.project(a, [Y, fixed])
        gradients = [closure.gradient_of(gradient) for gradient in gradients]
        rows = ca.vertcat(ca.SX(0, len(closure.own)), *gradients)
        rates = ca.Function("rates", motion[:2], [ca.densify(rows @ motion[1])])
        gradients = [ca.substitute(gradient, system.q, ca.SX(closure.start)) for gradient in gradients]
    u = ca.vertcat(ca.SX(0, 1), *inputs.values())
    function = ca.Function("regressor", [*motion, u], [ca.sparsify(ca.cse(Y)), fixed])
    mechanism = scenario.machine.mechanism
    assert mechanism is not None
    freedoms = [mechanism.freedoms[k] for k in (closure.own if closure else range(system.n_v))]
    units = tuple("N m" if freedom.unit == "rad" else "N" for freedom in freedoms)
    rubbing = np.array([np.array(ca.DM(ca.densify(g))).ravel() for g in gradients]).reshape(-1, len(freedoms))
    names = tuple(freedom.name for freedom in freedoms)
    return Regressor(
        names, units, parameters, function, scenario, rubbing, closure=closure, rates=rates, inputs=tuple(inputs)
    )


def _driven(scenario: Scenario) -> set[str]:
    """Joints that drives act on, by themselves or through coupled gears."""
    passive = {block.name for block in passive_blocks(scenario)}
    places = {str(block.on) for block in scenario.machine.all_blocks if block.on and block.name not in passive}
    coupled = [c for c in scenario.machine.coordinates if isinstance(c, LinearCombination) and c.name in places]
    return places | {joint for combination in coupled for joint in combination.of}


def _check(scenario: Scenario) -> None:
    machine, flaws = scenario.machine, FlawList()
    mechanism = machine.mechanism
    if mechanism is None:
        refuse("machine", "has no bodies and joints", source="identification")
    remedy = "fit its numbers by simulation instead: robodyn fit"
    for freedom in mechanism.freedoms:
        if not freedom.is_single:
            flaws.add(f"joints.{freedom.name}", "has more than one position", remedy)
    for constraint in machine.all_constraints:
        if isinstance(constraint, PrescribedMotion) or not constraint.active:
            flaws.add(f"constraints.{constraint.name}", "does not hold the joints to each other at all times", remedy)
    for block in passive_blocks(scenario):
        for signal in _read(block).values():
            if not isinstance(signal, str):
                flaws.add(f"blocks.{block.name}", "reads several signals as one, which is not identified", remedy)
    if not massive_bodies(scenario):
        flaws.add("bodies", "none has a mass", "give a first guess of each mass that is to be found")
    flaws.raise_if_any("identification")


def bare_system(scenario: Scenario) -> System:
    """The mechanism alone, with its coordinates and loads, masses and rotors as symbols."""
    machine = scenario.machine
    bodies = [f"{body.name}.{part}" for body in massive_bodies(scenario) for part in ("mass", "com.?", "inertia.*")]
    rotors = [n.name for n in machine.numbers() if _is_rotor(scenario, n.name)]
    bare = replace(
        machine.with_all_blocks(()), delays=(), signals=(), contacts=(), interfaces=(), tunable=(*bodies, *rotors),
        loads=tuple(load for load in machine.loads if load.times is None),
    )  # fmt: skip
    return assemble(Scenario(machine.name, bare, 1.0))


def _is_rotor(scenario: Scenario, name: str) -> bool:
    machine = scenario.machine
    joints = [f"{j.name}.armature" for j in (machine.mechanism.joints if machine.mechanism else ()) if j.armature > 0]
    coordinates = [f"{c.name}.inertia" for c in machine.coordinates if isinstance(c, LinearCombination) and c.inertia]
    return name in joints or name in coordinates


def passive_blocks(scenario: Scenario) -> list[Block]:
    """Springs, dampers and friction on joints and coordinates."""
    return [b for b in scenario.machine.all_blocks if b.on and (b.info.passive or b.info.disturbance) and not b.sampled]


def _read(block: Block) -> dict[str, Any]:
    """Signals that a law takes beside the motion of its place."""
    return {name: signal for name, signal in block.inputs.items() if name not in ("position", "velocity")}


def _trace_laws(whole: System, system: System, inputs: Mapping[str, ca.SX]) -> tuple[list[Parameter], ca.SX, ca.SX]:
    """Parameters of laws, their columns of Y, and what does not depend on these."""
    scenario, numbers = whole.scenario, whole.numbers
    values = collect_values(scenario)
    parameters: list[Parameter] = []
    columns, fixed = ca.SX(system.n_v, 0), ca.SX.zeros(system.n_v)
    for block in passive_blocks(scenario):
        place = str(block.on)
        s = system.motion.coordinates[place]
        gradient = ca.jacobian(s, system.q)
        rate = gradient @ system.v
        position, velocity = ca.SX.sym("s"), ca.SX.sym("w")
        signals = {name: inputs[signal] for name, signal in _read(block).items()}
        force = ca.SX(friction_laws(values, [block], {})[place][0](position, velocity, **signals))
        named = _named(block, values.table)
        given = {name: numbers[name].value for name in named}
        linear = linear_numbers(force, named, given, [position, velocity, *signals.values()])

        # A wave A sin(n s + phi) is linear in A cos(phi) and A sin(phi).
        phase = _names(block).get("phase", "")
        if phase in named and len(linear) == 1 and _is_wave(force, named[phase]):
            size, angle = numbers[linear[0]], given[phase]
            parts = [ca.substitute(force, ca.vertcat(named[size.name], named[phase]), ca.DM([1.0, turn]))
                     for turn in (0.0, np.pi / 2)]  # fmt: skip
            slopes, shares = ca.horzcat(*parts), (np.cos(angle), np.sin(angle))
            parameters += [
                Parameter(f"{size.name} {part}", size.unit, size.value * float(share), size.name, wave=(phase, k))
                for k, (part, share) in enumerate(zip(("cos(phase)", "sin(phase)"), shares, strict=True))
            ]
            force = ca.SX(0)
        else:
            chosen = ca.vertcat(ca.SX(0, 1), *(named[name] for name in linear))
            slopes = ca.jacobian(force, chosen)
            # What is left without them: not the law at zero, which may divide by them.
            force -= slopes @ chosen
            # Names of a block's numbers that its law takes only where they are not negative.
            keys = [key for key in block.parameters if block.info.checks.get(key) in ("non-negative", "positive")]
            bounded = {_names(block)[key] for key in keys if key in _names(block)}
            own = [numbers[name] for name in linear]
            parameters += [Parameter(n.name, n.unit, n.value, n.name, non_negative=n.name in bounded) for n in own]
        old, new = ca.vertcat(position, velocity, *named.values()), ca.vertcat(s, rate, *given.values())
        slopes, force = ca.substitute([slopes, force], [old], [new])
        row = -gradient.T
        columns = ca.horzcat(columns, row @ slopes)
        fixed += row @ force
    return parameters, columns, fixed


def _is_wave(force: ca.SX, phase: ca.SX) -> bool:
    """Whether a force is a sine of its phase: f'' = -f."""
    sum_of_both = ca.Function("wave", [ca.vertcat(*ca.symvar(force))], [force + ca.hessian(force, phase)[0]])
    rng = np.random.default_rng(2)
    return all(abs(float(sum_of_both(rng.normal(0, 1, len(ca.symvar(force)))))) < LINEAR for _ in range(TESTS))


def _named(block: Block, table: Mapping[str, Any]) -> dict[str, Any]:
    """Symbols of a block's numbers by their names in the scenario."""
    names = _names(block).values()
    return {name: table[name] for name in names if name in table and not isinstance(table[name], float)}


def _names(block: Block) -> Mapping[str, str]:
    """Names in the scenario of a block's numbers, by their keys."""
    own = {key: f"{block.name}.{key}" for key in block.parameters}
    return block.sources if isinstance(block, JointBlock) else own


# --------------------------------------------------------------------------------------------------
# Base parameters: which combinations of a machine's parameters show in its joint forces at all?
#
# Symbols: Y the regressor at many random motions, K how the columns left out follow from those that are kept.
#
#     Y_left = Y_kept K,   beta = theta_kept + K theta_left
#
# Y is exact, so that a column either follows from those before it to rounding or differs by its whole size: the rank is
# that of the machine, whatever motion is measured (Gautier 1991).


DEPENDENT = 1e-8
"""Part of a column that others do not give, by its length, that is rounding."""
NONE = 1e-10
"""Factor that is rounding."""


@frozen(eq=False)
class BaseParameters:
    """beta = G theta.

    Attributes:
        kept: places of the columns of Y that are kept, one for each base parameter; G: (n_base, n_theta).
        names: of the base parameters, as sums; silent: names of parameters without any effect.
        gap: smallest part of a kept column that is its own, over the largest of one left out: the rank is beyond doubt.
    """

    kept: tuple[int, ...]
    G: Array
    names: tuple[str, ...]
    silent: tuple[str, ...]
    gap: float


def find_base_parameters(regressor: Regressor, seed: int = 0) -> BaseParameters:
    """The base parameters of a machine; those of laws come first and stay by themselves, offsets of efforts last."""
    n, count = len(regressor.joints), len(regressor.parameters)
    rng = np.random.default_rng(seed)
    samples = 3 * count // n + 20
    # Slow rows too, where friction of laws differs most.
    speeds = 10.0 ** rng.uniform(-3, 0.5, (samples, 1))
    q, a = regressor.draw_positions(rng, samples), rng.normal(0, 3, (samples, n))
    u = rng.normal(0, 30, (samples, len(regressor.inputs)))
    Y = regressor(q, speeds * rng.normal(0, 1, (samples, n)), a, u)[0].reshape(-1, count)
    sizes = np.linalg.norm(Y, axis=0)
    offsets = count - len(regressor.offsets)
    order = sorted(range(count), key=lambda k: (k >= offsets, bool(regressor.parameters[k].body)))
    parts = own_parts(Y, order, NONE, DEPENDENT)
    kept = sorted(k for k, part in parts.items() if part > DEPENDENT)
    left = [k for k in parts if k not in kept]
    own, rest = min(parts[k] for k in kept), max((parts[k] for k in left), default=0.0)
    G = np.zeros((len(kept), count))
    G[range(len(kept)), kept] = 1.0
    if left:
        # Shares of columns scaled to length 1 are without unit: what is rounding among them is left out.
        shares = np.linalg.lstsq(Y[:, kept] / sizes[kept], Y[:, left] / sizes[left])[0]
        shares[np.abs(shares) < NONE] = 0.0
        G[:, left] = shares * sizes[left] / sizes[kept, None]
    names = tuple(_describe(row, k, regressor.names) for row, k in zip(G, kept, strict=True))
    silent = tuple(regressor.names[k] for k in range(count) if sizes[k] <= NONE * sizes.max())
    return BaseParameters(tuple(kept), G, names, silent, own / max(rest, 1e-300))


def _describe(row: Array, own: int, names: Sequence[str]) -> str:
    """A sum such as `arm.Lzz + 0.25 tool.mass`."""
    others = [k for k in np.flatnonzero(row).tolist() if k != own]
    parts = [f" {'+' if row[k] > 0 else '-'} {_factor(abs(row[k]))}{names[k]}" for k in others]
    return names[own] + "".join(parts)


def _factor(value: float) -> str:
    return "" if abs(value - 1) < 1e-9 else f"{value:.4g} "
