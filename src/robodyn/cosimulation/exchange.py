"""What happens at a communication point? Signals and reduced models are read, sent and written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.cosimulation.connection import Bond, Channel
from robodyn.cosimulation.energy import EnergyBook
from robodyn.cosimulation.extrapolation import Samples, Trend
from robodyn.cosimulation.joining import join_motions
from robodyn.cosimulation.record import CouplingRecord, UnitRecord, gap_between
from robodyn.cosimulation.settings import Master
from robodyn.cosimulation.unit import Coefficients, InterfaceMotion, ReducedModel, UnitRefusal
from robodyn.cosimulation.unit_events import UnitEvents, all_arrive
from robodyn.errors import FlawList
from robodyn.results import Outcome, OutcomeKind, Run


class IllConditioned(ValueError):
    """A reduced interface model that does not exist."""


class UnitFailure(RuntimeError):
    """What a unit raised, told with its name."""

    def __init__(self, unit: str, error: Exception) -> None:
        super().__init__(f"unit '{unit}' raised {type(error).__name__}", str(error))

    def outcome(self, time: float) -> Outcome:
        if isinstance(self.__cause__, UnitRefusal):
            return Outcome(OutcomeKind.FAILED, f"at {time:.6g} s: {self.args[1]}", time)
        return Outcome(OutcomeKind.FAILED, f"{self.args[0]} at {time:.6g} s: {self.args[1]}", time)


class Exchange:
    """All units of a co-simulation and what passes between them; the one that changes while it runs."""

    def __init__(self, units: Mapping[str, Any], channels: Sequence[Channel], bonds: Sequence[Bond], master: Master):
        self.units, self.bonds, self.master = dict(units), tuple(bonds), master
        self.channels = (*channels, *(channel for bond in bonds for channel in bond.channels))
        self._choose()
        self.outputs: dict[str, Mapping[str, float]] = {name: unit.read() for name, unit in units.items()}
        self._check_outputs()
        self.samples = [Samples(channel) for channel in self.channels]
        self.books = [EnergyBook(bond) for bond in bonds]
        self.trends = {(bond.name, sender): Trend(bond.order) for bond in bonds for sender, _ in bond.models}
        self.record = CouplingRecord(units, self.channels, bonds)
        self.plain = {name: UnitRecord(unit) for name, unit in units.items() if not hasattr(unit, "finish")}
        self.told: dict[str, tuple[float, float]] = {bond.name: (0.0, 1.0) for bond in bonds}
        self.warnings: list[str] = []
        self.speeds: dict[str, float] = {}
        self.begun: dict[str, Mapping[str, float]] = {}
        self.noted: dict[str, Mapping[str, float]] = {}
        self.looked_at: float | None = None
        self.events = UnitEvents(units)
        self.fresh: dict[str, Mapping[str, float]] = {}

    def _choose(self) -> None:
        for name, unit in self.units.items():
            wanted = [output for channel in self.channels if channel.source == name for output in channel.outputs]
            if hasattr(unit, "choose"):
                unit.choose(tuple(dict.fromkeys(wanted)))

    def _check_outputs(self) -> None:
        flaws = FlawList()
        for channel in self.channels:
            for name in channel.outputs:
                value = self.outputs[channel.source].get(name)
                if not isinstance(value, int | float | np.number):
                    flaws.add(f"{channel.source}.{name}", f"read() gives {value!r} for it", "it must be a number")
        flaws.raise_if_any("co-simulation")

    def _ask(self, name: str, method: str, *given: Any, **further: Any) -> Any:
        """Call a method of a unit; a user's unit may raise anything."""
        try:
            return getattr(self.units[name], method)(*given, **further)
        except Exception as error:
            raise UnitFailure(name, error) from error

    @property
    def can_restore(self) -> bool:
        return all(getattr(unit, "can_restore", False) for unit in self.units.values())

    def start(self, time: float) -> None:
        """First exchange, start of all units, and what they give then."""
        self._sample(time)
        self.write(time)
        for name in self.units:
            self._ask(name, "start", time)
            self.outputs[name] = self._ask(name, "read")
        self._sample(time)
        for book in self.books:
            book.begin(self.outputs)

    def write(self, time: float) -> None:
        """Send everything at the beginning of a macro step: first what is known, then what depends on that."""
        self._send_models(time)
        self._send_signals(time, late=False)
        late = [samples for samples in self.samples if samples.channel.late]
        for name in {samples.channel.source for samples in late}:
            self.outputs[name] = self._ask(name, "read")
        for samples in late:
            samples.add(time, self.outputs[samples.channel.source])
        self._send_signals(time, late=True)

    def _look(self, time: float) -> None:
        """What all units give right after an exchange; this is what is written down."""
        self.looked_at = time
        self.noted = {name: self._ask(name, "read") for name in self.units}

    def _note(self, time: float, step: float) -> None:
        own = {book.bond.name: (book.error, *self.told[book.bond.name]) for book in self.books}
        self.record.add(time, self.noted, own, step)
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
                self._ask(name, "write", inputs)

    def _send_models(self, time: float) -> None:
        """Take all reduced models first, then attach them: in parallel, as the state was."""
        for bond in self.bonds:
            if not bond.models:
                continue
            taken = {sender: self._take_model(bond, sender, time) for sender, _ in bond.models}
            motions = {k: model.motion for k, model in taken.items()}
            self.told[bond.name] = (self._gap(bond, motions), max(model.condition for model in taken.values()))
            joined = join_motions(taken[0], taken[1], bond.join) if bond.merged else None
            for sender, receiver in bond.models:
                side = bond.sides[receiver]
                motion = joined or taken[sender].motion
                trend = self.trends[bond.name, sender]
                trend.add((time, time), taken[sender].acceleration)
                further = {"trend": trend.fit(time)[1:]} if bond.order else {}
                self._ask(side.unit, "attach_model", side.interface.name, taken[sender], motion, **further)

    def _take_model(self, bond: Bond, sender: int, time: float) -> ReducedModel:
        side = bond.sides[sender]
        model = self._ask(side.unit, "reduced_model", side.interface.name)
        place = f"{side.unit}.{side.interface.name}"
        needed = not bond.sides[1 - sender].elastic
        if needed and not model.condition <= self.master.condition_limit:
            raise IllConditioned(
                f"the reduced interface model of '{place}' broke down at {time:.6g} s: the condition number of its "
                f"mobility is {model.condition:.3g}, so that it has no inertia; the mechanism is in or near a singular "
                "position there: couple fewer rows, attach it through a stiffness, or make it flexible"
            )
        if needed and model.condition > self.master.condition_warning:
            self.warn(
                f"'{place}'",
                f"the mobility of '{place}' is ill-conditioned, {model.condition:.3g} at {time:.6g} s: what a reduced "
                "interface model gives there may be wrong",
            )
        return model

    def warn(self, about: str, sentence: str) -> None:
        """A warning, once for each place."""
        if not any(about in known for known in self.warnings):
            self.warnings.append(sentence)

    def _gap(self, bond: Bond, motions: Mapping[int, InterfaceMotion]) -> float:
        """How far the two sides have moved apart since the last exchange."""
        gaps = []
        for sender, receiver in bond.models:
            side = bond.sides[receiver]
            gaps.append(gap_between(motions[sender], _expected(side, self.outputs[side.unit])))
        return max(gaps)

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
                self.begun[name] = self._ask(name, "read") if self.books else self.noted[name]
            outcome = self._ask(name, "advance", begin, end - begin)
            self.events.collect(name)
            if outcome is not None:
                last = last or _name_unit(name, outcome, begin)
                if not all_arrive(last, begin, end):
                    return last
            fresh[name] = self._ask(name, "read")
        self.fresh = fresh
        return last

    def note_last(self, time: float) -> None:
        """The last row, and the events there, or in a macro step from there that a unit did not finish."""
        self._note(time, 0.0)
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
            self._ask(name, "write", inputs)

    def error(self, begin: float, end: float) -> float:
        """Largest error of what was expected at the end of the macro step, in units of the largest values so far."""
        least = self.master.least_scale
        arrived = {name: self.events.arrived(name, self.fresh[name]) for name in self.units}
        errors = [samples.miss(begin, end, arrived[samples.channel.source], least) for samples in self.samples]
        for bond in self.bonds:
            errors += [self._model_miss(bond, pair, least) for pair in bond.models]
        return max(errors, default=0.0)

    def _model_miss(self, bond: Bond, pair: tuple[int, int], least: float) -> float:
        """How far a receiver's idea of the sender's velocity is from the truth."""
        sender, receiver = (bond.sides[k] for k in pair)
        true = np.array([self.fresh[sender.unit][name] for name in sender.interface.names("velocity")])
        expected = _expected(receiver, self.fresh[receiver.unit]).velocity
        largest = self.speeds[bond.name] = max(self.speeds.get(bond.name, least), float(np.max(np.abs(true))))
        return float(np.max(np.abs(true - expected))) / largest

    def accept(self, begin: float, end: float) -> None:
        """What was found becomes what is known, and is written down."""
        for book in self.books:
            book.add(self.begun, self.fresh)
        self._note(begin, end - begin)
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
        units = {name: unit.save() for name, unit in self.units.items()}
        trends = {key: trend.copy() for key, trend in self.trends.items()}
        known = [samples.copy() for samples in self.samples], [book.copy() for book in self.books], trends
        return units, dict(self.outputs), known, dict(self.told)

    def restore(self, saved: Any) -> None:
        """Go back to where `save` was called."""
        units, self.outputs, (self.samples, self.books, self.trends), self.told = saved
        for name, state in units.items():
            self.units[name].restore(state)

    def close(self, time: float) -> None:
        """A last exchange, so that the record ends as it began."""
        self.write(time)
        self._look(time)
        for book in self.books:
            book.meet(self.noted)
        for name in self.units:
            self.events.collect(name)
        self.note_last(time)

    def keep(self, time: float) -> None:
        """Write down where it ended, as far as it got, without another exchange."""
        if self.record.times and self.record.times[-1] < time:
            self.noted = self.noted if self.looked_at == time else dict(self.outputs)
            self._note(time, 0.0)

    def finish(self, outcome: Outcome) -> dict[str, Run]:
        """A run of every unit; one that cannot give it does not take those of the others with it."""
        runs = {}
        for name, unit in self.units.items():
            self.warnings += [f"unit '{name}': {sentence}" for sentence in getattr(unit, "warnings", ())]
            try:
                runs[name] = unit.finish(outcome) if hasattr(unit, "finish") else self.plain[name].run(outcome)
            except Exception as error:  # noqa: BLE001  a user's unit may raise anything
                self.warnings.append(f"unit '{name}' gave no run: finish raised {type(error).__name__}: {error}")
        return runs


def _name_unit(name: str, outcome: Any, time: float) -> Outcome:
    """The outcome of a unit, with its name."""
    if not isinstance(outcome, Outcome):
        sentence = f"unit '{name}' returned {outcome!r} from advance at {time:.6g} s: an Outcome is wanted, or None"
        return Outcome(OutcomeKind.FAILED, sentence, time)
    return Outcome(outcome.kind, f"unit '{name}': {outcome.sentence}", outcome.time)


def _expected(side: Any, outputs: Mapping[str, float]) -> InterfaceMotion:
    """What a receiver of a model takes the motion of the other side for."""
    part, far = side.interface, "far_" if side.elastic else ""
    position, velocity = (
        np.array([outputs[name] for name in part.names(f"{far}{key}")]) for key in ("position", "velocity")
    )
    rotation = None
    if part.rotates:
        rotation = np.array([outputs[name] for name in part.names(f"{far}orientation")]).reshape(3, 3)
    return InterfaceMotion(position, velocity, rotation)
