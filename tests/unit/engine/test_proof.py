"""Boxes in which a step is looked at hold its motion, and not much else; what crosses in them is all found."""

import numpy as np
import pytest
from support.kernels import kernel, make_problem

from robodyn.computation.engine import EngineRecording, integrate
from robodyn.description.model import Solver

EMPTY = np.zeros(0)
QUARTIC = np.polynomial.Polynomial([0.3, -2.0, 3.7, -2.1, 0.37])
CUBIC = np.polynomial.Polynomial([-1.0, 0.4, -0.6, 0.15])
END = 3.0


class Watched:
    """Two states with polynomials of time as their courses, and events at levels of the first one.

    dopri5 follows them exactly, so that its steps grow over all of them. Boxes are noted as the engine asks for bounds
    in them: middle and radius of time, states and memory, then of their rates by the place in the step.
    """

    ENTRIES = 4

    def __init__(self, levels, method="dopri5", acts=False):
        self.levels, self.boxes = levels, []
        n = len(levels)
        kernels = {
            "guards": self.guards,
            "guard_rates": self.rates,
            "enclosures": self.enclosures,
            "drifts": self.drifts,
        }
        problem = make_problem(
            kernel(self.rhs),
            2,
            n_m=1,
            n_guards=n,
            guard_action=np.array([kernel(self.stay) if acts else 0] * n),
            condition_kind=np.zeros(n, np.int64),
            entries=np.arange(self.ENTRIES),
            bounds_work=10,
            **{name: kernel(function) for name, function in kernels.items()},
        )
        start, solver = np.array([QUARTIC(0.0), CUBIC(0.0)]), Solver(method, rtol=1e-8, atol=1e-8)
        self.done = integrate(problem, solver, 0.0, END, start, np.array([7.0]), EMPTY, EngineRecording())

    def rhs(self, t, x, d, m, p, out):
        out[0], out[1] = QUARTIC.deriv()(t[0]), CUBIC.deriv()(t[0])

    def guards(self, t, x, d, m, p, out):
        for k, level in enumerate(self.levels):
            out[k] = x[0] - level

    def rates(self, t, x, d, m, p, out):
        for k in range(len(self.levels)):
            out[k] = QUARTIC.deriv()(t[0])

    def stay(self, t, x, d, m, p, out):
        out[0], out[1], out[2] = x[0], x[1], m[0] + 1

    def enclosures(self, t, box, d, m, p, out):
        self.boxes.append(np.array([box[i] for i in range(4 * self.ENTRIES)]).reshape(4, self.ENTRIES))
        for k, level in enumerate(self.levels):
            out[k], out[len(self.levels) + k] = box[1] - level, box[self.ENTRIES + 1]

    def drifts(self, t, box, d, m, p, out):
        for k in range(len(self.levels)):
            out[k], out[len(self.levels) + k] = box[2 * self.ENTRIES + 1], box[3 * self.ENTRIES + 1]


def crossings(levels):
    """All times at which the quartic passes any of the levels."""
    roots = [((QUARTIC - level).roots(), k) for k, level in enumerate(levels)]
    return sorted(
        (root.real, k) for found, k in roots for root in found if abs(root.imag) < 1e-9 and 0 < root.real < END
    )


LEVELS = {"far": [5.0, -3.0], "narrow": [0.1875, 0.188], "many": [0.0, 0.05, 0.1, 0.18, -0.02], "turn": [-0.0203]}


@pytest.mark.parametrize("acts", [False, True])
@pytest.mark.parametrize("name", LEVELS)
def test_every_crossing_of_a_polynomial_is_met_once(name, acts):
    watched = Watched(LEVELS[name], acts=acts)
    expected = crossings(LEVELS[name])
    assert [k for _, k in watched.done.events] == [k for _, k in expected]
    # Steps are exact but for rounding; a root of a slope of 0.01 is known to some 1e-13 s, one at a turn less well.
    np.testing.assert_allclose([t for t, _ in watched.done.events], [t for t, _ in expected], atol=1e-7)
    if acts:
        assert watched.done.m[0] == 7.0 + len(expected)
    else:
        assert watched.done.counters.steps < 40


