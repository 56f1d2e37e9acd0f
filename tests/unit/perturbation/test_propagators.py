"""Is a run by propagators the same motion as the non-linear one, chosen where laws allow it, and said?"""

import dataclasses

import numpy as np
import pytest
from support.followers import two_link

from robodyn import Block, Recording, Scenario, Solver, simulate, simulate_many
from robodyn.computation.engine.pack import lanes_are_there
from robodyn.computation.perturbation import Perturbed, simulate_perturbed
from robodyn.description.catalog.two_link import two_link_loop
from robodyn.description.laws import law
from robodyn.description.model import Body, Joint, Machine, Mechanism, Point

STEP = 0.25e-3
FIXED = Solver("rosw2", step=STEP)
TIGHT = Solver("rodas4p", rtol=1e-9, atol=1e-11)
TOOL = ("tool.position.x", "tool.position.y", "tool.position.z")
ROWS = Recording(rate=1000.0, signals=("tool.position.*", "*.friction.bristle"))


def apart(first, second, names=TOOL):
    return float(np.max(np.linalg.norm([first[name].values - second[name].values for name in names], axis=0)))


@pytest.fixture(scope="module")
def loop():
    return two_link_loop(0.6)


@pytest.fixture(scope="module")
def near(loop):
    return Perturbed(loop, solver=FIXED, signals=ROWS.signals)


def random_arm(seed):
    """A horizontal arm of two links of drawn sizes, motors with currents, encoders, cascades and two-way bristles."""
    draw = np.random.default_rng(seed).uniform
    lengths, masses = draw(0.2, 0.6, 2), draw(2.0, 8.0, 2)
    bodies, joints, blocks, start = [], [], [], {}
    for k, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        moment = mass * length**2 / 12
        bodies.append(Body(f"link{k}", mass, (length / 2, 0.0, 0.0), (moment / 50, moment, moment)))
        parent, place = ("link0", (lengths[0], 0.0, 0.0)) if k else ("ground", (0.0, 0.0, 0.0))
        joints.append(Joint(f"hinge{k}", "revolute", parent, f"link{k}", place, armature=0.5))
        constant, target = 8.0, float(draw(0.015, 0.03))
        coulomb = draw(3.0, 6.0, 2)
        friction = {
            "stiffness": 8e4, "damping": 40.0, "viscous": float(draw(2.0, 5.0)), "stribeck_velocity": 0.04,
            "coulomb": coulomb[0], "static": 1.2 * coulomb[0], "coulomb_back": coulomb[1],
            "static_back": 1.3 * coulomb[1], "exponent": float(draw(1.2, 2.6)),
        }  # fmt: skip
        path = {"times": (0.05, 0.3, 0.5), "points": (0.0, target, 0.6 * target)}
        blocks += [
            Block(f"ref{k}", "spline_reference", parameters=path),
            Block(f"encoder{k}", "sampled_encoder", inputs={"value": f"hinge{k}.position"}, period=STEP,
                  parameters={"resolution": 1e-13}),
            Block(f"outer{k}", "position_loop", period=1e-3, parameters={"proportional": 30.0},
                  inputs={"target": f"ref{k}.position", "position": f"encoder{k}.measured",
                          "feed_forward": f"ref{k}.velocity"}),
            Block(f"inner{k}", "servo_velocity_loop", period=STEP,
                  inputs={"position_command": 0.0, "feed_forward": 0.0, "velocity_ref": f"outer{k}.velocity_command",
                          "velocity": f"encoder{k}.measured_rate"},
                  parameters={"derivative": 60.0, "current_limit": 60.0}),
            Block(f"current{k}", "servo_current_loop", period=STEP,
                  inputs={"current_command": f"inner{k}.command", "current": f"motor{k}.current"},
                  parameters={"proportional": 20.0, "integral": 4e3, "voltage_limit": 300.0}),
            Block(f"motor{k}", "servo_motor", on=f"hinge{k}", inputs={"voltage": f"current{k}.voltage"},
                  parameters={"resistance": 2.0, "inductance": 8e-3, "torque_constant": constant}),
            Block(f"hinge{k}.friction", "two_way_lugre_friction", on=f"hinge{k}", parameters=friction),
        ]  # fmt: skip
    tool = Point("tool", "link1", (lengths[1], 0.0, 0.0))
    machine = Machine("drawn", Mechanism("drawn", tuple(bodies), tuple(joints), (tool,)), tuple(blocks))
    nominal = {f"hinge{k}": f"ref{k}.position" for k in range(2)}
    return Scenario("drawn", machine, 0.6, start, solver=FIXED, nominal=nominal)


