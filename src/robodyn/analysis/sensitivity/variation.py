"""Variation of parameters: how does a scenario run with other numbers, many times, without compiling again?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from robodyn.analysis.jumps import Jump, describe_leaps, describe_staircases, find_block_jumps
from robodyn.analysis.linear.modes import ideal_numbers
from robodyn.analysis.sweeps.variation import find_numbers
from robodyn.base import Array, ModelError, find_unmatched, frozen, refuse_unknown
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import OutcomeKind, Run
from robodyn.computation.simulation import compile_system, simulate
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.many import split_starts
from robodyn.description.model import Number, Recording, Scenario, Solver

from .parameters import INITIAL
from .system import AGREES, find_disagreement, sensitivity_name, sensitivity_system


@frozen
class Variation:
    """A scenario made ready for runs in which some of its numbers are changed.

    Attributes:
        numbers: the ones that are changed, with their own values and units.
        system: as it was traced; compiled: with the exact sensitivities by them as signals, if exact.
        reason: why there are no exact sensitivities, or an empty text.
        folded: those for which the code has to be made anew.
        leaps: whether the reason is that blocks jump: differences must be wide enough to reach across.
        notes: sentences on how blocks that jump were taken.
    """

    scenario: Scenario
    numbers: tuple[Number, ...]
    signals: tuple[str, ...]
    solver: Solver
    system: System
    compiled: CompiledSystem
    reason: str
    folded: tuple[str, ...]
    leaps: bool = False
    notes: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        return not self.reason

    def values(self, run: Run) -> Array:
        """The signals of a run, (n_times, n_signals)."""
        return np.column_stack([run[name].values for name in self.signals])

    def slopes(self, run: Run, number: str) -> Array:
        """Exact derivatives of the signals by one of the numbers, (n_times, n_signals)."""
        return np.column_stack([run[sensitivity_name(signal, number)].values for signal in self.signals])

    def lasting(self, duration: float) -> Variation:
        """The same code for runs of another duration [s]."""
        system = self.compiled.system
        lasting = replace(system, scenario=replace(system.scenario, duration=duration))
        scenario = replace(self.scenario, duration=duration)
        return replace(self, scenario=scenario, compiled=replace(self.compiled, system=lasting))

    def run(self, changes: Mapping[str, float], recording: Recording | None = None) -> Run:
        """A run with some numbers changed; a simulation that cannot go on is reported by its outcome."""
        keep = replace(recording or self.scenario.recording, signals=self.compiled.patterns)
        if any(name in self.folded for name in changes):
            changed = self.scenario.with_numbers(changes)
            return simulate(changed, self.solver, recording=replace(keep, signals=self.signals))
        parameters, starts = split_starts(changes)
        compiled = with_starts(self.compiled, starts) if starts else self.compiled
        return simulate(compiled, self.solver, parameters=parameters, recording=keep)

    def attempt(self, changes: Mapping[str, float], times: Array) -> Run | str:
        """A run recorded at times [s], or why it could not be carried through to the last of them."""
        try:
            run = self.run(changes, Recording(times=tuple(times.tolist())))
        except ModelError as error:
            return "; ".join(str(flaw) for flaw in error.flaws)
        if run.outcome.kind is OutcomeKind.INTERRUPTED:
            raise KeyboardInterrupt
        return run if run.outcome.carried_through and run.time.size == times.size else run.outcome.sentence


def prepare_variation(
    what: Scenario | System,
    names: Sequence[str],
    signals: Sequence[str],
    solver: Solver | None = None,
    *,
    exact: bool = True,
) -> Variation:
    """Native code of a scenario with the named numbers as inputs, and of the sensitivities by them.

    Args:
        what: the scenario, or its system, which is traced again only where the mechanism's numbers are no inputs yet.
        names: any numbers of the scenario, also `initial.<state>`.
        signals: those that are recorded.
        exact: whether sensitivities are wanted; where there are none, the variation says why.
    """
    system = assemble_tunable(what, names)
    scenario = system.scenario
    solver = solver or scenario.solver
    known = find_numbers(system)
    refuse_unknown(names, known, "there is no such number", f"scenario '{scenario.name}'")
    numbers = tuple(known[name] for name in names)
    folded = tuple(name for name in names if name not in system.places and not name.startswith(INITIAL))
    reason, recorded, chosen = "", system, tuple(signals)
    jumps = find_block_jumps(scenario) if exact else ()
    if exact:
        try:
            recorded = sensitivity_system(system, names, signals, jumps=jumps)
            chosen = (*signals, *(sensitivity_name(signal, name) for name in names for signal in signals))
        except ModelError as error:
            reason = "; ".join(str(flaw) for flaw in error.flaws)
    compiled = compile_system(recorded, solver, signals=chosen)
    reason = reason if exact else "not requested"
    variation = Variation(scenario, numbers, tuple(signals), solver, system, compiled, reason, folded)
    return _treat_jumps(variation, system, jumps) if variation.exact else variation


def _treat_jumps(variation: Variation, system: System, jumps: Sequence[Jump]) -> Variation:
    """Say how staircases are taken, and leave exact sensitivities where other jumps make them wrong."""
    steps = {jump.block for jump in jumps if jump.staircase}
    notes = tuple(filter(None, [describe_staircases(jumps)]))
    if len(steps) < len(jumps):
        ideal = {name: v for name, v in ideal_numbers(variation.scenario).items() if name.rpartition(".")[0] in steps}
        share = find_disagreement(variation, ideal, variation.scenario.duration)
        if share > AGREES:
            reason = f"{describe_leaps(jumps)}, and finite changes differ from them by {100 * share:.3g} %"
            compiled = compile_system(system, variation.solver, signals=variation.signals)
            return replace(variation, compiled=compiled, reason=reason, leaps=True)
        notes += (f"{describe_leaps(jumps)}; here finite changes agree with them within {100 * share:.2g} %",)
    return replace(variation, notes=notes)


def assemble_tunable(what: Scenario | System, names: Sequence[str], signals: Sequence[str] = ()) -> System:
    """A system with those of the numbers that belong to its mechanism as inputs: what is given, where it has them."""
    scenario = what.scenario if isinstance(what, System) else what
    tuned = make_tunable(scenario, names)
    # Some signals are traced only where they are asked for.
    if isinstance(what, System) and tuned is scenario and not find_unmatched(signals, what.signal_names):
        return what
    return assemble(tuned, signals=signals)


def make_tunable(scenario: Scenario, names: Sequence[str]) -> Scenario:
    """The scenario with those of the numbers that belong to its mechanism as inputs of the native code."""
    machine = scenario.machine
    parts = [*([machine.mechanism] if machine.mechanism else []), *machine.coordinates]
    own = {number.name for part in parts for number in part.numbers()}
    more = tuple(name for name in names if name in own and name not in machine.tunable)
    if not more:
        return scenario
    return replace(scenario, machine=replace(machine, tunable=(*machine.tunable, *more)))


def with_starts(compiled: CompiledSystem, starts: Mapping[str, float]) -> CompiledSystem:
    """The native code from other start values, by the names of states and held outputs."""
    system = compiled.system
    states = tuple(replace(info, start=starts.get(info.name, info.start)) for info in system.states)
    # A waiting sample begins as the held output that it will become.
    memory = tuple(
        replace(info, start=starts.get(info.name.partition(".pending.")[0], info.start)) for info in system.memory
    )
    scenario = system.scenario.with_numbers({f"{INITIAL}{name}": value for name, value in starts.items()})
    return replace(compiled, system=replace(system, scenario=scenario, states=states, memory=memory))