def bounds_of(course, middle, radius):
    """Middle and radius of a polynomial and of its rate, by the Taylor series: its even powers have one sign."""
    value, first, second, third, fourth = (course.deriv(k)(middle) / (1, 1, 2, 6, 24)[k] for k in range(5))
    even, last = second * radius**2, fourth * radius**4
    width = abs(first) * radius + abs(third) * radius**3 + (abs(even) + abs(last)) / 2
    rate_width = 2 * abs(second) * radius + 3 * abs(third) * radius**2 + 4 * abs(fourth) * radius**3
    return value + (even + last) / 2, width, first, rate_width


@pytest.mark.parametrize("name", LEVELS)
def test_boxes_hold_the_motion_and_are_no_larger_than_its_taylor_series(name):
    boxes = Watched(LEVELS[name]).boxes
    of_parts = 0
    for middle, radius, rate, rate_radius in boxes:
        assert middle[3] == 7.0
        assert radius[3] == rate[3] == rate_radius[3] == 0.0
        # A box ahead of the motion is longer than the step, and serves as long as the motion stays in it. The rate of
        # time is the length of the step.
        h = rate[0]
        if radius[0] > 0.5001 * h:
            continue
        of_parts += 1
        t = np.linspace(middle[0] - radius[0], middle[0] + radius[0], 101)
        for place, course in ((1, QUARTIC), (2, CUBIC)):
            assert middle[place] - radius[place] <= course(t).min() + 1e-12
            assert middle[place] + radius[place] >= course(t).max() - 1e-12
            expected = np.array(bounds_of(course, middle[0], radius[0])) * [1, 1, h, h]
            found = [middle[place], radius[place], rate[place], rate_radius[place]]
            # Rounding; the radius is wider by the estimated error of the step, of the size of the tolerance at most.
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=3e-8)
    assert of_parts > 1


def test_boxes_are_wider_than_the_motion_by_its_rounding():
    """x = 1e9 + t is known to 1e-7: 64 units in the last place of 2.2e-16 are 1.4e-5."""
    boxes = []

    def one(t, x, d, m, p, out):
        out[0] = 1.0

    def guard(t, x, d, m, p, out):
        out[0] = x[0] - 1e9 - 1.5

    def enclosures(t, box, d, m, p, out):
        boxes.append([box[i] for i in range(6)])
        out[0], out[1] = box[1] - 1e9 - 1.5, box[3]

    def drifts(t, box, d, m, p, out):
        out[0], out[1] = box[4 + 1], 0.0

    problem = make_problem(
        kernel(one),
        1,
        n_guards=1,
        guards=kernel(guard),
        guard_rates=kernel(one),
        enclosures=kernel(enclosures),
        drifts=kernel(drifts),
        condition_kind=np.zeros(1, np.int64),
        entries=np.arange(2),
        bounds_work=10,
    )
    done = integrate(problem, Solver("dopri5"), 0.0, END, np.array([1e9]), EMPTY, EMPTY, EngineRecording())
    assert [t for t, _ in done.events] == pytest.approx([1.5], abs=2e-7)
    wider = [radius_x - radius_t for _, _, radius_t, radius_x, h, _ in boxes if radius_t <= 0.5001 * h]
    assert wider
    assert 1.4e-5 <= min(wider) <= max(wider) < 2e-5