def test_the_way_taken_is_said(near):
    run = near.simulate(recording=ROWS)
    # The last step is the method's own.
    assert run.statistics.extra["propagators"] == "2399 of 2400 steps"
    assert run.statistics.steps == 2400
    (unproven,) = [sentence for sentence in run.certificate.unchecked if "no condition" in sentence]
    assert unproven.endswith("not proven on 2399 of 2400 steps, most of which propagators took")


def test_a_loop_with_bristles_stays_within_a_micrometre_of_the_non_linear_motion(loop, near):
    assert apart(near.simulate(recording=ROWS), simulate(loop, TIGHT, recording=ROWS)) < 1e-6


def test_the_error_of_the_steps_is_of_second_order(loop):
    exact = Perturbed(loop, solver=TIGHT, signals=ROWS.signals).simulate(recording=ROWS)
    errors = []
    for parts in (1, 2, 4):
        solver = Solver("rosw2", step=STEP / parts)
        errors.append(apart(Perturbed(loop, solver=solver, signals=ROWS.signals).simulate(recording=ROWS), exact))
    # Friction at reversals bends within few steps: not quite 4 each.
    assert errors[0] > 3 * errors[1] > 9 * errors[2]
    assert errors[0] < 0.2e-6


@pytest.mark.parametrize("seed", [1, 5])
def test_an_arm_drawn_at_random_with_motors_and_encoders_agrees(seed):
    scenario = random_arm(seed)
    run = simulate_perturbed(scenario, recording=ROWS)
    exact = simulate(scenario, TIGHT, recording=ROWS)
    assert run.statistics.extra["propagators"].startswith("2399 of")
    levels = ("coulomb", "static", "coulomb_back", "static_back")
    loose = {f"hinge{k}.friction.{name}": 0.01 for k in range(2) for name in levels}
    # Friction moves the tool by far more than what the method leaves out.
    assert apart(simulate(scenario, TIGHT, recording=ROWS, parameters=loose), exact) > 50e-6
    assert apart(run, exact) < 1e-6


def test_a_robot_gets_the_same_bits_alone_and_in_lanes(near):
    rng = np.random.default_rng(3)
    numbers = {
        f"{j}.friction.{n}": rng.uniform(2.0, 5.0, 11) for j in ("shoulder", "elbow") for n in ("coulomb", "viscous")
    }
    table = simulate_many(
        near.compiled({}), numbers, record=ROWS, measures=["peak:tool.position.x"], threads=1, lanes=lanes_are_there()
    )
    for k in (0, 7, 10):
        run = near.simulate(parameters={name: values[k] for name, values in numbers.items()}, recording=ROWS)
        for name in (*TOOL, "elbow.friction.bristle"):
            assert np.array_equal(run[name].values, table.curves.values[name][k])


def test_runs_in_lanes_march_from_the_start_that_each_has(near):
    places = np.linspace(-1e-4, 1e-4, 11)
    start = {"elbow.friction.bristle": places, "shoulder.velocity": 10 * places}
    settings = {"initial": start, "record": ROWS, "measures": ["peak:tool.position.x"], "threads": 1}
    alone, together = (
        simulate_many(near.compiled({}), lanes=lanes and lanes_are_there(), **settings) for lanes in (False, True)
    )
    for name in (*TOOL, "elbow.friction.bristle"):
        assert np.array_equal(alone.curves.values[name], together.curves.values[name])
    assert len(np.unique(together.curves.values["elbow.friction.bristle"][:, 1])) == 11


def test_limits_are_watched_in_every_step_that_propagators_take(loop):
    """Between rows 0.1 s apart both joints are too fast, the one from 0.4 s on: as in steps of the method."""
    mechanism = loop.machine.mechanism
    joints = tuple(dataclasses.replace(joint, speed_limit=1.0) for joint in mechanism.joints)
    machine = loop.machine.replaced(mechanism=mechanism.replaced(joints=joints))
    passed = []
    for propagators in (True, False):
        near = Perturbed(loop.replaced(machine=machine), solver=FIXED, propagators=propagators)
        run = near.simulate(recording=Recording(rate=10.0))
        assert ("of 2400" in run.statistics.extra["propagators"]) == propagators
        assert [one.joint for one in run.passed_limits] == ["shoulder", "elbow"]
        passed.append([[one.first, one.time, one.worst] for one in run.passed_limits])
    np.testing.assert_allclose(*passed, rtol=1e-6)
    assert passed[0][0][0] == pytest.approx(0.4035)


