"""Do exports, fits, certificates and momenta of the library hold on the studies' robots?"""

import dataclasses
import shutil

import numpy as np
import pytest
from support.fmu_starts import ROUNDING, begin
from support.measured import measure

from robodyn import assemble, simulate
from robodyn.analysis import fit_parameters, hamiltonian_system
from robodyn.description.model import Recording, Solver
from robodyn.exchange.codegen import write_c
from robodyn_studies.catalog import delta_fall, delta_hold, epaas_rig, rx90_weld

pytest.importorskip("fmpy")
from robodyn.exchange.fmi import FmuUnit, write_fmu

compiled = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")


def test_the_rig_gives_back_compliance_leakage_and_friction_which_are_hard_to_tell_apart():
    true = {
        "piston.actuator.oil_compliance": 1.0e-6,
        "piston.actuator.leakage": 7.46e-5,
        "piston.friction.viscous": 501.0,
    }
    scenario = epaas_rig(0.4, duration=0.07)
    times = tuple(np.linspace(0.0, 0.07, 141))
    data = measure(scenario, [2e-6, 0.05], ("piston.position", "piston.acceleration"), times=times)
    start = dict(zip(true, (1.5e-6, 5e-5, 300.0), strict=True))
    fit = fit_parameters(scenario.with_numbers(start), data, tuple(true), starts=3)
    assert fit.agreeing == 3
    # Intervals are 0.02 %, 0.4 % and 0.3 % wide to each side.
    assert fit.values == pytest.approx(true, rel=0.01)
    assert fit.correlation[1, 2] < -0.99
    assert any("hard to tell apart" in warning for warning in fit.warnings)


def test_rounding_of_a_robot_at_rest_adds_few_rows():
    run = simulate(delta_hold())
    assert run.time.size < 100


def test_the_delta_robot_is_clean():
    run = simulate(delta_fall())
    assert run.certificate.ok, run.certificate.violated
    assert len(run.certificate) + len(run.certificate.unchecked) > 0


def test_in_momenta_the_delta_robot_moves_as_in_velocities():
    times = tuple(np.linspace(0.1, delta_hold(angle=0.2).duration, 7))
    fine = Solver("dopri5", rtol=1e-11, atol=1e-11)
    system = assemble(dataclasses.replace(delta_hold(angle=0.2), solver=fine, recording=Recording(times=times)))
    first, second = simulate(system), simulate(hamiltonian_system(system))
    assert second.outcome.ok
    for quantity in ("position", "velocity", "acceleration"):
        signal = f"arm2.q2.{quantity}"
        # Both runs keep about 1e-11 a step.
        np.testing.assert_allclose(second[signal].values, first[signal].values, atol=1e-7)


def weld():
    """Whole steps, sampled control, a path."""
    return dataclasses.replace(rx90_weld(), duration=0.4)


@compiled
@pytest.mark.parametrize("make", [epaas_rig, weld])
def test_the_program_gives_the_run_to_the_last_bit(make, tmp_path):
    assert write_c(make(), tmp_path).agreement.equal


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    """A cylinder with a delayed control that holds a mass, at rest."""
    scenario = dataclasses.replace(epaas_rig(), duration=0.02)
    return write_fmu(scenario, tmp_path_factory.mktemp("units") / "rig.fmu")


@compiled
def test_a_heavier_load_rests_where_the_simulation_says(rig):
    with FmuUnit(rig.path, parameters={"load.mass": 8.0}) as unit:
        before, at, expected = begin(unit, epaas_rig().with_numbers({"load.mass": 8.0}))
    with FmuUnit(rig.path) as unit:
        _, described, _ = begin(unit, epaas_rig())
    assert np.max(np.abs(expected - described)) > 0.1
    np.testing.assert_allclose(before, expected, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_array_equal(at, before)


@compiled
def test_start_values_that_are_set_stay(rig):
    changes = {"load.mass": 8.0, "initial.piston.position": 0.05}
    with FmuUnit(rig.path, parameters=changes) as unit:
        unit.start(0.0)
        assert unit.read()["piston.position"] == 0.05