@pytest.mark.parametrize("level", [0.1, 0.1878, -0.0203])
def test_boxes_hold_memory_and_signals_that_come_late_from_several_steps(level):
    """The quartic, 0.4 s late, behind another signal; -3 before it arrives: bounds over all steps that a part sees."""
    delay, n, boxes = 0.4, 6, []

    def rhs(t, x, d, m, p, out):
        out[0] = 0.0

    def course(t, x, d, m, p, out):
        out[0], out[1] = 1.0, QUARTIC(t[0])

    def guard(t, x, d, m, p, out):
        out[0] = d[1] - level

    def guard_rate(t, x, d, m, p, out):
        out[0] = d[3]

    def enclosures(t, box, d, m, p, out):
        boxes.append(np.array([box[i] for i in range(4 * n)]).reshape(4, n))
        out[0], out[1] = box[3] - level, box[n + 3]

    def drifts(t, box, d, m, p, out):
        out[0], out[1] = box[2 * n + 3], box[3 * n + 3]

    problem = make_problem(
        kernel(rhs),
        1,
        n_d=2,
        n_m=2,
        n_guards=1,
        delayed=kernel(course),
        delay_times=np.array([delay, delay]),
        history_start=np.array([1.0, -3.0]),
        guards=kernel(guard),
        guard_rates=kernel(guard_rate),
        enclosures=kernel(enclosures),
        drifts=kernel(drifts),
        condition_kind=np.zeros(1, np.int64),
        entries=np.array([0, 2, 3, 4, 5]),
        bounds_work=10,
    )
    memory = np.array([7.0, -8.0])
    done = integrate(problem, Solver("dopri5", rtol=1e-8), 0.0, END, np.ones(1), memory, EMPTY, EngineRecording())
    expected = [delay] + [t + delay for t, _ in crossings([level]) if t + delay < END]
    np.testing.assert_allclose([t for t, _ in done.events], expected, atol=1e-9)
    compared = 0
    for middle, radius, rate, rate_radius in boxes:
        np.testing.assert_array_equal([middle[4:], radius[4:], rate[4:], rate_radius[4:]], [memory, *np.zeros((3, 2))])
        t = np.linspace(middle[0] - radius[0], middle[0] + radius[0], 101)
        if radius[0] > 0.5001 * rate[0] or t[0] <= delay:
            continue
        compared += 1
        values, slopes = QUARTIC(t - delay), rate[0] * QUARTIC.deriv()(t - delay)
        assert middle[3] - radius[3] <= values.min() + 1e-12
        assert middle[3] + radius[3] >= values.max() - 1e-12
        assert rate[3] - rate_radius[3] <= slopes.min() + 1e-9
        assert rate[3] + rate_radius[3] >= slopes.max() - 1e-9
        # At most a tenth more than the Taylor series of the whole part, which steps of the past cut in shorter ones.
        _, width, _, rate_width = bounds_of(QUARTIC, middle[0] - delay, radius[0])
        assert radius[3] <= width * 1.1 + 1e-9
        assert rate_radius[3] <= rate_width * rate[0] * 1.1 + 1e-9
    assert compared > 5


@pytest.mark.parametrize("blind", [0, 1, 2])
def test_what_could_not_be_decided_is_named(blind):
    """Of three guards far from zero one has no bounds: the first such step says which one, and when."""

    def rest(t, x, d, m, p, out):
        out[0] = 0.0

    def guards(t, x, d, m, p, out):
        out[0] = out[1] = out[2] = 1.0

    def no_bounds(t, box, d, m, p, out):
        for k in range(3):
            out[k], out[3 + k] = 1.0, 5.0 if k == blind else 0.1

    def no_rates(t, box, d, m, p, out):
        for k in range(3):
            out[k], out[3 + k] = 0.0, 50.0 if k == blind else 0.0

    kernels = {"guards": guards, "guard_rates": rest_of(3), "enclosures": no_bounds, "drifts": no_rates}
    problem = make_problem(
        kernel(rest),
        1,
        n_guards=3,
        condition_kind=np.zeros(3, np.int64),
        entries=np.arange(2),
        bounds_work=10,
        **{name: kernel(function) for name, function in kernels.items()},
    )
    done = integrate(problem, Solver("dopri5"), 0.0, END, np.ones(1), EMPTY, EMPTY, EngineRecording())
    # While it rests as well: no step is proven.
    assert done.proof.undecided == done.counters.steps
    assert done.proof.proven == 0
    assert done.proof.first_undecided == blind
    assert done.proof.undecided_at == 0.0
    assert done.proof.passed_over == 0
    assert done.events == []


