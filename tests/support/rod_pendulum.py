"""A pendulum in Cartesian coordinates that a force pushes, for linear analysis against closed forms."""

from robodyn.description.model import Block, Body, ConstraintMethod, Joint, Machine, Mechanism, Point, Rod, Scenario

GRAVITY, LENGTH, MASS, POLE = 9.81, 0.7, 2.0, 5.0


def pushed_pendulum(drag: float = 0.0, constraint_method: ConstraintMethod | None = None) -> Scenario:
    """A mass on a rod, hanging; force `push.value` along x, drag [N s/m] on both slides."""
    bodies = (Body("slide"), Body("bob", MASS))
    joints = (
        Joint("x", "prismatic", "ground", "slide", axis=(1, 0, 0)),
        Joint("z", "prismatic", "slide", "bob", axis=(0, 0, 1)),
    )
    blocks = [Block("push", "constant_force", "x", parameters={"value": 0.0})]
    blocks += [Block(f"drag.{axis}", "viscous_friction", axis, parameters={"viscous": drag}) for axis in "xz"]
    points = (Point("pivot", "ground"), Point("tip", "bob"))
    machine = Machine(
        "pendulum",
        Mechanism("pendulum", bodies, joints, points, (0.0, 0.0, -GRAVITY)),
        blocks,
        constraints=(Rod("rod", "pivot", "tip", LENGTH),),
    )
    constraint_method = constraint_method or ConstraintMethod(pole=POLE)
    return Scenario("pushed-pendulum", machine, 1.0, {"z.position": -LENGTH}, constraint_method=constraint_method)
