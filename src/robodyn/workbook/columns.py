"""Which columns has the sheet of the run, and what stands in the first row and in every later one?

In the texts of a column, {r} stands for the number of its own row and {p} for that of the row before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from openpyxl.utils import get_column_letter

from robodyn.assembly import System
from robodyn.native.formulas import write_number
from robodyn.workbook.cells import Placement, replace_marks
from robodyn.workbook.parameters import CellNameTable
from robodyn.workbook.row import BEFORE, CONSTANT, DUE, END, PREDICTED, STEP, P, RowProgram, T, X

# A reference that jumps at the end of a step is read just before it: nearer times are equal to spreadsheets.
JUST_BEFORE = "(1-1E-12)"
BREAK_WIDTH = "1E-6"

Key = tuple[str, int]


@dataclass(frozen=True)
class Column:
    """A column: its group and name, unit, formula in the first row and in all later rows, and its node if it has one."""

    key: Key
    group: str
    name: str
    unit: str
    node: int | None = None


@dataclass(frozen=True)
class Columns:
    """All columns in their order, and where each node with a name is computed."""

    columns: tuple[Column, ...]
    homes: dict[int, Key]

    @property
    def letters(self) -> dict[Key, str]:
        return {column.key: get_column_letter(k) for k, column in enumerate(self.columns, start=1)}


def name_columns(system: System, row: RowProgram) -> Columns:
    """The columns that have names: time, states, memory, rates, signals, events, predictions; helpers come later."""
    outputs = row.outputs
    shown = {state.name for state in system.states} | {info.name for info in system.memory}
    signals = [(info, node) for info, node in zip(system.signals, outputs["signals"], strict=True)]
    columns = [Column(("step", 0), "time", "step", ""), Column(("t", 0), "time", "t", "s")]
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
        Column(("rate", k), "rates", f"{state.name}'", f"{state.unit}/s" if state.unit else "1/s", node)
        for k, (state, node) in enumerate(zip(system.states, row.outputs["rates"], strict=True))
        if _computes(row, node) and node not in homes
    ]


def _event_columns(system: System, row: RowProgram) -> list[Column]:
    found = []
    for k, (guard, node) in enumerate(zip(system.guards, row.outputs["guards"], strict=True)):
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
        Column(("end_rate", k), "predicted", f"{s.name}' predicted", f"{s.unit}/s" if s.unit else "1/s", rates[k])
        for k, s in states
    ]
    return found


def _computes(row: RowProgram, node: int) -> bool:
    """Whether a node is an operation done anew in every row."""
    return row.program.nodes[node][0] not in ("const", "input") and row.kinds[node] > CONSTANT + 1


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


@dataclass(frozen=True)
class ColumnWriter:
    """Writes the formulas of columns.

    Attributes:
        formulas: node -> text with marks; names: of the cells beside the parameters.
        breaks: range of the times at which references jump, empty without any.
    """

    system: System
    row: RowProgram
    columns: Columns
    formulas: dict[int, str]
    names: CellNameTable
    breaks: str = ""

    def write(self, column: Column) -> tuple[str, str]:
        """Formulas of the first row and of the later ones."""
        special = _SPECIAL.get(column.key[0])
        if special is not None:
            return special(self, column.key[1])
        assert column.node is not None
        at_home = self.columns.homes.get(column.node) == column.key
        text = self.formulas[column.node] if at_home else None
        return self._fill(column.node, text, first=True), self._fill(column.node, text, first=False)

    def _fill(self, node: int, text: str | None, first: bool) -> str:
        if text is None:
            return f"={self.place(node, first)}"
        return "=" + replace_marks(text, lambda number: self.place(number, first))

    def place(self, number: int, first: bool = False) -> str:
        """Where a node is found: a cell of the same row, of the row before, a name, or a number."""
        node = self.row.program.nodes[number]
        if number in self.columns.homes:
            return f"{self._letter(self.columns.homes[number])}{{r}}"
        if node[0] == "const":
            return write_number(node[1]).text
        if node[0] != "input":
            return self.names.derived[number] if number in self.names.derived else self._inline(number, first)
        if node[1] == BEFORE and first:
            return self.names.memory[node[2]]
        return self._input(node[1], node[2])

    def _inline(self, number: int, first: bool) -> str:
        """A sign before a parameter has no cell of its own."""
        return replace_marks(self.formulas[number], lambda inner: self.place(inner, first))

    def _input(self, kind: int, k: int) -> str:
        if kind == P:
            return self.names.parameters[k]
        if kind == STEP:
            return self.names.step
        cells = {T: ("t", "{r}"), X: ("x", "{r}"), BEFORE: ("m", "{p}"), END: ("end", "{r}"), DUE: ("due", "{r}")}
        key, line = cells[kind]
        return f"{self._letter((key, k))}{line}"

    def _letter(self, key: Key) -> str:
        return _letters(self.columns)[key]

    def step_number(self, _: int) -> tuple[str, str]:
        return "0", f"={self._letter(('step', 0))}{{p}}+1"

    def time(self, _: int) -> tuple[str, str]:
        text = f"={self._letter(('step', 0))}{{r}}*{self.names.step}"
        return text, text

    def state(self, k: int) -> tuple[str, str]:
        """x + h f, or x + h (f + f at the end) / 2, within the limits."""
        change = self.place(self.row.outputs["rates"][k])
        if self.row.outputs["end_rates"]:
            change = f"({change}+{self.place(self.row.outputs['end_rates'][k])})/2"
        text = f"{self._letter(('x', k))}{{r}}+{self.names.step}*{change}"
        return f"={self.names.states[k]}", "=" + self._limit(k, text.replace("{r}", "{p}"))

    def _limit(self, k: int, text: str) -> str:
        limited = self.system.limited
        if k not in limited:
            return text
        at = limited.index(k)
        lower, upper = (self.place(self.row.outputs["limits"][at + shift]) for shift in (0, len(limited)))
        return f"MIN(MAX({text},{lower}),{upper})"

    def due(self, k: int) -> tuple[str, str]:
        step, (period, offset) = f"{self._letter(('step', 0))}{{r}}", self.names.samples[k]
        since = f"{step}-{offset}" if offset else step
        test = f"MOD({since},{period})=0"
        text = f"=IF(AND({step}>={offset},{test}),1,0)" if offset else f"=IF({test},1,0)"
        return text, text

    def end(self, _: int) -> tuple[str, str]:
        """End of the step; just before a jump of a reference that happens there."""
        step = self.names.step
        end = f"{self._letter(('t', 0))}{{r}}+{step}"
        if not self.breaks:
            return f"={end}", f"={end}"
        jumps = f"SUMPRODUCT((ABS({self.breaks}-({end}))<{BREAK_WIDTH}*{step})*1)>0"
        text = f"=IF({jumps},({end})*{JUST_BEFORE},{end})"
        return text, text

    def event(self, k: int) -> tuple[str, str]:
        """Whether the guard has passed zero in the wanted direction since the row before."""
        guard = self.system.guards[k]
        now = f"{self._letter(('guard', k))}{{r}}"
        before = now.replace("{r}", "{p}")
        rising, falling = f"AND({before}<0,{now}>=0)", f"AND({before}>0,{now}<=0)"
        test = {1: rising, -1: falling, 0: f"OR({rising},{falling})"}[guard.direction]
        said = "end" if guard.terminal else "event"
        return '=""', f'=IF({test},"{said}","")'


_SPECIAL: dict[str, Callable[[ColumnWriter, int], tuple[str, str]]] = {
    "step": ColumnWriter.step_number,
    "t": ColumnWriter.time,
    "x": ColumnWriter.state,
    "due": ColumnWriter.due,
    "end": ColumnWriter.end,
    "event": ColumnWriter.event,
}