def rest_of(n):
    def zeros(t, x, d, m, p, out):
        for k in range(n):
            out[k] = 0.0

    return zeros


JUMP, KINK, STAIR, TABLE, UNBOUNDED = range(5)


class Switched:
    """x' is 1 or -1, and a condition decides y': its sign, its size, its whole part, or a curve with corners there.

    Bounds of its value are exact but for `slack`: what the box leaves open then, bounds of rates have to decide. In
    company the condition stands behind a guard and both limits of a third state, all of them far away.
    """

    def __init__(
        self, kind, value, rate, slack=0.0, turn=-1.0, method="dopri5", step=None, company=False, speed=1.0, work=10
    ):
        self.kind, self.value, self.rate, self.slack, self.turn, self.speed = kind, value, rate, slack, turn, speed
        self.before, self.n_x = [5.0, -10.0, 10.0] if company else [], 3 if company else 2
        others = {
            "n_guards": 1, "guards": kernel(self.guard), "guard_rates": kernel(rest_of(1)),
            "n_limited": 1, "limits": kernel(self.limits), "limited": np.array([2]),
        }  # fmt: skip
        kernels = {
            "conditions": self.conditions,
            "enclosures": self.enclosures,
            "drifts": self.drifts,
        }
        problem = make_problem(
            kernel(self.rhs),
            self.n_x,
            n_conditions=1,
            condition_kind=np.array([0] * len(self.before) + [kind]),
            entries=np.ones(1, np.int64),
            bounds_work=work,
            **{name: kernel(function) for name, function in kernels.items()},
            **(others if company else {}),
        )
        solver = Solver(method, step=step) if step else Solver(method, rtol=1e-8, atol=1e-8)
        self.done = integrate(problem, solver, 0.0, END, np.zeros(self.n_x), EMPTY, EMPTY, EngineRecording())
        self.end = self.done.x[1]

    def rhs(self, t, x, d, m, p, out):
        value = self.value(x[0])
        out[0] = self.speed
        corner = 2.0 * round(value / 2.0)
        out[1] = {JUMP: np.sign(value), KINK: abs(value), STAIR: np.floor(value), TABLE: abs(value - corner)}[self.kind]
        for i in range(2, self.n_x):
            out[i] = 0.0

    def guard(self, t, x, d, m, p, out):
        out[0] = self.before[0]

    def limits(self, t, x, d, m, p, out):
        out[0], out[1] = -10.0, 10.0

    def bound(self, out, others, middle, radius):
        """Write what is known of the others, and of the condition behind them."""
        for k, value in enumerate([*others, middle, *(0.0 for _ in others), radius]):
            out[k] = value

    def conditions(self, t, x, d, m, p, out):
        value = self.value(x[0])
        out[0] = np.floor(value) if self.kind == TABLE else value

    def enclosures(self, t, box, d, m, p, out):
        # Of time and states: it is monotone between the ends of the box and its turn.
        width = 1 + self.n_x
        low, high = box[1] - box[width + 1], box[1] + box[width + 1]
        values = [self.value(x) for x in (low, min(max(self.turn, low), high), high)]
        low, high = min(values), max(values)
        if self.kind == TABLE:
            low, high = np.floor(low), np.floor(high)
        self.bound(out, self.before, 0.5 * (low + high), 0.5 * (high - low) + self.slack)

    def drifts(self, t, box, d, m, p, out):
        width = 1 + self.n_x
        middle, radius = box[1], box[width + 1]
        rates = [self.rate(middle + sign * radius) * box[2 * width + 1] for sign in (-1.0, 1.0)]
        self.bound(out, [0.0 for _ in self.before], 0.5 * sum(rates), 0.5 * abs(rates[1] - rates[0]))


