"""Assembler: how does a scenario become a system? Declare, trace, connect, resolve; every flaw is reported at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import casadi as ca
import numpy as np

from robodyn.assembly.blocks import add_blocks, add_delays
from robodyn.assembly.body_signals import add_body_signals
from robodyn.assembly.builder import Builder, Deferred, start_builder
from robodyn.assembly.constraints import declare_constraints
from robodyn.assembly.coordinates import add_ranges
from robodyn.assembly.events import START, add_events, add_located, add_ranges_of_laws, located_sides, place_targets
from robodyn.assembly.formulas import add_formulas, check_formula_units
from robodyn.assembly.functions import Expressions, Symbols
from robodyn.assembly.inputs import open_inputs
from robodyn.assembly.joint_limits import add_joint_limits
from robodyn.assembly.linear import Linearise, LinearMechanics, replace_mechanics
from robodyn.assembly.mechanics import add_dynamics
from robodyn.assembly.minimal import START as MINIMAL_START
from robodyn.assembly.minimal import make_minimal
from robodyn.assembly.motion import Motion, add_kinematics
from robodyn.assembly.network import SignalInfo
from robodyn.assembly.nominal import check_nominal_depends, refer_to_nominal
from robodyn.assembly.reaction_modes import ACTION
from robodyn.assembly.reactions import add_reactions
from robodyn.assembly.sampling import find_base_period
from robodyn.assembly.system import System, Terms
from robodyn.assembly.tree import build_tree
from robodyn.assembly.units import compare_units, fill_numbers, settle_units
from robodyn.dynamics import Tree, articulate, mass_matrix, mean_depth
from robodyn.dynamics.forward import COMPOSITE_DEPTH
from robodyn.errors import nearest
from robodyn.model import LinearCombination, Scenario
from robodyn.waiting import told_if_slow


@told_if_slow("assembling")
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
    builder = start_builder(scenario)
    builder.base_period = find_base_period(scenario, builder.flaws)
    motion, linear = _trace(builder, linearise, inputs or {}, (*scenario.recording.signals, *signals))
    n_q, n_v = (motion.q.numel(), motion.v.numel()) if motion else (0, 0)
    start = _start_action(builder)
    symbols = _symbols(builder)
    units = builder.units
    numbers = fill_numbers(scenario, units)
    expressions = _expressions(builder, n_q)
    if builder.constraint_forces and scenario.constraint_method.method == "minimal":
        assert motion is not None
        expressions = make_minimal(builder, symbols, expressions, motion.N, start)
        start = MINIMAL_START
        scenario.raise_if_any(builder.flaws)
    return System(
        scenario=scenario,
        states=tuple(replace(info, unit=units[info.name]) for info in builder.states),
        memory=tuple(builder.memory),
        watched=tuple(builder.watched),
        warnings=(*builder.warnings, *compare_units(scenario, units)),
        signals=_signals(builder, symbols),
        numbers=numbers,
        parameters=tuple(numbers[number.name] for number in builder.values.tunable),
        delays=tuple(builder.delays),
        tasks=(*builder.arrivals, *builder.tasks),
        guards=tuple(builder.guards),
        breaks=tuple(builder.breaks),
        limited=tuple(k for k, info in enumerate(builder.states) if info.name in builder.limits),
        base_period=builder.base_period,
        n_q=n_q,
        n_v=n_v,
        mechanics=motion.mechanics if motion else None,
        symbols=symbols,
        expressions=expressions,
        coordinates=motion.exact if motion else {},
        rotors=motion.rotors if motion else (),
        ports=motion.ports if motion else (),
        constraint_forces=builder.constraint_forces,
        spare=builder.spare,
        start_action=start,
        problems=tuple(info for info, _ in builder.problems.values()),
        start_problems=builder.start_problems,
        forces=tuple(builder.forces),
        loads=builder.loads,
        terms=Terms(linear.mass_matrix, linear.bias) if linear else None,
        data=linear.data if linear else np.zeros(0),
        inputs=dict(inputs or {}),
    )


def _trace(
    builder: Builder, linearise: Linearise | None, inputs: Mapping[str, float], signals: Sequence[str]
) -> tuple[Motion | None, LinearMechanics | None]:
    """Declare, trace and connect all parts; every flaw is reported at once."""
    # Declare: joints, coordinates, points; blocks with their states and memory; delays.
    motion = add_kinematics(builder)
    add_blocks(builder)
    add_formulas(builder)
    add_delays(builder)
    refer_to_nominal(builder)
    linear = replace_mechanics(builder, motion, linearise) if linearise and motion else None
    # Events before dynamics: a constraint that none can switch is a constant there.
    declare_constraints(builder)
    add_events(builder)
    add_located(builder)
    add_ranges_of_laws(builder)
    if motion:
        add_dynamics(builder, motion, solvable=_check_inertia(builder, motion))
        add_ranges(builder, motion)
        add_joint_limits(builder, motion)
        add_reactions(builder, motion, signals)
        add_body_signals(builder, motion, signals)
    # Connect and resolve: all names are known now.
    place_targets(builder)
    open_inputs(builder, inputs)
    settle_units(builder.scenario, builder.network.infos)
    check_formula_units(builder)
    builder.network.resolve_all(builder.flaws)
    _check_initial(builder)
    check_nominal_depends(builder)
    builder.scenario.raise_if_any(builder.flaws)
    return motion, linear


def _start_action(builder: Builder) -> str | None:
    """What is found at the start: modes of reactions, sides of what is located."""
    return next((name for name in (START, ACTION) if name in builder.actions), None)


def _symbols(builder: Builder) -> Symbols:
    return Symbols(
        t=builder.time,
        x=_column([builder.symbol_of(info.name) for info in builder.states]),
        d=_column([builder.symbol_of(info.name) for info in builder.delays]),
        m=_column([builder.memory_symbols[info.name] for info in builder.memory]),
        p=_column(list(builder.values.symbols)),
    )


def _expressions(builder: Builder, n_q: int) -> Expressions:
    """Every function's output column, in global symbols."""

    def express(waiting: Iterable[Deferred]) -> ca.SX:
        return _column(builder.express(waiting))

    # Placeholders become global symbols here, everything of a kind in one substitution.
    rates = express(builder.rates[info.name] for info in builder.states)
    limits = [builder.limits[info.name] for info in builder.states if info.name in builder.limits]
    named, of = builder.network.expressions, builder.residuals
    return Expressions(
        rhs=rates,
        position_rate=rates[:n_q],
        outputs=_column([named[name] for name in builder.network.infos if name != "time"]),
        limits=_column([lower for lower, _ in limits] + [upper for _, upper in limits]),
        watched=express(builder.watched_values),
        delayed=express(builder.delayed),
        guards=express(builder.guard_values),
        applied=express(builder.applied),
        constraints=express((*of.h, *of.h_dot)),
        constraint_drift=express(of.drift),
        active=express(of.active),
        projection=_act(builder, builder.projection) if builder.projection else None,
        arguments={name: express(column) for name, column in builder.arguments.items()},
        updates={name: _update(builder, update) for name, update in builder.updates.items()},
        actions={name: _act(builder, update) for name, update in builder.actions.items()},
        problems={name: express(data) for name, (_, data) in builder.problems.items()},
    )


