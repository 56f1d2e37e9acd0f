"""Is a scenario written as a unit the same motion, with the same parameters, inputs, events and derivatives?"""

import dataclasses
import os
import shutil
import zipfile

import numpy as np
import pytest
from support.machines import cart
from support.sampled_loops import cascade

from robodyn.base.errors import ModelError
from robodyn.computation.results import OutcomeKind
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import find_scenario
from robodyn.description.model import Block, Delay, Event, Recording, Solver

fmpy = pytest.importorskip("fmpy")
validation = pytest.importorskip("fmpy.validation")
from robodyn.exchange.fmi import FmuUnit, write_fmu  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
# Other rounding than the simulation's, which fuses products and sums; a hundred times what was seen.
ROUNDING = 1e-11


def pushed_cart():
    """A cart under a force from a reference."""
    source = Block("push", "constant_reference", parameters={"constant": 3.0})
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "push.value"})
    return cart(source, drive, tunable=("cart.mass",), solver=Solver("rk4", step=0.01))


def stop_at(position, *, place):
    return position - place


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("units")


@pytest.fixture(scope="module", params=[2, 3])
def pushed(request, folder):
    """The cart whose force is an input, in both versions of the interface."""
    path = folder / f"cart{request.param}.fmu"
    return write_fmu(pushed_cart(), path, fmi=request.param, inputs={"push.value": 3.0})


@pytest.fixture(scope="module")
def swinging(folder):
    return write_fmu(find_scenario("pendulum"), folder / "pendulum.fmu")


@pytest.fixture(scope="module")
def loops(folder):
    scenario = dataclasses.replace(find_scenario("two-link-loop"), duration=0.3)
    return write_fmu(scenario, folder / "loops.fmu", fmi=3)


def test_units_describe_themselves_validly(pushed, swinging, loops):
    assert [validation.validate_fmu(str(made.path)) for made in (pushed, swinging, loops)] == [[], [], []]


def test_units_give_the_numbers_of_the_simulation(pushed, swinging, loops, proof):
    # The same operations in the same order: what differs is a compiler's choice of a function of the C library.
    apart = max(made.agreement.error for made in (pushed, swinging, loops))
    what, source = "exported units (FMI 2 and 3) beside our own runs", f"FMPy {fmpy.__version__}"
    proof(what, kind="program", source=source, deviation=apart, within=1e-11, relative=True)


def test_a_unit_agrees_with_the_usual_simulation(swinging):
    scenario = find_scenario("pendulum")
    times = tuple(np.linspace(0.0, 1.0, 11).tolist())
    run = simulate(scenario, recording=Recording(times=times))
    with FmuUnit(swinging.path, stop=scenario.duration) as unit:
        unit.start(0.0)
        found = follow(unit, times, "hinge.position")
    # Communication points cut steps: solutions differ by the tolerance of the method, 1e-8.
    np.testing.assert_allclose(found, run["hinge.position"].values, atol=1e-7)


def follow(unit, times, name):
    """A signal at communication points."""
    found = [unit.read()[name]]
    for before, after in zip(times[:-1], times[1:], strict=True):
        assert unit.advance(before, after - before) is None
        found.append(unit.read()[name])
    return np.array(found)


def test_an_input_moves_the_cart_as_newton_says(pushed):
    with FmuUnit(pushed.path) as unit:
        assert unit.inputs == ("push.value",)
        unit.write({"push.value": (4.0,)})
        unit.start(0.0)
        unit.advance(0.0, 0.5)
        unit.write({"push.value": (-4.0,)})
        assert unit.read()["rail.acceleration"] == -2.0
        unit.advance(0.5, 0.5)
        # 2 m/s^2 forth, then back: constant accelerations are exact but for rounding.
        assert unit.read()["rail.velocity"] == pytest.approx(0.0, abs=ROUNDING)
        assert unit.read()["rail.position"] == pytest.approx(0.5, abs=ROUNDING)


def test_parameters_and_start_values_take_effect(pushed):
    changes = {"cart.mass": 6.0, "initial.rail.position": 0.25}
    with FmuUnit(pushed.path, parameters=changes) as unit:
        assert unit.read()["rail.position"] == 0.25
        unit.start(0.0)
        unit.advance(0.0, 1.0)
        assert unit.read()["rail.position"] == pytest.approx(0.25 + 0.5 * 3.0 / 6.0, abs=ROUNDING)


