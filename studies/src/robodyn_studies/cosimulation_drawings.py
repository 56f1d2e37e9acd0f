"""Co-simulation study, pictures: distance of point A over time, errors by macro step, stability."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robodyn.presentation.reporting import COLOURS, LINE_WIDTH, empty_figure, finish_axes, write_figure
from robodyn.presentation.studies import Picture
from robodyn_studies.catalog.space_case import WAYS
from robodyn_studies.cosimulation_case import (
    ACCURATE,
    COMPARED,
    DISTANCE,
    MILLI,
    MODELS,
    RIGID_MODELS,
    Case,
    Way,
    couple,
    whole,
)
from robodyn_studies.cosimulation_limits import SPAN, quick_stability_limit
from robodyn_studies.cosimulation_manoeuvre import draw_manoeuvre
from robodyn_studies.cosimulation_pages import shapes_picture
from robodyn_studies.cosimulation_parts import benchmark_errors, benchmark_map
from robodyn_studies.cosimulation_singular import (
    HIT,
    ROLL,
    ROLL_JOINT,
    effective_masses,
    rolling,
    singular_step,
    singular_time,
)
from robodyn_studies.cosimulation_untuned import draw_untuned
from robodyn_studies.oscillator_drawings import plot_coupling_errors, plot_stability

HIGHEST = 4.5
"""Distance up to which the picture goes [m]: what is unstable leaves it."""


KEPT_STEP = 0.01
"""Macro step of the coupling without corrections in the picture of distances [s]."""
DRAWN_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Macro steps of models in the picture of errors [s]."""
DRAWN_SIGNALS = (0.0025, 0.004, 0.005, 0.008)
DRAWN_MOTIONS = (0.005, 0.01, 0.015)


def draw_distance(path: Path) -> None:
    """Distance of point A to the wall (study's figure 1b), and how far co-simulations are from the monolithic runs."""
    singular = singular_step(False, 0.0, COMPARED)
    linear, kept = Way("signals", order=1), Way("model-model", False, join="none")
    beyond = 1.06 * quick_stability_limit(linear).fails
    shown = {
        f"models, flexible arm, {MILLI * COMPARED:g} ms": (couple(MODELS, COMPARED), whole(True)),
        f"models, rigid arm, {MILLI * singular:.7g} ms": (couple(RIGID_MODELS, singular), whole(False)),
        f"the same, own motion kept, {MILLI * KEPT_STEP:g} ms": (couple(kept, KEPT_STEP, watched=False), whole(False)),
        f"signals of order 1, {MILLI * beyond:.2g} ms": (couple(linear, beyond, SPAN), whole(True, latched=True)),
    }
    figure = empty_figure(8.0, 6.4)
    above, under = figure.subplots(2, 1, sharex=True)
    for flexible, look in ((True, "-"), (False, ":")):
        run = whole(flexible)
        label = f"monolithic, {'flexible' if flexible else 'rigid'}"
        above.plot(run.time, run[DISTANCE].values, look, color="black", linewidth=LINE_WIDTH, label=label)
    for (name, (case, reference)), colour in zip(shown.items(), COLOURS[1:], strict=False):
        run = case.run["payload"]
        distance = run[DISTANCE].values
        above.plot(run.time, distance, "--", color=colour, linewidth=LINE_WIDTH, label=name)
        apart = MILLI * np.abs(distance - reference[DISTANCE](run.time))
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
        "models both ways": (MODELS, DRAWN_STEPS),
        "models both ways, order 1": (Way("model-model", order=1), DRAWN_STEPS),
        "force-displacement": (Way("signals"), DRAWN_SIGNALS),
        "force-displacement, order 1": (Way("signals", order=1), DRAWN_SIGNALS),
        "displacement-displacement, order 1": (Way("displacements", order=1), DRAWN_MOTIONS),
        "displacement-displacement, order 2": (Way("displacements", order=2), DRAWN_MOTIONS),
    }
    for (name, (way, steps)), colour in zip(lines.items(), COLOURS, strict=False):
        cases = {step: couple(way, step, SPAN) for step in steps}
        _draw_line(ax, name, cases, colour)
        limit = quick_stability_limit(way)
        ax.axvline(MILLI * limit.holds, color=colour, linewidth=LINE_WIDTH, linestyle=":")
    ax.axhline(MILLI * ACCURATE, color="0.6", linewidth=LINE_WIDTH)
    ax.set_xlabel("macro step [ms]")
    ax.legend(fontsize="small")
    finish_axes(ax, "largest error of the distance [mm]")
    write_figure(figure, path)


