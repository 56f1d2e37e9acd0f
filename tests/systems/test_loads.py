"""Loads in world or body axes, constant or times a signal, against closed forms."""

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Body,
    Joint,
    Load,
    Machine,
    Mechanism,
    ModelError,
    Point,
    Recording,
    Scenario,
    Solver,
    simulate,
    simulate_perturbed,
)
from robodyn.base.spatial import Pose, from_rpy
from robodyn.description.catalog import quadrotor
from robodyn.description.files import read_scenario
from robodyn.description.files.writing import scenario_text
from robodyn.description.model import Block, FormulaSignal

SOLVER = Solver("dopri5", rtol=1e-10, atol=1e-11)
MASS, FORCE, OMEGA = 2.0, 3.0, 1.7


def puck(*loads, **fields):
    """A free body without weight that spins about z, with a point off its centre."""
    body = Body("puck", MASS, inertia=(0.1, 0.2, 0.3))
    joint = Joint("base", "free", GROUND, "puck", rotation=from_rpy(0.3, 0.2, 0.1))
    points = [Point("centre", "puck"), Point("rim", "puck", (0.4, 0, 0))]
    return Machine("m", Mechanism("m", [body], [joint], points, (0, 0, 0)), loads=loads, **fields)


def run(machine, **fields):
    return simulate(Scenario("s", machine, 4.0, {"base.angular_velocity": (0, 0, OMEGA)}, solver=SOLVER, **fields))


def test_a_force_in_body_axes_turns_with_the_body():
    done = run(puck(Load("push", "centre", (FORCE, 0, 0), frame="body")))
    t, v = OMEGA * done.time, FORCE / (MASS * OMEGA)
    R = from_rpy(0.3, 0.2, 0.1)
    exact = R @ [v * np.sin(t), v * (1 - np.cos(t)), 0 * t]
    found = np.array([done[f"centre.velocity.{axis}"].values for axis in "xyz"])
    np.testing.assert_allclose(found, exact, atol=1e-9)
    assert done.outcome.ok
    assert done.statistics.energy_error < 1e-8
    assert np.ptp(done["energy.work"].values) > 1.0


def test_a_force_in_world_axes_does_not_turn():
    done = run(puck(Load("push", "centre", (FORCE, 0, 0))))
    assert done["centre.velocity.x"].final == pytest.approx(FORCE / MASS * 4.0, rel=1e-12)


def test_a_tangential_force_and_its_torque_spin_the_body_up():
    done = run(puck(Load("jet", "rim", (0, FORCE, 0), (0, 0, 0.5), frame="body")))
    exact = OMEGA + (0.4 * FORCE + 0.5) / 0.3 * done.time
    np.testing.assert_allclose(done["base.angular_velocity.z"].values, exact, rtol=1e-10)


def test_a_signal_multiplies_force_and_torque():
    """v' = F sin(w t) / m along x of the world, J r' = 2 sin(w t) about z of the body."""
    wave = FormulaSignal("wave", "sin(w * time)", parameters={"w": 3.0}, parameter_units={"w": "1/s"})
    push, twist = (
        Load("push", "centre", (FORCE, 0, 0), times="wave"),
        Load("twist", "rim", torque=(0, 0, 2), frame="body", times="wave"),
    )
    done = run(puck(push, twist, signals=[wave]))
    grown = (1 - np.cos(3 * done.time)) / 3
    np.testing.assert_allclose(done["centre.velocity.x"].values, FORCE / MASS * grown, atol=1e-9)
    np.testing.assert_allclose(done["base.angular_velocity.z"].values, OMEGA + 2 / 0.3 * grown, atol=1e-9)
    assert done.outcome.ok


def test_reactions_carry_loads_in_body_axes_times_a_signal():
    block = Body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    arm = Body("arm", 1.0, (0.2, 0, 0), (0.1, 0.1, 0.1))
    joints = [
        Joint("hinge", "revolute", GROUND, "arm"),
        Joint("weld", "fixed", "arm", "block", (0.5, 0, 0), rotation=from_rpy(0.5, 0, 1.0)),
    ]
    mechanism = Mechanism("m", [arm, block], joints, [Point("tip", "block", (0, 0.3, 0))], (0, 0, 0))
    loads = [Load("push", "tip", (1, 2, 3), (0.1, 0.2, 0.3), frame="body", times="gain")]
    gain = FormulaSignal("gain", "2 * cos(hinge.position)")
    machine = Machine("m", mechanism, loads=loads, signals=[gain])
    done = simulate(Scenario("s", machine, 0.01), recording=Recording(signals=("*", "*.reaction.*")))
    force = np.array([done[f"weld.reaction.force.{axis}"].values[0] for axis in "xyz"])
    torque = np.array([done[f"weld.reaction.torque.{axis}"].values[0] for axis in "xyz"])
    R, alpha = from_rpy(0.5, 0, 1.0), done["hinge.acceleration"].values[0]
    # Newton and Euler of the block at rest, in its own axes.
    a = R.T @ np.cross([0, 0, alpha], [0.5, 0, 0])
    np.testing.assert_allclose(force, 1.0 * a - 2 * np.array([1, 2, 3]), atol=1e-12)
    turned = 0.1 * R.T @ [0, 0, alpha] - 2 * (np.array([0.1, 0.2, 0.3]) + np.cross([0, 0.3, 0], [1, 2, 3]))
    np.testing.assert_allclose(torque, turned, atol=1e-12)


