"""Compiled system: which functions of a system does a solver need, in native code?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from robodyn.assembly import SignalInfo, System
from robodyn.assembly.body_signals import BODY_MOTIONS
from robodyn.assembly.functions import INPUTS
from robodyn.assembly.reactions import REACTION
from robodyn.engine.problem import Derivatives
from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.model import Recording, Solver, describe
from robodyn.native import (
    KernelModule,
    LaneModule,
    Sweep,
    UnsupportedOperation,
    build_jacobian,
    compile_kernels,
    compile_lanes,
    has_wide_vectors,
    is_plain,
    read_program,
)
from robodyn.results.provenance import PlainDict, PlainList, plain
from robodyn.simulation.checking import Checks
from robodyn.simulation.equations import equations_of
from robodyn.simulation.equilibrium import Balance, build_balance
from robodyn.simulation.rosenbrock_step import STEP, trace_rosenbrock
from robodyn.simulation.steps import build_fused_step, build_step, check_method
from robodyn.simulation.ticks import Tick, plan_ticks
from robodyn.waiting import told_if_slow

DERIVATIVES = ("jacobian", "time_derivative")
DRIVEN = ("rhs", "guards", "limits", "delayed")
READABLE = ("equations", "description", "plain_numbers", "described_numbers", "checks")
"""What is made of a system whatever the numbers in its table."""
LANES, MORE_LANES = 4, 8
"""Robots that one call computes: as many as fit the vectors of most processors; more of them where the processor is
made for it and all take the same steps, so that none waits for another."""
BOTH = "rates_and_guards"
INEXACT = ("fused_step", STEP)
"""Functions whose results nothing compares exactly: they are made faster at the price of their last digits."""
RECORDED = "outputs"


@dataclass(frozen=True)
class CompiledSystem:
    """A system in native code, for one family of solvers and one choice of recorded signals.

    Attributes:
        solver: what it was compiled for; runs use it unless they are given another one.
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

    @cached_property
    def derivative_module(self) -> tuple[KernelModule, int]:
        """Jacobian and time derivative by themselves, with their operations: for runs that turn out to be stiff."""
        functions = derivative_functions(self.system)
        module = compile_kernels(functions, INPUTS.index("p"), plain=self.plain, data=self.system.data)
        return module, count_work(*functions.values())

    @cached_property
    def lane_module(self) -> LaneModule | None:
        """The same functions for several robots at once, the cheapest first, compiled when first asked for; None where
        they cannot be."""
        functions = gather_functions(self.system, self.solver, self.patterns, traced=not self.plain).functions
        lanes = MORE_LANES if INEXACT[0] in functions and has_wide_vectors() else LANES
        try:
            made = compile_lanes(functions, INPUTS.index("p"), lanes, **compilation(self.system, functions, self.plain))
        except UnsupportedOperation:
            return None
        dear = {name: count_work(function) for name, function in functions.items()}
        return replace(made, addresses=dict(sorted(made.addresses.items(), key=lambda pair: dear[pair[0]])))

    def derivatives(self) -> Derivatives | None:
        """What a stiff method needs beside the compiled functions, compiled when first asked for; None where it cannot
        be."""
        try:
            module, work = self.derivative_module
        except UnsupportedOperation:
            return None
        addresses = {name: module.kernels[name].address for name in DERIVATIVES}
        return Derivatives(**addresses, work=work, prepare=lambda p: module.prepare(p[: module.n_parameters]))

    @cached_property
    def equations(self) -> list[str]:
        """The system's equations as text, made once for all runs."""
        return PlainList(equations_of(self.system))

    @cached_property
    def balance(self) -> Balance:
        """The equations of rest, built when first asked for."""
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
        other.__dict__.update({key: self.__dict__[key] for key in READABLE if key in self.__dict__})
        if "lane_module" in self.__dict__:
            other.__dict__["lane_module"] = self.lane_module
        if "balance" in self.__dict__:
            other.__dict__["balance"] = replace(self.balance, module=replace(self.balance.module, data=data))
        if "derivative_module" in self.__dict__:
            module, work = self.derivative_module
            other.__dict__["derivative_module"] = replace(module, data=data), work
        return other

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


