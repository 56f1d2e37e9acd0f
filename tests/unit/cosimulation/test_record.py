"""Is every row of a unit's record read alike, the last one and those at jumps too?"""

import numpy as np
import pytest

from robodyn.computation.cosimulation import CosimSettings, SignalConnection, UnitEvent, UnitRefusal, cosimulate
from robodyn.computation.results import Outcome, OutcomeKind


class Stairs:
    """y grows by one in each macro step."""

    name, inputs, outputs = "stairs", (), {"y": ""}
    y = 0.0

    def start(self, time):
        pass

    def read(self):
        return {"y": self.y}

    def write(self, inputs):
        pass

    def advance(self, time, step):
        self.y += 1.0


class Mirror(Stairs):
    """y is what comes in, at once."""

    name, inputs = "mirror", ("u",)

    def __init__(self, stops_at=np.inf):
        self.stops_at = stops_at

    def write(self, inputs):
        self.y = inputs["u"][0]

    def advance(self, time, step):
        return Outcome(OutcomeKind.STOPPED, "enough", time) if time >= self.stops_at else None


@pytest.mark.parametrize("scheme", ["parallel", "sequential"])
@pytest.mark.parametrize("stops_at", [np.inf, 0.2])
def test_all_rows_are_read_after_the_exchange(scheme, stops_at):
    units = [Mirror(stops_at), Stairs()]
    run = cosimulate(
        units,
        signal_connections=[SignalConnection("stairs.y", "mirror.u")],
        settings=CosimSettings(0.1, scheme),
        duration=0.3,
    )
    assert run.outcome.ok
    # What comes in is known at a communication point: both have the same value there, at the last one too.
    times = run.coupling.time
    assert times[-1] == min(stops_at, 0.3)
    assert [run["mirror"]["y"](time) for time in times] == [run["stairs"]["y"](time) for time in times]
    assert run["mirror"]["y"].final == run["stairs"]["y"].final == len(times) - 1


def test_both_sides_of_a_jump_at_an_exchange_are_kept():
    run = cosimulate(
        [Mirror(), Stairs()],
        signal_connections=[SignalConnection("stairs.y", "mirror.u")],
        settings=CosimSettings(0.1),
        duration=0.3,
    )
    np.testing.assert_allclose(run["mirror"].time, [0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3])
    assert run["mirror"]["y"].values.tolist() == [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0]
    # What does not jump at exchanges has one row for each.
    np.testing.assert_allclose(run["stairs"].time, [0.0, 0.1, 0.2, 0.3])


def test_a_unit_of_ones_own_may_tell_of_events():
    class WaitingLine(Stairs):
        message = None

        def advance(self, time, step):
            before, self.y = self.y, self.y + 1.0
            self.message = [UnitEvent("click", time + step / 2, {"y": before}, {"y": self.y})]

        def take_events(self):
            taken, self.message = self.message or [], []
            return taken

    run = cosimulate(
        [Mirror(), WaitingLine()],
        signal_connections=[SignalConnection("stairs.y", "mirror.u")],
        settings=CosimSettings(0.1),
        duration=0.2,
    )
    np.testing.assert_allclose([event.time for event in run["stairs"].events], [0.05, 0.15])
    np.testing.assert_allclose(run["stairs"].time, [0.0, 0.05, 0.05, 0.1, 0.15, 0.15, 0.2])


def test_a_refusal_is_told_in_the_units_own_words():
    class Picky(Mirror):
        def write(self, inputs):
            if inputs["u"][0] > 1:
                raise UnitRefusal("u must be at most 1")
            super().write(inputs)

    run = cosimulate(
        [Picky(), Stairs()],
        signal_connections=[SignalConnection("stairs.y", "mirror.u")],
        settings=CosimSettings(0.1),
        duration=0.5,
    )
    assert run.outcome == Outcome(OutcomeKind.FAILED, "at 0.2 s: u must be at most 1", 0.2)
