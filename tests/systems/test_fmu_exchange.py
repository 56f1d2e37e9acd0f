"""Can other solvers carry a scenario written for model exchange, with its events, samples, limits and constraints?"""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from support.machines import cart

from robodyn import Solver
from robodyn.base.errors import ModelError
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import SCENARIOS
from robodyn.description.model import Block, Delay, Event

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi1 import FMICallException  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

from robodyn.exchange.fmi import FmuUnit, write_fmu  # noqa: E402
from robodyn.exchange.fmi.writing import LedUnit  # noqa: E402
from robodyn_studies.catalog.scara_avoid import scara_avoid  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
# Both solvers' tolerances, 1e-7 and 1e-9, and what a second of motion makes of them; seen were 6e-7.
MOTION = 1e-5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("units")


CASES = [("scara-avoid", 2), ("four-bar", 2), ("two-link-loop", 3), ("bouncing-ball", 2)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def made(request, folder):
    """Limited states and events; constraints by projection; sampled tasks and jumps; impacts."""
    name, fmi = request.param
    scenario = replace((SCENARIOS | {"scara-avoid": scara_avoid})[name](), duration=1.0)
    return write_fmu(scenario, folder / f"{name}{fmi}.fmu", fmi=fmi, kind="both")


def test_led_along_the_simulation_a_unit_has_its_numbers(made):
    assert made.agreement.error < 1e-11
    assert validate_fmu(str(made.path)) == []


def test_moved_by_another_solver_a_unit_goes_where_the_simulation_goes(made):
    assert made.motion is not None
    assert made.motion.error < MOTION


def pushed(**fields):
    """A cart under a force from outside; a sample of its speed every 0.1 s; a wall at 1 m turns it back."""
    push = Block("push", "constant_reference", parameters={"constant": 1.0})
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "push.value"})
    taken = Block(
        "taken", lambda v: {"output": v}, inputs={"v": "rail.velocity"}, period=0.1, offset=0.05, hold={"output": -1.0}
    )
    wall = Event(
        "wall",
        lambda x: x - 1.0,
        {"x": "rail.position", "v": "rail.velocity"},
        direction="rising",
        action=lambda v: {"rail.velocity": -0.5 * v},
    )
    solver = Solver("dopri5", rtol=1e-9, atol=1e-11)
    return cart(push, drive, taken, events=(wall,), tunable=("cart.mass",), duration=3.0, solver=solver, **fields)


@pytest.fixture(scope="module", params=[2, 3])
def path(request, folder):
    inputs = {"push.value": 1.0}
    return write_fmu(pushed(), folder / f"cart{request.param}.fmu", fmi=request.param, kind="both", inputs=inputs).path


def euler(unit, time, end, step):
    """The simplest solver: events at the ends of its steps, and at the unit's own times."""
    x = unit.instance.x
    while time < end - 1e-12:
        after = min(time + step, unit.steps.due, end)
        x, before = x + (after - time) * unit.instance.rates, unit.instance.indicators
        time = after
        unit.instance.move(time, x)
        crossed = np.any(np.sign(before) * np.sign(unit.instance.indicators) < 0)
        if unit.instance.complete()[0] or crossed or time >= unit.steps.due:
            unit.update()
            x = unit.instance.x


def read(unit, *names):
    return np.array(unit.get(names))


def test_a_solver_of_the_first_order_converges_to_the_simulation(path):
    run, errors = simulate(pushed()), []
    for step in (4e-3, 1e-3):
        with LedUnit(path) as unit:
            unit.start(0.0)
            euler(unit, 0.0, 3.0, step)
            errors.append(abs(read(unit, "rail.position")[0] - run["rail.position"].final))
    # A quarter of the step is a quarter of the error; events fall onto ends of steps, so only roughly.
    assert errors[1] < 0.5 * errors[0] < 0.02


def test_samples_are_taken_at_their_ticks(path):
    with LedUnit(path) as unit:
        unit.start(0.0)
        assert unit.steps.due == 0.05
        assert read(unit, "taken.output")[0] == -1.0
        unit.instance.move(0.05, np.array([0.1, 0.7, *unit.instance.x[2:]]))
        unit.update()
        assert read(unit, "taken.output")[0] == 0.7
        assert unit.steps.due == 0.15
        # An importer that adds steps up comes a little early, and is not asked to come again.
        unit.instance.move(0.15 - 1e-12, np.array([0.1, 0.8, *unit.instance.x[2:]]))
        unit.update()
        assert (read(unit, "taken.output")[0], unit.steps.due) == (0.8, 0.25)


def test_inputs_act_at_once_and_parameters_at_events(path):
    with LedUnit(path) as unit:
        unit.start(0.0)
        unit.set({"push.value": 3.0})
        assert unit.instance.rates[1] == 1.5
        with pytest.raises(FMICallException):
            unit.set({"cart.mass": 4.0})
        assert "can be set at events" in unit.instance.messages[-1]
        unit.instance.unit.enterEventMode()
        unit.set({"cart.mass": 4.0, "initial.rail.velocity": 2.0})
        unit.steps.settle()
        np.testing.assert_array_equal(unit.instance.rates[:2], [2.0, 0.75])


