"""Macro steps of a co-simulation: how are subsystems simulated together that meet only at communication points?

From a time t to t + H:

1. Exchange. Outputs are read; reduced models are taken from their units as they are at t and attached to the others;
   inputs are written as polynomials through the last values.
2. Advance. Every unit goes to t + H with its own solver. In the sequential scheme a unit gets what those before it
   arrived at, and its inputs interpolate; reduced models are still those of t.
3. Look. Where a unit had an event on the way, all go back to t, if they can, and take a macro step that ends there: the
   others learn of it at the event, not up to H later. What signals and models were expected to be is compared with
   what they are; where the step is adapted and the error is too large, all units go back to t and try a shorter one.

Before anything runs, all that does not fit together is reported at once (`check_units`).
"""

from __future__ import annotations

import math
import time as clock
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.base.waiting import WaitingLine
from robodyn.computation.cosimulation.connection import (
    Connection,
    SignalConnection,
    check_fed_once,
    check_meeting,
    find_idle,
    make_channels,
    pair_interfaces,
)
from robodyn.computation.cosimulation.exchange import Exchange, IllConditioned
from robodyn.computation.cosimulation.native_steps import NativeSteps, runs_natively
from robodyn.computation.cosimulation.result import CosimulationRun
from robodyn.computation.cosimulation.settings import CosimSettings
from robodyn.computation.cosimulation.unit import (
    HasScenario,
    Unit,
    UnitFailure,
    UsedOnce,
    all_arrive,
    can_restore,
    can_vary_steps,
    highest_order,
)
from robodyn.computation.results import Outcome, OutcomeKind, Statistics

NEEDED = tuple(
    name for name, member in vars(Unit).items() if isinstance(member, (property, FunctionType)) and name[0] != "_"
)
"""Members of a unit."""
Progress = Callable[[float, float, int], None]
SAFETY, LEAST_FACTOR, LARGEST_FACTOR = 0.9, 0.2, 2.0


@dataclass(frozen=True, eq=False)
class Plan:
    """A co-simulation that can begin."""

    exchange: Exchange
    duration: float


def check_units(
    units: Sequence[Unit],
    connections: Sequence[Connection],
    signal_connections: Sequence[SignalConnection],
    duration: float | None,
    settings: CosimSettings,
) -> Plan:
    """Names, connections, orders and durations, all at once."""
    flaws = FlawList()
    # What is no unit has no names to check further.
    if not units:
        flaws.add("units", "there are none")
    candidates: Sequence[object] = units
    for k, candidate in enumerate(candidates):
        if not isinstance(candidate, Unit):
            missing = [key for key in NEEDED if key not in dir(candidate)]
            flaws.add(f"units[{k}]", f"has no {', '.join(missing)}", "a unit has the methods of cosimulation.Unit")
        if isinstance(candidate, UsedOnce) and candidate.used:
            flaws.add(f"units[{k}]", "has been used already", "renew() gives the same unit from its start")
    flaws.raise_if_any("co-simulation")
    for name, count in Counter(unit.name for unit in units).items():
        if count > 1 or name == "coupling":
            flaws.add(f"units.{name}", "is taken", "give each unit its own name, and none of them 'coupling'")
        if not isinstance(name, str) or not name or set(name) & set("/\\"):
            flaws.add("units", f"{name!r} is no name for a unit", "it becomes part of a file's name")

    # Interfaces and signals that are connected, each input once, with polynomials that its unit takes.
    known = {unit.name: unit for unit in units}
    pairs = pair_interfaces(known, connections, flaws)
    channels = make_channels(known, signal_connections, flaws)
    all_channels = [*channels, *(channel for pair in pairs for channel in pair.channels)]
    check_fed_once(all_channels, flaws)
    for channel in all_channels:
        highest = highest_order(known[channel.target], channel.inputs)
        if isinstance(channel.order, int) and channel.order > highest:
            what = f"order {channel.order} is more than it takes"
            flaws.add(f"{channel.target}.{channel.inputs[0]}", what, f"at most {highest}")
    check_meeting(known, pairs, flaws)
    if not connections and not signal_connections:
        flaws.add("connections", "there are none", "couple the units, or simulate each by itself")

    # An adapted macro step is tried again, with another length.
    length = _find_duration(units, duration, flaws)
    for unit in units if settings.tolerance is not None else ():
        if not can_restore(unit):
            what = "cannot go back to a communication point, so that the macro step cannot be adapted"
            flaws.add(f"units.{unit.name}", what, "leave out the tolerance; blocks called in Python cannot go back")
        if not can_vary_steps(unit):
            flaws.add(f"units.{unit.name}", "takes steps of one length only", "leave out the tolerance")
    flaws.raise_if_any("co-simulation")

    exchange = Exchange(known, channels, pairs, settings)
    for place in find_idle(known, pairs, [signal_connection.target for signal_connection in signal_connections]):
        exchange.warn(f"'{place}'", f"'{place}' is connected with nothing: its far side is at rest, or not there")
    return Plan(exchange, length)


