"""Co-simulation study, pictures: distance of point A over time, errors by macro step, stability."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robodyn.presentation.reporting import COLOURS, LINE_WIDTH, empty_figure, finish_axes, write_figure
from robodyn.presentation.studies import Picture
from robodyn_studies.catalog.space_case import YAW, move_in_plane
from robodyn_studies.cosimulation_case import (
    ACCURATE,
    COMPARED,
    DISTANCE,
    MILLI,
    MODELS,
    PLACE,
    RIGID_MODELS,
    Case,
    Way,
    couple,
    whole,
)
from robodyn_studies.cosimulation_headline import draw_headline
from robodyn_studies.cosimulation_limits import MANY_WAYS, SPAN, quick_stability_limit
from robodyn_studies.cosimulation_manoeuvre import draw_manoeuvre
from robodyn_studies.cosimulation_pages import shapes_picture
from robodyn_studies.cosimulation_parts import benchmark_errors, benchmark_map
from robodyn_studies.cosimulation_singular import (
    HIT,
    ROLL,
    ROLL_JOINT,
    effective_masses,
    rolling,
    singular_time,
)
from robodyn_studies.oscillator_drawings import plot_coupling_errors, plot_stability

HIGHEST = 4.5
"""Distance up to which the picture goes [m]: what is unstable leaves it."""


DRAWN_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Macro steps of models in the picture of errors [s]."""
DRAWN_SIGNALS = (0.0025, 0.004, 0.005, 0.008)
DRAWN_MOTIONS = (0.005, 0.01, 0.015)


def draw_distance(path: Path) -> None:
    """Distance of point A to the wall (study's figure 1b), and how far co-simulations are from the monolithic runs."""
    linear = Way("signals", order=1)
    beyond = 1.06 * quick_stability_limit(MANY_WAYS["force-displacement, order 1"]).fails
    at = f"{MILLI * COMPARED:g} ms"
    mobility = Way("mobility-mobility", False)
    shown = {
        f"models, flexible arm, {at}": (couple(MODELS, COMPARED), whole(True)),
        f"models, rigid arm, {at}: ends by singularity": (couple(RIGID_MODELS, COMPARED), whole(False)),
        f"the same by mobility, {at}": (couple(mobility, COMPARED), whole(False, latched=True)),
        f"signals of order 1, {MILLI * beyond:.2g} ms": (couple(linear, beyond, SPAN), whole(True, latched=True)),
    }
    figure = empty_figure(8.0, 8.0)
    above, under, space = figure.subplots(3, 1, sharex=True)
    for flexible, look in ((True, "-"), (False, ":")):
        run = whole(flexible)
        label = f"monolithic, {'flexible' if flexible else 'rigid'}"
        above.plot(run.time, run[DISTANCE].values, look, color="black", linewidth=LINE_WIDTH, label=label)
    for (name, (case, reference)), colour in zip(shown.items(), COLOURS[1:], strict=False):
        run = case.run["payload"]
        distance = run[DISTANCE].values
        above.plot(run.time, distance, "--", color=colour, linewidth=LINE_WIDTH, label=name)
        apart = MILLI * np.abs(distance - reference[DISTANCE](run.time))
        shift = MILLI * np.linalg.norm([run[axis].values - reference[axis](run.time) for axis in PLACE], axis=0)
        for ax, errors in ((under, apart), (space, shift)):
            ax.semilogy(run.time, np.maximum(errors, 1e-4), color=colour, linewidth=LINE_WIDTH)
        if not case.finished:
            ends = (distance[-1], max(apart[-1], 1e-4), max(shift[-1], 1e-4))
            for ax, value in zip((above, under, space), ends, strict=True):
                ax.plot(run.time[-1], value, "x", color=colour, markersize=10, markeredgewidth=2)
    above.set_ylim(-0.2, HIGHEST)
    above.axvspan(*YAW.ways[1], color="0.93")
    above.legend(fontsize="small")
    for ax, label in ((under, "error of the distance [mm]"), (space, "error of A in space [mm]")):
        ax.axhline(MILLI * ACCURATE, color="0.6", linewidth=LINE_WIDTH)
        ax.set_ylim(1e-4, 1e2)
        finish_axes(ax, label)
    space.set_xlabel("time [s]")
    finish_axes(above, "distance of A [m]")
    write_figure(figure, path)


def draw_errors(path: Path) -> None:
    """Largest errors of the distance by macro step."""
    figure = empty_figure(8.0, 4.4)
    ax = figure.subplots()
    lines = {
        "models both ways": DRAWN_STEPS,
        "models both ways, order 1": DRAWN_STEPS,
        "force-displacement": DRAWN_SIGNALS,
        "force-displacement, order 1": DRAWN_SIGNALS,
        "displacement-displacement, order 1": DRAWN_MOTIONS,
        "displacement-displacement, order 2": DRAWN_MOTIONS,
    }
    for (name, steps), colour in zip(lines.items(), COLOURS, strict=False):
        way = MANY_WAYS[name]
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
        above.semilogy(time, np.abs(masses), color=colour, linewidth=LINE_WIDTH, label=f"{kind} arm")
        for join, look in (("mean", "-"), ("inertia", "--")):
            run = rolling(flexible, join, HIT[0]).run["arm"]
            roll = f"{ROLL_JOINT}.position"
            apart = np.abs(run[roll].values - whole(flexible, move_in_plane(ROLL))[roll](run.time))
            label = f"{kind}, {'halfway' if join == 'mean' else 'by inertia'}"
            under.semilogy(run.time, np.maximum(apart, 1e-7), look, color=colour, linewidth=LINE_WIDTH, label=label)
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
            "from above and from the side: at the start, after the move to the right, turning, and at the wall, "
            "where the "
            "wrist's roll axis is parallel to the three pitch axes and the rigid arm is singular; square: point A",
            draw_manoeuvre,
            "Figure 1a: the manoeuvre, payload to the right, turned by 90 degrees at the wall, held there",
        ),
        Picture(
            "distance",
            "the distance, and how far each co-simulation is from the monolithic run of the same arm, in "
            "distance and in "
            "space; grey: the payload turns; cross: the run ended early. The rigid arm's models end where the "
            "inertia of "
            "equation 3 ceases to exist; the same arm goes on where its models are integrated by their mobility. "
            "Signals "
            f"are shown for their first {SPAN:g} s; these and mobilities act through a latch, and are compared with a "
            "monolithic run that has it",
            draw_distance,
            "Figure 1b: distance of point A to the wall; the rigid arm's model fails, the flexible one's is accurate",
        ),
        Picture(
            "headline",
            "Untuned macro steps: when each run ends, and how far point A is off in space until then; grey: the "
            "rigid arm "
            "without any limit on the condition number; black: models integrated by their mobility",
            draw_headline,
        ),
        Picture(
            "errors",
            f"Largest errors of the distance in the first {SPAN:g} s by macro step, flexible arm turned in a "
            "plane, signals "
            "against the monolithic run with a latch; grey: 1 mm; cross: the run diverged, with its error up to "
            "there; dotted: up "
            "to here no disturbance grows",
            draw_errors,
        ),
        Picture(
            "singular",
            "Largest effective mass of the arm at its interface over the manoeuvre; and the error of the shoulder's "
            f"roll in the variant in a plane in which it rolls by {ROLL:g} rad, models in both directions, a "
            "communication point "
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
