"""Record of a co-simulation: what is kept at its communication points?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.cosimulation.capabilities import kinds_of, warnings_of
from robodyn.cosimulation.connection import Channel, InterfacePair
from robodyn.cosimulation.rotations import turn_between
from robodyn.cosimulation.unit import InterfaceMotion, Unit, UnitEvent
from robodyn.results import EventRecord, Outcome, Provenance, Run, SignalInfo, Statistics

Outputs = Mapping[str, Mapping[str, float]]


class CouplingRecord:
    """Rows of exchanged signals and of what the connections give about themselves."""

    def __init__(
        self, units: Mapping[str, Unit], channels: Sequence[Channel], interface_pairs: Sequence[InterfacePair]
    ) -> None:
        self.interface_pairs = tuple(interface_pairs)
        names = [(unit, name) for channel in channels for unit, name in _ends(channel)]
        for interface_pair in interface_pairs:
            for side in interface_pair.sides:
                quantities = ("position", "velocity", "force")
                names += [(side.unit, name) for key in quantities for name in side.interface.names(key)]
        self.kept = tuple(dict.fromkeys(names))
        self.infos = [SignalInfo(f"{unit}.{name}", units[unit].outputs.get(name, "")) for unit, name in self.kept]
        for interface_pair in interface_pairs:
            self.infos += [SignalInfo(f"{interface_pair.name}.{key}", unit) for key, unit in _OWN.items()]
        self.infos.append(SignalInfo("macro_step", "s", "held"))
        self.times: list[float] = []
        self.rows: list[list[float]] = []

    def add(self, time: float, outputs: Outputs, own: Mapping[str, tuple[float, float, float]], step: float) -> None:
        """A row; own: connection -> energy error, gap, condition."""
        row = [outputs[unit][name] for unit, name in self.kept]
        for interface_pair in self.interface_pairs:
            row += own[interface_pair.name]
        self.times.append(time)
        self.rows.append([*row, step])

    def run(self, name: str, outcome: Outcome, statistics: Statistics, settings: Mapping[str, Any]) -> Run:
        values = np.array(self.rows, float).reshape(len(self.times), len(self.infos))
        provenance = Provenance(f"{name}-coupling", solver=dict(settings))
        return Run(np.array(self.times), values, tuple(self.infos), outcome, provenance, statistics)


_OWN = {"energy_error": "J", "gap": "", "condition": ""}


def _ends(channel: Channel) -> list[tuple[str, str]]:
    return [(channel.source, name) for name in channel.outputs]


class UnitRecord:
    """What a unit without a record of its own gave at the communication points and at its events.

    Where an event or an exchange makes the outputs jump, there are rows of both sides at the same time.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.times: list[float] = []
        self.rows: list[dict[str, float]] = []
        self.events: list[EventRecord] = []

    def add(self, time: float, outputs: Mapping[str, float]) -> None:
        """A row, but for one that is there already."""
        if not (self.times and self.times[-1] == time and self.rows[-1] == outputs):
            self.times.append(time)
            self.rows.append(dict(outputs))

    def add_events(self, events: Iterable[UnitEvent]) -> None:
        for event in events:
            for outputs in (event.before, event.after):
                if outputs is not None:
                    self.add(event.time, outputs)
            self.events.append(EventRecord(event.name, event.time, event.terminal))

    def run(self, outcome: Outcome, provenance: Provenance | None = None, statistics: Statistics | None = None) -> Run:
        names = list(self.rows[0]) if self.rows else []
        values = np.array([[row[name] for name in names] for row in self.rows], float)
        kinds = kinds_of(self.unit)
        units = self.unit.outputs
        return Run(
            np.array(self.times),
            values.reshape(len(self.times), len(names)),
            tuple(SignalInfo(name, units.get(name, ""), kinds.get(name, "continuous")) for name in names),
            outcome,
            provenance or Provenance(self.unit.name),
            statistics or Statistics(events=len(self.events)),
            tuple(self.events),
            warnings_of(self.unit),
        )


def gap_between(first: InterfaceMotion, second: InterfaceMotion) -> float:
    """Distance [m or rad] between two motions of one interface, or the angle between them if that is larger."""
    apart = math.hypot(*(first.position - second.position).tolist())
    if first.rotation is None or second.rotation is None:
        return apart
    return max(apart, math.hypot(*turn_between(first.rotation, second.rotation).tolist()))
