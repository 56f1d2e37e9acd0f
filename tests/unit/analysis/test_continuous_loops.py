"""Do continuous loops, with delays as they are, have the margins, steps and warnings that closed forms give them?"""

import numpy as np
import pytest

from robodyn import GROUND, Block, Body, Delay, Joint, Machine, Mechanism, ModelError, Scenario, assemble, simulate
from robodyn.analysis import Loop, check_loops, linearise, loop_table
from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel
from robodyn.analysis.linear.loop_table import cut_loops
from robodyn.analysis.linear.responses import respond_to_step
from robodyn.description.laws import law
from robodyn.description.model.machine import find_controllers

TAU, MASS = 0.05, 2.0


@law(target="m", position="m", force="N", gain="N/m")
def spring_to(target, position, *, gain):
    """A force towards a target."""
    return {"force": gain * (target - position)}


@law(target="m", position="m", velocity="m/s", force="N", gain="N/m", rate="N s/m")
def damped_spring_to(target, position, velocity, *, gain, rate):
    """The same with damping of its own."""
    return {"force": gain * (target - position) - rate * velocity}


def slide(gain=8.0, friction=4.0, delay=TAU, dry=0.0):
    """A mass on a rail whose position is seen late by a controller: L = k e^(-s tau) / (s (m s + b))."""
    rail = Mechanism("rail", (Body("load", MASS),), (Joint("x", "prismatic", GROUND, "load"),), gravity=(0, 0, 0))
    blocks = [
        Block("wanted", "step_reference", parameters={"before": 0.0, "after": 0.1, "at": 0.01}, unit="m"),
        Block(
            "control",
            spring_to,
            inputs={"target": "wanted.value", "position": "seen.output"},
            parameters={"gain": gain},
            acts={"force": "x"},
        ),
        Block(
            "friction",
            "coulomb_friction",
            on="x",
            parameters={"viscous": friction, "coulomb": dry, "smoothing_velocity": 1e-3},
        ),
    ]
    machine = Machine("slide", rail, tuple(blocks), delays=(Delay("seen", "x.position", delay),))
    return Scenario("slide", machine, 1.0)


def loop_gain(f, gain=8.0, friction=4.0, delay=TAU):
    s = 2j * np.pi * f
    return gain * np.exp(-s * delay) / (s * (MASS * s + friction))


def test_the_controller_is_found_where_reference_and_motion_meet():
    assert [block.name for block in find_controllers(slide().machine)] == ["control"]


def test_a_delayed_loop_has_the_gain_of_its_closed_form():
    (loop,) = cut_loops(slide())
    f = np.geomspace(0.01, 50, 40)
    np.testing.assert_allclose(loop.gain(f), loop_gain(f), rtol=1e-9)


def test_its_margins_are_those_that_bisection_finds_on_the_closed_form():
    (row,) = loop_table(slide()).rows
    f = np.geomspace(1e-3, 100, 2_000_001)
    values = loop_gain(f)
    crossing = np.flatnonzero(np.diff(np.abs(values) > 1))[0]
    phase = np.pi + np.angle(values[crossing])
    turned = np.flatnonzero((values.imag[:-1] < 0) & (values.imag[1:] >= 0) & (values.real[1:] < 0))[0]
    m = row.margins
    assert m.stable
    assert (m.gain_from, m.gain_to) == pytest.approx((0.0, -1 / values[turned].real), rel=1e-4)
    assert m.phase == pytest.approx(np.degrees(phase), rel=1e-4)
    assert m.delay == pytest.approx(phase / (2 * np.pi * f[crossing]), rel=1e-4)
    assert row.crossover == pytest.approx(f[crossing], rel=1e-3)


def test_beyond_its_gain_margin_the_run_grows_and_is_warned_of():
    limit = loop_table(slide()).rows[0].margins.gain_to
    for share, growing in ((0.97, False), (1.03, True)):
        scenario = slide(gain=8.0 * limit * share)
        findings = check_loops(scenario)
        assert bool(findings) is growing
        run = simulate(scenario.replaced(duration=20.0))
        late = np.ptp(run["x.position"](np.linspace(18, 20, 400)))
        assert bool(late > np.ptp(run["x.position"](np.linspace(3, 5, 400)))) is growing
    (finding,) = findings
    assert finding.block == "control"
    assert finding.gains == ("gain",)
    assert finding.below == pytest.approx(1 / 1.03, rel=1e-3)
    assert "reduce control.gain below 97.1 %" in finding.sentence


