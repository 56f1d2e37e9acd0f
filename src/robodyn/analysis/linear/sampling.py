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
from robodyn.analysis.linear.idealised import FRICTION, friction_states, ideal_numbers
from robodyn.analysis.linear.linear_model import Variable
from robodyn.analysis.linear.operating_point import OperatingPoint, Place, find_point
from robodyn.analysis.linear.sampled_model import SampledModel, Update
from robodyn.analysis.linear.tangent import find_tangent
from robodyn.analysis.linear.trim import count_states, memory_changes
from robodyn.analysis.point_functions import PointFunctions
from robodyn.base.errors import Flaw, FlawList, ModelError, refuse_unknown, refuse_word
from robodyn.base.symbolic.kinds import changed_entries
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.declarations import MemoryInfo, StateInfo
from robodyn.description.model import Scenario

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
        point = self._bend_bristles(point) if self.friction == "sliding" else point
        system, states, memory = self.system, self._states, self._memory
        tangent = find_tangent(system, point.x[states], self._functions("rates", point), states)
        n, m = len(tangent.variables), len(memory)
        k = len(states)
        rates, closed, *tasks, outputs = (
            np.hstack([matrix[:, :k] @ tangent.into, matrix[:, k:]]) for matrix in self._slopes_at(point)
        )
        rates = tangent.out @ rates + np.hstack([tangent.turning, np.zeros((n, m))])
        values = self._functions("outputs", point)
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

    @cached_property
    def _memory(self) -> list[int]:
        """Places of the memory that tasks change."""
        return [k for k, change in enumerate(memory_changes(self.system)) if change is not None]

    @cached_property
    def _states(self) -> list[int]:
        """Places of the states that count: friction that exerts nothing moves nothing; books are read by nothing."""
        left_out = friction_states(self.system.scenario) if self.friction == "none" else frozenset()
        return [k for k in range(count_states(self.system)) if self.system.states[k].name not in left_out]

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

    def _slopes_at(self, point: OperatingPoint) -> list[np.ndarray]:
        """The matrices of all groups of rows."""
        slopes = self._functions.slopes(point)
        if not np.isfinite(slopes).all():
            what = "some slopes are not numbers at this operating point"
            raise ModelError([Flaw("at", what, "choose another one")], self.system.scenario.name)
        return np.split(slopes, np.cumsum([row.numel() for row in self._rows])[:-1])

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

    def _update(self, number: int, matrix: np.ndarray, n: int, N: np.ndarray, memory: list[int]) -> Update:
        """The rows that a task writes; the others of its column only repeat the memory."""
        task = self.system.discrete.tasks[number]
        changed = {*changed_entries(self.system.symbols.m, self.system.memory_after(task))}
        places = np.array([row for row, k in enumerate(memory) if k in changed], int)
        return Update(task.name, task.period, task.offset, places, matrix[places, :n] @ N, matrix[places, n:])

    @cached_property
    def staircases(self) -> tuple[Jump, ...]:
        """Blocks with steps."""
        return find_staircases(self.system.scenario, rubs=self.friction != "none")

    def _notes(self) -> tuple[str, ...]:
        blocks = [block.name for block in self.system.scenario.machine.all_blocks if block.info.disturbance]
        message = {"none": "is left out", "stuck": "sticks", "sliding": "slides"}[self.friction]
        friction = f"friction {message}: {', '.join(blocks)}" if blocks else ""
        late_reads = map(str, self.system.discrete.late_reads)
        return tuple(filter(None, [friction, describe_staircases(self.staircases), *late_reads]))


def _variable(info: StateInfo | MemoryInfo, value: float) -> Variable:
    return Variable(info.name, info.unit, float(value))