@told_if_slow("compiling")
def compile_system(
    system: System,
    solver: Solver | None = None,
    *,
    signals: tuple[str, ...] | None = None,
    plain: bool = False,
    quick: bool = False,
    on_compile: Callable[[str], None] | None = None,
) -> CompiledSystem:
    """Native code of everything a run with this solver calls; cached on disk.

    Args:
        signals: patterns of the signals runs will record; the scenario's own by default.
        plain: whether every operation is rounded by itself, as in generated C.
        quick: whether to compile fast, for a few short runs.
    """
    solver = solver or system.scenario.solver
    patterns = system.scenario.recording.signals if signals is None else tuple(signals)
    kernels = gather_functions(system, solver, patterns, traced=not plain)
    try:
        module = compile_kernels(
            kernels.functions | _join_guards(system, kernels),
            INPUTS.index("p"),
            quick=quick,
            on_compile=on_compile,
            data=system.data,
            **compilation(system, kernels.functions, plain),
        )
    except UnsupportedOperation as error:
        check_operations(system)
        raise ModelError([Flaw("", str(error))], f"scenario '{system.scenario.name}'") from error
    sizes = (kernels.n_kept, kernels.n_unknowns)
    recorded, ticks, work = kernels.recorded, kernels.ticks, kernels.work
    return CompiledSystem(system, solver, module, recorded, patterns, *sizes, ticks, work, plain)


def compilation(system: System, functions: Mapping[str, Any], plain: bool) -> dict[str, Any]:
    """How the functions of a system are compiled, one robot at a time or several."""
    rare = [*system.expressions.problems, *system.expressions.actions, "guard_rates"]
    # What runs watch of themselves is compared with limits far above its last digits.
    loose = {RECORDED: functions[RECORDED].numel_out(0) - system.expressions.watched.numel()}
    driven = driven_functions(functions)
    return {"inexact": INEXACT, "loose": loose, "plain": plain, "driven": driven, "rare": rare}


def driven_functions(functions: Mapping[str, Any]) -> tuple[str, ...]:
    """Functions whose drives steps must be short enough for."""
    return tuple(name for name in DRIVEN if name in functions)


@dataclass(frozen=True)
class KernelSet:
    """The functions a run with some solver calls, not yet compiled; the other fields are those of `CompiledSystem`.

    Attributes:
        work: operations by which the methods of a pair are compared: without what runs watch of themselves, which
            exported code does not, so that it takes the same steps.
    """

    functions: dict[str, ca.Function | Sweep]
    work: dict[str, int]
    recorded: tuple[SignalInfo, ...]
    ticks: tuple[Tick, ...]
    n_kept: int
    n_unknowns: int


def _join_guards(system: System, kernels: KernelSet) -> dict[str, ca.Function]:
    """Rates and guards as one function, where both need the forces of contacts and of friction that sticks."""
    if kernels.n_unknowns or not system.discrete.problems or not system.discrete.guards:
        return {}
    return {BOTH: system.function(ca.vertcat(system.expressions.rhs, system.expressions.guards), BOTH)}


def derivative_functions(system: System) -> dict[str, ca.Function | Sweep]:
    """The derivatives of the rates by the states and by time."""
    columns, rates = [*system.symbols], system.expressions.rhs
    jacobian = build_jacobian("jacobian", columns, rates, system.symbols.x)
    return dict(zip(DERIVATIVES, (jacobian, system.function(ca.jacobian(rates, system.symbols.t))), strict=True))


def count_work(*functions: ca.Function | Sweep) -> int:
    """Operations of a call of each."""
    return sum(
        f.function.n_instructions() * f.function.numel_in(f.function.n_in() - 1)
        if isinstance(f, Sweep)
        else f.n_instructions()
        for f in functions
    )