def _find_duration(units: Sequence[Unit], duration: float | None, flaws: FlawList) -> float:
    lengths = {unit.name: unit.scenario.duration for unit in units if isinstance(unit, HasScenario)}
    if duration is None:
        if not lengths:
            flaws.add("duration", "is missing", "no unit has one of its own")
        return min(lengths.values(), default=math.nan)
    if not (isinstance(duration, int | float) and duration > 0 and math.isfinite(duration)):
        flaws.add("duration", f"must be a positive number, is {duration!r}")
        return math.nan
    for name, length in lengths.items():
        if duration > length * (1 + 1e-12):
            flaws.add("duration", f"{duration:g} s is more than the {length:g} s of '{name}'", "lengthen its scenario")
    return float(duration)


def cosimulate(
    units: Sequence[Unit],
    connections: Sequence[Connection] = (),
    *,
    settings: CosimSettings,
    signal_connections: Sequence[SignalConnection] = (),
    duration: float | None = None,
    name: str = "cosimulation",
    progress: Progress | None = None,
) -> CosimulationRun:
    """Simulate subsystems together.

    Args:
        units: `ScenarioUnit`s and others with the methods of `Unit`; they cannot be used again.
        connections: of interfaces; links: of single signals.
        duration: [s]; the shortest of the units' scenarios by default.
        progress: called with (time, macro step, steps).

    Returns:
        What happened, also where it could not go on: see its outcome.

    Raises:
        ModelError: for what does not fit together, all of it at once.
    """
    plan = check_units(units, connections, signal_connections, duration, settings)
    with WaitingLine(f"simulating {name}", quiet=progress is not None, watched=False) as message:
        course = _Course(plan.exchange, settings, plan.duration, progress or message.follow(plan.duration))
        outcome = course.run()
    statistics = course.statistics()
    runs = plan.exchange.finish(outcome)
    coupling = plan.exchange.record.run(name, outcome, statistics, settings)
    # What holds a unit whose run is suspect is so too.
    outcome = coupling.outcome
    for unit_name, run in runs.items():
        if outcome.ok and run.outcome.suspect:
            outcome = Outcome(run.outcome.kind, f"unit '{unit_name}' {run.outcome.sentence}", outcome.time)
    return CosimulationRun(name, runs, coupling, outcome, statistics, tuple(plan.exchange.warnings))


