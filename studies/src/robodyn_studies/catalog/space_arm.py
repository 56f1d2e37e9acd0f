"""Space-station arm: seven joints, symmetric, with rigid or flexible booms.

Masses, inertias and geometry: Nguyen and Hughes, "Teleoperation: from the Space Shuttle to the Space Station",
Progress in Astronautics and Aeronautics 161 (1994), as in the TraceableRobotModels collection. This project's own
choices, since nothing is published on them: centres of mass at mid segment with the published tensors about them;
rigidities of the booms; stiffness and damping of the joints; how a boom's mass is shared between its tube and its two
end housings. All frames are parallel in the straight position, which is zero for every joint; there is no gravity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    FlexibleBody,
    Joint,
    Machine,
    Mechanism,
    Point,
    Scenario,
    Solver,
)
from robodyn.description.structures import Reduction, Section, beam

BOOM = 7.11
"""Length of each boom [m]."""
HALF = BOOM / 2
ELBOW_OFFSET = -0.475
"""The lower boom beside the upper one [m]."""
TORQUE_LIMIT, SPEED_LIMIT = 2332.0, 0.0698
"""Of every joint [N m, rad/s]."""
RIGIDITY = {"young": 1.0e11, "shear": 2.0e10, "area": 3.0e-3, "iy": 5.0e-5, "iz": 5.0e-5, "torsion": 1.0e-4}
"""Own choice: E I = 5e6 N m^2, G J = 2e6 N m^2, E A = 3e8 N, about a tube of 0.35 m with a 3 mm wall."""
STIFFNESS, DAMPING = 1.0e6, 8.0e3
"""Own choice, of every joint [N m/rad, N m s/rad]: 1 % of critical at the straight rigid arm's first frequency."""
BOOM_DAMPING = 0.005
"""Own choice: modal damping ratio of the booms."""

BODIES = (
    Body("base", 243.66, (0.67945, 0.0, 0.0), (9.336, 44.413, 44.413)),
    Body("shoulder_roll_housing", 105.98, (0.0, 0.0, 0.3513), (12.19, 12.13, 3.061)),
    Body("shoulder_yaw_housing", 105.98, (0.0, -0.2846, 0.0), (8.088, 3.061, 8.446)),
    Body("upper_boom", 314.88, (HALF, 0.0, 0.0), (15.41, 2094.71, 2103.19, 49.52, 0.0, 0.0)),
    Body("lower_boom", 279.20, (HALF, 0.0, 0.0), (9.522, 1966.28, 1966.28, -39.95, 0.0, 0.0)),
    Body("wrist_pitch_housing", 105.98, (0.0, -0.2846, 0.0), (8.305, 3.061, 8.0386)),
    Body("wrist_yaw_housing", 105.98, (0.0, 0.0, -0.3513), (12.13, 12.13, 3.061)),
    Body("effector", 243.66, (0.67945, 0.0, 0.0), (9.336, 44.41, 44.41)),
)
JOINTS = (
    ("shoulder_roll", (1.0, 0.0, 0.0), (1.3589, 0.0, 0.0)),
    ("shoulder_yaw", (0.0, 0.0, 1.0), (0.0, 0.0, 0.7026)),
    ("shoulder_pitch", (0.0, 1.0, 0.0), (0.0, -0.5692, 0.0)),
    ("elbow_pitch", (0.0, 1.0, 0.0), (BOOM, ELBOW_OFFSET, 0.0)),
    ("wrist_pitch", (0.0, 1.0, 0.0), (BOOM, 0.0, 0.0)),
    ("wrist_yaw", (0.0, 0.0, 1.0), (0.0, -0.5692, 0.0)),
    ("wrist_roll", (1.0, 0.0, 0.0), (0.0, 0.0, -0.7026)),
)
"""Name, axis, and origin in the body before it [m]."""
TIP = (1.3589, 0.0, 0.0)
BOOM_REDUCTION = Reduction(modes=0, highest=100.0)
"""All static motions of a boom's end but for its stretch: the arm's first five frequencies are then within 0.2 % of
those with many modes."""


@dataclass(frozen=True)
class Boom:
    """A boom as a tube that deforms, with a rigid housing fixed to each of its ends.

    Together they have the mass, the centre of mass and the tensor of the rigid boom.
    """

    tube: FlexibleBody
    root: Body
    end: Body


@cache
def split_boom(boom: Body, how: Reduction = BOOM_REDUCTION) -> Boom:
    """Share a boom's mass between tube and housings, each housing with equal moments about x and y."""
    from scipy.optimize import brentq

    share = brentq(lambda mass: _missing(boom, how, mass), 1.0, 0.45 * boom.mass)
    tube, (a, d), beside = _divide(boom, how, share)
    # Rounded as the published moments are, they leave the upper boom's housings a little too much about z.
    housings = [
        Body(f"{boom.name}_{side}", share, (0.0, sign * beside, 0.0), (a, a, d), physical=False)
        for side, sign in (("root", 1.0), ("end", -1.0))
    ]
    return Boom(tube, *housings)


