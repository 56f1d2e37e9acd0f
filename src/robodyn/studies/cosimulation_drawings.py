"""How does the co-simulation study look? Distance of point A over time, errors by macro step, stability."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robodyn.catalog.space_case import WAYS
from robodyn.reporting import plot_coupling_errors, plot_stability
from robodyn.reporting.figures import COLOURS, LINE_WIDTH, empty_figure, finish_axes, write_figure
from robodyn.studies.cosimulation_case import (
    ACCURATE,
    COMPARED,
    DISTANCE,
    MILLI,
    SIGNAL_SPAN,
    couple,
    models,
    signals,
    whole,
)
from robodyn.studies.cosimulation_figures import SHORT
from robodyn.studies.cosimulation_pages import shapes_picture
from robodyn.studies.cosimulation_parts import benchmark_errors, benchmark_map
from robodyn.studies.study import Picture

HIGHEST = 4.5
"""Distance up to which the picture goes [m]: what is unstable leaves it."""


def draw_distance(path: Path) -> None:
    """Distance of point A to the wall (study's figure 1b), and how far co-simulations are from the monolithic runs."""
    shown = {
        f"models, flexible arm, {MILLI * COMPARED:g} ms": (couple("model-model", True, COMPARED), True),
        f"models, rigid arm, {MILLI * SHORT:g} ms": (couple("model-model", False, SHORT), False),
        "signals of order 1, 5 ms": (couple("signals", True, 0.005, 1, SIGNAL_SPAN), True),
    }
    figure = empty_figure(8.0, 6.4)
    above, under = figure.subplots(2, 1, sharex=True)
    for flexible, look in ((True, "-"), (False, ":")):
        run = whole(flexible)
        label = f"monolithic, {'flexible' if flexible else 'rigid'}"
        above.plot(run.time, run[DISTANCE].values, look, color="black", linewidth=LINE_WIDTH, label=label)
    for (name, (case, flexible)), colour in zip(shown.items(), COLOURS[1:], strict=False):
        run = case.run["payload"]
        distance = run[DISTANCE].values
        above.plot(run.time, distance, "--", color=colour, linewidth=LINE_WIDTH, label=name)
        apart = MILLI * np.abs(distance - whole(flexible)[DISTANCE](run.time))
        under.semilogy(run.time, np.maximum(apart, 1e-4), color=colour, linewidth=LINE_WIDTH)
        if not case.finished:
            for ax, value in ((above, distance[-1]), (under, max(apart[-1], 1e-4))):
                ax.plot(run.time[-1], value, "x", color=colour)
    above.set_ylim(-0.2, HIGHEST)
    above.axvspan(*WAYS[1], color="0.93")
    above.legend(fontsize="small")
    under.axhline(MILLI * ACCURATE, color="0.6", linewidth=LINE_WIDTH)
    under.set_ylim(1e-4, 1e2)
    under.set_xlabel("time [s]")
    finish_axes(above, "distance of A [m]")
    finish_axes(under, "difference [mm]")
    write_figure(figure, path)


def draw_errors(path: Path) -> None:
    """Largest errors of the distance by macro step."""
    figure = empty_figure(8.0, 4.4)
    ax = figure.subplots()
    lines = {
        "models, both ways": models(),
        "signals of order 0": signals(0),
        "signals of order 1": signals(1),
    }
    for (name, cases), colour in zip(lines.items(), COLOURS, strict=False):
        steps = MILLI * np.array(sorted(cases))
        errors = MILLI * np.array([cases[step].error for step in sorted(cases)])
        ax.loglog(steps, errors, "o-", color=colour, linewidth=LINE_WIDTH, markersize=4, label=name)
        ended = np.array([not cases[step].finished for step in sorted(cases)])
        ax.loglog(steps[ended], errors[ended], "x", color="black", markersize=10)
    ax.axhline(MILLI * ACCURATE, color="0.6", linewidth=LINE_WIDTH)
    ax.set_xlabel("macro step [ms]")
    ax.legend(fontsize="small")
    finish_axes(ax, "largest error of the distance [mm]")
    write_figure(figure, path)


def pictures() -> tuple[Picture, ...]:
    """The study's figure 1b redrawn, and what goes beyond it."""
    return (
        Picture(
            "distance",
            "Distance of point A to the wall (figure 1b), and how far each co-simulation is from the monolithic run of "
            "the same arm; grey: the payload turns; cross: the run ended early; signals are shown for their first "
            f"{SIGNAL_SPAN:g} s",
            draw_distance,
        ),
        Picture(
            "errors",
            "Largest errors of the distance by macro step, flexible arm; grey: 1 mm; cross: the run diverged, with its "
            "error up to there",
            draw_errors,
        ),
        Picture(
            "benchmark",
            "The linear oscillator: errors and energy by macro step",
            lambda path: plot_coupling_errors(benchmark_errors(), path),
        ),
        Picture(
            "stability",
            "Stability of the oscillator's couplings: growth by macro step and stiffness",
            lambda path: plot_stability(benchmark_map(), path),
        ),
        shapes_picture(),
    )