def test_dry_friction_hides_a_loop_at_rest_and_sliding_shows_it():
    scenario = slide(gain=200.0, dry=5.0)
    assert check_loops(scenario) == ()
    assert not loop_table(scenario).rows[0].margins.stable
    stuck, sliding = (loop_table(scenario, friction=kind).rows[0].margins.gain_to for kind in ("stuck", "sliding"))
    plain = loop_table(slide(gain=200.0)).rows[0].margins.gain_to
    assert sliding == pytest.approx(plain)
    assert stuck > 10 * plain


def test_an_outer_loop_can_be_cut_while_an_inner_one_is_looked_at():
    """Two controllers push the same mass: with one silent the other has the loop of its own."""
    scenario = slide()
    more = Block(
        "second",
        damped_spring_to,
        on="x",
        inputs={"target": "wanted.value"},
        parameters={"gain": 30.0, "rate": 1.0},
    )
    both = scenario.replaced(machine=scenario.machine.replaced(blocks=(*scenario.machine.blocks, more)))
    f = np.geomspace(0.01, 50, 30)
    (alone,) = cut_loops(both, ["control.force"], zero=["second.force"])
    np.testing.assert_allclose(alone.gain(f), loop_gain(f), rtol=1e-9)
    (together,) = cut_loops(both, ["control.force"])
    s = 2j * np.pi * f
    wanted = 8.0 * np.exp(-s * TAU) / (MASS * s**2 + 5.0 * s + 30.0)
    np.testing.assert_allclose(together.gain(f), wanted, rtol=1e-9)


def test_what_a_number_does_to_a_signal_gives_the_bandwidth():
    loop = Loop("control.force", target="wanted.after", answer="x.position")
    scenario = slide()
    blocks = [block for block in scenario.machine.blocks if block.name != "wanted"]
    held = Block("wanted", "step_reference", parameters={"before": 0.0, "after": 0.1, "at": -1.0}, unit="m")
    scenario = scenario.replaced(machine=scenario.machine.replaced(blocks=(held, *blocks)))
    (row,) = loop_table(scenario, {"loop": loop}).rows
    f = np.array([row.bandwidth])
    L, s = loop_gain(f), 2j * np.pi * f
    # From the target to the position there is no delay in the way.
    assert np.abs(L * np.exp(s * TAU) / (1 + L))[0] == pytest.approx(1 / np.sqrt(2), rel=1e-2)


@pytest.mark.parametrize(
    ("loops", "complaint"),
    [
        ({"a": Loop("x.position")}, "is not an output of a continuous block"),
        ({"a": Loop("control.froce")}, "did you mean 'control.force'"),
        ({"a": Loop("control.force", "wanted.value", "x.position")}, "there is no number 'wanted.value'"),
    ],
)
def test_loops_that_are_not_there_are_refused(loops, complaint):
    with pytest.raises(ModelError, match=complaint):
        loop_table(slide(), loops)


def test_a_delayed_model_answers_a_step_as_the_method_of_steps_by_hand():
    """x' = k (u - x(t - tau)): polynomials from delay to delay."""
    k, tau = 2.0, 0.3
    delays = (DelayedSignal("late", tau),)
    model = LinearModel(A=[[0.0]], B=[[k]], C=[[1.0]], E=[[-k]], F=[[1.0]], delays=delays)
    found = respond_to_step(model, time=np.linspace(0, 0.89, 90))
    t = found.time
    exact = k * t
    exact = exact - np.where(t > tau, (k * (t - tau)) ** 2 / 2, 0)
    exact = exact + np.where(t > 2 * tau, (k * (t - 2 * tau)) ** 3 / 6, 0)
    # Straight lines between 32 samples a delay: h^2 / 12 of the slope's jump.
    np.testing.assert_allclose(found.values, exact, atol=1e-5)
    assert found.settled == pytest.approx(1.0)


def test_the_step_of_a_delayed_machine_is_that_of_its_run():
    scenario = slide()
    system = assemble(scenario)
    model = linearise(system, "equilibrium", ["control.gain"], ["x.position"])
    assert model.delays
    run = simulate(scenario)
    driven = LinearModel(
        A=model.A, B=model.B * 0 + np.array([[0.0], [8.0 / MASS]]), C=model.C, E=model.E, F=model.F, delays=model.delays
    )
    found = respond_to_step(driven, time=np.linspace(0, 0.9, 91), height=0.1)
    np.testing.assert_allclose(found.values, run["x.position"](0.01 + found.time), atol=2e-6)
