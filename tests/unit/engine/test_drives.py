"""What depends on time alone is not stepped over, though no state speaks of it, and costs no step more than it must."""

import math

import numpy as np
import pytest
from support.kernels import kernel, make_problem

from robodyn.computation.engine import EngineRecording, integrate
from robodyn.description.model import Solver

EMPTY = np.zeros(0)
END = 10.0
PARABOLA, COARSEST, FINEST = 0.01, END / 512, END / 512 / 2**10
"""Part of its range by which a drive may miss a parabola; cells that are sampled, and the smallest that are halved."""


def rest(t, x, d, m, p, out):
    out[0] = 0.0


REST = kernel(rest)


def run(*drives, method="dopri5", breaks=(), **settings):
    """A state at rest beside drives that it knows nothing of."""

    def all_drives(t, x, d, m, p, out):
        for k, drive in enumerate(drives):
            out[k] = drive(t[0])

    problem = make_problem(
        REST, 1, drives=kernel(all_drives), n_drives=len(drives), breaks=np.array(breaks, float)
    )  # fmt: skip
    return integrate(problem, Solver(method, **settings), 0.0, END, np.ones(1), EMPTY, EMPTY, EngineRecording())


def pulse(middle, width):
    return lambda t: math.exp(-(((t - middle) / width) ** 2))


def sine(frequency):
    return lambda t: math.sin(2 * math.pi * frequency * t)


def is_parabola(drive, left, width, size):
    f = [drive(left + width * part) for part in (0.0, 0.25, 0.5, 0.75, 1.0)]
    # Through the ends and the middle, compared at the quarters.
    misses = (3 * f[0] + 6 * f[2] - f[4]) / 8 - f[1], (3 * f[4] + 6 * f[2] - f[0]) / 8 - f[3]
    return max(map(abs, misses)) <= PARABOLA * size


def find_cells(drive, size, left=0.0, width=END):
    """Begin and width of the largest cells, by halves of the whole time, in which a drive is a parabola."""

    def is_smooth(left, width):
        if not is_parabola(drive, left, width, size):
            return False
        return width <= COARSEST or is_smooth(left, width / 2) and is_smooth(left + width / 2, width / 2)

    if width <= FINEST or is_smooth(left, width):
        return [(left, width)]
    half = width / 2
    return find_cells(drive, size, left, half) + find_cells(drive, size, left + half, half)


def longest_step(cells, t):
    """From a time: as long as its cell, and no further into the next ones than a step from there may be."""
    longest, end = math.inf, END
    for left, width in reversed(cells):
        longest = min(width, end - max(left, t) + longest)
        if left <= t:
            return longest
        end = left
    raise AssertionError


DRIVES = {
    "pulse": (pulse(3.7, 0.05), 1.0),
    "narrow pulse": (pulse(3.7, 0.003), 1.0),
    "late pulse": (pulse(9.1, 0.02), 1.0),
    "sine": (sine(0.7), 2.0),
    "cubic": (lambda t: 7.0 + t**3, 1000.0),
    "chirp": (lambda t: math.sin(t**3 / 10), 2.0),
}


@pytest.mark.parametrize("name", DRIVES)
def test_steps_are_as_long_as_drives_allow_and_no_longer(name):
    drive, size = DRIVES[name]
    done = run(drive)
    cells = find_cells(drive, size)
    steps = np.diff(done.time)
    allowed = np.array([longest_step(cells, t) for t in done.time[:-1]])
    # Times are sums of steps.
    assert np.all(steps <= allowed * (1 + 1e-9))
    # Steps grow by a factor of five at most; the last two share what is left.
    free = np.append(False, 5 * steps[:-1] > allowed[1:]) & (done.time[:-1] + 2 * allowed < END)
    assert np.sum(free) > 1 or len(cells) == 2
    np.testing.assert_allclose(steps[free], allowed[free], rtol=1e-9)


@pytest.mark.parametrize(
    "drive", [lambda t: 3.0, lambda t: 5.0 + t * (t - 4.0), lambda t: 1e6 + 1e-7 * math.sin(50.0 * t)]
)
def test_a_constant_a_parabola_and_rounding_have_no_pace(drive):
    # From 1e-6 s on, each step is five times the last.
    assert np.array_equal(run(drive).time, run().time)


