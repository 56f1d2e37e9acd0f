"""Is what rests distinguished from what moves: friction that holds, contacts that part, a machine at rest?"""

import pytest

from robodyn import (
    GROUND,
    Ball,
    Block,
    Body,
    ConstraintMethod,
    Distance,
    Joint,
    Machine,
    Mechanism,
    Plane,
    Point,
    PrescribedMotion,
    RigidContact,
    Scenario,
    Solver,
    simulate,
)
from robodyn.description.structures import Reduction, Section, beam

TIMES, POINTS = (0.0, 0.5, 1.0), (0.0, 0.5, 0.3)


def two_links(*blocks: Block, **fields) -> Machine:
    bodies = [Body(name, 1.0, (0.2, 0, 0), (0.02, 0.02, 0.02)) for name in ("upper", "lower")]
    joints = (
        Joint("shoulder", "revolute", GROUND, "upper", axis=(0, 1, 0)),
        Joint("elbow", "revolute", "upper", "lower", (0.4, 0, 0), axis=(0, 1, 0)),
    )
    gravity = fields.pop("gravity", (0, 0, -9.81))
    return Machine("arm", Mechanism("arm", bodies, joints, gravity=gravity), blocks, **fields)


@pytest.mark.parametrize("way", ["baumgarte", "projection", "minimal"])
def test_a_prescribed_joint_goes_on_where_friction_holds_the_other(way):
    message = Block("told", "spline_reference", parameters={"times": TIMES, "points": POINTS})
    brake = Block("brake", "stick_friction", on="shoulder", parameters={"coulomb": 30.0})
    follow = PrescribedMotion("follow", "elbow", "told.position", "told.velocity", "told.acceleration")
    machine = two_links(message, brake, constraints=(follow,))
    start = {
        "initial": {"shoulder.velocity": 0.5},
        "initialisation": "assembled",
        "constraint_method": ConstraintMethod(way),
    }
    run = simulate(Scenario("arm", machine, 1.0, **start))
    assert run.outcome.ok, run.outcome.sentence
    held = run["shoulder.velocity"].values[run["brake.direction"].values == 0]
    assert len(held) > 1
    # Corrections of the prescribed joint's drift move the other one as well, by less than what counts as rest.
    assert max(abs(held)) < 1e-6
    assert float(run["elbow.position"](0.5)) == pytest.approx(0.5, abs=1e-6)
    assert run.statistics.extra["constraint_position_error"] < 1e-6


def test_a_machine_at_rest_without_gravity_is_not_suspect():
    hold = Block("hold", "spring", on="elbow", parameters={"stiffness": 100.0, "rest": 0.3, "damping": 1.0})
    machine = two_links(hold, gravity=(0, 0, 0))
    run = simulate(Scenario("rest", machine, 1.0, {"elbow.position": 0.3 + 1e-12}))
    # The solver swings it by its tolerance of 1e-8 rad: 1e-6 N m over 1e-8 rad may appear or vanish.
    assert run.outcome.ok, run.outcome.sentence
    assert run["energy.kinetic"].values.max() < 1e-13


def test_friction_that_holds_all_the_time_is_not_suspect():
    """A held coordinate on moving joints creeps by rounding: its power is none beside what moves."""
    hold = Block("hold", "stick_friction", on="reach", parameters={"coulomb": 300.0})
    bodies = [Body(name, 1.0, (0.1, 0, 0), (0.02, 0.02, 0.02)) for name in ("turret", "slide")]
    joints = (
        Joint("turn", "revolute", GROUND, "turret", axis=(0.4, 0.7, 0.6)),
        Joint("extend", "prismatic", "turret", "slide", (0.2, 0.1, 0.3), axis=(0, 0.9, 0.5)),
    )
    points = (Point("base", GROUND), Point("tip", "slide", (0.2, 0.1, -0.2)))
    machine = Machine("arm", Mechanism("arm", bodies, joints, points), (hold,), (Distance("reach", "base", "tip"),))
    for solver in (Solver(rtol=1e-8, atol=1e-9), Solver("rodas4", rtol=1e-8, atol=1e-9)):
        run = simulate(Scenario("held", machine, 0.3, {"turn.position": -0.6}, solver=solver))
        assert set(run["hold.direction"].values) == {0.0}
        assert run["turn.velocity"].values[-1] != 0
        assert run.outcome.ok, run.outcome.sentence


@pytest.mark.parametrize("height", [0.0786, 0.1214])
def test_a_rigid_contact_of_a_vibrating_body_parts_where_its_force_ends(height):
    """A beam falls on a floor, settles, vibrates while it rests, and is let go by the force that comes down to zero."""
    tube = Section.tube(0.01, 0.002, 70e9, 26e9, 2700.0)
    body = beam("beam", 0.6, tube, Reduction((), modes=2, directions=("y", "rz", "z", "ry")), elements=3)
    points = (Point("toe", "beam", (0.2, 0.1, -0.05), "tip"), Point("floor", GROUND, (0.2, 0.1, -0.05 - height)))
    hinge = Joint("hinge", "revolute", GROUND, "beam", axis=(0, 1, 0))
    touch = RigidContact("touch", Ball("toe", 0.02), Plane("floor", (0.14, -0.07, 0.98)), 0.3)
    machine = Machine("beam", Mechanism("beam", (body,), (hinge,), points), contacts=(touch,))
    run = simulate(Scenario("beam", machine, 0.3, solver=Solver(rtol=1e-8, atol=1e-9)))
    assert "touch.parts" in {event.name for event in run.events}
    assert run["touch.force.normal"].values.min() > -1e-9
    assert run.outcome.ok, run.outcome.sentence
