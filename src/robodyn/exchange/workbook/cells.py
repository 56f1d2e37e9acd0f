"""Cells and columns: which sub-expressions deserve a cell of their own, and which columns has the sheet of the run?

A node gets a cell when it has a name (a signal, a rate, memory), when it is used more than once and is more than a
sign, a product or two, or when its formula would grow too long or too deep. What depends on parameters alone is
computed once, beside the parameters. A node in a formula is written as a mark, replaced by its cell once all columns
have their places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from openpyxl.utils import get_column_letter

from robodyn.base import frozen
from robodyn.computation.assembly import System
from robodyn.computation.native.formulas import SPREADSHEET, Notation, WrittenTerm, as_number, compose, write_number
from robodyn.computation.native.program import Program, find_border, operands

from .row import CONSTANT, PARAMETER, PREDICTED, RowProgram

# Spreadsheets allow 8,192 characters and 64 levels; people read less.
LONGEST_FORMULA = 240
DEEPEST_FORMULA = 24
# Work, counted in operations, from which a repeated sub-expression is computed once; a function counts three.
WORTH_SHARING = 3
CALL_WORK = 3

_MARK = re.compile("\x01(\\d+)\x02")


@frozen
class CellPlacement:
    """Nodes with a cell, in order of computation: named and helper ones in the rows, derived ones beside the
    parameters."""

    derived: tuple[int, ...]
    helpers: tuple[int, ...]
    cells: frozenset[int]


def place_cells(row: RowProgram, named: Iterable[int]) -> CellPlacement:
    """Choose the nodes that get cells.

    Args:
        named: operations in the rows that have a column under a name of their own.
    """
    program, kinds = row.program, row.kinds
    cells = set(named)
    # How often each node is written in the formulas that read it.
    uses = [0] * len(program.nodes)
    for node in program.nodes:
        if node[0] in SPREADSHEET.forms:
            form = SPREADSHEET.forms[node[0]]
            for k, i in enumerate(operands(node)):
                uses[i] += form.repeats(k)
    for output in program.outputs:
        for i in output:
            uses[i] += 1
    border = set(find_border(program, kinds, PARAMETER))
    terms: list[WrittenTerm] = []
    work: list[int] = []
    for number, node in enumerate(program.nodes):
        if node[0] in ("const", "input"):
            terms.append(write_number(node[1]) if node[0] == "const" else mark(number))
            work.append(0)
            continue
        term = compose(SPREADSHEET, node, [terms[i] for i in operands(node)])
        cost = CALL_WORK if SPREADSHEET.forms[node[0]].is_call else 1
        work.append(cost + sum(work[i] for i in operands(node)))
        shared = uses[number] > 1 and work[number] >= WORTH_SHARING
        long = len(term.text) > LONGEST_FORMULA or term.depth > DEEPEST_FORMULA
        derived = number in border and not (node[0] == "neg" and program.nodes[node[1]][0] == "input")
        if kinds[number] != CONSTANT and (number in cells or shared or long or derived):
            cells.add(number)
            term, work[number] = mark(number), 0
        terms.append(term)
    derived_cells = tuple(n for n in sorted(cells) if kinds[n] == PARAMETER)
    helpers = tuple(n for n in sorted(cells.difference(named)) if kinds[n] != PARAMETER)
    return CellPlacement(derived_cells, helpers, frozenset(cells))


def write_formulas(
    program: Program, cells: frozenset[int], notation: Notation, table_text: Callable[[int], str]
) -> dict[int, str]:
    """The formula of every cell, and the text of every constant, with marks for the nodes it reads."""
    terms: list[WrittenTerm] = []
    formulas: dict[int, str] = {}
    for number, node in enumerate(program.nodes):
        if node[0] == "const":
            terms.append(write_number(node[1], notation.digits))
            formulas[number] = terms[-1].text
        elif node[0] == "input":
            terms.append(mark(number))
        else:
            table = table_text(node[1]) if node[0] in ("locate", "gather") else ""
            term = compose(notation, node, [terms[i] for i in operands(node)], table)
            formulas[number] = as_number(notation, term).text
            terms.append(mark(number) if number in cells else term)
    return formulas


def mark(number: int) -> WrittenTerm:
    """The mark that stands for a node until its place is known."""
    return WrittenTerm(f"\x01{number}\x02")


def replace_marks(text: str, place: Callable[[int], str]) -> str:
    """The text with every node's place in it."""
    return _MARK.sub(lambda found: place(int(found[1])), text)


