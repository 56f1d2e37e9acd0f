"""Do the parts of a deviation have the sizes that closed forms give, and do they add up?"""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from support.budgets import (
    BIAS,
    DAMPING,
    FRICTION,
    MASS,
    PULL,
    PUSH,
    STIFFNESS,
    TIGHT,
    elastic_cart,
    held_cart,
    servo_cart,
    stand_still,
)
from support.followers import BRISTLES, two_link

from robodyn import Block, Event, FormulaSignal, Recording
from robodyn.analysis import budget as budget_module
from robodyn.analysis import split_deviation
from robodyn.analysis.budget import (
    ELASTICITY,
    REST,
    SAMPLING,
    STIFFER,
    TwinRuns,
    as_run,
    find_sources,
    find_twin,
    loop_variants,
    sample_faster,
    stiffen,
)
from robodyn.base.errors import ModelError
from robodyn.computation.perturbation import Perturbed

POSITION = ("cart.position",)


def step_response(time, mass=MASS):
    """Of `m x'' + d x' + k x = 1` from rest [m/N]."""
    decay, omega = DAMPING / (2 * mass), np.sqrt(STIFFNESS / mass - (DAMPING / (2 * mass)) ** 2)
    return (1 - np.exp(-decay * time) * (np.cos(omega * time) + decay / omega * np.sin(omega * time))) / STIFFNESS


def follow_with_all_causes(scenario, signals):
    """Original and twin with all causes on it, and how large the original is."""
    near = Perturbed(scenario)
    twin = find_twin(near)
    recording = dataclasses.replace(scenario.recording, signals=signals)
    run = TwinRuns(near, twin, recording).simulate(*twin.causes)
    return [(run[name].values, run[f"linear.{name}"].values) for name in signals]


@pytest.fixture(scope="module")
def held():
    return split_deviation(held_cart(), POSITION)


@pytest.fixture(scope="module")
def servo():
    return split_deviation(servo_cart(), POSITION)


def test_parts_of_a_linear_cart_are_its_step_responses(held):
    response = step_response(held.run.time)
    expected = {"push": PUSH * response, "sensor": -STIFFNESS * BIAS * response, REST: PULL * response}
    assert [part.name for part in held.parts] == list(expected)
    for name, values in expected.items():
        # The solver's tolerance, relative to deviations of some millimetres.
        np.testing.assert_allclose(held.part(name, "cart.position"), values, atol=1e-11)


def test_damping_of_a_joint_is_split_like_that_of_a_block():
    """A cart that moves: with the same viscous friction as a property of its joint, and as a block."""
    scenario = servo_cart()
    friction = Block("cart.damping", "viscous_friction", on="cart", parameters={"viscous": 3.0})
    machine = scenario.machine
    damped = machine.mechanism.with_joints(dataclasses.replace(machine.mechanism.joint("cart"), damping=3.0))
    as_block = scenario.replaced(machine=machine.replaced(blocks=(*machine.blocks, friction)))
    as_property = scenario.replaced(machine=machine.replaced(mechanism=damped))
    block, own = (split_deviation(one, POSITION) for one in (as_block, as_property))
    assert [part.name for part in own.parts] == [part.name for part in block.parts]
    np.testing.assert_allclose(own.values, block.values, atol=1e-12)


def test_a_linear_cart_leaves_no_remainder(held):
    # Two adaptive runs of the same linear equations with rtol 1e-10.
    assert held.remainder_share < 1e-7


def with_formula(scenario):
    signals = (FormulaSignal("felt", "2 * bristles.torque"),)
    return dataclasses.replace(scenario, machine=dataclasses.replace(scenario.machine, signals=signals))


def by_formulas():
    """The held cart whose control reads its sensor through formulas, one of them of what the twin shares."""
    scenario = held_cart()
    blocks = [
        block
        if block.name != "control"
        else dataclasses.replace(block, inputs={"target": "wanted", "position": "arm.seen"})
        for block in scenario.machine.blocks
    ]
    signals = (
        FormulaSignal("wanted", "2 * reference.position - reference.position"),
        FormulaSignal("arm.seen", "shift + sensor.measured - shift", parameters={"shift": 0.5}),
        FormulaSignal("lag", "reference.position - cart.position"),
    )
    return dataclasses.replace(scenario, machine=dataclasses.replace(scenario.machine, blocks=blocks, signals=signals))


def test_formulas_in_a_loop_are_split_like_blocks(held):
    found = split_deviation(by_formulas(), (*POSITION, "lag"))
    for part in held.parts:
        expected = held.part(part.name, "cart.position")
        # Rounding of the formulas' sums, in runs of rtol 1e-10.
        np.testing.assert_allclose(found.part(part.name, "cart.position"), expected, atol=1e-11)
        np.testing.assert_allclose(found.part(part.name, "lag"), -expected, atol=1e-11)
    assert found.remainder_share < 1e-7


