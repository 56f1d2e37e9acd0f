"""Are margins of sampled loops where closed forms and multipliers say, and is the right gain blamed?"""

from dataclasses import replace

import numpy as np
import pytest
from support.machines import cart
from support.sampled_loops import PERIOD, SLOW, cascade, single_loop

from robodyn import Solver, simulate
from robodyn.analysis.linear.loop_table import Loop, check_loops, loop_table
from robodyn.analysis.linear.margins import find_gains, find_margins
from robodyn.analysis.linear.sampling import lift, linearise_sampled, scale_held
from robodyn.base.errors import ModelError
from robodyn.description.catalog import pendulum
from robodyn.description.catalog.two_link import two_link_loop
from robodyn.description.model import Block

MASS = 2.0


def held_mass(proportional=40.0, derivative=12.0, period=0.01):
    """A mass under sampled PD control without friction."""
    inputs = {"target": 0.0, "position": "rail.position", "velocity": "rail.velocity"}
    gains = {"proportional": proportional, "derivative": derivative}
    control = Block("control", "pd_control", inputs=inputs, parameters=gains, period=period)
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "control.command"})
    return cart(control, drive, mass=MASS)


def upright_pendulum(proportional=30.0, derivative=3.0):
    """1 kg at 1 m, standing; held by sampled PD control."""
    inputs = {"target": np.pi, "position": "hinge.position", "velocity": "hinge.velocity"}
    gains = {"proportional": proportional, "derivative": derivative}
    control = Block("control", "pd_control", inputs=inputs, parameters=gains, period=0.01)
    drive = Block("drive", "torque_source", on="hinge", inputs={"command": "control.command"})
    whole = pendulum(angle=np.pi)
    return replace(whole, machine=replace(whole.machine, blocks=(control, drive)))


def margins_of(scenario, signal):
    return find_margins(linearise_sampled(scenario), signal)


@pytest.mark.parametrize(("derivative", "period"), [(12.0, 0.01), (3.0, 0.02), (60.0, 0.005)])
def test_a_mass_under_sampled_pd_control_bears_the_gain_of_its_closed_form(derivative, period):
    """p(-1) = 4 - 2 k D T / m of z^2 + ...: the limit is k = 2 m / (D T), and any lower gain is stable."""
    found = margins_of(held_mass(derivative=derivative, period=period), "control.command")
    assert found.stable
    assert found.gain_to == pytest.approx(2 * MASS / (derivative * period), rel=1e-8)
    assert found.gain_from == 0.0


@pytest.mark.parametrize(("samples", "limit"), [(0, 2.0), (1, 1.0), (2, 2 * np.sin(np.pi / 10))])
def test_an_integrator_with_delay_bears_the_gain_of_its_closed_form(samples, limit):
    """z^(n+1) - z^n + k T = 0 has |z| = 1 at k T = 2 sin(pi / (4 n + 2))."""
    found = margins_of(single_loop(gain=3.0, delay=samples * PERIOD), "loop.command")
    assert found.gain_to == pytest.approx(limit / (3.0 * PERIOD), rel=1e-8)


@pytest.mark.parametrize("samples", [0, 1, 2])
def test_the_phase_margin_of_an_integrator_has_its_closed_form(samples):
    """|L| = 1 at theta = 2 asin(k T / 2); there the phase is -pi/2 - theta/2 - n theta."""
    found = margins_of(single_loop(gain=3.0, delay=samples * PERIOD), "loop.command")
    theta = 2 * np.arcsin(3.0 * PERIOD / 2)
    assert found.phase == pytest.approx(np.degrees(np.pi / 2 - theta / 2 - samples * theta), rel=1e-8)


@pytest.mark.parametrize("share", [1.2, 1.5, 1.9])
def test_the_delay_margin_within_one_sample_has_its_closed_form(share):
    """z^2 - z (1 - k T (1 - e)) + k T e has |z| = 1 at k T e = 1: the delay e T is 1 / k."""
    found = margins_of(single_loop(gain=share / PERIOD), "loop.command")
    # Delays are found to 1e-6 of their size.
    assert found.delay == pytest.approx(PERIOD / share, rel=1e-5)


