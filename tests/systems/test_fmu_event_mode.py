"""Are the located events of a co-simulation unit of version 3.0 events of its interface, as the standard has them?"""

import shutil
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from support.machines import cart

from robodyn import Solver
from robodyn.computation.assembly import assemble
from robodyn.computation.engine import EngineRecording, integrate
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.problem import build_problem
from robodyn.computation.simulation.run_functions import compile_system
from robodyn.computation.simulation.starting import find_start
from robodyn.description.catalog import bouncing_ball, breaking_pendulum
from robodyn.description.model import Block, Event

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi1 import FMICallException  # noqa: E402
from fmpy.fmi3 import FMU3Slave  # noqa: E402

from robodyn.exchange.fmi import write_fmu  # noqa: E402
from robodyn_studies.catalog.scara_avoid import scara_avoid  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
SHORT = {
    "bouncing-ball": (bouncing_ball, 3.0),
    "scara-avoid": (scara_avoid, 1.5),
    "breaking-pendulum": (breaking_pendulum, 0.6),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("units")


@pytest.fixture(scope="module", params=list(SHORT))
def unit(request, folder):
    make, duration = SHORT[request.param]
    scenario = replace(make(), duration=duration)
    return scenario, write_fmu(scenario, folder / f"{request.param}.fmu", fmi=3).path


@contextmanager
def opened(path, *, events=True, early=True, stop=None):
    """An instance in initialisation mode, with its variables by name."""
    description = fmpy.read_model_description(str(path))
    place = fmpy.extract(str(path))
    slave = FMU3Slave(
        guid=description.guid,
        unzipDirectory=place,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="unit",
    )
    slave.messages = messages = []
    note = lambda *said: messages.append(said[-1].decode())  # noqa: E731
    slave.instantiate(eventModeUsed=events, earlyReturnAllowed=early, logMessage=note)
    slave.references = {variable.name: variable.valueReference for variable in description.modelVariables}
    slave.outputs = [v.valueReference for v in description.modelVariables if v.causality == "output"]
    slave.enterInitializationMode(startTime=0.0, stopTime=stop)
    yield slave
    slave.freeInstance()
    shutil.rmtree(place, ignore_errors=True)


def read(slave, name):
    return slave.getFloat64([slave.references[name]])[0]


def handle(slave):
    """An event: whether the unit wants to end the simulation."""
    slave.enterEventMode()
    _, terminate, *_ = slave.updateDiscreteStates()
    if not terminate:
        slave.enterStepMode()
    return terminate


def begin(slave):
    slave.exitInitializationMode()
    slave.updateDiscreteStates()
    slave.enterStepMode()


def follow(slave, times):
    """Outputs at communication points, and the times of the events on the way."""
    rows, events, time = [slave.getFloat64(slave.outputs)], [], 0.0
    for after in times[1:]:
        while time < after:
            due, terminate, early, time = slave.doStep(time, after - time)
            assert not terminate
            assert early == (due and time < after)
            if due:
                events.append(time)
                assert not handle(slave)
        rows.append(slave.getFloat64(slave.outputs))
    return np.array(rows), events


def test_events_are_those_of_the_run_and_the_motion_is_the_same(unit):
    scenario, path = unit
    times = np.linspace(0.0, scenario.duration, 7).tolist()
    with opened(path, stop=scenario.duration) as slave:
        begin(slave)
        rows, events = follow(slave, times)
    for early in (True, False):
        with opened(path, events=False, early=early, stop=scenario.duration) as slave:
            slave.exitInitializationMode()
            inside, none = follow(slave, times)
        assert none == []
        np.testing.assert_array_equal(rows, inside)
    acting = {event.time for event in simulate(scenario).events if event.name not in watching(scenario)}
    assert len(events) == len(acting) > 0
    # Communication points cut steps: crossings are found on other polynomials, to the method's tolerance of 1e-7.
    np.testing.assert_allclose(events, sorted(acting), atol=1e-6)


def watching(scenario):
    return {event.name for event in scenario.events if event.action is None and not event.terminal}


def test_in_one_step_event_times_are_those_of_the_run_to_the_last_digit(unit):
    scenario, path = unit
    with opened(path, stop=scenario.duration) as slave:
        begin(slave)
        _, events = follow(slave, [0.0, scenario.duration])
    assert events == sorted(find_events(scenario))


def find_events(scenario):
    """Times of the native run's events, with every operation rounded by itself, as in C."""
    system, solver = assemble(scenario), scenario.solver
    compiled = compile_system(system, solver, plain=True)
    start = find_start(compiled, compiled.system.described_values)
    p = compiled.module.prepare(compiled.system.described_values)
    problem = build_problem(compiled, p, {name: number.value for name, number in system.numbers.items()}, start)
    run = integrate(problem, solver, 0.0, scenario.duration, start.x, start.m, p, EngineRecording(kind="none"))
    names = [guard.name for guard in system.discrete.guards]
    return {time for time, guard in run.events if names[guard] not in watching(scenario)}


def test_fmpy_simulates_a_unit_with_its_events(unit):
    scenario, path = unit
    settings = {"stop_time": scenario.duration, "output_interval": scenario.duration / 5}
    events = fmpy.simulate_fmu(str(path), use_event_mode=True, early_return_allowed=True, **settings)
    inside = fmpy.simulate_fmu(str(path), **settings)
    # Where the importer handles no early return, events are handled inside of steps.
    late = fmpy.simulate_fmu(str(path), use_event_mode=True, early_return_allowed=False, **settings)
    assert len(events) > len(inside)
    for name in events.dtype.names:
        np.testing.assert_array_equal(inside[name], late[name])
    last = [np.array(found[-1].tolist()) for found in (events, inside)]
    np.testing.assert_array_equal(*last)


def gated(**fields):
    """A cart at 1 m/s; a gate at 0.5 m that a switch opens, and a wall at 0.8 m that ends the run."""
    push = Block("push", "constant_reference", parameters={"constant": 0.0})
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "push.value"})
    place, slow = {"x": "rail.position"}, {"rail.velocity": 0.5}
    gate = Event("gate", lambda x: x - 0.5, place, direction="rising", action=lambda: slow)
    wall = Event("wall", lambda x: x - 0.8, place, terminal=True)
    # Every number on the way is exact.
    solver = Solver("euler", step=0.125)
    return cart(push, drive, initial={"rail.velocity": 1.0}, events=(gate, wall), duration=1.0, solver=solver, **fields)


