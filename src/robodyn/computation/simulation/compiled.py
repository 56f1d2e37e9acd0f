"""Compiled system: what does a run know of a system in native code? Made by `compile_system`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import Array, FlawList, ModelError, SignalInfo, frozen, refuse
from robodyn.computation.assembly.system import System
from robodyn.computation.engine.problem import Derivatives
from robodyn.computation.native.kernel import KernelModule, LaneModule
from robodyn.computation.results.provenance import PlainDict, PlainList, plain
from robodyn.description.model import Block, Recording, Scenario, ScenarioSequence, Solver, describe
from robodyn.description.model.numbers import check_finite
from robodyn.description.model.rules import check_rule

from .propagators import NOT_LINEAR, Propagation

if TYPE_CHECKING:
    from .equilibrium import Balance

DERIVATIVES = ("jacobian", "time_derivative")
PERIOD = "period"
"""Of sampled blocks, which rules of frequencies read without naming it."""
READABLE = ("equations", "description", "plain_numbers")
"""What is made of a system whatever the numbers in its table."""


@frozen
class Tick:
    """Sampled work due at ticks `offset + k period` of the base period: a function, or a task in Python."""

    function: str | None
    period: int
    offset: int


@frozen
class CompiledSystem:
    """A system in native code, for one family of solvers and one choice of recorded signals.

    Attributes:
        solver: what it was compiled for; runs use it unless they are given another one.
        once: whether it is for a single run, which reports what its references do before it begins; of many runs their
            motions are compared with the limits.
        quick: whether what is compiled later is compiled fast, as the rest was.
        propagation: how its runs take steps by propagators, or why they do not.
    """

    system: System
    solver: Solver
    module: KernelModule
    recorded: tuple[SignalInfo, ...]
    patterns: tuple[str, ...]
    n_kept: int = 0
    n_unknowns: int = 0
    ticks: tuple[Tick, ...] = ()
    work: Mapping[str, int] = field(default_factory=dict)
    plain: bool = False
    once: bool = False
    quick: bool = False
    propagation: Propagation = Propagation(reason=NOT_LINEAR)

    def __getstate__(self) -> dict[str, Any]:
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return fields | {
            name: self.__dict__[name] for name in (*READABLE, "derivative_module") if name in self.__dict__
        }

    @cached_property
    def derivative_module(self) -> tuple[KernelModule, int]:
        """Jacobian and time derivative by themselves, with their operations: for runs that turn out to be stiff."""
        from robodyn.computation.assembly.system import INPUTS
        from robodyn.computation.native import Options, compile_kernels

        from .run_functions import count_work, derivative_functions

        functions = derivative_functions(self.system)
        options = Options(plain=self.plain)
        module = compile_kernels(functions, INPUTS.index("p"), quick=self.quick, data=self.system.data, options=options)
        return module, count_work(*functions.values())

    @cached_property
    def lane_module(self) -> LaneModule | None:
        """The same functions for several robots at once, the cheapest first, compiled when first asked for; None where
        they cannot be."""
        from .run_functions import compile_lane_module

        return compile_lane_module(self.system, self.solver, self.patterns, self.plain)

    def derivatives(self) -> Derivatives | None:
        """What a stiff method needs beside the compiled functions, compiled when first asked for; None where it cannot
        be."""
        from robodyn.computation.native.reading import UnsupportedOperation

        try:
            module, work = self.derivative_module
        except UnsupportedOperation:
            return None
        addresses = {name: module.kernels[name].address for name in DERIVATIVES}
        return Derivatives(**addresses, work=work, prepare=lambda p: module.prepare(p[: module.n_parameters]))

    @cached_property
    def equations(self) -> list[str]:
        """The system's equations as text, made once for all runs."""
        from .equations import equations_of

        return PlainList(equations_of(self.system))

    @cached_property
    def balance(self) -> Balance:
        """The equations of rest, built when first asked for."""
        from .equilibrium import build_balance

        return build_balance(self.system)

    @cached_property
    def description(self) -> Any:
        """The scenario as plain data, made once for all runs."""
        return PlainDict(plain(describe(self.system.scenario), "description"))

    @cached_property
    def checks(self) -> Checks:
        """What the descriptions say of other numbers, made ready once for all runs."""
        return Checks(self.system.scenario)

    def check_numbers(self, changes: Mapping[str, float]) -> None:
        """Let the descriptions check changed numbers: a negative mass is refused here as it is anywhere else."""
        others = {name: value for name, value in changes.items() if name not in self.checks.place}
        if others:
            self.system.scenario.with_numbers(others)
        self.checks(changes)

    @cached_property
    def plain_numbers(self) -> dict[str, Any]:
        """Every named number with its unit as plain data, made once for all runs."""
        numbers = {name: {"value": number.value, "unit": number.unit} for name, number in self.system.numbers.items()}
        return PlainDict(plain(numbers, "parameters"))

    @cached_property
    def prepared(self) -> dict[Any, Any]:
        """What was made of the system for its first run, to be kept for later ones."""
        return {}

    @cached_property
    def runners(self) -> dict[Any, Any]:
        """What carries out its runs, see `robodyn.computation.simulation.batch`."""
        return {}

    def without_propagators(self) -> CompiledSystem:
        """This system, whose runs take the solver's own steps."""
        return replace(self, propagation=Propagation(reason="switched off"))

    def with_data(self, data: Array) -> CompiledSystem:
        """This code with other numbers in the table that it reads."""
        other = replace(self, system=replace(self.system, data=data), module=replace(self.module, data=data))
        # What was made of the system for people to read is the same.
        other.__dict__.update({key: self.__dict__[key] for key in (*READABLE, "checks") if key in self.__dict__})
        if "lane_module" in self.__dict__:
            other.__dict__["lane_module"] = self.lane_module
        if "balance" in self.__dict__:
            other.__dict__["balance"] = replace(self.balance, module=replace(self.balance.module, data=data))
        if "derivative_module" in self.__dict__:
            module, work = self.derivative_module
            other.__dict__["derivative_module"] = replace(module, data=data), work
        return other

    def check_solver(self, solver: Solver) -> None:
        """Refuse a method that needs functions of its own which were compiled for another one, or not at all."""
        if solver.method == self.solver.method:
            return
        stepped = solver.implicit_step or solver.fused_step or solver.contact_step or self.solver.contact_step
        needed = {
            "jacobian": solver.stiff,
            "position_rate": solver.method == "symplectic_euler" and self.system.n_q > 0,
        }
        if stepped or any(needs and name not in self.module.kernels for name, needs in needed.items()):
            what = f"{solver.method} needs functions of its own, and the system was compiled for {self.solver.method}"
            remedy = f"compile it for this method: compile_system(system, Solver('{solver.method}'))"
            refuse("solver.method", what, remedy, f"scenario '{self.system.scenario.name}'")

    def count_entries(self, name: str) -> int:
        """How many numbers a function gives, 0 where it is not there."""
        kernel = self.module.kernels.get(name)
        return kernel.out_sizes[0] if kernel else 0

    def address(self, name: str | None) -> int:
        """Machine address of a function, 0 where it is not there."""
        kernel = self.module.kernels.get(name) if name else None
        return kernel.address if kernel else 0

    def number_values(self, parameters: Array) -> dict[str, float]:
        """Every named number of the scenario, the tunable ones with these values."""
        return {**self.system.number_values, **dict(zip(self.system.places, parameters.tolist(), strict=True))}

    @cached_property
    def recording(self) -> Recording:
        """What runs keep unless they are told: as the scenario says, of the signals compiled for."""
        return replace(self.system.scenario.recording, signals=self.patterns)