@pytest.mark.parametrize("signal", ["outer.velocity_command", "inner.torque_command"])
def test_multipliers_are_on_the_unit_circle_at_every_margin(signal):
    model = linearise_sampled(cascade())
    found = find_margins(model, signal)
    lifted = lift(model, [signal])
    for gain in (found.gain_from, found.gain_to):
        if 0 < gain < np.inf:
            # The same by another way: what readers see is scaled, and no loop is cut.
            assert np.abs(scale_held(model, [signal], gain).multipliers).max() == pytest.approx(1, abs=1e-7)
    turned = np.exp(1j * np.radians(found.phase))
    assert lifted.radius(turned) == pytest.approx(1, abs=1e-7)
    assert lifted.radius(turned**0.98) < 1
    assert lift(model, [signal], 0.999 * found.delay).radius() < 1 < lift(model, [signal], 1.001 * found.delay).radius()


@pytest.mark.parametrize(("share", "grows"), [(0.97, False), (1.03, True)])
def test_a_simulation_of_two_rates_begins_to_grow_at_the_margin(share, grows):
    limit = margins_of(cascade(), "inner.torque_command").gain_to
    gains = {"inner.proportional": 150.0 * limit * share, "inner.integral": 900.0 * limit * share}
    scenario = cascade(duration=100 * SLOW).with_numbers(gains)
    model = linearise_sampled(scenario)
    run = simulate(scenario, Solver("dopri5", rtol=1e-9, atol=1e-14))
    speed = np.abs(run["rail.velocity"].values)
    early, late = (speed[(run.time > a * SLOW) & (run.time < b * SLOW)].max() for a, b in ((40, 60), (80, 100)))
    assert bool(late > early) == grows
    if grows:
        # 40 turns of the motion that grows; peaks of the oscillation are met to a few percent.
        assert np.log(late / early) == pytest.approx(40 * SLOW * model.growth, rel=0.05)


def test_an_unstable_plant_needs_a_least_gain():
    """A rod pendulum upright: P must exceed its gravity torque's slope."""
    found = margins_of(upright_pendulum(proportional=30.0), "control.command")
    assert found.stable
    # Static balance: k P = m g l.
    assert found.gain_from == pytest.approx(9.81 / 30.0, rel=1e-4)
    assert found.gain_to > 1


def test_a_loop_that_is_unstable_has_the_range_that_would_be_stable():
    found = margins_of(held_mass(derivative=12.0 * 50), "control.command")
    assert not found.stable
    assert np.isnan(found.phase)
    assert found.gain_to == pytest.approx(2 * MASS / (12.0 * 50 * 0.01), rel=1e-8)


def test_a_signal_that_does_not_come_back_has_no_limit():
    setpoint = Block("setpoint", "sample_and_hold", inputs={"value": 0.0}, period=PERIOD, unit="m")
    whole = cascade()
    machine = replace(whole.machine, blocks=(setpoint, *whole.machine.blocks))
    found = margins_of(replace(whole, machine=machine), "setpoint.output")
    assert (found.gain_from, found.gain_to, found.phase, found.delay) == (0.0, np.inf, np.inf, np.inf)


def test_the_table_has_a_row_for_every_loop_with_gains():
    table = loop_table(cascade())
    assert [row.name for row in table.rows] == ["outer.velocity_command", "inner.torque_command"]
    outer, inner = table.rows
    assert inner.margins == find_margins(table.model, "inner.torque_command")
    assert outer.crossover < inner.crossover


def test_cutting_the_outer_loop_leaves_the_inner_one_alone():
    """With the outer command at zero the inner loop is that of a machine without the outer block."""
    alone = loop_table(cascade(), {"inner": Loop("inner.torque_command", cut=("outer.velocity_command",))}).rows[0]
    whole = cascade()
    inner = replace(whole.machine.blocks[1], inputs={"velocity_command": 0.0})
    bare = replace(whole, machine=replace(whole.machine, blocks=(inner, whole.machine.blocks[2])))
    theirs = loop_table(bare).rows[0]
    assert alone.margins.gain_to == pytest.approx(theirs.margins.gain_to, rel=1e-6)
    assert alone.margins.phase == pytest.approx(theirs.margins.phase, rel=1e-6)
    assert alone.crossover == pytest.approx(theirs.crossover, rel=1e-3)


