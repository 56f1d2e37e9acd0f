"""Co-simulation: how are subsystems simulated together that meet only at communication points?

What happens in a macro step says `engine/coupling.c`; `Coupling` drives it. Before anything runs, all that does not fit
together is reported at once (`couple_units`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from types import FunctionType

from robodyn.base import FlawList, WaitingLine
from robodyn.computation.results import Outcome

from .connection import (
    Connection,
    SignalConnection,
    check_fed_once,
    check_meeting,
    find_idle,
    make_channels,
    pair_interfaces,
)
from .coupling import Coupling, Progress
from .record import CosimulationRun
from .settings import CosimSettings
from .unit import Unit, abilities_of

NEEDED = tuple(
    name for name, member in vars(Unit).items() if isinstance(member, (property, FunctionType)) and name[0] != "_"
)
"""Members of a unit."""


def couple_units(
    units: Sequence[Unit],
    connections: Sequence[Connection],
    signal_connections: Sequence[SignalConnection],
    duration: float | None,
    settings: CosimSettings,
) -> Coupling:
    """Units made ready to begin; names, connections, orders and durations are checked, all at once."""
    flaws = FlawList()
    # What is no unit has no names to check further.
    if not units:
        flaws.add("units", "there are none")
    candidates: Sequence[object] = units
    for k, candidate in enumerate(candidates):
        if not isinstance(candidate, Unit):
            missing = [key for key in NEEDED if key not in dir(candidate)]
            flaws.add(f"units[{k}]", f"has no {', '.join(missing)}", "a unit has the methods of cosimulation.Unit")
        if abilities_of(candidate).used:
            flaws.add(f"units[{k}]", "has already been used", "renew() returns the same unit at its start")
    flaws.raise_if_any("co-simulation")
    for name, count in Counter(unit.name for unit in units).items():
        if count > 1 or name == "coupling":
            flaws.add(f"units.{name}", "is taken", "give each unit its own name, and none of them 'coupling'")
        if not isinstance(name, str) or not name or set(name) & set("/\\"):
            flaws.add("units", f"{name!r} is not a valid name for a subsystem", "it becomes part of a file's name")

    # Interfaces and signals that are connected, each input once, with polynomials that its unit takes.
    by_name = {unit.name: unit for unit in units}
    pairs = pair_interfaces(by_name, connections, flaws)
    channels = make_channels(by_name, signal_connections, flaws)
    all_channels = [*channels, *(channel for pair in pairs for channel in pair.channels)]
    check_fed_once(all_channels, flaws)
    for channel in all_channels:
        highest = abilities_of(by_name[channel.target]).order_of(channel.inputs)
        if isinstance(channel.order, int) and channel.order > highest:
            what = f"order {channel.order} is more than it takes"
            flaws.add(f"{channel.target}.{channel.inputs[0]}", what, f"at most {highest}")
    check_meeting(by_name, pairs, flaws)
    if not connections and not signal_connections:
        flaws.add("connections", "there are none", "couple the units, or simulate each by itself")

    # An adapted macro step is tried again, with another length.
    length = _find_duration(units, duration, flaws)
    for unit in units if settings.tolerance is not None else ():
        abilities = abilities_of(unit)
        if not abilities.can_restore:
            what = "cannot go back to a communication point, so that the macro step cannot be adapted"
            flaws.add(f"units.{unit.name}", what, "remove the tolerance; blocks called in Python cannot go back")
        if not abilities.variable_step:
            flaws.add(f"units.{unit.name}", "takes steps of one length only", "leave out the tolerance")
    flaws.raise_if_any("co-simulation")

    coupling = Coupling(by_name, channels, pairs, settings, length)
    for place in find_idle(by_name, pairs, [signal_connection.target for signal_connection in signal_connections]):
        coupling.warnings.append(f"'{place}' is not connected: its far side is at rest, or absent")
    return coupling


def _find_duration(units: Sequence[Unit], duration: float | None, flaws: FlawList) -> float:
    scenarios = {unit.name: abilities_of(unit).scenario for unit in units}
    lengths = {name: scenario.duration for name, scenario in scenarios.items() if scenario is not None}
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
        connections: of interfaces; signal_connections: of single signals.
        duration: [s]; the shortest of the units' scenarios by default.
        progress: called with (time, macro step, steps).

    Returns:
        What happened, also where it could not go on: see its outcome.

    Raises:
        ModelError: for what does not fit together, all of it at once.
    """
    coupling = couple_units(units, connections, signal_connections, duration, settings)
    length = coupling.native.fields.duration
    with WaitingLine(f"simulating {name}", quiet=progress is not None, watched=False) as message:
        outcome = coupling.run(progress or message.follow(length))
    statistics = coupling.statistics()
    runs = coupling.finish(outcome)
    record = coupling.record.run(name, outcome, statistics, settings)
    # What holds a unit whose run is suspect is so too.
    outcome = record.outcome
    for unit_name, run in runs.items():
        if outcome.ok and run.outcome.suspect:
            outcome = Outcome(run.outcome.kind, f"unit '{unit_name}' {run.outcome.sentence}", outcome.time)
    return CosimulationRun(name, runs, record, outcome, statistics, tuple(coupling.warnings))