@frozen
class Phases:
    """A sequence of scenarios that have been traced, or compiled too; in its order."""

    sequence: ScenarioSequence
    ready: tuple[System | CompiledSystem, ...]

    @property
    def systems(self) -> tuple[System, ...]:
        """The systems of all phases."""
        return tuple(phase.system if isinstance(phase, CompiledSystem) else phase for phase in self.ready)


class Checks:
    """The checks of all descriptions of a scenario; only those are asked that hold a changed number."""

    def __init__(self, scenario: Scenario) -> None:
        machine, mechanism, self.scenario = scenario.machine, scenario.machine.mechanism, scenario.name
        parts: list[Any] = [*machine.coordinates, *machine.delays, *machine.loads, *machine.constraints]
        parts += [*machine.contacts, *machine.interfaces, *scenario.events]
        parts += [*mechanism.bodies, *mechanism.points] if mechanism else []
        # Joints that follow others are checked together with these, by the whole scenario.
        parts += mechanism.joints if mechanism and not any(joint.mimic for joint in mechanism.joints) else ()
        checks: list[tuple[Any, Callable[[Mapping[str, Any]], Any]]] = [(part, part.with_numbers) for part in parts]
        checks += [(block, BlockCheck(block)) for block in machine.blocks]
        self.scalars = {
            f"{block.name}.{key}"
            for block in machine.blocks
            for key, value in block.parameters.items()
            if not isinstance(value, tuple)
        }
        self.place = {number.name: k for k, (part, _) in enumerate(checks) for number in part.numbers()}
        self.checks = [check for _, check in checks]

    def __call__(self, changes: Mapping[str, float]) -> None:
        """Ask every description whose numbers change."""
        changes_of: dict[int, dict[str, float]] = {}
        flaws = FlawList()
        for name, value in changes.items():
            check_finite(flaws, name, value, infinite=True)
            if name in self.place:
                changes_of.setdefault(self.place[name], {})[name] = value
        flaws.raise_if_any(f"scenario '{self.scenario}'")
        for k, changed in changes_of.items():
            self.checks[k](changed)

    def screen(self, columns: Mapping[str, Array]) -> list[str]:
        """Numbers whose values in many runs, (n_runs,) each, are not known to be accepted in all of them.

        The laws of blocks look at all runs at once: what they accept so, they accept in each.
        """
        columns_of: dict[int, dict[str, Array]] = {}
        for name, values in columns.items():
            if name in self.place:
                columns_of.setdefault(self.place[name], {})[name] = values
        return [name for k, changed in columns_of.items() if not self._accepts(k, changed) for name in changed]

    def _accepts(self, k: int, columns: Mapping[str, Array]) -> bool:
        if not columns.keys() <= self.scalars:
            return False
        flaws = FlawList()
        for name, values in columns.items():
            check_finite(flaws, name, float(np.abs(values).max()), infinite=True)
        try:
            self.checks[k](columns)
        except ModelError:
            return False
        return not flaws.found


