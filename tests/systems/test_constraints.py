"""A mechanism closed by constraints moves like the same one built as a tree; constraints take and give no energy."""

from dataclasses import replace
from functools import cache
from math import dist, pi

import numpy as np
import pytest
from support.linkages import FREE, PRECISE, SIXFOLD, chain, crank_rocker

from robodyn import (
    GROUND,
    Block,
    Body,
    ConstraintFunction,
    ConstraintMethod,
    Joint,
    LinearCombination,
    LinearConstraint,
    LoopJoint,
    Machine,
    MachineDynamics,
    Mechanism,
    ModelError,
    Point,
    PrescribedMotion,
    Rod,
    Scenario,
    assemble,
    simulate,
)
from robodyn.base.symbolic import cos, sin

TILTED = (2.0, 3.0, -9.0)
ARM = Body("arm", 1.0, (0.25, 0, 0), (0.01, 0.03, 0.03))
LOAD = Body("load", 2.0, (0.05, -0.02, 0.1), (0.05, 0.06, 0.04, 0.01, 0.0, 0.005))
SHOULDER = Joint("shoulder", "revolute", "ground", "arm", axis=(0, 1, 0))
POINTS = (Point("tip", "arm", (0.5, 0, 0)), Point("root", "load"), Point("far", "load", (0.3, 0.2, 0.1)))
LENGTH = 0.4
AXIS = {
    "revolute": {"axis": (0, 0.6, 0.8)},
    "universal": {"axis": (0, 0, 1), "second_axis": (0, 1, 0)},
    "prismatic": {"axis": (0.6, 0, 0.8)},
}
# The same joint as a chain of single ones.
TREES = {
    "spherical": SIXFOLD[3:],
    "universal": (("revolute", (0, 0, 1)), ("revolute", (0, 1, 0))),
    "revolute": (("revolute", (0, 0.6, 0.8)),),
    "prismatic": (("prismatic", (0.6, 0, 0.8)),),
    "fixed": (("fixed", (0, 0, 1)),),
}
START = {"shoulder.velocity": 1.5}
DURATION = 0.8


def as_tree(kind):
    """An arm that carries a load by a joint."""
    names = [f"wrist{k}" for k in range(len(TREES[kind]))]
    bodies, joints = chain(LOAD, TREES[kind], names, "arm", (0.5, 0, 0))
    mechanism = Mechanism("tree", [ARM, *bodies], [SHOULDER, *joints], POINTS, TILTED)
    return Scenario("tree", Machine("tree", mechanism), DURATION, START, solver=PRECISE)


def with_free_load(constraint, at=0.5, **fields):
    """The same arm and a free load, held by a constraint; the load starts with the arm's speed at that place."""
    bodies, joints = chain(LOAD, SIXFOLD, FREE)
    mechanism = Mechanism("closed", [ARM, *bodies], [SHOULDER, *joints], POINTS, TILTED)
    start = START | {"x.position": at, "z.velocity": -1.5 * at, "pitch.velocity": 1.5}
    machine = Machine("closed", mechanism, constraints=(constraint,))
    return Scenario("closed", machine, DURATION, start, solver=PRECISE, **fields)


def places(run, point="far"):
    times = np.linspace(0, DURATION, 30)
    return np.array([run[f"{point}.position.{axis}"](times) for axis in "xyz"])


@cache
def run_closed(kind, constraint_method):
    grip = LoopJoint("grip", "tip", "root", kind, **AXIS.get(kind, {}))
    return simulate(with_free_load(grip, constraint_method=constraint_method))


@cache
def run_tree(kind):
    return simulate(as_tree(kind))


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize(
    "constraint_method", [ConstraintMethod(pole=20.0), ConstraintMethod("projection")], ids=lambda t: t.method
)
def test_a_loop_joint_moves_like_the_joint_of_its_kind(kind, constraint_method):
    closed = run_closed(kind, constraint_method)
    assert closed.outcome.ok
    assert not closed.warnings
    # Both are integrated to 1e-10.
    assert places(closed) == pytest.approx(places(run_tree(kind)), abs=1e-7)
    assert closed.statistics.extra["constraint_position_error"] < 1e-9
    assert closed.statistics.extra["constraint_velocity_error"] < 1e-7


