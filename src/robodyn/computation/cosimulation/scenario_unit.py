"""Scenario as a unit of a co-simulation: how does it move with its own solver and native code between exchanges?"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.computation.assembly import assemble
from robodyn.computation.cosimulation.reduced import PortFunctions, move_interface, quaternions
from robodyn.computation.cosimulation.scenario_inputs import (
    HIGHEST_ORDER,
    STEP,
    InputValues,
    far_states,
    lower_triangle,
    mean_forces,
    mean_units,
    moving_inputs,
    port_signals,
    with_polynomials,
)
from robodyn.computation.cosimulation.unit import Coefficients, InterfaceMotion, ReducedModel
from robodyn.computation.engine import ResumableRun, Status, Trajectory
from robodyn.computation.results import Outcome, Run
from robodyn.computation.simulation import compile_system
from robodyn.computation.simulation.extent import engine_recording
from robodyn.computation.simulation.outcomes import describe_failure, describe_outcome
from robodyn.computation.simulation.problem import build_problem
from robodyn.computation.simulation.python_calls import PythonCalls
from robodyn.computation.simulation.recording import make_run
from robodyn.computation.simulation.starting import find_start, list_changes
from robodyn.description.model import Interface, Scenario, Solver
from robodyn.description.model.kinds import Bounds

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
        length: in units of which rotations are compared with displacements, for condition numbers [m].
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
        Bounds(positive=True).check(flaws, "length", length, "m")
        flaws.raise_if_any(f"unit '{name or scenario.name}'")
        scenario = scenario.with_numbers(parameters or {})
        self.name = name or scenario.name
        self.scenario, self.length = scenario, length
        self.solver = scenario.solver if solver is None else solver
        self.interfaces: dict[str, Interface] = {part.name: part for part in scenario.machine.interfaces}
        self.giving = [part for part in self.interfaces.values() if part.takes != "force"]
        self.inputs = (*(n for p in self.interfaces.values() if p.takes != "model" for n in p.incoming), *inputs)
        moving = tuple(dict.fromkeys((*moving_inputs(self.interfaces), *inputs)))
        self.system = with_polynomials(assemble(scenario), moving)
        self.compiled = compile_system(self.system, self.solver, on_compile=on_compile)
        self.spheres = quaternions(self.system)
        units = {info.name: info.unit for info in self.system.signals}
        self._means = mean_units(self.giving, units)
        self.outputs = units | self._means
        interrupted = self.system.discrete
        called = [task.call for task in interrupted.tasks] + [guard.call for guard in interrupted.guards]
        self.can_restore = not any(called)
        self.chosen: tuple[str, ...] | None = None
        self.implicit: tuple[str, ...] = ()
        # Of outputs chosen and of implicit interfaces; units that are renewed share them.
        self._made: dict[tuple[tuple[str, ...], tuple[str, ...]], PortFunctions] = {}
        self.numbers = InputValues(self.system.parameters)
        self.begin = find_start(self.compiled, self.values)
        self.run: ResumableRun | None = None
        self.ended: Trajectory | None = None
        self.corrected = False
        self.impulse: dict[str, list[float]] = {}
        self.since = self.begin.time
        self.choose(())

    @property
    def values(self) -> np.ndarray:
        """Of the tunable numbers, in the order of `system.parameters`."""
        return self.numbers.values

    @property
    def time(self) -> float:
        """That the unit has reached [s]."""
        return float(self._now()[0][0])

    @property
    def used(self) -> bool:
        """Whether it has been started."""
        return self.run is not None

    def renew(self) -> ScenarioUnit:
        """The same unit from its start, for another co-simulation, without being assembled and compiled again."""
        unit = copy.copy(self)
        unit.numbers = InputValues(self.system.parameters)
        unit.begin = find_start(self.compiled, unit.values)
        unit.run, unit.ended, unit.corrected = None, None, False
        unit.impulse, unit.since = {}, unit.begin.time
        unit._make_terms()
        unit._prepare()
        return unit

    def choose(self, names: Sequence[str]) -> None:
        """Which outputs `read` gives; what interfaces need is added."""
        flaws = FlawList()
        for name in names:
            if name not in self.outputs:
                flaws.add(f"{self.name}.{name}", "there is no such output", nearest(name, self.outputs))
        flaws.raise_if_any(f"unit '{self.name}'")
        own = [name for part in self.interfaces.values() for name in port_signals(part)]
        chosen = tuple(dict.fromkeys(name for name in (*own, *names) if name not in self._means))
        if chosen != self.chosen:
            self.chosen = chosen
            self._make_functions()
        self._prepare()

    def _make_functions(self) -> None:
        """What is read, and the terms at interfaces, in native code."""
        key = (self.chosen or (), self.implicit)
        if key not in self._made:
            outputs, known = self.system.expressions.outputs, self.system.signal_names
            column = ca.vertcat(ca.SX(0, 1), *(outputs[known.index(name)] for name in key[0]))
            self._made[key] = PortFunctions(self.system, {"chosen": column}, self.implicit)
        self.functions = self._made[key]
        self._make_terms()

    def _make_terms(self) -> None:
        """Room for what is found at interfaces."""
        self.terms = {name: self.functions.terms(name, self.length) for name in self.interfaces}

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
        numbers, duration = self.compiled.number_values(self.values), self.scenario.duration
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
        self.since = time
        self.impulse = self._impulses()

    def read(self) -> dict[str, float]:
        """The chosen outputs at the present time."""
        now = self._now()
        found = self._read(now)
        passed = float(now[0][0]) - self.since
        for part in self.giving:
            found |= mean_forces(part, found, self.impulse.get(part.name, []), passed)
        return found

    def _read(self, now: tuple[np.ndarray, ...]) -> dict[str, float]:
        return dict(zip(self.chosen or (), self.functions.kernel("chosen")(*now).tolist(), strict=True))

    def _impulses(self) -> dict[str, list[float]]:
        found = self._read(self._now())
        return {part.name: [found[name] for name in part.names("impulse")] for part in self.giving}

    def write(self, inputs: Mapping[str, Coefficients]) -> None:
        """Inputs as polynomials from the present time on."""
        for name, coefficients in inputs.items():
            self.numbers.set_course((name,), np.array(coefficients, float)[:, None], self.time)
        self._prepare()

    def advance(self, time: float, step: float) -> Outcome | None:
        """Native integration to `time + step`."""
        assert self.run is not None
        self.since, self.impulse = time, self._impulses() if self.impulse else {}
        try:
            status = self.run.go_on(time + step)
        except Exception as error:  # noqa: BLE001  a Python block or action may raise anything
            self.ended = self.run.finish(Status.FAILED)
            return describe_failure(self.ended, self.calls.running, error)
        if status is Status.FINISHED:
            return None
        return self.conclude(status)

    def conclude(self, status: Status) -> Outcome:
        """The outcome of a run that could not go on, or ends."""
        assert self.run is not None
        self.ended = self.run.finish(status)
        return describe_outcome(self.compiled, self.solver, self.ended)

    def reduced_model(self, interface: str, step: float = 0.0) -> ReducedModel:
        """The scenario's mechanism as it is felt at an interface, at the present state.

        Args:
            step: macro step within which its forces change as they do to first order [s]; 0: they are held.
        """
        if step > 0 and interface not in self.implicit:
            self.implicit = (*self.implicit, interface)
            self._make_functions()
            self._prepare()
        if self.implicit and self.numbers.value(STEP) != step:
            self.numbers.set((STEP,), step)
            self._prepare()
        return self.functions.fill(self.terms[interface], interface, *self._now()).reduce()

    @property
    def foresees(self) -> bool:
        """Whether the models that it gave last are implicit."""
        return bool(self.implicit) and self.numbers.value(STEP) > 0

    def attach_model(
        self, interface: str, model: ReducedModel, motion: InterfaceMotion | None, trend: np.ndarray | None = None
    ) -> None:
        """Put another unit's reduced model at an interface.

        Args:
            motion: of the far side where the model is attached through a stiffness, otherwise the one that this side's
                interface goes on with; None: its own.
            trend: c1, c2, ... of the model's acceleration over the next macro step, (order, k).
        """
        part = self.interfaces[interface]
        rows = lower_triangle(len(part.row_names))
        further = np.zeros((0, len(part.row_names))) if trend is None else trend
        if part.rigid:
            self.numbers.set(part.names("far_inertia"), model.inertia[rows])
            course = np.vstack([model.force, further @ model.inertia])
            self.numbers.set_course(part.names("far_force"), course, self.time)
            self._prepare()
            if motion is not None:
                self._move_interface(interface, model.inertia, motion)
            return
        assert motion is not None
        self.numbers.set(part.names("far_mobility"), model.mobility[rows])
        course = np.vstack([model.acceleration, further])
        self.numbers.set_course(part.names("far_acceleration"), course, self.time)
        if motion.rotation is not None:
            self.numbers.set(part.names("far_orientation"), motion.rotation.ravel())
        self._prepare()
        states = far_states(part, motion)
        x = self._now()[1].copy()
        for k, state in enumerate(self.system.states):
            x[k] = states.get(state.name, x[k])
        self.move(x)

    def _move_interface(self, interface: str, inertia: np.ndarray, motion: InterfaceMotion) -> None:
        """The interface gets the common motion: at the start exactly, on the way by one Newton step."""
        steps, self.corrected = CLOSING_STEPS if self.run is None else 1, True
        (t, x, *rest), terms = self._now(), self.terms[interface]

        def evaluate(tried: np.ndarray) -> object:
            return self.functions.fill(terms, interface, t, tried, *rest)

        moved = move_interface(terms, evaluate, x, self.spheres, inertia, motion, steps)
        if self.run is None:
            # What the scenario describes is not what it begins with: its run says so.
            changes = list_changes(self.system, self.begin.x, moved)
            described = {name: entry[0] for name, entry in self.begin.found.items()}
            found = {name: (described.get(name, old), new) for name, (old, new) in changes.items()}
            self.begin = dataclasses.replace(self.begin, found={**self.begin.found, **found})
        self.move(moved)

    @property
    def state(self) -> np.ndarray:
        """Continuous states at the present time, in the order of `system.states`."""
        return self._now()[1].copy()

    @property
    def memory(self) -> np.ndarray:
        """What sampled blocks remember and hold at the present time."""
        return self._now()[3][self.system.sampled_memory]

    def move(self, x: np.ndarray, memory: np.ndarray | None = None) -> None:
        """Go on from other continuous states, and from other memory of sampled blocks."""
        if self.run is None:
            self.begin = dataclasses.replace(self.begin, x=x)
        else:
            self.run.move(x)
        if memory is not None:
            self._now()[3][self.system.sampled_memory] = memory

    def held(self, names: tuple[str, ...]) -> np.ndarray:
        """What was sent last for some inputs, as it acts at the present time."""
        return self.numbers.at(names, self.time)

    def hold(self, names: tuple[str, ...], values: np.ndarray) -> None:
        """Shift what was sent last, so that it has other values at the present time."""
        self.numbers.shift(names, values, self.time)
        self._prepare()

    def save(self) -> Any:
        """All that changes."""
        assert self.run is not None
        return self.run.save(), self.values.copy(), self.since, dict(self.impulse), self.corrected

    def restore(self, state: Any) -> None:
        """Go back to where `save` was called."""
        assert self.run is not None
        saved, values, self.since, self.impulse, self.corrected = state
        self.run.restore(saved)
        self.numbers.values, self.ended = values.copy(), None
        self._prepare()

    def finish(self, outcome: Outcome) -> Run:
        """The scenario's own run so far; where it has not begun, its start."""
        if self.run is None:
            self.start(self.begin.time)
        assert self.run is not None
        trajectory = self.ended or self.run.finish(Status.FINISHED)
        unbalanced = "what joins the interfaces at each exchange moves the state" if self.corrected else ""
        return make_run(self.compiled, self.solver, self.values, trajectory, outcome, self.begin, unbalanced=unbalanced)
