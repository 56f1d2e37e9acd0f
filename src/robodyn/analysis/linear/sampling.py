"""Sampled-data linearisation: which linear model does a machine have with sampled controllers? Exact derivatives.

Rates, tasks and signals of the traced system are differentiated by states and memory; see `sampled_model`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from robodyn.analysis.jumps import Jump, describe_staircases, find_staircases, smooth_expressions
from robodyn.analysis.linear.constrained import free_motions
from robodyn.analysis.linear.idealised import FRICTION, friction_states, ideal_numbers, leave_out_friction
from robodyn.analysis.linear.linear_model import Variable
from robodyn.analysis.linear.operating_point import OperatingPoint, Place, find_point
from robodyn.analysis.linear.sampled_model import SampledModel, Update
from robodyn.analysis.linear.tangent import find_tangent
from robodyn.analysis.linear.trim import count_states, memory_changes
from robodyn.analysis.point_functions import PointFunctions
from robodyn.assembly import System, assemble
from robodyn.assembly.declarations import MemoryInfo, StateInfo
from robodyn.errors import Flaw, FlawList, ModelError, refuse_unknown, refuse_word
from robodyn.model import Scenario
from robodyn.symbolic.kinds import changed_entries

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
    ideal = leave_out_friction(system.scenario) if friction == "none" else system.scenario
    if ideal is not system.scenario:
        system = assemble(ideal)
    parts = SampledParts(system, tuple(outputs), friction)

    def linearise(at: Place, parameters: Mapping[str, float] | None = None) -> SampledModel:
        return parts.build(_choose_point(system, at, friction, dict(parameters or {})))

    return linearise


def check_sampled(system: System) -> None:
    """What cannot be followed from tick to tick is a flaw."""
    flaws = FlawList()
    if system.discrete.tasks and system.delays:
        what = "has both sampled blocks and continuous delays, whose poles are not found together"
        flaws.add("system", what, "give the delay as a delay of the sampled block")
    if system.discrete.tasks and np.lcm.reduce([task.period for task in system.discrete.tasks]) > MOST_TICKS:
        what = f"its sample times meet again only after more than {MOST_TICKS} base periods"
        flaws.add("system", what, "choose periods that are multiples of each other")
    flaws.raise_if_any("poles")


def _choose_point(system: System, at: Place, friction: str, parameters: dict[str, float]) -> OperatingPoint:
    """The point with ideal limits and resolutions, and speeds as the friction is wanted."""
    point = find_point(system, at, parameters)
    x, p = point.x.copy(), point.p.copy()
    ideal = ideal_numbers(system.scenario)
    for k, number in enumerate(system.parameters):
        p[k] = ideal.get(number.name, p[k])
    if friction == "stuck":
        x[system.n_q : system.n_q + system.n_v] = 0.0
    return replace(point, x=x, p=p)


@dataclass(frozen=True)
class SampledParts:
    """Rows [rates, constraints, tasks, outputs] and columns [x, m] in a system's expressions."""

    system: System
    outputs: tuple[str, ...]
    friction: str

    def build(self, point: OperatingPoint) -> SampledModel:
        states, memory, derivatives = self._traced
        if self.friction == "sliding":
            point = _bend_bristles(derivatives, point)
        return self._cut(derivatives, point, states, memory)

    @cached_property
    def _traced(self) -> tuple[list[int], list[int], _Derivatives]:
        """States and memory that count, and the derivatives by them."""
        system = self.system
        where = f"scenario '{system.scenario.name}'"
        refuse_unknown(self.outputs, system.signal_names, "there is no such signal", where, "outputs")
        changes = memory_changes(system)
        memory = [k for k, change in enumerate(changes) if change is not None]
        left_out = friction_states(system.scenario) if self.friction == "none" else frozenset()
        # States of friction that exerts nothing move nothing; books are read by nothing.
        states = [k for k in range(count_states(system)) if system.states[k].name not in left_out]
        return states, memory, _Derivatives(system, self._rows(states, memory), states, memory)

    def _rows(self, states: list[int], memory: list[int]) -> list[ca.SX]:
        expressions, signals = smooth_expressions(self.system, self.staircases), self.system.signal_names
        closed = expressions.constraints if self.system.motion.constraint_forces else ca.SX(0, 1)
        updates = [expressions.updates[task.function] for task in self.system.discrete.tasks if task.function]
        tasks = [after[memory, 0] for after in updates]
        outputs = expressions.outputs[[signals.index(name) for name in self.outputs], 0]
        return [expressions.rhs[states, 0], closed, *tasks, outputs]

    def _cut(
        self, derivatives: _Derivatives, point: OperatingPoint, states: list[int], memory: list[int]
    ) -> SampledModel:
        system = self.system
        tangent = find_tangent(system, point.x[states], derivatives.call("rates", point), states)
        n, m = len(tangent.variables), len(memory)
        k = len(states)
        rates, closed, *tasks, outputs = (
            np.hstack([matrix[:, :k] @ tangent.into, matrix[:, k:]]) for matrix in derivatives.at(point)
        )
        rates = tangent.out @ rates + np.hstack([tangent.turning, np.zeros((n, m))])
        values = derivatives.call("outputs", point)
        N, chosen = free_motions(closed[:, :n]) if system.motion.constraint_forces else (np.eye(n), list(range(n)))
        rates = rates[chosen]
        units = {info.name: info.unit for info in system.signals}
        return SampledModel(
            *(rates[:, :n] @ N, rates[:, n:], outputs[:, :n] @ N, outputs[:, n:]),
            tuple(self._update(k, matrix, n, N, memory) for k, matrix in enumerate(tasks)),
            float(system.discrete.base_period or 0),
            tuple(tangent.variables[k] for k in chosen),
            tuple(_variable(system.memory[k], point.m[k]) for k in memory),
            tuple(Variable(name, units[name], float(v)) for name, v in zip(self.outputs, values, strict=True)),
            self._notes(),
        )

    def _update(self, number: int, matrix: np.ndarray, n: int, N: np.ndarray, memory: list[int]) -> Update:
        """The rows that a task writes; the others of its column only repeat the memory."""
        task = self.system.discrete.tasks[number]
        changed = {*changed_entries(self.system.symbols.m, self.system.memory_after(task))}
        places = np.array([row for row, k in enumerate(memory) if k in changed], int)
        return Update(task.name, task.period, task.offset, places, matrix[places, :n] @ N, matrix[places, n:])

    @cached_property
    def staircases(self) -> tuple[Jump, ...]:
        """Blocks with steps."""
        return find_staircases(self.system.scenario)

    def _notes(self) -> tuple[str, ...]:
        blocks = [block.name for block in self.system.scenario.machine.all_blocks if block.info.disturbance]
        message = {"none": "is left out", "stuck": "sticks", "sliding": "slides"}[self.friction]
        friction = f"friction {message}: {', '.join(blocks)}" if blocks else ""
        return tuple(filter(None, [friction, describe_staircases(self.staircases)]))


