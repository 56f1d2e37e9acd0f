"""Forces that redundant constraints share are named, marked, and the least that go with the motion."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from support.linkages import FORTH, FREE, SIXFOLD, chain, crank_rocker

from robodyn import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    Event,
    Joint,
    LoopJoint,
    Machine,
    Mechanism,
    ModelError,
    Point,
    PrescribedMotion,
    Recording,
    Scenario,
    Solver,
    assemble,
    simulate,
)

LENGTH, APART = 0.3, 0.5
ANGLE = pi / 2 + 0.3


def three_cranks(order=(0, 2), events=(), push=3.0):
    """A coupler of 2 kg on three equal parallel cranks: one more than it needs."""
    bodies = [Body(f"crank{k}", 1.0, (LENGTH / 2, 0, 0), (0, LENGTH**2 / 12, LENGTH**2 / 12)) for k in range(3)]
    joints = [Joint(f"j{k}", "revolute", GROUND, f"crank{k}", (APART * k, 0, 0), axis=FORTH) for k in range(3)]
    bodies.append(Body("coupler", 2.0, (0, 0, 0), (0, 0.2, 0.2)))
    joints.append(Joint("pin", "revolute", "crank1", "coupler", (LENGTH, 0, 0), axis=FORTH))
    points = [Point(f"end{k}", f"crank{k}", (LENGTH, 0, 0)) for k in (0, 2)]
    points += [Point(f"eye{k}", "coupler", (APART * (k - 1), 0, 0)) for k in (0, 2)]
    loops = [LoopJoint(f"loop{k}", f"end{k}", f"eye{k}") for k in order]
    load = Block("load", "constant_force", on="pin", parameters={"value": push})
    machine = Machine("cranks", Mechanism("cranks", bodies, joints, points), (load,), constraints=loops)
    start = {f"j{k}.position": ANGLE for k in range(3)} | {"pin.position": -ANGLE}
    start |= {f"j{k}.velocity": 2.0 for k in range(3)} | {"pin.velocity": -2.0}
    return Scenario(
        "cranks",
        machine,
        0.3,
        start,
        events,
        constraint_method=ConstraintMethod("projection"),
        solver=Solver(rtol=1e-9),
    )


LOOPS = [f"loop{k}.force.{axis}" for k in (0, 2) for axis in "xyz"]


def test_every_force_that_is_not_determined_is_named_and_marked():
    run = simulate(three_cranks())
    (warning,) = [w for w in run.warnings if "does not determine" in w]
    assert "3 of 6 constraint equations follow from the others, 1 of them in a way that changes" in warning
    assert "so that these stay; left out: loop0.force.y, loop2.force.y;" in warning
    assert "does not determine 6 forces" in warning
    assert all(name in warning.split("kind): ")[1].split(", ") for name in LOOPS)
    assert all("not determined" in run[name].note for name in LOOPS)
    assert run["j0.torque"].note == ""
    marked = [line for line in run.summary(signals=True).splitlines() if line.endswith("consistent with it")]
    assert len(marked) == 6


def test_forces_of_a_planar_hinge_in_its_plane_are_determined():
    run = simulate(crank_rocker("revolute", duration=0.1))
    assert [name for name in run if run[name].note] == ["loop.force.y", "loop.torque.0", "loop.torque.1"]


def test_shared_forces_do_not_depend_on_the_order_of_the_constraints():
    runs = [simulate(three_cranks(order)) for order in ((0, 2), (2, 0))]
    for name in LOOPS:
        first, second = (run[name](0.2) for run in runs)
        assert first == pytest.approx(second, abs=1e-7)
    assert abs(runs[0]["loop0.force.z"](0.2)) > 1.0


def test_shared_forces_are_square_to_forces_that_move_nothing():
    """All are of one kind, so that the sum of their squares itself is least."""
    run = simulate(three_cranks())
    for row in range(0, len(run.time), 7):
        # Equal pushes along cranks 0 and 2 neither turn the coupler about its pin between them nor any crank.
        angle = run["j0.position"].values[row]
        along = np.array([np.cos(angle), 0.0, np.sin(angle)])
        forces = np.array([[run[f"loop{k}.force.{axis}"].values[row] for axis in "xyz"] for k in (0, 2)])
        assert (forces[0] + forces[1]) @ along == pytest.approx(0.0, abs=1e-6)


def held_twice(first, second, mass=3.0, inertia=(0.2, 0.3, 0.4)):
    """A body that two fixed loop joints hold at two of its points: six forces and torques more than there must be."""
    bodies, joints = chain(Body("block", mass, (0, 0, 0), inertia), SIXFOLD, FREE)
    points = [Point(f"eye{k}", "block", place) for k, place in enumerate((first, second))]
    points += [Point(f"nail{k}", GROUND, place) for k, place in enumerate((first, second))]
    ties = [LoopJoint(f"tie{k}", f"eye{k}", f"nail{k}", "fixed") for k in range(2)]
    machine = Machine("held", Mechanism("held", bodies, joints, points), constraints=ties)
    return Scenario("held", machine, 1e-3)


def test_forces_and_torques_are_weighed_by_the_mean_mobility_of_their_kind():
    """Against least squares on the balance of the free body, with mobilities by hand."""
    mass, inertia = 3.0, np.array([0.2, 0.3, 0.4])
    places = np.array([(0.5, 0.1, 0.0), (-0.2, 0.3, 0.4)])
    run = simulate(held_twice(*places.tolist()))
    found = np.array([run[f"tie{k}.{part}"](0.0) for k in range(2) for part in PARTS])
    lever = [np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) for x, y, z in places]
    balance = np.block([[np.eye(3), np.zeros((3, 3))] * 2, [lever[0], np.eye(3), lever[1], np.eye(3)]])
    weight = np.array([0, 0, mass * 9.81, 0, 0, 0])
    assert balance @ found == pytest.approx(weight, abs=1e-6)
    forces = np.mean([1 / mass + np.sum(arm**2 / inertia[:, None], axis=0) for arm in lever])
    torques = np.mean(1 / inertia)
    scale = 1 / np.sqrt(np.tile([forces] * 3 + [torques] * 3, 2))
    least = scale * np.linalg.lstsq(balance * scale, weight, rcond=None)[0]
    # The equations give way by 1e-7 of their mobility, corrected for twice.
    assert found == pytest.approx(least, abs=1e-6 * mass * 9.81)
    assert np.max(np.abs(found[[3, 4, 5]])) > 0.1


PARTS = ["force.x", "force.y", "force.z", "torque.0", "torque.1", "torque.2"]


def test_a_redundant_loop_holds_when_the_other_one_breaks():
    """What one loop says follows from the other as long as that holds: it must not be left out."""
    breaks = Event("breaks", lambda time: time - 0.1, {"time": "time"}, action=lambda: {"loop0.active": 0.0})
    run = simulate(three_cranks(events=(breaks,)))
    assert run.events[0].name == "breaks"
    gaps = [run[f"end2.position.{axis}"].values - run[f"eye2.position.{axis}"].values for axis in "xyz"]
    assert np.max(np.abs(gaps)) < 1e-6
    open_gap = np.hypot(*(run[f"end0.position.{a}"].final - run[f"eye0.position.{a}"].final for a in "xz"))
    assert open_gap > 1e-3
    assert run["loop0.force.x"].final == 0.0


def test_index_3_is_refused_where_a_redundant_loop_may_break():
    breaks = Event("breaks", lambda time: time - 0.1, {"time": "time"}, action=lambda: {"loop0.active": 0.0})
    solver = Solver("generalised_alpha", step=1e-3)
    exact = {"constraint_method": ConstraintMethod("index3"), "solver": solver}
    assert simulate(replace(three_cranks(), **exact)).outcome.ok
    with pytest.raises(ModelError, match=r"constraint_method\.method: index3 needs independent equations"):
        assemble(replace(three_cranks(events=(breaks,)), **exact))


def test_axes_against_each_other_are_told_with_the_remedy():
    scenario = crank_rocker("revolute")
    loop = LoopJoint("loop", "coupler_end", "rocker_end", "revolute", axis=FORTH, second_axis=(0, 1, 0))
    machine = Machine("four-bar", scenario.machine.mechanism, constraints=(loop,))
    message = r"constraints\.loop: its axes point in opposite directions at the start \(use second_axis = \(0, -1, 0\)"
    for start in ("given", "assembled"):
        with pytest.raises(ModelError, match=message):
            simulate(Scenario("four-bar", machine, 1.0, scenario.initial, initialisation=start))


def test_a_loop_joint_turned_by_half_a_turn_is_told():
    scenario = crank_rocker()
    half = ((-1, 0, 0), (0, 1, 0), (0, 0, -1))
    start = {"crank_joint.position": 0.0, "coupler_joint.position": 0.0, "rocker_joint.position": 0.0}
    loop = LoopJoint("loop", "coupler_end", "rocker_end", "fixed", rotation=half)
    machine = Machine("four-bar", scenario.machine.mechanism, constraints=(loop,))
    with pytest.raises(ModelError, match=r"constraints\.loop: is rotated by 180 deg at the start"):
        assemble(Scenario("four-bar", machine, 1.0, start))


def test_a_prescribed_hinge_needs_a_torque_and_says_so():
    scenario = crank_rocker()
    turn = PrescribedMotion("turn", "crank_joint", 1.0)
    machine = Machine("four-bar", scenario.machine.mechanism, constraints=(*scenario.machine.constraints, turn))
    system = assemble(Scenario("four-bar", machine, 1.0, scenario.initial, initialisation="assembled"))
    units = {info.name: info.unit for info in system.signals}
    assert (units["turn.force"], units["loop.force.x"]) == ("N m", "N")


def test_reactions_that_shared_forces_change_are_marked_and_others_are_not():
    """How the cranks share forces along themselves and across the plane is not known; what bends a crank in the plane,
    and what turns the coupler, is."""
    run = simulate(three_cranks(), recording=Recording(signals=("*", "*.reaction.*")))
    message = {name for name in run if "reaction" in name and not run[name].note}
    across, about = ({f"j{k}.reaction.{part}" for k in range(3)} for part in ("force.z", "torque.y"))
    # Forces across the plane have no arm about the line from a crank's hinge to its end, nor about the coupler's.
    lines = {f"{joint}.reaction.torque.x" for joint in ("j0", "j2", "pin")}
    assert message == across | about | lines | {"pin.reaction.torque.y"}
