"""System: a scenario made computable, one expression graph with named states, signals and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from robodyn.base.lazy import ca
from robodyn.base.records import dataclass
from robodyn.base.signals import SignalInfo
from robodyn.base.symbolic import changed_entries
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly.declarations import (
    BreakRule,
    DelayInfo,
    Guard,
    LateRead,
    MemoryInfo,
    Port,
    ProblemInfo,
    StateInfo,
    Task,
)
from robodyn.computation.assembly.functions import Expressions, Symbols
from robodyn.computation.assembly.invariants import Invariant, Watched
from robodyn.description.model import Number, Scenario
from robodyn.description.model.fields import EMPTY

if TYPE_CHECKING:
    from robodyn.computation.assembly.control.model_dynamics import ModelInfo
    from robodyn.computation.assembly.tree import Mechanics
    from robodyn.computation.dynamics import Tree

# --------------------------------------------------------------------------------------------------
# Parts of a hybrid system: what describes the motion of its mechanism, and what interrupts the motion in time?


@dataclass(frozen=True)
class Terms:
    """Mechanics that stand in for those of the mechanism itself: see `assembly.linear`."""

    mass_matrix: ca.SX
    bias: ca.SX


@dataclass(frozen=True)
class EquationsOfMotion:
    """Of a system's mechanism; empty where it has none.

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
    coordinates: Mapping[str, ca.SX] = EMPTY
    rotors: tuple[tuple[ca.SX, ca.SX], ...] = ()
    ports: tuple[Port, ...] = ()
    forces: tuple[tuple[str, str], ...] = ()
    loads: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    terms: Terms | None = None
    constraint_forces: tuple[str, ...] = ()
    spare: int = 0
    momenta: bool = False


@dataclass(frozen=True)
class Discrete:
    """What interrupts the continuous motion: ticks, events, jumps of references, and what is found at the start.

    Attributes:
        tasks: in the order in which those of a tick run; late_reads: where that order leaves a value a sample old.
        base_period: of which all sample times are multiples.
        problems: complementarity problems that are solved before actions.
        start_action: key of the action that makes states and memory consistent at the start, if there is one;
            start_problems: names of the problems that are solved before it.
    """

    tasks: tuple[Task, ...] = ()
    base_period: Fraction | None = None
    guards: tuple[Guard, ...] = ()
    breaks: tuple[BreakRule, ...] = ()
    problems: tuple[ProblemInfo, ...] = ()
    start_action: str | None = None
    start_problems: tuple[str, ...] = ()
    late_reads: tuple[LateRead, ...] = ()


# --------------------------------------------------------------------------------------------------
# Hybrid system: what is a scenario made computable? Named states, memory, signals, tasks, guards and functions.


T = TypeVar("T")
RESIDUAL = "constraints.position_error"
"""Signal of the largest residual of the constraints' positions."""
FREE = 0.5
"""A direction of friction that neither holds nor slides: dry friction is left out. Runs begin so, and equilibria and
linear models are found so."""


TRACED = ("symbols", "expressions", "motion", "models")
PLAIN = (
    *("scenario", "states", "memory", "delays", "signals", "numbers", "parameters", "discrete", "watched", "warnings"),
    *("data", "friction", "asked", "findings", "n_q", "n_v", "n_quadratures", "depends_on_time", "delay_depth"),
)


