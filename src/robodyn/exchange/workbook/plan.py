"""Plan of a workbook: what will it hold? All of it decided, and refused where it cannot be, before it is written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openpyxl.utils import get_column_letter

from robodyn.base.errors import FlawList
from robodyn.base.symbolic import tables
from robodyn.computation.assembly import System
from robodyn.computation.engine.problem import DEFAULT_FIXED_STEP
from robodyn.computation.native.formulas import SPREADSHEET
from robodyn.description.model import Solver
from robodyn.exchange.workbook.cells import place_cells, write_formulas
from robodyn.exchange.workbook.columns import Columns, add_helpers, name_columns
from robodyn.exchange.workbook.equations import Equation, write_equations
from robodyn.exchange.workbook.lines import LineWriter
from robodyn.exchange.workbook.parameters import ParameterSheet, make_parameter_sheet
from robodyn.exchange.workbook.refusals import (
    ON_A_ROW,
    check_formulas,
    check_limits,
    check_method,
    check_operations,
    check_parts,
    check_size,
    find_bends_between,
    find_breaks,
)
from robodyn.exchange.workbook.row import RowProgram, trace_row

# Lines above the first row of the run: groups, names, units.
HEAD = 3


@dataclass(frozen=True)
class Plan:
    """Everything that stands in the workbook.

    Attributes:
        lines: for every column, its formula in the first row and in later ones.
        tables: title and values of each column of the sheet of tables.
    """

    system: System
    method: str
    step: float
    n_rows: int
    columns: Columns
    lines: tuple[tuple[str, str], ...]
    parameters: ParameterSheet
    equations: Mapping[str, list[Equation]]
    tables: Mapping[str, tuple[float, ...]]

    @property
    def n_formulas(self) -> int:
        """Number of formulas in the rows."""
        return self.n_rows * len(self.lines)


def make_plan(system: System, solver: Solver, rows: int | None = None) -> Plan:
    """Lay out the run of a system with a fixed step.

    Args:
        rows: rows of the run, the start included; by default as many as the duration needs.

    Raises:
        ModelError: with every reason why this is no spreadsheet.
    """
    step = solver.step or DEFAULT_FIXED_STEP
    n_rows = _count_rows(system, step) if rows is None else rows
    breaks = find_breaks(system, n_rows * step)
    between = find_bends_between(breaks, step)
    if between and rows is None:
        n_rows = _count_uneven_rows(system.scenario.duration, step, breaks)
    source = f"workbook of '{system.scenario.name}'"
    flaws = FlawList()
    check_method(solver, flaws)
    check_parts(system, step, between, flaws)
    check_size(n_rows, 1, HEAD, flaws)
    flaws.raise_if_any(source)
    row = trace_row(system, solver.method == "heun", even=not between)
    named = name_columns(system, row, even=not between)
    check_operations(row, {c.node: c.name for c in named.columns if c.node is not None}, flaws)
    check_limits(system, row, flaws)
    flaws.raise_if_any(source)
    placement = place_cells(row, named.homes)
    columns = add_helpers(named, row, placement)
    check_size(n_rows, len(columns.columns), HEAD, flaws)
    flaws.raise_if_any(source)
    contents, ranges, jumps = _gather_tables(row, breaks)
    formulas = write_formulas(row.program, placement.cells, SPREADSHEET, ranges.__getitem__)
    sheet = make_parameter_sheet(system, row, placement, formulas, step)
    writer = LineWriter(system, row, columns, formulas, sheet, jumps)
    lines = tuple(writer.write(column) for column in columns.columns)
    # A place for the largest line number stands for {r} and {p}.
    longest = (later.replace("{r}", "0" * 7).replace("{p}", "0" * 7) for _, later in lines)
    check_formulas(dict(zip((column.name for column in columns.columns), longest, strict=True)), flaws)
    flaws.raise_if_any(source)
    return Plan(
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


def _count_rows(system: System, step: float) -> int:
    """Start and whole steps of the duration."""
    return int(system.scenario.duration / step * (1 + 1e-9)) + 1


def _count_uneven_rows(duration: float, step: float, breaks: Sequence[float]) -> int:
    """Rows at steps from each bend on, and at the bends."""
    time, count = 0.0, 1
    while True:
        bend = next((one for one in breaks if one > time + ON_A_ROW * step), math.inf)
        time = bend if bend <= time + (1 + ON_A_ROW) * step else time + step
        if time > duration * (1 + 1e-9):
            return count
        count += 1


def _gather_tables(row: RowProgram, breaks: list[float]) -> tuple[dict[str, tuple[float, ...]], dict[int, str], str]:
    """Columns of the sheet of tables, the range of each table by its number, and that of the jumps of references."""
    numbers = sorted({node[1] for node in row.program.nodes if node[0] in (tables.LOCATE, tables.GATHER)})
    contents = {f"table {number:x}": tables.lookup(number).values for number in numbers}
    if breaks:
        contents["jumps of references [s]"] = tuple(breaks)
    ranges = []
    for k, values in enumerate(contents.values(), start=1):
        letter = get_column_letter(k)
        ranges.append(f"tables!${letter}$2:${letter}${len(values) + 1}")
    return contents, dict(zip(numbers, ranges, strict=False)), ranges[-1] if breaks else ""
