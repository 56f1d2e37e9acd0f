"""Compiled system: what does a run know of a system in native code? Made by `compile_system`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.assembly.system import System
from robodyn.engine.problem import Derivatives
from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.model import Recording, ScenarioSequence, Solver, describe
from robodyn.native.kernel import KernelModule, LaneModule
from robodyn.records import dataclass
from robodyn.results.provenance import PlainDict, PlainList, plain
from robodyn.signals import SignalInfo
from robodyn.simulation.checking import Checks

if TYPE_CHECKING:
    from robodyn.simulation.equilibrium import Balance
    from robodyn.simulation.ticks import Tick

DERIVATIVES = ("jacobian", "time_derivative")
READABLE = ("equations", "description", "plain_numbers", "described_numbers")
"""What is made of a system whatever the numbers in its table."""


@dataclass(frozen=True)
class CompiledSystem:
    """A system in native code, for one family of solvers and one choice of recorded signals.

    Attributes:
        solver: what it was compiled for; runs use it unless they are given another one.
        once: whether it is for a single run, which reports what its references do before it begins; of many runs their
            motions are compared with the limits.
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

    def __getstate__(self) -> dict[str, Any]:
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return fields | {
            name: self.__dict__[name] for name in (*READABLE, "derivative_module") if name in self.__dict__
        }

    @cached_property
    def derivative_module(self) -> tuple[KernelModule, int]:
        """Jacobian and time derivative by themselves, with their operations: for runs that turn out to be stiff."""
        from robodyn.assembly.functions import INPUTS
        from robodyn.native import compile_kernels
        from robodyn.simulation.run_functions import count_work, derivative_functions

        functions = derivative_functions(self.system)
        module = compile_kernels(functions, INPUTS.index("p"), plain=self.plain, data=self.system.data)
        return module, count_work(*functions.values())

    @cached_property
    def lane_module(self) -> LaneModule | None:
        """The same functions for several robots at once, the cheapest first, compiled when first asked for; None where
        they cannot be."""
        from robodyn.simulation.run_functions import compile_lane_module

        return compile_lane_module(self.system, self.solver, self.patterns, self.plain)

    def derivatives(self) -> Derivatives | None:
        """What a stiff method needs beside the compiled functions, compiled when first asked for; None where it cannot
        be."""
        from robodyn.native.reading import UnsupportedOperation

        try:
            module, work = self.derivative_module
        except UnsupportedOperation:
            return None
        addresses = {name: module.kernels[name].address for name in DERIVATIVES}
        return Derivatives(**addresses, work=work, prepare=lambda p: module.prepare(p[: module.n_parameters]))

    @cached_property
    def equations(self) -> list[str]:
        """The system's equations as text, made once for all runs."""
        from robodyn.simulation.equations import equations_of

        return PlainList(equations_of(self.system))

    @cached_property
    def balance(self) -> Balance:
        """The equations of rest, built when first asked for."""
        from robodyn.simulation.equilibrium import build_balance

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
        used = {name: {"value": number.value, "unit": number.unit} for name, number in self.system.numbers.items()}
        return PlainDict(plain(used, "parameters"))

    @cached_property
    def described_numbers(self) -> Mapping[str, float]:
        """Every named number of the scenario as described."""
        return {name: number.value for name, number in self.system.numbers.items()}

    @cached_property
    def prepared(self) -> dict[Any, Any]:
        """What earlier runs have made ready for later ones, see `robodyn.simulation.prepared`."""
        return {}

    def with_data(self, data: np.ndarray) -> CompiledSystem:
        """The same code with other numbers in the table that it reads."""
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
        stepped = solver.implicit_step or solver.fused_step
        needed = {
            "jacobian": solver.stiff,
            "position_rate": solver.method == "symplectic_euler" and self.system.n_q > 0,
        }
        if stepped or any(needs and name not in self.module.kernels for name, needs in needed.items()):
            what = f"{solver.method} needs functions of its own, and the system was compiled for {self.solver.method}"
            remedy = f"compile it for this method: compile_system(system, Solver('{solver.method}'))"
            raise ModelError([Flaw("solver.method", what, remedy)], f"scenario '{self.system.scenario.name}'")

    def count_entries(self, name: str) -> int:
        """How many numbers a function gives, 0 where it is not there."""
        kernel = self.module.kernels.get(name)
        return kernel.out_sizes[0] if kernel else 0

    def address(self, name: str | None) -> int:
        """Machine address of a function, 0 where it is not there."""
        kernel = self.module.kernels.get(name) if name else None
        return kernel.address if kernel else 0

    def number_values(self, parameters: np.ndarray) -> dict[str, float]:
        """Every named number of the scenario, the tunable ones with these values."""
        return {**self.described_numbers, **dict(zip(self.tunable, parameters.tolist(), strict=True))}

    @cached_property
    def recording(self) -> Recording:
        """What runs keep unless they are told: as the scenario says, of the signals compiled for."""
        return replace(self.system.scenario.recording, signals=self.patterns)

    @cached_property
    def tunable(self) -> dict[str, float]:
        """The tunable parameters as described."""
        return {number.name: number.value for number in self.system.parameters}

    @cached_property
    def described_values(self) -> np.ndarray:
        """Values of the tunable parameters as described."""
        return self.parameter_values({})

    def parameter_values(self, changes: dict[str, float]) -> np.ndarray:
        """Values of the tunable parameters, with some changed."""
        if unknown := changes.keys() - self.tunable.keys():
            flaws = FlawList()
            for name in sorted(unknown):
                flaws.add(name, "is not tunable in this system", nearest(name, self.tunable))
            flaws.raise_if_any("parameters")
        return np.array([*{**self.tunable, **changes}.values()], float)


@dataclass(frozen=True)
class Phases:
    """A sequence of scenarios that have been traced, or compiled too; in its order."""

    sequence: ScenarioSequence
    ready: tuple[System | CompiledSystem, ...]

    @property
    def systems(self) -> tuple[System, ...]:
        """Of all phases."""
        return tuple(phase.system if isinstance(phase, CompiledSystem) else phase for phase in self.ready)