def test_the_faster_of_two_drives_sets_the_pace():
    slow, fast = sine(0.3), pulse(6.2, 0.02)
    both, alone = run(slow, fast).time, run(fast).time
    near = [times[np.abs(times - 6.2) < 0.1] for times in (both, alone)]
    assert np.array_equal(*near)
    assert np.array_equal(run(fast, slow).time, both)
    # Far from the pulse, steps are those that the sine allows.
    assert np.diff(both[both < 4.0]).max() < np.diff(run(slow).time).max() * 1.0001


BENDS = {
    "jump": (3.3337, lambda t: float(t >= 3.3337)),
    "bend": (math.pi, lambda t: max(0.0, t - math.pi)),
    "limit of a sine": (math.asin(0.5) / 2.0, lambda t: min(0.5, math.sin(2.0 * t)) if t < 1.0 else 0.5),
    "bend on a curve": (7.77, lambda t: t * t + 3.0 * abs(t - 7.77)),
}


@pytest.mark.parametrize("name", BENDS)
def test_a_step_ends_where_a_drive_jumps_or_bends(name):
    place, drive = BENDS[name]
    times = run(drive).time
    # A jump to the last digit; a bend is known as well as its slopes are over the smallest difference in their values.
    assert np.min(np.abs(times - place)) < (1e-15 if name == "jump" else 1e-7)
    # It is one place, not many near it.
    assert np.sum(np.abs(times - place) < 1e-3) == 1


def test_drives_that_bend_together_end_one_step_and_others_each_their_own():
    first, second, third = (lambda t, b=b: abs(t - b) for b in (2.345, 2.345, 6.789))
    times = run(first, third, second).time
    assert np.sum(np.abs(times - 2.345) < 1e-3) == 1
    assert np.sum(np.abs(times - 6.789) < 1e-3) == 1
    assert np.array_equal(times, run(third, first).time)


def test_a_bend_that_is_known_is_not_looked_for():
    known, bend = 4.321, lambda t: abs(t - 4.321) + abs(t - 8.0)
    times = run(bend, breaks=[known, 5.0]).time
    assert known in times
    assert 5.0 in times
    assert np.sum(np.abs(times - known) < 1e-3) == 1
    assert np.min(np.abs(times - 8.0)) < 1e-7
    assert np.all(np.diff(times) > 0)


def test_bends_among_known_breaks_and_beside_each_other_all_end_steps():
    """Before, between and behind known breaks; and two between which no sample lies, the later one first."""
    places = [1.234, 5.2131, 5.2112, 9.5]
    bends = [lambda t, b=b: abs(t - b) for b in places]
    breaks = [3.0, 7.0]
    times = run(*bends, breaks=breaks).time
    assert set(breaks) <= set(times)
    assert [np.sum(np.abs(times - place) < 1e-7) for place in places] == [1, 1, 1, 1]
    assert np.all(np.diff(times) > 0)


def test_fixed_steps_that_are_too_long_in_a_row_are_counted():
    def bursts(t):
        """10 Hz for a second, and later for half of one."""
        return math.sin(20 * math.pi * t) if 3 <= t < 4 or 7 <= t < 7.5 else 0.0

    def count(step):
        return run(bursts, method="rk4", step=step).counters.steps_too_long

    # A sine of 10 Hz is a parabola over 20 ms, and a fixed step may take twice as long: all steps of the longer burst,
    # and one that reaches into it.
    assert count(0.1) == 11
    assert count(0.05) == 21
    # At the ends of the bursts alone, which are bends.
    assert count(0.01) == 1
    assert count(0.001) == 0
    assert run(bursts).counters.steps_too_long == 0


def test_what_changes_without_end_is_not_looked_at_without_end():
    """Noise is no parabola anywhere: it is sampled 65,536 times, and from then on what is left is taken as it is."""
    calls = []

    def noise(t):
        calls.append(t)
        return math.sin(1e9 * t * t)

    done = run(noise, method="rk4", step=1.0)
    assert done.counters.steps == 10
    assert 2**16 < len(calls) < 2**16 + 2**12
