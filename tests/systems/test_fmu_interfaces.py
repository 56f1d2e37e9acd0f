"""Do directional derivatives make reduced interface models between units, as between scenarios?"""

import dataclasses
import shutil

import numpy as np
import pytest

from robodyn.base.errors import ModelError
from robodyn.computation.cosimulation import (
    Connection,
    CosimSettings,
    ScenarioUnit,
    cosimulate,
    model_from_mobility,
    read_cosimulation,
)
from robodyn.description.catalog.oscillator import Oscillator, oscillator_sides
from robodyn_studies.oscillator_exact import solve_exactly

pytest.importorskip("fmpy")
from robodyn.exchange.fmi import InterfaceFmu, read_fmu, write_fmu

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
NUMBERS = Oscillator()
SIDES = oscillator_sides("model-model", NUMBERS)
NAMES = ("first", "second")


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Both masses as units, one in each version of the interface."""
    folder = tmp_path_factory.mktemp("oscillator")
    made = [write_fmu(side, folder / f"{side.name}.fmu", fmi=fmi) for side, fmi in zip(SIDES, (2, 3), strict=True)]
    return [export.path for export in made]


def open_units(paths):
    return [
        InterfaceFmu(path, name, interfaces=side.machine.interfaces)
        for path, name, side in zip(paths, NAMES, SIDES, strict=True)
    ]


def couple(units, step, duration=NUMBERS.duration):
    """(x1, v1, x2, v2) at the end."""
    run = cosimulate(units, [Connection("first.port", "second.port")], settings=CosimSettings(step), duration=duration)
    assert run.outcome.ok, run.outcome.sentence
    return np.array([run[name][f"slide.{key}"].final for name in NAMES for key in ("position", "velocity")])


def test_reduced_models_of_units_are_the_masses(paths):
    for unit, mass in zip(open_units(paths), NUMBERS.masses, strict=True):
        with unit:
            unit.start(0.0)
            model = unit.reduced_model("port")
        # d a / d F = 1 / m, and without the coupling's force nothing accelerates a mass at rest position.
        np.testing.assert_allclose(model.inertia, [[mass]], rtol=1e-14)
        np.testing.assert_allclose(model.acceleration, [0.0], atol=1e-12)


def test_units_coupled_by_models_are_as_exact_as_scenarios(paths):
    step = 0.01
    found = couple(open_units(paths), step)
    scenarios = couple([ScenarioUnit(side, name=name) for side, name in zip(SIDES, NAMES, strict=True)], step)
    # The same equations by generated C and by native code; a hundred times the tolerance of both solvers.
    np.testing.assert_allclose(found, scenarios, rtol=1e-8, atol=1e-8)
    # The far spring's force frozen over a macro step of 10 ms: 1.0e-2 m by an independent calculation.
    assert abs(found[0] - solve_exactly(NUMBERS, NUMBERS.duration)[0]) == pytest.approx(1.0e-2, rel=0.05)


FILE = """
duration = {duration}
subsystems.first = {{ fmu = "{first}", interfaces.port = {port} }}
subsystems.second = {{ fmu = "{second}", interfaces.port = {port} }}
connections = [{{ between = ["first.port", "second.port"], order = {order} }}]
settings.step = "10 ms"
"""
PORT = '{{ on = "slide", takes = "model", stiffness = {stiffness}, damping = {damping} }}'


def write_file(folder, paths, order=0):
    (part,) = SIDES[0].machine.interfaces
    port = PORT.format(stiffness=list(part.stiffness), damping=list(part.damping))
    words = {"first": paths[0].name, "second": paths[1].name, "duration": 1.0, "port": port}
    (folder / "masses.toml").write_text(FILE.format(order=order, **words))
    return folder / "masses.toml"


def test_a_file_couples_units_as_python_does(paths):
    done = read_cosimulation(write_file(paths[0].parent, paths), {"fmu": read_fmu}).simulate()
    found = [done[name][f"slide.{key}"].final for name in NAMES for key in ("position", "velocity")]
    assert found == couple(open_units(paths), 0.01, 1.0).tolist()


def test_units_hold_models_over_a_step(paths):
    file = read_cosimulation(write_file(paths[0].parent, paths, order=1), {"fmu": read_fmu})
    with pytest.raises(ModelError, match=r"first\.port: models of order 1 are more than it takes"):
        file.simulate()


def test_interfaces_that_a_unit_cannot_have_are_refused(paths):
    other = dataclasses.replace(SIDES[0].machine.interfaces[0], name="door")
    with pytest.raises(ModelError, match=r"the unit has no 'door.position'"):
        InterfaceFmu(paths[0], interfaces=[other])


def make_rigid(side):
    """A mass whose neighbour is attached without any give."""
    port = dataclasses.replace(side.machine.interfaces[0], stiffness=None, damping=None)
    return dataclasses.replace(side, machine=dataclasses.replace(side.machine, interfaces=(port,)))


@pytest.fixture(scope="module")
def rigid_sides():
    return [make_rigid(side) for side in SIDES]


@pytest.fixture(scope="module")
def rigid_path(rigid_sides, tmp_path_factory):
    return write_fmu(rigid_sides[0], tmp_path_factory.mktemp("rigid") / "first.fmu").path


def open_rigid(path, sides):
    return InterfaceFmu(path, "first", interfaces=sides[0].machine.interfaces)


def test_a_unit_is_felt_without_what_is_attached_to_it_rigidly(rigid_path, rigid_sides):
    with open_rigid(rigid_path, rigid_sides) as unit:
        unit.start(0.0)
        alone = unit.reduced_model("port")
        heavy = model_from_mobility(np.array([[1 / 3.0]]), np.array([7.0]), alone.motion)
        unit.attach_model("port", heavy, None)
        attached = unit.reduced_model("port")
    np.testing.assert_allclose(attached.inertia, [[NUMBERS.masses[0]]], rtol=1e-12)
    np.testing.assert_allclose(attached.acceleration, alone.acceleration, atol=1e-12)


def test_a_unit_and_a_scenario_keep_their_own_motions(rigid_path, rigid_sides):
    connection = Connection("first.port", "second.port", join="none")
    second = ScenarioUnit(rigid_sides[1], name="second")
    found = []
    for first in (open_rigid(rigid_path, rigid_sides), ScenarioUnit(rigid_sides[0], name="first")):
        run = cosimulate([first, second.renew()], [connection], settings=CosimSettings(1e-3), duration=0.05)
        # The oscillator's masses begin with opposite speeds.
        assert run.outcome.suspect, run.outcome.sentence
        found.append([run[name]["slide.velocity"].final for name in NAMES])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8)
    # (m_1 + m_2) w' = f_1 + f_2 on both sides: their speeds of 100 and -100 m/s change alike, but for held forces.
    assert found[0][0] - found[0][1] == pytest.approx(200.0, rel=1e-2)
    assert found[0][1] > -50

    joined = [open_rigid(rigid_path, rigid_sides), second.renew()], [Connection("first.port", "second.port")]
    with pytest.raises(ModelError, match=r'first\.port: takes a model rigidly.*join = "none"'):
        cosimulate(*joined, settings=CosimSettings(1e-3))
