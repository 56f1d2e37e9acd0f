"""Assembler: how does a scenario become a system?

Kinematics, blocks, events, then the accelerations under all forces: each part returns its contribution, and what it
needs of the parts before it is an argument. The merged contributions are a network of signals, which is resolved; every
flaw is reported at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import nearest, report_progress
from robodyn.base.symbolic import to_column, where
from robodyn.description.model import Scenario

from .blocks import order_samples, place_recorded, trace_blocks, trace_delays
from .constraints.minimal import make_minimal
from .constraints.solution import declare_constraints
from .contact.modes import ACTION, PROBLEM
from .contribution import Context, Contribution, Deferred, start_context
from .control.state_design import design_controllers
from .declarations import Invariant
from .events import START, guard_laws, locate_crossings, located_sides, trace_events
from .mechanics import Dynamics, check_inertia, trace_dynamics
from .motion import (
    Linearise,
    guard_ranges,
    replace_mechanics,
    trace_kinematics,
    watch_joint_limits,
)
from .network import Network, Resolved, SignalInfo
from .reactions import define_body_signals, trace_joint_reactions
from .signals import (
    check_formula_units,
    check_nominal_depends,
    open_inputs,
    refer_to_nominal,
    trace_formulas,
)
from .system import Discrete, EquationsOfMotion, Expressions, Symbols, System, Terms
from .tracing import FRICTION, Bindings
from .units import compare_units, fill_numbers, settle_units


@report_progress("assembling")
def assemble(
    scenario: Scenario,
    linearise: Linearise | None = None,
    inputs: Mapping[str, float] | None = None,
    signals: Sequence[str] = (),
) -> System:
    """Trace a scenario once into one hybrid system.

    Args:
        linearise: gives mechanics that stand in for the mechanism's own, near a nominal motion.
        inputs: outputs of blocks that are given from outside instead, with their start values; each becomes memory
            that only the outside writes.
        signals: patterns of what will be recorded beside what the scenario says; reactions of joints and motions of
            bodies are traced only where they are asked for.

    Raises:
        ModelError: with all flaws found: unknown signals, laws that cannot be traced, algebraic loops, joints
            without inertia, sample times without a common base.
    """
    scenario = place_recorded(design_controllers(scenario))
    context = start_context(scenario)
    traced, dynamics = _trace(context, linearise, (*scenario.recording.signals, *signals))
    opened = open_inputs(context, traced, inputs or {})
    # What may be looked at in every step is the last of what is watched.
    watched = tuple(sorted(opened.watched, key=lambda one: one[0].invariant is Invariant.WITHIN))
    whole = replace(opened, signals=settle_units(scenario, opened.signals), watched=watched)
    check_formula_units(context, whole.units)

    def resolve(friction: float) -> System:
        symbols = {**whole.symbols, FRICTION: SX(friction)}
        resolved = Network(whole.signals, symbols, whole.definitions, whole.read).resolve(context.flaws)
        _check_initial(context, whole)
        check_nominal_depends(context, whole, resolved)
        scenario.raise_if_any(context.flaws)
        system = _build(context, whole, resolved, dynamics)
        minimal = system.motion.constraint_forces and scenario.constraint_method.method == "minimal"
        system = replace(make_minimal(system) if minimal else system, friction=friction, asked=tuple(signals))
        object.__setattr__(system, "resolve", resolve)
        return system

    return resolve(friction=1.0)


def _trace(context: Context, linearise: Linearise | None, asked: Sequence[str]) -> tuple[Contribution, Dynamics | None]:
    """The contributions of all parts, and how the mechanism moves, if there is one."""
    mechanism = context.machine.mechanism
    contributions = Contribution(signals={"time": SignalInfo("time", "s")}, symbols={"time": context.time})
    if mechanism:
        motion, joints = trace_kinematics(context, mechanism)
        contributions += joints
    contributions += trace_blocks(context, contributions)
    contributions += trace_formulas(context, contributions.units)
    contributions += trace_delays(context, contributions.units)
    contributions += refer_to_nominal(context)
    if mechanism and linearise:
        p = to_column(context.values.symbols)
        motion, contributions = replace_mechanics(motion, linearise(context.time, motion.q, motion.v, p), contributions)
    contributions += declare_constraints(context)
    # Actions write states and memory by name. A constraint that none of them switches is a constant in the dynamics.
    contributions += trace_events(context, contributions)
    contributions += locate_crossings(context, contributions) + guard_laws(context, contributions)
    if not mechanism:
        return contributions, None
    # All forces but those of reactions are signals by now: accelerations are solved for with placeholders of them.
    dynamics, motion_with_dynamics = trace_dynamics(motion, contributions, solvable=check_inertia(motion))
    contributions += motion_with_dynamics
    motion = dynamics.motion
    contributions += guard_ranges(motion) + watch_joint_limits(motion, contributions)
    contributions += trace_joint_reactions(motion, contributions, dynamics.null_forces, asked)
    contributions += define_body_signals(motion, contributions, asked)
    return contributions, dynamics


def _build(context: Context, whole: Contribution, resolved: Resolved, dynamics: Dynamics | None) -> System:
    symbols, units = collect_symbols(context, whole), whole.units
    numbers = fill_numbers(context.scenario, units)
    linear = dynamics.motion.linear if dynamics else None
    expressions = express_columns(whole, resolved, dynamics)
    return System(
        scenario=context.scenario,
        states=tuple(replace(s, unit=units[s.name], limited=s.name in whole.limits) for s in whole.states),
        memory=whole.memory,
        delays=whole.delays,
        signals=describe_signals(whole, resolved, symbols),
        numbers=numbers,
        parameters=tuple(numbers[number.name] for number in context.values.tunable),
        symbols=symbols,
        expressions=expressions,
        motion=_describe_motion(dynamics, whole) if dynamics else EquationsOfMotion(),
        discrete=_collect_discrete(context, whole, symbols, expressions),
        models=whole.models,
        watched=tuple(watched for watched, _ in whole.watched),
        warnings=(*whole.warnings, *compare_units(context.scenario, units)),
        data=linear.data if linear else np.zeros(0),
    )


def _describe_motion(dynamics: Dynamics, whole: Contribution) -> EquationsOfMotion:
    motion, linear = dynamics.motion, dynamics.motion.linear
    return EquationsOfMotion(
        mechanics=motion.mechanics,
        n_q=motion.q.numel(),
        n_v=motion.v.numel(),
        coordinates=motion.exact,
        rotors=motion.rotors,
        ports=motion.ports,
        forces=whole.forces,
        loads=dynamics.loads,
        terms=Terms(linear.mass_matrix, linear.bias) if linear else None,
        constraint_forces=tuple(equation.force for equation in dynamics.equations),
        spare=dynamics.constrained.redundancy.spare if dynamics.constrained else 0,
    )


def _collect_discrete(context: Context, whole: Contribution, symbols: Symbols, expressions: Expressions) -> Discrete:
    sampled = [block for block in context.machine.blocks if block.sampled]
    remembered = {f"{block.name}.{name}" for block in sampled for name in block.memory_names}
    samples, late_reads = order_samples(whole.tasks, whole.memory, remembered, symbols.m, expressions)
    return Discrete(
        tasks=(*whole.arrivals, *samples),
        base_period=context.base_period,
        guards=tuple(guard for guard, _ in whole.guards),
        breaks=whole.breaks,
        problems=tuple(info for info, _ in whole.problems.values()),
        start_action=next((name for name in (START, ACTION) if name in whole.actions), None),
        start_problems=(PROBLEM,) if PROBLEM in whole.problems else (),
        late_reads=late_reads,
    )


def _check_initial(context: Context, whole: Contribution) -> None:
    states = [info.name for info in whole.states] + [info.name for info in whole.memory if not info.hidden]
    directions, sides = [element.direction.name() for element in whole.sticking], located_sides(context)
    for name in context.scenario.initial:
        if name in (*directions, *sides):
            how = "from the speed at the start" if name in directions else "at the start"
            context.flaws.add(f"initial.{name}", f"is found {how}", "leave it out")
        elif name not in states:
            context.flaws.add(f"initial.{name}", "there is no such state", nearest(name, states))


# --------------------------------------------------------------------------------------------------
# Merged contributions: which columns does the system compute, in which symbols, and which signals are held?


def collect_symbols(context: Context, whole: Contribution) -> Symbols:
    """The input columns of all functions."""
    named = (whole.states, whole.delays, whole.memory)
    x, d, m = (to_column([whole.symbols[info.name] for info in infos]) for infos in named)
    return Symbols(context.time, x, d, m, to_column(list(context.values.symbols)))


def express_columns(whole: Contribution, resolved: Resolved, dynamics: Dynamics | None) -> Expressions:
    """Every function's output column, in global symbols."""

    def express(waiting: Iterable[Deferred]) -> SX:
        return to_column(resolved.express(waiting))

    # Placeholders become global symbols here, everything of a kind in one substitution.
    rates = express(whole.rates[info.name] for info in whole.states)
    limits = [whole.limits[info.name] for info in whole.states if info.name in whole.limits]
    bindings: Bindings = dynamics.bindings if dynamics else {}
    applied = ca.vertsplit(dynamics.applied) if dynamics else []
    equations, n_q = (dynamics.equations, dynamics.n_q) if dynamics else ((), 0)

    def express_active(name: str) -> list[Deferred]:
        """A quantity of all constraint equations, zero of those that do not hold."""
        return [Deferred(SX(where(e.active, getattr(e, name), 0.0)), bindings) for e in equations]

    return Expressions(
        rhs=rates,
        position_rate=rates[:n_q],
        outputs=to_column([resolved.expressions[name] for name in whole.signals if name != "time"]),
        limits=to_column([lower for lower, _ in limits] + [upper for _, upper in limits]),
        watched=express(value for _, values in whole.watched for value in values),
        delayed=express(whole.delayed),
        guards=express(value for _, value in whole.guards),
        applied=express(Deferred(tau, bindings) for tau in applied),
        constraints=express((*express_active("h"), *express_active("h_dot"))),
        constraint_drift=express(express_active("drift")),
        active=express(Deferred(where(e.active, 1.0, 0.0), {}) for e in equations),
        projection=_act(whole, resolved, dynamics.projection) if dynamics and dynamics.projection else None,
        arguments={name: express(column) for name, column in whole.arguments.items()},
        updates={name: _update(whole, resolved, update) for name, update in whole.updates.items()},
        actions={name: _act(whole, resolved, update) for name, update in whole.actions.items()},
        problems={name: express([data]) for name, (_, data) in whole.problems.items()},
    )