class _Course:
    """One co-simulation under way."""

    def __init__(self, exchange: Exchange, settings: CosimSettings, duration: float, progress: Progress) -> None:
        self.exchange, self.settings, self.duration, self.progress = exchange, settings, duration, progress
        self.time, self.step = 0.0, settings.step
        self.steps = self.rejected = self.cut = self.passed = 0
        self.begun = clock.perf_counter()
        # The smallest power of the step in any coupling error: signals are missed by h^(1 + order), speeds of models,
        # whose accelerations go on so, by one power more.
        orders = [1 + channel.order for channel in exchange.channels]
        self.order = min(
            [
                *orders,
                *(2 + pair.order for pair in exchange.pairs if pair.models),
            ],
            default=1,
        )
        self.restores = exchange.events.can_cut or (settings.tolerance is not None and exchange.can_restore)

    def run(self) -> Outcome:
        """Macro steps to the end, or to what ends it."""
        try:
            self.exchange.start(self.time)
            native = NativeSteps(self.exchange, self.time, self.duration) if runs_natively(self.exchange) else None
            while (outcome := self._stop() or (self._go_on(native) if native else self._advance())) is None:
                self.progress(self.time, self.step, self.steps)
            if outcome.kind is OutcomeKind.FINISHED:
                self.exchange.close(self.time)
        except IllConditioned as error:
            outcome = Outcome(OutcomeKind.ILL_CONDITIONED, str(error), self.time)
        except UnitFailure as error:
            outcome = error.outcome(self.time)
        except KeyboardInterrupt:
            sentence = f"interrupted at {self.time:.6g} s of simulated time; the runs so far are kept"
            outcome = Outcome(OutcomeKind.INTERRUPTED, sentence, self.time)
        self.exchange.keep(self.time)
        return outcome

    def _go_on(self, native: NativeSteps) -> Outcome | None:
        """Many macro steps in the engine; or the outcome of a unit that could not go on."""
        try:
            return native.advance()
        finally:
            self.time, self.steps = native.time, native.steps

    def _stop(self) -> Outcome | None:
        """Whether the end is reached, or a signal is beyond all bounds."""
        worst = self.exchange.worst_signal()
        if np.isnan(worst[1]):
            sentence = f"'{worst[0]}' is no number any more at {self.time:.6g} s"
            return Outcome(OutcomeKind.DIVERGED, sentence, self.time)
        if not abs(worst[1]) <= self.settings.largest_value:
            sentence = (
                f"'{worst[0]}' reached {worst[1]:.3g} at {self.time:.6g} s: the coupling is unstable at this macro "
                f"step of {self.step:.3g} s; shorten it, or couple by reduced interface models"
            )
            return Outcome(OutcomeKind.DIVERGED, sentence, self.time)
        if self.time >= self.duration:
            return Outcome(OutcomeKind.FINISHED, f"reached the end time {self.time:.6g} s", self.time)
        return None

    def _next(self) -> float:
        """End of the next macro step; fixed ones are whole multiples, the last ends with the run."""
        end = self.time + self.step
        if self.settings.tolerance is None:
            end = (self.passed + 1) * self.settings.step
        if self.duration - end < 1e-9 * self.step:
            end = self.duration
        return end

    def _advance(self) -> Outcome | None:
        """One macro step, accepted; or the outcome of a unit that could not go on."""
        planned, event = self.step, None
        while True:
            end = min(self._next(), np.inf if event is None else event)
            saved = self.exchange.save() if self.restores else None
            self.exchange.write(self.time, end - self.time)
            outcome = self.exchange.advance(self.time, end, self.settings.scheme)
            event = self.exchange.events.find_cut(self.time, end)
            if event is not None:
                self.cut += 1
                self.exchange.restore(saved)
                continue
            if outcome is not None and all_arrive(outcome, self.time, end):
                self._accept(end, 0.0)
                return outcome
            if outcome is not None:
                self.exchange.note_last(self.time)
                return outcome
            error = self.exchange.error(self.time, end) / self.settings.tolerance if self.settings.tolerance else 0.0
            was_cut = end < self._next()
            self._adapt(error, end - self.time)
            if error <= 1.0 or saved is None or end - self.time <= self.settings.shortest * (1 + 1e-9):
                # An event makes one macro step short, not those after it.
                self.step = max(self.step, planned) if was_cut else self.step
                self._accept(end, error)
                return None
            self.rejected += 1
            self.exchange.restore(saved)

    def _accept(self, end: float, error: float) -> None:
        if error > 1.0:
            sentence = (
                f"the coupling error is {error:.3g} times its tolerance at {self.time:.6g} s, in the smallest step"
            )
            self.exchange.warn("in the smallest step", sentence)
        self.exchange.accept(self.time, end)
        self.passed += end == self._next()
        self.time, self.steps = end, self.steps + 1

    def _adapt(self, error: float, length: float) -> None:
        """h_next = 0.9 h error^(-1 / order), within limits."""
        if self.settings.tolerance is None:
            return
        factor = LARGEST_FACTOR if error <= 0 or not np.isfinite(error) else SAFETY * error ** (-1.0 / self.order)
        factor = LEAST_FACTOR if not np.isfinite(error) else min(max(factor, LEAST_FACTOR), LARGEST_FACTOR)
        longest = self.settings.largest_step or self.duration
        self.step = min(max(length * factor, self.settings.shortest), longest)

    def statistics(self) -> Statistics:
        return Statistics(
            steps=self.steps,
            rejected=self.rejected,
            wall_time=clock.perf_counter() - self.begun,
            simulated_time=self.time,
            extra={"cut_at_events": self.cut} if self.cut else {},
        )
