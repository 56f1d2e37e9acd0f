"""Sweeps by the perturbation method: the nominal motion is computed anew only where a number changes it."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.analysis.sweeps.nonlinear import LeanSystem, Nonlinear
from robodyn.model import Scenario
from robodyn.perturbation import Perturbed
from robodyn.simulation import CompiledSystem


class NearSystem(LeanSystem):
    """A scenario near its nominal motion in native code."""

    def compile(self, scenario: Scenario, signals: tuple[str, ...]) -> CompiledSystem:
        self.near = Perturbed(scenario, solver=self.solver, signals=signals)
        return self.near.compiled({})

    def adapt(self, changes: Mapping[str, float]) -> CompiledSystem:
        """The nominal motion with these numbers, where it depends on them."""
        return self.near.compiled(changes)


class NearNominal(Nonlinear):
    """Simulates the runs of a plan with mechanics linearised along the nominal motion, everything else in full."""

    kind = NearSystem
