"""Perturbed system: how does a scenario move near its nominal motion? Friction, drives and control are in full."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.base import Array, Flaw, ModelError
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run, Signal
from robodyn.computation.simulation import CompiledSystem, compile_system, simulate
from robodyn.computation.simulation.simulator import add_errors
from robodyn.description.model import Recording, Scenario, Solver

from .nominal import (
    POINTS,
    LinearisedEquations,
    Nominal,
    compute_nominal,
    derive_equations,
    find_scope,
)
from .table import RowLayout, fill_rows, lay_out_rows, trace_linear


class Perturbed:
    """A scenario made ready for many runs near its nominal motion.

    Friction, gains and other numbers that the nominal motion does not depend on change without further ado; where it
    does depend on a changed one (a payload, a speed), it is computed anew. Neither compiles again.
    """

    def __init__(
        self,
        what: Scenario | System,
        *,
        points: int = POINTS,
        nominal: Nominal | None = None,
        solver: Solver | None = None,
        signals: tuple[str, ...] | None = None,
        propagators: bool = True,
    ) -> None:
        """Derive the equations.

        Args:
            what: the scenario, or its system.
            nominal: computed before, perhaps read from a file; refused where it is that of another motion.
            solver, signals: as of `compile_system`.
            propagators: whether steps are taken by propagators where laws allow it, see
                `robodyn.computation.simulation.propagators`; else all are the solver's own.
        """
        self._traced = what if isinstance(what, System) else None
        self.scenario = scenario = what.scenario if isinstance(what, System) else what
        self.solver = solver or scenario.solver
        self.points = nominal.points if nominal else points
        self._signals, self._propagators = signals, propagators
        self._nominal = nominal
        self._compiled: CompiledSystem | None = None
        self._references: NominalReferences | None = None
        if nominal is not None:
            refuse_foreign(self.equations, nominal)

    @cached_property
    def equations(self) -> LinearisedEquations:
        """The equations along the nominal motion."""
        return derive_equations(find_scope(self._traced or assemble(self.scenario)))

    @cached_property
    def layout(self) -> RowLayout:
        """Where each quantity stands in a row of the table."""
        return lay_out_rows(self.equations)

    @property
    def nominal(self) -> Nominal:
        """The nominal motion of the last run, or of the scenario as it is described."""
        return self.nominal_for({}) if self._nominal is None else self._nominal

    def nominal_for(self, parameters: Mapping[str, float]) -> Nominal:
        """The nominal motion with some tunable numbers changed: the last one, if it does not depend on the change."""
        system, known = self.equations.scope.system, self._nominal
        values = system.parameter_values(parameters)
        if known is None or any(values[system.places[name]] != value for name, value in known.parameters.items()):
            self._nominal = compute_nominal(self.equations, self.points, parameters)
        assert self._nominal is not None
        return self._nominal

    def use_points(self, points: int) -> None:
        """Divide the nominal motion into another number of pieces from the next run on."""
        self.points, self._nominal = points, None

    @property
    def system(self) -> System:
        """The perturbed system, with the numbers of the present nominal motion."""
        return self.compiled({}).system

    def compiled(self, parameters: Mapping[str, float]) -> CompiledSystem:
        """Native code of the perturbed system with the numbers of the nominal motion for these parameters."""
        before = self._nominal
        nominal = self.nominal_for(parameters)
        if self._compiled is None:
            system = perturb_system(self.scenario, self.layout, nominal)
            self._compiled = compile_system(system, self.solver, signals=self._signals)
            if not self._propagators:
                self._compiled = self._compiled.without_propagators()
        elif nominal is not before:
            self._compiled = self._compiled.with_data(fill_rows(self.layout, nominal))
        return self._compiled

    def simulate(
        self,
        *,
        parameters: Mapping[str, float] | None = None,
        recording: Recording | None = None,
        certify: bool = False,
        progress: Callable[[float, float, int], None] | None = None,
    ) -> Run:
        """One run, with some tunable numbers changed; it warns of joints that leave the nominal motion.

        Args:
            certify: simulate the scenario itself too, by another method and tighter: the run then has the errors of its
                signals, those of the linear mechanics included.
        """
        compiled = self.compiled(parameters or {})
        run = simulate(compiled, self.solver, parameters=parameters, recording=recording, progress=progress)
        if self._references is None or self._references.nominal is not self.nominal:
            self._references = NominalReferences(self.nominal)
        run = replace(run, warnings=(*run.warnings, *describe_strays(self._references, run)))
        if not certify:
            return run

        def again(what: Any, tighter: Solver, recording: Recording) -> Run:
            return simulate(what, tighter, recording=recording, parameters=parameters, progress=progress)

        return add_errors(run, self.scenario, self.solver, compiled.patterns, again)


def perturb_system(scenario: Scenario, layout: RowLayout, nominal: Nominal) -> System:
    """The system of small deviations from a nominal motion: same states, memory, tasks and signals, without energies.

    M0 a + [r + C0 v + K0 q] = forces on joints and combinations,    y = r_y + C_q q + C_v v
    """
    title = f"{scenario.title or scenario.name}: perturbed about {nominal.points} pieces of its nominal motion"
    described = replace(scenario, title=title)
    data = fill_rows(layout, nominal)
    return assemble(described, lambda *symbols: trace_linear(layout, data, *symbols))


def simulate_perturbed(
    scenario: Scenario,
    nominal: Nominal | None = None,
    points: int = POINTS,
    solver: Solver | None = None,
    *,
    parameters: Mapping[str, float] | None = None,
    recording: Recording | None = None,
    certify: bool = False,
    progress: Callable[[float, float, int], None] | None = None,
    propagators: bool = True,
) -> Run:
    """Simulate a scenario near its nominal motion, from its start to its end.

    Args:
        nominal: computed or loaded before, refused where it is that of another motion; otherwise it is computed here.
        points: pieces of the nominal motion, where it is computed here.
        parameters: numbers to change, also those that are not tunable.
        certify: as of `Perturbed.simulate`; propagators: as of `Perturbed`.
    """
    scenario = scenario.with_numbers(parameters or {})
    settings: dict[str, Any] = {"points": points, "solver": solver, "propagators": propagators}
    near = Perturbed(scenario, nominal=nominal, signals=recording.signals if recording else None, **settings)
    return near.simulate(recording=recording, certify=certify, progress=progress)


def refuse_foreign(equations: LinearisedEquations, nominal: Nominal) -> None:
    """Refuse a nominal motion of another machine, reference or duration, or of other numbers."""
    system = equations.scope.system
    flaws = []
    if nominal.digest != equations.digest:
        what = "belongs to another machine or reference: its equations differ"
        flaws.append(Flaw("nominal", what, "compute it for this scenario"))
    elif not np.isclose(nominal.duration, system.scenario.duration, rtol=1e-12, atol=0.0):
        what = f"lasts {nominal.duration:g} s, the scenario {system.scenario.duration:g} s"
        flaws.append(Flaw("nominal", what, "compute it for this duration"))
    else:
        for name, value in nominal.parameters.items():
            here = system.number_values[name]
            if here != value:
                what = f"was computed for {value:g}, is {here:g} here"
                flaws.append(Flaw(f"nominal.{name}", what, "compute it for this number"))
    if flaws:
        raise ModelError(flaws, f"nominal motion of '{system.scenario.name}'")


# --------------------------------------------------------------------------------------------------
# Validity of the linearisation: does a motion stay near the nominal one, where its linear mechanics hold?


NEAR = 0.05
"""Deviation of a joint [rad or m] from which on a run is warned of: this project's own choice. The tip of an arm of 1 m
is then half the square of it, 1 mm, beside where linear mechanics see it."""


class NominalReferences:
    """Positions of a nominal motion at the times of runs, which are mostly those of the run before."""

    def __init__(self, nominal: Nominal) -> None:
        self.nominal = nominal
        self._times = np.zeros(0)
        self._known: dict[int, Array] = {}

    def at(self, times: Array, column: int) -> Array:
        """The references of one joint."""
        if not np.array_equal(times, self._times):
            self._times, self._known = times, {}
        if column not in self._known:
            nominal = self.nominal
            position, velocity = nominal.position[:, column], nominal.velocity[:, column]
            reference = Signal(nominal.joints[column], "", nominal.times, position, rate_values=velocity)
            self._known[column] = reference(np.clip(times, nominal.times[0], nominal.times[-1]))
        return self._known[column]


def describe_strays(references: NominalReferences, run: Run) -> list[str]:
    """A sentence for each joint that went further from its reference than linear mechanics bear."""
    message = []
    names = set(run.names)
    for column, joint in enumerate(references.nominal.joints):
        name = f"{joint}.position"
        if name not in names:
            continue
        apart = np.abs(run[name].values - references.at(run.time, column))
        k = int(np.argmax(np.nan_to_num(apart, nan=-1.0)))
        if apart[k] > NEAR:
            far = f"{name} is up to {apart[k]:.3g} {run[name].unit} from the nominal motion, at {run.time[k]:.4g} s"
            message.append(f"{far}: linear mechanics are only valid near it")
    return message
