"""A pair of methods: which one steps, and does changing it leave everything else as it is?"""

import sys

import numpy as np
import pytest
from support.kernels import kernel, make_problem

from robodyn.computation.engine import EngineRecording, Integration, ResumableRun, Status, integrate, set_up
from robodyn.computation.engine.problem import Derivatives
from robodyn.description.model import Solver

EMPTY = np.zeros(0)
RATE, SPEED, MU = 50.0, 20.0, 1000.0


def van_der_pol(t, x, d, m, p, out):
    out[0] = x[1]
    out[1] = MU * (1 - x[0] ** 2) * x[1] - x[0]


def van_der_pol_jacobian(t, x, d, m, p, out):
    out[0], out[1], out[2], out[3] = 0.0, -2 * MU * x[0] * x[1] - 1, 1.0, MU * (1 - x[0] ** 2)


def zeros(t, x, d, m, p, out):
    out[0] = out[1] = 0.0


VAN_DER_POL = {"jacobian": kernel(van_der_pol_jacobian), "time_derivative": kernel(zeros)}


def make_follower(rate=RATE, speed=SPEED, given=True, **fields):
    """x follows sin(speed t), x_dot = -rate (x - sin)."""

    def rhs(t, x, d, m, p, out):
        out[0] = -rate * (x[0] - np.sin(speed * t[0]))

    def jacobian(t, x, d, m, p, out):
        out[0] = -rate

    def slope(t, x, d, m, p, out):
        out[0] = rate * speed * np.cos(speed * t[0])

    if given:
        fields |= {"jacobian": kernel(jacobian), "time_derivative": kernel(slope)}
    return make_problem(kernel(rhs), 1, **fields), kernel(jacobian), kernel(slope)


def run(problem, method="auto", duration=2.0, x0=(0.0,), **options):
    settings = {key: options.pop(key) for key in ("rtol", "atol") if key in options}
    recording = options.pop("recording", EngineRecording())
    return integrate(
        problem, Solver(method, **settings), 0.0, duration, np.array(x0), EMPTY, EMPTY, recording, **options
    )


def test_van_der_pol_ends_at_the_published_values():
    problem = make_problem(kernel(van_der_pol), 2, **VAN_DER_POL)
    done = run(problem, duration=2000.0, x0=(2.0, 0.0), rtol=1e-7, atol=1e-7)
    assert done.status is Status.FINISHED
    # Mazzia and Magherini, Test Set for IVP Solvers 2.4 (2008), problem vdpol: epsilon = 1e-6 in scaled time.
    np.testing.assert_allclose(done.x, [1.706167732170483, -8.928097010247975e-4], rtol=1e-5)
    assert done.counters.steps < 3_000
    # Slow on two branches, with a jump between them in which explicit steps pay.
    assert 2 <= done.stiffness.stiff_phases <= 20


def test_the_budget_of_steps_between_two_looks_does_not_matter():
    problem, *_ = make_follower(rate=1e4)
    whole, in_pieces = run(problem), run(problem, budget=1)
    assert whole.stiffness.stiff_phases > 0
    assert np.array_equal(whole.y, in_pieces.y)


def test_stability_is_seen_where_it_ends():
    problem, *_ = make_follower(rate=1e4, speed=1.0)
    found = run(problem, "dopri5").stiffness
    assert found.limited_steps > 1000
    assert 0.6 < found.step * 1e4 / 3.3 < 1.2
    assert found.stiff_phases == 0


def test_accuracy_is_not_taken_for_stability():
    problem, *_ = make_follower(rate=1.0, speed=20.0)
    done = run(problem)
    assert done.stiffness.limited_steps == 0
    assert np.isinf(done.stiffness.since)
    assert np.array_equal(done.y, run(problem, "dopri5").y)


def test_a_trial_that_fails_leaves_no_trace_in_the_motion():
    # A step so many times longer as the price of the Jacobian asks for is no part of a sine.
    problem, *_ = make_follower(rate=1e3, rhs_work=100, jacobian_work=100_000)
    done = run(problem, duration=5.0)
    assert done.stiffness.trials > 0
    assert done.stiffness.stiff_phases == 0
    assert np.array_equal(done.y, run(problem, "dopri5", duration=5.0).y)


def test_the_price_of_the_jacobian_counts():
    cheap, dear = (make_follower(rate=1e3, rhs_work=100, jacobian_work=work)[0] for work in (100, 100_000))
    assert run(cheap).stiffness.stiff_phases > 0
    assert run(dear).stiffness.stiff_phases == 0


def test_a_record_that_would_be_full_before_the_end_makes_any_longer_step_worth_it(monkeypatch):
    dear, *_ = make_follower(rate=1e3, rhs_work=100, jacobian_work=100_000)
    assert run(dear, duration=5.0).stiffness.stiff_phases == 0
    monkeypatch.setattr(sys.modules["robodyn.computation.engine.integrate"], "LARGEST_RECORD", 2**15)
    assert run(dear, "dopri5", duration=5.0).status is Status.RECORD_FULL
    assert run(dear, duration=5.0).status is Status.FINISHED


def test_derivatives_are_asked_for_once_and_only_where_they_are_needed():
    asked = []

    def make():
        asked.append(1)
        return Derivatives(jacobian, slope, 10, lambda p: p.copy())

    problem, jacobian, slope = make_follower(rate=1e4, given=False)
    problem = problem.replaced(rhs_work=10, derivatives=make)
    late, at_once = run(problem), run(problem.replaced(jacobian=jacobian, time_derivative=slope, jacobian_work=10))
    assert asked == [1]
    assert np.array_equal(late.y, at_once.y)
    mild, *_ = make_follower(rate=1.0, given=False)
    run(mild.replaced(derivatives=make))
    assert asked == [1]


@pytest.mark.parametrize("make", [None, lambda: None])
def test_without_derivatives_the_run_stays_explicit(make):
    problem, *_ = make_follower(rate=1e4, given=False)
    done, same = run(problem.replaced(derivatives=make)), run(problem, "dopri5")
    assert done.stiffness.stiff_phases == 0
    assert np.array_equal(done.y, same.y)


def test_a_run_put_back_into_its_stiff_part_goes_on_the_same():
    problem, *_ = make_follower(rate=1e4)
    setup = set_up(problem, Solver(), EngineRecording("none"))
    going = ResumableRun(Integration(setup, 0.0, 2.0, np.zeros(1), EMPTY, EMPTY))
    going.go_on(0.0)
    start = going.save()
    going.go_on(1.0)
    assert going.integration.run.is_stiff
    middle = going.save()
    ends = []
    for saved, until in ((None, (2.0,)), (middle, (2.0,)), (start, (1.0, 2.0))):
        if saved:
            going.restore(saved)
        for end in until:
            going.go_on(end)
        ends.append(going.x.copy())
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])