def test_a_wall_acts_once_however_far_the_solver_overshot(path):
    with LedUnit(path) as unit:
        unit.start(0.0)
        rest = unit.instance.x[2:]
        unit.instance.move(0.01, np.array([1.01, 2.0, *rest]))
        assert unit.instance.complete()[0]
        unit.update()
        np.testing.assert_array_equal(unit.instance.x[:2], [1.01, -1.0])
        # Still behind the wall on the way out: another event there changes nothing.
        unit.instance.move(0.02, np.array([1.005, -1.0, *rest]))
        assert not unit.instance.complete()[0]
        unit.update()
        assert unit.instance.x[1] == -1.0
        # Turned back before it was out, it meets the wall again.
        unit.instance.move(0.03, np.array([1.004, 0.5, *rest]))
        assert unit.instance.complete()[0]
        unit.update()
        assert unit.instance.x[1] == -0.25


def test_a_unit_goes_back_to_a_state_between_events(path):
    with LedUnit(path) as unit:
        unit.start(0.0)
        euler(unit, 0.0, 1.02, 1e-3)
        save, restore = ("getFMUstate", "setFMUstate") if unit.instance.version == 2 else ("getFMUState", "setFMUState")
        saved, x, due = getattr(unit.instance.unit, save)(), unit.instance.x, unit.steps.due
        euler(unit, 1.02, 1.5, 1e-3)
        first = unit.instance.x
        getattr(unit.instance.unit, restore)(saved)
        unit.steps.due = due
        np.testing.assert_array_equal(unit.instance.x, x)
        euler(unit, 1.02, 1.5, 1e-3)
        np.testing.assert_array_equal(unit.instance.x, first)


def test_directional_derivatives_of_rates_are_exact(path):
    with LedUnit(path) as unit:
        unit.start(0.0)
        knowns = [unit.references[name] for name in ("push.value", "cart.mass", "rail.velocity")]
        unknowns = [unit.references[name] for name in ("der(rail.velocity)", "der(rail.position)")]
        columns = [unit.instance.unit.getDirectionalDerivative(unknowns, [known], [1.0]) for known in knowns]
    # a = F / m with F = 1, m = 2.
    np.testing.assert_allclose(np.transpose(columns), [[0.5, -0.25, 0.0], [0.0, 0.0, 1.0]], atol=1e-15)


def test_calls_of_the_other_kind_and_mode_are_refused(path):
    with LedUnit(path) as unit:
        unit.start(0.0)
        with pytest.raises(FMICallException):
            unit.steps.settle()
        assert "cannot be called while the unit is in continuous-time mode" in unit.instance.messages[-1]
    # The same file in co-simulation.
    with FmuUnit(path) as unit:
        unit.start(0.0)
        assert unit.advance(0.0, 1.0) is None


def tank(upper, **fields):
    """A tank, its level the integral of cos(2 pi t), but never above a limit; no limit below."""
    flow = Block("flow", "sine_reference", parameters={"amplitude": 1.0, "frequency": 1.0, "phase": np.pi / 2})
    level = Block("tank", "limited_integrator", inputs={"rate": "flow.value"}, parameters={"upper": upper})
    return cart(flow, level, duration=1.0, **fields)


@pytest.mark.parametrize("solver", ["CVode", "Euler"])
def test_a_limited_state_neither_winds_up_nor_sticks(folder, solver):
    upper = 0.05
    made = write_fmu(tank(upper), folder / "tank.fmu", fmi=3, kind="me")
    settings = {"solver": solver, "relative_tolerance": 1e-9, "step_size": 1e-3, "output_interval": 1e-3}
    found = fmpy.simulate_fmu(str(made.path), output=["tank.value"], record_events=False, **settings)
    t, arc = found["time"], np.sin(2 * np.pi * found["time"]) / (2 * np.pi)
    # It fills up to the limit and leaves it when the flow turns, at 1/4 s.
    expected = np.where(t < 0.25, np.minimum(arc, upper), upper + arc - 1 / (2 * np.pi))
    # Euler's error of a sine: at most pi h; CVode's: a hundred times its tolerance.
    np.testing.assert_allclose(found["tank.value"], expected, atol=4e-3 if solver == "Euler" else 1e-7)
    assert np.max(found["tank.value"]) == upper


def test_what_is_refused_is_told(folder):
    late = Delay("late", "rail.position", 0.1)
    with pytest.raises(ModelError, match=r"delays: late: are read from completed steps"):
        write_fmu(cart(delays=(late,)), folder / "late.fmu", kind="me")
    with pytest.raises(ModelError, match="kind: must be cs, me, both, is 'xx'"):
        write_fmu(cart(), folder / "none.fmu", kind="xx")


def test_a_wall_that_ends_the_run_ends_the_simulation_of_fmpy(folder):
    end = Event("end", lambda x: x - 0.3, {"x": "rail.position"}, terminal=True)
    scenario = cart(initial={"rail.velocity": 1.0}, events=(end,), solver=Solver("rk4", step=0.01))
    made = write_fmu(scenario, folder / "end.fmu", kind="me")
    found = fmpy.simulate_fmu(str(made.path), logger=lambda *_: None)
    assert found["time"][-1] == pytest.approx(0.3, abs=1e-6)
