"""Checks of a co-simulation: do its parts fit together? All that does not is reported before anything runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType

from robodyn.base.errors import FlawList
from robodyn.computation.cosimulation.capabilities import (
    HasScenario,
    UsedOnce,
    can_restore,
    can_vary_steps,
    highest_order,
)
from robodyn.computation.cosimulation.connection import (
    Channel,
    Connection,
    SignalConnection,
    check_fed_once,
    make_bonds,
    make_channels,
)
from robodyn.computation.cosimulation.exchange import Exchange
from robodyn.computation.cosimulation.settings import CosimSettings
from robodyn.computation.cosimulation.topology import check_meeting, find_idle
from robodyn.computation.cosimulation.unit import Unit

MEMBERS = property, FunctionType
NEEDED = tuple(name for name, member in vars(Unit).items() if isinstance(member, MEMBERS) and name[0] != "_")
"""Members of a unit."""


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
    _check_protocol(units, flaws)
    flaws.raise_if_any("co-simulation")
    for name, count in Counter(unit.name for unit in units).items():
        if count > 1 or name == "coupling":
            flaws.add(f"units.{name}", "is taken", "give each unit its own name, and none of them 'coupling'")
        if not isinstance(name, str) or not name or set(name) & set("/\\"):
            flaws.add("units", f"{name!r} is no name for a unit", "it becomes part of a file's name")
    known = {unit.name: unit for unit in units}
    pairs = make_bonds(known, connections, flaws)
    channels = make_channels(known, signal_connections, flaws)
    _check_channels(
        known,
        [*channels, *(channel for pair in pairs for channel in pair.channels)],
        flaws,
    )
    check_meeting(known, pairs, flaws)
    if not connections and not signal_connections:
        flaws.add("connections", "there are none", "couple the units, or simulate each by itself")
    length = _find_duration(units, duration, flaws)
    if settings.tolerance is not None:
        _check_restoring(units, flaws)
        _check_steps(units, flaws)
    flaws.raise_if_any("co-simulation")
    exchange = Exchange(known, channels, pairs, settings)
    for place in find_idle(known, pairs, [signal_connection.target for signal_connection in signal_connections]):
        exchange.warn(f"'{place}'", f"'{place}' is connected with nothing: its far side is at rest, or not there")
    return Plan(exchange, length)


def _check_protocol(units: Sequence[object], flaws: FlawList) -> None:
    if not units:
        flaws.add("units", "there are none")
    for k, unit in enumerate(units):
        if not isinstance(unit, Unit):
            missing = [key for key in NEEDED if key not in dir(unit)]
            flaws.add(f"units[{k}]", f"has no {', '.join(missing)}", "a unit has the methods of cosimulation.Unit")
        if isinstance(unit, UsedOnce) and unit.used:
            flaws.add(f"units[{k}]", "has been used already", "renew() gives the same unit from its start")


def _check_channels(units: Mapping[str, Unit], channels: Sequence[Channel], flaws: FlawList) -> None:
    check_fed_once(channels, flaws)
    for channel in channels:
        highest = highest_order(units[channel.target], channel.inputs)
        if isinstance(channel.order, int) and channel.order > highest:
            what = f"order {channel.order} is more than it takes"
            flaws.add(f"{channel.target}.{channel.inputs[0]}", what, f"at most {highest}")


def _check_restoring(units: Sequence[Unit], flaws: FlawList) -> None:
    for unit in units:
        if not can_restore(unit):
            what = "cannot go back to a communication point, so that the macro step cannot be adapted"
            flaws.add(f"units.{unit.name}", what, "leave out the tolerance; blocks called in Python cannot go back")


def _check_steps(units: Sequence[Unit], flaws: FlawList) -> None:
    for unit in units:
        if not can_vary_steps(unit):
            flaws.add(f"units.{unit.name}", "takes steps of one length only", "leave out the tolerance")


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
