"""System: a scenario made computable, one expression graph with named states, signals and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from robodyn.base import Array, FlawList, SignalInfo, ca, frozen, nearest, refuse_unknown
from robodyn.base.symbolic import changed_entries, to_column
from robodyn.base.symbolic.tables import spell_out
from robodyn.description.model import EMPTY, Machine, Number, Scenario, Solver

from .declarations import (
    BreakRule,
    DelayInfo,
    Guard,
    Invariant,
    LateRead,
    MemoryInfo,
    Port,
    ProblemInfo,
    SampledTask,
    StateInfo,
    Watched,
)

if TYPE_CHECKING:
    from casadi import SX

    from robodyn.computation.dynamics import Tree

    from .control.models import ModelInfo
    from .tree import Mechanics


# --------------------------------------------------------------------------------------------------
# Functions of a hybrid system: which columns does it compute, all from the same five inputs?
#
# x_dot = rhs(t, x, d, m, p),    y = outputs(t, x, d, m, p),    m+ = update(t, x, d, m, p),    ...


class Symbols(NamedTuple):
    """The input columns of every function: time (1), continuous states, delayed signals, discrete memory and tunable
    parameters."""

    t: SX
    x: SX
    d: SX
    m: SX
    p: SX


INPUTS = Symbols._fields
CASADI_COLUMNS = {name: name for name in ("outputs", "guards", "delayed", "constraints")} | {"rates": "rhs"}
"""Names of columns as `System.casadi` takes them."""


def _empty() -> SX:
    return ca.SX(0, 1)


@frozen
class Expressions:
    """The output column of every function of a system, in its symbols; empty where there is nothing of a kind.

    Attributes:
        rhs: rates of the states; position_rate: the first n_q of them, for symplectic Euler.
        outputs: all signals; watched: what a run watches of itself.
        guards: one entry a guard; delayed: what is delayed; limits: all lower limits of states, then all upper ones.
        applied: joint torques without those of constraints.
        constraints: residuals h of all equations, then their rates; constraint_drift: h'' while the joints do not
            accelerate; active: which equations hold, 1 or 0.
        momentum_rate: -dE/dq, of a system in momenta.
        projection: [x, m] put back on the constraints after a step, where the constraint method does so.
        problems: data of complementarity problems that are solved before actions.
        updates: new memory m after a sampled task; actions: [x, m] after an event's action; arguments: of a call in
            Python. Several tasks or guards may share a column, so that they refer to it by its key.
    """

    rhs: SX = field(default_factory=_empty)
    position_rate: SX = field(default_factory=_empty)
    outputs: SX = field(default_factory=_empty)
    limits: SX = field(default_factory=_empty)
    watched: SX = field(default_factory=_empty)
    delayed: SX = field(default_factory=_empty)
    guards: SX = field(default_factory=_empty)
    applied: SX = field(default_factory=_empty)
    constraints: SX = field(default_factory=_empty)
    constraint_drift: SX = field(default_factory=_empty)
    active: SX = field(default_factory=_empty)
    momentum_rate: SX = field(default_factory=_empty)
    projection: SX | None = None
    arguments: Mapping[str, SX] = field(default_factory=dict)
    updates: Mapping[str, SX] = field(default_factory=dict)
    actions: Mapping[str, SX] = field(default_factory=dict)
    problems: Mapping[str, SX] = field(default_factory=dict)

    def columns(self) -> dict[str, SX]:
        """All columns by the names of their functions: those of single ones, then those of tasks and events."""
        single = {name: column for name, column in vars(self).items() if isinstance(column, ca.SX)}
        return {**single, **self.arguments, **self.updates, **self.problems, **self.actions}

    def with_columns(self, fresh: Mapping[str, SX]) -> Expressions:
        """These functions, some of them with other columns."""
        return self._rebuild(lambda name, column: fresh.get(name, column))

    def in_terms_of(self, change: Callable[[SX], SX]) -> Expressions:
        """Every column rewritten."""
        return self._rebuild(lambda name, column: change(column))

    def _rebuild(self, change: Callable[[str, SX], SX]) -> Expressions:
        # A field is one column, or several by key, or not there.
        new: dict[str, SX | dict[str, SX]] = {}
        for part in fields(self):
            old: SX | Mapping[str, SX] | None = vars(self)[part.name]
            if isinstance(old, Mapping):
                new[part.name] = {name: change(name, column) for name, column in old.items()}
            elif old is not None:
                new[part.name] = change(part.name, old)
        return replace(self, **new)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------
# Parts of a hybrid system: what describes the motion of its mechanism, and what interrupts the motion in time?


@frozen
class Terms:
    """Mechanics that stand in for those of the mechanism itself: see `motion.LinearMechanics`."""

    mass_matrix: SX
    bias: SX


@frozen
class EquationsOfMotion:
    """The equations of motion of a system's mechanism; empty where it has none.

    Attributes:
        n_q, n_v: numbers of positions and velocities, which are the first states.
        coordinates: position of every moving joint and coordinate in the system's symbols.
        rotors: inertia and gradient of each rotor that rotates with a combined coordinate, then inertia and Jacobian of
            each model attached at an interface; ports: the interfaces.
        forces: (joint or coordinate, signal of a force on it); loads: joint torques of constant loads.
        terms: M and c, where they are not those of the mechanism itself.
        constraint_forces: names of the forces (Lagrange multipliers) of all constraint equations, in the order of
            `expressions.constraints`; spare: how many of them follow from others.
        momenta: whether the states after the positions are the momenta p = M v instead of the velocities.
    """

    mechanics: Mechanics | None = None
    n_q: int = 0
    n_v: int = 0
    coordinates: Mapping[str, SX] = EMPTY
    rotors: tuple[tuple[SX, SX], ...] = ()
    ports: tuple[Port, ...] = ()
    forces: tuple[tuple[str, str], ...] = ()
    loads: SX = field(default_factory=lambda: ca.SX(0, 1))
    terms: Terms | None = None
    constraint_forces: tuple[str, ...] = ()
    spare: int = 0
    momenta: bool = False


@frozen
class Discrete:
    """The interruptions of the continuous motion: ticks, events, jumps of references, and the action at the start.

    Attributes:
        tasks: in the order in which those of a tick run; late_reads: where that order leaves a value a sample old.
        base_period: of which all sample times are multiples.
        problems: complementarity problems that are solved before actions.
        start_action: key of the action that makes states and memory consistent at the start, if there is one;
            start_problems: names of the problems that are solved before it.
    """

    tasks: tuple[SampledTask, ...]
    base_period: Fraction | None
    guards: tuple[Guard, ...]
    breaks: tuple[BreakRule, ...]
    problems: tuple[ProblemInfo, ...]
    start_action: str | None
    start_problems: tuple[str, ...]
    late_reads: tuple[LateRead, ...]

    def break_times(self, values: Mapping[str, Any], begin: float, end: float) -> Array:
        """Instants between two times at which references jump or have a kink, ascending."""
        times = np.concatenate([np.zeros(0), *(np.asarray(rule.times(values), float) for rule in self.breaks)])
        return np.unique(times[(begin < times) & (times < end)])


# --------------------------------------------------------------------------------------------------
# Hybrid system: what is a scenario made computable? Named states, memory, signals, tasks, guards and functions.


class Described(NamedTuple):
    """States, delayed signals, memory and parameters as a scenario describes them: start values, and 0 of what is
    delayed and has no value before the start."""

    x: Array
    d: Array
    m: Array
    p: Array


T = TypeVar("T")
RESIDUAL = "constraints.position_error"
"""Signal of the largest residual of the constraints' positions."""
SMOOTH = 10
"""Integrations after which no method sees a jump."""
FREE = 0.5
"""A direction of friction that neither holds nor slides: dry friction is left out. Runs begin so, and equilibria and
linear models are found so."""


