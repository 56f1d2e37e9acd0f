"""Functions of a run: which does a solver need of a system, in native code?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca

from robodyn.base import Flaw, FlawList, ModelError, find_unmatched, fits, frozen, nearest, report_progress
from robodyn.base.symbolic import pick_entries
from robodyn.computation.assembly import SignalInfo
from robodyn.computation.assembly.declarations import SampledTask
from robodyn.computation.assembly.reactions import BODY_MOTIONS, REACTION
from robodyn.computation.assembly.system import INPUTS, System
from robodyn.computation.native import (
    LaneModule,
    Options,
    Sweep,
    UnsupportedOperation,
    build_jacobian,
    compile_kernels,
    compile_lanes,
    has_wide_registers,
    has_wide_vectors,
    is_plain,
    read_program,
)
from robodyn.description.model import Solver

from .compiled import DERIVATIVES, CompiledSystem, Tick
from .problem import BOTH
from .propagators import (
    MARCH,
    NOMINAL,
    NOT_LINEAR,
    REST,
    TERMS,
    Propagation,
    trace_propagated_step,
)
from .step_equations import (
    FUSED_STEPS,
    STEP,
    STEPS,
    check_method,
    trace_contact_step,
    trace_rosenbrock,
)

# --------------------------------------------------------------------------------------------------
# Sampled tasks of a tick: which function does all of them at once?
#
# The tasks due at a tick run one after another, each on the memory that the one before it left. Their composition is
# one function; there are as many of them as there are different sets of tasks due together.


MOST_TICKS = 1000
"""Ticks of a common period up to which it is worth while."""
MOST_FUNCTIONS = 16
ONCE = 2**62
"""Period of a tick that does not come again."""


def plan_ticks(system: System) -> tuple[tuple[Tick, ...], dict[str, ca.Function]]:
    """The ticks of a run in the order in which they run, and the functions that are not yet the system's own."""
    single = tuple(Tick(task.function, task.period, task.offset) for task in system.discrete.tasks)
    if len(system.discrete.tasks) < 2 or any(task.function is None for task in system.discrete.tasks):
        return single, {}
    common = math.lcm(*(task.period for task in system.discrete.tasks))
    begin = math.ceil(max(task.offset for task in system.discrete.tasks) / common) * common
    if begin + common > MOST_TICKS:
        return single, {}
    due = {tick: tuple(task for task in system.discrete.tasks if is_due(task, tick)) for tick in range(begin + common)}
    names = {tasks: f"tick_{k}" for k, tasks in enumerate(dict.fromkeys(due.values())) if tasks}
    if len(names) > MOST_FUNCTIONS:
        return single, {}
    ticks = [Tick(names[tasks], ONCE if tick < begin else common, tick) for tick, tasks in due.items() if tasks]
    return tuple(ticks), {name: _compose(system, name, tasks) for tasks, name in names.items()}


def is_due(task: SampledTask | Tick, tick: int) -> bool:
    """Whether sampled work is due at a tick of the base period."""
    return tick >= task.offset and (tick - task.offset) % task.period == 0


def _compose(system: System, name: str, tasks: tuple[SampledTask, ...]) -> ca.Function:
    memory = m = system.symbols.m
    for task in tasks:
        m = ca.substitute(system.memory_after(task), memory, m)
    return system.function(m, name)


DRIVEN = ("rhs", "guards", "limits", "delayed")
LANES, MORE_LANES = 4, 8
"""Robots that one call computes: as many as fit the vectors of most processors; more of them where the processor is
made for it and all take the same steps, so that none waits for another."""
INEXACT = ("fused_step", STEP, REST)
"""Functions whose results nothing compares exactly: they are made faster at the price of their last digits."""
RECORDED, WATCHED = "outputs", "watched"