def test_quadratic_drag_slows_a_body_by_a_hyperbola():
    """v = v0 / (1 + c v0 t / m)"""
    machine = puck(blocks=[Block("air", "drag", "base.x", parameters={"factor": 0.8})])
    done = simulate(Scenario("s", machine, 4.0, {"base.x.velocity": 5.0}, solver=SOLVER))
    np.testing.assert_allclose(done["base.x.velocity"].values, 5 / (1 + 0.8 * 5 / MASS * done.time), rtol=1e-9)


@pytest.mark.parametrize(
    ("speed", "factor", "thrust", "torque"), [(10, 2, 200, -30), (-10, -2, 200, 30), (-10, 2, -200, 30)]
)
def test_a_rotor_thrusts_by_the_square_and_its_drag_opposes_the_spin(speed, factor, thrust, torque):
    values = {"thrust_factor": factor, "drag_factor": 0.3}
    prop = Block("prop", "rotor", inputs={"speed": float(speed)}, parameters=values)
    done = simulate(Scenario("s", Machine("m", None, [prop]), 0.1))
    assert (done["prop.thrust"].final, done["prop.drag_torque"].final) == (thrust, pytest.approx(torque))


def test_a_level_quadrotor_rises_as_the_height_loop_says():
    scenario = quadrotor().replaced(initial={})
    done = simulate(scenario, Solver("dopri5", rtol=1e-9, atol=1e-10))
    # z'' + 3 z' + 4 (z - 1) = 0 from rest
    decay, beat, t = 1.5, np.sqrt(4 - 1.5**2), done.time
    z = 1 - np.exp(-decay * t) * (np.cos(beat * t) + decay / beat * np.sin(beat * t))
    np.testing.assert_allclose(done["base.z.position"].values, z, atol=1e-7)
    np.testing.assert_allclose(done["base.z.acceleration"](0.0), 4.0, rtol=1e-12)
    assert done.outcome.ok


def test_a_tilted_quadrotor_levels_itself_and_keeps_its_energy_balance():
    done = simulate(quadrotor(), SOLVER)
    assert abs(done["base.orientation.x"].values[0]) > 0.1
    assert abs(done["base.orientation.x"].final) < 1e-9
    assert done["base.z.position"].final == pytest.approx(1.0, abs=1e-2)
    assert done.outcome.ok
    assert done.statistics.energy_error < 1e-8


def test_loads_are_written_and_read_back_equal(tmp_path):
    first = quadrotor()
    (tmp_path / "quadrotor.toml").write_text(scenario_text(first))
    assert read_scenario(tmp_path / "quadrotor.toml") == first


def test_where_the_ground_moves_a_load_in_body_axes_stays():
    place = Pose(from_rpy(0, 0, np.pi / 2), np.array([1.0, 0, 0]))
    fixed, turned = Load("a", "rim", (1, 0, 0)), Load("b", "rim", (1, 0, 0), frame="body")
    assert fixed.moved(place, {GROUND}).force == pytest.approx((0, 1, 0))
    assert turned.moved(place, {GROUND}) == turned


def test_an_unknown_signal_or_frame_is_refused():
    with pytest.raises(ModelError, match="loads.push.times: there is no signal 'thrust'"):
        run(puck(Load("push", "rim", (1, 0, 0), times="thrust")))
    with pytest.raises(ModelError, match="frame: 'tool' is unknown"):
        Load("push", "rim", (1, 0, 0), frame="tool")


def test_a_load_by_a_signal_is_not_linearised_along_a_motion():
    rail = Joint("rail", "prismatic", GROUND, "cart", axis=(1, 0, 0))
    mechanism = Mechanism("m", [Body("cart", 1.0)], [rail], [Point("nose", "cart")])
    path = Block("path", "sine_reference", parameters={"amplitude": 0.1, "frequency": 1.0}, unit="m")
    machine = Machine("m", mechanism, [path], loads=[Load("push", "nose", (1, 0, 0), times="path.value")])
    with pytest.raises(ModelError, match="loads.push.times: loads by a signal are not linearised"):
        simulate_perturbed(Scenario("s", machine, 0.1, nominal={"rail": "path.value"}))
