"""What is a scenario made computable? One hybrid system of named states, memory, signals, tasks and guards.

Every function of a system has the same five inputs: t (1), x (continuous states), d (delayed signals), m (discrete
memory) and p (tunable parameters), and one output column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from robodyn.assembly.network import SignalInfo
from robodyn.assembly.promises import Watched
from robodyn.assembly.tree import Mechanics
from robodyn.dynamics import Tree, bias, mass_matrix, solve_symmetric
from robodyn.model import Interface, Number, Scenario
from robodyn.symbolic.tables import spell_out

INPUTS = ("t", "x", "d", "m", "p")
RESIDUAL = "constraints.position_error"
"""Signal of the largest residual of the constraints' positions."""
FREE = 0.5
"""A direction of friction that neither holds nor slides: dry friction is left out. Runs begin so, and equilibria and
linear models are found so."""


@dataclass(frozen=True)
class StateInfo:
    """A continuous state: its name, unit, start value and nominal magnitude."""

    name: str
    unit: str
    start: float
    nominal: float = 1.0


@dataclass(frozen=True)
class MemoryInfo:
    """A discrete state: its name, unit and start value; hidden ones are not signals."""

    name: str
    unit: str
    start: float
    hidden: bool = False


@dataclass(frozen=True)
class PythonCall:
    """A law or action called in Python: argument names in the order of the `inputs` function, and its targets.

    Attributes:
        inputs: name of the function that evaluates the arguments.
        shapes: argument -> None for a scalar, n for a tuple of n.
        targets: result name -> index into m (tasks) or into [x, m] (actions).
    """

    function: Callable[..., Any]
    inputs: str
    shapes: Mapping[str, int | None]
    targets: Mapping[str, int]


@dataclass(frozen=True)
class Task:
    """A sampled piece of work: due at ticks `offset + k period` of the base period."""

    name: str
    period: int
    offset: int
    function: str | None = None
    call: PythonCall | None = None


@dataclass(frozen=True)
class Guard:
    """An event's guard and what it does.

    Attributes:
        moves: whether its action can change continuous states, and with them the energy.
        coordinate: the one whose range it watches, if it is such a guard.
        side: memory that notes on which side of zero it is, if any does.
    """

    name: str
    direction: int
    terminal: bool
    action: str | None = None
    call: PythonCall | None = None
    moves: bool = False
    coordinate: str | None = None
    side: str | None = None


@dataclass(frozen=True)
class DelayInfo:
    """A delayed signal: how long, and its value before (None: the signal's own start value)."""

    name: str
    time: float
    before: float | None

    @property
    def owner(self) -> str:
        """The delay whose output this is; its time and value before are numbers of a run under its name."""
        return self.name.removesuffix(".output")


@dataclass(frozen=True)
class BreakRule:
    """Where a reference jumps: a function of parameter values, given by name or as constants."""

    function: Callable[[Mapping[str, Any]], Any]
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Port:
    """An interface in symbols.

    Attributes:
        A: from joint rates to the interface's velocity, (k, n_v); drift: its acceleration while the joints do not
            accelerate, A' v, (k,).
        position: (1 or 3,); rotation: world from body, (3, 3), or None; velocity: A v, (k,).
        inertia: of a model attached rigidly, (k, k), or None.
        acting: force on this side, all of it but `-inertia A a`, (k,).
    """

    interface: Interface
    A: ca.SX
    drift: ca.SX
    position: ca.SX
    rotation: ca.SX | None
    velocity: ca.SX
    inertia: ca.SX | None
    acting: ca.SX = field(default_factory=lambda: ca.SX(0, 1))


