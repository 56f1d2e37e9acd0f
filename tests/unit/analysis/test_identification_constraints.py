"""Is the regressor of machines with loops and followers that of their own dynamics, and is it identified with?"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from robodyn import Recording, Solver, simulate
from robodyn.analysis.identification.identify import identify, plan_identification
from robodyn.analysis.identification.regressor import find_base_parameters, make_regressor
from robodyn.base.errors import ModelError
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    Joint,
    LoopJoint,
    Machine,
    Mechanism,
    Mimic,
    Point,
    PrescribedMotion,
    Scenario,
)

AXIS = (0.0, -1.0, 0.0)
LENGTHS = {"crank": 0.3, "rocker": 0.8}
MASSES = {"crank": 1.0, "coupler": 2.0, "rocker": 1.5}
TENSORS = {"crank": (0.01, 0.02, 0.02), "coupler": (0.02, 0.2, 0.2), "rocker": (0.01, 0.1, 0.1)}
CENTRES = {"crank": (0.1, 0.0, 0.03), "coupler": (0.5, 0.0, 0.1), "rocker": (0.3, 0.0, -0.05)}
ORIGINS = {"foot": (0.0, 0.0, 0.0), "knee": (0.3, 0.0, 0.0), "pivot": (1.0, 0.0, 0.2)}
END, TOP = (1.0, 0.0, 0.0), (0.8, 0.0, 0.0)


def drive(joint, sines, friction, offset=0.0):
    """A loop along a Fourier series, and friction."""
    wave = {"sines": sines, "cosines": (0.1, -0.05, 0.04), "frequency": 0.5, "offset": offset}
    gains = {"proportional": 400.0, "derivative": 40.0}
    losses = {"coulomb": friction, "viscous": 0.5, "smoothing_velocity": 0.02}
    return [
        Block(f"{joint}.wave", "multisine_reference", parameters=wave),
        Block(f"{joint}.control", "pd_control", joint, {"target": f"{joint}.wave.value"}, gains),
        Block(f"{joint}.drive", "torque_source", joint, {"command": f"{joint}.control.command"}),
        Block(f"{joint}.friction", "coulomb_friction", joint, parameters=losses),
    ]


def closed(foot):
    """Angles of the four-bar: where circles about the crank's tip and the pivot meet, above."""
    tip, pivot = 0.3 * np.exp(1j * foot), 1.0 + 0.2j
    apart = pivot - tip
    along = (abs(apart) ** 2 + 1.0 - 0.8**2) / (2 * abs(apart))
    top = tip + apart / abs(apart) * (along + 1j * np.sqrt(1.0 - along**2))
    angles = {"foot": foot, "knee": np.angle(top - tip) - foot, "pivot": np.angle(top - pivot)}
    return {f"{joint}.position": float(angle) for joint, angle in angles.items()}


@cache
def four_bar(top=TOP):
    """A crank, a coupler and a rocker, all different, with friction at the driven crank and at the rocker's pivot."""
    bodies = [Body(name, MASSES[name], CENTRES[name], TENSORS[name]) for name in MASSES]
    joints = [
        Joint("foot", "revolute", GROUND, "crank", ORIGINS["foot"], axis=AXIS),
        Joint("knee", "revolute", "crank", "coupler", ORIGINS["knee"], axis=AXIS),
        Joint("pivot", "revolute", GROUND, "rocker", ORIGINS["pivot"], axis=AXIS),
    ]
    points = (Point("end", "coupler", END), Point("top", "rocker", top))
    mechanism = Mechanism("four-bar", tuple(bodies), tuple(joints), points)
    rub = {"coulomb": 0.6, "viscous": 0.2, "smoothing_velocity": 0.02}
    blocks = [
        *drive("foot", (0.3, 0.15, -0.1), 1.0, 1.2),
        Block("pivot.friction", "coulomb_friction", "pivot", {}, rub),
    ]
    machine = Machine("four-bar", mechanism, tuple(blocks), constraints=(LoopJoint("loop", "end", "top"),))
    start = closed(1.2)
    solver, method = Solver("dopri5", rtol=1e-8, atol=1e-10), ConstraintMethod("projection")
    return Scenario("four-bar", machine, 4.0, start, solver=solver, constraint_method=method)


@cache
def gripper():
    """A finger that another follows by a gear of -0.7, on a slide that gravity pulls down."""
    bodies = (
        Body("hand", 2.0),
        Body("left", 0.3, (0.1, 0.0, 0.02), (1e-3, 2e-3, 2e-3)),
        Body("right", 0.5, (0.2, 0, 0)),
    )
    joints = (
        Joint("lift", "prismatic", GROUND, "hand", axis=(0.0, 0.0, 1.0)),
        Joint("thumb", "revolute", "hand", "left", (0.05, 0.0, 0.0), axis=AXIS),
        Joint("finger", "revolute", "hand", "right", (-0.05, 0.0, 0.0), axis=AXIS, mimic=Mimic("thumb", -0.7, 0.1)),
    )
    blocks = [*drive("lift", (0.2, 0.1, -0.1), 2.0), *drive("thumb", (0.5, -0.3, 0.2), 0.1)]
    spring = Block("finger.spring", "spring", "finger", parameters={"stiffness": 3.0, "rest": 0.2})
    machine = Machine("gripper", Mechanism("gripper", bodies, joints), (*blocks, spring))
    start = {"lift.position": 0.1, "thumb.position": 0.1, "finger.position": 0.03}
    return Scenario("gripper", machine, 4.0, start, solver=Solver("dopri5", rtol=1e-9, atol=1e-11))


@cache
def recorded(make):
    scenario = make()
    run = simulate(scenario, recording=Recording(rate=1000.0))
    assert run.outcome.ok
    return replace(run, infos=tuple(replace(info, rate=None, kind="continuous") for info in run.infos))


