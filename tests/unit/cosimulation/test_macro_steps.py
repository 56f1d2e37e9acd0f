"""Macro steps are those of their rules: as long as the error of what was expected allows, and cut at events."""

import math

import numpy as np
import pytest

from robodyn.computation.cosimulation import CosimSettings, SignalConnection, cosimulate
from robodyn.computation.cosimulation.unit import UnitEvent

TOLERANCE, FIRST = 1e-2, 0.05


class Source:
    """Gives a known function of time and knows the times that it went to; it can go back."""

    name, inputs, outputs, can_restore = "source", (), {"y": "m"}, True

    def __init__(self, course):
        self.course, self.t = course, 0.0

    def start(self, time):
        self.t = time

    def read(self):
        return {"y": self.course(self.t)}

    def write(self, inputs):
        raise AssertionError("nothing comes in")

    def advance(self, time, step):
        self.t = time + step

    def save(self):
        return self.t

    def restore(self, state):
        self.t = state


class Sink:
    """Integrates what comes in, a polynomial of the time since the exchange."""

    name, inputs, outputs, can_restore = "sink", ("u",), {"total": "m s"}, True

    def __init__(self):
        self.total, self.course = 0.0, (0.0,)

    def start(self, time):
        pass

    def read(self):
        return {"total": self.total}

    def write(self, inputs):
        self.course = inputs["u"]

    def advance(self, time, step):
        self.total += sum(c * step ** (k + 1) / (k + 1) for k, c in enumerate(self.course))

    def save(self):
        return self.total, self.course

    def restore(self, state):
        self.total, self.course = state


def couple(source, order=0, duration=1.0, **settings):
    link = SignalConnection("source.y", "sink.u", order)
    return cosimulate(
        [source, Sink()], signal_connections=[link], settings=CosimSettings(FIRST, **settings), duration=duration
    )


def expected_steps(course, order, duration, scale, smallest, largest=np.inf):
    """The rules in plain Python: H <- 0.9 H error^(-1 / (1 + order)), by 0.2 to 2, errors of extrapolated values."""
    times, known, H, rejected = [0.0], [(0.0, course(0.0))], FIRST, 0
    size = max(scale, abs(course(0.0)))
    while times[-1] < duration:
        t = times[-1]
        end = t + H if duration - (t + H) >= 1e-9 * H else duration
        points = known[-1 - order :]
        guess = (
            np.polynomial.Polynomial.fit(*zip(*points, strict=True), deg=len(points) - 1)(end)
            if order
            else points[-1][1]
        )
        error = abs(course(end) - guess) / max(size, abs(course(end))) / TOLERANCE
        factor = min(max(0.9 * error ** (-1 / (1 + order)), 0.2), 2.0) if error > 0 else 2.0
        length = end - t
        H = min(max(length * factor, smallest), largest)
        if error <= 1 or length <= smallest * (1 + 1e-9):
            times.append(end)
            known.append((end, course(end)))
            size = max(size, abs(course(end)))
        else:
            rejected += 1
    return times, rejected


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("order", [0, 1])
def test_macro_steps_follow_the_error_of_what_was_expected(order, size):
    """Errors count in units of the largest value so far, or of a least one: a signal far below that costs no steps."""

    def course(t):
        return size * (1.0 + 0.5 * math.sin(9.0 * t) + (t > 0.6) * 4.0 * (t - 0.6))

    limits = {"least_scale": 1e-3, "smallest_step": 1e-3, "largest_step": 0.3}
    run = couple(Source(course), order, tolerance=TOLERANCE, **limits)
    times, rejected = expected_steps(course, order, 1.0, 1e-3, 1e-3, 0.3)
    np.testing.assert_allclose(run.coupling.time, times, rtol=1e-9)
    assert run.statistics.rejected == rejected
    assert rejected > 0 or size < 1.0


def test_an_error_that_the_smallest_step_cannot_avoid_is_said():
    def jump(t):
        return 1.0 if t < 0.52 else 3.0

    run = couple(Source(jump), tolerance=TOLERANCE, smallest_step=0.01)
    times, rejected = expected_steps(jump, 0, 1.0, 1e-3, 0.01)
    np.testing.assert_allclose(run.coupling.time, times, rtol=1e-9)
    assert run.statistics.rejected == rejected > 0
    steps = np.diff(run.coupling.time)
    place = int(np.searchsorted(run.coupling.time, 0.52)) - 1
    assert steps[place] == pytest.approx(0.01)
    said = [warning for warning in run.warnings if "tolerance" in warning]
    assert len(said) == 1


class Bell(Source):
    """A source that jumps up by 1 at times of its own and says so."""

    has_events = True

    def __init__(self, times):
        super().__init__(lambda t: float(sum(t >= time for time in times)))
        self.times, self.events = times, []

    def advance(self, time, step):
        for moment in self.times:
            if time < moment <= time + step:
                level = self.course(moment)
                self.events.append(UnitEvent("rings", moment, {"y": level - 1.0}, {"y": level}))
        super().advance(time, step)

    def take_events(self):
        found, self.events = self.events, []
        return found


@pytest.mark.parametrize("tolerance", [None, TOLERANCE])
def test_macro_steps_are_cut_at_events_and_the_others_learn_of_them_there(tolerance):
    rings = (0.123, 0.4567, 0.46, 0.8)
    run = couple(Bell(rings), **({} if tolerance is None else {"tolerance": tolerance, "largest_step": 0.2}))
    for ring in rings:
        assert np.min(np.abs(run.coupling.time - ring)) < 1e-15
    # What is held between the instants at which it jumps is integrated exactly.
    assert run["sink"]["total"].final == pytest.approx(sum(1.0 - ring for ring in rings), rel=1e-12)
    if tolerance is None:
        # After a cut, macro steps are the whole multiples again.
        whole = [FIRST * k for k in range(21)]
        expected = sorted({*np.round(whole, 12), *rings})
        np.testing.assert_allclose(run.coupling.time, expected, rtol=1e-9)
        # One at 0.8 is at the end of a step already.
        assert run.statistics.extra["cut_at_events"] == 3