@pytest.mark.parametrize("speed", [1.0, -1.0])
@pytest.mark.parametrize("slack", [0.0, 0.3])
@pytest.mark.parametrize("kind", [JUMP, KINK, STAIR, TABLE])
def test_steps_meet_every_change_of_what_rises(kind, slack, speed):
    """The value 2 t - 2.2: its sign changes at 1.1, its whole part at each 0.1 + k / 2; y is known in closed form."""
    switched = Switched(kind, lambda x: 2.0 * speed * x - 2.2, lambda x: 2.0 * speed, slack, speed=speed)
    expected = {
        JUMP: END - 2.2,
        KINK: 1.1**2 + (END - 1.1) ** 2,
        STAIR: -0.1 * 3 + 0.5 * (-2 - 1 + 0 + 1 + 2) + 0.4 * 3,
        TABLE: 0.5 * (0.02 + 5 * 0.5 + 0.48),
    }[kind]
    # Between two changes y is a polynomial: steps that end there are exact.
    assert switched.end == pytest.approx(expected, abs=1e-9)
    assert switched.done.proof.passed_over == 0
    assert switched.done.proof.undecided == 0
    assert switched.done.proof.proven == switched.done.counters.steps
    # A jump takes two steps, one up to it and a very short one across.
    assert switched.done.counters.steps < 60


def test_stairs_are_met_from_the_ends_of_a_step_where_a_proof_would_cost_too_much():
    """y' = floor(300 t - 306), whose 900 jumps the error estimate of dopri5 sees too small."""
    stairs = Switched(STAIR, lambda x: 300.0 * (x - 1.02), lambda x: 300.0, work=1e9)
    assert stairs.end == pytest.approx(sum(range(900)) / 300 - 306 * END, rel=2e-8)
    assert stairs.done.proof.undecided > 0.9 * stairs.done.counters.steps
    # Each try takes six evaluations, and one more where a kept slope is lost.
    counters = stairs.done.counters
    assert counters.evaluations <= 7 * (counters.steps + counters.rejected)


@pytest.mark.parametrize("size", [1e-6, 1e-4, 1.0])
def test_a_kink_makes_no_error_that_counts_wherever_it_lies(size):
    """y' = size |x - at|: a step sees its error 10 to 60 times too small, and at some places not at all."""
    for at in np.geomspace(0.02, 2.9, 40):
        bent = Switched(KINK, lambda x, at=at: size * (x - at), lambda x: size)
        # A fifth of the tolerance.
        assert bent.end == pytest.approx(size * (at**2 + (END - at) ** 2) / 2, abs=2e-9)


@pytest.mark.parametrize("kind", [JUMP, STAIR])
def test_a_turn_just_before_a_change_is_no_change(kind):
    """(x - 1.5)^2 / 4 comes near to a level, from above, and goes back: no step ends there."""
    level = 0.0 if kind == JUMP else 2.0
    near = Switched(kind, lambda x: level + 0.001 + 0.25 * (x - 1.5) ** 2, lambda x: 0.5 * (x - 1.5), turn=1.5)
    assert near.end == pytest.approx({JUMP: 1.0, STAIR: level}[kind] * END, abs=1e-9)
    assert near.done.proof.proven == near.done.counters.steps < 20
    assert near.done.proof.undecided == 0


@pytest.mark.parametrize(("turn", "company"), [(1.5, False), (1.13, True)])
@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize(("kind", "slack"), [(JUMP, 0.0), (STAIR, 0.0), (STAIR, 0.3)])
def test_what_changes_and_changes_back_within_a_step_is_met_twice(kind, way, slack, turn, company):
    """0.02 - (x - turn)^2 / 4, or the opposite, above a level: within 0.2 sqrt(2) of the turn on its other side."""
    level = 2.0 if kind == STAIR else 0.0
    back = Switched(
        kind,
        lambda x: level + way * (0.02 - 0.25 * (x - turn) ** 2),
        lambda x: way * 0.5 * (turn - x),
        slack,
        turn=turn,
        company=company,
    )
    inside = 2.0 * 0.2 * 2.0**0.5
    above = inside if way > 0 else END - inside
    expected = 2.0 * above - END if kind == JUMP else above * level + (END - above) * (level - 1.0)
    assert back.end == pytest.approx(expected, abs=1e-7)
    assert back.done.proof.proven == back.done.counters.steps
    assert back.done.proof.passed_over == back.done.proof.undecided == 0