def test_a_rod_moves_like_a_massless_link():
    link = [Body("link_frame"), Body("link")]
    swivel = [
        Joint("swing", "revolute", "arm", "link_frame", (0.5, 0, 0), axis=(0, 1, 0)),
        Joint("sway", "revolute", "link_frame", "link", axis=(0, 0, 1)),
    ]
    bodies, joints = chain(LOAD, SIXFOLD[3:], FREE[3:], "link", (LENGTH, 0, 0))
    mechanism = Mechanism("tree", [ARM, *link, *bodies], [SHOULDER, *swivel, *joints], POINTS, TILTED)
    tree = simulate(Scenario("tree", Machine("tree", mechanism), DURATION, START, solver=PRECISE))
    rod = simulate(with_free_load(Rod("rod", "tip", "root", LENGTH), at=0.5 + LENGTH))
    assert places(rod) == pytest.approx(places(tree), abs=1e-7)


@pytest.mark.parametrize("kind", ["spherical", "universal", "revolute", "fixed"])
def test_the_force_of_a_loop_joint_is_what_the_load_needs(kind):
    """Newton's law for the load, whose centre of mass is put into its free frame: m a = m g - F."""
    centred = Body("load", 2.0, (0, 0, 0), (0.05, 0.06, 0.04))
    bodies, joints = chain(centred, SIXFOLD, FREE)
    mechanism = Mechanism("closed", [ARM, *bodies], [SHOULDER, *joints], POINTS, TILTED)
    grip = LoopJoint("grip", "tip", "root", kind, **AXIS.get(kind, {}))
    start = START | {"x.position": 0.5, "z.velocity": -0.75, "pitch.velocity": 1.5}
    scenario = Scenario("closed", Machine("closed", mechanism, constraints=(grip,)), 0.5, start, solver=PRECISE)
    run = simulate(scenario)
    for axis, gravity in zip("xyz", TILTED, strict=True):
        needed = 2.0 * (gravity - run[f"{axis}.acceleration"].values)
        assert run[f"grip.force.{axis}"].values == pytest.approx(needed, abs=1e-9)


@pytest.mark.parametrize("kind", TREES)
def test_constraints_that_do_not_move_have_no_power_and_keep_the_energy(kind):
    run = run_closed(kind, ConstraintMethod(pole=20.0))
    total = run["energy.kinetic"].values + run["energy.potential"].values
    # 1e-8 of the energies that move, 20 J: the solver's tolerance over the run.
    assert np.ptp(total) < 2e-7
    # Forces of up to 100 N times speeds that are wrong by the tolerance.
    assert np.max(np.abs(run["energy.power"].values)) < 1e-5


def wheels(constraint=None, coordinates=(), armature=0.0):
    """A pendulum, and where it has a constraint a wheel beside it."""
    rod = Body("rod", 1.0, (0.5, 0, 0), (0, 0.1, 0.1))
    hinge = Joint("hinge", "revolute", "ground", "rod", axis=(0, 1, 0), armature=armature)
    wheel = Body("wheel", 1.0, inertia=(0.1, 0.09, 0.1))
    axle = Joint("axle", "revolute", "ground", "wheel", axis=(0, 1, 0))
    both = constraint is not None
    mechanism = Mechanism("wheels", (rod, wheel)[: 1 + both], (hinge, axle)[: 1 + both])
    machine = Machine("wheels", mechanism, coordinates=coordinates, constraints=(constraint,) if both else ())
    start = {"hinge.position": 0.3} | ({"axle.position": 0.6} if both else {})
    return Scenario("wheels", machine, 2.0, start, solver=PRECISE)


@pytest.mark.parametrize(
    ("constraint", "coordinates"),
    [
        (LinearConstraint("gear", {"axle": 1.0, "hinge": -2.0}), ()),
        (LinearConstraint("gear", {"slip": 1.0}), (LinearCombination("slip", {"axle": 1.0, "hinge": -2.0}),)),
        (ConstraintFunction("gear", ("axle", "hinge"), lambda axle, hinge: axle - 2 * hinge), ()),
    ],
    ids=["coupling", "coupled coordinate", "relation"],
)
def test_a_gear_is_a_wheels_inertia_times_the_ratio_squared(constraint, coordinates):
    geared = simulate(wheels(constraint, coordinates))
    plain = simulate(wheels(armature=2.0**2 * 0.09))
    times = np.linspace(0, 2, 30)
    assert geared["hinge.position"](times) == pytest.approx(plain["hinge.position"](times), abs=1e-8)
    assert geared["axle.position"](times) == pytest.approx(2 * plain["hinge.position"](times), abs=1e-8)
    # What turns the wheel is the gear's force alone.
    needed = 0.09 * geared["axle.acceleration"].values
    assert geared["gear.force"].values == pytest.approx(needed, abs=1e-9)