def test_a_twin_hears_formulas_of_the_motion_from_itself_and_others_from_the_original():
    twin = find_twin(Perturbed(by_formulas()))
    assert {s.name: s.formula for s in twin.scenario.machine.signals if s.name.startswith("linear.")} == {
        "linear.arm.seen": "shift + linear.sensor.measured - shift",
        "linear.lag": "reference.position - linear.cart.position",
    }
    control = next(block for block in twin.scenario.machine.blocks if block.name == "linear.control")
    assert dict(control.inputs) == {"target": "wanted", "position": "linear.arm.seen"}


def test_parts_and_remainder_add_up_to_the_total_exactly(servo):
    np.testing.assert_array_equal(servo.sum + servo.remainder - servo.total, 0.0)
    rows = servo.table("cart.position")
    assert [row.name for row in rows[-3:]] == ["sum of parts", "remainder", "total"]
    at_worst = [row.at_worst for row in rows]
    # Sums of twenty numbers in another order.
    assert sum(at_worst[:-3]) == pytest.approx(at_worst[-3], rel=1e-12)
    assert at_worst[-3] + at_worst[-2] == pytest.approx(at_worst[-1], rel=1e-12)
    assert rows[-1].share == 1.0


def test_a_servo_at_its_limits_is_the_sum_of_its_parts(servo):
    """Saturation, wind-up protection, quantisation, delay, friction: what is not linear reaches the twin as it is."""
    by_name = {row.name: row.largest for row in servo.table("cart.position")}
    for name in ("friction", "encoder", "feed_forward", "velocity_loop", "current_loop", "position_loop"):
        # Each of them counts: more than a micrometre.
        assert by_name[name] > 1e-6, name
    # A fixed-step method is linear on linear equations: only rounding is left.
    assert servo.interaction_share < 1e-9


def test_a_twin_with_all_causes_moves_as_the_original():
    for original, twin in follow_with_all_causes(
        servo_cart(), ("cart.position", "drive.current", "position_loop.held")
    ):
        np.testing.assert_allclose(twin, original, atol=1e-9 * np.max(np.abs(original)))


def test_limits_that_are_never_reached_have_no_part():
    found = split_deviation(servo_cart(current_limit=1e3, voltage_limit=1e3), POSITION)
    for name in ("velocity_loop", "current_loop", "position_loop"):
        # Differences of equal numbers.
        assert np.max(np.abs(found.part(name, "cart.position"))) < 1e-12


def test_a_limited_state_reaches_the_twin_as_its_limit_stops_it():
    more = (
        Block(
            "motor",
            "dc_motor",
            on="cart",
            inputs={"voltage": "supply.position"},
            parameters={"resistance": 1.0, "inductance": 0.02, "torque_constant": 1.0, "current_limit": 3.0},
        ),
        Block("supply", stand_still, parameters={"place": 6.0}, unit="m"),
    )
    ((original, twin),) = follow_with_all_causes(held_cart(*more), POSITION)
    assert np.max(np.abs(original)) > 3.0 / STIFFNESS
    # The instant at which the limit is met is a step's end of the original, not of its rate's average.
    np.testing.assert_allclose(twin, original, atol=1e-6 * np.max(np.abs(original)))


def test_play_in_a_gear_reaches_the_twin():
    scenario = elastic_cart(2e4, 60.0, gap=1e-3, duration=6.0)
    ((original, twin),) = follow_with_all_causes(scenario, POSITION)
    np.testing.assert_allclose(twin, original, atol=1e-9 * np.max(np.abs(original)))
    found = split_deviation(scenario, POSITION)
    # At rest the pull has used up half of the play.
    assert found.part("drive.gear", "cart.position")[-1] == pytest.approx(0.5e-3, rel=1e-3)


def test_elasticity_is_the_sag_that_stiff_gears_do_not_have():
    stiffness = 2e4
    found = split_deviation(elastic_cart(stiffness, 60.0, duration=6.0), POSITION)
    sag = PULL / stiffness
    # What still swings after six seconds.
    assert found.part(ELASTICITY, "cart.position")[-1] == pytest.approx(sag * (1 - 1 / STIFFER), rel=1e-4)


