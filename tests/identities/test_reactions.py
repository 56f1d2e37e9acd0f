"""The reactions of joints are what the balance of each free body leaves for them, by its momentum and by hand."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Ball,
    Block,
    Body,
    Contact,
    Distance,
    Event,
    Joint,
    Load,
    LoopJoint,
    Machine,
    Mechanism,
    ModelError,
    Plane,
    Point,
    Recording,
    Rod,
    Scenario,
    Solver,
    TriangleLength,
    assemble,
    simulate,
)
from robodyn.computation.simulation import compile_system

AXES = "xyz"
STEP = 1e-3
"""Of the five-point differences: what they leave out is about STEP^4."""
MIDDLE = 0.1
TIMES = tuple(MIDDLE + k * STEP for k in range(-2, 3))
SLOPE = np.array([1, -8, 0, 8, -1]) / (12 * STEP)
REACTIONS = Recording(times=TIMES, signals=("*", "*.reaction.*"))


def vector(run, name, row=2):
    return np.array([run[f"{name}.{axis}"].values[row] for axis in AXES])


def random_rotation(generator):
    Q, _ = np.linalg.qr(generator.standard_normal((3, 3)))
    return Q * np.linalg.det(Q)


def random_body(generator, name):
    parts, masses = 0.2 * generator.standard_normal((6, 3)), generator.uniform(0.2, 1.0, 6)
    com = masses @ parts / masses.sum()
    inertia = sum(m * ((r @ r) * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, parts - com, strict=True))
    return Body(name, masses.sum(), com, inertia.tolist())


TREE = {"trunk": GROUND, "left": "trunk", "right": "trunk", "hand": "left", "plate": "right", "tail": "plate"}
KINDS = dict(zip(TREE, ("revolute", "revolute", "prismatic", "revolute", "fixed", "revolute"), strict=True))


@cache
def machine(seed):
    """A branched tree with a loop, a rod, a strut, a load, a contact, drives and friction; a body on a fixed joint."""
    generator = np.random.default_rng(seed)
    bodies = [random_body(generator, name) for name in TREE]
    joints = []
    for name, parent in TREE.items():
        given = {} if KINDS[name] == "fixed" else {"axis": generator.standard_normal(3)}
        frame = (generator.uniform(-0.4, 0.4, 3), random_rotation(generator).tolist())
        joints.append(Joint(f"{name}_joint", KINDS[name], parent, name, *frame, **given))
    joints[0] = replace(joints[0], armature=0.3)
    # The frame of each body: its origin and three points on its axes.
    marks = [(f"{name}_{k}", name, place) for name in TREE for k, place in zip("0xyz", MARKS, strict=True)]
    marks += [("grip", "hand", (0.1, 0.2, 0.3)), ("nail", "tail", (0.3, 0.1, -0.2)), ("hook", "plate", (0.2, 0, 0.1))]
    marks += [("post", GROUND, (0.9, 0.4, -0.3)), ("floor", GROUND, (0, 0, 5.0))]
    points = [Point(*mark) for mark in marks]
    strut = Distance("strut", "post", "grip")
    blocks = [
        Block("push", "constant_force", on="strut", parameters={"value": 25.0}),
        Block("motor", "constant_force", on="trunk_joint", parameters={"value": 4.0}),
        Block("oil", "viscous_friction", on="left_joint", parameters={"viscous": 2.0}),
        Block("brake", "stick_friction", on="right_joint", parameters={"coulomb": 1.0, "static": 1.2}),
    ]
    touch = Contact(
        "touch", Ball("hook", 0.1), Plane("floor", (0.1, 0.2, 1.0)), "kelvin_voigt", {"stiffness": 8.0, "damping": 0.5}
    )
    tree = Machine(
        "tree",
        Mechanism("tree", bodies, joints, points, (0.5, -1.0, -9.81)),
        blocks,
        coordinates=(strut,),
        loads=(Load("weight", "hook", (3.0, -2.0, 1.0), (0.5, 0.4, -0.3)),),
        contacts=(touch,),
    )
    return tied(tree, {f"{name}_joint.position": 0.3 for name in TREE if KINDS[name] != "fixed"})


def tied(tree, positions):
    """The tree with its tail pinned to its hand and a rod from its hook to its trunk, which fit at these positions."""
    free = simulate(Scenario("free", replace(tree, contacts=()), 1e-4, positions))
    o, R = frame(free, "hand", 0)
    eye = Point("eye", "hand", R.T @ (vector(free, "nail.position", 0) - o))
    length = np.linalg.norm(vector(free, "hook.position", 0) - vector(free, "trunk_x.position", 0))
    mechanism = replace(tree.mechanism, points=(*tree.mechanism.points, eye))
    pin, rod = LoopJoint("pin", "nail", "eye"), Rod("rod", "hook", "trunk_x", length)
    start = positions | {"trunk_joint.velocity": 1.5}
    machine = replace(tree, mechanism=mechanism, constraints=(pin, rod))
    return Scenario("tree", machine, 0.2, start, initialisation="assembled", solver=Solver(rtol=1e-10, atol=1e-12))


MARKS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))


def frame(run, body, row):
    """Origin of a body in the world, and its axes."""
    places = [vector(run, f"{body}_{k}.position", row) for k in "0xyz"]
    return places[0], np.column_stack([place - places[0] for place in places[1:]])


def momentum(run, body, row):
    """Momentum, and angular momentum about the body's centre of mass."""
    o, R = frame(run, body.name, row)
    speeds = [vector(run, f"{body.name}_{k}.velocity", row) for k in "0xyz"]
    spin = np.column_stack([speed - speeds[0] for speed in speeds[1:]]) @ R.T
    omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    com = R @ np.array(body.com)
    xx, yy, zz, xy, xz, yz = body.inertia
    inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return body.mass * (speeds[0] + np.cross(omega, com)), inertia @ omega, o + com


