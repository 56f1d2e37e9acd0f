"""Exchange at a communication point: how are signals and reduced models read, sent and written down?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.computation.cosimulation.asking import ask, name_unit
from robodyn.computation.cosimulation.capabilities import (
    ChoosesOutputs,
    KeepsRecord,
    Restorable,
    can_restore,
    warnings_of,
)
from robodyn.computation.cosimulation.connection import Channel, InterfacePair
from robodyn.computation.cosimulation.extrapolation import Samples
from robodyn.computation.cosimulation.model_exchange import ModelExchange
from robodyn.computation.cosimulation.record import CouplingRecord, UnitRecord
from robodyn.computation.cosimulation.settings import CosimSettings
from robodyn.computation.cosimulation.unit import Coefficients, Unit
from robodyn.computation.cosimulation.unit_events import UnitEvents, all_arrive
from robodyn.computation.results import Outcome, Run


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
        self._choose()
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

    def _choose(self) -> None:
        for name, unit in self.units.items():
            wanted = [output for channel in self.channels if channel.source == name for output in channel.outputs]
            if isinstance(unit, ChoosesOutputs):
                unit.choose(tuple(dict.fromkeys(wanted)))

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
        return ask(name, self.units[name].read)

    def start(self, time: float) -> None:
        """First exchange, start of all units, and what they give then."""
        self._sample(time)
        self.write(time, self.settings.step)
        for name, unit in self.units.items():
            ask(name, unit.start, time)
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
        self.record.add(time, self.noted, self.models.message, step, **booked)
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
                ask(name, self.units[name].write, inputs)

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
            outcome = ask(name, self.units[name].advance, begin, end - begin)
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
            ask(name, self.units[name].write, inputs)

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
