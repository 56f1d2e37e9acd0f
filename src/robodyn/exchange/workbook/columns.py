"""Columns of a workbook: which has the sheet of the run, in which order?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from openpyxl.utils import get_column_letter

from robodyn.computation.assembly import System
from robodyn.exchange.workbook.cells import Placement
from robodyn.exchange.workbook.row import PARAMETER, PREDICTED, RowProgram

Key = tuple[str, int]


@dataclass(frozen=True)
class Column:
    """A column: what it is (its kind and number), group, name and unit, and the node it shows, if any."""

    key: Key
    group: str
    name: str
    unit: str
    node: int | None = None


@dataclass(frozen=True)
class Columns:
    """All columns in their order, the column in which a node is computed, and the letter of every column."""

    columns: tuple[Column, ...]
    homes: Mapping[int, Key]
    letters: Mapping[Key, str] = field(init=False)

    def __post_init__(self) -> None:
        letters = {column.key: get_column_letter(k) for k, column in enumerate(self.columns, start=1)}
        object.__setattr__(self, "letters", letters)


def name_columns(system: System, row: RowProgram, even: bool = True) -> Columns:
    """The columns that have names: time, states, memory, rates, signals, events, predictions; helpers come later.

    Args:
        even: whether all steps are alike; else each row says how far the next one is.
    """
    outputs = row.outputs
    shown = {state.name for state in system.states} | {info.name for info in system.memory}
    signals = [(info, node) for info, node in zip(system.signals, outputs["signals"], strict=True)]
    columns = [Column(("step", 0), "time", "step", ""), Column(("t", 0), "time", "t", "s")]
    columns += [] if even else [Column(("h", 0), "time", "to the next row", "s")]
    columns += [Column(("x", k), "states", state.name, state.unit) for k, state in enumerate(system.states)]
    columns += [
        Column(("m", k), "memory", info.name, info.unit, outputs["memory"][k]) for k, info in enumerate(system.memory)
    ]
    columns += [Column(("due", k), "sampling", f"sample {k + 1} due", "") for k in range(len(row.timings))]
    columns += [
        Column(("signal", k), "signals", info.name, info.unit, node)
        for k, (info, node) in enumerate(signals)
        if info.name not in shown
    ]
    homes = _find_homes(row, columns)
    columns += _rate_columns(system, row, homes)
    columns += _event_columns(system, row)
    columns += _prediction_columns(system, row)
    return Columns(tuple(columns), _find_homes(row, columns))


def _rate_columns(system: System, row: RowProgram, homes: dict[int, Key]) -> list[Column]:
    """Rates that are no signal, state or number already."""
    return [
        Column(("rate", k), "rates", f"{state.name}'", rate_unit(state.unit), node)
        for k, (state, node) in enumerate(zip(system.states, row.outputs["rates"], strict=True))
        if _computes(row, node) and node not in homes
    ]


def _event_columns(system: System, row: RowProgram) -> list[Column]:
    found = []
    for k, (guard, node) in enumerate(zip(system.discrete.guards, row.outputs["guards"], strict=True)):
        found.append(Column(("guard", k), "events", f"guard {guard.name}", "", node))
        found.append(Column(("event", k), "events", f"event {guard.name}", ""))
    return found


def _prediction_columns(system: System, row: RowProgram) -> list[Column]:
    if not row.outputs["predicted"]:
        return []
    states = list(enumerate(system.states))
    found = [Column(("end", 0), "predicted", "t at the end", "s")]
    predicted, rates = row.outputs["predicted"], row.outputs["end_rates"]
    found += [Column(("predicted", k), "predicted", f"{s.name} predicted", s.unit, predicted[k]) for k, s in states]
    found += [
        Column(("end_rate", k), "predicted", f"{s.name}' predicted", rate_unit(s.unit), rates[k])
        for k, s in states
        if _computes(row, rates[k]) and rates[k] not in predicted
    ]
    return found


def rate_unit(unit: str) -> str:
    """Unit of a rate of change."""
    return f"{unit}^2" if unit.endswith("/s") else f"{unit}/s" if unit else "1/s"


def _computes(row: RowProgram, node: int) -> bool:
    """Whether a node is an operation done anew in every row."""
    return row.program.nodes[node][0] not in ("const", "input") and row.kinds[node] > PARAMETER


def _find_homes(row: RowProgram, columns: list[Column]) -> dict[int, Key]:
    """The first column of every operation that has one."""
    homes: dict[int, Key] = {}
    for column in columns:
        if column.node is not None and _computes(row, column.node):
            homes.setdefault(column.node, column.key)
    return homes


def add_helpers(named: Columns, row: RowProgram, placement: Placement) -> Columns:
    """All columns: the helpers stand before the named ones that need them, those of the prediction with it."""
    homes = dict(named.homes)
    helpers: dict[bool, list[Column]] = {False: [], True: []}
    for k, node in enumerate(placement.helpers, start=1):
        homes[node] = ("helper", node)
        at_end = row.kinds[node] == PREDICTED
        group = "predicted" if at_end else "helpers"
        helpers[at_end].append(Column(("helper", node), group, f"w{k}", "", node))
    first = [c for c in named.columns if c.group in ("time", "states", "memory", "sampling")]
    rest = [c for c in named.columns if c.group in ("rates", "signals", "events")]
    last = [c for c in named.columns if c.group == "predicted"]
    end_rates = [c for c in last if c.key[0] == "end_rate"]
    begun = [c for c in last if c.key[0] != "end_rate"]
    return Columns((*first, *helpers[False], *rest, *begun, *helpers[True], *end_rates), homes)
