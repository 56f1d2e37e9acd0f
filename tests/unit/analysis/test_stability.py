"""Do poles follow their closed forms along a path, sampled loops too, and are limits where stability ends?"""

import numpy as np
import pytest
from support.machines import cart, signals_only
from support.rod_pendulum import GRAVITY, LENGTH, pushed_pendulum

from robodyn import Solver, assemble, simulate
from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.stability import find_stability_limit, follow_poles, join_branches
from robodyn.analysis.linear.stability import poles_at_rest as poles_of
from robodyn.analysis.linear.trim import Trimmer
from robodyn.base.errors import ModelError
from robodyn.description.model import Block, Delay

PERIOD = 0.1


def integrate(value, command):
    return {"output": value, "value_dot": command}


def proportional(value, *, gain):
    return {"command": -gain * value}


def sampled_loop(gain=3.0, delay=0.0, **fields):
    """x' = -k x, x sampled: x_next = (1 - k T) x."""
    plant = Block("plant", integrate, inputs={"command": "loop.command"}, states={"value": 0.0})
    loop = Block(
        "loop", proportional, inputs={"value": "plant.value"}, parameters={"gain": gain}, period=PERIOD, delay=delay
    )
    return signals_only(plant, loop, **fields)


def poles_at_rest(system):
    return poles_of(system)(Trimmer(system, (), ()).find(()).point)


def test_a_sampled_loop_has_the_multiplier_of_its_difference_equation():
    (pole,) = poles_at_rest(assemble(sampled_loop()))
    assert np.exp(pole * PERIOD) == pytest.approx(1 - 3.0 * PERIOD, rel=1e-12)


@pytest.mark.parametrize("samples", [1, 2])
def test_a_delay_of_whole_samples_makes_roots_of_a_higher_polynomial(samples):
    """z^(n+1) - z^n + k T = 0."""
    poles = poles_at_rest(assemble(sampled_loop(delay=samples * PERIOD)))
    expected = np.roots([1, -1, *[0] * (samples - 1), 3.0 * PERIOD])
    np.testing.assert_allclose(np.sort_complex(np.exp(poles * PERIOD)), np.sort_complex(expected), rtol=1e-10)


def test_loops_of_two_rates_are_followed_over_the_ticks_of_both():
    """Two integrators with loops of their own, one sampled twice while the other is once."""
    slow = sampled_loop().machine.blocks
    fast = (
        Block("quick", integrate, inputs={"command": "inner.command"}, states={"value": 0.0}),
        Block("inner", proportional, inputs={"value": "quick.value"}, parameters={"gain": 4.0}, period=PERIOD / 2),
    )
    poles = poles_at_rest(assemble(signals_only(*slow, *fast)))
    expected = [(1 - 3.0 * PERIOD), (1 - 4.0 * PERIOD / 2) ** 2]
    np.testing.assert_allclose(sorted(np.exp(poles.real * PERIOD)), sorted(expected), rtol=1e-12)


def test_a_run_decays_as_the_poles_of_the_sampled_loop_say():
    system = assemble(sampled_loop(duration=2.0, initial={"plant.value": 1.0}))
    (pole,) = poles_at_rest(system)
    run = simulate(system, Solver("dopri5", rtol=1e-10, atol=1e-12))
    assert run["plant.value"](2.0) == pytest.approx(np.exp(pole.real * 2.0), rel=1e-8)


@pytest.mark.parametrize(("delay", "limit"), [(0.0, 2.0), (PERIOD, 1.0)])
def test_the_highest_gain_of_a_sampled_loop_is_found(delay, limit):
    """|1 - k T| = 1 at k T = 2; z^2 - z + k T has |z| = 1 at k T = 1."""
    found = find_stability_limit(assemble(sampled_loop(delay=delay)), "loop.gain", 1.0, 50.0)
    assert found.value == pytest.approx(limit / PERIOD, rel=1e-6)
    assert not found.stable_above