def _draw_line(ax: Any, name: str, cases: dict[float, Case], colour: Any) -> None:
    """Errors by macro step; a cross where the run diverged."""
    steps = np.array(list(cases))
    errors = MILLI * np.array([case.error for case in cases.values()])
    ended = np.array([not case.finished for case in cases.values()])
    ax.loglog(MILLI * steps, errors, "o-", color=colour, linewidth=LINE_WIDTH, markersize=4, label=name)
    ax.loglog(MILLI * steps[ended], errors[ended], "x", color="black", markersize=10)


def draw_singular(path: Path) -> None:
    """What the arm weighs at its interface, and what becomes of its roll where models meet halfway."""
    figure = empty_figure(8.0, 6.4)
    above, under = figure.subplots(2, 1, sharex=True)
    for flexible, colour in ((False, COLOURS[0]), (True, COLOURS[1])):
        kind = "flexible" if flexible else "rigid"
        time, masses = effective_masses(flexible)
        above.semilogy(time, masses, color=colour, linewidth=LINE_WIDTH, label=f"{kind} arm")
        for join, look in (("mean", "-"), ("inertia", "--")):
            run = rolling(flexible, join, HIT[0]).run["arm"]
            roll = f"{ROLL_JOINT}.position"
            apart = np.abs(run[roll].values - whole(flexible, ROLL)[roll](run.time))
            label = f"{kind}, {'halfway' if join == 'mean' else 'by inertia'}"
            under.semilogy(run.time, np.maximum(apart, 1e-7), look, color=colour, linewidth=LINE_WIDTH, label=label)
    above.axvline(singular_time(False, 0.0), color="0.6", linewidth=LINE_WIDTH)
    under.axvline(singular_time(False, ROLL), color="0.6", linewidth=LINE_WIDTH)
    for ax in (above, under):
        ax.legend(fontsize="small")
    under.set_xlim(20.0, 34.0)
    under.set_ylim(1e-6, 1.0)
    under.set_xlabel("time [s]")
    finish_axes(above, "largest effective mass [kg]")
    finish_axes(under, "error of the shoulder's roll [rad]")
    write_figure(figure, path)


def pictures() -> tuple[Picture, ...]:
    """The study's figure 1b redrawn, and what goes beyond it."""
    return (
        Picture(
            "manoeuvre",
            "from the side: at the start, after the move to the right, where the rigid arm "
            "is singular, and at the touch; dotted: the line of the shoulder's roll axis",
            draw_manoeuvre,
            "Figure 1a: the manoeuvre, payload to the right, turned by 90 degrees at the wall, held there",
        ),
        Picture(
            "distance",
            "the distance, and how far each co-simulation is from the monolithic run of "
            "the same arm; grey: the payload turns; cross: the run ended early; signals are shown for their first "
            f"{SPAN:g} s. The rigid arm's macro step is chosen so that a communication point meets the instant at "
            "which it is singular, and what ends that run is the co-simulation's limit on the condition number; "
            "coupled as the study describes it, each side keeping its own motion, and without that limit, it goes on",
            draw_distance,
            "Figure 1b: distance of point A to the wall; the rigid arm's model fails, the flexible one's is accurate",
        ),
        Picture(
            "errors",
            f"Largest errors of the distance in the first {SPAN:g} s by macro step, flexible arm, signals against the "
            "monolithic run with a latch; grey: 1 mm; cross: the run diverged, with its error up to there; dotted: up "
            "to here no disturbance grows",
            draw_errors,
        ),
        Picture(
            "untuned",
            "Rigid and flexible arm at untuned macro steps, coupled as the study describes it (own motion kept) and "
            "joined by inertia; below, the rigid arm's condition numbers, passing the singular position or held there; "
            "grey: the limit beyond which the co-simulation would stop",
            draw_untuned,
        ),
        Picture(
            "singular",
            "Largest effective mass of the arm at its interface over the manoeuvre; and the error of the shoulder's "
            f"roll in the variant in which it rolls by {ROLL:g} rad, models in both directions, a communication point "
            "where the arm is singular (grey), sides meeting halfway or by their inertia",
            draw_singular,
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
