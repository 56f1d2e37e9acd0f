"""Writing the workbook, with its charts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.chart import Reference, ScatterChart, Series
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.drawing.line import LineProperties
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from robodyn.base import replacing, report_progress
from robodyn.computation.assembly import System, assemble
from robodyn.computation.native.formulas import write_number
from robodyn.description.model import Scenario, Solver

from .plan import HEAD, WorkbookPlan, make_plan

# --------------------------------------------------------------------------------------------------
# Charts of a workbook: how do the states look over time? One for every unit.


WIDTH, HEIGHT = 24.0, 9.0
# Rows of a sheet that a chart of this height covers, with a gap.
ROWS_BETWEEN = 20
# Charts of more rows than this are slow to draw and show no more.
MOST_POINTS = 32_000


def _states_by_unit(plan: WorkbookPlan) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for k, state in enumerate(plan.system.states):
        groups.setdefault(state.unit, []).append(k)
    return groups


def _make_chart(run: Worksheet, plan: WorkbookPlan, unit: str, states: list[int]) -> ScatterChart:
    chart = ScatterChart(scatterStyle="lineMarker")
    chart.width, chart.height = WIDTH, HEIGHT
    chart.x_axis.title = "t [s]"
    chart.y_axis.title = f"[{unit}]" if unit else "[1]"
    # Without this, newer programs hide the axes.
    chart.x_axis.delete = chart.y_axis.delete = False
    chart.x_axis.number_format = chart.y_axis.number_format = "General"
    chart.x_axis.tickLblPos = "low"
    chart.legend.position = "r"
    for axis in (chart.x_axis, chart.y_axis):
        axis.majorGridlines.spPr = GraphicalProperties(ln=LineProperties(solidFill="D9D9D9"))
    first, last = HEAD + 1, HEAD + min(plan.n_rows, MOST_POINTS)
    places = {column.key: k for k, column in enumerate(plan.columns.columns, start=1)}
    times = Reference(run, min_col=places[("t", 0)], min_row=first, max_row=last)
    for k in states:
        values = Reference(run, min_col=places[("x", k)], min_row=first, max_row=last)
        series = Series(values, times, title=plan.system.states[k].name)
        series.marker.symbol = "none"
        series.smooth = False
        series.graphicalProperties.line.width = 15_000
        chart.series.append(series)
    return chart


# --------------------------------------------------------------------------------------------------
# Writing a workbook: sheets, names, styles and charts of a plan, by openpyxl, row by row.


BOLD = Font(name="Calibri", size=11, bold=True)
GREY = Font(name="Calibri", size=11, color="00666666")
CHANGEABLE = PatternFill("solid", fgColor="00FFF2CC")
WRAPPED = Alignment(wrap_text=True, vertical="top")
INDENTED = Alignment(indent=1)
# Characters in a line of the equations, and the height of a line [points].
LINE_LENGTH, LINE_HEIGHT = 110, 15.0


@report_progress("writing a workbook of")
def write_workbook(
    what: Scenario | System, path: str | Path, solver: Solver, *, rows: int | None = None
) -> WorkbookPlan:
    """Write the run of a scenario as a workbook of live formulas.

    Args:
        solver: "euler" or "heun" with a step, or "heun_euler", which chooses its steps by their error.
        rows: rows of the run, the start included; by default as many as the duration needs.

    Raises:
        ModelError: with every reason why this is no spreadsheet.
    """
    plan = make_plan(assemble(what) if isinstance(what, Scenario) else what, solver, rows)
    with replacing(path) as draft:
        book = Workbook(write_only=True)
        book.calculation.fullCalcOnLoad = True
        _write_parameters(book, plan)
        run = _write_run(book, plan)
        _write_equations(book, plan)
        # Charts one below the other.
        charts = _add_sheet(book, "charts")
        for k, (unit, states) in enumerate(_states_by_unit(plan).items()):
            charts.add_chart(_make_chart(run, plan, unit, states), f"A{1 + k * ROWS_BETWEEN}")
        if plan.tables:
            _write_tables(book, plan)
        book.save(draft)
    return plan


def _styled(sheet: Any, value: Any, *, font: Font | None = None, fill: PatternFill | None = None) -> WriteOnlyCell:
    cell = WriteOnlyCell(sheet, value)
    if font is not None:
        cell.font = font
    if fill is not None:
        cell.fill = fill
    return cell


def _set_widths(sheet: Any, widths: Iterable[float]) -> None:
    for k, width in enumerate(widths, start=1):
        sheet.column_dimensions[get_column_letter(k)].width = width


def _add_sheet(book: Workbook, title: str) -> Any:
    """A sheet that prints in landscape, as wide as the page."""
    sheet = book.create_sheet(title)
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    return sheet


def _write_parameters(book: Workbook, plan: WorkbookPlan) -> None:
    """Numbers to change are shaded; each value's cell has a name."""
    sheet = _add_sheet(book, "parameters")
    _set_widths(sheet, (44, 24, 12, 40, 40))
    scenario = plan.system.scenario
    sheet.append([_styled(sheet, scenario.title or scenario.name, font=BOLD)])
    about = f"Change the shaded cells: all rows follow. Method {plan.method}, {plan.n_rows} rows."
    sheet.append([_styled(sheet, about, font=GREY)])
    line = 2
    for title, entries in plan.parameters.sections.items():
        sheet.append([])
        heads = (title, "value", "unit", "name of the cell", "")
        sheet.append([_styled(sheet, text, font=BOLD) for text in heads])
        line += 2
        for entry in entries:
            line += 1
            shade = None if isinstance(entry.value, str) else CHANGEABLE
            value = _styled(sheet, entry.value, fill=shade)
            unit = _styled(sheet, entry.unit)
            unit.alignment = INDENTED
            sheet.append([entry.label, value, unit, entry.name, entry.remark])
            book.defined_names[entry.name] = DefinedName(entry.name, attr_text=f"parameters!$B${line}")