def test_a_continuous_loop_with_a_delay_has_its_limit_at_a_quarter_turn():
    """x' = -k x(t - tau) is stable below k tau = pi / 2."""

    def late(value, delayed, *, gain):
        return {"value_dot": -gain * delayed}

    block = Block("loop", late, inputs={"delayed": "late.output"}, states={"value": 0.0}, parameters={"gain": 1.0})
    system = assemble(signals_only(block, delays=(Delay("late", "loop.value", 0.2),)))
    found = find_stability_limit(system, "loop.gain", 1.0, 20.0)
    assert found.value == pytest.approx(np.pi / 2 / 0.2, rel=1e-6)
    assert found.pole.imag == pytest.approx(np.pi / 2 / 0.2, rel=1e-5)


def test_poles_of_a_held_pendulum_follow_its_angle():
    """A horizontal force that holds it leaves a stiffness m g / (L cos(angle)) in the angle."""
    angles = np.linspace(0.0, 1.0, 6)
    found = follow_poles(assemble(pushed_pendulum()), "x.position", LENGTH * np.sin(angles), by=["push.value"])
    assert found.poles.shape == (6, 2)
    expected = np.sqrt(GRAVITY / (LENGTH * np.cos(angles)))
    np.testing.assert_allclose(np.abs(found.poles.imag), np.stack([expected, expected], axis=1), rtol=1e-8)
    np.testing.assert_allclose(found.rightmost, 0.0, atol=1e-7)


def test_branches_keep_their_column_where_magnitudes_cross():
    values = np.linspace(0, 1, 21)
    shuffled = [np.array(sorted([-1.0 - 2 * v, -2.0 + 0j], key=abs)) for v in values]
    joined = join_branches(shuffled)
    # Until they meet at v = 0.5 and, with small steps, after it: one moves, one stays.
    assert np.ptp(joined[:10, 1].real) == 0.0
    assert np.ptp(joined[:10, 0].real) == pytest.approx(0.9)


def test_a_branch_that_appears_later_gets_a_column_of_its_own():
    joined = join_branches([np.array([-1.0 + 0j]), np.array([-1.1 + 0j, -9.0])])
    assert np.isnan(joined[0, 1])
    np.testing.assert_allclose(joined[1], [-1.1, -9.0])


def test_an_integrator_beside_the_loop_does_not_hide_the_limit():
    """Its pole is zero and stays there; the cart's loop m s^2 + d s + k is stable for k > 0."""

    def spring(position, velocity, travelled, *, stiffness):
        return {"force": -stiffness * position - 3.0 * velocity, "travelled_dot": position}

    block = Block("spring", spring, "rail", states={"travelled": 0.0}, parameters={"stiffness": 5.0})
    found = find_stability_limit(assemble(cart(block)), "spring.stiffness", -4.0, 9.0)
    assert found.value == pytest.approx(0.0, abs=1e-6)
    assert found.stable_above


def test_ranges_without_a_limit_and_unknown_names_are_told():
    system = assemble(sampled_loop())
    with pytest.raises(ModelError, match="it is stable at 1 and stable at 2"):
        find_stability_limit(system, "loop.gain", 1.0, 2.0)
    with pytest.raises(ModelError, match=r"along\.loop\.gian: is neither a tunable number nor a signal"):
        find_stability_limit(system, "loop.gian", 1.0, 2.0)
    with pytest.raises(ModelError, match="nothing holds 'plant.value'"):
        follow_poles(system, "plant.value", [0.0])


def test_poles_without_tasks_are_eigenvalues():
    def spring(position, *, stiffness):
        return -stiffness * position

    system = assemble(cart(Block("spring", spring, "rail", parameters={"stiffness": 8.0}), mass=2.0))
    expected = LinearModel([[0.0, 1.0], [-4.0, 0.0]]).poles()
    np.testing.assert_allclose(np.sort_complex(poles_at_rest(system)), np.sort_complex(expected), atol=1e-12)