@pytest.mark.parametrize("make", [four_bar, gripper])
def test_efforts_of_a_simulation_are_those_of_the_projected_regressor(make):
    """The engine keeps constraints by multipliers and steps in all joints; the regressor has independent ones alone."""
    regressor, run = make_regressor(make()), recorded(make)
    assert regressor.joints == {four_bar: ("foot",), gripper: ("lift", "thumb")}[make]
    rows = slice(100, -1, 50)
    q, v, a = (
        np.column_stack([run[f"{joint}.{what}"].values[rows] for joint in regressor.joints])
        for what in ("position", "velocity", "acceleration")
    )
    Y, fixed = regressor(q, v, a)
    tau = np.column_stack([run[f"{joint}.drive.torque"].values[rows] for joint in regressor.joints])
    # Steps of rtol 1e-9, constraints kept to 1e-9 and stabilised: forces to about 1e-6 of theirs.
    np.testing.assert_allclose(Y @ regressor.given + fixed, tau, atol=2e-6 * np.abs(tau).max())


@pytest.mark.parametrize("make", [four_bar, gripper])
def test_numbers_of_loops_and_followers_are_identified(make):
    scenario, run = make(), recorded(make)
    plan = plan_identification(scenario, run)
    found = identify(
        scenario.with_numbers({p.number: 0.5 * p.given for p in plan.regressor.parameters if p.number}),
        run,
        cutoff=50.0,
    )
    truth = dict(zip(plan.base.names, plan.base.G @ plan.regressor.given, strict=True))
    errors = [
        abs(e.value - truth[e.name]) / max(3 * e.deviation, 1e-3 * abs(truth[e.name]))
        for e in found.base
        if e.identifiable
    ]
    # No noise but that of the filter: within three deviations or a thousandth nearly always.
    assert np.mean(np.array(errors) < 1) > 0.9
    # What reverses within the memory of the filter is left, more of it at the sharp start.
    assert all(p.percent < (0.5 if p.held_out else 2.0) for p in found.predictions)


def test_base_parameters_of_a_follower_are_sums_with_its_gear():
    found = find_base_parameters(make_regressor(gripper()))
    assert found.gap > 1e5
    # The finger turns 0.7 times as fast: its inertia counts 0.49 times.
    assert any("left.Lyy" in name and "0.49 right.Lyy" in name for name in found.names)


def test_the_four_bars_force_is_that_of_another_program():
    """Pinocchio: inverse dynamics of the open tree, projected by Jacobians of the points that the loop joins."""
    pin = pytest.importorskip("pinocchio")
    model = pin.Model()
    parents = {"foot": 0, "knee": 1, "pivot": 0}
    for (joint, parent), body in zip(parents.items(), MASSES, strict=True):
        place = pin.SE3(np.eye(3), np.array(ORIGINS[joint]))
        own = model.addJoint(parent, pin.JointModelRevoluteUnaligned(np.array(AXIS)), place, joint)
        inertia = pin.Inertia(MASSES[body], np.array(CENTRES[body]), np.diag(TENSORS[body]))
        model.appendBodyToJoint(own, inertia, pin.SE3.Identity())
    for name, joint, at in (("end", 2, END), ("top", 3, TOP)):
        model.addFrame(pin.Frame(name, joint, pin.SE3(np.eye(3), np.array(at)), pin.FrameType.OP_FRAME))
    data = model.createData()
    bare = four_bar().replaced(machine=four_bar().machine.replaced(blocks=()))
    model.gravity.linear = np.array(bare.machine.mechanism.gravity)
    regressor = make_regressor(bare)
    u, du, ddu = np.random.default_rng(0).uniform(-0.4, 0.4, (3, 6, 1)) + np.array([1.2, 0.0, 1.0])[:, None, None]
    Y, fixed = regressor(u, du, ddu)
    frames = [model.getFrameId(name) for name in ("end", "top")]
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for k, q in enumerate(regressor.complete(u)):
        J = [pin.computeFrameJacobian(model, data, q, frame, aligned)[[0, 2]] for frame in frames]
        K = J[0] - J[1]
        N = np.append(1.0, -np.linalg.solve(K[:, 1:], K[:, 0]))
        v = N * du[k]
        pin.forwardKinematics(model, data, q, v, np.zeros(3))
        moving = [pin.getFrameClassicalAcceleration(model, data, frame, aligned).linear[[0, 2]] for frame in frames]
        a = np.append(ddu[k], -np.linalg.solve(K[:, 1:], K[:, 0] * ddu[k] + moving[0] - moving[1]))
        expected = N @ pin.rnea(model, data, q, v, a)
        # Both in double precision; positions are closed to 1e-9 at least, to rounding by Newton's method.
        assert (Y[k] @ regressor.given + fixed[k])[0] == pytest.approx(expected, rel=1e-9)


def test_what_constraints_do_not_allow_is_refused_with_the_reason():
    with pytest.raises(ModelError, match=r"constraints: are not met at the start"):
        make_regressor(four_bar((5.0, 0.0, 0.0)))
    with pytest.raises(ModelError, match=r"constraints: cannot be met at foot.position = .* 0 more"):
        # Coupler and rocker of 1 + 0.29 m reach the crank's tip where it points up, not 1.316 m away.
        make_regressor(four_bar((0.29, 0.0, 0.0))).complete(np.array([[1.2], [3.1]]))
    prescribed = PrescribedMotion("push", "foot", 0.3)
    other = four_bar().replaced(machine=four_bar().machine.replaced(constraints=(prescribed,)))
    with pytest.raises(ModelError, match=r"constraints.push: does not hold the joints to each other at all times"):
        make_regressor(other)