def outer_wrenches(run):
    """(body, place, force, torque) of all that acts on bodies beside joints, from recorded signals."""
    grip, post = vector(run, "grip.position"), np.array((0.9, 0.4, -0.3))
    strut = 25.0 * (grip - post) / np.linalg.norm(grip - post)
    hook, top = vector(run, "hook.position"), vector(run, "trunk_x.position")
    pull = run["rod.tension"].values[2] * (top - hook) / np.linalg.norm(top - hook)
    nail, pinned = vector(run, "nail.position"), vector(run, "pin.force")
    normal = np.array((0.1, 0.2, 1.0)) / np.linalg.norm((0.1, 0.2, 1.0))
    zero = np.zeros(3)
    return [
        ("hand", grip, strut, zero),
        ("plate", hook, pull, zero),
        ("trunk", top, -pull, zero),
        ("tail", nail, pinned, zero),
        ("hand", nail, -pinned, zero),
        ("plate", hook, np.array((3.0, -2.0, 1.0)), np.array((0.5, 0.4, -0.3))),
        ("plate", hook - 0.1 * normal, vector(run, "touch.force"), zero),
    ]


@pytest.fixture(scope="module", params=[1, 2])
def run(request):
    run = simulate(machine(request.param), recording=REACTIONS)
    assert run.outcome.ok
    assert run["touch.force.normal"].values[2] > 1.0
    assert max(abs(run["pin.force.x"].values)) > 0.1
    return run


@pytest.mark.parametrize("name", TREE)
def test_what_joints_carry_is_the_rate_of_each_bodys_momentum_less_all_else(run, request, name):
    """Euler's laws for each body by itself: its own joint, the joints of those it carries, and what acts on it."""
    seed = request.node.callspec.params["run"]
    mechanism = machine(seed).machine.mechanism
    body = mechanism.body(name)
    states = [momentum(run, body, row) for row in range(5)]
    com = states[2][2]
    force = SLOPE @ np.array([state[0] for state in states]) - body.mass * np.array(mechanism.gravity)
    torque = SLOPE @ np.array([state[1] for state in states])
    acting = [(place, push, twist) for part, place, push, twist in outer_wrenches(run) if part == name]
    for child in (child for child, parent in TREE.items() if name in (child, parent)):
        o, R = frame(run, child, 2)
        sign = 1 if child == name else -1
        held = [R @ vector(run, f"{child}_joint.reaction.{part}") for part in ("force", "torque")]
        acting.append((o, sign * held[0], sign * held[1]))
    assert sum(push for _, push, _ in acting) == pytest.approx(force, abs=1e-5)
    turning = sum(np.cross(place - com, push) + twist for place, push, twist in acting)
    assert turning == pytest.approx(torque, abs=1e-5)