class _Derivatives:
    """Exact derivatives of rows by states and memory."""

    def __init__(self, system: System, rows: list[ca.SX], states: list[int], memory: list[int]) -> None:
        self.system, self.states, self.sizes = system, states, [row.numel() for row in rows]
        x, m = system.symbols.x, system.symbols.m
        columns = ca.vertcat(x[states, 0], m[memory, 0])
        values = {"rates": rows[0], "outputs": rows[-1]}
        self.call = PointFunctions(system, values, (ca.vertcat(*rows), columns), quick=True)

    def at(self, point: OperatingPoint) -> list[np.ndarray]:
        """The matrices of all groups of rows."""
        slopes = self.call.slopes(point)
        if not np.isfinite(slopes).all():
            what = "some slopes are not numbers at this operating point"
            raise ModelError([Flaw("at", what, "choose another one")], self.system.scenario.name)
        return np.split(slopes, np.cumsum(self.sizes)[:-1])


def _bend_bristles(derivatives: _Derivatives, point: OperatingPoint) -> OperatingPoint:
    """Bristles as steady sliding bends them: z' = w - s z is zero at z' / s more, s their own rate.

    Where the joint is at rest (s = 0) they stay as they are.
    """
    names = friction_states(derivatives.system.scenario)
    x = point.x.copy()
    for row, k in enumerate(derivatives.states):
        state = derivatives.system.states[k]
        if state.name in names:
            here = derivatives.call("rates", replace(point, x=x))[row]
            step = state.nominal * (np.arange(x.size) == k)
            slope = (derivatives.call("rates", replace(point, x=x + step))[row] - here) / state.nominal
            x[k] -= here / slope if slope < 0 else 0.0
    return replace(point, x=x)


def _variable(info: StateInfo | MemoryInfo, value: float) -> Variable:
    return Variable(info.name, info.unit, float(value))
