"""Are macro steps in the engine those of Python, whatever is coupled?"""

from functools import cache

import numpy as np
import pytest

from robodyn.computation.cosimulation import Connection, CosimSettings, ScenarioUnit, cosimulate, macro_steps
from robodyn.description.catalog import Oscillator, oscillator_sides
from robodyn.description.model import Solver

NAMES = ("first", "second")


STIFF, FEW_STEPS = "stiff", "few steps"


@cache
def sides(coupling):
    """Units; stiff ones ask for their Jacobian on the way, and ones of few steps use them up."""
    made, solver = oscillator_sides(coupling if "-" in coupling else "model-model"), None
    if coupling in (STIFF, FEW_STEPS):
        made = oscillator_sides("model-model", Oscillator(damping=(3e4, 0.01, 3e4)))
        solver = Solver(rtol=1e-6, atol=1e-8, **({} if coupling == STIFF else {"max_steps": 150}))
    return [ScenarioUnit(side, name=name, solver=solver) for name, side in zip(NAMES, made, strict=True)]


def couple(coupling, order, settings, natively, monkeypatch):
    counted = []
    with monkeypatch.context() as patch:
        chosen = macro_steps.runs_natively
        patch.setattr(macro_steps, "runs_natively", lambda exchange: counted.append(chosen(exchange)) or natively)
        units = [unit.renew() for unit in sides(coupling)]
        run = cosimulate(units, [Connection("first.port", "second.port", order)], settings=settings, duration=0.3)
    assert counted == [True]
    return run


@pytest.mark.parametrize("order", [0, 2])
@pytest.mark.parametrize("coupling", ["force-displacement", "displacement-displacement", "model-force", "model-model"])
def test_macro_steps_in_the_engine_are_those_of_python(coupling, order, monkeypatch):
    settings = CosimSettings(0.007, "sequential" if order else "parallel")
    native, python = (couple(coupling, order, settings, natively, monkeypatch) for natively in (True, False))
    assert native.outcome == python.outcome
    assert native.outcome.carried_through
    assert native.statistics.steps == python.statistics.steps == 43
    # Held values are the same to the last digit; polynomials are fitted by another elimination.
    tolerance = 0.0 if order == 0 else 1e-10
    for name in (*NAMES, "coupling"):
        ours, theirs = (run.coupling if name == "coupling" else run[name] for run in (native, python))
        scale = np.abs(theirs.values).max(axis=0)
        assert ours.time.tolist() == theirs.time.tolist()
        assert np.all(np.abs(ours.values - theirs.values) <= tolerance * scale + 1e-15)


@pytest.mark.parametrize(("coupling", "outcome"), [(STIFF, "SUSPECT"), (FEW_STEPS, "STEP_LIMIT")])
def test_units_that_need_python_on_the_way_get_it(coupling, outcome, monkeypatch):
    native, python = (couple(coupling, 0, CosimSettings(0.05), natively, monkeypatch) for natively in (True, False))
    assert native.outcome == python.outcome
    assert native.outcome.kind.name == outcome
    assert "rodas4p" in native["first"].statistics.extra["method"]
    assert native.coupling.values.tolist() == python.coupling.values.tolist()


def test_a_run_that_diverges_in_the_engine_is_told_of_as_in_python(monkeypatch):
    settings = CosimSettings(0.03, largest_value=300.0)
    found = [couple("force-displacement", 1, settings, natively, monkeypatch) for natively in (True, False)]
    assert found[0].outcome.kind.name == "DIVERGED"
    assert found[0].outcome == found[1].outcome
    assert found[0].coupling.time.tolist() == found[1].coupling.time.tolist()