@dataclass(frozen=True)
class System:
    """A scenario as one hybrid system; it holds no state.

    Attributes:
        numbers: every named number of the scenario; parameters: the tunable ones, in the order of p.
        symbols: the five input columns t, x, d, m, p.
        expressions: function name -> output column in those symbols.
        coordinates: position of every moving joint and coordinate in those symbols.
        rotors: inertia and gradient of each rotor that turns with a combined coordinate, then inertia and Jacobian of
            each model attached at an interface; ports: the interfaces.
        forces: (joint or coordinate, signal of a force on it); loads: joint torques of constant loads.
        terms: "mass_matrix" and "bias" of the mechanics, where they are not those of the mechanism itself: see
            `assembly.linear`; data: numbers of the table that these read, see `native.rows`.
        equations: names of the forces of all constraint equations; the function "constraints" gives their residuals,
            then the rates of these, "constraint_drift" their accelerations while the joints do not accelerate, "active"
            which of them hold, "applied" the joint torques without theirs.
        momenta: whether the states after the positions are the momenta p = M v instead of the velocities.
        start_action: function that makes states and memory consistent at the start, if there is one.
        inputs: memory that only the outside writes, with its start values.
        watched: what a run watches of itself; the function "watched" has its columns.
        warnings: what is allowed but looks like a mistake, such as units that do not match.
    """

    scenario: Scenario
    states: tuple[StateInfo, ...]
    memory: tuple[MemoryInfo, ...]
    signals: tuple[SignalInfo, ...]
    numbers: Mapping[str, Number]
    parameters: tuple[Number, ...]
    delays: tuple[DelayInfo, ...]
    tasks: tuple[Task, ...]
    guards: tuple[Guard, ...]
    breaks: tuple[BreakRule, ...]
    limited: tuple[int, ...]
    base_period: Fraction | None
    n_q: int
    n_v: int
    mechanics: Mechanics | None
    symbols: Mapping[str, ca.SX]
    expressions: Mapping[str, ca.SX]
    coordinates: Mapping[str, ca.SX]
    rotors: tuple[tuple[ca.SX, ca.SX], ...] = ()
    ports: tuple[Port, ...] = ()
    equations: tuple[str, ...] = ()
    start_action: str | None = None
    momenta: bool = False
    watched: tuple[Watched, ...] = ()
    warnings: tuple[str, ...] = ()
    forces: tuple[tuple[str, str], ...] = ()
    loads: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    terms: Mapping[str, ca.SX] = field(default_factory=dict)
    data: np.ndarray = field(default_factory=lambda: np.zeros(0))
    inputs: Mapping[str, float] = field(default_factory=dict)

    def function(self, name: str) -> ca.Function:
        """A function of the system as (t, x, d, m, p) -> column; derivatives are made on demand.

        "guard_rates" reads the rates of the delayed signals too, behind these in d.
        """
        output = self._output(name)
        columns = [self.symbols[key] for key in INPUTS]
        if name == "guard_rates":
            columns[INPUTS.index("d")] = ca.vertcat(self.symbols["d"], self.delayed_rates)
        return ca.Function(name.replace(":", "_").replace(".", "_"), columns, [ca.densify(output)])

    def _output(self, name: str) -> ca.SX:
        if name == "jacobian":
            return ca.vec(ca.densify(ca.jacobian(self.expressions["rhs"], self.symbols["x"])))
        if name == "time_derivative":
            return ca.jacobian(self.expressions["rhs"], self.symbols["t"])
        if name == "guard_rates":
            return self._rate(self.expressions["guards"])
        if name in MECHANICS:
            return MECHANICS[name](self)
        return self.expressions[name]

    def _rate(self, expression: ca.SX) -> ca.SX:
        """Total time derivative along the motion, memory held: `dg/dt + dg/dx x_dot + dg/dd d_dot`."""
        along = ca.jtimes(expression, self.symbols["x"], self.expressions["rhs"])
        late = ca.jtimes(expression, self.symbols["d"], self.delayed_rates)
        return ca.jacobian(expression, self.symbols["t"]) + along + late

    @cached_property
    def delayed_rates(self) -> ca.SX:
        """Symbols of the rates of the delayed signals."""
        return ca.SX.sym("d_dot", self.symbols["d"].numel())

    @cached_property
    def n_quadratures(self) -> int:
        """How many of the last states no rate, delayed signal or sampled task reads (book-keeping: `energy.work`)."""
        x = self.symbols["x"]
        tasks = [task.function or (task.call.inputs if task.call else "") for task in self.tasks]
        readers = ["rhs", "delayed", *tasks]
        rates = ca.vertcat(*(self.expressions[name] for name in readers if name in self.expressions))
        needed = ca.which_depends(rates, x, 1, False) if self.states else []
        return next((k for k, used in enumerate(reversed(needed)) if used), len(needed))

    @cached_property
    def depends_on_time(self) -> bool:
        """Whether any rate depends on time itself."""
        return bool(self.states) and any(ca.which_depends(self.expressions["rhs"], self.symbols["t"], 1, False))

    @cached_property
    def delay_depth(self) -> int:
        """Longest chain of delays that feed one another without a state between."""
        feeds = ca.jacobian_sparsity(self.expressions["delayed"], self.symbols["d"]) if self.delays else None
        depth = [1] * len(self.delays)
        for _ in self.delays:
            for row, column in zip(*feeds.get_triplet(), strict=True) if feeds is not None else ():
                depth[row] = min(max(depth[row], depth[column] + 1), len(self.delays))
        return max(depth, default=1)

    @cached_property
    def constraint_residual(self) -> ca.Function | None:
        """Largest residual of all constraints' positions, those left out too, by `INPUTS`; None without any."""
        if RESIDUAL not in self.signal_names:
            return None
        residual = self.expressions["outputs"][self.signal_names.index(RESIDUAL)]
        return spell_out(ca.Function("residual", [self.symbols[key] for key in INPUTS], [residual]))

    def side_place(self, guard: Guard) -> int:
        """1 + the entry of m that notes the side of a guard; 0 where none does."""
        return next((k for k, info in enumerate(self.memory, 1) if info.name == guard.side), 0)

    @property
    def signal_names(self) -> tuple[str, ...]:
        return tuple(info.name for info in self.signals)

    @property
    def q(self) -> ca.SX:
        return self.symbols["x"][: self.n_q]

    @property
    def v(self) -> ca.SX:
        """Velocities; of a system in momenta, as M^-1 p."""
        second: Any = self.symbols["x"][self.n_q : self.n_q + self.n_v]
        return ca.SX(solve_symmetric(self.mass_matrix, second)) if self.momenta else second

    @cached_property
    def mass_matrix(self) -> ca.SX:
        """M(q), rotors on combined coordinates included."""
        if "mass_matrix" in self.terms:
            return self.terms["mass_matrix"]
        assert self.mechanics is not None
        return build_mass_matrix(self.mechanics.tree, self.q, self.rotors)

    @cached_property
    def bias(self) -> ca.SX:
        """c(q, v): what M a misses to the applied forces."""
        return self.terms["bias"] if "bias" in self.terms else _bias(self, self.v)

    @cached_property
    def gradients(self) -> ca.SX:
        """ds/dq of every coordinate, one row each (joints have q_dot = v)."""
        return ca.jacobian(ca.vertcat(ca.SX(0, 1), *self.coordinates.values()), self.q)


