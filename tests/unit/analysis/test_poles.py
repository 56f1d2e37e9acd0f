"""Are the poles of delayed feedback exact, complete, and their shares those of perturbation theory?"""

import numpy as np
import pytest
from scipy.special import lambertw

from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel
from robodyn.analysis.linear.poles import count_growing_poles, find_poles
from robodyn.base.errors import ModelError

TAU, GAIN = 0.7, 2.0


def delayed_decay(gain=GAIN, tau=TAU):
    """x' = -gain x(t - tau): s tau e^(s tau) = -gain tau."""
    return LinearModel([[0.0]], E=[[-gain]], F=[[1.0]], delays=(DelayedSignal("late", tau),))


def two_loops(change=0.0, tau=(0.2, 0.5)):
    """An oscillator and a lag, each under delayed feedback of the other; `change` is added to A[1, 1]."""
    A = np.array([[0.0, 1.0, 0.0], [-30.0, -0.8 + change, 4.0], [1.0, 0.0, -3.0]])
    E, F = np.array([[0.0, 0.0], [-12.0, 0.0], [0.0, 5.0]]), np.array([[1.0, 0.0, 0.3], [0.0, 1.0, 0.0]])
    delays = (DelayedSignal("one", tau[0]), DelayedSignal("two", tau[1]))
    return LinearModel(A, E=E, F=F, H=[[0.0, 0.2], [0.0, 0.0]], delays=delays)


def count_roots(model, left, right, height):
    """Zeros of det P(s) in a rectangle, by the turns of its argument around it (argument principle)."""
    corners = np.array([left - 1j * height, right - 1j * height, right + 1j * height, left + 1j * height])
    sides = [np.linspace(a, b, 3000, endpoint=False) for a, b in zip(corners, np.roll(corners, -1), strict=True)]
    signs, _ = np.linalg.slogdet(model.pencil(np.concatenate(sides)))
    turns = np.unwrap(np.angle(np.append(signs, signs[0])))
    return (turns[-1] - turns[0]) / (2 * np.pi)


def test_without_delays_the_poles_are_the_eigenvalues():
    A = np.array([[0.0, 1.0], [-9.0, -0.6]])
    np.testing.assert_allclose(LinearModel(A).poles(), [-0.3 + 1j * np.sqrt(8.91), -0.3 - 1j * np.sqrt(8.91)])


@pytest.mark.parametrize("order", [4, 8, 14])
@pytest.mark.parametrize("gain", [0.3, 2.0, 9.0])
def test_poles_of_delayed_decay_are_lambert_ws(gain, order):
    branches = np.array([lambertw(-gain * TAU, k) / TAU for k in range(-8, 8)])
    poles = delayed_decay(gain).poles(order)
    assert poles.size >= 2
    for pole in poles:
        # Newton ends at rounding of the characteristic equation.
        assert np.abs(branches - pole).min() < 1e-12 * abs(pole)


def test_the_slowest_poles_are_all_found_and_none_twice():
    poles = delayed_decay().poles(14)
    branches = np.array([lambertw(-GAIN * TAU, k) / TAU for k in (0, -1, 1, -2, 2, -3)])
    near = np.abs(poles[:, None] - branches[None, :]) < 1e-9
    np.testing.assert_array_equal(near.sum(axis=0), 1)


@pytest.mark.parametrize("box", [(-4.0, 4.0, 12.0), (-3.0, 6.0, 20.0), (-1.0, 8.0, 9.0)])
def test_as_many_poles_are_found_in_a_box_as_the_argument_of_the_determinant_turns_around_it(box):
    left, right, height = box
    poles = two_loops().poles(12)
    inside = (poles.real > left) & (poles.real < right) & (np.abs(poles.imag) < height)
    assert inside.sum() >= 2
    assert inside.sum() == pytest.approx(count_roots(two_loops(), *box), abs=1e-6)


def test_shares_are_the_derivatives_of_the_pole_by_the_diagonal():
    """d s / d A_kk is the share of state k: the perturbation theory of simple eigenvalues."""
    step = 1e-6
    more, less = (two_loops(sign * step).poles(8) for sign in (1, -1))
    for root in find_poles(two_loops(), 8)[:6]:
        upper, lower = (poles[np.argmin(np.abs(poles - root.pole))] for poles in (more, less))
        # Central differences: step^2 and rounding / step.
        assert root.shares[1] == pytest.approx((upper - lower) / (2 * step), abs=1e-7)


def test_the_share_of_a_delay_is_the_derivative_by_its_time():
    """d s / d tau = -s (share of the delay) / tau, from s e^(s tau) under a change of tau."""
    step = 1e-6
    more, less = (two_loops(tau=(0.2, 0.5 + sign * step)).poles(8) for sign in (1, -1))
    for root in find_poles(two_loops(), 8)[:6]:
        upper, lower = (poles[np.argmin(np.abs(poles - root.pole))] for poles in (more, less))
        expected = (upper - lower) / (2 * step)
        assert -root.pole * root.shares[4] / 0.5 == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_shares_add_up_to_one():
    for root in find_poles(two_loops(), 8):
        assert root.shares.sum() == pytest.approx(1.0)