def gather_functions(
    system: System,
    solver: Solver,
    patterns: tuple[str, ...],
    watched: bool = True,
    complete: bool = False,
    traced: bool = False,
) -> KernelSet:
    """Everything a run calls that records the signals of some patterns.

    Args:
        watched: whether the run watches itself, too.
        complete: whether what only the stiff method of a pair calls is among it.
        traced: whether whole steps of small stiff systems are.
    """
    check_method(system, solver)
    chosen = _choose_signals(system, patterns)
    columns = [*system.symbols]
    ticks, composed = plan_ticks(system)
    functions: dict[str, ca.Function | Sweep] = {**_own_functions(system, solver, tasks=not composed), **composed}
    if solver.stiff or (complete and solver.pair):
        functions |= derivative_functions(system)
    step = build_step(system, solver)
    functions |= step.functions() if step else {}
    whole = build_fused_step(system, solver)
    functions |= whole.functions() if whole else {}
    functions |= trace_rosenbrock(system, solver) if traced else {}
    outputs = system.expressions.outputs
    picked = ca.vertcat(ca.SX(0, 1), *(outputs[k] for k in chosen))
    recording = functions[RECORDED] = ca.Function(RECORDED, columns, [ca.densify(picked)])
    work = {"rhs": count_work(functions["rhs"]), "outputs": count_work(recording)}
    if watched:
        outputs = ca.vertcat(picked, system.expressions.watched)
        functions[RECORDED] = ca.Function(RECORDED, columns, [ca.densify(outputs)])
        functions |= {"within": system.function(within, "within")} if (within := system.within).numel() else {}
    sizes = (step.n_kept, step.n_unknowns) if step else (0, 0)
    return KernelSet(functions, work, _recorded(system, chosen), ticks, *sizes)


def check_operations(system: System) -> None:
    """Report the first signal whose law uses an operation that native code does not have; others may be fed by it."""
    columns = [*system.symbols]
    signals = ca.Function("signals", columns, [system.expressions.outputs])
    if is_plain(signals):
        return
    try:
        read_program(signals)
        return
    except UnsupportedOperation:
        pass  # which signal it is, is found below
    flaws = FlawList()
    for k, info in enumerate(system.signals):
        try:
            read_program(ca.Function("signal", columns, [system.expressions.outputs[k]]))
        except UnsupportedOperation as error:
            operation = str(error).split()[0]
            flaws.add(info.name, f"its law uses {operation}, which native code does not have", "write it another way")
            break
    system.scenario.raise_if_any(flaws)


def _own_functions(system: System, solver: Solver, tasks: bool) -> dict[str, ca.Function]:
    """What the system itself gives of a run's functions; its outputs, which depend on what is recorded, left out."""
    own = system.expressions
    columns = {"rhs": own.rhs}
    columns |= {"position_rate": own.position_rate} if solver.method == "symplectic_euler" else {}
    columns |= {"guards": own.guards} if system.discrete.guards else {}
    columns |= {"limits": own.limits} if system.limited else {}
    columns |= {"delayed": own.delayed} if system.delays else {}
    columns |= {"projection": own.projection} if own.projection is not None else {}
    columns |= {**own.arguments, **(own.updates if tasks else {}), **own.problems, **own.actions}
    functions = {name: system.function(column, name) for name, column in columns.items()}
    return functions | ({"guard_rates": system.guard_rates()} if system.discrete.guards else {})


def _choose_signals(system: System, patterns: tuple[str, ...]) -> list[int]:
    names = system.signal_names
    flaws = FlawList()
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            on_demand = any(word in pattern for word in (REACTION, *BODY_MOTIONS))
            asked = "ask for it where the scenario is assembled" if on_demand else nearest(pattern, names)
            flaws.add("signals", f"'{pattern}' matches no signal", asked)
    flaws.raise_if_any("recording")
    return [k for k, name in enumerate(names) if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _recorded(system: System, chosen: list[int]) -> tuple[SignalInfo, ...]:
    infos = [system.signals[k] for k in chosen]
    names = {info.name for info in infos}
    return tuple(info if info.rate is None or info.rate in names else replace(info, rate=None) for info in infos)
