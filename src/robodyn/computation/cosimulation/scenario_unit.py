"""Scenario as a unit of a co-simulation: how does it move with its own solver and native code between exchanges?"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, refuse_unknown
from robodyn.base.symbolic import to_column
from robodyn.computation.assembly import assemble
from robodyn.computation.engine import ResumableRun, Status, Trajectory
from robodyn.computation.engine.binding import EngineStructure, address_of, functions
from robodyn.computation.engine.integrate import Reason
from robodyn.computation.results import Outcome, Run
from robodyn.computation.simulation import compile_system
from robodyn.computation.simulation.batch import BatchRunner, RunInputs
from robodyn.computation.simulation.outcomes import describe_failure, describe_outcome
from robodyn.computation.simulation.recording import make_run
from robodyn.computation.simulation.starting import Start, find_start, list_changes
from robodyn.description.model import Bounds, Interface, Scenario, Solver

from .reduced import CLOSING_STEPS, TAKES, PortFunctions, PortTerms, quaternions
from .scenario_inputs import (
    EXCHANGE,
    HIGHEST_ORDER,
    MEAN,
    STEP,
    all_coefficients,
    coefficient_names,
    far_states,
    mean_units,
    moving_inputs,
    port_signals,
    with_polynomials,
)
from .unit import Coefficients, InterfaceMotion, ReducedModel

OUTPUTS = ("outputs", "noted", "begun", "arrived", "saved")
"""Arrays of a unit's outputs, as coupling.h names them."""


