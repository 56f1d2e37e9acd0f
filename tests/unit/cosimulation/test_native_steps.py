"""Does a unit move alike, whether it is a run of the engine or is called in Python?"""

from functools import cache

import numpy as np
import pytest

from robodyn.computation.cosimulation import Connection, CosimSettings, ScenarioUnit, cosimulate
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


class Wrapped:
    """A scenario that the engine does not know as one: it is called in Python for everything."""

    def __init__(self, unit):
        self.unit = unit

    def __getattr__(self, name):
        return getattr(self.unit, name)


METHODS = ("start", "read", "write", "advance", "save", "restore", "choose", "finish", "reduced_model", "attach_model")
DATA = ("name", "inputs", "outputs", "interfaces", "scenario", "can_restore")
for key in METHODS:
    setattr(Wrapped, key, lambda self, *given, _key=key, **named: getattr(self.unit, _key)(*given, **named))
for key in DATA:
    setattr(Wrapped, key, property(lambda self, _key=key: getattr(self.unit, _key)))
Wrapped.attach_model = lambda self, interface, model, motion, trend=None: self.unit.attach_model(
    interface, model, motion, trend
)


def couple(coupling, order, settings, wrapped=()):
    units = [unit.renew() for unit in sides(coupling)]
    units = [Wrapped(unit) if unit.name in wrapped else unit for unit in units]
    return cosimulate(units, [Connection("first.port", "second.port", order)], settings=settings, duration=0.3)


@pytest.mark.parametrize("wrapped", [("first",), ("second",), NAMES])
@pytest.mark.parametrize("order", [0, 2])
@pytest.mark.parametrize("coupling", ["force-displacement", "displacement-displacement", "model-force", "model-model"])
def test_a_unit_that_is_called_in_python_moves_as_one_in_the_engine(coupling, order, wrapped):
    settings = CosimSettings(0.007, "sequential" if order else "parallel")
    native, python = (couple(coupling, order, settings, which) for which in ((), wrapped))
    assert native.outcome == python.outcome
    assert native.outcome.carried_through
    assert native.statistics.steps == python.statistics.steps == 43
    for name in (*NAMES, "coupling"):
        ours, theirs = (run.coupling if name == "coupling" else run[name] for run in (native, python))
        assert ours.time.tolist() == theirs.time.tolist()
        assert np.array_equal(ours.values, theirs.values)


@pytest.mark.parametrize("coupling", ["force-displacement", "model-model"])
def test_a_unit_that_is_called_in_python_goes_back_as_one_in_the_engine(coupling):
    settings = CosimSettings(0.02, tolerance=3e-2)
    native, python = (couple(coupling, 1, settings, which) for which in ((), NAMES))
    assert native.statistics.rejected == python.statistics.rejected > 0
    assert np.array_equal(native.coupling.values, python.coupling.values, equal_nan=True)


@pytest.mark.parametrize(("coupling", "outcome"), [(STIFF, "SUSPECT"), (FEW_STEPS, "STEP_LIMIT")])
def test_units_that_need_python_on_the_way_get_it(coupling, outcome):
    native, python = (couple(coupling, 0, CosimSettings(0.05), which) for which in ((), NAMES))
    assert native.outcome == python.outcome
    assert native.outcome.kind.name == outcome
    assert "rodas4p" in native["first"].statistics.extra["method"]
    assert native.coupling.values.tolist() == python.coupling.values.tolist()


def test_a_run_that_diverges_is_reported_alike_whoever_moves_its_units():
    settings = CosimSettings(0.03, largest_value=300.0)
    runs = [couple("force-displacement", 1, settings, which) for which in ((), NAMES)]
    assert runs[0].outcome.kind.name == "DIVERGED"
    assert runs[0].outcome == runs[1].outcome
    assert runs[0].coupling.time.tolist() == runs[1].coupling.time.tolist()