def test_stiff_gears_exert_at_the_start_what_the_real_ones_do():
    scenario = elastic_cart(2e4, 60.0)
    scenario = dataclasses.replace(scenario, initial={"drive.position": 0.01, "cart.position": 0.01 + 3e-4})
    stiff = stiffen(scenario)
    twist = stiff.initial["cart.position"] - stiff.initial["drive.position"]
    assert stiff.numbers()["drive.gear.stiffness"].value * twist == pytest.approx(2e4 * 3e-4, rel=1e-12)
    ratio = [
        s.numbers()["drive.gear.damping"].value ** 2 / s.numbers()["drive.gear.stiffness"].value
        for s in (scenario, stiff)
    ]
    assert ratio[1] == pytest.approx(ratio[0], rel=1e-12)


def test_an_unknown_payload_is_a_part_of_its_own():
    load = 1.0
    scenario = held_cart(payload=load)
    found = split_deviation(scenario, POSITION)
    time, pull = found.run.time, PULL / MASS
    without, loaded = pull * MASS * step_response(time), pull * (MASS + load) * step_response(time, MASS + load)
    np.testing.assert_allclose(found.part("payload.mass", "cart.position"), loaded - without, atol=1e-11)


def test_sampling_is_a_part_of_sampled_loops_and_shrinks_with_the_period(servo):
    halved = split_deviation(sample_faster(servo_cart(), 2), POSITION)
    sizes = [np.max(np.abs(found.part(SAMPLING, "cart.position"))) for found in (servo, halved)]
    # The delay of a sample and of computing is gone, and half of the rest: at most half is left.
    assert 0 < sizes[1] < 0.6 * sizes[0]
    assert SAMPLING not in [part.name for part in split_deviation(held_cart(), POSITION).parts]


def test_a_two_link_arm_with_friction_leaves_a_small_remainder():
    levels = {"coulomb": 8.0, "static": 9.0, "viscous": 5.0, "stribeck_velocity": 0.05}
    rough = [
        Block(f"{joint}.friction", "lugre_friction", on=joint, parameters=BRISTLES | levels)
        for joint in ("shoulder", "elbow")
    ]
    stiff = dataclasses.replace(TIGHT, method="rodas4p", rtol=1e-7)
    scenario = dataclasses.replace(two_link(blocks=rough), solver=stiff)
    signals = ("shoulder.control.torque", "elbow.control.torque")
    found = split_deviation(scenario, signals)
    # The arm deviates by some millirad: squares of it, and the solver's tolerance, are left.
    assert found.remainder_share < 0.01
    assert {part.name for part in found.parts} == {"shoulder.friction", "elbow.friction", REST}


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"all": ["*"], "none": ["*"]}, "group.none: all its parts are in earlier groups"),
        ({"encoder": ["*_loop"]}, "is the name of a part that is not in it"),
    ],
)
def test_groups_that_would_be_empty_or_taken_for_a_part_are_refused(servo, groups, words):
    with pytest.raises(ModelError) as error:
        servo.grouped(groups)
    assert words in str(error.value)


def test_grouped_parts_have_the_same_sum(servo):
    grouped = servo.grouped({"friction": ["friction", "feed_forward"], "loops": ["*_loop"]})
    assert [part.name for part in grouped.parts][:2] == ["friction", "loops"]
    np.testing.assert_allclose(grouped.sum, servo.sum, rtol=0, atol=1e-15)
    friction = servo.part("friction", "cart.position") + servo.part("feed_forward", "cart.position")
    np.testing.assert_allclose(grouped.part("friction", "cart.position"), friction, rtol=0, atol=1e-18)
    with pytest.raises(ModelError, match=r"group.more: 'frict' matches no part.*friction"):
        servo.grouped({"more": ["frict"]})


def test_a_budget_is_kept_as_signals(servo):
    run = as_run(servo)
    np.testing.assert_array_equal(run["cart.position: friction"].values, servo.part("friction", "cart.position"))
    np.testing.assert_array_equal(run["cart.position: remainder"].values, servo.remainder[0])
    assert run["cart.position: friction"].unit == "m"


def test_a_scenario_without_a_rate_is_split_at_even_times():
    scenario = dataclasses.replace(held_cart(), recording=Recording())
    found = split_deviation(scenario, POSITION, along="reference.velocity")
    np.testing.assert_allclose(np.diff(found.run.time), scenario.duration / 2000, rtol=1e-9)
    np.testing.assert_array_equal(found.places, 0.0)


def test_a_distance_is_split_only_where_it_is_named():
    names = ("deviation.vertical", "deviation.distance", "path.s")
    system = SimpleNamespace(signal_names=names, scenario=SimpleNamespace(name="weld"))
    assert budget_module.choose_signals(system, ["deviation.*"]) == names[:1]
    assert budget_module.choose_signals(system, ["deviation.*", "deviation.distance"]) == names[:2]


def beyond(position):
    return position - 1.0