class ScenarioUnit:
    """A subsystem of a co-simulation: a scenario cut at its interfaces.

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
        self.compiled = compile_system(self.system, self.solver)
        self.spheres = quaternions(self.system)
        self._means = mean_units(self.giving, self.system.signal_units)
        self.outputs = self.system.signal_units | self._means
        interrupted = self.system.discrete
        called = [task.call for task in interrupted.tasks] + [guard.call for guard in interrupted.guards]
        self.can_restore = not any(called)
        self.chosen: tuple[str, ...] | None = None
        self.implicit: tuple[str, ...] = ()
        # Of outputs chosen and of implicit interfaces; units that are renewed share them.
        self._made: dict[tuple[tuple[str, ...], tuple[str, ...]], PortFunctions] = {}
        self._begin()
        self.choose(())

    def _begin(self) -> None:
        """Be at the start; how the run begins may still be changed by the first exchange."""
        self.values = self.system.described_values.copy()
        self.begin = find_start(self.compiled, self.values)
        self.run = self._make_run(self.begin)
        self.used = self.corrected = False
        self.ended: Trajectory | None = None
        means = [name for part in self.giving for name in part.names(MEAN)]
        self.native = EngineStructure("CoupledUnit", since=self.begin.time, impulse=np.zeros(len(means)))

    @property
    def time(self) -> float:
        """That the unit has reached [s]."""
        return self.run.time

    def renew(self) -> ScenarioUnit:
        """This unit from its start, for another co-simulation, without being assembled and compiled again."""
        unit = copy.copy(self)
        unit._begin()
        unit._connect()
        return unit

    def choose(self, names: Sequence[str]) -> None:
        """Which outputs `read` gives; what interfaces need is added."""
        refuse_unknown(names, self.outputs, "there is no such output", f"unit '{self.name}'", self.name)
        needed = [name for part in self.interfaces.values() for name in port_signals(part)]
        chosen = tuple(dict.fromkeys(name for name in (*needed, *names) if name not in self._means))
        if chosen != self.chosen:
            self.chosen = chosen
            self._connect()

    def foresee(self, interfaces: Sequence[str]) -> None:
        """Models of some interfaces hold what their forces become within the macro step."""
        if set(interfaces) - set(self.implicit):
            self.implicit = tuple(dict.fromkeys((*self.implicit, *interfaces)))
            self._connect()
        if interfaces:
            self.native.fields.span = self.system.places[STEP]

    def _connect(self) -> None:
        """The unit in the engine's memory: what is read, and the terms at its interfaces, in native code."""
        key = (self.chosen or (), self.implicit)
        if key not in self._made:
            outputs, known = self.system.expressions.outputs, self.system.signal_names
            column = to_column(outputs[known.index(name)] for name in key[0])
            self._made[key] = PortFunctions(self.system, {"chosen": column}, self.implicit)
        ports = self.functions = self._made[key]
        means = [name for part in self.giving for name in part.names(MEAN)]
        self.place = {name: k for k, name in enumerate((*key[0], *means))}
        at = {
            f"{key}s": np.array([self.place[n] for part in self.giving for n in part.names(key)], np.int64)
            for key in ("impulse", "force")
        }
        before = self.native
        self.native = EngineStructure(
            "CoupledUnit",
            read=ports.kernel("chosen").address,
            run_prelude=self.compiled.module.prelude_address,
            port_prelude=ports.module.prelude_address,
            values=self.values,
            port_p=ports.module.prepare(self.values),
            spheres=self.spheres,
            impulse=before.arrays["impulse"],
            since=before.fields.since,
            n_read=len(key[0]),
            n_means=len(means),
            n_values=len(self.values),
            n_spheres=len(self.spheres),
            clock=self.system.places.get(EXCHANGE, -1),
            span=-1,
            **at,
            **{name: np.zeros(len(self.place)) for name in OUTPUTS},
        )
        self.ports = {name: self._make_port(part) for name, part in self.interfaces.items()}
        self._connect_run()

    def _connect_run(self) -> None:
        """The engine finds the run, and what a stiff method has got on the way."""
        run = self.run.integration
        self.native.set(run=run.address, run_p=run.p)
        if run.derivatives is not None:
            prelude = self.compiled.derivative_module[0].prelude_address
            self.native.set(jacobian_prelude=prelude, jacobian_p=run.p_jacobian)

    def _make_port(self, part: Interface) -> PortTerms:
        port = self.functions.port(part.name, self.place, self.length)
        if part.takes != "model":
            return port
        matrix, course = ("far_inertia", "far_force") if part.rigid else ("far_mobility", "far_acceleration")
        port.set(
            takes=TAKES[part.rigid],
            matrix=self.numbers_at(part.names(matrix)),
            course=self.numbers_at(all_coefficients(part.names(course))),
        )
        if not part.rigid:
            port.set(states=self._far_states(part))
            if part.rotates:
                port.set(turned=self.numbers_at(part.names("far_orientation")))
        return port

    def _far_states(self, part: Interface) -> Array:
        return np.array([self.system.state_names.index(name) for name in far_states(part)], np.int64)

    def numbers_at(self, names: Sequence[str]) -> Array:
        """Places of tunable numbers."""
        return np.array([self.system.places[name] for name in names], np.int64)

    def _prepare(self) -> None:
        """Compute anew all that depends on the numbers alone."""
        functions().unit_prepare(self.native.address)

    def _make_run(self, begin: Start) -> ResumableRun:
        compiled, scenario = self.compiled, self.scenario
        runner = BatchRunner(compiled, self.solver, scenario.recording, begin.time, scenario.duration)
        inputs = RunInputs(self.values, compiled.number_values(self.values), begin)
        integration, self.calls = runner.begin(inputs)
        integration.call_back(self.calls.run_task, self.calls.run_action, None)
        # Python blocks see the numbers that the engine changes.
        self.calls.p = integration.p
        return ResumableRun(integration)

    def start(self, time: float) -> None:
        """Begin: what is due at the start happens."""
        x, start_values = self.run.x.copy(), self.begin.found
        if self.corrected:
            # What the scenario describes is not what it begins with: its run says so.
            described = self.begin.x.copy()
            for part in self.interfaces.values():
                if part.takes == "model" and not part.rigid:
                    far = self._far_states(part)
                    described[far] = x[far]
            changes = list_changes(self.system, described, x)
            start_values = {
                **start_values,
                **{n: (start_values.get(n, (old,))[0], new) for n, (old, new) in changes.items()},
            }
        self.begin = replace(self.begin, time=time, x=x, found=start_values)
        self.run, self.used = self._make_run(self.begin), True
        self._connect_run()
        self.run.go_on(time)
        self._connect_run()
        self.native.set(since=time, moved=0)

    def read(self) -> dict[str, float]:
        """The chosen outputs at the present time."""
        functions().unit_read(self.native.address)
        return dict(zip(self.place, self.native.arrays["outputs"].tolist(), strict=True))

    def write(self, inputs: Mapping[str, Coefficients]) -> None:
        """Inputs as polynomials from the present time on."""
        for name, coefficients in inputs.items():
            course, places = np.array(coefficients, float), self.numbers_at(all_coefficients((name,)))
            at = self.native.address, address_of(course), len(course), 1, address_of(places), self.time
            functions().unit_write(*at)
        self._prepare()

    def advance(self, time: float, step: float) -> Outcome | None:
        """Native integration to `time + step`."""
        native = self.native
        self.read()
        native.arrays["impulse"][:] = native.arrays["outputs"][native.arrays["impulses"]]
        self.run.moved |= bool(native.fields.moved)
        native.set(since=time, moved=0)
        try:
            status = self.run.go_on(time + step)
        except Exception as error:  # noqa: BLE001  a Python block or action may raise anything
            return self._fail(error)
        self._connect_run()
        return None if status is Status.FINISHED else self.conclude(status)

    def serve(self, reason: Reason) -> Outcome | None:
        """Do what the run returned to Python for, while others advance it; the outcome where it cannot go on."""
        try:
            if not self.run.integration.serve(reason):
                return self.conclude(self.run.status)
        except Exception as error:  # noqa: BLE001  a Python block or action may raise anything
            return self._fail(error)
        self._connect_run()
        return None

    def conclude(self, status: Status) -> Outcome:
        """The outcome of a run that could not go on, or ends."""
        self.ended = self.run.finish(status)
        return describe_outcome(self.compiled, self.solver, self.ended)

    def _fail(self, error: Exception) -> Outcome:
        self.ended = self.run.finish(Status.FAILED)
        return describe_failure(self.ended, self.calls.running, error)

    def reduced_model(self, interface: str, step: float = 0.0) -> ReducedModel:
        """The scenario's mechanism as it is felt at an interface, at the present state.

        Args:
            step: macro step within which its forces change as they do to first order [s]; 0: they are held.
        """
        if step > 0:
            self.foresee([interface])
        if self.implicit:
            self.values[self.system.places[STEP]] = step
            self._prepare()
        functions().unit_reduce(self.native.address, self.ports[interface].address)
        return self.ports[interface].taken

    def attach_model(
        self, interface: str, model: ReducedModel, motion: InterfaceMotion | None, trend: Array | None = None
    ) -> None:
        """Put another unit's reduced model at an interface.

        Args:
            motion: of the far side where the model is attached through a stiffness, otherwise the one that this side's
                interface goes on with; None: its own.
            trend: c1, c2, ... of the model's acceleration over the next macro step, (order, k).
        """
        part, port = self.interfaces[interface], self.ports[interface]
        sender = PortTerms(part, {})
        sender.put(model, trend)
        port.set_goal(motion)
        # The interface gets the common motion: at the start exactly, on the way by one Newton step.
        steps = 1 if self.used else CLOSING_STEPS
        functions().unit_attach(self.native.address, port.address, sender.address, self.time, steps)
        self.corrected |= part.rigid and motion is not None

    @property
    def state(self) -> Array:
        """Continuous states at the present time, in the order of `system.states`."""
        return self.run.x.copy()

    @property
    def memory(self) -> Array:
        """Values that sampled blocks remember and hold at the present time."""
        return self.run.m[self.system.sampled_memory]

    def move(self, x: Array, memory: Array | None = None) -> None:
        """Continue from other continuous states, and other memory of sampled blocks."""
        self.run.x[:] = x
        self.native.fields.moved = 1
        if memory is not None:
            self.run.m[self.system.sampled_memory] = memory

    def held(self, names: Sequence[str]) -> Array:
        """Values sent last for some inputs, as they act at the present time."""
        places = self.system.places
        passed = self.time - self.values[places[EXCHANGE]] if EXCHANGE in places else 0.0
        values = []
        for name in names:
            course = [self.values[places[key]] for key in coefficient_names(name) if key in places]
            values.append(np.polyval(course[::-1], passed))
        return np.array(values)

    def hold(self, names: Sequence[str], values: Array) -> None:
        """Shift what was sent last, so that it has other values at the present time."""
        self.values[self.numbers_at(names)] += values - self.held(names)
        self._prepare()

    def save(self) -> Any:
        """All that changes."""
        native = self.native
        exchange = native.arrays["impulse"].copy(), native.fields.since, native.fields.moved, self.corrected
        return self.run.save(), self.values.copy(), exchange

    def restore(self, state: Any) -> None:
        """Go back to where `save` was called."""
        saved, self.values[:], (impulse, since, moved, self.corrected) = state
        self.run.restore(saved)
        self.native.arrays["impulse"][:] = impulse
        self.native.set(since=since, moved=moved)
        self.ended = None
        self._connect_run()
        self._prepare()

    def finish(self, outcome: Outcome) -> Run:
        """The scenario's own run so far; where it has not begun, its start."""
        if not self.used:
            self.start(self.begin.time)
        trajectory = self.ended or self.run.finish(Status.FINISHED)
        unbalanced = "what joins the interfaces at each exchange moves the state" if self.corrected else ""
        return make_run(self.compiled, self.solver, self.values, trajectory, outcome, self.begin, unbalanced=unbalanced)
