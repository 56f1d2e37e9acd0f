"""Does a motion along a path keep its limits, arrive where it should, and need no longer than it must?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.computation.native import compile_kernels
from robodyn.description.laws.references import trapezoid_reference
from robodyn.description.laws.speed_profile import plan_phases, s_curve_reference, time_at, travel

# length, speed, acceleration, jerk
CASES = {
    "all limits reached": (1.2, 0.2, 0.8, 10.0),
    "no even acceleration": (1.2, 0.2, 5.0, 10.0),
    "no cruise": (0.06, 0.4, 0.8, 10.0),
    "only jerk": (0.001, 0.4, 0.8, 10.0),
    "trapezoid": (1.2, 0.2, 0.8, np.inf),
    "triangle": (0.01, 0.2, 0.8, np.inf),
}


def motion(case, begin=0.3, n=20001):
    phases = plan_phases(*CASES[case], begin)
    time = np.linspace(begin - 0.1, float(phases[-1].begin) + 0.1, n)
    return time, phases, travel(time, phases)


@pytest.mark.parametrize("case", CASES)
def test_it_rests_at_both_ends_and_goes_the_whole_way(case):
    _, _, (s, v, a, j) = motion(case)
    assert s[0] == v[0] == a[0] == 0.0
    assert s[-1] == CASES[case][0]
    assert v[-1] == a[-1] == j[-1] == j[0] == 0.0
    # Monotonic but for rounding of the sums of 1e-16 each.
    assert np.all(np.diff(s) > -1e-15)


@pytest.mark.parametrize("case", CASES)
def test_no_limit_is_exceeded(case):
    _, speed, acceleration, jerk = CASES[case]
    time, _, (_, v, a, j) = motion(case)
    assert np.max(v) <= speed * (1 + 1e-12)
    assert np.max(np.abs(a)) <= acceleration * (1 + 1e-12)
    if np.isfinite(jerk):
        assert np.max(np.abs(j)) == jerk
        # The acceleration's change between two instants; 1e-9 of it for the rounding of their difference.
        assert np.max(np.abs(np.diff(a) / np.diff(time))) <= jerk * (1 + 1e-9)


@pytest.mark.parametrize("case", CASES)
def test_some_limit_is_always_met_so_that_it_is_as_fast_as_it_can(case):
    length, speed, acceleration, jerk = CASES[case]
    _, phases, _ = motion(case)
    lasting = [later.begin - phase.begin for phase, later in zip(phases[:-1], phases[1:], strict=True)]
    for phase, duration in zip(phases[:-1], lasting, strict=True):
        if duration > 1e-12 and phase.jerk == 0.0:
            held = phase.speed / speed if phase.acceleration == 0.0 else abs(phase.acceleration) / acceleration
            assert held == pytest.approx(1.0, rel=1e-12)
    if np.isfinite(jerk):
        assert {abs(phase.jerk) for phase in phases[:-1]} == {0.0, jerk}
    assert np.sum(lasting) >= length / speed


@pytest.mark.parametrize("case", CASES)
def test_speed_acceleration_and_jerk_are_the_derivatives_of_the_way(case):
    time, phases, (s, v, a, _) = motion(case)
    breaks = np.array([float(phase.begin) for phase in phases])
    h = time[1] - time[0]
    middle = 0.5 * (time[1:] + time[:-1])
    smooth = np.min(np.abs(middle[:, None] - breaks), axis=1) > h
    _, v_mid, a_mid, j_mid = travel(middle, phases)
    jerk = max(abs(phase.jerk) for phase in phases)
    # Difference quotients over h: s''' h^2 / 24 off, and rounding of 1e-16 over h.
    assert np.allclose((np.diff(s) / h)[smooth], v_mid[smooth], atol=jerk * h**2 / 12 + 1e-10)
    assert np.allclose((np.diff(v) / h)[smooth], a_mid[smooth], atol=1e-9)
    assert np.allclose((np.diff(a) / h)[smooth], j_mid[smooth], atol=1e-9 + 1e-9 * jerk)


@pytest.mark.parametrize("case", CASES)
def test_what_is_continuous_does_not_jump_between_phases(case):
    _, phases, _ = motion(case)
    begins = np.array([float(phase.begin) for phase in phases])
    left, right = travel(np.nextafter(begins, -np.inf), phases), travel(begins, phases)
    continuous = 3 if np.isfinite(CASES[case][3]) else 2
    for before, after in zip(left[:continuous], right[:continuous], strict=True):
        # One unit in the last place of time, and rounding of the phases' sums.
        assert np.allclose(before, after, atol=1e-13)


def test_without_a_jerk_limit_it_is_the_trapezoidal_reference():
    length, speed, acceleration, _ = CASES["trapezoid"]
    time, _, found = motion("trapezoid")
    wanted = trapezoid_reference(time, target=length, speed=speed, top_acceleration=acceleration, begin=0.3)
    for values, key in zip(found[:3], ("position", "velocity", "acceleration"), strict=True):
        assert np.allclose(values, wanted[key], atol=1e-15)


def test_a_high_jerk_comes_near_the_trapezoid():
    length, speed, acceleration, _ = CASES["trapezoid"]
    slow = plan_phases(length, speed, acceleration, np.inf, 0.0)
    for jerk in (1e3, 1e5):
        fast = plan_phases(length, speed, acceleration, jerk, 0.0)
        # A jerk phase is added to each of two ramps: together 2 a/j, half of which is gained back.
        assert fast[-1].begin - slow[-1].begin == pytest.approx(acceleration / jerk, rel=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_the_time_of_a_way_is_when_it_has_been_gone(case):
    _, phases, _ = motion(case)
    for share in (0.1, 0.5, 0.9):
        way = share * CASES[case][0]
        time = time_at(way, phases)
        assert travel(time, phases)[0] >= way
        assert travel(time, phases)[0] == pytest.approx(way, rel=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_native_code_does_the_same(case):
    length, speed, acceleration, jerk = CASES[case]
    t, p = ca.SX.sym("t"), ca.SX.sym("p", 4)
    limit = p[2] if np.isfinite(jerk) else jerk
    traced = ca.vertcat(*travel(t, plan_phases(length, p[0], p[1], limit, p[3])))
    kernel = compile_kernels({"travel": ca.Function("travel", [t, p], [traced])}).kernels["travel"]
    numbers = np.array([speed, acceleration, jerk if np.isfinite(jerk) else 0.0, 0.3])
    time, _, found = motion(case, n=301)
    native = np.array([kernel(instant, numbers) for instant in time])
    # Fused multiply-adds and the library's power round differently.
    assert np.allclose(native, np.array(found).T, atol=1e-13)


def test_s_curve_reference_never_exceeds_its_limits_and_ends_at_its_target():
    random = np.random.default_rng(3)
    for _ in range(50):
        start, target = random.uniform(-3, 3, 2)
        speed, acceleration, jerk = 10 ** random.uniform(-1, 2, 3)
        limits = {"speed": speed, "top_acceleration": acceleration, "top_jerk": jerk}
        numbers = {"target": target, "start": start, "begin": 0.2} | limits
        breaks = s_curve_reference.law_info.breaks(numbers)
        times = np.linspace(0.0, breaks[-1] + 0.1, 4001)
        move = s_curve_reference(times, **numbers)
        # Rounding of sums of eight phases; the jerk is a difference of accelerations over a step.
        assert np.max(np.abs(move["velocity"])) <= speed * (1 + 1e-12)
        assert np.max(np.abs(move["acceleration"])) <= acceleration * (1 + 1e-12)
        assert np.max(np.abs(np.diff(move["acceleration"]))) <= jerk * (times[1] - times[0]) * (1 + 1e-6)
        assert move["position"][-1] == pytest.approx(target, abs=1e-12)
        assert move["position"][0] == start


def test_a_move_to_where_it_starts_stands_still():
    move = s_curve_reference(np.linspace(0, 1, 5), target=0.4, start=0.4, speed=1.0, top_acceleration=1.0, top_jerk=1.0)
    assert np.all(move["position"] == 0.4)
    assert not np.any(move["velocity"])