def test_equal_loops_have_equal_poles_each():
    twice = LinearModel(
        np.zeros((2, 2)), E=-GAIN * np.eye(2), F=np.eye(2), delays=(DelayedSignal("a", TAU), DelayedSignal("b", TAU))
    )
    poles = twice.poles(6)
    np.testing.assert_allclose(poles[::2], poles[1::2], rtol=1e-9)
    assert poles.size == 2 * delayed_decay().poles(6).size


def test_a_loop_of_delays_alone_has_its_poles():
    """d(t) = d(t - tau) / 2: s = (ln 1/2 + 2 pi j k) / tau."""
    model = LinearModel([[-5.0]], E=[[0.0]], F=[[0.0]], H=[[0.5]], delays=(DelayedSignal("late", TAU),))
    poles = model.poles(8)
    expected = (np.log(0.5) + 2j * np.pi * np.array([-1, 0, 1])) / TAU
    assert np.abs(poles[:, None] - np.append(expected, -5.0)).min(axis=0).max() < 1e-9


def test_integrators_beside_a_delay_stay_at_zero():
    model = LinearModel([[0.0, 1.0], [0.0, 0.0]], E=[[0.0], [0.0]], F=[[1.0, 0.0]], delays=(DelayedSignal("d", TAU),))
    poles = model.poles()
    # A double pole: half the digits.
    np.testing.assert_allclose(poles, [0.0, 0.0], atol=1e-7)


def test_scales_of_the_states_do_not_matter():
    scale = np.diag([1.0, 1e6, 1e-5])
    plain = two_loops()
    scaled = LinearModel(
        np.linalg.inv(scale) @ plain.A @ scale,
        E=np.linalg.inv(scale) @ plain.E,
        F=plain.F @ scale,
        H=plain.H,
        delays=plain.delays,
    )
    np.testing.assert_allclose(scaled.poles(8)[:6], plain.poles(8)[:6], rtol=1e-10)


def test_an_oscillation_that_turns_many_times_within_a_delay_is_found():
    """x'' + 2 z w x' + w^2 x = -0.1 w^2 x(t - 0.2 s) at 50 Hz: its growing pole solves the characteristic equation."""
    omega, damping, gain, tau = 2 * np.pi * 50, 0.01, 0.1, 0.2
    A = np.array([[0.0, 1.0], [-(omega**2), -2 * damping * omega]])
    E, F = np.array([[0.0], [-gain * omega**2]]), np.array([[1.0, 0.0]])
    model = LinearModel(A, E=E, F=F, delays=(DelayedSignal("late", tau),))
    poles = np.array([root.pole for root in find_poles(model)])
    growing = poles[(poles.real > 0) & (poles.imag > 0)]
    assert len(growing) >= 1
    for s in growing:
        equation = s**2 + 2 * damping * omega * s + omega**2 + gain * omega**2 * np.exp(-s * tau)
        assert abs(equation) < 1e-8 * omega**2


def test_poles_of_delays_need_an_approximation():
    with pytest.raises(ModelError, match="pade"):
        find_poles(delayed_decay(), 0)


def test_vectors_are_right_where_nothing_but_rounding_depends_on_a_state():
    """Positions follow from velocities, p = v / s, however LAPACK balances what rounding left in a column."""
    stiffness, damping, rounding = 4e4, 40.0, 1e-35
    A = np.zeros((4, 4))
    A[0, 1] = A[2, 3] = 1.0
    A[1, 0], A[1, 1] = -stiffness, -damping
    A[3, 1], A[3, 2], A[3, 3] = 3.0, -rounding, -500.0
    swinging = [root for root in find_poles(LinearModel(A)) if root.pole.imag > 0]
    assert len(swinging) == 1
    for root in swinging:
        p1, v1, p2, v2 = root.right
        assert p1 == pytest.approx(v1 / root.pole, rel=1e-9)
        assert p2 == pytest.approx(v2 / root.pole, rel=1e-9)
        assert v2 == pytest.approx(3.0 * v1 / (root.pole + 500.0), rel=1e-9)


@pytest.mark.parametrize("tolerance", [1e-7, 0.01, 0.03])
@pytest.mark.parametrize("order", [1, 3, 6])
def test_poles_that_grow_are_counted_as_if_all_were_found(order, tolerance):
    """Random machines with two delays; large tolerances make the count depend on the fastest pole."""
    rng = np.random.default_rng(order)
    counts = set()
    for _ in range(12):
        A, E, F, H = (rng.normal(size=size) for size in ((order, order), (order, 2), (2, order), (2, 2)))
        delays = (DelayedSignal("a", rng.uniform(0.05, 1)), DelayedSignal("b", rng.uniform(0.05, 1)))
        model = LinearModel(A, E=E, F=F, H=0.3 * H, delays=delays)
        poles = model.poles()
        np.testing.assert_allclose(poles, [root.pole for root in find_poles(model)], rtol=1e-9)
        expected = np.sum(poles.real > tolerance * np.abs(poles).max(initial=1.0))
        assert count_growing_poles(model, tolerance) == expected
        counts.add(int(expected))
    assert len(counts) > 1
