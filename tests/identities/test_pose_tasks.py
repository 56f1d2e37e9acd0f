"""Tasks with orientations do what they must on any machine: arms with spare axes, free bases, closed loops.

Second methods: errors by scipy's rotations along the motion of the machine, its accelerations under wrenches.
"""

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.controlled import Posed, evaluate_signals, random_posed

from robodyn.base.errors import ModelError
from robodyn.base.spatial import from_rpy
from robodyn.computation.assembly import assemble
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    ControlModel,
    Joint,
    Load,
    LoopJoint,
    Machine,
    Mechanism,
    Point,
)

WANTED = Rotation.from_rotvec([0.7, -0.4, 0.5])
TURNING, TURNED = np.array([0.4, -0.3, 0.6]), np.array([-0.2, 0.5, 0.1])
"""Angular velocity and acceleration of the wanted orientation, in its own axes."""
PLACE, MOVING, MOVED = (0.3, -0.1, 0.4), (0.2, 0.1, -0.3), (1.0, -2.0, 0.5)


def arm(n, floating=False):
    """Hinges in random directions, the last body a hand with a tool; on a body that floats, or on the ground."""
    rng = np.random.default_rng(n)
    names = [f"b{k}" for k in range(n - 1)] + ["hand"]
    bodies = [Body(name, 1.0 + rng.random(), rng.uniform(-0.1, 0.1, 3), rng.uniform(0.02, 0.03, 3)) for name in names]
    axes, parents = tuple(f"j{k}" for k in range(n)), ["base" if floating else GROUND, *names[:-1]]
    joints = [
        Joint(axis, "revolute", parent, name, rng.uniform(-0.3, 0.3, 3), from_rpy(*rng.uniform(-2, 2, 3)), (0, 0, 1))
        for axis, parent, name in zip(axes, parents, names, strict=True)
    ]
    if floating:
        bodies.insert(0, Body("base", 8.0, (0.0, 0.0, 0.05), (0.5, 0.4, 0.6)))
        joints.insert(0, Joint("float", "free", GROUND, "base"))
    mechanism = Mechanism("arm", tuple(bodies), tuple(joints), (Point("tool", "hand", (0.05, 0.1, 0.2)),))
    q, v = ({f"{axis}.{part}": rng.uniform(-1, 1) for axis in axes} for part in ("position", "velocity"))
    return Posed(Machine("arm", mechanism), q, v, axes, 0), "tool", "hand"


def loop():
    """A closed loop of two axes."""
    return random_posed(5, True), "p4", "b3"


def control(posed, law, model, inputs, **gains):
    return Block("control", law, None, inputs, gains, acts={"torque": posed.axes}, model=model)


def find_pose(system, point, body, state):
    """Where the point is, and how its body is rotated."""
    names = *(f"{point}.position.{axis}" for axis in "xyz"), *(f"{body}.orientation.{part}" for part in "wxyz")
    *place, w, x, y, z = evaluate_signals(system, names, state)
    return np.array(place), Rotation.from_quat([x, y, z, w])


def rates(system, x):
    memory, numbers = [info.start for info in system.memory], [number.value for number in system.parameters]
    return np.array(ca.Function("f", [*system.symbols], [system.expressions.rhs])(0.0, x, [], memory, numbers)).ravel()


def along(system, h):
    """States a little before, at and after the start, the positions right to the second order."""
    x = np.array([info.start for info in system.states])
    f, small = rates(system, x), 1e-5
    bend = (rates(system, x + small * f) - rates(system, x - small * f)) / (2 * small)
    for t in (-h, 0.0, h):
        moved = x + t * f + t * t / 2 * bend
        yield t, dict(zip((info.name for info in system.states), moved, strict=True))


def rotated(frame, axes, found, wanted):
    """Components of the rotation from wanted to found; of its swing where two are asked for, its twist where one is."""
    d = found * wanted.inv() if frame == "world" else wanted.inv() * found
    if len(axes) == 3:
        return d.as_rotvec()
    if len(axes) == 1:
        quaternion = d.as_quat()
        return [2 * np.arctan(quaternion[axes[0]] / quaternion[3])]
    free = np.eye(3)[({0, 1, 2} - {*axes}).pop()]
    # The free axis where it is, from where it is wanted; of the world's, as the bodies see it.
    start, end = (free, d.apply(free)) if frame == "target" else (d.inv().apply(free), free)
    normal = np.cross(start, end)
    return (normal / np.linalg.norm(normal) * np.arctan2(np.linalg.norm(normal), start @ end))[list(axes)]


