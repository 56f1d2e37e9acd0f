"""Every example runs and gives the numbers its own formula promises."""

import importlib.util
import math
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.special import ellipk, lambertw

import robodyn as rd
from robodyn.description.laws.hydraulics import effective_bulk_modulus, specific_volume

TESTS = Path(__file__).parents[1]
EXAMPLES = TESTS.parent / "examples"
GANTRY_TESTS = "systems/test_gantry.py"
NEEDS = {"cart_pole": "gymnasium", "learn_to_balance": "cma", "pendulum_fmu": "fmpy", "swing_up_mpc": "do_mpc"}
"""Packages that some examples are about."""
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))
SCENARIOS = sorted(path.stem for path in EXAMPLES.glob("*.toml"))


def load_file(path):
    spec = importlib.util.spec_from_file_location(f"loaded_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(name):
    """An example as a module, and what its main() returns."""
    module = load_file(EXAMPLES / f"{name}.py")
    return module, module.main()


def sampled_speeds(example):
    """The recurrence in the example's head: torque of sample k acts from sample k + 1 on."""
    decay = math.exp(-example.VISCOUS * example.PERIOD / example.INERTIA)
    speeds, error_sum, waiting = [0.0], 0.0, 0.0
    for _ in range(example.N_SAMPLES):
        error = example.SPEED - speeds[-1]
        acting, waiting = waiting, example.PROPORTIONAL * error + example.INTEGRAL * error_sum
        error_sum += example.PERIOD * error
        speeds.append(decay * speeds[-1] + (1 - decay) / example.VISCOUS * acting)
    return np.array(speeds)


def test_every_example_has_a_test_of_its_numbers():
    tests = "".join((TESTS / name).read_text(encoding="utf-8") for name in ("contracts/test_examples.py", GANTRY_TESTS))
    assert set(re.findall(r'= load\("(\w+)"\)', tests)) == set(NAMES)
    assert set(SCENARIOS) <= set(re.findall(r'"(\w+)\.toml"', tests))
    # All else that is there is a part of these, or is run elsewhere: the catalogue by tests/unit/test_extensions.py.
    others = {path.name for path in EXAMPLES.iterdir() if path.suffix not in (".py", ".toml")} - {"__pycache__"}
    assert others == {"gripper.stl", "own_catalogue", "weld_demo.md"}


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_short_and_run_print_and_draw_as_their_reader_runs_them(name, tmp_path, monkeypatch, capsys):
    path = EXAMPLES / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 64
    monkeypatch.chdir(tmp_path)
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    example = runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
    example["draw"](tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_run_to_their_end_and_their_checks_are_kept(name):
    run = rd.simulate(rd.read_scenario(EXAMPLES / f"{name}.toml"))
    assert run.outcome.ok
    assert run.outcome.time == run.time[-1]
    assert run.certificate.checks
    assert run.certificate.violated == ()


def test_every_example_is_in_the_gallery_with_a_question_and_a_picture():
    pages = load_file(EXAMPLES.parent / "docs/extensions/gallery_pages.py")
    sources = {path.stem: path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.py")}
    listed = [name for names in pages.GROUPS.values() for name in names]
    assert sorted(listed) == NAMES
    assert not [name for name in listed if not pages.read_head(name)[0].endswith("?")]
    assert not [name for name, source in sources.items() if "\ndef draw(path" not in source]


def test_a_shaped_command_leaves_no_swing_where_a_step_overshoots_by_its_damping():
    example, found = load("input_shaping")
    damping = example.DAMPING
    # The largest of readings dt apart misses the peak by (pi f dt)^2 / 2 at most, 4e-7 of 1.9 steps; rtol is 1e-9.
    assert found["step"] == pytest.approx(math.exp(-math.pi * damping / math.sqrt(1 - damping**2)), abs=2e-6)
    assert abs(found["shaped"]) < 1e-6


def test_impacts_of_a_ball_are_a_geometric_series_until_it_lies_still():
    example, found = load("bouncing_ball")
    # Flights are parabolas, which a method of order 5 solves to rounding; nineteen of them.
    assert found["hits"] == pytest.approx(example.expected_times(), abs=1e-10)
    assert found["force"] == pytest.approx(0.2 * example.GRAVITY, rel=1e-6)


def test_a_dragged_slide_sticks_and_slips_with_the_period_of_its_formula():
    example, found = load("stick_slip")
    # rtol 1e-9 a step, some dozens of steps a cycle.
    assert found["period"] == pytest.approx(example.expected_period(), rel=1e-8)
    assert found["slips"] == 10


def test_a_slider_is_where_the_crank_puts_it():
    example, found = load("slider_crank")
    # Baumgarte's drift is of the order of rtol 1e-9 times 0.4 m.
    assert found["error"] < 1e-9
    assert found["torque"] > 1.0


def test_a_body_tumbles_with_the_period_of_elliptic_functions():
    example, found = load("tumbling_body")
    # The period hangs on the small spins by their logarithm: rtol 1e-11 over some hundred steps.
    assert found["period"] == pytest.approx(example.expected_period(), rel=1e-8)
    assert found["energy_error"] < 1e-10


def test_a_rope_over_a_pulley_pulls_by_the_formula_of_atwood():
    example, found = load("atwood_machine")
    turned = example.INERTIA / example.RADIUS**2
    exact = example.GRAVITY * (example.LEFT - example.RIGHT) / (example.LEFT + example.RIGHT + turned)
    # Forces are constant; Baumgarte's terms are of the order of rtol 1e-6 times the motion's 0.7 m, damped.
    assert found["acceleration"] == pytest.approx(exact, rel=1e-8)
    assert found["left_tension"] == pytest.approx(example.LEFT * (example.GRAVITY - exact), rel=1e-8)
    assert found["right_tension"] == pytest.approx(example.RIGHT * (example.GRAVITY + exact), rel=1e-8)


def test_a_rope_tears_where_its_tension_says_and_the_weight_flies_on():
    example, found = load("breaking_rope")
    g, depth = example.GRAVITY, example.STRENGTH * example.LENGTH / (3 * example.MASS * example.GRAVITY)
    # rtol 1e-10 a step; the rod's length drifts by that.
    assert found["depth"] == pytest.approx(depth, rel=1e-8)
    assert found["speed"] == pytest.approx(math.sqrt(2 * g * depth), rel=1e-8)
    assert found["later"] == pytest.approx(-depth + 0.25 * found["rise"] - g * 0.25**2 / 2, rel=1e-8)


def test_a_box_slides_only_beyond_the_angle_of_friction():
    example, found = load("sliding_box")
    for slope, distance in found.items():
        angle = math.radians(slope)
        pull = example.GRAVITY * max(math.sin(angle) - example.FRICTION * math.cos(angle), 0.0)
        # A constant force; the box moves by less than a nanometre until it is found to stick.
        assert distance == pytest.approx(pull / 2, rel=1e-6, abs=1e-9)


def test_a_beam_sags_and_rings_as_euler_and_bernoulli_say():
    example, found = load("cantilever_beam")
    exact = example.expected()
    # The static shape of a tip's load is one of the modes kept.
    assert found["sag"] == pytest.approx(exact["sag"], rel=1e-6)
    # Rotary inertia, which the formula leaves out, takes about 2.3 (WIDTH / LENGTH)^2 / 12 off.
    assert found["frequency"] == pytest.approx(exact["frequency"], rel=1.5e-4)
    # One mode alone overshoots by exp(-pi z / sqrt(1 - z^2)) = 0.939; it carries 97 % of the sag.
    assert found["swing"] == pytest.approx(exact["sag"] * (1 + 0.971 * 0.939), rel=0.02)


def test_a_dc_motor_starts_as_its_linear_system_does():
    _, found = load("dc_motor_start")
    # rtol 1e-9 a step.
    assert found["current_error"] < 1e-8
    assert found["speed_error"] < 1e-8
    assert found["peak"] > 30.0


def test_computed_torque_makes_joints_linear_and_a_wrong_mass_makes_it_sag():
    example, found = load("computed_torque")
    # rtol 1e-10 a step.
    assert found["error"] < 1e-9
    assert 0.005 < found["sag"] < 0.02


def test_a_loop_with_dead_time_swings_by_the_values_of_lambert_w():
    example, found = load("delayed_loop")
    for share, (period, growth) in found.items():
        pole = lambertw(-share * math.pi / 2) / example.DEAD_TIME
        # The leading pair alone is left at the end; rtol 1e-9 a step, some hundred steps.
        assert period == pytest.approx(2 * math.pi / abs(pole.imag), rel=1e-7)
        assert growth == pytest.approx(math.exp(pole.real * period), rel=1e-6)


def test_a_sampled_loop_turns_unstable_at_its_margin():
    example, found = load("loop_margins")
    exact = 2 * example.MASS / (example.GAIN * example.PERIOD)
    # Margins are found to 1e-6.
    assert found["margin"] == pytest.approx(exact, rel=1e-6)
    # After 30 samples (1 - 2 share)^30 of the speed is left.
    assert found["below"] == pytest.approx(0.9**30, rel=1e-4)
    assert found["beyond"] == pytest.approx(1.1**30, rel=1e-4)


def test_a_thousand_pendulums_pass_the_bottom_with_the_speed_of_their_energy():
    example, speeds = load("many_pendulums")
    exact = 2 * math.sqrt(example.GRAVITY / example.LENGTH) * np.sin(example.ANGLES / 2)
    # rtol 1e-9 a step, atol 1e-11 of small swings.
    np.testing.assert_allclose(speeds, exact, rtol=1e-7)


def test_a_double_pendulum_has_the_frequencies_of_its_closed_form():
    example, found = load("pendulum_modes")
    for sign, name in ((-1, "slow"), (1, "fast")):
        exact = math.sqrt((2 + sign * math.sqrt(2)) * example.GRAVITY / example.LENGTH) / (2 * math.pi)
        assert found[name] == pytest.approx(exact, rel=1e-9)


def test_halves_of_an_oscillator_come_nearer_to_the_whole_with_the_macro_step():
    example, errors = load("coupled_oscillators")
    coarse, middle, fine = errors.values()
    assert 1e-8 < fine < 1e-6
    # Connections of order 1 between models: at least third order.
    assert coarse / middle > 8
    assert middle / fine > 8


def test_a_unit_runs_elsewhere_as_it_does_here():
    pytest.importorskip("fmpy")
    _, found = load("pendulum_fmu")
    # The same method with the same steps: rounding of two compilers.
    assert found["difference"] < 1e-12
    assert abs(found["final"]) > 0.1


def test_a_robot_file_gives_the_mass_matrix_and_the_weights_of_two_rods():
    example, found = load("urdf_arm")
    m, length, (q1, q2) = example.MASS, example.LENGTH, (0.4, 0.7)
    m22 = m * length**2 / 3
    m12 = m22 + m * length**2 / 2 * math.cos(q2)
    m11 = 2 * m12 - m22 + m * length**2 * 4 / 3
    np.testing.assert_allclose(found["mass_matrix"], [[m11, m12], [m12, m22]], rtol=1e-12)
    fore = m * 9.81 * length / 2 * math.cos(q1 + q2)
    np.testing.assert_allclose(found["weight"], [3 / 2 * m * 9.81 * length * math.cos(q1) + fore, fore], rtol=1e-12)


def test_a_policy_of_four_gains_balances_the_pole_that_falls_without():
    pytest.importorskip("gymnasium")
    _, found = load("cart_pole")
    # The largest return is that of a pole which stands upright, one a step of 20 ms for 10 s.
    assert found["balanced: steps"] == 500
    assert 499 < found["balanced: return"] < 500
    assert found["left alone: steps"] < 100


def test_evolution_learns_to_balance_the_pole():
    pytest.importorskip("cma")
    example, curve = load("learn_to_balance")
    # A pole that falls earns less than half of what one that stands does; upright all the time would be 200.
    assert curve["generation 1"] < 0.5 * example.STEPS
    assert 0.97 * example.STEPS < curve[f"generation {example.GENERATIONS}"] < example.STEPS


def test_pendulum_swings_with_the_period_of_the_elliptic_integral():
    example, found = load("pendulum_period")
    exact = 4 * math.sqrt(example.LENGTH / example.GRAVITY) * ellipk(math.sin(example.ANGLE / 2) ** 2)
    # rtol 1e-10 a step; the period depends on the energy, whose error grows with some hundred steps.
    assert found["period"] == pytest.approx(exact, rel=1e-9)
    assert found["energy_error"] < 1e-8


def test_falling_body_follows_the_closed_form_of_quadratic_drag():
    example, found = load("quadratic_drag")
    limit = math.sqrt(example.MASS * example.GRAVITY / example.DRAG)
    rate = example.GRAVITY / limit
    # rtol 1e-9 a step, and the drag damps earlier errors.
    exact = [limit * math.tanh(rate * time) for time in (example.DURATION / 2, example.DURATION)]
    assert [found["speed_half_way"], found["speed_at_end"]] == pytest.approx(exact, rel=2e-9)


def test_held_arm_carries_its_weight():
    example, found = load("dh_arm")
    (length, _), (m1, m2), g = example.LENGTHS, example.MASSES, example.GRAVITY
    q1, q2 = example.TARGETS.values()
    elbow = m2 * g * example.LENGTHS[1] / 2 * math.cos(q1 + q2)
    shoulder = g * (m1 * length / 2 + m2 * length) * math.cos(q1) + elbow
    # The slowest mode decays with I / P = 1.5 / s: exp(-30) of the start is left; rtol 1e-6 rules.
    assert found["elbow_torque"] == pytest.approx(elbow, rel=1e-5)
    assert found["shoulder_torque"] == pytest.approx(shoulder, rel=1e-5)


def test_sampled_loop_follows_its_difference_equation():
    example, found = load("sampled_loop")
    exact = sampled_speeds(example)
    # A step ends at every sample, its error is far below rtol = atol = 1e-9, and the loop damps it.
    np.testing.assert_allclose(found["speeds"], exact, rtol=0, atol=1e-9)
    assert found["overshoot"] == pytest.approx(exact.max() / example.SPEED - 1, abs=1e-9)


def test_predictive_control_swings_the_pole_up_within_force_and_rail():
    pytest.importorskip("do_mpc")
    example, run = load("swing_up_mpc")
    assert abs(run["hinge.position"].final) < 0.02
    # Between samples the rail's bound is not seen; the force is that of the optimiser, to its tolerance.
    assert np.max(np.abs(run["rail.position"].values)) < 1.01 * example.RAIL
    assert np.max(np.abs(run["mpc.force"].values)) < (1 + 1e-6) * example.FORCE


def test_sweep_finds_the_period_of_every_oscillator():
    example, periods = load("parameter_sweep")
    assert len(periods) == len(example.STIFFNESSES) * len(example.MASSES)
    for (stiffness, mass), period in periods.items():
        omega = math.sqrt(stiffness / mass - (example.DAMPING / (2 * mass)) ** 2)
        # rtol 1e-10 a step, events located to rounding.
        assert period == pytest.approx(2 * math.pi / omega, rel=1e-9)


def test_fit_finds_the_spring_and_the_friction_that_made_the_data():
    example, fit = load("fit_oscillator")
    for parameter in fit.parameters:
        half = (parameter.upper - parameter.lower) / 2
        # Half an interval at 95 % is two deviations; four are left by freak data only.
        assert abs(parameter.value - example.TRUE[parameter.name]) < 2 * half
        assert half < 0.05 * parameter.value
    # 101 samples give a deviation to 7 %; three times that.
    assert fit.signals[0].noise == pytest.approx(example.NOISE, rel=0.2)
    assert fit.agreeing == 3


def test_motors_of_the_flexible_arm_carry_the_weights_where_its_links_have_sagged_to():
    scenario = rd.read_scenario(EXAMPLES / "flexible_arm.toml")
    run = rd.simulate(scenario)
    upper, fork, load = (scenario.machine.mechanism.body(name) for name in ("upper", "fork", "load"))
    q1, q2, g = math.radians(30), math.radians(70), 9.81
    knee, hand = run.final["knee.position.x"], run.final["hand.position.x"]
    middle = fork.com[0] * math.cos(q2) - fork.com[1] * math.sin(q2)
    elbow = g * (fork.mass * middle + load.mass * (hand - knee))
    shoulder = elbow + g * knee * (upper.mass / 2 + fork.mass + load.mass)

    assert run.final["shoulder.position"] == pytest.approx(q1, abs=1e-4)
    assert run.final["shoulder.position"] + run.final["elbow.position"] == pytest.approx(q2, abs=1e-4)
    # Joints stand where they should; the load hangs lower by what the links bend.
    sag = 0.8 * math.sin(q1) + 0.6 * math.sin(q2) - run.final["hand.position.y"]
    assert 1e-3 < sag < 5e-3
    # Knee and hand are where they are; only within the links the weights have moved, by no more than the hand.
    left = g * (upper.mass + fork.mass) * 5e-3
    assert run.final["elbow.torque"] == pytest.approx(elbow, abs=left)
    assert run.final["shoulder.torque"] == pytest.approx(shoulder, abs=left)


def test_limited_arm_tells_that_its_elbow_is_sent_into_its_stop():
    scenario = rd.read_scenario(EXAMPLES / "limited_arm.toml")
    run = rd.simulate(scenario)
    stop, effort = run.passed_limits
    assert (stop.joint, stop.limit, effort.joint, effort.limit) == ("elbow", "upper_limit", "elbow", "effort_limit")
    limit, start = run.warnings
    assert "'elbow_plan.position' of joint 'elbow' passes its upper limit of 0.349066 rad at 1.599 s" in limit
    assert "the start does not balance" in start
    # At rest in the stop, friction holds a part of what the drive presses with.
    bent = run["elbow.position"].final - stop.value
    stiffness, friction = (scenario.numbers()[f"elbow.{name}"].value for name in ("stop_stiffness", "friction"))
    carried = run["elbow.torque"].final - run["elbow.friction.torque"].final - run["elbow.effort"].final
    assert carried == pytest.approx(-stiffness * bent, rel=1e-9)
    assert abs(run["elbow.friction.torque"].final) <= friction


def test_the_hydraulic_axis_keeps_its_oil_and_its_power():
    """What the pump gives is lost in edges and lines, stored in gas and oil, or pushes the slide; and oil is kept."""
    run = rd.simulate(rd.read_scenario(EXAMPLES / "hydraulic_axis.toml"))
    assert run.outcome.ok
    t = np.linspace(0.0, 3.0, 30001)
    y = {name: run[name](t) for name in run}

    def total(power):
        return float(simpson(power, x=t))

    oil = {"bulk_modulus": 1.4e9, "air": 0.01}
    given = total(y["gallery.pressure"] * y["pump.flow_out"])
    parts = ("relief", "accumulator", "line", "valve", "gap")
    lost = sum(total(y[f"{part}.lost_power"]) for part in parts) + total(2e5 * y["valve.tank_flow"])
    gas = total(y["accumulator.gas_pressure"] * y["accumulator.oil_dot"])
    moving = 870 * 3 / (math.pi / 4 * 0.012**2) / 2 * (y["line.flow"][-1] ** 2 - y["line.flow"][0] ** 2)
    pushed = total((y["head.force"] + y["rod.force"]) * y["slide.velocity"])
    rooms = {"gallery": 0.5e-3, "block": 0.2e-3}
    rooms |= {"head": 0.3e-3 + 1.2566e-3 * y["slide.position"], "rod": 0.5e-3 - 6.409e-4 * y["slide.position"]}
    squeezed = 0.0
    for name, room in rooms.items():
        p = y[f"{name}.pressure"]
        squeezed += total(p * room / effective_bulk_modulus(p, **oil) * y[f"{name}.pressure_dot"])
        # Oil by its volume without pressure: what came in is what there is more of.
        flows = {"gallery": ("pump.flow_out", "relief.flow_in", "accumulator.flow", "line.flow_in")}
        flows |= {"block": ("line.flow_out", "valve.supply_flow")}
        flows |= {"head": ("valve.flow_1", "gap.flow_in"), "rod": ("valve.flow_2", "gap.flow_out")}
        there = room / specific_volume(p, **oil)
        came = total(sum(y[flow] for flow in flows[name]) / specific_volume(p, **oil))
        # 1e-6 of the volumes is the solver's tolerance over some hundred steps.
        assert there[-1] - there[0] == pytest.approx(came, abs=1e-5 * 0.5e-3), name
    work = total(-y["friction.torque"] * y["slide.velocity"]) + y["energy.kinetic"][-1]
    assert pushed == pytest.approx(work, rel=1e-4)
    assert given == pytest.approx(lost + gas + moving + pushed + squeezed, rel=1e-4)
    # The stroke takes more oil than the pump gives: the accumulator gives the rest, and the relief valve opens later.
    assert 1.2566e-3 * y["slide.velocity"].max() > 1.5 * y["pump.flow_out"].max()
    assert y["accumulator.oil"].min() < 0.7 * y["accumulator.oil"][0]
    assert y["relief.opening"].max() > 0
    # It comes to rest within the overlap, 4 mA by 3 A/m, and what feeds the leakage.
    assert abs(y["slide.position"][-1]) < 1.1 * 0.004 / 3
