"""Macro steps of a co-simulation: how are subsystems simulated together that meet only at communication points?

From a time t to t + H:

1. Exchange. Outputs are read; reduced models are taken from their units as they are at t and attached to the others;
   inputs are written as polynomials through the last values.
2. Advance. Every unit goes to t + H with its own solver. In the sequential scheme a unit gets what those before it
   arrived at, and its inputs interpolate; reduced models are still those of t.
3. Look. Where a unit had an event on the way, all go back to t, if they can, and take a macro step that ends there: the
   others learn of it at the event, not up to H later. What signals and models were expected to be is compared with
   what they are; where the step is adapted and the error is too large, all units go back to t and try a shorter one.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from robodyn.base.waiting import WaitingLine
from robodyn.computation.cosimulation.asking import UnitFailure
from robodyn.computation.cosimulation.checks import check_units
from robodyn.computation.cosimulation.connection import Connection, SignalConnection
from robodyn.computation.cosimulation.exchange import Exchange
from robodyn.computation.cosimulation.model_exchange import IllConditioned
from robodyn.computation.cosimulation.native_steps import NativeSteps, runs_natively
from robodyn.computation.cosimulation.result import CosimulationRun
from robodyn.computation.cosimulation.settings import CosimSettings
from robodyn.computation.cosimulation.unit import Unit
from robodyn.computation.cosimulation.unit_events import all_arrive
from robodyn.computation.results import Outcome, OutcomeKind, Run, Statistics

Progress = Callable[[float, float, int], None]
SAFETY, LEAST_FACTOR, LARGEST_FACTOR = 0.9, 0.2, 2.0


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
    outcome = _judge(coupling.outcome, runs)
    return CosimulationRun(name, runs, coupling, outcome, statistics, tuple(plan.exchange.warnings))


def _judge(outcome: Outcome, runs: Mapping[str, Run]) -> Outcome:
    """What holds a unit whose run is suspect is so too."""
    for name, run in runs.items():
        if outcome.ok and run.outcome.suspect:
            return Outcome(run.outcome.kind, f"unit '{name}' {run.outcome.sentence}", outcome.time)
    return outcome


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