def test_the_bandwidth_is_that_of_what_follows_the_target():
    loop = Loop("inner.torque_command", "outer.velocity_command", "rail.velocity", cut=("outer.velocity_command",))
    row = loop_table(cascade(), {"speed": loop}).rows[0]
    # A mass behind P = 150: 150 / 2 / 2 pi = 12 Hz without integral and delays, both of which raise it.
    assert 12 < row.bandwidth < 30


def test_stable_loops_are_not_blamed():
    assert check_loops(cascade()) == ()
    assert check_loops(two_link_loop()) == ()
    assert check_loops(pendulum()) == ()


@pytest.mark.parametrize(
    ("changes", "block", "gains"),
    [
        ({"inner.proportional": 150.0 * 20}, "inner", ("proportional", "integral")),
        ({"outer.proportional": 12.0 * 30}, "outer", ("proportional",)),
    ],
)
def test_the_gain_to_blame_is_named_with_what_it_must_be_reduced_to(changes, block, gains):
    scenario = cascade().with_numbers(changes)
    (finding,) = check_loops(scenario)
    assert (finding.block, finding.gains) == (block, gains)
    numbers = scenario.numbers()
    for share, stable in ((0.98, True), (1.02, False)):
        scaled = {f"{block}.{name}": numbers[f"{block}.{name}"].value * finding.below * share for name in gains}
        assert (not check_loops(scenario.with_numbers(scaled))) == stable
    assert f"the loop of {block} is unstable" in finding.sentence
    assert f"below {100 * finding.below:.3g} %" in finding.sentence


def test_a_gain_that_is_too_low_is_to_be_raised():
    (finding,) = check_loops(upright_pendulum(proportional=5.0))
    assert finding.block == "control"
    assert "raise" in finding.sentence
    # Both gains are raised: P alone counts for the static balance 5 k = 9.81.
    assert finding.above == pytest.approx(9.81 / 5.0, rel=1e-3)


def test_each_of_several_unstable_loops_is_found():
    gains = {"shoulder.velocity_loop.proportional": 1e5, "elbow.velocity_loop.proportional": 1e4}
    found = check_loops(two_link_loop().with_numbers(gains))
    assert {finding.block for finding in found} == {"shoulder.velocity_loop", "elbow.velocity_loop"}


def test_what_no_sampled_gain_changes_is_told_so():
    """A pendulum that stands alone, and a sampled block that only watches it."""
    whole = upright_pendulum()
    watch = Block("watch", "sample_and_hold", inputs={"value": "hinge.position"}, period=0.01, unit="rad")
    (finding,) = check_loops(replace(whole, machine=replace(whole.machine, blocks=(watch,))))
    assert finding.block is None
    assert finding.growth == pytest.approx(np.sqrt(9.81), rel=1e-6)
    assert "no single controller gain changes that" in finding.sentence


def test_gains_are_the_numbers_that_outputs_rise_with():
    blocks = {block.name: block for block in two_link_loop().machine.blocks}
    assert find_gains(blocks["shoulder.velocity_loop"]) == ("proportional", "integral")
    encoder = Block("e", "sampled_encoder", inputs={"value": 0.0}, parameters={"resolution": 0.1}, period=0.1)
    assert find_gains(encoder) == ()


def test_wrong_loops_are_all_told_at_once():
    loops = {"a": Loop("inner.torque"), "b": Loop("outer.velocity_command", target="inner.torque_command")}
    with pytest.raises(ModelError) as message:
        loop_table(cascade(), loops)
    assert "loops.a.signal" in str(message.value)
    assert "only one of target and answer" in str(message.value)
    with pytest.raises(ModelError, match="none is a controller"):
        loop_table(pendulum())