def test_derivatives_by_inputs_states_and_parameters_are_exact(pushed):
    with FmuUnit(pushed.path) as unit:
        unit.start(0.0)
        slopes = unit.derivatives(["rail.acceleration", "energy.kinetic"], ["push.value", "rail.velocity", "cart.mass"])
        unit.advance(0.0, 1.0)
        later = unit.derivatives(["energy.kinetic"], ["rail.velocity"])
    # a = F / m with F = 3, m = 2; T = m v^2 / 2 at v = 0, then at v = 1.5.
    np.testing.assert_allclose(slopes, [[0.5, 0.0, -0.75], [0.0, 0.0, 0.0]], atol=ROUNDING)
    np.testing.assert_allclose(later, [[3.0]], atol=ROUNDING)


def test_a_unit_goes_back_to_a_communication_point(loops):
    with FmuUnit(loops.path) as unit:
        assert unit.can_restore
        unit.start(0.0)
        unit.advance(0.0, 0.0503)
        saved = unit.save()
        unit.advance(0.0503, 0.1)
        first = unit.read()
        unit.restore(saved)
        unit.advance(0.0503, 0.1)
        assert unit.read() == first


def pull_back(position, *, stiffness):
    return {"torque": -stiffness * position}


def delayed_cart():
    """A cart that a spring pulls to where it was some time ago: it swings up."""
    late = Delay("late", "rail.position", 0.13)
    spring = Block("spring", pull_back, on="rail", inputs={"position": "late.output"}, parameters={"stiffness": 20.0})
    fields = {"initial": {"rail.position": 1.0}, "solver": Solver("dopri5", rtol=1e-10, atol=1e-12)}
    return cart(spring, delays=(late,), tunable=("cart.mass",), **fields)


@pytest.fixture(scope="module")
def delayed(folder):
    return write_fmu(delayed_cart(), folder / "delayed.fmu", fmi=3)


def test_delayed_signals_are_those_of_the_simulation(delayed):
    assert delayed.agreement.error < 1e-11
    changes = {"late.time": 0.21, "initial.rail.position": 0.5}
    scenario = delayed_cart().with_numbers({"late.time": 0.21})
    scenario = dataclasses.replace(scenario, initial={"rail.position": 0.5})
    with FmuUnit(delayed.path, parameters=changes) as unit:
        # Before the start the signal is what it is at the start.
        assert unit.read()["late.output"] == 0.5
        unit.start(0.0)
        unit.advance(0.0, 0.4)
        unit.advance(0.4, 0.6)
        # Communication points cut steps: solutions differ by the tolerance of the method, 1e-10.
        assert unit.read()["rail.position"] == pytest.approx(simulate(scenario)["rail.position"].final, abs=1e-8)


def test_a_unit_goes_back_with_the_past_of_its_delays(delayed):
    with FmuUnit(delayed.path) as unit:
        unit.start(0.0)
        unit.advance(0.0, 0.3)
        saved = unit.save()
        unit.advance(0.3, 0.7)
        first = unit.read()
        unit.restore(saved)
        unit.advance(0.3, 0.7)
        assert unit.read() == first


def test_delays_are_set_before_the_start_and_are_positive(delayed):
    with FmuUnit(delayed.path, parameters={"late.time": -0.1}) as unit:
        described = {name: variable.variability for name, variable in unit.variables.items()}
        with pytest.raises(ModelError, match="delays must be positive"):
            unit.start(0.0)
    assert (described["late.time"], described["cart.mass"]) == ("fixed", "tunable")
    with pytest.raises(ModelError, match=r"inputs\.late\.time: belongs to a delay"):
        write_fmu(delayed_cart(), delayed.path, inputs={"late.time": None})


def test_sampled_loops_with_offsets_and_late_outputs_keep_their_ticks(folder):
    made = write_fmu(cascade(duration=0.2, solver=Solver("rk4", step=1e-3)), folder / "cascade.fmu")
    assert made.agreement.error < 1e-11