def back(position):
    return {"cart.position": 0.0 * position}


def listening(friction, velocity):
    """A controller that knows the friction."""
    return {"force": -friction - velocity}


IN_PYTHON = Block(
    "guess",
    lambda value: {"out": value},
    inputs={"value": "cart.position"},
    period=0.01,
    native=False,
    hold={"out": 0.0},
)
OBSERVER = Block("observer", listening, on="cart", inputs={"friction": "bristles.torque"})
BRUSH = Block("bristles", "lugre_friction", on="cart", parameters=FRICTION)
RESET = Event("reset", beyond, {"position": "cart.position"}, action=back)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (held_cart(BRUSH, OBSERVER), "blocks.observer: reads 'bristles.torque' of the disturbance 'bristles'"),
        (with_formula(held_cart(BRUSH)), "signals.felt: reads 'bristles.torque' of the disturbance 'bristles'"),
    ],
)
def test_what_cannot_be_split_is_told(scenario, message):
    forces = [("cart", "bristles.torque")]
    with pytest.raises(ModelError, match=message):
        find_sources(scenario, forces)


def test_friction_that_holds_takes_away_what_the_others_do():
    """A cart that friction of 100 N holds: alone, push and sensor do what they do without it; with it, nothing. Each
    part is the mean of both, and all add up to a cart at rest."""
    holding = Block("dry", "stick_friction", on="cart", parameters={"coulomb": 100.0})
    found = split_deviation(held_cart(holding), POSITION)
    assert found.by_differences == "'dry' sticks: its force depends on all others at once"
    response, others = step_response(found.run.time), PUSH - STIFFNESS * BIAS
    expected = {"push": PUSH / 2, "sensor": -STIFFNESS * BIAS / 2, "dry": -PULL - others / 2, REST: PULL}
    for name, force in expected.items():
        np.testing.assert_allclose(found.part(name, "cart.position"), force * response, atol=1e-8)
    np.testing.assert_allclose(found.total, 0.0, atol=1e-9)
    np.testing.assert_allclose(found.sum, 0.0, atol=1e-9)


def test_differences_of_motions_and_the_linear_twin_agree(monkeypatch):
    """On a servo loop with bristles away from its limits, which has a twin: two independent ways to the same parts."""
    scenario = servo_cart(current_limit=50.0, voltage_limit=500.0)
    twin = split_deviation(scenario, POSITION)
    monkeypatch.setattr(budget_module, "why_no_twin", lambda scenario: "asked for")
    found = split_deviation(scenario, POSITION)
    assert [part.name for part in found.parts] == [part.name for part in twin.parts]
    largest = np.abs(twin.values).max()
    apart = np.abs(found.values - twin.values).max(axis=(0, 2)) / largest
    assert apart.max() < 3e-3
    assert found.remainder_share < 0.02


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (held_cart(IN_PYTHON), "'guess' is called in Python"),
        (held_cart(events=(RESET,)), "the event 'reset' changes the motion"),
    ],
)
def test_what_has_no_twin_is_split_by_differences(scenario, message, held):
    """Neither changes the motion here: parts are those of the cart with a twin."""
    found = split_deviation(scenario, POSITION)
    assert message in found.by_differences
    for part in held.parts:
        parts = [budget.part(part.name, "cart.position") for budget in (found, held)]
        np.testing.assert_allclose(*parts, atol=1e-8)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, r"signals: 'deviation\.\*' matches no signal"),
        ({"signals": ("cart.postion",)}, "did you mean"),
        ({"signals": ("reference.velocity",)}, "does not depend on the motion"),
        ({"signals": POSITION, "along": "reference.s"}, "along: there is no signal 'reference.s'"),
        ({"signals": POSITION, "without": {"load.mass": 0.0}}, "without.load.mass: there is no such number"),
    ],
)
def test_wrong_questions_are_told(asked, message):
    with pytest.raises(ModelError, match=message):
        split_deviation(held_cart(), **asked)


def test_a_scenario_without_nominal_motion_has_no_budget():
    with pytest.raises(ModelError, match="nominal: is missing"):
        split_deviation(dataclasses.replace(held_cart(), nominal={}), POSITION)


def test_a_loop_is_varied_step_by_step():
    names = [name for name, _ in loop_variants(elastic_cart(2e4, 60.0), {"wagon.mass": 1.0})]
    assert names == [ELASTICITY, "wagon.mass"]
    faster = dict(loop_variants(servo_cart()))[SAMPLING]
    periods = {block.name: (block.period, block.delay) for block in faster.machine.blocks if block.sampled}
    assert periods["position_loop"] == (1e-3 / 16, 0.0)