@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_a_box_ahead_of_the_motion_does_not_hide_a_narrow_zone_beyond_it(speed):
    """1 mm wide, wherever it lies in the step that leaves the box: y' is -1 outside of it and 1 within."""
    for at in speed * np.geomspace(0.02, 2.9, 60):
        zone = Switched(
            JUMP, lambda x, at=at: 0.25e-6 - (x - at) ** 2, lambda x, at=at: 2.0 * (at - x), turn=at, speed=speed
        )
        assert zone.end == pytest.approx(2e-3 - END, abs=1e-9)
        assert zone.done.proof.proven == zone.done.counters.steps


@pytest.mark.parametrize("kind", [JUMP, KINK, STAIR])
def test_fixed_steps_say_what_they_pass_over(kind):
    """9 (x - 1.2)^2 - 0.04 is below 0 for a while, but not at 1 and 1.5, where the step around it begins and ends."""
    passing = Switched(
        kind, lambda x: 9.0 * (x - 1.2) ** 2 - 0.04, lambda x: 18.0 * (x - 1.2), turn=1.2, method="rk4", step=0.5
    )
    assert passing.done.counters.steps == 6
    assert passing.done.proof.passed_over == 1
    assert passing.done.proof.first_passed == 0
    assert passing.done.proof.passed_at == pytest.approx(1.2 - 0.2 / 3, abs=1e-9)


def test_fixed_steps_that_end_behind_a_change_pass_nothing_over():
    ending = Switched(JUMP, lambda x: x - 1.2, lambda x: 1.0, method="rk4", step=0.5)
    assert ending.done.counters.steps == ending.done.proof.proven == 6
    assert ending.done.proof.passed_over == ending.done.proof.undecided == 0


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_touch_that_bounds_cannot_tell_from_a_passage_is_named_with_its_time(place):
    """Of three guards one comes to zero at 1.5 and goes back, (x - 1.5)^2; the others are 1."""

    def move(t, x, d, m, p, out):
        out[0] = 1.0

    def guards(t, x, d, m, p, out):
        for k in range(3):
            out[k] = (x[0] - 1.5) ** 2 if k == place else 1.0

    def enclosures(t, box, d, m, p, out):
        far = [abs(box[1] + sign * box[3] - 1.5) for sign in (-1.0, 1.0)]
        low, high = 0.0 if abs(box[1] - 1.5) <= box[3] else min(far) ** 2, max(far) ** 2
        for k in range(3):
            out[k], out[3 + k] = (0.5 * (low + high), 0.5 * (high - low)) if k == place else (1.0, 0.0)

    def drifts(t, box, d, m, p, out):
        for k in range(3):
            out[k], out[3 + k] = (2.0 * (box[1] - 1.5) * box[5], 2.0 * box[3] * box[5]) if k == place else (0.0, 0.0)

    kernels = {"guards": guards, "guard_rates": rest_of(3), "enclosures": enclosures, "drifts": drifts}
    problem = make_problem(
        kernel(move),
        1,
        n_guards=3,
        condition_kind=np.zeros(3, np.int64),
        entries=np.arange(2),
        bounds_work=10,
        **{name: kernel(function) for name, function in kernels.items()},
    )
    done = integrate(problem, Solver("dopri5"), 0.0, END, np.zeros(1), EMPTY, EMPTY, EngineRecording())
    assert done.events == []
    # Of that step, and where the rest of it is made as one of its own.
    assert 1 <= done.proof.undecided <= 2
    assert done.proof.proven == done.counters.steps - done.proof.undecided
    assert done.proof.first_undecided == place
    assert done.proof.undecided_at == pytest.approx(1.5, abs=1e-6)


