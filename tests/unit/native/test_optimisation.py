"""Levels of optimisation: is fast code the same code?"""

from dataclasses import replace

import pytest

from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.computation.native.machine import LEVEL, optimisation
from robodyn.computation.results.compare import identical
from robodyn.computation.simulation import run_functions, simulate
from robodyn.computation.simulation.run_functions import compile_system
from robodyn.description.catalog import find_scenario, pendulum
from robodyn.description.model import Solver


@pytest.mark.parametrize("name", ["scara-ptp", "two-link-loop"])
def test_levels_of_optimisation_give_the_same_bits(name, monkeypatch):
    system, runs = assemble(find_scenario(name)), {}
    for level in "01":
        monkeypatch.setenv(LEVEL, level)
        runs[level] = simulate(compile_system(system, system.scenario.solver))
    assert runs["0"].outcome.ok
    assert identical(runs["0"], runs["1"])


def test_what_suits_the_code_is_chosen_where_nothing_is_said(monkeypatch):
    monkeypatch.delenv(LEVEL, raising=False)
    assert optimisation(quick=False) > optimisation(quick=True)


@pytest.mark.parametrize(
    ("duration", "solver", "fast"),
    [
        (2.0, Solver("dopri5"), True),
        (2.0, Solver("rk4", step=1e-3), True),
        (2.0, Solver("rk4", step=1e-5), False),
        (100.0, Solver("dopri5"), False),
    ],
)
def test_large_code_of_a_single_short_run_is_compiled_fast(duration, solver, fast, monkeypatch):
    def note(*_, quick, **__):
        asked.append(quick)
        raise LookupError

    system, asked = assemble(replace(pendulum(), duration=duration)), []
    monkeypatch.setattr(run_functions, "compile_kernels", note)
    for largest, once in ((0, True), (0, False), (run_functions.LARGE, True)):
        monkeypatch.setattr(run_functions, "LARGE", largest)
        with pytest.raises(LookupError):
            run_functions.compile_system(system, solver, once=once)
    # Not where there will be more runs, nor of a small robot.
    assert asked == [fast, False, False]


def test_a_level_that_does_not_exist_is_refused(monkeypatch):
    monkeypatch.setenv(LEVEL, "fast")
    with pytest.raises(ModelError, match=r"ROBODYN_OPTIMISATION is 'fast' \(0, 1, 2 or 3\)"):
        optimisation(quick=False)
