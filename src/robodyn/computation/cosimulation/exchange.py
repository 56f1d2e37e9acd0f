"""Exchange at a communication point: what is read, sent and written down, and how do signals go on until the next?

Signals go on as polynomials through their last values, or last means (`Trend`, `Samples`). Reduced models are all taken
first, as the states were, then the sides are joined and the models attached (`ModelExchange`): joining strains what is
stiff behind an interface, and a model taken after that would hold the force of that strain over the macro step. Then
signals are sent, at last those that depend on what was sent (`Exchange`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.computation.cosimulation.certificate import Outputs, motion_of
from robodyn.computation.cosimulation.connection import Channel, InterfacePair, Side
from robodyn.computation.cosimulation.record import CouplingRecord, UnitRecord, gap_between
from robodyn.computation.cosimulation.reduced import join_motions
from robodyn.computation.cosimulation.settings import CosimSettings
from robodyn.computation.cosimulation.unit import (
    ChoosesOutputs,
    Coefficients,
    GivesModels,
    InterfaceMotion,
    KeepsRecord,
    ReducedModel,
    Restorable,
    TakesModels,
    Unit,
    UnitEvents,
    all_arrive,
    call_unit,
    can_restore,
    name_unit,
    warnings_of,
)
from robodyn.computation.results import Outcome, Run

Span = tuple[float, float]
"""Begin and end of the time over which a value is the mean; the same for a value at an instant [s]."""


def mean_powers(span: Span, n: int) -> np.ndarray:
    """Means of 1, s, s^2, ... over a span, (n,)."""
    a, b = span
    return np.array([sum(a**i * b ** (k - i) for i in range(k + 1)) / (k + 1) for k in range(n)])


class Trend:
    """The last values of a vector, as many as a polynomial of an order goes through."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.spans: list[Span] = []
        self.values: list[np.ndarray] = []

    def add(self, span: Span, values: np.ndarray) -> None:
        """A second exchange at the same time replaces the first."""
        if self.spans and self.spans[-1] == span:
            self.spans.pop()
            self.values.pop()
        self.spans = [*self.spans, span][-self.order - 1 :]
        self.values = [*self.values, values][-self.order - 1 :]

    def fit(self, begin: float) -> np.ndarray:
        """Coefficients in powers of the time since `begin` of the polynomial with these values, or means, (order + 1,
        n); fewer as long as there are fewer values."""
        n = len(self.spans)
        rows = [mean_powers((a - begin, b - begin), n) for a, b in self.spans]
        return np.linalg.solve(np.array(rows), np.array(self.values))

    def forget(self) -> None:
        """What was before a jump says nothing about what comes after it."""
        self.spans, self.values = [], []

    def copy(self) -> Trend:
        other = Trend(self.order)
        other.spans, other.values = list(self.spans), list(self.values)
        return other


