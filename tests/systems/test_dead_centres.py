"""Does friction that sticks let a machine through its dead centres, where it stands still and holds nothing?

The same friction smoothed over a very small speed has no modes and passes them by itself.
"""

import math

import numpy as np
import pytest
from support.linkages import crank_rocker

from robodyn import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    FunctionCoordinate,
    Joint,
    LinearConstraint,
    LoopJoint,
    Machine,
    Mechanism,
    Point,
    Rod,
    Scenario,
    Solver,
    simulate,
)
from robodyn.base.symbolic import cos, sin, sqrt

CRANK, ROD, SQUARE = 0.1, 0.3, (0, -1, 0)
SHARP, STIFF = Solver("dopri5", rtol=1e-9, atol=1e-11), Solver("rodas4", rtol=1e-8, atol=1e-10)
TREATMENTS = [ConstraintMethod("baumgarte"), ConstraintMethod("projection"), ConstraintMethod("minimal")]


def friction(on, coulomb, sticks):
    if sticks:
        return Block(f"{on}_friction", "stick_friction", on=on, parameters={"coulomb": coulomb})
    smooth = {"coulomb": coulomb, "smoothing_velocity": 1e-5}
    return Block(f"{on}_friction", "coulomb_friction", on=on, parameters=smooth)


def motor(on, torque):
    return Block("motor", "constant_force", on=on, parameters={"value": torque})


def slider_crank(sticks, angle=0.5, speed=0.0, torque=0.0, slide=2.0, pin=0.0, constraint_method=TREATMENTS[0]):
    """A crank turns a piston that rubs in its slide; perhaps its pin rubs too."""

    def rod(name, length):
        return Body(name, 1.0, (length / 2, 0, 0), (0, length**2 / 12, length**2 / 12))

    joints = (
        Joint("turn", "revolute", GROUND, "crank", axis=SQUARE, armature=0.5),
        Joint("pin", "revolute", "crank", "rod", origin=(CRANK, 0, 0), axis=SQUARE),
        Joint("slide", "prismatic", GROUND, "piston", axis=(1, 0, 0)),
    )
    points = (Point("end", "rod", (ROD, 0, 0)), Point("eye", "piston"))
    bodies = (rod("crank", CRANK), rod("rod", ROD), Body("piston", 0.5))
    frictional = [friction("slide", slide, sticks), *([friction("pin", pin, sticks)] if pin else [])]
    machine = Machine(
        "slider-crank",
        Mechanism("slider-crank", bodies, joints, points, gravity=(0, 0, 0)),
        (motor("turn", torque), *frictional),
        constraints=(LoopJoint("loop", "end", "eye", kind="revolute", axis=SQUARE),),
    )
    swing = -math.asin(CRANK * math.sin(angle) / ROD)
    start = {"turn.position": angle, "pin.position": swing - angle, "turn.velocity": speed}
    start["slide.position"] = CRANK * math.cos(angle) + ROD * math.cos(swing)
    return Scenario(
        "slider-crank", machine, 2.0, start, initialisation="assembled", constraint_method=constraint_method
    )


@pytest.mark.parametrize("constraint_method", TREATMENTS, ids=lambda constraint_method: constraint_method.method)
def test_a_four_bar_turns_through_the_ends_of_its_rocker(constraint_method):
    def turning(sticks, solver):
        blocks = (motor("crank_joint", 8.0), friction("rocker_joint", 1.0, sticks))
        start = {"crank_joint.velocity": 3.0}
        return simulate(crank_rocker("revolute", start, blocks=blocks, constraint_method=constraint_method), solver)

    run, smooth = turning(True, SHARP), turning(False, STIFF)
    # Twice a turn, of which there are more than two.
    assert sum(event.name == "rocker_joint_friction.stops" for event in run.events) >= 4
    assert run["crank_joint.position"].final == pytest.approx(smooth["crank_joint.position"].final, rel=1e-6)
    assert run.statistics.energy_error < 1e-7


TURNING = {"angle": 0.5, "speed": 10.0}
INSTANTS = np.linspace(0, 2.0, 41)


