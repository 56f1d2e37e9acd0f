"""Runs to draw, and what their pictures show."""

import numpy as np
import pytest

from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo

UNITS = {
    "slide.position": "m",
    "slide.velocity": "m/s",
    "elbow.position": "rad",
    "elbow.velocity": "rad/s",
    "wrist.position": "rad",
    "wrist.velocity": "rad/s",
    "elbow.torque": "N m",
    "elbow.current": "A",
}
COORDINATES = tuple(f"tool.position.{axis}" for axis in "xyz")


def ramps(units=UNITS, held=(), events=(), scale=1.0, end=1.0, **origin):
    """A run whose k-th signal grows with k times the scale."""
    time = np.linspace(0.0, end, 5)
    infos = tuple(SignalInfo(n, u, "held" if n in held else "continuous") for n, u in units.items())
    values = scale * np.outer(time, np.arange(1.0, len(units) + 1))
    outcome = Outcome(OutcomeKind.FINISHED, "Reached the end time.", end)
    return Run(time, values, infos, outcome, Provenance(**({"scenario": "arm"} | origin)), events=events)


def arc(size=1.0, events=(), obstacles=(), planar=False):
    """A run of one second in which a tool goes half around a circle and rises by its radius."""
    time = np.linspace(0.0, 1.0, 101)
    height = np.zeros_like(time) if planar else time
    values = size * np.column_stack([np.cos(np.pi * time), np.sin(np.pi * time), height])
    infos = tuple(SignalInfo(name, "m") for name in COORDINATES)
    origin = Provenance("turn", {"obstacles": list(obstacles)})
    return Run(time, values, infos, Outcome(OutcomeKind.FINISHED, "", 1.0), origin, events=events)


def overlap(boxes):
    """Pairs of boxes on the screen that share more than a pixel."""
    found = []
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            apart = one.x1 <= other.x0 + 1 or other.x1 <= one.x0 + 1 or one.y1 <= other.y0 + 1 or other.y1 <= one.y0 + 1
            found += [] if apart else [(one, other)]
    return found


def legend_texts(legend):
    return [text.get_text() for text in legend.get_texts()]


@pytest.fixture
def make_run():
    return ramps


@pytest.fixture
def make_arc():
    return arc


@pytest.fixture
def overlaps():
    return overlap


@pytest.fixture
def texts():
    return legend_texts
