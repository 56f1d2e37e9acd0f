"""Event mode: how does a unit get from one communication point to the next, with its events on the way?

From t to the end of a step of a unit with event mode:

1. Step. To the end, or to the time event that the unit has announced, whichever comes first; it may return early.
2. Event. Where it returned early, asks for event mode or a time event is due: its outputs are read, event mode is
   entered, discrete states are updated until they stay as they are, step mode is entered, its outputs are read again.
3. From there, until the end is reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from robodyn.base.errors import ModelError
from robodyn.computation.cosimulation import UnitEvent
from robodyn.computation.results import Outcome, OutcomeKind
from robodyn.exchange.fmi.fmpy_adapter import Instance

UPDATES = 1000
"""Updates of the discrete states at one event, at most."""
CROWD, INSTANT = 50, 1e-9
"""So many events in so little time [s] have no end, as in a simulation."""
LATE = 1e-9
"""Part of a step by which a unit may say it went too far: its own rounding."""


class EventSteps:
    """Where a unit is, and what happened on the way.

    Attributes:
        time: that it has reached; due: the time event that it has announced [s]. ended: once it wants no more steps.
    """

    def __init__(self, instance: Instance, name: str, read: Callable[[], dict[str, float]]) -> None:
        self.instance, self.name, self.read = instance, name, read
        self.begin(0.0)

    def begin(self, time: float) -> None:
        """At a time, before anything has happened."""
        self.time, self.due = time, math.inf
        self.ended: Outcome | None = None
        self.instants: tuple[float, ...] = ()
        self.events: list[UnitEvent] = []

    def go(self, end: float) -> Outcome | None:
        """Steps and events to the end; an outcome where the unit does not get there."""
        before, begin = len(self.instance.messages), self.time
        while self.time < end and self.ended is None:
            target = min(end, max(self.due, self.time))
            asked = False
            if target > self.time:
                done = self.instance.step(self.time, step_between(self.time, target), self.time == begin)
                if done.terminate:
                    return self._end(done.time, self.logged(before) or f"in the step from {self.time:g} s")
                if done.early and not self._may_stop(done.time, target, LATE * (end - begin)):
                    return self.fail(f"it returned early, at {done.time:g} s, which it was not allowed to do")
                asked = done.event or done.early
                self.time = min(done.time, target) if done.early else target
            if self.instance.event_mode and (asked or self.time >= self.due):
                outcome = self._meet("time_event" if self.time >= self.due else "state_event")
                if outcome is not None:
                    return outcome
        return self.ended

    def _may_stop(self, time: float, target: float, late: float) -> bool:
        return self.instance.event_mode and self.time <= time <= target + late

    def _meet(self, name: str) -> Outcome | None:
        """An event, with the outputs on both sides of it."""
        outputs = self.read()
        self.instance.enter_event_mode()
        self.settle()
        self.events.append(UnitEvent(name, self.time, outputs, self.read(), self.ended is not None))
        self.instants = (*self.instants, self.time)[-CROWD:]
        if self.ended is None and len(self.instants) == CROWD and self.time - self.instants[0] <= INSTANT:
            sentence = f"unit '{self.name}' had {CROWD} events within {INSTANT:g} s at {self.time:.9g} s"
            return Outcome(OutcomeKind.CHATTERING, sentence, self.time)
        return self.ended

    def change(self, set_values: Callable[[], None], recorded: bool) -> None:
        """Set, at a communication point, what can be set in event mode only; recorded: whether that is an event."""
        self.instance.enter_event_mode()
        set_values()
        self.settle()
        if recorded:
            self.events.append(UnitEvent("input_event", self.time, terminal=self.ended is not None))

    def settle(self) -> None:
        """Update the discrete states until they stay as they are, and leave event mode."""
        for _ in range(UPDATES):
            update = self.instance.update_discrete_states()
            if update.terminate or not update.again:
                break
        else:
            raise ArithmeticError(f"its discrete states do not settle in {UPDATES} updates at {self.time:.9g} s")
        self.due = update.next_time
        if update.terminate:
            sentence = f"unit '{self.name}' ended the run: at its event at {self.time:.9g} s"
            self.ended = Outcome(OutcomeKind.STOPPED, sentence, self.time)
        else:
            self.instance.enter_step_mode()

    def _end(self, time: float, reason: str) -> Outcome:
        """The unit wants to end the simulation; its last outputs are kept where it came anywhere and gives them."""
        outputs: dict[str, float] | None = None
        if time > self.time:
            with suppress(ModelError):
                outputs = self.read()
        self.time = time
        self.events.append(UnitEvent("end", time, outputs, outputs, terminal=True))
        return Outcome(OutcomeKind.STOPPED, f"unit '{self.name}' ended the run: {reason}", time)

    def fail(self, reason: str) -> Outcome:
        """The unit cannot go on from where it is."""
        sentence = f"unit '{self.name}' cannot go on from {self.time:g} s: {reason}"
        return Outcome(OutcomeKind.FAILED, sentence, self.time)

    def logged(self, before: int) -> str:
        """What the unit has logged since there were so many messages."""
        return "; ".join(self.instance.messages[before:])

    def save(self) -> tuple[Any, ...]:
        return self.time, self.due, self.ended, self.instants

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Back to where `save` was called; what happened since has not."""
        self.time, self.due, self.ended, self.instants = saved
        self.events = []


def step_between(before: float, after: float) -> float:
    """The step with which `before + step` is `after` to the last digit, where there is one."""
    step = after - before
    near = (step, math.nextafter(step, math.inf), math.nextafter(step, -math.inf))
    return next((h for h in near if before + h == after), step)
