"""Exported model: what of a system goes into it? Its functions as programs, its start, its variables; or why not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import FlawList, frozen, refuse
from robodyn.base.symbolic import pick_entries, to_column
from robodyn.computation.assembly import SignalInfo, System, assemble
from robodyn.computation.assembly.declarations import Guard
from robodyn.computation.assembly.system import INPUTS
from robodyn.computation.native import Program, Sweep, improve_program, read_program
from robodyn.computation.native.conditions import Conditions, find_conditions
from robodyn.computation.native.elementary import make_portable
from robodyn.computation.native.prelude import find_time_signals, separate_prelude
from robodyn.computation.perturbation import Perturbed
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.equilibrium import RestEquations, guess_rest, trace_rest
from robodyn.computation.simulation.loop_assembly import find_kept, mark_joints, trace_closing
from robodyn.computation.simulation.run_functions import (
    INEXACT,
    KernelSet,
    compile_system,
    driven_functions,
    gather_functions,
)
from robodyn.computation.simulation.starting import Start, find_start
from robodyn.description.model import Scenario, ScenarioSequence, Solver

# --------------------------------------------------------------------------------------------------
# Start search in exported code: how does a model initialise anew with other parameters or inputs?


NO_REST = RestEquations((), 0, np.zeros(0), (), (), {}, (), (), (), {})


@frozen
class Search:
    """Functions of t, x, d, m and p, and sizes, tables, places and names by those of the runtime."""

    functions: Mapping[str, ca.Function | Sweep]
    sizes: Mapping[str, int]
    tables: Mapping[str, Iterable[float]]
    places: Mapping[str, Sequence[int]]
    names: Mapping[str, Sequence[str]]


def trace_search(system: System) -> Search:
    """The search that the scenario's start asks for; none where the start is given."""
    kind = system.scenario.initialisation
    rest = trace_rest(system) if kind == "at_rest" else NO_REST
    closing = trace_closing(system) if kind == "assembled" else {}
    if "slopes" in closing:
        what = "an assembled start of a machine with ball joints or wheels is not searched for in exported code"
        refuse("initialisation", what, "give start values that meet the constraints")
    n_equations = len(system.motion.constraint_forces) if closing else 0
    ranged = [c for c in system.machine.coordinates if c.range is not None] if kind != "given" else []
    lower, upper = zip(*(c.range or (-np.inf, np.inf) for c in ranged), strict=True) if ranged else ((), ())
    described = system.described
    x, m = guess_rest(system, {}) if kind == "at_rest" else (described.x, described.m)
    n = len(rest.names)
    return Search(
        functions=_name_functions(system, rest, closing, [c.name for c in ranged]),
        sizes={
            "N_REST": n,
            "N_REST_RATES": rest.rates,
            "N_FIXED": len(rest.fixed),
            "N_IDEAL": len(rest.ideal),
            "N_MOVING": len(rest.moving),
            "N_APART": len(rest.apart),
            "N_EQUATIONS": n_equations,
            "N_RANGED": len(ranged),
            "START_ROWS": max(n, n_equations),
            "START_COLUMNS": max(n, system.n_q if closing else 0),
        },
        tables={
            "STATE_GUESS": x,
            "MEMORY_GUESS": m,
            "DELAY_GUESS": described.d,
            "REST_SCALE": rest.scale,
            "IDEAL_VALUE": rest.ideal.values(),
            "RANGE_LOWER": lower,
            "RANGE_UPPER": upper,
        },
        places={
            "REST_MEMORY": rest.memory,
            "REST_FIXED": rest.fixed,
            "IDEAL_PLACE": tuple(rest.ideal),
            **_closing_places(system, find_kept(system) if closing else ()),
        },
        names={
            "REST_NAME": rest.names,
            "CONDITION_NAME": (*rest.moving, *rest.apart),
            "RANGED_NAME": [c.name for c in ranged],
        },
    )


def _closing_places(system: System, kept: Sequence[str]) -> dict[str, list[int]]:
    """Which positions are those of joints, not of modes, and which positions and velocities stay as they are given."""
    n = system.n_q
    stays = [int(state.name in kept) for state in system.states[: n + system.n_v]]
    joints = [int(joint) for joint in mark_joints(system)[:n]]
    return {"IS_JOINT": joints, "KEEPS_POSITION": stays[:n], "KEEPS_VELOCITY": stays[n:]}