@pytest.fixture(scope="module")
def gate(folder):
    return write_fmu(gated(), folder / "gate.fmu", fmi=3, inputs={"push.value": 0.0}).path


def test_an_event_at_a_communication_point_is_no_early_return(gate):
    with opened(gate) as slave:
        begin(slave)
        assert slave.doStep(0.0, 0.5) == (True, False, False, 0.5)
        # Before the discrete states are updated, the event has not acted.
        assert read(slave, "rail.velocity") == 1.0
        slave.enterEventMode()
        assert read(slave, "rail.velocity") == 1.0
        again, terminate, _, values, timed, _ = slave.updateDiscreteStates()
        assert (again, terminate, values, timed) == (False, False, True, False)
        assert read(slave, "rail.velocity") == 0.5


def test_a_terminal_event_asks_to_terminate_when_it_is_handled(gate):
    with opened(gate) as slave:
        begin(slave)
        _, _, _, time = slave.doStep(0.0, 2.0)
        assert not handle(slave)
        due, terminate, early, time = slave.doStep(time, 2.0 - time)
        # 0.5 m at 1 m/s, 0.3 m at 0.5 m/s: located to a few units in the last place.
        assert (due, terminate, early) == (True, False, True)
        assert time == pytest.approx(1.1, abs=1e-14)
        assert handle(slave)
        assert "a terminal event ended the run: wall" in slave.messages[-1]