TRACED = ("symbols", "expressions", "motion", "models")
PLAIN = (
    *("scenario", "states", "memory", "delays", "signals", "numbers", "parameters", "discrete", "watched", "warnings"),
    *("data", "friction", "asked", "findings", "n_q", "n_v", "n_quadratures", "depends_on_time"),
    *("delay_depth", "delay_passage"),
)


@frozen
class System:
    """A scenario assembled into one hybrid system of equations; it holds no state.

    Attributes:
        numbers: every named number of the scenario; parameters: the tunable ones, in the order of p.
        symbols: the five input columns t, x, d, m, p; expressions: the functions, as columns in those symbols; data:
            numbers of the table that these read, see `native.rows`.
        motion: of its mechanism; discrete: what interrupts that.
        watched: what a run watches of itself, in the order of `expressions.watched`.
        warnings: what is allowed but looks like a mistake, such as units that do not match; models: of controllers.
        friction: factor on the forces of friction, 0 where it is left out; resolve: the same trace with another factor,
            None where the expressions have been changed since.
        asked: patterns of signals that were traced because they were asked for.

    Pickled, it keeps what a run must know of it in plain values (`PLAIN`); the rest is traced again if it is used.
    """

    scenario: Scenario
    states: tuple[StateInfo, ...]
    memory: tuple[MemoryInfo, ...]
    delays: tuple[DelayInfo, ...]
    signals: tuple[SignalInfo, ...]
    numbers: Mapping[str, Number]
    parameters: tuple[Number, ...]
    symbols: Symbols
    expressions: Expressions
    motion: EquationsOfMotion
    discrete: Discrete
    models: tuple[ModelInfo, ...]
    watched: tuple[Watched, ...]
    warnings: tuple[str, ...]
    data: Array
    friction: float = 1.0
    asked: tuple[str, ...] = ()
    resolve: Callable[[float], System] | None = field(default=None, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # One that was pickled before and has not been traced since is as described.
        if "motion" in self.__dict__ and (self.resolve is None or self.motion.terms is not None):
            raise TypeError("a system that is not as its scenario describes it cannot be pickled")
        return {name: getattr(self, name) for name in PLAIN}

    def __getattr__(self, name: str) -> Any:
        # Only what was left out when it was pickled is not there.
        if name not in TRACED:
            raise AttributeError(f"a system has no '{name}'")
        system = self._trace_again()
        traced = system if self.friction else system.without_friction
        self.__dict__.update({field: traced.__dict__[field] for field in (*TRACED, "resolve")})
        return self.__dict__[name]

    def _trace_again(self) -> System:
        from .assembler import assemble

        return assemble(self.scenario, inputs=self.inputs, signals=self.asked)

    @cached_property
    def without_friction(self) -> System:
        """This system with all friction exerting nothing; its states and signals stay, by the same names."""
        if not self.friction or not any(block.info.disturbance for block in self.machine.all_blocks):
            return self
        return self._trace_again().without_friction if self.resolve is None else self.resolve(0.0)

    def lasting(self, scenario: Scenario) -> System:
        """The system of its scenario with another duration or recording: the same trace, unless there are constraints,
        which pull at a rate that the duration decides."""
        if scenario.machine.all_constraints and scenario.duration != self.scenario.duration:
            return replace(self, scenario=scenario)._trace_again()
        return replace(self, scenario=scenario)

    def stepped_by(self, solver: Solver) -> System:
        """The system as a method needs it: rigid contacts either have events, or push by impulses over a step."""
        if solver.contact_step == self.scenario.solver.contact_step:
            return self
        return replace(self, scenario=replace(self.scenario, solver=solver))._trace_again()

    @property
    def machine(self) -> Machine:
        """The machine of the scenario."""
        return self.scenario.machine

    @property
    def limited(self) -> tuple[int, ...]:
        """Numbers of the states that have limits, in the order of `expressions.limits`."""
        return tuple(k for k, info in enumerate(self.states) if info.limited)

    @property
    def inputs(self) -> dict[str, float]:
        """Memory that only the outside writes, with its start values."""
        return {info.name: info.start for info in self.memory if info.outside}

    @property
    def n_moving(self) -> int:
        """Number of the states on which something may depend; those behind them keep books."""
        return len(self.states) - self.n_quadratures

    def watched_rows(self, invariant: Invariant | None = None) -> list[tuple[Watched, slice]]:
        """All that is watched, or one invariant of it, each with its rows of `expressions.watched`."""
        ends = list(accumulate(watched.count for watched in self.watched))
        rows = [(one, slice(end - one.count, end)) for one, end in zip(self.watched, ends, strict=True)]
        return [(one, place) for one, place in rows if invariant in (None, one.invariant)]

    @property
    def within(self) -> SX:
        """How far joints pass their limits: the last of what is watched."""
        count = sum(watched.count for watched, _ in self.watched_rows(Invariant.WITHIN))
        return self.expressions.watched[self.expressions.watched.numel() - count :]

    def function(self, column: SX, name: str = "f") -> ca.Function:
        """A column in the system's symbols as (t, x, d, m, p) -> column."""
        return ca.Function(name.replace(":", "_").replace(".", "_"), [*self.symbols], [ca.densify(column)])

    def evaluate(self, column: SX, **inputs: Any) -> Array:
        """A column or matrix of expressions by values of t, x, d, m and p; those not given are as described."""
        values: dict[str, Any] = {"t": 0.0, **self.described._asdict(), **inputs}
        return np.array(spell_out(self.function(column))(*(values[name] for name in INPUTS)))

    def casadi(self, what: str, by: str = "") -> ca.Function:
        """A function (t, x, d, m, p) -> column that CasADi itself evaluates and differentiates, for optimisers and
        model-predictive controllers of other packages; or its exact Jacobian by one of the arguments.

        Args:
            what: rates (of x), outputs (all signals), guards, delayed, constraints (residuals), or `update:BLOCK`, the
                memory after a sampled block; by: t, x, d, m or p for a Jacobian.
        """
        tasks = {f"update:{task.name}": task for task in self.discrete.tasks if task.function}
        flaws = FlawList()
        if what not in CASADI_COLUMNS and what not in tasks:
            flaws.add("what", f"'{what}' is unknown", nearest(what, [*CASADI_COLUMNS, *tasks]))
        elif by and by not in INPUTS:
            flaws.add("by", f"must be one of {', '.join(INPUTS)}, is '{by}'")
        flaws.raise_if_any("casadi")
        column = self.memory_after(tasks[what]) if what in tasks else vars(self.expressions)[CASADI_COLUMNS[what]]
        # Look-ups are spelled out before they are differentiated: CasADi does not know their slopes otherwise.
        plain = spell_out(ca.Function("plain", [*self.symbols], [ca.densify(column)]))
        symbols = plain.sx_in()
        result = plain(*symbols)
        if by:
            result = ca.densify(ca.jacobian(result, symbols[INPUTS.index(by)]))
        name = what.replace(":", "_").replace(".", "_") + (f"_by_{by}" if by else "")
        return ca.Function(name, symbols, [result], list(INPUTS), [name])

    def memory_after(self, task: SampledTask) -> SX:
        """m after a traced task."""
        assert task.function is not None, f"{task.name} is called in Python"
        return self.expressions.updates[task.function]

    def guard_rates(self) -> ca.Function:
        """Rates of the guards along the motion, memory held; d is followed by the rates of the delayed signals.

        dg/dt + dg/dx x_dot + dg/dd d_dot
        """
        guards, symbols = self.expressions.guards, self.symbols
        # One sweep along all that moves.
        moving = ca.vertcat(symbols.t, symbols.x, symbols.d)
        rates = ca.jtimes(guards, moving, ca.vertcat(1.0, self.expressions.rhs, self.delayed_rates))
        columns = symbols._replace(d=ca.vertcat(symbols.d, self.delayed_rates))
        return ca.Function("guard_rates", [*columns], [ca.densify(rates)])

    @cached_property
    def gives(self) -> dict[str, str]:
        """By block, the words of its law for energy that it gives."""
        return {block.name: block.info.gives for block in self.machine.all_blocks}

    @cached_property
    def delayed_rates(self) -> SX:
        """Symbols of the rates of the delayed signals."""
        return ca.SX.sym("d_dot", self.symbols.d.numel())

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """Functions that analyses have compiled of it, by what they were asked for: they are asked again at many
        points."""
        return {}

    @cached_property
    def findings(self) -> dict[str, Any]:
        """Plain values that were found of it as it is described, by what was asked."""
        return {}

    def recall(self, what: str, find: Callable[[], T]) -> T:
        """A finding from before, or one that is made now."""
        if what not in self.findings:
            self.findings[what] = find()
        finding: T = self.findings[what]
        return finding

    @cached_property
    def n_quadratures(self) -> int:
        """How many of the last states no rate, delayed signal or sampled task reads (book-keeping: `energy.work`)."""
        expressions = self.expressions
        # All that can feed a state back into the motion.
        updates = [self.memory_after(task) for task in self.discrete.tasks if task.function]
        arguments = [expressions.arguments[task.call.inputs] for task in self.discrete.tasks if task.call]
        readers = ca.vertcat(expressions.rhs, expressions.delayed, *updates, *arguments)
        needed = ca.which_depends(readers, self.symbols.x, 1, False) if self.states else []
        return next((k for k, used in enumerate(reversed(needed)) if used), len(needed))

    @cached_property
    def sampled_memory(self) -> list[int]:
        """Places in m that traced tasks write; the rest of their columns only repeats it."""
        columns = [self.memory_after(task) for task in self.discrete.tasks if task.function]
        return sorted({k for after in columns for k in changed_entries(self.symbols.m, after)})

    @cached_property
    def depends_on_time(self) -> bool:
        """Whether any rate depends on time itself."""
        return bool(self.states) and any(ca.which_depends(self.expressions.rhs, self.symbols.t, 1, False))

    @cached_property
    def delay_depth(self) -> int:
        """Longest chain of delays that feed one another without a state between."""
        # Longest path in the graph of which delayed signal reads which; a loop cannot be longer than all of them.
        feeds = ca.jacobian_sparsity(self.expressions.delayed, self.symbols.d) if self.delays else None
        depth = [1] * len(self.delays)
        for _ in self.delays:
            for row, column in zip(*feeds.get_triplet(), strict=True) if feeds is not None else ():
                depth[row] = min(max(depth[row], depth[column] + 1), len(self.delays))
        return max(depth, default=1)

    @cached_property
    def delay_passage(self) -> list[int]:
        """Integrations from each delayed signal to what delays keep of each, row by row: from 1 to SMOOTH."""
        x, d, n = self.symbols.x, self.symbols.d, len(self.delays)
        if not n:
            return []
        expressions = self.expressions
        rates_by_x, rates_by_d, kept_by_x, kept_by_d = (
            ca.DM.ones(ca.jacobian_sparsity(value, by)).full().astype(int)
            for value in (expressions.rhs, expressions.delayed)
            for by in (x, d)
        )
        # What a signal drives after one integration, after two ...
        driven, passage = rates_by_d, np.where(kept_by_d, 1, SMOOTH)
        for count in range(1, SMOOTH):
            passage = np.where((kept_by_x @ driven > 0) & (passage == SMOOTH), count, passage)
            driven = np.minimum(rates_by_x @ driven, 1)
        return [int(count) for count in passage.T.ravel()]

    @cached_property
    def constraint_residual(self) -> ca.Function | None:
        """Largest residual of all constraints' positions, those left out too, by the symbols; None without any."""
        if RESIDUAL not in self.signal_names:
            return None
        residual = self.expressions.outputs[self.signal_names.index(RESIDUAL)]
        return spell_out(ca.Function("residual", [*self.symbols], [residual]))

    def side_place(self, guard: Guard) -> int:
        """1 + the entry of m that notes the side of a guard; 0 where none does."""
        return next((k for k, info in enumerate(self.memory, 1) if info.name == guard.side), 0)

    def mode_place(self, problem: ProblemInfo) -> int:
        """Place in m of the first mode of a complementarity problem."""
        return next(k for k, info in enumerate(self.memory) if info.name == problem.modes)

    def problem_set(self, names: Sequence[str]) -> int:
        """Complementarity problems by name as the engine takes them: the sum of 2^number."""
        return sum(1 << k for k, problem in enumerate(self.discrete.problems) if problem.name in names)

    @cached_property
    def stick_directions(self) -> frozenset[str]:
        """Memory that says in which direction friction that sticks slides, or that it holds."""
        blocks = self.machine.all_blocks
        return frozenset(f"{block.name}.direction" for block in blocks if block.info.sticks)

    @property
    def signal_names(self) -> tuple[str, ...]:
        """The names of all signals, in their order."""
        return tuple(info.name for info in self.signals)

    @cached_property
    def signal_units(self) -> dict[str, str]:
        """The units of all signals, by name."""
        return {info.name: info.unit for info in self.signals}

    @cached_property
    def signal_expressions(self) -> dict[str, SX]:
        """Every signal by name, in the system's symbols."""
        return dict(zip(self.signal_names, ca.vertsplit(self.expressions.outputs), strict=True))

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """The names of all states, in their order."""
        return tuple(state.name for state in self.states)

    def name_states(self, x: Array) -> dict[str, float]:
        """Values of the states by name."""
        return dict(zip(self.state_names, x.tolist(), strict=True))

    @property
    def described(self) -> Described:
        """Everything as described, in arrays of their own."""
        x, m = (np.array([info.start for info in infos], float) for infos in (self.states, self.memory))
        d = np.array([delay.before or 0.0 for delay in self.delays], float)
        return Described(x, d, m, self.described_values.copy())

    @cached_property
    def number_values(self) -> dict[str, float]:
        """Every named number as described."""
        return {name: number.value for name, number in self.numbers.items()}

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each tunable parameter stands among all."""
        return {number.name: k for k, number in enumerate(self.parameters)}

    @cached_property
    def described_values(self) -> Array:
        """The values of the tunable parameters as described."""
        return np.array([number.value for number in self.parameters], float)

    def parameter_values(self, changes: Mapping[str, float]) -> Array:
        """Values of the tunable parameters, with some changed; a number that is none of them is refused."""
        values, places = self.described_values.copy(), self.places
        if unknown := changes.keys() - places.keys():
            refuse_unknown(sorted(unknown), places, "is not tunable in this system", "parameters")
        for name, value in changes.items():
            values[places[name]] = value
        return values

    def parameter_rows(self, columns: Mapping[str, Any], count: int) -> Array:
        """Values of the tunable parameters of so many runs, a row each, with some columns changed."""
        rows = np.tile(self.described_values, (count, 1))
        for name, column in columns.items():
            rows[:, self.places[name]] = column
        return rows

    @cached_property
    def n_q(self) -> int:
        """Number of position coordinates; an orientation has four."""
        return self.motion.n_q

    @cached_property
    def n_v(self) -> int:
        """Number of velocity coordinates: degrees of freedom of the tree."""
        return self.motion.n_v

    @property
    def q(self) -> SX:
        """Position coordinates, as symbols."""
        return self.symbols.x[: self.n_q]

    @property
    def v(self) -> SX:
        """Velocities; of a system in momenta, as M^-1 p."""
        # Momenta p = M v stand where velocities do.
        second: Any = self.symbols.x[self.n_q : self.n_q + self.n_v]
        if not self.motion.momenta:
            return second
        from robodyn.computation.dynamics import solve_symmetric

        return ca.SX(solve_symmetric(self.mass_matrix, second))

    @cached_property
    def mass_matrix(self) -> SX:
        """M(q), rotors on combined coordinates included."""
        if self.motion.terms is not None:
            return self.motion.terms.mass_matrix
        assert self.motion.mechanics is not None
        return build_mass_matrix(self.motion.mechanics.tree, self.q, self.motion.rotors)

    @cached_property
    def bias(self) -> SX:
        """c(q, v): what M a misses to the applied forces."""
        return self.motion.terms.bias if self.motion.terms is not None else self._bias(self.v)

    @cached_property
    def gravity(self) -> SX:
        """c(q, 0): joint torques that hold the mechanism against gravity."""
        return self._bias(ca.SX.zeros(self.n_v))

    def _bias(self, v: Any) -> SX:
        from robodyn.computation.dynamics import bias

        assert self.motion.mechanics is not None
        q: Any = self.q
        return ca.SX(bias(self.motion.mechanics.tree, q, v))

    @cached_property
    def gradients(self) -> SX:
        """ds/dq N of every coordinate, one row each."""
        return self.slopes(to_column(self.motion.coordinates.values()))

    @property
    def has_balls(self) -> bool:
        """Whether some positions are quaternions: then there are more of them than velocities."""
        return self.n_q > self.n_v

    @cached_property
    def N(self) -> SX:
        """q_dot by v, (n_q, n_v): the identity but for balls."""
        from robodyn.computation.dynamics import position_rates

        assert self.motion.mechanics is not None
        q: Any = self.q
        v: Any = ca.SX.sym("v", self.n_v)
        return ca.jacobian(ca.SX(position_rates(self.motion.mechanics.tree, q, v)), v)

    def slopes(self, expression: SX) -> SX:
        """Derivatives of a column by the motions of the joints, (k, n_v): d/dq N."""
        J = ca.jacobian(expression, self.q)
        return J @ self.N if self.has_balls else J


def build_mass_matrix(tree: Tree, q: Any, rotors: Sequence[tuple[Any, SX]]) -> SX:
    """Mass matrix of the links plus `(ds/dq)^T I (ds/dq)` of each rotor and attached model."""
    from robodyn.computation.dynamics import mass_matrix

    M = ca.SX(mass_matrix(tree, q))
    for inertia, gradient in rotors:
        M = M + gradient.T @ (inertia @ gradient)
    return M
