"""Does a unit with other parameters start where the simulation with these starts: at rest, or assembled?"""

import shutil

import numpy as np
import pytest
from support.fmu_starts import ROUNDING, begin
from support.linkages import PRECISE
from support.machines import servo

from robodyn.base.errors import ModelError
from robodyn.computation.simulation import simulate
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    Joint,
    Machine,
    Mechanism,
    Point,
    Rod,
    Scenario,
)
from robodyn.description.structures import Reduction, Section, beam

pytest.importorskip("fmpy")
from robodyn.exchange.fmi import FmuUnit, write_fmu

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
BAR = Section.rectangle(0.01, 0.04, 7.0e10, 2.7e10, 2700.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("units")


def linkage(coupler, **fields):
    """A crank, a coupler and a rod to the ground, in the x-y plane under gravity along -y."""
    bodies = (Body("crank", 1.0, (0.15, 0, 0), (0, 0.01, 0.01)), coupler)
    joints = (Joint("motor", "revolute", GROUND, "crank"), Joint("pin", "revolute", "crank", "coupler", (0.3, 0, 0)))
    points = (Point("end", "coupler", (1.0, 0, 0)), Point("post", GROUND, (1.3, 0.8, 0)))
    push = Block("push", "constant_reference", parameters={"constant": 0.0})
    drive = Block("drive", "torque_source", on="motor", inputs={"command": "push.value"})
    oil = [Block(f"{on}_oil", "viscous_friction", on=on, parameters={"viscous": 1.0}) for on in ("motor", "pin")]
    mechanism = Mechanism("linkage", bodies, joints, points, (0, -9.81, 0))
    machine = Machine("linkage", mechanism, (push, drive, *oil), constraints=(Rod("rod", "end", "post", 0.8),))
    return Scenario("linkage", machine, 0.01, solver=PRECISE, **fields)


@pytest.fixture(scope="module")
def bent():
    """A linkage whose coupler bends."""
    coupler = beam("coupler", 1.0, BAR, Reduction(modes=1, directions=("y", "rz")))
    return linkage(coupler, initial={"motor.position": 0.2, "motor.velocity": 3.0}, initialisation="assembled")


def test_another_rod_is_assembled_as_the_simulation_does(bent, folder):
    made = write_fmu(bent, folder / "bent.fmu")
    with FmuUnit(made.path, parameters={"rod.length": 0.5}) as unit:
        before, at, expected = begin(unit, bent.with_numbers({"rod.length": 0.5}))
        assert [unit.read()[f"motor.{part}"] for part in ("position", "velocity")] == [0.2, 3.0]
    np.testing.assert_allclose(before, expected, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_array_equal(at, before)


def test_another_input_rests_elsewhere_whatever_keeps_the_constraints(folder):
    coupler = Body("coupler", 1.0, (0.5, 0, 0), (0, 0.1, 0.1))
    found = []
    for method in ("baumgarte", "projection"):
        scenario = linkage(coupler, initialisation="at_rest", constraint_method=ConstraintMethod(method))
        made = write_fmu(scenario, folder / f"{method}.fmu", inputs={"push.value": 0.1})
        with FmuUnit(made.path) as unit:
            unit.write({"push.value": (0.5,)})
            _, at, expected = begin(unit, scenario.with_numbers({"push.constant": 0.5}))
        np.testing.assert_allclose(at, expected, rtol=ROUNDING, atol=ROUNDING)
        found.append(at)
        with FmuUnit(made.path, parameters={"rod.length": 5.0}) as unit, pytest.raises(ModelError, match="at rest"):
            unit.start(0.0)
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


def test_controllers_are_settled_for_the_numbers_of_the_unit(folder):
    """Sums, readings of a quantised encoder, what waits in a delay: all of them, so that nothing moves."""
    friction = Block("friction", "stick_friction", on="motor", parameters={"coulomb": 0.5})
    scenario = servo(resolution=1e-3, delay=2e-3, friction=(friction,))
    made = write_fmu(scenario, folder / "servo.fmu")
    changed = {"gear.stiffness": 500.0, "goal.start": 0.1, "goal.target": 0.1}
    with FmuUnit(made.path, parameters=changed) as unit:
        before, at, expected = begin(unit, scenario.with_numbers(changed))
        np.testing.assert_allclose(at, expected, rtol=1e-9, atol=1e-10)
        run = simulate(scenario.with_numbers(changed))
        for name in ("velocity_loop.torque_command", "encoder.measured", "encoder.measured_rate"):
            assert unit.read()[name] == pytest.approx(run[name].values[0], rel=1e-9, abs=1e-9)
        unit.advance(0.0, 0.05)
        assert unit.read()["motor.velocity"] == 0.0
        assert unit.read()["arm.position"] == pytest.approx(run["arm.position"](0.05), abs=1e-9)
    # What sticks begins at a speed of exactly 0.
    np.testing.assert_allclose(at, before, atol=1e-20)


def test_a_unit_whose_reference_is_under_way_says_that_nothing_rests(folder):
    wave = Block("goal", "sine_reference", parameters={"amplitude": 0.0, "frequency": 1.0, "offset": 0.3}, unit="rad")
    inputs = {"target": "goal.value", "feed_forward": "goal.rate", "position": "encoder.measured"}
    plain = servo()
    blocks = [wave if block.name == "goal" else block for block in plain.machine.blocks]
    blocks = tuple(block.replaced(inputs=inputs) if block.name == "position_loop" else block for block in blocks)
    made = write_fmu(plain.replaced(machine=plain.machine.replaced(blocks=blocks)), folder / "wave.fmu")
    with FmuUnit(made.path, parameters={"goal.amplitude": 0.1}) as unit, pytest.raises(ModelError, match="cannot rest"):
        unit.start(0.0)