def test_along_its_motion_a_joint_carries_its_drive_and_friction(run, request):
    """Armature is accelerated before the torque reaches the body; a strut, a rod or a load is none of the joint's."""
    described = machine(request.node.callspec.params["run"]).machine.mechanism
    own = {"trunk": 4.0 - 0.3 * run["trunk_joint.acceleration"].values[2], "left": run["oil.torque"].values[2]}
    own |= {"right": run["brake.torque"].values[2], "hand": 0.0, "tail": 0.0}
    for name, expected in own.items():
        axis = np.array(next(joint for joint in described.joints if joint.child == name).axis)
        part = "force" if KINDS[name] == "prismatic" else "torque"
        assert axis @ vector(run, f"{name}_joint.reaction.{part}") == pytest.approx(expected, abs=1e-6)


def hanging(**fields):
    """Two equal bars fixed end to end, level, on a hinge that is held: 2 kg and 0.5 m each."""
    bars = [Body(name, 2.0, (0.25, 0, 0), (0, 0.04, 0.04)) for name in ("inner", "outer")]
    joints = (
        Joint("hinge", "revolute", GROUND, "inner", axis=(0, -1, 0)),
        Joint("weld", "fixed", "inner", "outer", (0.5, 0, 0)),
    )
    brake = Block("brake", "stick_friction", on="hinge", parameters={"coulomb": 100.0})
    machine = Machine("bars", Mechanism("bars", bars, joints), (brake, *fields.pop("blocks", ())))
    return Scenario("bars", machine, 0.1, **fields)


def test_a_level_bar_at_rest_is_held_with_its_weight_and_its_moment():
    run = simulate(hanging(), recording=Recording(signals=("*.reaction.*",)))
    assert vector(run, "hinge.reaction.force") == pytest.approx([0, 0, 4 * 9.81], abs=1e-9)
    assert vector(run, "hinge.reaction.torque") == pytest.approx([0, -4 * 9.81 * 0.5, 0], abs=1e-9)
    assert vector(run, "weld.reaction.force") == pytest.approx([0, 0, 2 * 9.81], abs=1e-9)
    assert vector(run, "weld.reaction.torque") == pytest.approx([0, -2 * 9.81 * 0.25, 0], abs=1e-9)


def test_reactions_are_there_only_where_they_are_asked_for():
    assert not [info.name for info in assemble(hanging()).signals if "reaction" in info.name]
    one = simulate(hanging(recording=Recording(signals=("*", "weld.reaction.force.z"))))
    assert {name.partition(".reaction")[0] for name in one if "reaction" in name} == {"weld"}
    with pytest.raises(ModelError, match="ask for it where the scenario is assembled"):
        compile_system(assemble(hanging()), signals=("*.reaction.*",))


def test_blocks_and_events_may_read_reactions():
    cell = Block("cell", lambda force: {"reading": 2 * force}, inputs={"force": "hinge.reaction.force.z"}, period=0.01)
    run = simulate(hanging(blocks=(cell,)))
    assert run["cell.reading"].final == pytest.approx(2 * 4 * 9.81, rel=1e-9)
    worn = Event("worn", lambda f: f + 5.0, {"f": "hinge.reaction.force.x"}, direction="falling", terminal=True)
    falling = hanging(events=(worn,))
    run = simulate(replace(falling, machine=replace(falling.machine, blocks=())))
    # Towards the hinge: the pull on what turns, and the part of the weight along the bar.
    angle, speed = (float(run[f"hinge.{quantity}"].final) for quantity in ("position", "velocity"))
    assert 4 * (0.5 * speed**2 - 9.81 * np.sin(angle)) == pytest.approx(5.0, abs=1e-9)


def test_a_cylinder_whose_ends_are_not_described_is_told():
    scenario = hanging()
    cylinder = TriangleLength("rod", {"hinge": 1.0}, (0.3, 0.4), offset=1.0)
    oil = Block("oil", "constant_force", on="rod", parameters={"value": 5.0})
    pushed = replace(scenario, machine=replace(scenario.machine, blocks=(oil,), coordinates=(cylinder,)))
    message = assemble(replace(pushed, recording=Recording(signals=("hinge.reaction.*",)))).warnings
    assert any("contain the torque of 'rod'" in warning for warning in message)
