"""Charts of a workbook: how do the states look over time? One for every unit."""

from __future__ import annotations

from openpyxl.chart import Reference, ScatterChart, Series
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.drawing.line import LineProperties
from openpyxl.worksheet.worksheet import Worksheet

from robodyn.exchange.workbook.plan import HEAD, Plan

WIDTH, HEIGHT = 24.0, 9.0
# Rows of a sheet that a chart of this height covers, with a gap.
ROWS_BETWEEN = 20
# Charts of more rows than this are slow to draw and show no more.
MOST_POINTS = 32_000


def add_charts(sheet: Worksheet, run: Worksheet, plan: Plan) -> None:
    """Put the charts on their sheet, one below the other."""
    for k, (unit, states) in enumerate(_states_by_unit(plan).items()):
        sheet.add_chart(_make_chart(run, plan, unit, states), f"A{1 + k * ROWS_BETWEEN}")


def _states_by_unit(plan: Plan) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for k, state in enumerate(plan.system.states):
        groups.setdefault(state.unit, []).append(k)
    return groups


def _make_chart(run: Worksheet, plan: Plan, unit: str, states: list[int]) -> ScatterChart:
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