def build_mass_matrix(tree: Tree, q: Any, rotors: Sequence[tuple[Any, ca.SX]]) -> ca.SX:
    """Mass matrix of the links plus `(ds/dq)^T I (ds/dq)` of each rotor and attached model."""
    M = ca.SX(mass_matrix(tree, q))
    for inertia, gradient in rotors:
        M = M + gradient.T @ (inertia @ gradient)
    return M


def _gradient_rates(system: System) -> ca.SX:
    """`d/dt(ds/dq) v` of every coordinate: its acceleration while the joints do not accelerate."""
    velocities = system.gradients @ system.v
    return ca.jtimes(velocities, system.q, system.v)


def _bias(system: System, v: Any) -> ca.SX:
    assert system.mechanics is not None
    q: Any = system.q
    return ca.SX(bias(system.mechanics.tree, q, v))


MECHANICS: Mapping[str, Callable[[System], ca.SX]] = {
    "mass_matrix": lambda system: ca.vec(ca.densify(system.mass_matrix)),
    "bias": lambda system: system.bias,
    "gravity": lambda system: _bias(system, ca.SX.zeros(system.n_v)),
    "coordinates": lambda system: ca.vertcat(*system.coordinates.values()),
    "gradients": lambda system: ca.vec(ca.densify(system.gradients)),
    "gradient_rates": _gradient_rates,
}
"""Functions of the mechanism alone, made on demand; matrices column by column."""