def deviations(system, pose_of, task, frame, h):
    """Of the task's positions and rotations, at three times."""
    axes = {kind: ["xyz".index(name[-1]) for name in task if kind in name] for kind in ("position", "rotation")}
    found = []
    for t, state in along(system, h):
        place, orientation = find_pose(system, *pose_of, state)
        wanted = WANTED * Rotation.from_rotvec(TURNING * t + TURNED * t * t / 2)
        away = place - (np.array(PLACE) + np.array(MOVING) * t + np.array(MOVED) * t * t / 2)
        away = wanted.inv().apply(away) if frame == "target" else away
        found.append([*away[axes["position"]], *rotated(frame, axes["rotation"], orientation, wanted)])
    return np.array(found)


@pytest.mark.parametrize(
    ("build", "frame", "task"),
    [
        (lambda: arm(4), "world", "position.z rotation.x rotation.y rotation.z"),
        (lambda: arm(4, floating=True), "target", "position.x rotation.y rotation.z"),
        (lambda: arm(3), "world", "position.x rotation.x rotation.z"),
        (loop, "target", "position.x rotation.z"),
    ],
    ids=["arm", "free base", "swing", "loop"],
)
def test_errors_of_moving_poses_are_linear_and_decoupled(build, frame, task):
    """e'' + kd e' + kp e = 0 in the midst of a motion, far from a moving target; spare axes change nothing."""
    posed, *pose_of = build()
    task = tuple(f"{pose_of[0]}.{part}" for part in task.split())
    chosen = [0, 1, 2] if frame == "target" else ["xyz".index(name[-1]) for name in task if "position" in name]
    motions = zip(("target", "target_velocity", "target_acceleration"), (PLACE, MOVING, MOVED), strict=True)
    inputs = {name: tuple(values[k] for k in chosen) for name, values in motions}
    inputs |= {"target_orientation": tuple(WANTED.as_quat()[[3, 0, 1, 2]])}
    inputs |= {"target_angular_velocity": tuple(TURNING), "target_angular_acceleration": tuple(TURNED)}
    gains = {"stiffness": 40.0, "damping": 9.0}
    if len(posed.axes) > len(task):
        inputs["posture"] = (0.3,) * len(posed.axes)
        gains |= {"null_stiffness": 50.0, "null_damping": 3.0}
    law = control(posed, "operational_space_control", ControlModel(task=task, frame=frame), inputs, **gains)
    system = assemble(posed.scenario(law), signals=(f"{pose_of[1]}.orientation.*",))
    h = 3e-5
    before, now, after = deviations(system, pose_of, task, frame, h)
    wanted = -9.0 * (after - before) / (2 * h) - 40.0 * now
    assert np.max(np.abs(now[1:])) > 0.2
    assert (after - 2 * now + before) / h**2 == pytest.approx(wanted, abs=1e-5 * np.max(np.abs(wanted)))


def test_a_wrench_moves_and_rotates_the_task_by_its_compliance():
    """Where K e balances a force and a moment about axes of the target, by half a radian, nothing accelerates."""
    posed, *pose_of = arm(4)
    system = assemble(posed.scenario(), signals=("hand.orientation.*",))
    place, found = find_pose(system, *pose_of, posed.rest)
    wanted = found * Rotation.from_rotvec([0.0, 0.5, 0.0]).inv()
    along, across, _ = wanted.as_matrix().T
    task = ("tool.position.x", "tool.rotation.x", "tool.rotation.y", "tool.rotation.z")
    inputs = {"target": tuple(place - 0.02 * along), "target_orientation": tuple(wanted.as_quat()[[3, 0, 1, 2]])}
    gains = {"stiffness": 700.0, "damping": 3.0, "rotational_stiffness": (20.0, 30.0, 40.0), "rotational_damping": 1.0}
    law = control(posed, "impedance_control", ControlModel(task=task, frame="target"), inputs, **gains)
    push = Load("push", "tool", tuple(14.0 * along), tuple(15.0 * across), times="still.value")
    names, found = tuple(f"{axis}.acceleration" for axis in posed.axes), []
    for size in (0.0, 1.0):
        still = Block("still", "constant_reference", parameters={"constant": size})
        found.append(evaluate_signals(posed.scenario(law, still, loads=(push,)), names, posed.rest))
    assert np.max(np.abs(found[0])) > 10.0
    assert found[1] == pytest.approx(0.0 * found[1], abs=1e-9 * np.max(np.abs(found[0])))