def _name_functions(
    system: System, rest: RestEquations, closing: Mapping[str, ca.Function], ranged: Sequence[str]
) -> dict[str, ca.Function | Sweep]:
    """The functions by the names that the runtime calls them."""
    kernels = {"residual": "rest", "jacobian": "rest_jacobian", "conditions": "rest_conditions"}
    kernels |= {"values": "closing", "gradients": "closing_gradients"}
    functions = {**rest.functions, **closing}
    named = {kernels[name]: function for name, function in functions.items() if name in kernels}
    if ranged:
        column = ca.densify(ca.vertcat(*(system.motion.coordinates[name] for name in ranged)))
        named["ranged"] = ca.Function("ranged", [*system.symbols], [column])
    return named


Exported = Scenario | Perturbed
"""A scenario in full, or near its nominal motion."""


@frozen
class ExportedModel:
    """Everything that stands in a unit.

    Attributes:
        outputs: recorded signals and all states, inputs left out.
        inputs: memory written from outside; numbers: tunable ones that are inputs too.
        guards: events with consequences; those that only watch are left out, unless runs are to be given.
        programs: functions of t, x, d, m and p; conditions: of the rates, with their kinds.
        swept: which programs give a matrix column by column.
        prelude: what depends on parameters alone; breaks: times at which references jump, as a function of p;
            break_start: these times as they are described, to the last bit.
        past: how late the delayed signals are [s] and what they were before the start (NaN: what they are then), as a
            function of p; at_start: parameters of it, which can be set before the start only.
        fixed: parameters that no user may change, because they decide where references jump in ways that cannot be
            traced, or because a nominal motion was computed for them.
        plain: whether it has the same bits on every platform.
        search: how the start is found anew for other parameters and inputs.
        exchange: whether another integrator may carry the states, which then sees their rates and the events.
    """

    system: System
    solver: Solver
    kernels: KernelSet
    start: Start
    inputs: tuple[str, ...]
    numbers: tuple[str, ...]
    outputs: tuple[SignalInfo, ...]
    guards: tuple[Guard, ...]
    programs: Mapping[str, Program]
    conditions: Conditions
    swept: frozenset[str]
    prelude: Program
    breaks: Program
    break_start: tuple[float, ...]
    past: Program
    at_start: frozenset[str]
    fixed: frozenset[str]
    search: Search
    plain: bool
    exchange: bool = False

    @property
    def input_places(self) -> list[int]:
        """Where the inputs are in the memory."""
        names = [info.name for info in self.system.memory]
        return [names.index(name) for name in self.inputs]

    @property
    def output_states(self) -> list[int]:
        """For each output, the number of the state that it is, or -1."""
        places = {state.name: k for k, state in enumerate(self.system.states)}
        return [places.get(info.name, -1) for info in self.outputs]