@pytest.mark.parametrize("end", [2.5, 1.50005, 1.5001])
def test_what_is_undecided_takes_no_proof_from_guards(end):
    """g = 1 - 2^(1 - z^2), z = (x - 1.5) / 1e-4, passes zero at -1 and 1 unseen by samples, beside what nothing bounds.

    That is a condition, and a guard that fires after the narrow place, within it, or as it is left.
    """
    narrow, steepest = 1e-4, 2.0 * np.sqrt(2.0 * np.log(2.0) / np.e) / 1e-4

    def value(z):
        return 1.0 - 2.0 ** (1.0 - z * z)

    def slope(z):
        return 4.0 * np.log(2.0) * z * 2.0 ** (-z * z) / narrow

    def move(t, x, d, m, p, out):
        out[0] = 1.0

    def guards(t, x, d, m, p, out):
        out[0], out[1] = value((x[0] - 1.5) / narrow), end - x[0]

    def rates(t, x, d, m, p, out):
        out[0], out[1] = slope((x[0] - 1.5) / narrow), -1.0

    def stay(t, x, d, m, p, out):
        out[0] = x[0]

    def condition(t, x, d, m, p, out):
        out[0] = 1.0

    def enclosures(t, box, d, m, p, out):
        far = (abs(box[1] - 1.5) + box[3]) / narrow
        low, high = value(max(far - 2.0 * box[3] / narrow, 0.0)), value(far)
        out[0], out[1], out[2] = 0.5 * (low + high), 1.0, 1.0
        out[3], out[4], out[5] = 0.5 * (high - low), 5.0, 5.0

    def drifts(t, box, d, m, p, out):
        ends = [slope((box[1] + sign * box[3] - 1.5) / narrow) for sign in (-1.0, 1.0)]
        # It has one hump on each side: in between it is least at one of the ends.
        low, high = (min(map(abs, ends)), steepest) if ends[0] * ends[1] > 0 else (-steepest, steepest)
        out[0], out[1], out[2] = np.sign(ends[1]) * 0.5 * (low + high) * box[5], 0.0, 0.0
        out[3], out[4], out[5] = 0.5 * (high - low) * box[5], 50.0, 50.0

    kernels = {"guards": guards, "guard_rates": rates, "conditions": condition, "drifts": drifts}
    problem = make_problem(
        kernel(move),
        1,
        enclosures=kernel(enclosures),
        n_guards=2,
        guard_action=np.array([0, kernel(stay)]),
        n_conditions=1,
        condition_kind=np.zeros(3, np.int64),
        entries=np.arange(2),
        bounds_work=10,
        **{name: kernel(function) for name, function in kernels.items()},
    )
    done = integrate(problem, Solver("dopri5"), 0.0, END, np.zeros(1), EMPTY, EMPTY, EngineRecording())
    assert [t for t, _ in done.events] == pytest.approx(sorted([1.4999, end, 1.5001]), abs=1e-9)
    assert sorted(guard for _, guard in done.events) == [0, 0, 1]
    assert done.proof.undecided == done.counters.steps
    assert done.proof.first_undecided == 1


def test_a_guard_that_nothing_bounds_fires_beside_one_that_is_proven():
    """Its bounds are those of a constant, as native code has them for expressions that are too long."""

    def move(t, x, d, m, p, out):
        out[0] = 1.0

    def guards(t, x, d, m, p, out):
        out[0], out[1] = 1.5 - x[0], x[0] + 5.0

    def slopes(t, x, d, m, p, out):
        out[0], out[1] = -1.0, 1.0

    def enclosures(t, box, d, m, p, out):
        out[0], out[1], out[2], out[3] = 1.0, box[1] + 5.0, 0.0, box[3]

    kernels = {"guards": guards, "guard_rates": slopes, "enclosures": enclosures, "drifts": rest_of(4)}
    problem = make_problem(
        kernel(move),
        1,
        n_guards=2,
        condition_kind=np.array([UNBOUNDED, 0]),
        entries=np.arange(2),
        bounds_work=10,
        **{name: kernel(function) for name, function in kernels.items()},
    )
    done = integrate(problem, Solver("dopri5"), 0.0, END, np.zeros(1), EMPTY, EMPTY, EngineRecording())
    assert [t for t, _ in done.events] == pytest.approx([1.5], abs=1e-9)