class Samples:
    """The last values of a channel's signals, as many as its polynomials go through."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.trend = Trend(channel.order)
        self.largest = 0.0

    def add(self, time: float, outputs: Mapping[str, float], step: float = 0.0) -> None:
        """Values at a communication point, or means over the macro step that ended there."""
        fresh = self._values(outputs)
        self.trend.add((time - step if self.channel.mean else time, time), fresh)
        self.largest = max(self.largest, float(np.max(np.abs(fresh), initial=0.0)))

    def _values(self, outputs: Mapping[str, float]) -> np.ndarray:
        return self.channel.gain * np.array([outputs[name] for name in self.channel.outputs])

    def inputs(self, begin: float) -> dict[str, Coefficients]:
        """What the target is written for the macro step from `begin` on."""
        columns = self.trend.fit(begin).T.tolist()
        return {name: tuple(column) for name, column in zip(self.channel.inputs, columns, strict=True)}

    def miss(self, begin: float, end: float, outputs: Mapping[str, float], least: float) -> float:
        """How far the polynomial is from the true values at the end of a step, in units of the largest so far.

        Args:
            least: what counts as the largest value as long as all are smaller.
        """
        fresh = self._values(outputs)
        coefficients = self.trend.fit(begin)
        span = (0.0 if self.channel.mean else end - begin, end - begin)
        expected = mean_powers(span, len(coefficients)) @ coefficients
        largest = max(self.largest, least, float(np.max(np.abs(fresh), initial=0.0)))
        return float(np.max(np.abs(fresh - expected), initial=0.0)) / largest

    def copy(self) -> Samples:
        other = Samples(self.channel)
        other.trend, other.largest = self.trend.copy(), self.largest
        return other


Warn = Callable[[str, str], None]


class IllConditioned(ValueError):
    """A reduced interface model that does not exist."""

    def __init__(self, side: Side, condition: float, time: float) -> None:
        super().__init__(
            f"the reduced interface model of '{side.unit}.{side.interface.name}' broke down at {time:.6g} s: the "
            f"condition number of its mobility is {condition:.3g}, so that it has no inertia; the mechanism is in or "
            "near a singular position there: couple fewer rows, attach it through a stiffness, or make it flexible; "
            "where it is implicit, shorten the macro step"
        )


class ModelExchange:
    """The models that pass between the units.

    Attributes:
        reports: of each interface pair, the gap of its sides at the last exchange and the largest condition number.
        trends: accelerations of the models sent so far, for orders above 0.
    """

    def __init__(
        self, units: Mapping[str, Unit], pairs: Sequence[InterfacePair], settings: CosimSettings, warn: Warn
    ) -> None:
        self.pairs, self.settings, self.warn = tuple(pairs), settings, warn
        self.givers = {name: unit for name, unit in units.items() if isinstance(unit, GivesModels)}
        self.takers = {name: unit for name, unit in units.items() if isinstance(unit, TakesModels)}
        self.reports: dict[str, tuple[float, float]] = {pair.name: (0.0, 1.0) for pair in pairs}
        self.trends = {(pair.name, sender): Trend(pair.order) for pair in pairs for sender, _ in pair.models}
        self.speeds: dict[str, float] = {}

    def send(self, time: float, step: float, outputs: Outputs) -> None:
        """Take all reduced models first, then attach them for a macro step [s]: in parallel, as the state was."""
        for pair in self.pairs:
            if not pair.models:
                continue
            taken = {sender: self._take(pair, sender, time, step) for sender, _ in pair.models}
            motions = {k: model.motion for k, model in taken.items()}
            self.reports[pair.name] = (
                _gap(pair, motions, outputs),
                max(model.condition for model in taken.values()),
            )
            # Where both sides are rigid neither leads: they go on with one motion that both models agree on, or each
            # with its own.
            merged, apart = pair.merged, pair.join == "none"
            joined = join_motions(taken[0], taken[1], pair.join) if merged and not apart else None
            for sender, receiver in pair.models:
                side = pair.sides[receiver]
                motion = joined if merged else taken[sender].motion
                trend = self.trends[pair.name, sender]
                trend.add((time, time), taken[sender].acceleration)
                further: dict[str, Any] = {"trend": trend.fit(time)[1:]} if pair.order else {}
                taker = self.takers[side.unit]
                call_unit(side.unit, taker.attach_model, side.interface.name, taken[sender], motion, **further)

    def _take(self, pair: InterfacePair, sender: int, time: float, step: float) -> ReducedModel:
        side = pair.sides[sender]
        further = {"step": step} if pair.implicit else {}
        model = call_unit(side.unit, self.givers[side.unit].reduced_model, side.interface.name, **further)
        # A receiver behind a stiffness needs the mobility alone, which always exists; a rigid one needs its inverse.
        needed = not pair.sides[1 - sender].elastic
        if needed and not model.condition <= self.settings.condition_limit:
            raise IllConditioned(side, model.condition, time)
        if needed and model.condition > self.settings.condition_warning:
            self.warn_of(side, model.condition, time)
        return model

    def warn_of(self, side: Side, condition: float, time: float) -> None:
        """A warning of a model's condition number."""
        place = f"{side.unit}.{side.interface.name}"
        self.warn(
            f"'{place}'",
            f"the mobility of '{place}' is ill-conditioned, {condition:.3g} at {time:.6g} s: what a reduced "
            "interface model gives there may be wrong",
        )

    def misses(self, outputs: Outputs, least: float) -> list[float]:
        """How far each receiver's idea of the sender's velocity is from the truth, in units of the largest so far."""
        return [self._miss(pair, way, outputs, least) for pair in self.pairs for way in pair.models]

    def _miss(self, pair: InterfacePair, way: tuple[int, int], outputs: Outputs, least: float) -> float:
        sender, receiver = (pair.sides[k] for k in way)
        true = np.array([outputs[sender.unit][name] for name in sender.interface.names("velocity")])
        expected = _expected(receiver, outputs[receiver.unit]).velocity
        largest = self.speeds[pair.name] = max(self.speeds.get(pair.name, least), float(np.max(np.abs(true))))
        return float(np.max(np.abs(true - expected))) / largest

    def save(self) -> tuple[Any, ...]:
        """All that changes and is not the largest so far."""
        return {key: trend.copy() for key, trend in self.trends.items()}, dict(self.reports)

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Go back to where `save` was called."""
        self.trends, self.reports = saved


def _gap(pair: InterfacePair, motions: Mapping[int, InterfaceMotion], outputs: Outputs) -> float:
    """How far the two sides have moved apart since the last exchange."""
    gaps = []
    for sender, receiver in pair.models:
        side = pair.sides[receiver]
        gaps.append(gap_between(motions[sender], _expected(side, outputs[side.unit])))
    return max(gaps)


def _expected(side: Side, outputs: Mapping[str, float]) -> InterfaceMotion:
    """What a receiver of a model takes the motion of the other side for."""
    return motion_of(side, outputs, "far_" if side.elastic else "")


class Exchange:
    """All units of a co-simulation and what passes between them; the one that changes while it runs."""

    def __init__(
        self,
        units: Mapping[str, Unit],
        channels: Sequence[Channel],
        pairs: Sequence[InterfacePair],
        settings: CosimSettings,
    ):
        self.units, self.pairs, self.settings = dict(units), tuple(pairs), settings
        self.channels = (
            *channels,
            *(channel for pair in pairs for channel in pair.channels),
        )
        # Units learn which outputs will be read.
        for name, unit in units.items():
            wanted = [output for channel in self.channels if channel.source == name for output in channel.outputs]
            if isinstance(unit, ChoosesOutputs):
                unit.choose(tuple(dict.fromkeys(wanted)))
        self.outputs: dict[str, Mapping[str, float]] = {name: unit.read() for name, unit in units.items()}
        self._check_outputs()
        self.samples = [Samples(channel) for channel in self.channels]
        self.models = ModelExchange(units, pairs, settings, self.warn)
        self.record = CouplingRecord(units, self.channels, pairs, self.outputs)
        self.plain = {name: UnitRecord(unit) for name, unit in units.items() if not isinstance(unit, KeepsRecord)}
        self.warnings: list[str] = []
        self.begun: dict[str, Mapping[str, float]] = {}
        self.noted: dict[str, Mapping[str, float]] = {}
        self.looked_at: float | None = None
        self.events = UnitEvents(units)
        self.fresh: dict[str, Mapping[str, float]] = {}

    def _check_outputs(self) -> None:
        flaws = FlawList()
        for channel in self.channels:
            for name in channel.outputs:
                value = self.outputs[channel.source].get(name)
                if not isinstance(value, int | float | np.number):
                    flaws.add(f"{channel.source}.{name}", f"read() gives {value!r} for it", "it must be a number")
        flaws.raise_if_any("co-simulation")

    @property
    def can_restore(self) -> bool:
        """Whether all units can go back to a communication point."""
        return all(can_restore(unit) for unit in self.units.values())

    def _read(self, name: str) -> Mapping[str, float]:
        return call_unit(name, self.units[name].read)

    def start(self, time: float) -> None:
        """First exchange, start of all units, and what they give then."""
        self._sample(time)
        self.write(time, self.settings.step)
        for name, unit in self.units.items():
            call_unit(name, unit.start, time)
            self.outputs[name] = self._read(name)
        self._sample(time)
        self.record.begin(self.outputs)

    def write(self, time: float, step: float) -> None:
        """Send everything at the beginning of a macro step [s]: first what is known, then what depends on that."""
        self.models.send(time, step, self.outputs)
        self._send_signals(time, late=False)
        late = [samples for samples in self.samples if samples.channel.late]
        for name in {samples.channel.source for samples in late}:
            self.outputs[name] = self._read(name)
        for samples in late:
            samples.add(time, self.outputs[samples.channel.source])
        self._send_signals(time, late=True)

    def _look(self, time: float) -> None:
        """What all units give right after an exchange; this is what is written down."""
        self.looked_at = time
        self.noted = {name: self._read(name) for name in self.units}

    def _note(self, time: float, step: float = 0.0, **booked: Mapping[str, Mapping[str, float]]) -> None:
        self.record.add(time, self.noted, self.models.reports, step, **booked)
        for name, record in self.plain.items():
            record.add(time, self.noted[name])

    def _sample(self, time: float, step: float = 0.0) -> None:
        for samples in self.samples:
            samples.add(time, self.outputs[samples.channel.source], step)

    def _send_signals(self, begin: float, late: bool) -> None:
        """Polynomials of all inputs for the macro step from `begin` on."""
        for name in self.units:
            inputs: dict[str, Coefficients] = {}
            for samples in self.samples:
                if samples.channel.target == name and samples.channel.late == late:
                    inputs |= samples.inputs(begin)
            if inputs:
                call_unit(name, self.units[name].write, inputs)

    def warn(self, about: str, sentence: str) -> None:
        """A warning, once for each place."""
        if not any(about in known for known in self.warnings):
            self.warnings.append(sentence)

    def advance(self, begin: float, end: float, scheme: str) -> Outcome | None:
        """All units to the end of the macro step; the outcome of the first that could not get there, or ends there."""
        fresh: dict[str, Mapping[str, float]] = {}
        last: Outcome | None = None
        self._look(begin)
        self.events.clear()
        for name in self.units:
            self.begun[name] = self.noted[name]
            if scheme == "sequential" and fresh:
                self._send_signals_after(name, begin, end, fresh)
                self.begun[name] = self._read(name) if self.pairs else self.noted[name]
            outcome = call_unit(name, self.units[name].advance, begin, end - begin)
            self.events.collect(name)
            if outcome is not None:
                last = last or name_unit(name, outcome, begin)
                if not all_arrive(last, begin, end):
                    return last
            fresh[name] = self._read(name)
        self.fresh = fresh
        return last

    def note_last(self, time: float, **booked: Mapping[str, Mapping[str, float]]) -> None:
        """The last row, and the events there, or in a macro step from there that a unit did not finish."""
        self._note(time, 0.0, **booked)
        for name, record in self.plain.items():
            record.add_events(self.events.of(name))

    def _send_signals_after(
        self, name: str, begin: float, end: float, fresh: Mapping[str, Mapping[str, float]]
    ) -> None:
        """Inputs of a unit whose sources have arrived already."""
        inputs: dict[str, Coefficients] = {}
        for samples in self.samples:
            channel = samples.channel
            if channel.target == name:
                known = samples.copy()
                if channel.source in fresh:
                    known.add(end, self.events.arrived(channel.source, fresh[channel.source]), end - begin)
                inputs |= known.inputs(begin)
        if inputs:
            call_unit(name, self.units[name].write, inputs)

    def error(self, begin: float, end: float) -> float:
        """Largest error of what was expected at the end of the macro step, in units of the largest values so far."""
        least = self.settings.least_scale
        arrived = {name: self.events.arrived(name, self.fresh[name]) for name in self.units}
        errors = [samples.miss(begin, end, arrived[samples.channel.source], least) for samples in self.samples]
        return max([*errors, *self.models.misses(self.fresh, least)], default=0.0)

    def accept(self, begin: float, end: float) -> None:
        """What was found becomes what is known, and is written down."""
        self._note(begin, end - begin, begun=self.begun, ended=self.fresh)
        for name, record in self.plain.items():
            record.add_events(self.events.of(name))
            record.add(end, self.fresh[name])
        for samples in self.samples:
            if any(event.time > begin for event in self.events.of(samples.channel.source)):
                samples.trend.forget()
        self.outputs = dict(self.fresh)
        self._sample(end, end - begin)

    def worst_signal(self) -> tuple[str, float]:
        """The exchanged signal of largest magnitude, or one that is no number."""
        worst = ("", 0.0)
        for unit, name in self.record.kept:
            value = self.outputs[unit][name]
            if not abs(value) <= abs(worst[1]):
                worst = (f"{unit}.{name}", value)
                if not np.isfinite(value):
                    break
        return worst

    def save(self) -> tuple[Any, ...]:
        """All that changes."""
        units = {name: unit.save() for name, unit in self.units.items() if isinstance(unit, Restorable)}
        return units, dict(self.outputs), [samples.copy() for samples in self.samples], self.models.save()

    def restore(self, saved: Any) -> None:
        """Go back to where `save` was called (rollback)."""
        units, self.outputs, self.samples, models = saved
        self.models.restore(models)
        for name, unit in self.units.items():
            if isinstance(unit, Restorable):
                unit.restore(units[name])

    def close(self, time: float) -> None:
        """A last exchange, so that the record ends as it began."""
        self.write(time, self.settings.step)
        self._look(time)
        for name in self.units:
            self.events.collect(name)
        self.note_last(time, begun=self.noted)

    def keep(self, time: float) -> None:
        """Write down where it ended, as far as it got, without another exchange."""
        if self.record.last_time is not None and self.record.last_time < time:
            self.noted = self.noted if self.looked_at == time else dict(self.outputs)
            self._note(time)

    def finish(self, outcome: Outcome) -> dict[str, Run]:
        """A run of every unit; one that cannot give it does not take those of the others with it."""
        runs = {}
        for name, unit in self.units.items():
            self.warnings += [f"unit '{name}': {sentence}" for sentence in warnings_of(unit)]
            try:
                runs[name] = unit.finish(outcome) if isinstance(unit, KeepsRecord) else self.plain[name].run(outcome)
            except Exception as error:  # noqa: BLE001  a user's unit may raise anything
                self.warnings.append(f"unit '{name}' gave no run: finish raised {type(error).__name__}: {error}")
        return runs
