"""Runs for pages: measured data with odd names, and a machine with every kind of joint."""

import numpy as np
import pytest

from robodyn.computation.results import EventRecord, Outcome, OutcomeKind, Provenance, Run, SignalInfo, Statistics

MECHANISM = {
    "type": "Mechanism",
    "name": "crane",
    "bodies": [{"name": "arm", "mass": 1.0, "com": [0.5, 0.0, 0.0]}, {"name": "plate"}, {"name": "rod"}],
    "joints": [
        # The child before its parent: the order of the description is free.
        {"name": "slide", "kind": "prismatic", "parent": "plate", "child": "rod", "axis": [0.0, 0.0, -1.0]},
        {"name": "turn", "kind": "revolute", "parent": "ground", "child": "arm"},
        {"name": "mount", "kind": "fixed", "parent": "arm", "child": "plate", "origin": [1.0, 0.0, 0.0]},
    ],
    "points": [{"name": "hook", "body": "rod"}],
}


def crane(**changes):
    """One second of a crane; changes go into its provenance."""
    time = np.linspace(0.0, 1.0, 11)
    infos = (SignalInfo("turn.position", "rad", rate="turn.velocity"), SignalInfo("turn.velocity", "rad/s"))
    infos += (SignalInfo("slide.position", "m"), SignalInfo("slide.motor.current", "A", "held"))
    values = np.column_stack([time**2, 2 * time, 0.1 * time, np.floor(3 * time)])
    provenance = {
        "scenario": "crane",
        "description": {"machine": {"mechanism": MECHANISM}, "title": "A crane"},
        "parameters": {"mount.origin.x": {"value": 1.5, "unit": "m"}},
        "solver": {"method": "rk4", "step": None, "max_step": float("inf")},
    }
    return Run(
        time,
        values,
        infos,
        Outcome(OutcomeKind.FINISHED, "reached the end time 1 s", 1.0),
        Provenance(**(provenance | changes)),
        Statistics(10, 1, wall_time=0.5, simulated_time=1.0, energy_error=1e-9, extra={"smallest_step": 0.1}),
        (EventRecord("up", 0.5), EventRecord("done", 1.0, terminal=True)),
        ("The rope is taken as stiff.",),
    )


def measured(names=("force",), rows=5, unit="N"):
    """Recorded data without any model."""
    time = np.linspace(0.0, 1.0, rows) if rows else np.empty(0)
    values = np.sin(time[:, None] + np.arange(len(names)))
    outcome = Outcome(OutcomeKind.FINISHED, "Measured data.", 1.0)
    return Run(time, values, tuple(SignalInfo(n, unit) for n in names), outcome, Provenance("measured"))


@pytest.fixture
def make_crane():
    return crane


@pytest.fixture
def make_measured():
    return measured