# --------------------------------------------------------------------------------------------------
# Columns of a workbook: which has the sheet of the run, in which order?


Key = tuple[str, int]


@frozen
class Column:
    """A column: what it is (its kind and number), group, name and unit, and the node it shows, if any."""

    key: Key
    group: str
    name: str
    unit: str
    node: int | None


@frozen
class SheetColumns:
    """All columns in their order, the column in which a node is computed, and the letter of every column."""

    columns: tuple[Column, ...]
    homes: Mapping[int, Key]
    letters: Mapping[Key, str] = field(init=False)

    def __post_init__(self) -> None:
        letters = {column.key: get_column_letter(k) for k, column in enumerate(self.columns, start=1)}
        object.__setattr__(self, "letters", letters)


COLUMN_GROUPS = ("time", "states", "memory", "sampling", "helpers", "signals", "rates", "events", "predicted", "error")
"""Of columns, from left to right."""


def name_columns(system: System, row: RowProgram, even: bool, adaptive: bool) -> SheetColumns:
    """The columns that have names: time, states, memory, rates, signals, events, predictions; helpers come later.

    Args:
        even: whether all steps are alike; else each row says how far the next one is.
        adaptive: whether a step is judged by its error, and the next one proposed by it.
    """
    outputs, states = row.outputs, list(enumerate(system.states))
    shown = {*system.state_names, *(info.name for info in system.memory)}
    columns: list[Column] = []

    def add(kind: str, k: int, group: str, name: str, unit: str = "", node: int | None = None) -> None:
        columns.append(Column((kind, k), group, name, unit, node))

    add("step", 0, "time", "step")
    add("t", 0, "time", "t", "s")
    if adaptive:
        add("proposal", 0, "time", "proposed step", "s")
    if not even:
        add("h", 0, "time", "step tried" if adaptive else "to the next row", "s")
    for k, state in states:
        add("x", k, "states", state.name, state.unit)
    for k, info in enumerate(system.memory):
        add("m", k, "memory", info.name, info.unit, outputs["memory"][k])
    for k in range(len(row.timings)):
        add("due", k, "sampling", f"sample {k + 1} due")
    for k, signal in enumerate(system.signals):
        if signal.name not in shown:
            add("signal", k, "signals", signal.name, signal.unit, outputs["signals"][k])
    # Rates that are no signal, state or number already.
    homes = _find_homes(row, columns)
    for k, state in states:
        if _computes(row, outputs["rates"][k]) and outputs["rates"][k] not in homes:
            add("rate", k, "rates", f"{state.name}'", rate_unit(state.unit), outputs["rates"][k])
    for k, guard in enumerate(system.discrete.guards):
        add("guard", k, "events", f"guard {guard.name}", "", outputs["guards"][k])
        add("event", k, "events", f"event {guard.name}")
    if predicted := outputs["predicted"]:
        rates = outputs["end_rates"]
        add("end", 0, "predicted", "t at the end", "s")
        for k, state in states:
            add("predicted", k, "predicted", f"{state.name} predicted", state.unit, predicted[k])
        for k, state in states:
            if _computes(row, rates[k]) and rates[k] not in predicted:
                add("end_rate", k, "predicted", f"{state.name}' predicted", rate_unit(state.unit), rates[k])
    if adaptive:
        # The end of a step that is tried, the error of every state in parts of its tolerance, and what follows.
        for k, state in states:
            add("tried", k, "error", f"{state.name} tried", state.unit)
        for k, state in states:
            add("off", k, "error", f"{state.name} error")
        for key in ("error", "accepted"):
            add(key, 0, "error", key)
    return SheetColumns(tuple(columns), _find_homes(row, columns))


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


def add_helpers(named: SheetColumns, row: RowProgram, placement: CellPlacement) -> SheetColumns:
    """All columns: the helpers stand before the named ones that need them, those of the prediction with it."""
    homes, columns = dict(named.homes), list(named.columns)
    for k, node in enumerate(placement.helpers, start=1):
        homes[node] = ("helper", node)
        group = "predicted" if row.kinds[node] == PREDICTED else "helpers"
        columns.append(Column(("helper", node), group, f"w{k}", "", node))
    # In the prediction they stand before the rates at its end.
    late = {"helper": 1, "end_rate": 2}
    columns.sort(key=lambda column: (COLUMN_GROUPS.index(column.group), late.get(column.key[0], 0)))
    return SheetColumns(tuple(columns), homes)