class BlockCheck:
    """The rules a block's law states for its parameters; making the block anew would take longer than a short run."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.chosen: dict[tuple[str, ...], tuple[dict[str, str], list[str]]] = {}

    def __call__(self, changes: Mapping[str, Any]) -> None:
        names = tuple(changes)
        if names not in self.chosen:
            self.chosen[names] = self._choose(names)
        rules, needed = self.chosen[names]
        values = {key: _value(self.block, key, changes) for key in needed}
        flaws = FlawList()
        for key, rule in rules.items():
            check_rule(flaws, f"parameters.{key}", rule, values[key], values)
        flaws.raise_if_any(f"block '{self.block.name}'")

    def _choose(self, names: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
        """The rules of numbers that change and of those that are compared with them, and what these rules read."""
        block = self.block
        changed = {name[len(block.name) + 1 :].partition(".")[0] for name in names}
        rules, read = {}, {PERIOD}
        for key, rule in block.info.checks.items():
            compared = {key, *rule.replace(",", "").split()}
            if key in block.parameters and (PERIOD in changed or not changed.isdisjoint(compared)):
                rules[key] = rule
                read |= compared
        return rules, [key for key in block.parameters if key in read]


def _value(block: Block, key: str, changes: Mapping[str, Any]) -> Array:
    path, value = f"{block.name}.{key}", block.parameters[key]
    if isinstance(value, tuple):
        return np.array([changes.get(f"{path}.{k}", entry) for k, entry in enumerate(value)])
    return np.atleast_1d(np.asarray(changes.get(path, value), float))
