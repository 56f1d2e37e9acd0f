"""Co-simulation study, pages: the arm's manoeuvre replayed in 3-D, and its modes, drawn and vibrating."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path

from robodyn.analysis import ModeSet, animate_modes, find_modes
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run
from robodyn.presentation.pages import write_modes, write_report
from robodyn.presentation.reporting import plot_modes
from robodyn.presentation.studies import Picture
from robodyn_studies.catalog.space_arm import space_arm_swing
from robodyn_studies.cosimulation_case import DISTANCE, whole

EXAGGERATION = 20.0
"""Of deformations at first; own choice."""
DRAWN_MODES = 6
KEPT = (DISTANCE, "touch.force.normal", "energy.kinetic")
"""Signals of the replayed runs, beside positions and velocities of joints and modes."""
EVERY = 2
"""Of the recorded rows, those on the page: 25 a second."""


def draw_replay(path: Path) -> None:
    """The manoeuvre of both arms in space."""
    runs = [_shorten(whole(flexible)) for flexible in (True, False)]
    write_report(runs, path, labels=["flexible arm", "rigid arm"], exaggerate=EXAGGERATION)


def _shorten(run: Run) -> Run:
    """The run with the signals that a replay needs, and fewer rows."""
    moving = [name for name in run.names if name.endswith((".position", ".velocity")) and ".reference." not in name]
    kept = [run.names.index(name) for name in (*moving, *(name for name in KEPT if name in run))]
    infos = tuple(run.infos[k] for k in kept)
    known = {info.name for info in infos}
    infos = tuple(info if info.rate in known else dataclasses.replace(info, rate=None) for info in infos)
    time, values = run.time[::EVERY], run.values[::EVERY, kept]
    return dataclasses.replace(run, time=time, values=values, infos=infos, knots=None, probes=None)


@cache
def _modes() -> tuple[ModeSet, System]:
    system = assemble(space_arm_swing(True))
    return find_modes(system), system


def draw_shapes(path: Path) -> None:
    """The slowest modes of the straight arm without payload."""
    found, _ = _modes()
    plot_modes(found, path, modes=found.moving[:DRAWN_MODES])


def draw_swinging(path: Path) -> None:
    """The same modes in motion."""
    write_modes(animate_modes(*_modes()), path)


def shapes_picture() -> Picture:
    """Mode shapes as a picture of the study's page."""
    caption = "Mode shapes of the straight flexible arm on its joints' springs, no payload, in two opposite phases"
    return Picture("modes", caption, draw_shapes)


def pages() -> tuple[Picture, ...]:
    """What moves: pages beside the study's own."""
    return (
        Picture(
            "replay",
            "The manoeuvre in space, flexible arm and rigid one; deformations are drawn "
            f"{EXAGGERATION:g} times as large at first, a slider changes that",
            draw_replay,
        ),
        Picture("modes", "The modes of the straight flexible arm, swinging", draw_swinging),
    )