def prepare_model(
    what: Exported | ScenarioSequence,
    solver: Solver | None,
    inputs: Mapping[str, float | None],
    *,
    plain: bool = True,
    unit: bool = False,
    exchange: bool = False,
) -> tuple[ExportedModel, CompiledSystem]:
    """A model, and the simulation of the same rounding.

    Args:
        inputs: outputs of blocks and, of a unit, tunable numbers that come from outside, with their start values; None
            for a number is its own value, for an output 0.
        plain: whether every operation is rounded by itself; otherwise the programs are those of the simulation.
        unit: whether others move it; otherwise it gives the rows and events of a run: its signals, all guards, no
            slopes.
        exchange: whether another integrator may carry the states.

    Raises:
        ModelError: with every reason why it cannot be exported.
    """
    system, numbers, fixed = _assemble(what, inputs, unit)
    signals = tuple(name for name in inputs if name not in numbers)
    solver = solver or system.scenario.solver
    system = system.stepped_by(solver)
    check_parts(system, solver, exchange=exchange)
    patterns = (*system.scenario.recording.signals, *(system.state_names if unit else ()))
    compiled = compile_system(system, solver, signals=patterns, plain=plain)

    # What is called: the functions of a run, those of a unit in its own selection, and the search for a start.
    kernels = gather_functions(system, solver, patterns, watched=False, complete=True, traced=not plain)
    outside = (*signals, *numbers) if unit else ()
    outputs = tuple(info for info in kernels.recorded if info.name not in outside)
    guards = tuple(guard for guard in system.discrete.guards if not unit or guard.action or guard.terminal)
    search = trace_search(system)
    chosen = _chosen_functions(system, outputs, guards, exchange) if unit else {}
    functions = {**kernels.functions, **chosen, **search.functions}

    # As programs, with the conditions of rates apart, and with what depends on parameters alone done once.
    read = {name: read_program(f.function if isinstance(f, Sweep) else f) for name, f in functions.items()}
    conditions = find_conditions({name: read[name] for name in driven_functions(read)}, system.limited)
    read |= conditions.programs
    if plain:
        read = {name: make_portable(program) for name, program in read.items()}
    else:
        read = {name: improve_program(program, name in INEXACT) for name, program in read.items()}
    programs, prelude, _ = separate_prelude(read, INPUTS.index("p"))
    driven = [programs[name] for name in driven_functions(programs) if solver.adaptive]
    if driven:
        programs = {**programs, "drives": find_time_signals(driven, INPUTS.index("t"), INPUTS.index("p"))}

    breaks, break_start, deciding = trace_breaks(system)
    fixed |= deciding
    past, at_start = trace_past(system)
    flaws = FlawList()
    for name in numbers:
        if name in at_start:
            flaws.add(f"inputs.{name}", "belongs to a delay, and can be set before the start only", "leave it out")
        if name in fixed:
            flaws.add(f"inputs.{name}", "decides where a reference jumps, and must stay as it is", "leave it out")
    flaws.raise_if_any(f"unit of '{system.scenario.name}'")
    model = ExportedModel(
        system=system,
        solver=solver,
        kernels=kernels,
        start=find_start(compiled, system.described_values),
        inputs=signals,
        numbers=numbers,
        outputs=outputs,
        guards=guards,
        programs=programs,
        conditions=conditions,
        swept=frozenset(name for name, function in functions.items() if isinstance(function, Sweep)),
        prelude=prelude,
        breaks=breaks,
        break_start=break_start,
        past=past,
        at_start=at_start,
        fixed=fixed,
        search=search,
        plain=plain,
        exchange=exchange,
    )
    return model, compiled


def _assemble(
    what: Exported | ScenarioSequence, inputs: Mapping[str, float | None], unit: bool
) -> tuple[System, tuple[str, ...], frozenset[str]]:
    """The system, which of its inputs are numbers, and the numbers that its nominal motion was computed for."""
    if isinstance(what, ScenarioSequence):
        problem = "is a sequence of scenarios, whose phases end at events"
        refuse("scenario", problem, "export one of its phases")
    scenario, flaws = what.scenario if isinstance(what, Perturbed) else what, FlawList()
    numbers = tuple(name for name in inputs if name in scenario.numbers())
    signals = {name: value or 0.0 for name, value in inputs.items() if name not in numbers}
    for name in () if unit else numbers:
        flaws.add(f"inputs.{name}", "is a number", "declare it tunable: a parameter can be set at any time")
    flaws.raise_if_any(f"code of '{scenario.name}'")
    if isinstance(what, Perturbed):
        if numbers:
            refuse(f"inputs.{numbers[0]}", "is fixed near a nominal motion", "export the scenario itself")
        if signals:
            problem = "come from outside: the motion near a nominal one has its reference in it"
            refuse("inputs", problem, "export the scenario itself")
        return what.system, (), frozenset(what.nominal.parameters)
    values = {name: value for name in numbers if (value := inputs[name]) is not None}
    system = assemble(scenario.with_numbers(values), inputs=signals)
    for name in numbers:
        if name not in system.places:
            flaws.add(f"inputs.{name}", "is built into the code", "declare it tunable in the machine")
    flaws.raise_if_any(f"unit of '{system.scenario.name}'")
    return system, numbers, frozenset()