@report_progress("compiling")
def compile_system(
    system: System,
    solver: Solver | None = None,
    *,
    signals: tuple[str, ...] | None = None,
    plain: bool = False,
    quick: bool = False,
    once: bool = False,
    on_compile: Callable[[str], None] | None = None,
) -> CompiledSystem:
    """Compile everything a run with this solver calls to native code; cached on disk.

    Args:
        signals: patterns of the signals runs will record; the scenario's own by default.
        plain: whether every operation is rounded by itself, as in generated C.
        quick: whether to compile fast, for a few short runs.
        once: whether it is for the scenario's run alone: fast where that is over before better code has paid.
    """
    solver = solver or system.scenario.solver
    system = system.stepped_by(solver)
    patterns = system.scenario.recording.signals if signals is None else tuple(signals)
    kernels = gather_functions(system, solver, patterns, traced=not plain)
    quick = quick or (once and is_soon_over(system, solver, kernels))
    joined = {}
    # Rates and guards are one function, where both need the forces of contacts and of friction that sticks.
    if not kernels.n_unknowns and system.discrete.problems and system.discrete.guards:
        joined = {BOTH: system.function(ca.vertcat(system.expressions.rhs, system.expressions.guards), BOTH)}
    try:
        module = compile_kernels(
            kernels.functions | joined,
            INPUTS.index("p"),
            quick=quick,
            on_compile=on_compile,
            data=system.data,
            options=compilation(system, kernels, plain),
        )
    except UnsupportedOperation as error:
        check_operations(system)
        raise ModelError([Flaw("", str(error))], f"scenario '{system.scenario.name}'") from error
    sizes = (kernels.n_kept, kernels.n_unknowns)
    recorded, ticks, work = kernels.recorded, kernels.ticks, kernels.work
    compiled = CompiledSystem(system, solver, module, recorded, patterns, *sizes, ticks, work, plain)
    return replace(compiled, quick=quick, propagation=kernels.propagation)


LARGE, FEW_STEPS, USUAL_STEP = 10_000, 20_000, 1e-3
"""Operations of the longest function called in every step, from which on compilation is noticed: 18 us each are saved.
Steps that do not lose them again, at some 0.1 ns an operation and evaluation. Length of an adaptive step [s]."""


def is_soon_over(system: System, solver: Solver, kernels: KernelSet) -> bool:
    """Whether optimising the code of a single run would take longer than it saves."""
    step = USUAL_STEP if solver.adaptive or solver.step is None else solver.step
    longest = max(count_work(kernels.functions[name]) for name in ("rhs", RECORDED))
    return longest > LARGE and system.scenario.duration <= FEW_STEPS * step


def compile_lane_module(
    system: System, solver: Solver, patterns: tuple[str, ...], plain: bool = False
) -> LaneModule | None:
    """The functions for several robots at once, the cheapest first; None where they cannot be."""
    kernels = gather_functions(system, solver, patterns, traced=not plain)
    functions = kernels.functions
    # Steps by propagators are hardly more than products of vectors: any processor that has wide ones gains.
    is_wide = has_wide_registers() if kernels.propagation else INEXACT[0] in functions and has_wide_vectors()
    lanes = MORE_LANES if is_wide else LANES
    try:
        module = compile_lanes(functions, INPUTS.index("p"), lanes, compilation(system, kernels, plain))
    except UnsupportedOperation:
        return None
    dear = {name: count_work(function) for name, function in functions.items()}
    return replace(module, addresses=dict(sorted(module.addresses.items(), key=lambda pair: dear[pair[0]])))


def compilation(system: System, kernels: KernelSet, plain: bool) -> Options:
    """How the functions of a system are compiled, one robot at a time or several."""
    functions = kernels.functions
    rare = (*system.expressions.problems, *system.expressions.actions, "guard_rates", NOMINAL, TERMS)
    # What runs watch of themselves is compared with limits far above its last digits.
    outputs: Any = functions[RECORDED]
    timed = tuple(name for name in functions if name.startswith(MARCH) and name not in rare)
    return Options(
        inexact=(*INEXACT, *(name for name in timed if name != MARCH + RECORDED)),
        loose=((RECORDED, outputs.numel_out(0) - system.expressions.watched.numel()),),
        plain=plain,
        driven=driven_functions(functions),
        limited=system.limited,
        rare=rare,
        timed=timed,
        fixed=kernels.propagation.fixed,
    )


def driven_functions(functions: Mapping[str, Any]) -> tuple[str, ...]:
    """Functions whose drives steps must be short enough for."""
    return tuple(name for name in DRIVEN if name in functions)


