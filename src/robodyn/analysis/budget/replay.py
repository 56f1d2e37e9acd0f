"""Replay near the nominal motion: how is a scenario simulated there together with its linear twin?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property

import casadi as ca

from robodyn.analysis.budget.causes import find_causes
from robodyn.analysis.budget.twin import PREFIX, Twin, build_twin
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.linear import LinearMechanics
from robodyn.computation.perturbation import Perturbed
from robodyn.computation.perturbation.table import trace_linear
from robodyn.computation.perturbation.table_data import fill_rows
from robodyn.computation.results import Run
from robodyn.computation.simulation import CompiledSystem, compile_system, simulate
from robodyn.description.model import Recording, Scenario

Announce = Callable[[str], None]


def find_twin(near: Perturbed) -> Twin:
    """A scenario with its twin; forces that its nominal motion has made a part of the mechanics are no causes."""
    outline = near.equations.outline
    kept = [force for force in outline.system.motion.forces if force not in outline.folded]
    return build_twin(near.scenario, find_causes(near.scenario, kept))


class Replay:
    """A scenario near its nominal motion and its linear twin, made ready for many runs with other weights."""

    def __init__(self, near: Perturbed, twin: Twin, recording: Recording, on_compile: Announce | None = None) -> None:
        """Say what is recorded: signals of the original, which the twin has too; others are kept beside them."""
        twins = tuple(f"{PREFIX}.{name}" for name in recording.signals if twin.has(name))
        self.near = near
        self.twin = twin
        self.recording = recording
        self.both = dataclasses.replace(recording, signals=(*recording.signals, *twins))
        self._announce = on_compile

    @cached_property
    def system(self) -> System:
        return assemble(self.twin.scenario, self._linearise)

    @cached_property
    def compiled(self) -> CompiledSystem:
        signals = self.both.signals
        return compile_system(self.system, self.near.solver, signals=signals, on_compile=self._announce)

    def simulate(self, *active: str) -> Run:
        """A run in which some causes, by their blocks, act on the twin."""
        weights = self.twin.weights(*active)
        return simulate(self.compiled, self.near.solver, parameters=weights, recording=self.both)

    def simulate_alone(self, loop: Scenario) -> Run:
        """A run of another loop near its own nominal motion."""
        signals, near = self.recording.signals, self.near
        other = Perturbed(loop, points=near.points, solver=near.solver, signals=signals, on_compile=self._announce)
        return other.simulate(recording=self.recording)

    def _linearise(self, time: ca.SX, q: ca.SX, v: ca.SX, p: ca.SX) -> LinearMechanics:
        """The linear mechanics twice, side by side, from one table."""
        layout, n = self.near.layout, q.numel() // 2
        numbers = {symbol.name(): symbol for symbol in ca.vertsplit(p)}
        own = [numbers[number.name] for number in layout.equations.outline.system.parameters]
        data = fill_rows(layout, self.near.nominal)
        first, second = (
            trace_linear(layout, data, time, q[part], v[part], ca.vertcat(ca.SX(0, 1), *own))
            for part in (slice(0, n), slice(n, 2 * n))
        )
        folded = {(f"{PREFIX}.{target}", f"{PREFIX}.{signal}") for target, signal in second.folded}
        signals = {f"{PREFIX}.{name}": expression for name, expression in second.signals.items()}
        return LinearMechanics(
            ca.diagcat(first.mass_matrix, second.mass_matrix),
            ca.vertcat(first.bias, second.bias),
            ca.vertcat(first.carried, second.carried),
            {**first.signals, **signals},
            first.folded | folded,
            data,
        )