@dataclass(frozen=True)
class System:
    """A scenario as one hybrid system; it holds no state.

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
    watched: tuple[Watched, ...] = ()
    warnings: tuple[str, ...] = ()
    data: np.ndarray = field(default_factory=lambda: np.zeros(0))
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
        from robodyn.computation.assembly.assembler import assemble

        return assemble(self.scenario, inputs=self.inputs, signals=self.asked)

    @cached_property
    def without_friction(self) -> System:
        """The same with all friction exerting nothing; its states and signals stay, by the same names."""
        if not self.friction or not any(block.info.disturbance for block in self.scenario.machine.all_blocks):
            return self
        return self._trace_again().without_friction if self.resolve is None else self.resolve(0.0)

    def lasting(self, scenario: Scenario) -> System:
        """The system of its scenario with another duration or recording: the same trace, unless there are constraints,
        which pull at a rate that the duration decides."""
        if scenario.machine.all_constraints and scenario.duration != self.scenario.duration:
            return replace(self, scenario=scenario)._trace_again()
        return replace(self, scenario=scenario)

    @property
    def limited(self) -> tuple[int, ...]:
        """Numbers of the states that have limits, in the order of `expressions.limits`."""
        return tuple(k for k, info in enumerate(self.states) if info.limited)

    @property
    def inputs(self) -> dict[str, float]:
        """Memory that only the outside writes, with its start values."""
        return {info.name: info.start for info in self.memory if info.outside}

    @property
    def within(self) -> ca.SX:
        """How far joints pass their limits: the last of what is watched."""
        count = sum(watched.count for watched in self.watched if watched.invariant is Invariant.WITHIN)
        return self.expressions.watched[self.expressions.watched.numel() - count :]

    def function(self, column: ca.SX, name: str = "f") -> ca.Function:
        """A column in the system's symbols as (t, x, d, m, p) -> column."""
        return ca.Function(name.replace(":", "_").replace(".", "_"), [*self.symbols], [ca.densify(column)])

    def casadi(self, what: str, by: str = "") -> ca.Function:
        """A function (t, x, d, m, p) of this system that CasADi itself evaluates and differentiates.

        Args:
            what: rates, outputs, guards, delayed, constraints, or `update:BLOCK`; by: t, x, d, m or p for a Jacobian.
        """
        from robodyn.computation.assembly.casadi_functions import make_casadi

        return make_casadi(self, what, by)

    def memory_after(self, task: Task) -> ca.SX:
        """m after a traced task."""
        assert task.function is not None, f"{task.name} is called in Python"
        return self.expressions.updates[task.function]

    def guard_rates(self) -> ca.Function:
        """Rates of the guards along the motion, memory held; d is followed by the rates of the delayed signals.

        dg/dt + dg/dx x_dot + dg/dd d_dot
        """
        guards, own = self.expressions.guards, self.symbols
        along = ca.jtimes(guards, own.x, self.expressions.rhs)
        late = ca.jtimes(guards, own.d, self.delayed_rates)
        rates = ca.jacobian(guards, own.t) + along + late
        columns = own._replace(d=ca.vertcat(own.d, self.delayed_rates))
        return ca.Function("guard_rates", [*columns], [ca.densify(rates)])

    @cached_property
    def gives(self) -> dict[str, str]:
        """What the law of each block says of energy that it gives."""
        return {block.name: block.info.gives for block in self.scenario.machine.all_blocks}

    @cached_property
    def delayed_rates(self) -> ca.SX:
        """Symbols of the rates of the delayed signals."""
        return ca.SX.sym("d_dot", self.symbols.d.numel())

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What analyses have compiled of it, by what they were asked for: they are asked again at many points."""
        return {}

    @cached_property
    def findings(self) -> dict[str, Any]:
        """Plain values that were found of it as it is described, by what was asked."""
        return {}

    def recall(self, what: str, find: Callable[[], T]) -> T:
        """What was found of it before, or is found now."""
        if what not in self.findings:
            self.findings[what] = find()
        found: T = self.findings[what]
        return found

    @cached_property
    def n_quadratures(self) -> int:
        """How many of the last states no rate, delayed signal or sampled task reads (book-keeping: `energy.work`)."""
        own = self.expressions
        # All that can feed a state back into the motion.
        updates = [self.memory_after(task) for task in self.discrete.tasks if task.function]
        arguments = [own.arguments[task.call.inputs] for task in self.discrete.tasks if task.call]
        readers = ca.vertcat(own.rhs, own.delayed, *updates, *arguments)
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

    @property
    def signal_names(self) -> tuple[str, ...]:
        """Of all signals, in their order."""
        return tuple(info.name for info in self.signals)

    @cached_property
    def n_q(self) -> int:
        """Number of position coordinates; an orientation has four."""
        return self.motion.n_q

    @cached_property
    def n_v(self) -> int:
        """Number of velocity coordinates: degrees of freedom of the tree."""
        return self.motion.n_v

    @property
    def q(self) -> ca.SX:
        """Position coordinates, as symbols."""
        return self.symbols.x[: self.n_q]

    @property
    def v(self) -> ca.SX:
        """Velocities; of a system in momenta, as M^-1 p."""
        # Momenta p = M v stand where velocities do.
        second: Any = self.symbols.x[self.n_q : self.n_q + self.n_v]
        if not self.motion.momenta:
            return second
        from robodyn.computation.dynamics import solve_symmetric

        return ca.SX(solve_symmetric(self.mass_matrix, second))

    @cached_property
    def mass_matrix(self) -> ca.SX:
        """M(q), rotors on combined coordinates included."""
        if self.motion.terms is not None:
            return self.motion.terms.mass_matrix
        assert self.motion.mechanics is not None
        return build_mass_matrix(self.motion.mechanics.tree, self.q, self.motion.rotors)

    @cached_property
    def bias(self) -> ca.SX:
        """c(q, v): what M a misses to the applied forces."""
        return self.motion.terms.bias if self.motion.terms is not None else self._bias(self.v)

    @cached_property
    def gravity(self) -> ca.SX:
        """c(q, 0): joint torques that hold the mechanism against gravity."""
        return self._bias(ca.SX.zeros(self.n_v))

    def _bias(self, v: Any) -> ca.SX:
        from robodyn.computation.dynamics import bias

        assert self.motion.mechanics is not None
        q: Any = self.q
        return ca.SX(bias(self.motion.mechanics.tree, q, v))

    @cached_property
    def gradients(self) -> ca.SX:
        """ds/dq N of every coordinate, one row each."""
        return self.slopes(ca.vertcat(ca.SX(0, 1), *self.motion.coordinates.values()))

    @property
    def has_balls(self) -> bool:
        """Whether some positions are quaternions: then there are more of them than velocities."""
        return self.n_q > self.n_v

    @cached_property
    def N(self) -> ca.SX:
        """q_dot by v, (n_q, n_v): the identity but for balls."""
        from robodyn.computation.dynamics import position_rates

        assert self.motion.mechanics is not None
        q: Any = self.q
        v: Any = ca.SX.sym("v", self.n_v)
        return ca.jacobian(ca.SX(position_rates(self.motion.mechanics.tree, q, v)), v)

    def slopes(self, expression: ca.SX) -> ca.SX:
        """Derivatives of a column by the motions of the joints, (k, n_v): d/dq N."""
        J = ca.jacobian(expression, self.q)
        return J @ self.N if self.has_balls else J


def build_mass_matrix(tree: Tree, q: Any, rotors: Sequence[tuple[Any, ca.SX]]) -> ca.SX:
    """Mass matrix of the links plus `(ds/dq)^T I (ds/dq)` of each rotor and attached model."""
    from robodyn.computation.dynamics import mass_matrix

    M = ca.SX(mass_matrix(tree, q))
    for inertia, gradient in rotors:
        M = M + gradient.T @ (inertia @ gradient)
    return M
