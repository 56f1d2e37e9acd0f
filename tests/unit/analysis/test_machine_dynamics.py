"""Are mass matrix, inverse dynamics, Jacobians and holding forces those of the simulated machine?"""

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Body,
    Joint,
    Load,
    Machine,
    MachineDynamics,
    Mechanism,
    ModelError,
    Point,
    Rod,
    Scenario,
    Solver,
    simulate,
)


def floating_arm(**fields):
    bodies = [
        Body("hub", 5.0, com=(0.02, 0.0, 0.01), inertia=(0.2, 0.3, 0.25, 0, 0, 0)),
        Body("link", 1.0, com=(0.25, 0, 0), inertia=(0.001, 0.02, 0.02, 0, 0, 0)),
        Body("hand", 0.5, com=(0.05, 0.0, 0.02), inertia=(0.002, 0.001, 0.003, 0, 0, 0)),
    ]
    joints = [
        Joint("base", "free", GROUND, "hub"),
        Joint("elbow", "revolute", "hub", "link", origin=(0.1, 0, 0), axis=(0, 1, 0), armature=0.1),
        Joint("wrist", "ball", "link", "hand", origin=(0.5, 0, 0)),
    ]
    return Machine("arm", Mechanism("arm", bodies, joints, [Point("tip", "hand", (0.1, 0, 0))]), **fields)


def four_bar(points=()):
    def bar(name, length):
        return Body(name, 1.0, com=(length / 2, 0, 0), inertia=(0.0, 0.01, 0.01, 0, 0, 0))

    bodies = [bar("crank", 0.2), bar("coupler", 0.6)]
    joints = [
        Joint("drive", "revolute", GROUND, "crank", axis=(0, -1, 0)),
        Joint("pin", "revolute", "crank", "coupler", origin=(0.2, 0, 0), axis=(0, -1, 0)),
    ]
    points = [Point("end", "coupler", (0.6, 0, 0)), Point("anchor", GROUND, (0.7, 0, -0.3)), *points]
    rod = Rod("rocker", "end", "anchor", 0.4)
    return Machine("four_bar", Mechanism("four_bar", bodies, joints, points), constraints=[rod])


def random_state(dynamics, seed=3):
    rng = np.random.default_rng(seed)
    q = dynamics.positions_at({"base.x.position": 0.3, "elbow.position": 0.7})
    for name in ("base", "wrist"):
        first = dynamics.positions.index(f"{name}.orientation.w")
        q[first : first + 4] = rng.normal(size=4)
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q, rng.normal(size=len(dynamics.velocities)), rng.normal(size=len(dynamics.velocities))


def test_the_simulated_machine_accelerates_as_inverse_dynamics_say():
    """Free motion under a load: M a + c = 0 with the recorded accelerations."""
    machine = floating_arm(loads=[Load("push", "tip", force=(1.0, 2.0, 3.0), torque=(0.1, 0.0, 0.2))])
    dynamics = MachineDynamics(machine)
    q, v, _ = random_state(dynamics)
    start = dict(zip((*dynamics.positions, *dynamics.velocities), (*q, *v), strict=True))
    run = simulate(Scenario("free", machine, 0.01, start, solver=Solver("dopri5", rtol=1e-9)))
    a = [run[name.replace("velocity", "acceleration")].values[0] for name in dynamics.velocities]
    np.testing.assert_allclose(dynamics.inverse_dynamics(q, v, a), 0.0, atol=1e-11)
    assert run["energy.kinetic"].values[0] == pytest.approx(0.5 * v @ dynamics.mass_matrix(q) @ v, rel=1e-12)
    speed = [run[f"tip.velocity.{axis}"].values[0] for axis in "xyz"]
    np.testing.assert_allclose((dynamics.jacobian("tip", q) @ v)[3:], speed, atol=1e-13)
    place = [run[f"tip.position.{axis}"].values[0] for axis in "xyz"]
    np.testing.assert_allclose(dynamics.position("tip", q), place, atol=1e-14)


def test_what_joints_cannot_give_is_refused():
    dynamics = MachineDynamics(floating_arm())
    q, v, a = random_state(dynamics)
    with pytest.raises(ModelError, match=r"joints: cannot produce these forces: .* of base\.\w"):
        dynamics.inverse_dynamics(q, v, a, ["elbow"])
    with pytest.raises(ModelError, match="did you mean 'elbow'"):
        dynamics.holding_forces(q, ["elbw"])
    with pytest.raises(ModelError, match=r"q: has shape \(3,\), needs \(12,\): base\.x\.position"):
        dynamics.mass_matrix([0, 0, 0])
    with pytest.raises(ModelError, match="tipp: there is no such point"):
        dynamics.jacobian("tipp", q)


def test_one_drive_holds_a_closed_loop():
    """By the drive alone, of one freedom: its torque is the slope of the potential energy along the motion."""
    machine = four_bar()
    run = simulate(Scenario("start", machine, 1e-3, {"drive.position": 0.5}, initialisation="assembled"))
    dynamics = MachineDynamics(machine)
    q = np.array([run["drive.position"].values[0], run["pin.position"].values[0]])
    (torque,) = dynamics.holding_forces(q, ["drive"])
    ahead, back = (
        simulate(Scenario("near", machine, 1e-3, {"drive.position": q[0] + d}, initialisation="assembled"))
        for d in (1e-5, -1e-5)
    )
    slope = (ahead["energy.potential"].values[0] - back["energy.potential"].values[0]) / 2e-5
    assert torque == pytest.approx(slope, rel=1e-6)
    both = dynamics.holding_forces(q)
    assert np.linalg.norm(both) < abs(torque)
