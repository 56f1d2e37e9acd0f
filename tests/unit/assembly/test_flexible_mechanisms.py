"""Do flexible bodies take part in everything a mechanism does: constraints, whole steps, linear models, deviations?"""

import dataclasses

import numpy as np
import pytest
from support.followers import follower_blocks

from robodyn import Body, Joint, Machine, Mechanism, ModelError, Point, Rod, Scenario, Solver, assemble, simulate
from robodyn.analysis import find_modes, linearise
from robodyn.computation.perturbation import simulate_perturbed
from robodyn.description.structures import Reduction, Section, beam

SECTION = Section.rectangle(0.01, 0.04, 7.0e10, 2.7e10, 2700.0)
FLAT = Reduction(modes=1, directions=("y", "rz"))
EXACT = Solver("dopri5", rtol=1e-8, atol=1e-10)


def arm(how=FLAT, points=(), **numbers):
    """A flexible link on a hinge, with a mass at its tip."""
    bodies = (beam("link", 1.0, SECTION, how, **numbers), Body("hand", 0.5))
    joints = (Joint("hinge", "revolute", "ground", "link"), Joint("grip", "fixed", "link", "hand", (1, 0, 0)))
    return Mechanism("arm", bodies, joints, points, (0, -9.81, 0))


def test_joint_beside_every_node_is_told_with_the_nearest_one():
    with pytest.raises(ModelError) as error:
        Mechanism(
            "arm",
            (beam("link", 1.0, SECTION, FLAT, elements=4), Body("hand", 1.0)),
            (Joint("hinge", "revolute", "ground", "link"), Joint("grip", "fixed", "link", "hand", (0.7, 0, 0))),
            (Point("tip", "link", (1.0, 0.1, 0)),),
        )

    assert "joints.grip.origin" in str(error.value)
    assert "nearest is 'root_tip3' at (0.75, 0, 0) m" in str(error.value)
    assert "points.tip.origin" in str(error.value)


def test_nodes_that_are_not_there_are_told():
    with pytest.raises(ModelError) as error:
        arm(points=(Point("tip", "link", (1, 0, 0), node="top"), Point("palm", "hand", node="tip")))

    assert "'link' has no node 'top'" in str(error.value)
    assert "'hand' is rigid and has no nodes" in str(error.value)


def test_a_bracket_turns_with_its_node():
    mechanism = arm(points=(Point("tip", "link", (1, 0, 0)), Point("horn", "link", (1, 0.2, 0), node="tip")))
    system = assemble(Scenario("hang", Machine("m", mechanism), 1.0))
    x = np.zeros(len(system.states))
    x[1] = 1e-4
    values = np.array(system.function(system.expressions.outputs)(0, x, [], [], [])).ravel()
    found = {name: values[system.signal_names.index(name)] for name in ("horn.position.x", "tip.position.x")}

    turn = 1e-4 * mechanism.body("link").node("tip").turn[0][2]
    assert found["horn.position.x"] - found["tip.position.x"] == pytest.approx(-0.2 * turn, rel=1e-3)


def test_modes_are_states_after_the_joints_and_points_move_with_them():
    mechanism = arm(points=(Point("tip", "link", (1, 0, 0)),))
    system = assemble(Scenario("hang", Machine("m", mechanism), 1.0))
    mode = mechanism.body("link").node("tip").shift[0][1]

    assert [state.name for state in system.states[:2]] == ["hinge.position", "link.mode1.position"]
    x = np.zeros(len(system.states))
    x[1] = 0.01
    row = system.signal_names.index("tip.position.y")
    assert float(system.function(system.expressions.outputs)(0, x, [], [], [])[row]) == pytest.approx(0.01 * mode)


