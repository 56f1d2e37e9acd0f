"""Bode plot: how do outputs of linear models follow a sinusoidal input, over frequency?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from robodyn.analysis.linear.frequency import FrequencyResponse, choose_frequencies, respond
from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.measurement.responses import MeasuredResponse

from .figures import finish_axes, into_file, label_bottom, legend_above, panel_figure
from .modes import model_labels
from .panels import with_unit
from .runs import run_lines, run_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_frequency(
    models: LinearModel | Sequence[LinearModel],
    *,
    input: str | None = None,
    output: str | None = None,
    frequency: ArrayLike | None = None,
    labels: Sequence[str] | None = None,
) -> "Figure":
    """A figure of magnitude and phase over frequency, a line a model, delays exact.

    Args:
        input, output: names of the channel; the only one where there is one.
        frequency: [Hz]; by default a grid around the poles of all models.
        labels: what to call each model.
    """
    models = (models,) if isinstance(models, LinearModel) else tuple(models)
    labels = model_labels(len(models), labels)
    grid = choose_frequencies(models) if frequency is None else frequency
    responses = [respond(model, input, output, grid) for model in models]
    figure, axes = panel_figure(2)
    for number, response in enumerate(responses):
        look = run_style(number)
        axes[0].loglog(response.frequency, response.magnitude, gid=labels[number], **look)
        axes[1].semilogx(response.frequency, response.phase, gid=labels[number], **look)
    _finish(figure, axes, responses[0])
    if len(models) > 1:
        legend_above(figure, run_lines(labels), _title(responses[0]))
    else:
        figure.suptitle(_title(responses[0]), fontsize="medium")
    return figure


plot_frequency = into_file(draw_frequency)


def draw_measured(response: MeasuredResponse, exact: FrequencyResponse | None = None) -> "Figure":
    """A figure of magnitude with its 95 % interval and phase where the data tell them, coherence; a model beside."""
    figure, axes = panel_figure(3)
    f, look, told = response.frequency, run_style(0), response.told
    lower, upper = response.interval
    axes[0].loglog(f[told], response.magnitude[told], gid="measured", **look)
    axes[0].fill_between(f[told], lower[told], upper[told], color=look["color"], alpha=0.2, linewidth=0)
    axes[1].semilogx(f[told], np.degrees(np.unwrap(np.angle(response.values[told]))), gid="measured", **look)
    axes[2].semilogx(f, response.coherence, gid="coherence", **look)
    if exact is not None:
        axes[0].loglog(exact.frequency, exact.magnitude, gid="model", **run_style(1))
        axes[1].semilogx(exact.frequency, exact.phase, gid="model", **run_style(1))
    _finish(figure, axes, response)
    finish_axes(axes[2], "coherence")
    label_bottom(axes, "frequency [Hz]")
    figure.set_figheight(8.0)
    legend_above(figure, run_lines(["measured", "model"] if exact else ["measured"]), _title(response))
    return figure


plot_measured = into_file(draw_measured)


def _finish(figure: "Figure", axes: Sequence["Axes"], response: FrequencyResponse) -> None:
    finish_axes(axes[0], with_unit("magnitude", response.unit))
    finish_axes(axes[1], "phase [deg]")
    label_bottom(axes, "frequency [Hz]")
    figure.set_figheight(6.0)
    figure.align_ylabels(axes)


def _title(response: FrequencyResponse) -> str:
    return f"{response.output.name} over {response.input.name}"