def test_a_terminal_event_ends_the_unit_where_it_ends_the_run(folder):
    event = Event("arrived", stop_at, inputs={"position": "rail.position"}, parameters={"place": 0.3}, terminal=True)
    scenario = dataclasses.replace(pushed_cart(), events=(event,))
    made = write_fmu(scenario, folder / "arrived.fmu")
    with FmuUnit(made.path) as unit:
        unit.start(0.0)
        outcome = unit.advance(0.0, 1.0)
        reached = unit.read()["rail.position"]
    assert outcome is not None
    assert outcome.kind is OutcomeKind.STOPPED
    assert "arrived" in outcome.sentence
    # The crossing is located to a few units in the last place of time.
    assert reached == pytest.approx(0.3, abs=1e-14)


def hurdles():
    """A coasting cart: within one step a dip comes and goes before the gate; then a wall throws it back by 1 nm."""
    place = {"x": "rail.position"}
    slow, fast = {"rail.velocity": 0.8}, {"rail.velocity": 1.1}
    dip = Event("dip", lambda x: (x - 5.04) * (x - 5.095), place, direction="falling", action=lambda: slow)
    gate = Event("gate", lambda x: x - 5.09, place, action=lambda: fast)
    wall = Event("wall", lambda x: x - 7.0, place, action=lambda: {"rail.position": 7.0 - 1e-9})
    start = {"rail.velocity": 1.0}
    return cart(duration=10.0, initial=start, events=(dip, gate, wall), solver=Solver("dopri5", rtol=1e-8))


def test_hidden_crossings_and_event_storms_are_those_of_the_simulation(folder):
    made = write_fmu(hurdles(), folder / "hurdles.fmu")
    run = simulate(hurdles())
    assert made.agreement.error == 0.0
    assert [event.name for event in run.events[:3]] == ["dip", "gate", "wall"]
    with FmuUnit(made.path, stop=10.0) as unit:
        unit.start(0.0)
        outcome = unit.advance(0.0, 10.0)
    # At 5.04 m, 0.05 m at 0.8 m/s, then 1.91 m at 1.1 m/s; after 1000 events the unit says its time to nine digits.
    assert run.outcome.time == pytest.approx(5.04 + 0.05 / 0.8 + 1.91 / 1.1 + 1e-6, abs=1e-6)
    assert f"at {run.outcome.time:.9g} s an event chatters" in outcome.sentence


def test_every_part_that_is_not_c_is_refused_at_once(tmp_path):
    def python_law(value):
        return {"output": value}

    block = Block(
        "python", python_law, inputs={"value": "rail.position"}, period=0.1, native=False, hold={"output": 0.0}
    )
    with pytest.raises(ModelError, match="2 problems") as error:
        write_fmu(cart(block), tmp_path / "unit.fmu", Solver("rk4", max_wall_time=1.0))
    assert {flaw.path for flaw in error.value.flaws} == {"blocks.python", "solver.max_wall_time"}
    assert not (tmp_path / "unit.fmu").exists()


def test_what_cannot_be_an_input_is_told_with_what_can(tmp_path):
    with pytest.raises(ModelError, match=r"push\.valu.*did you mean 'push.value'"):
        write_fmu(pushed_cart(), tmp_path / "unit.fmu", inputs={"push.valu": None})
    with pytest.raises(ModelError, match=r"cart\.com\.x: is built into the code"):
        write_fmu(pushed_cart(), tmp_path / "unit.fmu", inputs={"cart.com.x": None})


def test_a_unit_for_windows_is_made_elsewhere(tmp_path):
    if not os.environ.get("ROBODYN_TEST_CROSS"):
        pytest.skip("compiles the C library of Windows, 100 s of a processor: ROBODYN_TEST_CROSS=1 runs it")
    pytest.importorskip("ziglang")
    made = write_fmu(pushed_cart(), tmp_path / "unit.fmu", platforms=["win64"])
    with zipfile.ZipFile(made.path) as archive:
        binaries = [name for name in archive.namelist() if name.startswith("binaries/")]
        assert binaries == ["binaries/win64/robodyn_cart.dll"]
        assert archive.read(binaries[0]).startswith(b"MZ")