@pytest.fixture(scope="module", params=[0.0, 0.02])
def pin_and_smooth(request):
    """Friction of the pin, and how the crank turns with smoothed friction."""
    smooth = simulate(slider_crank(False, pin=request.param, **TURNING), STIFF)
    return request.param, smooth["turn.position"](INSTANTS)


@pytest.mark.parametrize("constraint_method", TREATMENTS, ids=lambda constraint_method: constraint_method.method)
def test_a_piston_that_rubs_passes_its_dead_centres(constraint_method, pin_and_smooth):
    pin, smooth = pin_and_smooth
    run = simulate(slider_crank(True, constraint_method=constraint_method, pin=pin, **TURNING), SHARP)
    np.testing.assert_allclose(run["turn.position"](INSTANTS), smooth, atol=2e-5)
    assert np.abs(run["slide_friction.torque"].values).max() <= 2.0 * (1 + 1e-9)


@pytest.mark.parametrize("angle", [0.0, math.pi])
@pytest.mark.parametrize("torque", [-0.4, 0.4])
def test_a_motor_leaves_a_dead_centre_at_which_the_machine_rests(angle, torque):
    """However small its torque: no force of the piston has an arm there."""
    run = simulate(slider_crank(True, angle, torque=torque), SHARP)
    smooth = simulate(slider_crank(False, angle, torque=torque), STIFF)
    assert abs(run["turn.position"].final - angle) > 0.5
    assert run["turn.position"].final == pytest.approx(smooth["turn.position"].final, abs=2e-5)


def test_away_from_a_dead_centre_the_same_motor_is_held():
    """The piston's 2 N have an arm of some 0.06 m."""
    run = simulate(slider_crank(True, 0.5, torque=0.1), SHARP)
    assert set(run["turn.position"].values) == {run["turn.position"](0.0)}


def test_friction_on_a_linkage_passes_its_dead_centres_as_in_a_loop():
    def travel(angle):
        return CRANK * cos(angle) + sqrt(ROD**2 - CRANK**2 * sin(angle) ** 2)

    def turning(sticks, solver):
        joint = Joint("turn", "revolute", GROUND, "crank", axis=SQUARE, armature=0.5)
        mechanism = Mechanism("crank", (Body("crank"),), (joint,), gravity=(0, 0, 0))
        machine = Machine(
            "crank", mechanism, (friction("piston", 2.0, sticks),), (FunctionCoordinate("piston", ("turn",), travel),)
        )
        start = {"turn.position": 0.5, "turn.velocity": 5.0}
        return simulate(Scenario("crank", machine, 2.0, start), solver)

    run, smooth = turning(True, SHARP), turning(False, STIFF)
    # Each half turn takes 2 N * 0.2 m.
    assert [event.name for event in run.events][:2] == ["piston_friction.stops"] * 2
    assert run["turn.position"].final == pytest.approx(smooth["turn.position"].final, abs=2e-5)


@pytest.mark.parametrize("constraint_method", TREATMENTS[:2])
def test_a_toggle_close_to_its_dead_centre_holds_its_load(constraint_method):
    """A rod almost square to a slide, to which a second slide is tied that pulls: nothing moves."""
    joints = tuple(Joint(name, "prismatic", GROUND, name, axis=(1, 0, 0)) for name in ("jaw", "tool"))
    points = (Point("eye", "jaw"), Point("nail", GROUND, (0, 0, 1)))
    mechanism = Mechanism("clamp", (Body("jaw", 1.0), Body("tool", 2.0)), joints, points)
    tied = LinearConstraint("tied", {"jaw": 1.0, "tool": -0.25})
    lever = 1e-3
    start = {"jaw.position": lever, "tool.position": 4 * lever}
    rod = Rod("rod", "eye", "nail", math.hypot(1.0, lever))
    machine = Machine("clamp", mechanism, (motor("tool", 50.0),), constraints=(tied, rod))
    run = simulate(Scenario("clamp", machine, 1.0, start, constraint_method=constraint_method))
    assert run["tool.position"].final == pytest.approx(4 * lever, abs=1e-8)
    # 4 x 50 N on the jaw.
    assert run["rod.tension"].final == pytest.approx(200.0 * rod.length / lever, rel=1e-5)