def check_parts(system: System, solver: Solver, *, exchange: bool = False) -> None:
    """Refuse what is not generated C, and what another integrator cannot carry."""
    flaws = FlawList()
    if exchange and system.delays:
        names = ", ".join(sorted({delay.owner for delay in system.delays}))
        what = "are read from completed steps, which another program's solver does not expose"
        flaws.add("delays", f"{names}: {what}", "export a co-simulation unit (cs)")
    if exchange and system.motion.constraint_forces and system.scenario.constraint_method.method == "index3":
        what = "are kept by the unit's own method, and another solver would drift from them"
        flaws.add("constraint_method.method", f"constraints {what}", "choose baumgarte, projection or minimal")
    for task in system.discrete.tasks:
        if task.call is not None:
            flaws.add(
                f"blocks.{task.name}", "its law is plain Python, which a unit cannot contain", "write it to be traced"
            )
    for guard in system.discrete.guards:
        if guard.call is not None:
            flaws.add(
                f"events.{guard.name}",
                "its action is plain Python, which a unit cannot contain",
                "write it to be traced",
            )
    if solver.max_wall_time is not None:
        flaws.add("solver.max_wall_time", "has no effect in a unit, whose importer watches the clock", "leave it out")
    flaws.raise_if_any(f"unit of '{system.scenario.name}'")


def _chosen_functions(
    system: System, outputs: tuple[SignalInfo, ...], guards: tuple[Guard, ...], exchange: bool
) -> dict[str, ca.Function]:
    """Outputs and their slopes, with exchange those of the states' rates too; guards and their rates: of those that the
    unit has."""
    symbols = [*system.symbols]
    names = system.signal_names
    y = ca.densify(pick_entries(system.expressions.outputs, [names.index(info.name) for info in outputs]))
    by = ca.vertcat(system.symbols.x, system.symbols.m, system.symbols.p)
    seed = SX.sym("seed", by.numel())
    shown = ca.vertcat(y, system.expressions.rhs) if exchange else y
    slopes = ca.densify(ca.cse(ca.jtimes(shown, by, seed))) if by.numel() else SX.zeros(shown.numel())
    chosen = {
        "outputs": ca.Function("outputs", symbols, [y]),
        "slopes": ca.Function("slopes", [*symbols, seed], [slopes]),
    }
    places = [system.discrete.guards.index(guard) for guard in guards]
    wholes = {"guards": system.function(system.expressions.guards), "guard_rates": system.guard_rates()}
    for name, whole in wholes.items() if guards else ():
        inputs: Any = whole.sx_in()
        chosen[name] = ca.Function(name, inputs, [ca.densify(pick_entries(whole(*inputs), places))])
    return chosen


def trace_breaks(system: System) -> tuple[Program, tuple[float, ...], frozenset[str]]:
    """Times at which references jump, as a function of p and as described; and parameters that must stay for it."""
    p = system.symbols.p
    symbols = {name: p[k] for name, k in system.places.items()}
    times: list[Any] = []
    described: list[float] = []
    fixed: set[str] = set()
    for rule in system.discrete.breaks:
        known = [float(time) for time in rule.times(system.number_values)]
        described += known
        try:
            traced = [SX(time) for time in rule.times(system.number_values | symbols)]
            if len(traced) != len(known):
                raise ValueError("which times there are depends on the numbers")
            times += traced
        except (TypeError, ValueError, RuntimeError, NotImplementedError):
            # A rule that compares or converts numbers cannot be followed: its numbers stay what they are.
            times += [SX(time) for time in known]
            fixed |= symbols.keys() & rule.names
    column = to_column(times)
    return read_program(ca.Function("breaks", [p], [ca.densify(column)])), tuple(described), frozenset(fixed)


def trace_past(system: System) -> tuple[Program, frozenset[str]]:
    """Times of all delays, then signals before the start, as a function of p; and the parameters among them."""
    p, places = system.symbols.p, system.places
    values = {f"{delay.owner}.time": delay.time for delay in system.delays}
    values |= {f"{delay.owner}.before": math.nan if delay.before is None else delay.before for delay in system.delays}
    column = [p[places[name]] if name in places else SX(value) for name, value in values.items()]
    function = ca.Function("past", [p], [ca.densify(to_column(column))])
    return read_program(function), frozenset(values.keys() & places.keys())