def test_another_payload_marches_along_its_own_nominal_motion(loop):
    loaded = dataclasses.replace(loop, machine=dataclasses.replace(loop.machine, tunable=("forearm.mass",)))
    changes = {"forearm.mass": 9.0, "elbow.friction.viscous": 5.0}
    near = Perturbed(loaded, solver=FIXED, signals=ROWS.signals)
    near.simulate(recording=ROWS)
    run = near.simulate(parameters=changes, recording=ROWS)
    assert run.statistics.extra["propagators"] == "2399 of 2400 steps"
    # By its own nominal motion: the same linear mechanics by a tight method, and the non-linear ones near it.
    tight = Perturbed(loaded, solver=TIGHT, signals=ROWS.signals).simulate(parameters=changes, recording=ROWS)
    assert apart(run, tight) < 0.2e-6
    assert apart(run, simulate(loop.with_numbers(changes), TIGHT, recording=ROWS)) < 3e-6


def test_a_changed_number_of_the_linear_equations_is_taken_by_the_method_and_said():
    near = Perturbed(random_arm(1), signals=ROWS.signals)
    assert "of 2400" in near.simulate(recording=ROWS).statistics.extra["propagators"]
    changes = {"motor0.torque_constant": 9.0}
    run = near.simulate(parameters=changes, recording=ROWS)
    assert run.statistics.extra["propagators"] == "none: numbers that they depend on have other values in this run"
    exact = simulate(random_arm(1).with_numbers(changes), TIGHT, recording=ROWS)
    assert apart(run, exact) < 1e-6


def test_a_method_that_chooses_its_steps_takes_them_itself(loop):
    run = simulate_perturbed(loop, solver=Solver("rodas4p"), recording=ROWS)
    assert run.statistics.extra["propagators"] == "none: the method rodas4p chooses or composes its steps itself"


def test_rows_between_steps_are_kept_by_the_method(near):
    run = near.simulate(recording=dataclasses.replace(ROWS, rate=None, times=(0.0, 0.1001)))
    assert run.statistics.extra["propagators"] == "none: rows are asked for between the ends of steps"
    run = near.simulate(recording=dataclasses.replace(ROWS, rate=None))
    assert run.statistics.extra["propagators"].startswith("none: points of every step are recorded")


def test_forces_too_stiff_for_the_step_are_left_to_the_method():
    dry = [
        Block(f"{joint}.dry", "coulomb_friction", on=joint, parameters={"coulomb": 30.0, "smoothing_velocity": 1e-5})
        for joint in ("shoulder", "elbow")
    ]
    scenario = dataclasses.replace(two_link(20.0, tuple(dry)), solver=FIXED)
    run = simulate_perturbed(scenario, recording=Recording(rate=1000.0))
    assert run.statistics.extra["propagators"].startswith("none: steps of 0.25 ms are too long for forces")
    # With a hundredth of the slope they are not.
    soft = {f"{joint}.dry.smoothing_velocity": 0.1 for joint in ("shoulder", "elbow")}
    run = simulate_perturbed(scenario, parameters=soft, recording=Recording(rate=1000.0))
    assert "none" not in run.statistics.extra["propagators"]


@law(velocity="rad/s", torque="N m", heat="1", states={"heat": 1.0})
def heated(velocity, heat, *, rate):
    """A torque by a state that grows, or decays, with the square of the speed."""
    return {"torque": 1e-3 * heat, "heat_dot": rate * velocity**2 * heat + velocity}


@pytest.mark.parametrize(
    ("rate", "said"), [(3.0, "none: elbow.heat.heat grows by itself"), (-3.0, "999 of 1000 steps")]
)
def test_a_state_that_grows_by_itself_is_left_to_the_method(rate, said):
    """What stands for e^-x decays, whatever the sign of x."""
    block = Block("elbow.heat", heated, on="elbow", parameters={"rate": rate})
    scenario = dataclasses.replace(two_link(20.0, (block,)), solver=FIXED, duration=0.25)
    run = simulate_perturbed(scenario, recording=Recording(rate=1000.0))
    assert run.statistics.extra["propagators"] == said


def test_a_run_that_leaves_the_numbers_ends_as_such():
    scenario = two_link_loop(0.3)
    near = Perturbed(scenario, solver=FIXED, signals=ROWS.signals)
    wild = {f"{joint}.velocity_loop.proportional": 1e6 for joint in ("shoulder", "elbow")}
    wild |= {f"{joint}.velocity_loop.limit": float("inf") for joint in ("shoulder", "elbow")}
    run = near.simulate(parameters=wild, recording=ROWS)
    assert not run.outcome.ok


def test_a_step_that_the_code_was_not_made_for_is_the_methods(near):
    compiled = near.compiled({})
    run = simulate(compiled, Solver("rosw2", step=STEP / 2), recording=ROWS)
    assert run.statistics.extra["propagators"] == "none: they were compiled for steps of 0.25 ms"
    assert run.statistics.steps == 4800
