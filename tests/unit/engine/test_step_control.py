"""Steps are those of the published rules: first step, error, next step, what is left before the end of a segment.

A second program of the same rules, in plain Python, takes the same steps. Its sources: Hairer, Norsett, Wanner,
Solving Ordinary Differential Equations I (1993), II.4, and Hairer, Wanner II (1996), IV.2.
"""

import numpy as np
import pytest
from support.kernels import kernel, make_problem

from robodyn.computation.engine import EngineRecording, Status, integrate
from robodyn.computation.engine.tableaus import METHODS
from robodyn.description.model import Solver

EMPTY = np.zeros(0)
RTOL, ATOL = 1e-4, 1e-5
SMALLEST_FACTOR, LARGEST_FACTOR, SAFETY = 0.2, 5.0, 0.9


class Problem:
    """A pendulum pushed by a short pulse, with a third state of another scale, or with the first two alone."""

    def __init__(self, n, pulse=3.0):
        self.x0 = np.array([1.0, 0.0, 200.0])[:n]
        self.scale = np.array([1.0, 3.0, 50.0])[:n]
        self.n, self.pulse = n, pulse

    def __call__(self, t, x):
        push = 40.0 * np.exp(-(((t - self.pulse) / 0.03) ** 2))
        rates = [x[1], push - np.sin(x[0]), -0.5 * x[-1] + x[0]]
        return np.array(rates[: self.n])

    def steps(self, method, end, breaks=(), **settings):
        """The engine's."""

        def rhs(t, x, d, m, p, out):
            for i, value in enumerate(self(t[0], [x[i] for i in range(self.n)])):
                out[i] = value

        problem = make_problem(kernel(rhs), self.n, scale=self.scale, breaks=np.array(breaks, float))
        solver = Solver(method, rtol=RTOL, atol=ATOL, **settings)
        return integrate(problem, solver, 0.0, end, self.x0, EMPTY, EMPTY, EngineRecording())


class SecondProgram:
    """Adaptive explicit steps in plain Python."""

    def __init__(self, problem, name, longest=np.inf):
        self.f, self.method, self.longest = problem, METHODS[name](), longest
        self.scale, self.x, self.t = problem.scale, problem.x0.copy(), 0.0
        self.k, self.error_before, self.was_rejected, self.rejected = self.method.error_order, 1.0, False, 0

    def size(self, values, *states):
        """Root mean square in units of the tolerances."""
        largest = np.max(np.abs(states), axis=0)
        return np.sqrt(np.mean((values / (ATOL * self.scale + RTOL * largest)) ** 2))

    def first_step(self, span):
        slope = self.f(self.t, self.x)
        size, speed = self.size(self.x, self.x), self.size(slope, self.x)
        h = 0.01 * size / speed if size > 1e-5 and speed > 1e-5 else 1e-6
        h = min(h, span, self.longest)
        bend = self.size(self.f(self.t + h, self.x + h * slope) - slope, self.x) / h
        return min(100 * h, (0.01 / max(speed, bend)) ** (1 / self.k), span)

    def try_step(self, h):
        a, b, c, e = self.method.a, self.method.b, self.method.c, self.method.e
        stages = np.zeros((self.method.stages, len(self.x)))
        for i in range(self.method.stages):
            stages[i] = self.f(self.t + c[i] * h, self.x + h * a[i, :i] @ stages[:i])
        end = self.x + h * b @ stages
        return end, self.size(h * e @ stages, self.x, end)

    def run(self, end, breaks=()):
        h, times = self.first_step(end), [0.0]
        for stop in (*breaks, end):
            while self.t < stop:
                h = self.step(h, stop)
                times.append(self.t)
        return np.array(times)

    def step(self, proposal, stop):
        """One step, tried until its error is allowed; gives the next proposal."""
        while True:
            # A sliver before the stop is avoided: one step is stretched by a twentieth, or two are alike.
            rest, h = stop - self.t, min(proposal, self.longest)
            t_new, cut = self.t + h, False
            if rest <= 1.05 * h and rest <= self.longest:
                h, t_new, cut = rest, stop, rest < proposal
            elif rest < 2 * h:
                h, t_new, cut = rest / 2, self.t + rest / 2, True
            end, error = self.try_step(h)
            if error <= 1:
                break
            self.rejected += 1
            self.was_rejected = True
            proposal = h * min(max(SMALLEST_FACTOR, SAFETY * error ** (-1 / self.k)), 0.9)
        # A step cut short makes the proposal longer, not shorter.
        factor = SAFETY * max(error, 1e-10) ** (-0.7 / self.k) * self.error_before ** (0.4 / self.k)
        factor = min(max(factor, SMALLEST_FACTOR), 1.0 if self.was_rejected else LARGEST_FACTOR)
        following = max(h * factor, proposal) if cut and factor >= 1 else h * factor
        self.t, self.x, self.was_rejected, self.error_before = t_new, end, False, max(error, 1e-4)
        return following


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("breaks", [(), (1.0, 1.01, 3.21)], ids=["whole", "segments"])
@pytest.mark.parametrize("longest", [np.inf, 0.07])
@pytest.mark.parametrize("method", ["dopri5", "heun_euler"])
def test_steps_are_those_of_the_published_rules(method, longest, breaks, n):
    problem, end = Problem(n), 6.0
    settings = {} if longest == np.inf else {"max_step": longest}
    done = problem.steps(method, end, breaks, **settings)
    second = SecondProgram(problem, method, longest)
    times = second.run(end, breaks)
    assert done.status is Status.FINISHED
    assert done.counters.rejected == second.rejected
    # The pulse is met by steps that are too long for it, unless none is.
    assert second.rejected > 0 or longest < 0.1
    # The same formulas in another order of operations; each step depends on the last.
    np.testing.assert_allclose(done.time, times, rtol=1e-8)
    np.testing.assert_allclose(done.x, second.x, rtol=1e-8)