def swing(time, *, size, rate):
    return {
        "position": size * sin(rate * time),
        "velocity": size * rate * cos(rate * time),
        "acceleration": -size * rate**2 * sin(rate * time),
    }


def two_links(*constraints, blocks=(), initial=None):
    upper = Body("upper", 2.0, (0.25, 0, 0), (0.01, 0.05, 0.05))
    lower = Body("lower", 1.0, (0.2, 0, 0), (0.01, 0.03, 0.03))
    joints = (
        Joint("shoulder", "revolute", "ground", "upper", axis=(0, 1, 0)),
        Joint("elbow", "revolute", "upper", "lower", (0.5, 0, 0), axis=(0, 1, 0)),
    )
    machine = Machine("arm", Mechanism("arm", (upper, lower), joints), blocks=blocks, constraints=constraints)
    return Scenario("arm", machine, 1.5, initial or {}, solver=PRECISE)


MOVES = {"shoulder": (0.8, 4.0), "elbow": (-0.5, 6.0)}


def moved(names):
    """References and prescribed motions of some joints."""
    blocks = [
        Block(f"{name}_path", swing, parameters=dict(zip(("size", "rate"), MOVES[name], strict=True))) for name in names
    ]
    prescribed = [
        PrescribedMotion(f"{n}_drive", n, f"{n}_path.position", f"{n}_path.velocity", f"{n}_path.acceleration")
        for n in names
    ]
    start = {f"{name}.velocity": MOVES[name][0] * MOVES[name][1] for name in names}
    return two_links(*prescribed, blocks=blocks, initial=start)


def test_a_prescribed_motion_needs_the_torque_of_inverse_dynamics():
    run = simulate(moved(("shoulder", "elbow")))
    dynamics = MachineDynamics(two_links().machine)
    rates = np.array([rate for _, rate in MOVES.values()])
    sizes = np.array([size for size, _ in MOVES.values()])
    for k, time in list(enumerate(run.time))[::25]:
        q, v, a = (sizes * rates**n * f(rates * time) for n, f in ((0, np.sin), (1, np.cos), (2, lambda u: -np.sin(u))))
        torque = dynamics.inverse_dynamics(q, v, a)
        assert [run[f"{name}.position"].values[k] for name in MOVES] == pytest.approx(list(q), abs=1e-8)
        # Recorded between steps too, where the interpolated motion is less exact than the steps themselves.
        assert [run[f"{name}_drive.force"].values[k] for name in MOVES] == pytest.approx(list(torque), abs=1e-6)


def test_a_relation_with_time_is_a_prescribed_motion():
    size, rate = MOVES["shoulder"]
    driven = ConstraintFunction("drive", ("shoulder",), lambda position, time: position - size * sin(rate * time))
    related = simulate(two_links(driven, initial={"shoulder.velocity": size * rate}))
    prescribed = simulate(moved(("shoulder",)))
    times = np.linspace(0, 1.5, 40)
    assert related["elbow.position"](times) == pytest.approx(prescribed["elbow.position"](times), abs=1e-7)
    assert related["drive.force"](times) == pytest.approx(prescribed["shoulder_drive.force"](times), abs=1e-4)
    # The drive's work is the energy the arm has gained.
    assert related.statistics.energy_error < 1e-8
    assert np.ptp(related["energy.work"].values) > 1.0


def cylinders(*constraints, initial=None):
    """A mass that slides in x, y and z."""
    bodies, joints = chain(Body("mass", 1.0), SIXFOLD[:3], FREE[:3])
    points = (Point("centre", "ground"), Point("mass_point", "mass"))
    machine = Machine("mass", Mechanism("mass", bodies, joints, points), constraints=constraints)
    return Scenario("mass", machine, 2.0, initial or {}, solver=PRECISE)