def _update(whole: Contribution, resolved: Resolved, update: Mapping[str, Deferred]) -> SX:
    """m after a task; what is not named stays."""
    fresh = dict(zip(update, resolved.express(update.values()), strict=True))
    return to_column([fresh.get(info.name, whole.symbols[info.name]) for info in whole.memory])


def _act(whole: Contribution, resolved: Resolved, update: Mapping[str, Deferred]) -> SX:
    """[x, m] after an action; what is not named stays."""
    fresh = dict(zip(update, resolved.express(update.values()), strict=True))
    return to_column([fresh.get(name, whole.symbols[name]) for name in whole.targets])


def describe_signals(whole: Contribution, resolved: Resolved, symbols: Symbols) -> tuple[SignalInfo, ...]:
    """All signals but the time, those that change only with memory marked as held."""
    moving = ca.vertcat(symbols.t, symbols.x, symbols.d)
    names = [name for name in whole.signals if name != "time"]
    column = to_column([resolved.expressions[name] for name in names])
    changes = ca.which_depends(column, moving, 1, True) if names else []
    infos = []
    for name, moves in zip(names, changes, strict=True):
        info, expression = whole.signals[name], resolved.expressions[name]
        if not moves:
            info = replace(info, kind="held", rate=None)
        elif info.rate is None and expression.is_symbolic() and expression.name() in whole.rates:
            # A signal that is just a state under another name has the state's rate.
            info = replace(info, rate=whole.signals[expression.name()].rate)
        infos.append(info)
    return tuple(infos)