def test_stiff_limit_is_the_rigid_arm():
    stiff = simulate(Scenario("a", Machine("m", arm(stiffness=1e4)), 1.0, solver=Solver("rosw2", step=1e-4)))
    rod = beam("link", 1.0, SECTION, FLAT)
    rigid = dataclasses.replace(arm(), bodies=(Body("link", rod.mass, rod.com, rod.inertia), Body("hand", 0.5)))
    exact = simulate(Scenario("b", Machine("m", rigid), 1.0, solver=EXACT))

    # Deflections go with 1 / stiffness, a micrometre; steps of second order with 1e-8.
    assert stiff["hinge.position"](1.0) == pytest.approx(float(exact["hinge.position"](1.0)), abs=2e-6)


def test_whole_steps_take_stiff_modes_implicitly():
    scenario = Scenario("swing", Machine("m", arm(damping=0.02)), 0.5, solver=EXACT)
    exact = simulate(scenario)
    # The highest mode takes 0.9 ms a period: an explicit method would need steps below 0.2 ms.
    found = simulate(dataclasses.replace(scenario, solver=Solver("rosw2", step=1e-3)))

    assert found["hinge.position"](0.5) == pytest.approx(float(exact["hinge.position"](0.5)), abs=1e-4)


def test_flexible_link_in_a_closed_loop_keeps_constraint_and_energy():
    """A four-bar linkage whose coupler bends: crank, flexible coupler, and a massless rod to the ground."""
    bodies = (Body("crank", 1.0, (0.15, 0, 0), (0, 0.01, 0.01)), beam("coupler", 1.0, SECTION, FLAT))
    joints = (
        Joint("motor", "revolute", "ground", "crank"),
        Joint("pin", "revolute", "crank", "coupler", (0.3, 0, 0)),
    )
    points = (Point("end", "coupler", (1.0, 0, 0)), Point("post", "ground", (1.3, 0.8, 0)))
    machine = Machine(
        "m", Mechanism("m", bodies, joints, points, (0, -9.81, 0)), constraints=(Rod("rod", "end", "post", 0.8),)
    )
    run = simulate(Scenario("loop", machine, 0.5, {"motor.velocity": 3.0}, initialisation="assembled", solver=EXACT))

    assert np.max(run["constraints.position_error"].values) < 1e-7
    balance = run["energy.balance"].values
    np.testing.assert_allclose(balance, balance[0], atol=1e-5)
    assert np.max(np.abs(run["coupler.mode1.position"].values)) > 1e-4


def test_linear_model_has_the_frequency_of_the_loaded_beam():
    clamped = dataclasses.replace(arm(), joints=(Joint("clamp", "fixed", "ground", "link"), arm().joints[1]))
    system = assemble(Scenario("clamped", Machine("m", dataclasses.replace(clamped, gravity=(0, 0, 0))), 1.0))

    lowest = min(mode.frequency for mode in find_modes(linearise(system)).modes if mode.frequency > 0)

    # Rayleigh: a massless beam with M + 33/140 m at its tip; 1.5 % below a heavy beam's by theory.
    mass = 0.5 + 33 / 140 * 2700 * 4e-4
    assert lowest == pytest.approx(np.sqrt(3 * 7e10 * 0.04 * 0.01**3 / 12 / mass) / (2 * np.pi), rel=0.015)


def test_deviations_from_a_nominal_rigid_motion_are_those_of_the_whole_simulation():
    blocks = follower_blocks("hinge", (0.0, 0.2, 0.0), stiffness=3e3, damping=1e2)
    machine = Machine("m", arm(damping=0.05), blocks)
    nominal = {"hinge": "hinge.reference.position"}
    scenario = Scenario("follow", machine, 1.0, solver=EXACT, nominal=nominal)

    exact, found = simulate(scenario), simulate_perturbed(scenario)

    # What bends is nominally straight: the deviation is the whole bending, of 3 mm, and linear to its square.
    for name, size in (("link.mode1.position", 3e-5), ("hinge.position", 1e-5)):
        times = np.linspace(0.0, 1.0, 21)
        np.testing.assert_allclose(found[name](times), exact[name](times), atol=size)
    assert np.max(np.abs(exact["link.mode1.position"].values)) > 1e-3
