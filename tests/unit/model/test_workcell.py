"""Do machines that are put together keep what they are, under their prefix and at their place?"""

import dataclasses
import math

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Block,
    Body,
    Delay,
    Joint,
    LinearCombination,
    Load,
    LoopJoint,
    Machine,
    Mechanism,
    ModelError,
    Point,
    PointCoordinate,
    Rod,
    Scenario,
    assemble,
    combine,
    simulate,
)
from robodyn.base.spatial import Pose, about_axis
from robodyn.computation.simulation import close_constraints
from robodyn.description.catalog import double_pendulum, scara_ptp

UP = (0.0, 0.0, 1.0)
TURNED = Pose(about_axis(UP, 0.9), np.array([1.0, 2.0, 0.3]))


def started(machine, scenario, *prefixes):
    initial = {f"{prefix}.{key}": value for prefix in prefixes for key, value in scenario.initial.items()}
    return dataclasses.replace(scenario, machine=machine, initial=initial, events=(), duration=0.5)


def test_machines_side_by_side_move_as_each_alone():
    """A pendulum and a controlled robot with motors, whose blocks read each other's signals."""
    swinging, working = double_pendulum(), scara_ptp()
    whole = combine("cell", {"a": swinging.machine, "b": working.machine}, places={"b": Pose.translation((2.0, 0, 0))})
    run = simulate(
        started(whole, working, "b").with_numbers({f"initial.a.{k}": v for k, v in swinging.initial.items()})
    )
    times = np.linspace(0.0, 0.5, 21)
    for prefix, scenario in (("a", swinging), ("b", working)):
        alone = simulate(dataclasses.replace(scenario, events=(), duration=0.5))
        for joint in scenario.machine.mechanism.axes:
            # Both within the tolerance of 1e-7 of the solver.
            expected = alone[f"{joint.name}.position"](times)
            assert run[f"{prefix}.{joint.name}.position"](times) == pytest.approx(expected, abs=2e-6)


def test_a_place_moves_and_turns_what_stands_on_it():
    scenario = double_pendulum()
    whole = combine("moved", {"one": scenario.machine}, places={"one": TURNED})
    alone, moved = (
        simulate(dataclasses.replace(scenario, duration=0.5)),
        simulate(started(whole, scenario, "one")),
    )
    point = scenario.machine.mechanism.points[-1].name
    times = np.linspace(0.0, 0.5, 11)
    first, second = (
        np.array([run[f"{name}.position.{axis}"](times) for axis in "xyz"])
        for run, name in ((alone, point), (moved, f"one.{point}"))
    )
    # The place rotates about gravity, so nothing but the view of it changes; tolerance of the solver.
    assert second == pytest.approx(TURNED.R @ first + TURNED.p[:, None], abs=1e-7)
    assert np.ptp(second[1]) > 0.1


def closed_body(kind, ground_first):
    """A free body rotated by 0.5 rad about z, closed to the ground so that it meets every equation at its start."""
    bodies, joints = (Body("block", 1.0, inertia=(0.1, 0.1, 0.1)),), (Joint("base", "free", GROUND, "block"),)
    turned = about_axis(UP, 0.5)
    along = tuple(turned @ (1.0, 0.0, 0.0))
    slide = np.array(along) * (0.1 if kind == "prismatic" else 0.0)
    points = (Point("hook", GROUND, tuple(np.array([0.3, 0.0, 0.2]) + slide)), Point("eye", "block"))
    in_ground, in_block = (along, (1.0, 0.0, 0.0)) if kind != "universal" else (along, UP)
    axis, second = (in_ground, in_block) if ground_first else (in_block, in_ground)
    given = {"axis": axis} if kind in ("universal", "revolute", "prismatic") else {}
    given |= {"second_axis": second} if kind in ("universal", "revolute") else {}
    given |= {"rotation": turned if ground_first else turned.T} if kind in ("prismatic", "fixed") else {}
    names = ("hook", "eye") if ground_first else ("eye", "hook")
    machine = Machine(
        "closed", Mechanism("closed", bodies, joints, points), constraints=(LoopJoint("tie", *names, kind, **given),)
    )
    start = {"base.x.position": 0.3, "base.z.position": 0.2}
    start |= {"base.orientation.w": math.cos(0.25), "base.orientation.z": math.sin(0.25)}
    return Scenario("closed", machine, 1.0, start)


