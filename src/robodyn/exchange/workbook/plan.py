"""Plan of the workbook: which method, which rows, and what cannot be written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from openpyxl.utils import get_column_letter

from robodyn.base import FlawList, frozen
from robodyn.base.symbolic import tables
from robodyn.computation.assembly import System
from robodyn.computation.assembly.contribution import as_fraction
from robodyn.computation.engine.problem import DEFAULT_FIXED_STEP
from robodyn.computation.native.formulas import SPREADSHEET, find_unwritable
from robodyn.computation.native.program import find_dependents
from robodyn.computation.simulation import simulate
from robodyn.description.model import Solver

from .cells import SheetColumns, add_helpers, name_columns, place_cells, write_formulas
from .lines import LineWriter, SheetEquation, write_equations
from .parameters import ParameterSheet, make_parameter_sheet
from .row import PARAMETER, RowProgram, trace_row

# --------------------------------------------------------------------------------------------------
# Limits of spreadsheets: which scenarios cannot be one? Every reason with its place and remedy, all at once.


METHODS = ("euler", "heun", "heun_euler")
CHOOSE = "choose euler or heun, or heun_euler, whose steps follow from their error"
EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_FORMULA = 1_048_576, 16_384, 8_192
# Writing takes about 10 microseconds a formula, LibreOffice as long again to open it: half a minute each at this size.
LARGEST_WORKBOOK = 3_000_000
# A jump this part of a step beside a row stands on the row.
ON_A_ROW = 1e-6


def check_method(system: System, solver: Solver, flaws: FlawList) -> None:
    """Only methods of one formula a step can be laid out in rows."""
    if solver.method not in METHODS:
        flaws.add("solver.method", f"'{solver.method}' has no formulas for rows", CHOOSE)
    elif solver.adaptive:
        if system.discrete.tasks:
            what = f"'{solver.method}' chooses its steps by their error, and blocks are sampled at whole rows"
            flaws.add("solver.method", what, "choose euler or heun")
        for key in solver.stated().keys() & {"max_step", "min_step"}:
            flaws.add(f"solver.{key}", "has no cell in a workbook", "leave it out")


def check_parts(system: System, step: float, between: Sequence[float], flaws: FlawList) -> None:
    """Parts of a system that act between the rows, or outside of formulas."""
    for guard in system.discrete.guards:
        if guard.action or guard.call:
            what = "its action changes the state between two rows"
            remedy = "decide in a sampled block whose period is the step, or drop the action"
            flaws.add(f"events.{guard.name}.action", what, remedy)
    for task in system.discrete.tasks:
        if task.call:
            flaws.add(f"blocks.{task.name}", "is Python code, which has no formula", "write it as a native law")
    for delay in system.delays:
        remedy = "delay a sampled block's output instead, or leave it out"
        flaws.add(f"delays.{delay.name.removesuffix('.output')}", "reads between earlier rows", remedy)
    for block in system.machine.blocks:
        if block.period is None:
            continue
        for key, time in (("period", block.period), ("offset", block.offset), ("delay", block.delay)):
            if (as_fraction(time) / as_fraction(step)).denominator != 1:
                what = f"{time:g} s is not a whole multiple of the step {step:g} s"
                base = system.discrete.base_period or Fraction(1)
                flaws.add(
                    f"blocks.{block.name}.{key}", what, f"choose --step {float(base):g} or a whole fraction of it"
                )
    if between and system.discrete.tasks:
        what = f"a reference jumps or bends at {between[0]:g} s, between two rows, and blocks are sampled at whole rows"
        flaws.add("breaks", what, "choose a step of which that time is a multiple, or move the reference")


def check_operations(row: RowProgram, names: dict[int, str], flaws: FlawList) -> None:
    """Operations without a formula, each reported by the first name that depends on it.

    Args:
        names: node -> name of the signal, rate or memory it is.
    """
    for source, why in find_unwritable(row.program):
        reached = find_dependents(row.program, source)
        path = next((name for node, name in names.items() if reached[node]), "model")
        flaws.add(path, why, "use another law there")


def check_size(n_rows: int, n_columns: int, head: int, flaws: FlawList) -> None:
    """Too many rows, columns or cells for a spreadsheet to hold or to be of use."""
    if n_rows < 2:
        flaws.add("rows", f"must be at least 2, are {n_rows}", "raise --rows or the duration, or shorten the step")
    if n_rows + head > EXCEL_ROWS:
        what = f"{n_rows:,} rows are more than the {EXCEL_ROWS - head:,} a sheet holds"
        flaws.add("rows", what, "lengthen the step, or give --rows or --duration")
    elif n_columns > EXCEL_COLUMNS:
        what = f"the model needs {n_columns:,} columns, a sheet holds {EXCEL_COLUMNS:,}"
        flaws.add("model", what, "it is too large for a spreadsheet")
    elif n_rows * n_columns > LARGEST_WORKBOOK:
        what = f"{n_rows:,} rows of {n_columns:,} columns are {n_rows * n_columns:,} formulas"
        most = max(LARGEST_WORKBOOK // n_columns, 2)
        remedy = f"give --rows {most}, or longer steps by --step or --rtol"
        flaws.add("rows", f"{what}, more than {LARGEST_WORKBOOK:,}", remedy)


def check_limits(system: System, row: RowProgram, flaws: FlawList) -> None:
    """Limits of states must not move from row to row."""
    for at, node in enumerate(row.outputs["limits"]):
        if row.kinds[node] > PARAMETER:
            name = system.states[system.limited[at % len(system.limited)]].name
            flaws.add(name, "its limits change with time or state", "give it limits that depend on parameters alone")


# --------------------------------------------------------------------------------------------------
# Plan of a workbook: what will it hold? All of it decided, and refused where it cannot be, before it is written.


# Lines above the first row of the run: groups, names, units.
HEAD = 3


@frozen
class WorkbookPlan:
    """Everything that stands in the workbook.

    Attributes:
        lines: for every column, its formula in the first row and in later ones.
        tables: title and values of each column of the sheet of tables.
    """

    system: System
    method: str
    step: float
    n_rows: int
    columns: SheetColumns
    lines: tuple[tuple[str, str], ...]
    parameters: ParameterSheet
    equations: Mapping[str, list[SheetEquation]]
    tables: Mapping[str, tuple[float, ...]]

    @property
    def n_formulas(self) -> int:
        """Number of formulas in the rows."""
        return self.n_rows * len(self.lines)


def make_plan(system: System, solver: Solver, rows: int | None = None) -> WorkbookPlan:
    """Lay out the run of a system, one row a step; with a method that chooses its steps one row a try.

    Args:
        rows: rows of the run, the start included; by default as many as the duration needs.

    Raises:
        ModelError: with every reason why this is no spreadsheet.
    """
    step = solver.step or DEFAULT_FIXED_STEP
    source = f"workbook of '{system.scenario.name}'"
    flaws = FlawList()
    check_method(system, solver, flaws)
    # Start and whole steps of the duration.
    n_rows = int(system.scenario.duration / step * (1 + 1e-9)) + 1 if rows is None else rows
    # Times before the end at which references jump or bend [s], ascending.
    end = system.scenario.duration if solver.adaptive else n_rows * step
    breaks = system.discrete.break_times(system.number_values, 0.0, end).tolist()
    # Those that fall between rows of equal steps get rows of their own; chosen steps end at all of them.
    between = [time for time in breaks if abs(time / step - round(time / step)) > ON_A_ROW and not solver.adaptive]
    if between and rows is None:
        n_rows = _count_uneven_rows(system.scenario.duration, step, breaks)
    check_parts(system, step, between, flaws)
    if solver.adaptive and rows is None and not flaws.found:
        # As many rows as the native run tries steps, and a quarter more: it controls them a little differently.
        statistics = simulate(system, solver).statistics
        n_rows = math.ceil(1.25 * (statistics.steps + statistics.rejected)) + 1
    check_size(n_rows, 1, HEAD, flaws)
    flaws.raise_if_any(source)
    even = not between and not solver.adaptive
    row = trace_row(system, solver.method != "euler", even)
    named = name_columns(system, row, even, solver.adaptive)
    check_operations(row, {c.node: c.name for c in named.columns if c.node is not None}, flaws)
    check_limits(system, row, flaws)
    flaws.raise_if_any(source)
    placement = place_cells(row, named.homes)
    columns = add_helpers(named, row, placement)
    check_size(n_rows, len(columns.columns), HEAD, flaws)
    flaws.raise_if_any(source)
    # The sheet of tables: their columns, the range of each by its number, and that of the jumps of references.
    numbers = sorted({node[1] for node in row.program.nodes if node[0] in (tables.LOCATE, tables.GATHER)})
    contents = {f"table {number:x}": tables.lookup(number).values for number in numbers}
    if breaks:
        contents["jumps of references [s]"] = tuple(breaks)
    letters = [(get_column_letter(k), len(values) + 1) for k, values in enumerate(contents.values(), start=1)]
    ranges = [f"tables!${letter}$2:${letter}${last}" for letter, last in letters]
    range_of = dict(zip(numbers, ranges, strict=False))
    formulas = write_formulas(row.program, placement.cells, SPREADSHEET, range_of.__getitem__)
    sheet = make_parameter_sheet(system, row, placement, formulas, replace(solver, step=step), HEAD + n_rows)
    writer = LineWriter(system, row, columns, formulas, sheet, ranges[-1] if breaks else "")
    lines = tuple(writer.write(column) for column in columns.columns)
    # A place for the largest line number stands for {r} and {p}.
    longest = (later.replace("{r}", "0" * 7).replace("{p}", "0" * 7) for _, later in lines)
    # Formulas longer than a cell takes; only very long names make them so.
    for name, text in dict(zip((column.name for column in columns.columns), longest, strict=True)).items():
        if len(text) > EXCEL_FORMULA:
            what = f"its formula has {len(text):,} characters, a cell takes {EXCEL_FORMULA:,}"
            flaws.add(name, what, "give parts and blocks shorter names")
    flaws.raise_if_any(source)
    return WorkbookPlan(
        system,
        solver.method,
        step,
        n_rows,
        columns,
        lines,
        sheet,
        write_equations(system, row, columns, placement, solver.method),
        contents,
    )


def _count_uneven_rows(duration: float, step: float, breaks: Sequence[float]) -> int:
    """Rows at steps from each bend on, and at the bends."""
    time, count = 0.0, 1
    while True:
        bend = next((one for one in breaks if one > time + ON_A_ROW * step), math.inf)
        time = bend if bend <= time + (1 + ON_A_ROW) * step else time + step
        if time > duration * (1 + 1e-9):
            return count
        count += 1
