"""Does a unit with other parameters start where the simulation with these starts: at rest, or assembled?"""

import shutil

import numpy as np
import pytest
from support.fmu_starts import ROUNDING, begin
from support.linkages import PRECISE

from robodyn.errors import ModelError
from robodyn.model import GROUND, Block, Body, ConstraintMethod, Joint, Machine, Mechanism, Point, Rod, Scenario
from robodyn.structures import Reduction, Section, beam

pytest.importorskip("fmpy")
from robodyn.fmi import FmuUnit, write_fmu

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
