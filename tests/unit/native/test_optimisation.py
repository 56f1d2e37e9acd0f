"""Levels of optimisation: is fast code the same code?"""

import pytest

from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.computation.native.machine import LEVEL, optimisation
from robodyn.computation.results.compare import identical
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.run_functions import compile_system
from robodyn.description.catalog import find_scenario


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


def test_a_level_that_does_not_exist_is_refused(monkeypatch):
    monkeypatch.setenv(LEVEL, "fast")
    with pytest.raises(ModelError, match=r"ROBODYN_OPTIMISATION is 'fast' \(0, 1, 2 or 3\)"):
        optimisation(quick=False)