def _write_run(book: Workbook, plan: WorkbookPlan) -> Any:
    """One row a step."""
    sheet = book.create_sheet("run")
    columns = plan.columns.columns
    _set_widths(sheet, (min(max(len(column.name) + 1, 18), 40) for column in columns))
    sheet.freeze_panes = f"C{HEAD + 1}"
    groups = [c.group if k == 0 or columns[k - 1].group != c.group else "" for k, c in enumerate(columns)]
    sheet.append([_styled(sheet, group, font=GREY) for group in groups])
    sheet.append([_styled(sheet, column.name, font=BOLD) for column in columns])
    sheet.append([_styled(sheet, column.unit, font=GREY) for column in columns])
    first = HEAD + 1
    sheet.append([_fill(text, first) for text, _ in plan.lines])
    later = [text for _, text in plan.lines]
    for line in range(first + 1, first + plan.n_rows):
        own, before = str(line), str(line - 1)
        sheet.append([text.replace("{r}", own).replace("{p}", before) for text in later])
    return sheet


def _fill(text: str, line: int) -> str | int:
    return text.replace("{r}", str(line)) if text.startswith("=") else int(text)


def _write_equations(book: Workbook, plan: WorkbookPlan) -> None:
    sheet = _add_sheet(book, "equations")
    _set_widths(sheet, (40, LINE_LENGTH + 10, 14, 10))
    scenario = plan.system.scenario
    sheet.append([_styled(sheet, scenario.title or scenario.name, font=BOLD)])
    about = "x' is the rate of x; w1, w2, ... are helper columns; numbers are rounded here, not in the formulas"
    sheet.append([_styled(sheet, about, font=GREY)])
    line = 2
    for title, equations in plan.equations.items():
        line += 2
        sheet.append([])
        heads = (title, "", "unit", "column") if title not in ("Method", "Mechanics") else (title,)
        sheet.append([_styled(sheet, text, font=BOLD) for text in heads])
        for equation in equations:
            # An equation is text: a leading "=" would make it a formula.
            right = f"= {equation.right}" if equation.left else equation.right
            cells = [_styled(sheet, text) for text in (equation.left, right, equation.unit, equation.place)]
            cells[1].data_type = "s"
            for cell in cells:
                cell.alignment = WRAPPED
            line += 1
            sheet.row_dimensions[line].height = LINE_HEIGHT * math.ceil(len(right) / LINE_LENGTH)
            sheet.append(cells)


def _write_tables(book: Workbook, plan: WorkbookPlan) -> None:
    """Tables side by side, each under its title."""
    sheet = book.create_sheet("tables")
    _set_widths(sheet, (24 for _ in plan.tables))
    sheet.append([_styled(sheet, title, font=BOLD) for title in plan.tables])
    columns = list(plan.tables.values())
    for k in range(max(map(len, columns))):
        sheet.append([_number(column[k]) if k < len(column) else None for column in columns])


def _number(value: float) -> float:
    return value if math.isfinite(value) else float(write_number(value).text)