@frozen
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
    propagation: Propagation


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
    chosen = choose_signals(system, patterns)
    columns = [*system.symbols]
    ticks, composed = plan_ticks(system)
    functions: dict[str, ca.Function | Sweep] = {**_own_functions(system, solver, tasks=not composed), **composed}
    if solver.stiff or (complete and solver.pair):
        functions |= derivative_functions(system)
    step = STEPS[solver.method](system) if solver.implicit_step else None
    functions |= step.functions() if step else {}
    functions |= FUSED_STEPS[solver.method](system) if solver.fused_step else {}
    functions |= trace_contact_step(system) if solver.contact_step else {}
    functions |= trace_rosenbrock(system, solver) if traced else {}
    outputs = system.expressions.outputs
    picked = pick_entries(outputs, chosen)
    recording = functions[RECORDED] = ca.Function(RECORDED, columns, [ca.densify(picked)])
    work, within = {"rhs": count_work(functions["rhs"]), "outputs": count_work(recording)}, system.within
    if watched:
        outputs = ca.vertcat(picked, system.expressions.watched)
        functions[RECORDED] = ca.Function(RECORDED, columns, [ca.densify(outputs)])
        functions |= {"within": system.function(within, "within")} if within.numel() else {}
    sizes = (step.n_kept, step.n_unknowns) if step else (0, 0)
    march = trace_propagated_step(system, solver) if traced and watched else None
    if march and march.propagation:
        moved: dict[str, Any] = {tick.function: functions[tick.function] for tick in ticks if tick.function}
        moved |= {RECORDED: recording, WATCHED: system.function(system.expressions.watched, WATCHED)}
        # Mostly no limit is passed: then the largest says all.
        moved |= {"within": system.function(_largest(within), "within")} if within.numel() else {}
        functions |= {MARCH + name: march.of_work(system, one) for name, one in moved.items()}
        functions |= march.functions
    same_bits = "code is to be the same on every platform"
    reason = same_bits if system.motion.terms is not None else NOT_LINEAR
    propagation = march.propagation if march else Propagation(reason=reason)
    return KernelSet(functions, work, _recorded(system, chosen), ticks, *sizes, propagation)


def _largest(column: ca.SX) -> ca.SX:
    """The largest entry, found pair by pair: so many comparisons in a row as halvings."""
    entries = list(ca.vertsplit(column))
    while len(entries) > 1:
        pairs = [ca.fmax(*pair) for pair in zip(entries[::2], entries[1::2], strict=False)]
        entries = pairs + entries[len(pairs) * 2 :]
    return entries[0]


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
    expressions = system.expressions
    columns = {"rhs": expressions.rhs}
    needs_rate = solver.method == "symplectic_euler" or solver.contact_step
    columns |= {"position_rate": expressions.position_rate} if needs_rate else {}
    columns |= {"guards": expressions.guards} if system.discrete.guards else {}
    columns |= {"limits": expressions.limits} if system.limited else {}
    columns |= {"delayed": expressions.delayed} if system.delays else {}
    columns |= {"projection": expressions.projection} if expressions.projection is not None else {}
    columns |= {**expressions.arguments, **(expressions.updates if tasks else {})}
    columns |= {**expressions.problems, **expressions.actions}
    functions = {name: system.function(column, name) for name, column in columns.items()}
    return functions | ({"guard_rates": system.guard_rates()} if system.discrete.guards else {})


def choose_signals(system: System, patterns: tuple[str, ...]) -> list[int]:
    """Places of the signals that fit some pattern; a pattern that none fits is refused."""
    names = system.signal_names
    flaws = FlawList()
    for pattern in find_unmatched(patterns, names):
        on_demand = any(word in pattern for word in (REACTION, *BODY_MOTIONS))
        remedy = "ask for it where the scenario is assembled" if on_demand else nearest(pattern, names)
        flaws.add("signals", f"'{pattern}' matches no signal", remedy)
    flaws.raise_if_any("recording")
    return [k for k, name in enumerate(names) if fits(name, patterns)]


def _recorded(system: System, chosen: list[int]) -> tuple[SignalInfo, ...]:
    infos = [system.signals[k] for k in chosen]
    names = {info.name for info in infos}
    return tuple(info if info.rate is None or info.rate in names else replace(info, rate=None) for info in infos)
