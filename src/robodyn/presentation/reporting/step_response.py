"""Step-response plot: how do outputs of linear models follow an input in time?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robodyn.analysis.linear.responses import TimeResponse

from .figures import finish_axes, into_file, label_bottom, legend_above, panel_figure
from .modes import model_labels
from .panels import with_unit
from .runs import run_lines, run_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_responses(
    responses: TimeResponse | Sequence[TimeResponse], *, labels: Sequence[str] | None = None
) -> "Figure":
    """A figure with a panel for each output, a line for each response; inputs are not drawn.

    Args:
        labels: what to call each response; the input by default.
    """
    shown = [responses] if isinstance(responses, TimeResponse) else list(responses)
    labels = model_labels(len(shown), labels or [f"step of {response.input.name}" for response in shown])
    outputs = list(dict.fromkeys(response.output for response in shown))
    names = list(dict.fromkeys(labels))
    figure, axes = panel_figure(len(outputs))
    for response, label in zip(shown, labels, strict=True):
        ax = axes[outputs.index(response.output)]
        ax.plot(response.time, response.values, gid=label, **run_style(names.index(label)))
    for ax, output in zip(axes, outputs, strict=True):
        finish_axes(ax, with_unit(output.name, output.unit))
    label_bottom(axes, "time [s]")
    legend_above(figure, run_lines(names))
    return figure


plot_responses = into_file(draw_responses)