def walker(standing):
    """A trunk in the plane of x and z on two legs of two motors each; the feet stand on the ground, or float."""
    bodies = [Body("trunk", 10.0, (0.05, 0.0, 0.02), (0.3, 0.4, 0.5))]
    joints = [Joint("base", "planar", GROUND, "trunk", (0.0, 0.0, 0.45), axis=(0, 1, 0))]
    points, axes, q = [Point("centre", "trunk", (0.02, 0.0, 0.05))], (), {}
    for k, x in enumerate((0.3, -0.25)):
        bodies += [
            Body(f"thigh{k}", 1.0, (0.0, 0.0, -0.1), (0.01,) * 3),
            Body(f"shank{k}", 0.5, (0.0, 0.0, -0.1), (0.005,) * 3),
        ]
        joints += [
            Joint(f"hip{k}", "revolute", "trunk", f"thigh{k}", (x, 0.0, 0.0), axis=(0, 1, 0)),
            Joint(f"knee{k}", "revolute", f"thigh{k}", f"shank{k}", (0.0, 0.0, -0.25), axis=(0, 1, 0)),
        ]
        # Straight down, this foot is below its hip: where it is held.
        foot = np.array([x, 0.0, 0.45]) - 0.25 * np.array([np.sin(0.6) + np.sin(-0.5), 0.0, np.cos(0.6) + np.cos(-0.5)])
        points += [Point(f"foot{k}", f"shank{k}", (0.0, 0.0, -0.25)), Point(f"ground{k}", GROUND, tuple(foot))]
        axes, q = (*axes, f"hip{k}", f"knee{k}"), q | {f"hip{k}.position": 0.6, f"knee{k}.position": -1.1}
    loops = tuple(LoopJoint(f"hold{k}", f"foot{k}", f"ground{k}") for k in range(2)) if standing else ()
    machine = Machine("walker", Mechanism("walker", tuple(bodies), tuple(joints), tuple(points)), constraints=loops)
    return Posed(machine, q, {}, axes, 3)


def test_a_trunk_on_held_feet_moves_as_asked_with_more_motors_than_motions():
    """Four motors, three motions. A model that holds the feet of a robot that floats finds the same forces."""
    inputs, gains = (
        {"target": (0.1, 0.4), "target_orientation": (1.0, 0.0, 0.0, 0.0)},
        {"stiffness": 40.0, "damping": 9.0},
    )
    task, torques = (
        ("centre.position.x", "centre.position.z", "centre.rotation.y"),
        [f"control.torque.{k}" for k in range(4)],
    )
    standing, floating = walker(True), walker(False)
    law = control(standing, "operational_space_control", ControlModel(task=task), inputs, **gains)
    # The second axis of the base points down.
    names = (*torques, *task[:2], "base.x.acceleration", "base.y.acceleration", "base.angle.acceleration")
    *forces, x, z, along, down, turning = evaluate_signals(standing.scenario(law), names, standing.rest)
    wanted = 40.0 * np.array([0.1 - x, z - 0.4, 0.0])
    assert [along, down, turning] == pytest.approx(wanted, abs=1e-9 * np.max(np.abs(wanted)))
    blind = law.replaced(model=ControlModel(task=task, held=("foot0", "foot1")))
    assert evaluate_signals(floating.scenario(blind), tuple(torques), floating.rest) == pytest.approx(forces, rel=1e-7)
    with pytest.raises(ModelError, match="names 4 axes, but 3 motions are free"):
        assemble(standing.scenario(control(standing, "gravity_compensation", None, {})))
