"""Tornado chart: which parameters move a result most? Bars to both sides of the present value, the longest on top."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .figures import COLOURS, empty_figure, into_file, legend_above
from .panels import with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robodyn.analysis.sensitivity.ranking import Sensitivity

MOST_BARS = 30
# Inches.
_WIDTH, _BAR_HEIGHT, _MARGIN = 7.0, 0.32, 1.4
_BAR = 0.7


def draw_tornado(rows: Sequence["Sensitivity"], *, unit: str = "") -> "Figure":
    """A figure of one measure: a bar a parameter, from the measure with less of it to that with more.

    Bars are those of the finite changes, or of the exact slope over one percent where there are none. A line marks what
    the exact slope foretells of the same change.

    Args:
        rows: of one measure, as `SensitivityTable.of` gives them.
        unit: of the measure.
    """
    rows = list(rows)
    measures = {row.measure for row in rows}
    if len(measures) != 1:
        raise ValueError(f"a ranking shows one measure, not {len(measures)}")
    if len(rows) > MOST_BARS:
        raise ValueError(f"{len(rows)} bars are too many for one figure, {MOST_BARS} fit: choose fewer parameters")
    rows.sort(key=_reach)
    figure = empty_figure(_WIDTH, _MARGIN + _BAR_HEIGHT * len(rows))
    ax = figure.subplots()
    for place, row in enumerate(rows):
        _draw_bar(ax, place, row)
    ax.axvline(rows[0].value, color="0.3", linewidth=0.8)
    ax.set_yticks(range(len(rows)), [_label(row) for row in rows])
    ax.set_xlabel(with_unit(rows[0].measure, unit))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    legend_above(figure, _entries(rows))
    return figure


plot_tornado = into_file(draw_tornado)


def _draw_bar(ax: "Axes", place: int, row: "Sensitivity") -> None:
    less, more = _ends(row)
    for end, colour in ((less, COLOURS[1]), (more, COLOURS[0])):
        ax.barh(place, end - row.value, left=row.value, height=_BAR, color=colour, gid=row.parameter)
    if row.slope is not None and row.lower is not None:
        ends = [row.value + sign * row.slope * row.parameter_value * row.change for sign in (-1, 1)]
        ax.plot(ends, [place, place], color="black", marker="|", linewidth=0.8, gid=f"{row.parameter} exact")


def _ends(row: "Sensitivity") -> tuple[float, float]:
    """The measure with less and with more of the parameter."""
    if row.lower is not None and row.upper is not None:
        return row.lower, row.upper
    step = row.per_percent or 0.0
    return row.value - step, row.value + step


def _reach(row: "Sensitivity") -> float:
    return max(abs(end - row.value) for end in _ends(row))


def _label(row: "Sensitivity") -> str:
    change = row.change if row.lower is not None else 0.01
    return f"{row.parameter} \N{PLUS-MINUS SIGN}{100 * change:g} %"


def _entries(rows: Sequence["Sensitivity"]) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: list[Any] = [Patch(color=COLOURS[1], label="less"), Patch(color=COLOURS[0], label="more")]
    if any(row.slope is not None and row.lower is not None for row in rows):
        entries.append(Line2D([], [], color="black", marker="|", linewidth=0.8, label="by the exact slope"))
    return entries