def _update(builder: Builder, update: Mapping[str, Deferred]) -> ca.SX:
    """m after a task; what is not named stays."""
    fresh = dict(zip(update, builder.express(update.values()), strict=True))
    return _column([fresh.get(info.name, builder.memory_symbols[info.name]) for info in builder.memory])


def _act(builder: Builder, update: Mapping[str, Deferred]) -> ca.SX:
    """[x, m] after an action; what is not named stays."""
    fresh = dict(zip(update, builder.express(update.values()), strict=True))
    states = [fresh.get(info.name, builder.network.expressions[info.name]) for info in builder.states]
    memory = [fresh.get(info.name, builder.memory_symbols[info.name]) for info in builder.memory]
    return _column([*states, *memory])


def _column(entries: list[ca.SX]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *entries)


def _signals(builder: Builder, symbols: Symbols) -> tuple[SignalInfo, ...]:
    """All signals but the time, those that change only with memory marked as held."""
    moving = ca.vertcat(symbols.t, symbols.x, symbols.d)
    names = [name for name in builder.network.infos if name != "time"]
    column = _column([builder.network.expressions[name] for name in names])
    changes = ca.which_depends(column, moving, 1, True) if names else []
    infos = [_with_rate(builder, builder.network.infos[name]) for name in names]
    return tuple(
        info if moves else replace(info, kind="held", rate=None) for info, moves in zip(infos, changes, strict=True)
    )