def _divide(boom: Body, how: Reduction, share: float) -> tuple[FlexibleBody, tuple[float, float], float]:
    """Tube, moments of a housing about x and z, and how far it sits beside the axis, for a mass of each housing."""
    density = (boom.mass - 2 * share) / (BOOM * RIGIDITY["area"])
    tube = beam(boom.name, BOOM, Section(density=density, **RIGIDITY), how, damping=BOOM_DAMPING)
    beside = boom.inertia[3] / (2 * share * HALF)
    left = [boom.inertia[k] - tube.inertia[k] for k in range(3)]
    around_x = left[0] / 2 - share * beside**2
    around_z = left[2] / 2 - share * (HALF**2 + beside**2)
    return tube, (around_x, around_z), beside


def _missing(boom: Body, how: Reduction, share: float) -> float:
    """What the parts lack of the boom's moment about y [kg m^2]."""
    tube, (around_x, _), _ = _divide(boom, how, share)
    return boom.inertia[1] - tube.inertia[1] - 2 * (share * HALF**2 + around_x)


def space_arm_mechanism(flexible: bool = False, how: Reduction = BOOM_REDUCTION) -> Mechanism:
    """The arm on its base, with the point `tip` at its effector's end and `centre` at the effector's centre of mass.

    Args:
        flexible: whether the booms deform; how: their modes.
    """
    names = [body.name for body in BODIES]
    bodies, joints = list(BODIES), [Joint("mount", "fixed", GROUND, names[0])]
    for k, (name, axis, origin) in enumerate(JOINTS):
        joints.append(Joint(name, "revolute", names[k], names[k + 1], origin, axis=axis))
    points = [Point("tip", "effector", TIP), Point("centre", "effector", BODIES[-1].com)]
    if flexible:
        for name in ("upper_boom", "lower_boom"):
            _soften(bodies, joints, points, split_boom(BODIES[names.index(name)], how))
    return Mechanism("space-arm", tuple(bodies), tuple(joints), tuple(points), gravity=(0.0, 0.0, 0.0))


def _soften(bodies: list[Body], joints: list[Joint], points: list[Point], boom: Boom) -> None:
    """Replace a rigid boom by its parts; what hung on it hangs on the housing at its end."""
    name = boom.tube.name
    place = next(k for k, body in enumerate(bodies) if body.name == name)
    bodies[place : place + 1] = [boom.tube, boom.root, boom.end]
    for k, joint in enumerate(joints):
        if joint.parent == name:
            beside = (0.0, joint.origin[1], 0.0)
            joints[k] = Joint(joint.name, joint.kind, boom.end.name, joint.child, beside, axis=joint.axis)
    joints += [
        Joint(f"{boom.root.name}_mount", "fixed", name, boom.root.name, node="root"),
        Joint(f"{boom.end.name}_mount", "fixed", name, boom.end.name, (BOOM, 0.0, 0.0), node="tip"),
    ]
    points += boom.tube.points()


def space_arm_machine(
    flexible: bool = False,
    how: Reduction = BOOM_REDUCTION,
    *,
    stiffness: float = STIFFNESS,
    damping: float = DAMPING,
    payload: Body | None = None,
) -> Machine:
    """The arm with its brakes on: every joint is a stiff spring with a damper.

    Args:
        payload: a body fixed to the tip.
    """
    mechanism = space_arm_mechanism(flexible, how)
    if payload is not None:
        mechanism = mechanism.with_payload(payload, "effector", TIP)
    parameters = {"stiffness": stiffness, "damping": damping}
    blocks = tuple(Block(f"{name}.gearbox", "spring", on=name, parameters=parameters) for name, _, _ in JOINTS)
    return Machine("space-arm", mechanism, blocks)


def space_arm_swing(flexible: bool = True, how: Reduction = BOOM_REDUCTION, duration: float = 10.0) -> Scenario:
    """A space manipulator swings on its stiff joints and booms after a push at its effector."""
    return Scenario(
        f"space-arm-{'flexible' if flexible else 'rigid'}",
        space_arm_machine(flexible, how),
        duration,
        {"shoulder_pitch.velocity": 0.01, "shoulder_yaw.velocity": 0.01},
        solver=Solver("rosw2", step=2e-3),
        title=f"Seven-joint space arm with {'flexible' if flexible else 'rigid'} booms, swinging on its brakes",
    )