@pytest.mark.parametrize("ground_first", [True, False])
@pytest.mark.parametrize("kind", ["spherical", "universal", "revolute", "prismatic", "fixed"])
def test_loop_joints_to_the_ground_turn_with_the_place(kind, ground_first):
    scenario = closed_body(kind, ground_first)
    whole = combine("moved", {"one": scenario.machine}, places={"one": TURNED})
    for described in (scenario, started(whole, scenario, "one")):
        # Met to rounding before Newton's first step; turned about the vertical, no axis stays as it was.
        found = close_constraints(assemble(described))
        assert found.residual < 1e-12
        assert found.iterations == 0


def test_constraints_between_machines_hold_them_together():
    """Two double pendulums, one 1 m above the other, their tips tied by a rod."""
    scenario = double_pendulum()
    tip = scenario.machine.mechanism.points[-1].name
    places = {"right": Pose.translation((0.0, 0.0, 1.0))}
    rod = Rod("rod", f"left.{tip}", f"right.{tip}", 1.0)
    machines = {"left": scenario.machine, "right": scenario.machine}
    whole = combine("pair", machines, places=places, constraints=[rod])
    run = simulate(started(whole, scenario, "left", "right"))
    apart = [run[f"right.{tip}.position.{axis}"].values - run[f"left.{tip}.position.{axis}"].values for axis in "xyz"]
    # The two move alike: the rod carries nothing.
    assert np.linalg.norm(apart, axis=0) == pytest.approx(1.0, abs=1e-8)
    assert np.max(np.abs(run["rod.tension"].values)) < 1e-6


def sliding(**parts):
    """A slide along z with a point on it."""
    rail = Joint("rail", "prismatic", GROUND, "cart")
    mechanism = Mechanism("slide", (Body("cart", 1.0),), (rail,), (Point("pin", "cart"),))
    return Machine("slide", mechanism, **parts)


def test_references_of_all_parts_follow_the_prefix():
    blocks = (
        Block("late", "amplifier", inputs={"value": "delay.output"}, parameters={"gain": 1.0}),
        Block("pull", "constant_force", "rail", {}, {"value": 1.0}),
    )
    machine = sliding(
        blocks=blocks,
        coordinates=(LinearCombination("twice", {"rail": 2.0}), PointCoordinate("height", "pin", UP)),
        delays=(Delay("delay", "rail.position", 0.1),),
        loads=(Load("wind", "pin", (1.0, 0.0, 0.0)),),
        tunable=("cart.mass", "gravity.*"),
    )
    quarter = Pose.rotation(about_axis(UP, math.pi / 2))
    whole = combine("one", {"a": machine}, places={"a": quarter})
    assert whole.blocks[0].inputs["value"] == "a.delay.output"
    assert whole.blocks[1].on == "a.rail"
    assert whole.delays[0].signal == "a.rail.position"
    assert whole.coordinates[0].of == {"a.rail": 2.0}
    assert whole.coordinates[1].point == whole.loads[0].point == "a.pin"
    assert whole.loads[0].force == pytest.approx((0.0, 1.0, 0.0))
    assert whole.tunable == ("a.cart.mass", "gravity.x", "gravity.y", "gravity.z")
    assert assemble(Scenario("one", whole, 1.0)).warnings == ()


def test_what_the_whole_would_change_in_silence_is_refused():
    reading = [
        Block(name, "amplifier", inputs={"value": signal}, parameters={"gain": 1.0})
        for name, signal in (("total", "energy.kinetic"), ("seen", "pin.position.z"))
    ]
    machine = sliding(blocks=tuple(reading), coordinates=(PointCoordinate("height", "pin", UP),))
    heavier = dataclasses.replace(
        sliding(), mechanism=dataclasses.replace(sliding().mechanism, gravity=(0.0, 0.0, -1.62))
    )
    places = {"a": Pose.translation((0.0, 0.0, 1.0)), "c": Pose.identity()}
    with pytest.raises(ModelError, match="5 problems") as message:
        combine("cell", {"a": machine, "b": heavier}, places=places)
    paths = {flaw.path for flaw in message.value.flaws}
    assert paths == {
        "places.c",
        "b.gravity",
        "a.blocks.total.inputs.value",
        "a.blocks.seen.inputs.value",
        "a.coordinates.height",
    }


def test_nothing_to_combine_is_an_error():
    with pytest.raises(ModelError, match="there are none"):
        combine("cell", {})