def _with_rate(builder: Builder, info: SignalInfo) -> SignalInfo:
    """A signal that is just a state under another name has the state's rate."""
    expression = builder.network.expressions[info.name]
    if info.rate is None and expression.is_symbolic() and expression.name() in builder.rates:
        return replace(info, rate=builder.network.infos[expression.name()].rate)
    return info


def _check_initial(builder: Builder) -> None:
    known = [info.name for info in builder.states] + [info.name for info in builder.memory if not info.hidden]
    directions, sides = [element.direction.name() for element in builder.sticking], located_sides(builder)
    for name in builder.scenario.initial:
        if name in (*directions, *sides):
            how = "from the speed at the start" if name in directions else "at the start"
            builder.flaws.add(f"initial.{name}", f"is found {how}", "leave it out")
        elif name not in known:
            builder.flaws.add(f"initial.{name}", "there is no such state", nearest(name, known))


def _check_inertia(builder: Builder, motion: Motion) -> bool:
    """Each joint must feel some inertia: the pivots of M, eliminated from the leaves to the root, are positive."""
    fixed = start_builder(replace(builder.scenario, machine=replace(builder.scenario.machine, tunable=())))
    tree = _numeric_tree(fixed)
    if not tree.n_v:
        builder.flaws.add("joints", "none of them moves", "make one revolute or prismatic, or leave the mechanism out")
        return False
    # Some random positions: a joint may feel no inertia at one of them alone.
    pivots = np.full(tree.n_v, np.inf)
    generator = np.random.default_rng(1)
    for _ in range(3):
        place = generator.uniform(-1, 1, tree.n_q)
        place[tree.n_joint_coordinates :] = 0.0
        pivots = np.minimum(pivots, _pivots_at(builder, motion, tree, place))
    scale = max(np.max(np.abs(pivots)), 1e-30)
    # Modes come after the joints, and have mass in any case.
    moving = [link for link in tree.links for _ in link.subspace]
    idle = [(link, pivot) for link, pivot in zip(moving, pivots, strict=False) if not pivot > 1e-12 * scale]
    for link, pivot in idle:
        builder.flaws.add(
            f"joints.{link.joint}",
            f"feels no inertia ({pivot:.3g}): everything beyond it is massless about its axis",
            f"give '{link.name}' or a body beyond it mass or inertia, or the joint an armature",
        )
    return not idle


def _pivots_at(builder: Builder, motion: Motion, tree: Tree, q: np.ndarray) -> np.ndarray:
    """Inertia that each joint feels with all joints beyond it free: from M, or from the sweep of a long chain."""
    if mean_depth(tree) > COMPOSITE_DEPTH and not motion.rotors and not tree.is_flexible:
        with suppress(np.linalg.LinAlgError):
            joints = articulate(tree, list(q)).joints
            return np.array([1.0 / inverse for joint in joints for inverse in joint.factors.inverse_diagonal])
    return _pivots(np.asarray(mass_matrix(tree, list(q))) + _rotor_inertia(builder, motion))


def _numeric_tree(builder: Builder) -> Tree:
    mechanism = builder.scenario.machine.mechanism
    assert mechanism is not None
    return build_tree(mechanism, builder.values).tree


def _rotor_inertia(builder: Builder, motion: Motion) -> np.ndarray:
    total = np.zeros((motion.v.numel(),) * 2)
    for coordinate in builder.scenario.machine.coordinates:
        if isinstance(coordinate, LinearCombination) and coordinate.inertia:
            gradient = np.array(ca.DM(motion.gradient(coordinate.name)))
            total += coordinate.inertia * gradient.T @ gradient
    return total


def _pivots(M: np.ndarray) -> np.ndarray:
    """Diagonal of D in M = L^T D L."""
    M = M.copy()
    pivots = np.empty(M.shape[0])
    for k in reversed(range(M.shape[0])):
        pivots[k] = M[k, k]
        if pivots[k] > 0:
            M[:k, :k] -= np.outer(M[:k, k], M[k, :k]) / pivots[k]
    return pivots
