"""Small runs with all a record can have: a jump, a held signal, a rate, events, values that are none."""

import numpy as np
import pytest

from robodyn.computation.results import EventRecord, Outcome, OutcomeKind, Provenance, Run, SignalInfo, Statistics

INFOS = (
    SignalInfo("ball.position", "m", rate="ball.velocity"),
    SignalInfo("ball.velocity", "m/s"),
    SignalInfo("drive.force_cmd", "N", "held"),
    SignalInfo("sensor.reading", ""),
)
PROVENANCE = Provenance(
    "bounce",
    {"bodies": ("ball",), "mass": np.float64(0.2), "limit": float("inf")},
    {"ball.mass": {"value": 0.2, "unit": "kg"}},
    {"method": "explicit", "tolerance": 1e-9},
    versions={"numpy": np.__version__},
)


def bounce(**changes):
    """A bouncing ball: its velocity and a held command jump at 1 s; a sensor shows odd floats."""
    columns = {
        "position": [1.0, 0.75, 0.0, 0.0, 0.25, 0.0],
        "velocity": [0.0, -1.0, -2.0, 1.0, 0.0, -1.0],
        "command": [1.0, 1.0, 1.0, 5.0, 5.0, 5.0],
        "sensor": [0.1, np.nan, np.inf, -0.0, 5e-324, 1 / 3],
    }
    parts = {
        "time": np.array([0.0, 0.5, 1.0, 1.0, 1.5, 2.0]),
        "values": np.column_stack(list(columns.values())),
        "infos": INFOS,
        "outcome": Outcome(OutcomeKind.STOPPED, "The ball reached the catcher.", 2.0),
        "provenance": PROVENANCE,
        "statistics": Statistics(40, 2, wall_time=0.01, simulated_time=2.0, energy_error=1e-12),
        "events": (EventRecord("impact", 1.0), EventRecord("caught", 2.0, terminal=True)),
        "warnings": ("The restitution is a guess.",),
    }
    return Run(**(parts | changes))


def single(time, values, info=None):
    """A run of one signal."""
    outcome = Outcome(OutcomeKind.FINISHED, "Reached the end time.", float(time[-1]))
    return Run(time, np.reshape(values, (-1, 1)), (info or SignalInfo("x", "m"),), outcome, Provenance("plain"))


@pytest.fixture
def make_run():
    return bounce


@pytest.fixture
def make_single():
    return single


@pytest.fixture
def run():
    return bounce()