def test_inputs_set_at_an_event_act_with_it(gate):
    with opened(gate) as slave:
        begin(slave)
        slave.doStep(0.0, 0.75)
        slave.enterEventMode()
        slave.setFloat64([slave.references["push.value"]], [4.0])
        slave.updateDiscreteStates()
        slave.enterStepMode()
        # A force of 4 N on 2 kg from 0.5 s on, at 0.5 m/s.
        assert read(slave, "rail.acceleration") == 2.0
        slave.doStep(0.5, 0.25)
        assert read(slave, "rail.velocity") == 1.0


def test_an_input_in_event_mode_needs_no_event_of_the_unit(gate):
    with opened(gate) as slave:
        begin(slave)
        assert slave.doStep(0.0, 0.25)[0] is False
        slave.enterEventMode()
        slave.setFloat64([slave.references["push.value"]], [-8.0])
        slave.updateDiscreteStates()
        slave.enterStepMode()
        assert slave.doStep(0.25, 0.25)[0] is False
        assert read(slave, "rail.velocity") == 0.0


def test_a_state_saved_while_an_event_is_due_goes_on_from_there(gate):
    with opened(gate) as slave:
        begin(slave)
        slave.doStep(0.0, 0.75)
        saved = slave.getFMUState()
        text = slave.serializeFMUState(saved)
        handle(slave)
        slave.doStep(0.5, 0.25)
        first = slave.getFloat64(slave.outputs)
        slave.setFMUState(saved)
        assert read(slave, "rail.velocity") == 1.0
        handle(slave)
        slave.doStep(0.5, 0.25)
        assert slave.getFloat64(slave.outputs) == first
    with opened(gate) as other:
        # Another instance, which has not even been initialised.
        other.setFMUState(other.deserializeFMUState(text))
        handle(other)
        other.doStep(0.5, 0.25)
        assert other.getFloat64(other.outputs) == first


def test_calls_in_the_wrong_mode_are_refused_with_a_sentence(gate):
    with opened(gate) as slave:
        refused(slave, lambda: slave.doStep(0.0, 0.1), "fmi3DoStep cannot be called while the unit is initialised")
        slave.exitInitializationMode()
        refused(slave, lambda: slave.doStep(0.0, 0.1), "while the unit is in event mode")
        refused(slave, slave.enterEventMode, "while the unit is in event mode")
        slave.updateDiscreteStates()
        slave.enterStepMode()
        refused(slave, slave.updateDiscreteStates, "while the unit is in step mode")
        refused(slave, slave.enterStepMode, "while the unit is in step mode")
        refused(slave, lambda: slave.doStep(0.3, 0.1), "a step from 0.3 s: the unit stands at 0 s")
        refused(slave, lambda: slave.doStep(0.0, -0.1), "steps are finite and not negative")
        refused(slave, slave.exitInitializationMode, "while the unit is in step mode")
    with opened(gate, events=False) as slave:
        slave.exitInitializationMode()
        refused(slave, slave.enterEventMode, "instantiated without event mode")


def refused(slave, call, sentence):
    with pytest.raises(FMICallException):
        call()
    assert sentence in slave.messages[-1]


def keep(level, kept):
    """What was sampled one period ago."""
    return {"kept_next": level, "output": kept}


def test_an_input_set_in_the_first_event_mode_is_sampled_there(folder):
    push = Block("push", "constant_reference", parameters={"constant": 0.0})
    sampler = Block("s", keep, inputs={"level": "push.value"}, period=0.1, memory={"kept": 0.0}, hold={"output": 0.0})
    scenario = cart(push, sampler, duration=0.3, solver=Solver("rk4", step=0.05))
    path = write_fmu(scenario, folder / "sampled.fmu", fmi=3, inputs={"push.value": 0.0}).path
    with opened(path) as slave:
        slave.exitInitializationMode()
        slave.setFloat64([slave.references["push.value"]], [5.0])
        slave.updateDiscreteStates()
        slave.enterStepMode()
        slave.doStep(0.0, 0.1)
        # The sample at the start took the input; the one at 0.1 s shows it.
        assert read(slave, "s.output") == 5.0