def test_a_relation_may_have_several_equations():
    """A helix: x = cos(s), y = sin(s), z = s / 2; a bead slides down with g / (1 + 4) along s."""
    helix = ConstraintFunction("helix", ("x", "y", "z"), lambda x, y, z: (x - cos(2 * z), y - sin(2 * z)), count=2)
    run = simulate(cylinders(helix, initial={"x.position": 1.0}))
    # Speed along s = 2 z: length^2 per s is 1 + 1/4, weight per s is g / 2.
    expected = -0.5 * (9.81 / 2 / (1 + 0.25)) * 0.5 * run.time**2
    assert run["z.position"].values == pytest.approx(expected, abs=1e-8)


def test_friction_that_sticks_holds_a_loop():
    """Neither its own joint nor those it holds through the loop move at all."""
    brake = Block("brake", "stick_friction", on="crank_joint", parameters={"coulomb": 50.0})
    run = simulate(crank_rocker(blocks=(brake,), duration=20.0))
    assert not run.events
    for joint in ("crank_joint", "coupler_joint", "rocker_joint"):
        assert np.ptp(run[f"{joint}.position"].values) == 0.0
        assert np.max(np.abs(run[f"{joint}.velocity"].values)) == 0.0
    free = simulate(crank_rocker(duration=0.2))
    assert np.ptp(free["crank_joint.position"].values) > 0.01


def with_constraint(constraint):
    scenario = crank_rocker(duration=0.1)
    machine = replace(scenario.machine, constraints=(*scenario.machine.constraints, constraint))
    return replace(scenario, machine=machine)


def test_friction_lets_a_loop_go_at_the_torque_that_holds_it():
    """Held by a prescribed crank or by friction, the torque is the same; and below it the crank slips."""
    assembled = simulate(crank_rocker(duration=0.01))
    crank = assembled["crank_joint.position"].values[0]
    still = simulate(with_constraint(PrescribedMotion("hold", "crank_joint", crank)))
    torque = abs(still["hold.force"].values[0])
    for factor, moves in ((1.001, False), (0.999, True)):
        brake = Block("b", "stick_friction", on="crank_joint", parameters={"coulomb": factor * torque})
        run = simulate(crank_rocker(duration=0.5, blocks=(brake,)))
        assert (np.ptp(run["crank_joint.position"].values) > 0) == moves


def test_angles_of_a_loop_meet_the_closing_condition_all_the_way():
    run = simulate(crank_rocker(duration=3.0))
    crank, coupler, rocker = (run[f"{n}_joint.position"].values for n in ("crank", "coupler", "rocker"))
    x = 0.3 * np.cos(crank) + 0.9 * np.cos(crank + coupler) - 0.8 - 0.7 * np.cos(rocker)
    z = 0.3 * np.sin(crank) + 0.9 * np.sin(crank + coupler) - 0.7 * np.sin(rocker)
    assert np.max(np.hypot(x, z)) < 1e-8
    assert run.statistics.energy_error < 1e-8
    assert np.ptp(crank) > pi


def test_a_rod_within_one_rigid_part_is_told():
    """Its length cannot change: what a joint seems to do to it is rounding."""
    bodies = [Body(name, 1.0, (0.2, 0.1, 0), (0.02, 0.02, 0.02)) for name in ("a", "b")]
    turn = Joint("turn", "revolute", GROUND, "a", origin=(0.13, 0.21, 0.07), axis=(0.3, 1, 0.2))
    stuck = Joint("stuck", "fixed", "a", "b", origin=(0.3, 0.1, 0.123))
    ends = Point("one", "a", (0.11, 0.32, 0.05)), Point("two", "b", (0.07, 0.21, 0.4))
    length = dist((0.11, 0.32, 0.05), (0.37, 0.31, 0.523))
    mechanism = Mechanism("part", bodies, (turn, stuck), ends)
    machine = Machine("part", mechanism, constraints=(Rod("rod", "one", "two", length),))
    with pytest.raises(ModelError, match=r"constraints\.rod: has no effect"):
        assemble(Scenario("part", machine, 1.0, {"turn.velocity": 1.0}))
