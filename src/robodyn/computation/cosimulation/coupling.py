"""Coupling under way: how does Python drive the engine's macro steps, and serve the units that are no runs of it?

The loop is the engine's (coupling.c). Scenarios are advanced there; it returns for what only Python can do: to read,
write or move a unit of another kind (an FMU, a user's class), to call a Python block, to save and restore a unit. The
structures of `coupling.h` are filled once; their arrays are kept alive by the objects here.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from robodyn.base import FlawList
from robodyn.computation.engine.binding import EngineStructure, functions, line_up
from robodyn.computation.engine.integrate import Reason
from robodyn.computation.results import Outcome, OutcomeKind, Run, Statistics

from .connection import Channel, InterfacePair, Side
from .record import CouplingRecord, UnitRecord
from .reduced import CLOSING_STEPS, JOININGS, TAKES, PortTerms
from .scenario_inputs import HIGHEST_ORDER, all_coefficients
from .scenario_unit import OUTPUTS, ScenarioUnit
from .settings import CosimSettings
from .unit import (
    Unit,
    UnitEvent,
    UnitFailure,
    abilities_of,
    all_arrive,
    call_unit,
    name_unit,
)

Progress = Callable[[float, float, int], None]
MOST_ROWS = 256
"""Macro steps between two looks at the keyboard."""
BUDGET = 2000
"""Micro steps of a unit between them."""


class Asked(IntEnum):
    """A request of the engine, or why there is nothing more to do, as in coupling.h."""

    DONE = 0
    READ_UNIT = 1
    WRITE_UNIT = 2
    START_UNIT = 3
    MOVE_UNIT = 4
    SERVE_UNIT = 5
    END_UNIT = 6
    SAVE_UNIT = 7
    RESTORE_UNIT = 8
    RECORD_UNIT = 9
    GIVE_MODEL = 10
    TAKE_MODEL = 11
    STARTED = 12
    ROWS_FULL = 13
    COUPLING_ENDED = 14
    UNIT_STOPPED = 15
    NO_MODEL = 16
    SIGNAL_DIVERGED = 17


class Answer(IntEnum):
    """How a unit got to the end of a macro step, as in coupling.h."""

    GOES_ON = 0
    ENDS_THERE = 1
    STOPPED_BEFORE = 2


class Trend(EngineStructure):
    """The last values of a vector, as many as a polynomial of an order goes through.

    Attributes:
        spans: begin and end of the time over which each value is the mean, the same for a value at an instant [s].
    """

    def __init__(self, order: int, size: int) -> None:
        self.spans, self.values = np.zeros((HIGHEST_ORDER + 1, 2)), np.zeros((HIGHEST_ORDER + 1, size))
        super().__init__("Trend", order=order, size=size, spans=self.spans, values=self.values)


class ForeignUnit:
    """A unit that is no run of the engine, with what was read from it.

    Attributes:
        place: output -> its place among those that are exchanged or written down.
        latest: all its outputs as read last; noted: after the last exchange; events: of the macro step.
        record: where it has none of its own.
    """

    def __init__(self, unit: Unit, names: Sequence[str], outputs: Mapping[str, float]) -> None:
        self.unit, self.name = unit, unit.name
        self.place = {name: k for k, name in enumerate(names)}
        arrays = {key: np.zeros(len(names)) for key in OUTPUTS}
        self.native = EngineStructure("CoupledUnit", n_read=len(names), **arrays)
        self.ports: dict[str, PortTerms] = {}
        self.events: list[UnitEvent] = []
        self.abilities = abilities_of(unit)
        self.record = None if self.abilities.finish else UnitRecord(unit)
        self.take(outputs)
        self.noted = self.latest

    def take(self, outputs: Mapping[str, float]) -> None:
        """Outputs that were read."""
        self.latest = outputs
        self.native.arrays["outputs"][:] = [outputs[name] for name in self.place]

    def move(self, time: float, end: float, cuts: bool) -> Outcome | None:
        """Go to the end of a macro step, and look for events on the way."""
        outcome = call_unit(self.name, self.unit.advance, time, end - time)
        self.take_events()
        jumps = [event for event in self.events if event.before is not None]
        fields = self.native.fields
        fields.event = min((event.time for event in jumps), default=math.inf)
        fields.jumped = int(any(event.time > time for event in self.events))
        if cuts and jumps:
            # Where a macro step is cut at an event, what arrives there is what was before it: the jump comes after.
            before = jumps[0].before or {}
            self.native.arrays["arrived"][:] = [before.get(name, math.nan) for name in self.place]
            fields.early = 1
        return outcome

    def take_events(self) -> None:
        self.events = self.abilities.take_events()

    def write_down(self, time: float, outputs: Mapping[str, float], events: Sequence[UnitEvent] = ()) -> None:
        """A row of the record, and events behind it."""
        if self.record is not None:
            self.record.add(time, outputs)
            self.record.add_events(events)


class Coupling:
    """All units of a co-simulation and what passes between them; the one that changes while it runs.

    Attributes:
        units: name -> a scenario or the adapter of another unit.
        trends: the last values of channels, then accelerations of the models that are sent.
        outcome: of the first unit that ended.
    """

    def __init__(
        self,
        units: Mapping[str, Unit],
        channels: Sequence[Channel],
        pairs: Sequence[InterfacePair],
        settings: CosimSettings,
        duration: float,
    ) -> None:
        self.settings, self.pairs = settings, tuple(pairs)
        self.channels = (*channels, *(channel for pair in pairs for channel in pair.channels))
        self.warnings: list[str] = []
        self.outcome: Outcome | None = None
        self.saved: dict[str, Any] = {}
        self.begun = clock.perf_counter()
        outputs = self._choose_outputs(units)
        self.record = CouplingRecord(units, self.channels, pairs, outputs)
        self.units: dict[str, ScenarioUnit | ForeignUnit] = {}
        for name, unit in units.items():
            if type(unit) is ScenarioUnit:
                unit.native.arrays["outputs"][:] = [outputs[name][key] for key in unit.place]
                self.units[name] = unit
            else:
                self.units[name] = ForeignUnit(unit, self._names_of(name), outputs[name])
        self.parts = list(self.units.values())
        self.native = self._fill(duration)
        # In the order of `Asked`, from READ_UNIT on.
        self.answers: tuple[Callable[[], None], ...] = (
            *(self._read, self._write, self._start, self._move, self._serve, self._end, self._save, self._restore),
            *(self._record_unit, self._give_model, self._take_model),
        )

    # ----------------------------------------------------------------------------------------------
    # Set-up: the structures of the engine

    def _choose_outputs(self, units: Mapping[str, Unit]) -> dict[str, Mapping[str, float]]:
        """Units learn which outputs will be read, and give them as they are before the start."""
        flaws = FlawList()
        outputs: dict[str, Mapping[str, float]] = {}
        for name, unit in units.items():
            wanted = [output for channel in self.channels if channel.source == name for output in channel.outputs]
            abilities_of(unit).choose(tuple(dict.fromkeys(wanted)))
            if isinstance(unit, ScenarioUnit):
                sides = [side for pair in self.pairs if pair.implicit for side in pair.sides]
                unit.foresee([side.interface.name for side in sides if side.unit == name])
            outputs[name] = unit.read()
            for output in dict.fromkeys(wanted):
                value = outputs[name].get(output)
                if not isinstance(value, int | float | np.number):
                    flaws.add(f"{name}.{output}", f"read() gives {value!r} for it", "it must be a number")
        flaws.raise_if_any("co-simulation")
        return outputs

    def _names_of(self, unit: str) -> list[str]:
        """Outputs of a unit that are exchanged, written down or compared with what was expected."""
        names = [name for owner, name in (*self.record.kept, *self.record.booked) if owner == unit]
        for pair in self.pairs:
            for _, receiver in pair.models:
                side = pair.sides[receiver]
                names += side.expected if side.unit == unit else []
        return list(dict.fromkeys(names))

    def _fill(self, duration: float) -> EngineStructure:
        settings, names = self.settings, list(self.units)
        units = list(self.units.values())
        arrays: dict[str, Any] = {"units": line_up("CoupledUnit", [unit.native for unit in units])}
        self.trends: list[Trend] = []
        self.entries = [self._fill_channel(channel) for channel in self.channels]
        arrays["channels"] = line_up("Channel", self.entries)
        arrays["pairs"] = line_up("Pair", [self._fill_pair(pair) for pair in self.pairs])
        for key, signals in (("kept", self.record.kept), ("booked", self.record.booked)):
            places = [(names.index(unit), self.units[unit].place[name]) for unit, name in signals]
            arrays[key] = np.array(places, np.int64).reshape(-1, 2)
        counts = {f"n_{key}": len(entries) for key, entries in arrays.items()}

        # Signals are missed by h^(1 + order), speeds of models, whose accelerations go on so, by one power more.
        orders = [1 + channel.order for channel in self.channels]
        orders += [2 + pair.order for pair in self.pairs if pair.models]
        # A macro step can be cut at an event where all units can go back and stop there.
        abilities = [abilities_of(unit) if isinstance(unit, ScenarioUnit) else unit.abilities for unit in units]
        restorable = all(one.can_restore and one.variable_step for one in abilities)
        cuts = restorable and any(one.has_events for one in abilities)
        natively = all(isinstance(unit, ScenarioUnit) for unit in units)
        self.rows = np.zeros((MOST_ROWS, self.record.width))
        limits = ("condition_limit", "condition_warning", "largest_value", "least_scale", "step")
        return EngineStructure(
            "Coupling",
            **arrays,
            **counts,
            **{key: getattr(settings, key) for key in limits},
            first_step=settings.step,
            tolerance=settings.tolerance or 0.0,
            smallest_step=settings.shortest,
            largest_step=settings.largest_step or duration,
            order=min(orders, default=1),
            missed_at=math.nan,
            noted_at=math.nan,
            duration=duration,
            rows=self.rows,
            # Between units that are called in Python there is time to look at the keyboard.
            row_capacity=MOST_ROWS if natively else 1,
            sequential=int(settings.scheme == "sequential"),
            cuts=int(cuts),
            restores=int(cuts or settings.tolerance is not None),
            closing_steps=CLOSING_STEPS,
            budget=BUDGET,
        )

    def _trends_of(self, order: int, size: int, copies: Sequence[str]) -> dict[str, Trend]:
        self.trends.append(Trend(order, size))
        return {"trend": self.trends[-1], **{key: Trend(order, size) for key in copies}}

    def _fill_channel(self, channel: Channel) -> EngineStructure:
        source, target = self.units[channel.source], self.units[channel.target]
        names, size = list(self.units), len(channel.outputs)
        inputs = np.zeros((HIGHEST_ORDER + 1, size), np.int64)
        if isinstance(target, ScenarioUnit):
            inputs[:] = target.numbers_at(all_coefficients(channel.inputs)).reshape(-1, size)
        return EngineStructure(
            "Channel",
            outputs=np.array([source.place[name] for name in channel.outputs], np.int64),
            inputs=inputs,
            course=np.zeros((HIGHEST_ORDER + 1, size)),
            gain=channel.gain,
            late=int(channel.late),
            mean=int(channel.mean),
            source=names.index(channel.source),
            target=names.index(channel.target),
            **self._trends_of(channel.order, size, ("scratch", "saved")),
        )

    def _fill_pair(self, pair: InterfacePair) -> EngineStructure:
        ports = []
        for k, side in enumerate(pair.sides):
            unit, rows = self.units[side.unit], len(side.interface.row_names)
            if isinstance(unit, ForeignUnit):
                unit.ports[side.interface.name] = PortTerms(side.interface, unit.place)
            port = unit.ports[side.interface.name]
            takes = (1 - k, k) in pair.models
            gives = (k, 1 - k) in pair.models
            port.set(
                unit=list(self.units).index(side.unit),
                gives=int(gives),
                takes=TAKES[side.interface.rigid] if takes else 0,
                warned_at=math.nan,
            )
            if gives:
                port.set(**self._trends_of(pair.order, rows, ("saved",)))
            if isinstance(unit, ScenarioUnit):
                unit.corrected |= takes and side.interface.rigid and not (pair.merged and pair.join == "none")
            ports.append(port)
        join, speed = JOININGS.index(pair.join), self.settings.least_scale
        return EngineStructure("Pair", first=ports[0], second=ports[1], join=join, condition=1.0, speed=speed)

    # ----------------------------------------------------------------------------------------------
    # What the engine asks for

    @property
    def _unit(self) -> Any:
        """The unit that is meant: a scenario, or a foreign unit, as the engine knows them apart."""
        return self.parts[self.native.fields.unit]

    @property
    def _member(self) -> Any:
        unit = self._unit
        return unit.unit if isinstance(unit, ForeignUnit) else unit

    def _read(self) -> None:
        foreign = self._unit
        foreign.take(call_unit(foreign.name, foreign.unit.read))
        if self.native.fields.looking:
            foreign.noted, foreign.events = foreign.latest, []

    def _write(self) -> None:
        foreign = self._unit
        inputs: dict[str, tuple[float, ...]] = {}
        for channel, entry in zip(self.channels, self.entries, strict=True):
            if channel.target == foreign.name:
                columns = entry.arrays["course"][: entry.fields.n_course].T.tolist()
                inputs |= {name: tuple(column) for name, column in zip(channel.inputs, columns, strict=True) if column}
        call_unit(foreign.name, foreign.unit.write, inputs)

    def _start(self) -> None:
        call_unit(self._unit.name, self._member.start, self.time)

    def _move(self) -> None:
        fields, foreign = self.native.fields, self._unit
        self._answer(foreign.move(fields.time, fields.end, bool(fields.cuts)))

    def _serve(self) -> None:
        """A run of the engine needs Python: for a task, a Jacobian, or a look at the clock."""
        scenario = self._unit
        self._answer(scenario.serve(Reason(self.native.fields.reason)))
        self.progress(self.time, self.native.fields.step, self.native.fields.steps)

    def _end(self) -> None:
        scenario = self._unit
        self._answer(scenario.conclude(scenario.run.status))

    def _answer(self, outcome: Any) -> None:
        """Say how a unit got on: one that ends where all arrive lets the others go there too."""
        fields = self.native.fields
        fields.answer = Answer.GOES_ON
        if outcome is not None:
            outcome = name_unit(self._unit.name, outcome, fields.time)
            arrive = all_arrive(outcome, fields.time, fields.end)
            fields.answer = Answer.ENDS_THERE if arrive else Answer.STOPPED_BEFORE
            if fields.ended == Answer.GOES_ON:
                self.outcome = outcome

    def _save(self) -> None:
        self.saved[self._unit.name] = self._member.save()

    def _restore(self) -> None:
        self._member.restore(self.saved[self._unit.name])

    def _record_unit(self) -> None:
        foreign, fields = self._unit, self.native.fields
        foreign.write_down(fields.time, foreign.noted, foreign.events)
        foreign.write_down(fields.end, foreign.latest)

    def _port(self) -> tuple[InterfacePair, Side, PortTerms, PortTerms]:
        """The connection, the side that is asked, its terms and those of the other side."""
        fields = self.native.fields
        pair = self.pairs[fields.pair]
        terms = [self.units[side.unit].ports[side.interface.name] for side in pair.sides]
        return pair, pair.sides[fields.side], terms[fields.side], terms[1 - fields.side]

    def _give_model(self) -> None:
        pair, side, terms, _ = self._port()
        further = {"step": self.native.fields.end - self.time} if pair.implicit else {}
        terms.put(call_unit(side.unit, self._member.reduced_model, side.interface.name, **further))

    def _take_model(self) -> None:
        pair, side, terms, sender = self._port()
        further = {"trend": sender.course} if pair.order else {}
        call_unit(side.unit, self._member.attach_model, side.interface.name, sender.taken, terms.goal, **further)

    # ----------------------------------------------------------------------------------------------
    # Going on

    @property
    def time(self) -> float:
        """That all units have reached [s]."""
        return self.native.fields.time

    def carry_out(self, routine: Callable[[int], int]) -> Asked:
        """Carry out a routine of the engine, with what it asks for."""
        while 0 < (asked := routine(self.native.address)) <= len(self.answers):
            self.answers[asked - 1]()
        return Asked(asked)

    def run(self, progress: Progress) -> Outcome:
        """Macro steps to the end, or to what ends it."""
        self.progress = progress
        try:
            outcome = None
            while outcome is None:
                outcome = self._go_on()
        except UnitFailure as error:
            outcome = error.outcome(self.time)
        except KeyboardInterrupt:
            sentence = f"interrupted at {self.time:.6g} s of simulated time; the runs so far are kept"
            outcome = Outcome(OutcomeKind.INTERRUPTED, sentence, self.time)
        self._drain()
        # Where it ended is written down, as far as it got, without another exchange.
        if self.record.last_time is not None and self.record.last_time < self.time:
            self._note()
        fields = self.native.fields
        for pair in self.pairs:
            for side in pair.sides:
                port = self.units[side.unit].ports[side.interface.name].fields
                if not math.isnan(port.warned_at):
                    self.warnings.append(
                        f"the mobility of '{side.unit}.{side.interface.name}' is ill-conditioned, {port.warned:.3g} at "
                        f"{port.warned_at:.6g} s: what a reduced interface model gives there may be wrong"
                    )
        if not math.isnan(fields.missed_at):
            self.warnings.append(
                f"the coupling error is {fields.missed:.3g} times its tolerance at {fields.missed_at:.6g} s, in the "
                "smallest step"
            )
        return outcome

    def _go_on(self) -> Outcome | None:
        """Macro steps for a while; the outcome where there are no more."""
        asked = self.carry_out(functions().coupling_advance)
        self._drain()
        if asked == Asked.STARTED:
            self.record.begin({name: self.outputs(name) for name in self.units})
            return None
        if asked == Asked.ROWS_FULL:
            self.progress(self.time, self.native.fields.step, self.native.fields.steps)
            return None
        if asked == Asked.UNIT_STOPPED:
            assert self.outcome is not None
            if self.native.fields.ended == Answer.STOPPED_BEFORE:
                self._note()
            return self.outcome
        if asked == Asked.NO_MODEL:
            _, side, terms, _ = self._port()
            return Outcome(OutcomeKind.ILL_CONDITIONED, _no_model(side, terms.condition, self.time), self.time)
        if asked == Asked.SIGNAL_DIVERGED:
            # The exchanged signal of largest magnitude, or the first that is no number.
            values = {f"{unit}.{name}": self.outputs(unit)[name] for unit, name in self.record.kept}
            nameless = [name for name, value in values.items() if not math.isfinite(value)]
            name = nameless[0] if nameless else max(values, key=lambda key: abs(values[key]))
            sentence = (
                f"'{name}' reached {values[name]:.3g} at {self.time:.6g} s: the coupling is unstable at this macro "
                f"step of {self.native.fields.step:.3g} s; shorten it, or couple by reduced interface models"
            )
            if math.isnan(values[name]):
                sentence = f"'{name}' stopped being a number at {self.time:.6g} s"
            return Outcome(OutcomeKind.DIVERGED, sentence, self.time)
        for unit in self.units.values():
            if isinstance(unit, ForeignUnit):
                unit.take_events()
                unit.write_down(self.time, unit.noted, unit.events)
        return Outcome(OutcomeKind.FINISHED, f"reached the end time {self.time:.6g} s", self.time)

    def outputs(self, unit: str) -> dict[str, float]:
        """Outputs of a unit as read last."""
        part = self.units[unit]
        return dict(zip(part.place, part.native.arrays["outputs"].tolist(), strict=True))

    def _drain(self) -> None:
        fields = self.native.fields
        self.record.extend(self.rows[: fields.n_rows].copy())
        fields.n_rows = 0

    def _note(self) -> None:
        """A last row without a macro step, and the events of one that was not finished."""
        exchanged = self.native.fields.noted_at == self.time
        functions().coupling_note(self.native.address)
        self._drain()
        for unit in self.units.values():
            if isinstance(unit, ForeignUnit):
                unit.write_down(self.time, *((unit.noted, unit.events) if exchanged else (unit.latest,)))

    def statistics(self) -> Statistics:
        fields = self.native.fields
        return Statistics(
            steps=fields.steps,
            rejected=fields.rejected,
            wall_time=clock.perf_counter() - self.begun,
            simulated_time=self.time,
            extra={"cut_at_events": fields.n_cut} if fields.n_cut else {},
        )

    def finish(self, outcome: Outcome) -> dict[str, Run]:
        """A run of every unit; one that cannot give it does not take those of the others with it."""
        runs = {}
        for name, part in self.units.items():
            unit = part.unit if isinstance(part, ForeignUnit) else part
            abilities = abilities_of(unit)
            self.warnings += [f"unit '{name}': {sentence}" for sentence in abilities.warnings]
            try:
                if isinstance(part, ForeignUnit) and part.record is not None:
                    runs[name] = part.record.run(outcome)
                elif abilities.finish:
                    runs[name] = abilities.finish(outcome)
            except Exception as error:  # noqa: BLE001  a user's unit may raise anything
                self.warnings.append(f"unit '{name}' gave no run: finish raised {type(error).__name__}: {error}")
        return runs


def _no_model(side: Side, condition: float, time: float) -> str:
    return (
        f"the reduced interface model of '{side.unit}.{side.interface.name}' broke down at {time:.6g} s: the "
        f"condition number of its mobility is {condition:.3g}, so that it has no inertia; the mechanism is in or "
        "near a singular position there: couple fewer rows, attach it through a stiffness, or make it flexible; "
        "where it is implicit, shorten the macro step"
    )
