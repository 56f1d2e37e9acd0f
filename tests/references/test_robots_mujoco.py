"""Robots from MJCF against MuJoCo: mass matrix, bias, Jacobians, limits, springs and drives, and a swing of one second.

Differences are of rounding, far below 1e-9 of the largest entry. The swing: MuJoCo's Runge-Kutta steps of 0.1 ms and
our tolerance of 1e-10 are both converged to better than 1e-7 rad; 1e-6 rad is asked for.
"""

import mujoco
import numpy as np
import pytest
from support.mujoco_robots import MujocoPair
from support.robot_files import OWN, example_robot

import robodyn as rd
from robodyn.analysis.mechanics.machine_dynamics import compare_mechanics

NEAR = 1e-9
PATH = OWN / "arm.xml"


@pytest.fixture
def pair():
    return MujocoPair(PATH)


def test_mass_matrix_bias_and_jacobians_are_those_of_mujoco(pair, proof):
    rng = np.random.default_rng(5)
    apart = max(max(pair.compare(rng)) for _ in range(100))
    what = "mass matrix, bias and Jacobians of an MJCF arm, 100 random states"
    proof(what, kind="program", source=f"MuJoCo {mujoco.__version__}", deviation=apart, within=NEAR, relative=True)


def test_defaults_in_defaults_degrees_frames_and_chains_of_joints_are_as_in_mujoco():
    """References that are not 0, slides beside hinges and balls, axes and inertias that are turned, tendons between."""
    pair, rng = MujocoPair(OWN / "odd.xml"), np.random.default_rng(1)
    assert max(max(pair.compare(rng)) for _ in range(10)) < NEAR
    assert not pair.wrong_limits()


def test_limits_losses_and_rotors_are_those_of_mujoco(pair):
    assert not pair.wrong_limits()


def test_the_machine_is_the_one_that_is_imported(pair):
    assert rd.read_robot(PATH) == pair.machine


def accelerations(machine, q, v):
    """Of the machine with all that acts on it, wherever its limits are."""
    mechanism = machine.mechanism
    free = [joint.replaced(lower_limit=None, upper_limit=None) for joint in mechanism.joints]
    machine = machine.replaced(constraints=(), mechanism=mechanism.replaced(joints=tuple(free)))
    dynamics = rd.MachineDynamics(machine)
    initial = dict(zip([*dynamics.positions, *dynamics.velocities], [*q, *v], strict=True))
    run = rd.simulate(rd.Scenario("a", machine, 1e-3, initial, solver=rd.Solver("rk4", step=1e-3)))
    single = [name for name in dynamics.velocities if "angular" not in name]
    return {name: run[name.replace("velocity", "acceleration")].values[0] for name in single}


def test_springs_dampers_and_drives_act_as_in_mujoco(pair):
    """Accelerations at random states; what is not used (damping of the ball, a filtered drive) is off there too."""
    model = pair.model
    model.dof_damping[model.jnt_dofadr[model.joint("hook").id] :][:3] = 0.0
    data, rng = pair.data, np.random.default_rng(8)
    data.ctrl[model.actuator("push").id] = 1.0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    # Forces follow from states as they are, not as they will be after a step.
    model.actuator_actearly[:] = 0
    for _ in range(3):
        q, v = pair.set(rng.uniform(-1, 1, model.nq), rng.uniform(-1, 1, model.nv))
        ours = accelerations(pair.machine, q, v)
        theirs = dict(zip(pair.dynamics.velocities, data.qacc[pair.v], strict=True))
        scale = max(abs(value) for value in theirs.values())
        assert all(abs(value - theirs[name]) <= 1e-9 * scale for name, value in ours.items())


def test_a_swing_of_one_second_is_that_of_mujoco(pair, proof):
    """The arm, and a body in flight with a bell on it, without springs and losses."""
    what, source = "swing of an MJCF arm and flight of a body, 1 s", f"MuJoCo {mujoco.__version__}, steps of 0.1 ms"
    proof(what, kind="program", source=source, deviation=pair.compare_swing(), within=1e-6, unit="rad")


def test_an_exported_robot_is_in_mujoco_what_it_is_here(tmp_path):
    """SO-101 from URDF: what MuJoCo computes of the exported MJCF, against the machine that was read back from it."""
    scenario = rd.import_robot(example_robot("so101.urdf")).scenario()
    path = tmp_path / "so101.xml"
    path.write_text(rd.export_robot(scenario, path, "mjcf").text)
    there = MujocoPair(path, ["/"])
    assert compare_mechanics(scenario.machine, there.machine) < 1e-12
    rng = np.random.default_rng(6)
    assert max(max(there.compare(rng)[:2]) for _ in range(3)) < NEAR
