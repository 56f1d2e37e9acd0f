"""How does a scenario become a unit of a co-simulation, with its own solver and native code between exchanges?"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

import casadi as ca
import numpy as np

from robodyn.assembly import assemble
from robodyn.cosimulation.joining import move_interface
from robodyn.cosimulation.polynomials import (
    EXCHANGE,
    HIGHEST_ORDER,
    all_coefficients,
    coefficient_names,
    with_polynomials,
)
from robodyn.cosimulation.reduced import PortFunctions
from robodyn.cosimulation.unit import Coefficients, InterfaceMotion, ReducedModel
from robodyn.engine import ResumableRun, Status, Trajectory
from robodyn.errors import FlawList, nearest
from robodyn.model import Interface, Scenario, Solver
from robodyn.model.numbers import check_finite
from robodyn.results import Outcome, Run
from robodyn.simulation import compile_system
from robodyn.simulation.outcomes import tell_failure, tell_outcome
from robodyn.simulation.problem import build_problem
from robodyn.simulation.python_calls import PythonCalls
from robodyn.simulation.recording import make_run
from robodyn.simulation.settings import engine_recording
from robodyn.simulation.starting import find_start

MEAN = "mean_force"
MOVING = ("force", "far_position", "far_velocity", "far_orientation", "far_force", "far_acceleration")
"""What comes in at an interface that may move in time between two exchanges."""
CLOSING_STEPS = 4
"""Newton steps that join an interface at the start, at most."""


class ScenarioUnit:
    """A scenario cut at its interfaces.

    Its inputs are what comes in at interfaces that take a force or a motion, and any further tunable numbers; its
    outputs are all its signals, and `<interface>.mean_force...` over the last macro step where a motion or a model
    comes in. Clocks, delays and events go on across communication points; a sampled block that reads an input directly
    sees it at a communication point as it was before the exchange there.

    Args:
        solver: of this unit, with its own micro steps; the scenario's by default.
        inputs: further tunable numbers that other units may feed.
        parameters: tunable numbers to change for this run.
        length: in units of which turns are compared with displacements, for condition numbers [m].
    """

    highest_order = HIGHEST_ORDER

    def __init__(
        self,
        scenario: Scenario,
        *,
        name: str | None = None,
        solver: Solver | None = None,
        inputs: Sequence[str] = (),
        parameters: Mapping[str, float] | None = None,
        length: float = 1.0,
        on_compile: Callable[[str], None] | None = None,
    ) -> None:
        flaws = FlawList()
        if check_finite(flaws, "length", length) and not length > 0:
            flaws.add("length", f"must be positive, is {length:g}")
        flaws.raise_if_any(f"unit '{name or scenario.name}'")
        scenario = scenario.with_numbers(parameters or {})
        self.name = name or scenario.name
        self.scenario, self.length = scenario, length
        self.solver = scenario.solver if solver is None else solver
        self.interfaces: dict[str, Interface] = {part.name: part for part in scenario.machine.interfaces}
        coming = [name for part in self.interfaces.values() for name in part.incoming]
        moving = [name for name in coming if _quantity(name, self.interfaces) in MOVING]
        self.inputs = (*(n for p in self.interfaces.values() if p.takes != "model" for n in p.incoming), *inputs)
        self.system = with_polynomials(assemble(scenario), tuple(dict.fromkeys((*moving, *inputs))))
        self.compiled = compile_system(self.system, self.solver, on_compile=on_compile)
        self.outputs = {info.name: info.unit for info in self.system.signals} | self._mean_units()
        called = [task.call for task in self.system.tasks] + [guard.call for guard in self.system.guards]
        self.can_restore = not any(called)
        self._place = {number.name: k for k, number in enumerate(self.system.parameters)}
        self._places: dict[tuple[str, ...], np.ndarray] = {}
        self.chosen: tuple[str, ...] | None = None
        self.values = np.array([number.value for number in self.system.parameters], float)
        self.begin = find_start(self.compiled, self.values)
        self.run: ResumableRun | None = None
        self.ended: Trajectory | None = None
        self.corrected = False
        self._impulse: dict[str, list[float]] = {}
        self._since = self.begin.time
        self.choose(tuple(name for part in self.interfaces.values() for name in _port_signals(part)))

    @property
    def used(self) -> bool:
        """Whether it has been started."""
        return self.run is not None

    def renew(self) -> ScenarioUnit:
        """The same unit from its start, for another co-simulation, without being assembled and compiled again."""
        unit = copy.copy(self)
        unit.values = np.array([number.value for number in self.system.parameters], float)
        unit.begin = find_start(self.compiled, unit.values)
        unit.run, unit.ended, unit.corrected = None, None, False
        unit._impulse, unit._since = {}, unit.begin.time
        unit._prepare()
        return unit

    def _mean_units(self) -> dict[str, str]:
        units = {info.name: info.unit for info in self.system.signals}
        return {
            mean: units[force]
            for part in self.interfaces.values()
            if part.takes != "force"
            for mean, force in zip(part.names(MEAN), part.names("force"), strict=True)
        }

    def choose(self, names: Sequence[str]) -> None:
        """Which outputs `read` gives; what interfaces need is added."""
        flaws = FlawList()
        for name in names:
            if name not in self.outputs:
                flaws.add(f"{self.name}.{name}", "there is no such output", nearest(name, self.outputs))
        flaws.raise_if_any(f"unit '{self.name}'")
        own = [name for part in self.interfaces.values() for name in _port_signals(part)]
        means = self._mean_units()
        chosen = tuple(dict.fromkeys(name for name in (*own, *names) if name not in means))
        if chosen != self.chosen:
            self.chosen, self.functions = chosen, self._make_functions(chosen)
        self._prepare()

    def _make_functions(self, chosen: Sequence[str]) -> PortFunctions:
        place = {info.name: k for k, info in enumerate(self.system.signals)}
        outputs = self.system.expressions["outputs"]
        column = ca.vertcat(ca.SX(0, 1), *(outputs[place[name]] for name in chosen))
        return PortFunctions(self.system, {"chosen": column})

    def _prepare(self) -> None:
        """What depends on the numbers alone, anew."""
        self.p = self.functions.module.prepare(self.values)
        if self.run is not None:
            fresh = self.compiled.module.prepare(self.values)
            self.run.change(fresh)
            self.calls.p = fresh

    def _now(self) -> tuple[np.ndarray, ...]:
        """t, x, d, m, p at the present time."""
        if self.run is None:
            d = np.array([delay.before or 0.0 for delay in self.system.delays], float)
            return np.array([self.begin.time]), self.begin.x, d, self.begin.m, self.p
        return np.array([self.run.time]), self.run.x, self.run.d, self.run.m, self.p

    def start(self, time: float) -> None:
        """Begin: what is due at the start happens."""
        numbers: dict[str, Any] = {name: number.value for name, number in self.system.numbers.items()}
        numbers |= {number.name: value for number, value in zip(self.system.parameters, self.values, strict=True)}
        duration = self.scenario.duration
        self.begin = dataclasses.replace(self.begin, time=time)
        self.calls = PythonCalls(self.compiled, self.compiled.module.prepare(self.values))
        self.run = ResumableRun(
            build_problem(self.compiled, self.calls.p, numbers, self.begin),
            self.solver,
            time,
            time + duration,
            self.begin.x,
            self.begin.m,
            self.calls.p,
            engine_recording(self.scenario.recording, self.solver, time, duration),
            python_task=self.calls.run_task,
            python_action=self.calls.run_action,
        )
        self.run.go_on(time)
        self._since = time
        self._impulse = self._impulses()

    def read(self) -> dict[str, float]:
        """The chosen outputs at the present time."""
        now = self._now()
        found = self._read(now)
        passed = float(now[0][0]) - self._since
        for part in self.interfaces.values():
            if part.takes != "force":
                found |= self._means(part, found, passed)
        return found

    def _read(self, now: tuple[np.ndarray, ...]) -> dict[str, float]:
        return dict(zip(self.chosen or (), self.functions.kernel("chosen")(*now).tolist(), strict=True))

    def _means(self, part: Interface, found: Mapping[str, float], passed: float) -> dict[str, float]:
        """Force on this side in the mean over the last macro step; as it is now where none has passed."""
        if passed <= 0:
            return {mean: found[force] for mean, force in zip(part.names(MEAN), part.names("force"), strict=True)}
        impulses = zip(part.names(MEAN), part.names("impulse"), self._impulse[part.name], strict=True)
        return {mean: (found[now] - before) / passed for mean, now, before in impulses}

    def _impulses(self) -> dict[str, list[float]]:
        found = self._read(self._now())
        parts = [part for part in self.interfaces.values() if part.takes != "force"]
        return {part.name: [found[name] for name in part.names("impulse")] for part in parts}

    def write(self, inputs: Mapping[str, Coefficients]) -> None:
        """Inputs as polynomials from the present time on."""
        for name, coefficients in inputs.items():
            self._set_polynomial(name, coefficients)
        self._prepare()

    def _set_polynomial(self, name: str, coefficients: Sequence[float]) -> None:
        """An input from the present time on; what does not move by itself is zero in all but its value."""
        self._set_course((name,), np.array(coefficients, float)[:, None])

    def _set_course(self, names: tuple[str, ...], course: np.ndarray) -> None:
        """Numbers that move from the present time on: course (order + 1, n)."""
        places = self._find(all_coefficients(names)).reshape(-1, len(names))
        self.values[places[: len(course)]] = course
        self.values[places[len(course) :]] = 0.0
        self.values[self._place[EXCHANGE]] = self._now()[0][0]

    def _set(self, names: tuple[str, ...], values: np.ndarray) -> None:
        """Numbers that stay as they are until the next exchange."""
        self.values[self._find(names)] = values

    def _find(self, names: tuple[str, ...]) -> np.ndarray:
        """Places of numbers among the tunable ones; looked up once."""
        if names not in self._places:
            self._places[names] = np.array([self._place[name] for name in names], int)
        return self._places[names]

    def advance(self, time: float, step: float) -> Outcome | None:
        """Native integration to `time + step`."""
        assert self.run is not None
        self._since, self._impulse = time, self._impulses() if self._impulse else {}
        try:
            status = self.run.go_on(time + step)
        except Exception as error:  # noqa: BLE001  a Python block or action may raise anything
            self.ended = self.run.finish(Status.FAILED)
            return tell_failure(self.ended, self.calls.running, error)
        if status is Status.FINISHED:
            return None
        self.ended = self.run.finish(status)
        return tell_outcome(self.compiled, self.solver, self.ended)

    def reduced_model(self, interface: str) -> ReducedModel:
        """The scenario's mechanism as it is felt at an interface, at the present state."""
        return self.functions.mechanics(interface, *self._now()).reduce(self.length)

    def attach_model(
        self, interface: str, model: ReducedModel, motion: InterfaceMotion, trend: np.ndarray | None = None
    ) -> None:
        """Put another unit's reduced model at an interface.

        Args:
            motion: of the far side where the model is attached through a stiffness, otherwise the one that this side's
                interface goes on with.
            trend: c1, c2, ... of the model's acceleration over the next macro step, (order, k).
        """
        part = self.interfaces[interface]
        rows = _lower_triangle(len(part.rows))
        further = np.zeros((0, len(part.rows))) if trend is None else trend
        if part.rigid:
            self._set(part.names("far_inertia"), model.inertia[rows])
            self._set_course(part.names("far_force"), np.vstack([model.force, further @ model.inertia]))
            self._prepare()
            self._join(interface, model.inertia, motion)
            return
        self._set(part.names("far_mobility"), model.mobility[rows])
        self._set_course(part.names("far_acceleration"), np.vstack([model.acceleration, further]))
        if motion.rotation is not None:
            self._set(part.names("far_orientation"), motion.rotation.ravel())
        self._prepare()
        states = dict(zip(part.names("far_position"), motion.position, strict=True))
        states |= dict(zip(part.names("far_velocity"), motion.velocity, strict=True))
        states |= {f"{interface}.far_turn.{row}": 0.0 for row in part.rows[3:]}
        x = self._now()[1].copy()
        for k, state in enumerate(self.system.states):
            x[k] = states.get(state.name, x[k])
        self.move(x)

    def _join(self, interface: str, inertia: np.ndarray, motion: InterfaceMotion) -> None:
        """Give the interface a motion; at the start exactly, on the way by one step."""
        steps = CLOSING_STEPS if self.run is None else 1
        self.move(move_interface(self.functions, interface, self._now(), inertia, motion, steps))
        self.corrected = True

    @property
    def state(self) -> np.ndarray:
        """Continuous states at the present time, in the order of `system.states`."""
        return self._now()[1].copy()

    @cached_property
    def _sampled(self) -> list[int]:
        """Places in the memory that tasks write."""
        m = self.system.symbols["m"]
        columns = [self.system.expressions[task.function] for task in self.system.tasks if task.function]
        return [k for k in range(m.numel()) if any(not ca.is_equal(after[k], m[k], 2) for after in columns)]

    @property
    def memory(self) -> np.ndarray:
        """What sampled blocks remember and hold at the present time."""
        return self._now()[3][self._sampled]

    def move(self, x: np.ndarray, memory: np.ndarray | None = None) -> None:
        """Go on from other continuous states, and from other memory of sampled blocks."""
        if self.run is None:
            self.begin = dataclasses.replace(self.begin, x=x)
        else:
            self.run.move(x)
        if memory is not None:
            self._now()[3][self._sampled] = memory

    def held(self, names: tuple[str, ...]) -> np.ndarray:
        """What was sent last for some inputs, as it acts at the present time."""
        passed = float(self._now()[0][0]) - self.values[self._place[EXCHANGE]] if EXCHANGE in self._place else 0.0
        return np.array([np.polyval(self.values[self._course(name)][::-1], passed) for name in names])

    def hold(self, names: tuple[str, ...], values: np.ndarray) -> None:
        """Shift what was sent last, so that it has other values at the present time."""
        for name, change in zip(names, values - self.held(names), strict=True):
            self.values[self._place[name]] += change
        self._prepare()

    def _course(self, name: str) -> list[int]:
        """Places of an input's coefficients: of its value alone where it does not move by itself."""
        return [self._place[key] for key in coefficient_names(name) if key in self._place]

    def save(self) -> Any:
        """All that changes."""
        assert self.run is not None
        return self.run.save(), self.values.copy(), self._since, dict(self._impulse), self.corrected

    def restore(self, state: Any) -> None:
        """Go back to where `save` was called."""
        assert self.run is not None
        saved, values, self._since, self._impulse, self.corrected = state
        self.run.restore(saved)
        self.values, self.ended = values.copy(), None
        self._prepare()

    def finish(self, outcome: Outcome) -> Run:
        """The scenario's own run so far; where it has not begun, its start."""
        if self.run is None:
            self.start(self.begin.time)
        assert self.run is not None
        trajectory = self.ended or self.run.finish(Status.FINISHED)
        unbalanced = "what joins the interfaces at each exchange moves the state" if self.corrected else ""
        return make_run(self.compiled, self.solver, self.values, trajectory, outcome, self.begin, unbalanced=unbalanced)


@cache
def _lower_triangle(n: int) -> tuple[np.ndarray, ...]:
    """Rows and columns, row by row."""
    return np.tril_indices(n)


def _port_signals(part: Interface) -> tuple[str, ...]:
    """Signals of an interface that a connection reads."""
    quantities = ["position", "velocity", "force"] + (["orientation"] if part.rotates else [])
    quantities += [] if part.takes == "force" else ["impulse"]
    if part.takes != "force" and not part.rigid:
        quantities += ["far_position", "far_velocity"] + (["far_orientation"] if part.rotates else [])
    work = () if part.takes == "motion" else (f"{part.name}.work",)
    return (*(name for quantity in quantities for name in part.names(quantity)), *work)


def _quantity(name: str, interfaces: Mapping[str, Interface]) -> str:
    """Which quantity of its interface a number is."""
    owner = max((key for key in interfaces if name.startswith(f"{key}.")), key=len)
    return name.removeprefix(f"{owner}.").partition(".")[0]