def test_a_state_at_rest_begins_with_a_step_that_is_small_and_grows_by_five():
    problem = Problem(2)
    problem.x0 = np.zeros(2)
    times = problem.steps("dopri5", 2.0).time
    # 1e-6 s for want of a size, and a hundred times that at most.
    assert times[1] == pytest.approx(1e-6, rel=1e-9)
    np.testing.assert_allclose(np.diff(times)[1:6] / np.diff(times)[:5], LARGEST_FACTOR, rtol=1e-6)


def test_no_step_is_shorter_than_the_shortest_and_the_worst_state_is_named():
    """The second state jumps up and down faster than the shortest step can follow."""

    def rhs(t, x, d, m, p, out):
        out[0], out[1], out[2] = 1.0, 1e6 * np.sign(np.sin(1e7 * t[0])), 0.0

    problem = make_problem(kernel(rhs), 3)
    solver = Solver("dopri5", rtol=RTOL, atol=ATOL, min_step=1e-3)
    done = integrate(problem, solver, 0.0, 1.0, np.ones(3), EMPTY, EMPTY, EngineRecording())
    assert done.status is Status.STEP_TOO_SMALL
    assert done.offender == 1


@pytest.mark.parametrize(("bad", "status"), [(np.nan, Status.NOT_A_NUMBER), (1e160, Status.OVERFLOWN)])
@pytest.mark.parametrize("n", [1, 4, 5, 9])
def test_states_that_leave_the_numbers_are_named_wherever_they_stand(n, bad, status):
    for place in range(n):

        def rhs(t, x, d, m, p, out, place=place):
            for i in range(n):
                out[i] = bad if i == place and t[0] > 0.5 else 1.0

        done = integrate(
            make_problem(kernel(rhs), n),
            Solver("rk4", step=0.1),
            0.0,
            1.0,
            np.zeros(n),
            EMPTY,
            EMPTY,
            EngineRecording(),
        )
        assert done.status is status
        assert done.offender == place
        assert 0.4 < done.time[-1] < 0.55
