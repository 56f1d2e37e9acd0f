"""Sensitivity system: how do states change with parameters, across events and delays too?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from robodyn.analysis.jumps import Jump, describe_leaps, describe_staircases, find_block_jumps, smooth_expressions
from robodyn.base import Array, FlawList, find_unmatched, fits, frozen, nearest
from robodyn.base.symbolic import changed_entries, to_column, where
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import DelayInfo, Guard, MemoryInfo, StateInfo
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.system import Expressions, Symbols
from robodyn.description.model import Number, Recording

from .parameters import REMEDY, Direction, find_directions

if TYPE_CHECKING:
    from .variation import Variation

# --------------------------------------------------------------------------------------------------
# Tangents: what is the derivative of any expression along the motion, and along a change of a parameter?
#
# Symbols: S, M, D as in `sensitivity_system`; R = d_dot, the rates of the delayed signals.


@frozen
class SensitivityTangent:
    """A system's symbols with their sensitivities; j counts the parameters.

    Attributes:
        smooth: the system's expressions as they are differentiated, staircases with their means.
        states: integrated columns U, S = U - shift; memory: M; delayed: D as it is read from history.
        shifts: see `sensitivity.delays`; zero but for the time of a delay whose signal jumps.
        rates: R, one entry a delay, zero where it is not needed.
        moved: D as seen at a fixed time: `D - R` for the delay whose time is the parameter.
        instant: memory that holds when the last event or tick was, and how far that moves with each parameter.
        delays: further delays, and extra: their symbols in that order.
    """

    system: System
    smooth: Expressions
    directions: tuple[Direction, ...]
    states: tuple[ca.SX, ...]
    memory: tuple[ca.SX, ...]
    delayed: tuple[ca.SX, ...]
    moved: tuple[ca.SX, ...]
    shifts: tuple[ca.SX, ...]
    rates: ca.SX
    instant: ca.SX | None
    delays: tuple[DelayInfo, ...] = ()
    extra: ca.SX = ca.SX(0, 1)

    @property
    def count(self) -> int:
        return len(self.directions)

    @property
    def symbols(self) -> Symbols:
        """The system's symbols, x, d and m with their sensitivities appended."""
        own = self.system.symbols
        instant = ca.SX(0, 1) if self.instant is None else self.instant
        return own._replace(
            x=ca.vertcat(own.x, *self.states),
            d=ca.vertcat(own.d, self.extra),
            m=ca.vertcat(own.m, *self.memory, instant),
        )

    def sensitivity(self, j: int) -> ca.SX:
        """S of parameter j."""
        return self.states[j] - self.shifts[j]

    def along(self, j: int, expression: ca.SX, delayed: ca.SX | None = None) -> ca.SX:
        """Derivative by parameter j at a fixed time: `e_x S + e_d D + e_m M + e_p`.

        Args:
            delayed: D, as seen at a fixed time by default.
        """
        own, direction = self.system.symbols, self.directions[j]
        unit = ca.SX.zeros(own.p.numel())
        if direction.place is not None:
            unit[direction.place] = 1
        D = self.moved[j] if delayed is None else delayed
        by = ca.vertcat(own.x, own.d, own.m, own.p)
        way = ca.vertcat(self.sensitivity(j), D, self.memory[j], unit)
        return ca.densify(ca.jtimes(ca.densify(expression), by, way))

    def rate(self, expression: ca.SX) -> ca.SX:
        """Total derivative by time along the motion, memory held: `e_t + e_x f + e_d R`."""
        own = self.system.symbols
        by = ca.vertcat(own.t, own.x, own.d)
        way = ca.vertcat(1, self.system.expressions.rhs, self.rates)
        return ca.densify(ca.jtimes(ca.densify(expression), by, way))

    @property
    def state_rates(self) -> list[ca.SX]:
        """U_dot of each parameter; where there is a shift h(t, x, d), `U_dot = S_dot + h_t + h_x f` without d_dot."""
        own, f, smooth = self.system.symbols, self.system.expressions.rhs, self.smooth.rhs
        state_rates = []
        for j in range(self.count):
            if self.shifts[j].nnz() == 0:
                state_rates.append(self.along(j, smooth))
                continue
            by = ca.vertcat(own.t, own.x)
            carried = ca.jtimes(self.shifts[j], by, ca.vertcat(1, f))
            state_rates.append(self.along(j, smooth, self.delayed[j]) + ca.densify(carried))
        return state_rates


def start_tangent(system: System, smooth: Expressions, directions: tuple[Direction, ...]) -> SensitivityTangent:
    """Symbols of the sensitivities of states and memory; delays are added by `sensitivity.delays`."""
    own = system.symbols
    n_x, n_m, n_d = own.x.numel(), own.m.numel(), own.d.numel()
    acts = any(guard.action for guard in system.discrete.guards)
    zeros = tuple(ca.SX(n_d, 1) for _ in directions)
    return SensitivityTangent(
        system=system,
        smooth=smooth,
        directions=directions,
        states=tuple(ca.SX.sym(f"S{j}", n_x) for j in range(len(directions))),
        memory=tuple(ca.SX.sym(f"M{j}", n_m) for j in range(len(directions))),
        delayed=zeros,
        moved=zeros,
        shifts=tuple(ca.SX(n_x, 1) for _ in directions),
        rates=ca.SX(n_d, 1),
        instant=ca.SX.sym("instant", 1 + len(directions)) if acts else None,
    )


def sensitivity_name(name: str | None, parameter: str) -> str:
    """`d(<signal>)/d(<parameter>)`."""
    return f"d({name})/d({parameter})"


# --------------------------------------------------------------------------------------------------
# Jumps of sensitivities: how do these change at events and samples?
#
# Symbols: g the guard, a the action's new x and m, T the event's time, dT its derivative by p; f- and f+ the rates
# before and after; primes of p left out.
#
#     dT = -(g_x S + g_d D + g_m M + g_p) / (g_t + g_x f- + g_d d_dot)
#     S+ = a_x S + a_d D + a_m M + a_p + (a_t + a_x f- + a_d d_dot) dT - f+ dT
#
# A guard that jumps across zero by another's action, or by a sample, happens at that instant: its dT is that one's, or
# 0. Where a state arrives at its limit L it stays there: S+ = L_p.


def extend_actions(extended: System, tangent: SensitivityTangent) -> System:
    """Actions that write S and M too, one for each guard, since the instant depends on the guard."""
    system = tangent.system
    # Guards that references make jump are refused: whether one was crossed or jumped over cannot be known.
    flaws = FlawList()
    jumping = ca.vertcat(system.symbols.t, system.symbols.d)
    for k, guard in enumerate(system.discrete.guards):
        jumps = any(ca.which_depends(system.expressions.guards[k], jumping, 1, True))
        if guard.action and system.discrete.breaks and jumps:
            flaws.add(f"events.{guard.name}", "its guard follows a reference that jumps or kinks", REMEDY)
    flaws.raise_if_any(f"sensitivities of '{system.scenario.name}'")
    own, smooth = system.expressions, tangent.smooth
    guards, actions = [], {}
    for k, guard in enumerate(system.discrete.guards):
        if guard.action is None:
            guards.append(guard)
            continue
        name = f"action:guard{k}"
        # dT of each parameter: by the guard's crossing, or as of what happened at the same time before.
        assert tangent.instant is not None
        crossing = smooth.guards[k]
        rate, again = tangent.rate(crossing), tangent.instant[0] == system.symbols.t
        shifts = []
        for j in range(tangent.count):
            shifts.append(where(again, tangent.instant[1 + j], -tangent.along(j, crossing) / rate))
        actions[name] = _act(tangent, own.actions[guard.action], smooth.actions[guard.action], shifts)
        guards.append(replace(guard, action=name))
    # At the start and at the ends of steps, time does not move with the parameters.
    still, start, projection = [ca.SX(0)] * tangent.count, system.discrete.start_action, own.projection
    if start is not None:
        actions[start] = _act(tangent, own.actions[start], smooth.actions[start], still)
    if own.projection is not None and smooth.projection is not None:
        projection = _act(tangent, own.projection, smooth.projection, still)
    expressions = replace(extended.expressions, actions=actions, projection=projection)
    discrete = replace(extended.discrete, guards=tuple(guards))
    return replace(extended, discrete=discrete, expressions=expressions)


def _act(tangent: SensitivityTangent, after: ca.SX, smooth: ca.SX, shifts: list[ca.SX]) -> ca.SX:
    """[x+, U+, m+, M+, instant] of an action at a time that moves with each parameter.

    Args:
        after: [x+, m+]; smooth: the same as it is differentiated.
    """
    system = tangent.system
    n_x, own = len(system.states), system.symbols
    time, d, p = own.t, own.d, own.p
    x_after, m_after = _unfolded(after[:n_x], time), _unfolded(after[n_x:], time)
    f_after = system.function(system.expressions.rhs)(time, x_after, d, m_after, p)
    along_time = tangent.rate(smooth)
    states, memory = [], []
    for j, shift in enumerate(shifts):
        tangents = tangent.along(j, smooth) + along_time * shift
        h = ca.substitute(ca.densify(tangent.shifts[j]), ca.vertcat(own.x, own.m), ca.vertcat(x_after, m_after))
        states.append(tangents[:n_x] - f_after * shift + h)
        memory.append(tangents[n_x:])
    instant = [] if tangent.instant is None else [time, *shifts]
    return ca.vertcat(after[:n_x], *states, after[n_x:], *memory, *instant)


def _unfolded(column: ca.SX, time: ca.SX) -> ca.SX:
    """The values, none of them a constant: CasADi must not look up tables, whose meaning it does not know."""
    entries = [column[i] for i in range(column.numel())]
    return to_column(ca.if_else(time > -math.inf, e, 0) if e.is_constant() else e for e in entries)


def add_limits(extended: System, tangent: SensitivityTangent) -> System:
    """Guards at the limits of states, with the action `S+ = L_p`."""
    system = tangent.system
    n = len(system.limited)
    guards, actions = list(extended.discrete.guards), dict(extended.expressions.actions)
    column = [extended.expressions.guards]
    for i, k in enumerate(system.limited):
        lower, upper = system.expressions.limits[i], system.expressions.limits[n + i]
        for side, limit, direction in (("lower", lower, -1), ("upper", upper, 1)):
            if limit.is_constant() and not math.isfinite(float(limit)):
                continue
            name = f"{system.states[k].name} at its {side} limit"
            column.append(system.symbols.x[k] - limit)
            # [x, U+, m, M] with the sensitivity of state k that of its limit.
            x = ca.SX(extended.symbols.x)
            for j in range(tangent.count):
                shift = ca.densify(tangent.shifts[j])
                x[(1 + j) * len(tangent.system.states) + k] = tangent.along(j, limit) + shift[k]
            actions[f"action:{side}{k}"] = ca.vertcat(x, extended.symbols.m)
            guards.append(Guard(name, direction, action=f"action:{side}{k}"))
    expressions = replace(extended.expressions, guards=ca.vertcat(*column), actions=actions)
    discrete = replace(extended.discrete, guards=tuple(guards))
    return replace(extended, discrete=discrete, expressions=expressions)


# --------------------------------------------------------------------------------------------------
# Sensitivities of delayed signals: how do they change with a parameter, also with the delay itself?
#
# Symbols: w the signals that are delayed, d(t) = w(t - T) what arrives, h a shift of the sensitivities.
#
#     dd/dp = w_p(t - T),    dd/dT = w_T(t - T) - w_dot(t - T)
#
# Each w_p is delayed like w itself, and so is w_dot where it is needed. Both are zero before the start where w has a
# given value b there: what is delayed is w_p + b, and b is taken off what arrives.
#
# Where w jumps, its rate is no function. If d acts on the rates by itself, its part h = f(d) - f(d at the start) takes
# the jump: U = S + h has none, and
#
#     U_dot = f_x S + f_d w_T(t - T) + h_t + h_x f


BEFORE_START = 1e30
"""A time [s] longer than any run: what arrives after it is the value before the start."""


@frozen
class Companion(DelayInfo):
    """A delay that is as long as another, also where that one's time is changed for a run."""

    source: str = ""

    @property
    def owner(self) -> str:
        return self.source


def add_delays(tangent: SensitivityTangent) -> SensitivityTangent:
    """The tangent with the sensitivities of delayed signals, their rates and shifts as far as they are needed."""
    system = tangent.system
    if not system.delays:
        return tangent
    flaws = FlawList()
    # An event that makes a delayed signal jump is refused: the jump arrives at a time that moves
    # with p.
    column = ca.vertcat(system.symbols.x, system.symbols.m)
    for guard in system.discrete.guards:
        changed = [column[i] for i in _changed(system, guard.action)] if guard.action else []
        if any(_depends(system.expressions.delayed, to_column(changed))):
            what = "makes a delayed signal jump, at a time that depends on parameters"
            flaws.add(f"events.{guard.name}", what, REMEDY)
    infos: list[DelayInfo] = []
    symbols, delayed = [], []
    for direction in tangent.directions:
        size = 1.0 / direction.nominal
        infos += [_companion(info, sensitivity_name(info.name, direction.name), size) for info in system.delays]
        symbols.append(ca.SX.sym("D", len(system.delays)))
        delayed.append(symbols[-1] - _before(system))
    rates = tangent.rates
    if _needs_rates(tangent):
        infos += [_companion(info, f"rate of {info.name}") for info in system.delays]
        symbols.append(ca.SX.sym("R", len(system.delays)))
        rates = symbols[-1] - _before(system)
    moved = []
    for D, direction in zip(delayed, tangent.directions, strict=True):
        late = [float(k == direction.delay) for k in range(D.numel())]
        moved.append(D - ca.SX(late) * rates)
    tangent = replace(
        tangent,
        delayed=tuple(delayed),
        moved=tuple(moved),
        rates=rates,
        delays=tuple(infos),
        extra=ca.vertcat(*symbols),
    )
    tangent = _add_shifts(tangent, flaws)
    flaws.raise_if_any(f"sensitivities of '{system.scenario.name}'")
    return tangent


def extend_delayed(tangent: SensitivityTangent) -> ca.SX:
    """The column of all delayed signals: w, w_p + b, w_dot + b, and once more those whose start value is wanted."""
    system = tangent.system
    if not system.delays:
        return system.expressions.delayed
    w, smooth, before = system.expressions.delayed, tangent.smooth.delayed, _before(system)
    columns = [w, *(tangent.along(j, smooth) + before for j in range(tangent.count))]
    if _needs_rates(tangent):
        columns.append(tangent.rate(smooth) + before)
    columns += [w[d.delay] for d in tangent.directions if d.delay is not None and _needs_start(tangent, d)]
    return ca.vertcat(*columns)


def _needs_rates(tangent: SensitivityTangent) -> bool:
    return tangent.instant is not None or any(direction.delay is not None for direction in tangent.directions)


def _needs_start(tangent: SensitivityTangent, direction: Direction) -> bool:
    """Whether the delay whose time is the parameter carries jumps, from a start value that is not given."""
    k = direction.delay
    return k is not None and tangent.system.delays[k].before is None and can_jump(tangent.system)[k]


def _companion(info: DelayInfo, name: str, nominal: float = 1.0) -> Companion:
    return Companion(name, info.time, info.before, nominal, info.owner)


def _before(system: System) -> ca.SX:
    """The given values before the start, 0 where there is none."""
    return ca.vertcat(*(_given(system, info) for info in system.delays))


def _given(system: System, info: DelayInfo) -> ca.SX:
    return ca.SX(0) if info.before is None else system.symbols.p[system.places[f"{info.owner}.before"]]


def can_jump(system: System) -> list[bool]:
    """Whether each delayed signal may jump: by samples, references, events, or its value before the start."""
    own, w = system.symbols, system.expressions.delayed
    sources = [own.m]
    sources += [own.t] if system.discrete.breaks else []
    moved = {i for guard in system.discrete.guards if guard.action for i in _changed(system, guard.action)}
    sources += [own.x[i] for i in sorted(moved) if i < own.x.numel()]
    jumps = _depends(w, ca.vertcat(*sources))
    jumps = [jump or info.before is not None for jump, info in zip(jumps, system.delays, strict=True)]
    for _ in system.delays:
        arriving = [own.d[k] for k, jump in enumerate(jumps) if jump]
        jumps = [a or b for a, b in zip(jumps, _depends(w, to_column(arriving)), strict=True)]
    return jumps


def _add_shifts(tangent: SensitivityTangent, flaws: FlawList) -> SensitivityTangent:
    """Shifts for the times of delays whose signals may jump; refused where they act together with something else."""
    system = tangent.system
    jumps = can_jump(system)
    shifts, infos, symbols = list(tangent.shifts), list(tangent.delays), [tangent.extra]
    for j, direction in enumerate(tangent.directions):
        k = direction.delay
        if k is None or not jumps[k]:
            continue
        reason = _reason_against(system, k)
        if reason:
            flaws.add(direction.name, f"the delayed signal may jump, and {reason}", REMEDY)
        start = _given(system, system.delays[k])
        if _needs_start(tangent, direction):
            start = ca.SX.sym("start")
            infos.append(DelayInfo(f"start of {system.delays[k].name}", BEFORE_START, None))
            symbols.append(start)
        shifts[j] = _shift(system, k, start)
    return replace(tangent, shifts=tuple(shifts), delays=tuple(infos), extra=ca.vertcat(*symbols))


def _shift(system: System, k: int, start: ca.SX) -> ca.SX:
    """h = f(d) - f(d_k at the start), in full or, where d_k enters linearly, as `B (d_k - start)`."""
    f, d = system.expressions.rhs, system.symbols.d
    B = ca.jacobian(f, d[k])
    if not any(_depends(ca.densify(B), d[k])):
        return ca.sparsify(B * (d[k] - start))
    whole = f - ca.substitute(f, d[k], start)
    return ca.sparsify(ca.vertcat(*(whole[i] if B[i].nnz() else ca.SX(0) for i in range(f.numel()))))


def _reason_against(system: System, k: int) -> str:
    """Why delayed signal k does not act on the rates by itself, or an empty text."""
    own, f = system.symbols, system.expressions.rhs
    if any(_depends(system.expressions.delayed, own.d[k])):
        return "another delay takes it up directly"
    others = [own.d[i] for i in range(own.d.numel()) if i != k]
    others += [own.m] + ([own.t] if system.discrete.breaks else [])
    B = ca.densify(ca.jacobian(f, own.d[k]))
    if any(_depends(B, ca.vertcat(*others))):
        return "its effect depends on what else jumps"
    return ""


def _changed(system: System, action: str) -> list[int]:
    """Places in [x, m] that an action changes."""
    column = ca.vertcat(system.symbols.x, system.symbols.m)
    after = system.expressions.actions[action]
    return changed_entries(column, after)


def _depends(expression: ca.SX, symbols: ca.SX) -> list[bool]:
    """Whether each entry of a column depends on any of the symbols."""
    if symbols.numel() == 0 or expression.numel() == 0:
        return [False] * expression.numel()
    return list(ca.which_depends(expression, symbols, 1, True))


# --------------------------------------------------------------------------------------------------
# Check of derivatives by finite differences: where blocks may jump, both are compared before derivatives are used.
#
# Symbols: y the signals, p the parameters, e their changes, all at once and each with about the same effect.
#
#     dy/dp e   against   (y(p + e) - y(p - e)) / 2
#
# Quantisers count as ideal on both sides, if their laws say how: their steps would hide what is compared.


SAMPLES = 401
CHANGES = (1e-3, 1e-2)
"""Relative changes of parameters: the smaller one may lie between two jumps, the larger one reaches across some."""
MOST = 10.0
"""By how much more a parameter with a small effect is changed, at most."""
AGREES = 0.05
"""Share of a signal's change up to which both agree."""
SPIKES = 0.05
"""Share of the samples that do not count: at an event that moves, a signal that jumps there has no slope."""
LEAST = 1e-7
"""Share of a signal's own changes in time below which its change by parameters is rounding."""


def find_disagreement(variation: Variation, ideal: Mapping[str, float], duration: float) -> float:
    """Largest share of a signal's change by which slopes and changes differ; infinite where a run fails."""
    recording = Recording(times=tuple(np.linspace(0.0, duration, SAMPLES).tolist()))
    base = variation.run(ideal, recording)
    slopes = {number.name: variation.slopes(base, number.name) for number in variation.numbers}
    spread = np.std(variation.values(base), axis=0)
    effect = {name: float(np.max(np.std(table, axis=0) / np.maximum(spread, 1e-300))) for name, table in slopes.items()}
    disagreement = 0.0
    for change in CHANGES:
        # A change of each parameter: more of those that do little.
        plain = {number.name: change * (abs(number.value) or 1.0) for number in variation.numbers}
        effects = {name: effect[name] * step for name, step in plain.items()}
        largest = max(effects.values())
        steps = {name: step * min(MOST, largest / max(effects[name], 1e-300)) for name, step in plain.items()}
        ends = [
            variation.run(dict(ideal) | {n.name: n.value + sign * steps[n.name] for n in variation.numbers}, recording)
            for sign in (1, -1)
        ]
        if any(run.time.size != base.time.size for run in ends):
            return np.inf
        expected = sum((slopes[name] * step for name, step in steps.items()), np.zeros((base.time.size, 1)))
        observed = (variation.values(ends[0]) - variation.values(ends[1])) / 2
        for own, other, level in zip(expected.T, observed.T, spread, strict=True):
            size = max(_size(own), _size(other))
            if size > LEAST * level:
                disagreement = max(disagreement, _size(own - other) / size)
    return disagreement


def _size(column: Array) -> float:
    """Root mean square without the largest values."""
    sizes = np.sort(np.abs(column))[: int(len(column) * (1 - SPIKES))]
    return float(np.sqrt(np.mean(sizes**2)))


# --------------------------------------------------------------------------------------------------
# Forward sensitivity equations: how does a motion change with parameters? Integrated beside the motion itself.
#
# Symbols: S = dx/dp of the states, M = dm/dp of the memory, D = dd/dp of the delayed signals, for one parameter p:
#
#     x_dot = f(t, x, d, m, p),    S_dot = f_x S + f_d D + f_m M + f_p
#
# The derivatives are exact, made from the traced expressions, and run in the same native engine as the motion itself;
# those of quantisers and other staircases are the means over their steps.


UNWEIGHED = 1e30
"""Nominal magnitude of book-keeping whose errors do not count; finite, since it is no longer the last state."""


def sensitivity_system(
    system: System,
    parameters: Sequence[str],
    signals: Sequence[str] | None = None,
    *,
    jumps: Sequence[Jump] | None = None,
) -> System:
    """The system with the sensitivities of its states as further states, and of its signals as further signals.

    The derivative of a signal is `d(<signal>)/d(<parameter>)`, at a fixed time.

    Args:
        parameters: tunable numbers, `initial.<state>` or `<delay>.time`.
        signals: patterns of the signals whose derivatives are wanted; those the scenario records by default.
        jumps: what `find_block_jumps` gives, if that is known already.

    Raises:
        ModelError: where there is no exact derivative: Python blocks, constants of the code, times of jumps.
    """
    directions = find_directions(system, tuple(parameters))
    jumps = find_block_jumps(system.scenario) if jumps is None else jumps
    tangent = add_delays(start_tangent(system, smooth_expressions(system, jumps), directions))
    patterns = system.scenario.recording.signals if signals is None else tuple(signals)
    flaws = FlawList()
    for pattern in find_unmatched(patterns, system.signal_names):
        flaws.add("signals", f"'{pattern}' matches no signal", nearest(pattern, system.signal_names))
    flaws.raise_if_any("sensitivities")
    chosen = [k for k, name in enumerate(system.signal_names) if fits(name, patterns)]
    rates = ca.vertcat(system.expressions.rhs, *tangent.state_rates)
    outputs = [tangent.along(j, tangent.smooth.outputs) for j in range(tangent.count)]
    picked = [column[k] for column in outputs for k in chosen]
    # Tasks that write M too: `M+ = a_x S + a_d D + a_m M + a_p`; samples are taken at times that do
    # not move.
    found = {}
    for name, memory in tangent.system.expressions.updates.items():
        columns = [tangent.along(j, tangent.smooth.updates[name]) for j in range(tangent.count)]
        still = [] if tangent.instant is None else [tangent.system.symbols.t, ca.SX.zeros(tangent.count)]
        found[name] = ca.vertcat(memory, *columns, *still)
    # Times of the delays that have no name in the scenario.
    own = {f"{info.owner}.time": info for info in tangent.delays if not isinstance(info, Companion)}
    times = {name: Number(name, info.time, "s") for name, info in own.items()}
    extended = replace(
        system,
        states=(*system.states, *_states(system, tangent.directions)),
        memory=(*system.memory, *_memory(system, tangent)),
        signals=(*system.signals, *_signals(system, chosen, tangent.directions)),
        numbers=dict(system.numbers) | times,
        delays=(*system.delays, *tangent.delays),
        symbols=tangent.symbols,
        expressions=replace(
            system.expressions,
            rhs=rates,
            outputs=ca.vertcat(system.expressions.outputs, *picked),
            delayed=extend_delayed(tangent),
            updates=found,
        ),
        warnings=(*system.warnings, *filter(None, [describe_staircases(jumps), describe_leaps(jumps)])),
    )
    return add_limits(extend_actions(extended, tangent), tangent)


def _states(system: System, directions: Sequence[Direction]) -> list[StateInfo]:
    """The states S: their errors are weighed like those of the states themselves for a change of p by its size.

    Those of book-keeping, the last ones, are not weighed at all.
    """
    return [
        StateInfo(
            sensitivity_name(state.name, direction.name),
            unit_of_ratio(state.unit, direction.unit),
            1.0 if direction.state == k else 0.0,
            (state.nominal if k < system.n_moving else UNWEIGHED) / direction.nominal,
        )
        for direction in directions
        for k, state in enumerate(system.states)
    ]


def _memory(system: System, tangent: SensitivityTangent) -> list[MemoryInfo]:
    """The memory M, and the instant of the last event and how far it moves with each parameter."""
    infos = [
        MemoryInfo(sensitivity_name(info.name, direction.name), "", 1.0 if k in direction.memory else 0.0, hidden=True)
        for direction in tangent.directions
        for k, info in enumerate(system.memory)
    ]
    if tangent.instant is not None:
        infos.append(MemoryInfo("instant of the last event or tick", "s", -1.0, hidden=True))
        infos += [MemoryInfo(f"d(instant)/d({d.name})", "", 0.0, hidden=True) for d in tangent.directions]
    return infos


def _signals(system: System, chosen: Sequence[int], directions: Sequence[Direction]) -> list[SignalInfo]:
    """Derivatives of the chosen signals; the rate of one is the derivative of the signal's rate, if that is there."""
    names = {system.signals[k].name for k in chosen}
    infos = []
    for direction in directions:
        for signal in (system.signals[k] for k in chosen):
            rate = sensitivity_name(signal.rate, direction.name) if signal.rate in names else None
            unit = unit_of_ratio(signal.unit, direction.unit)
            infos.append(SignalInfo(sensitivity_name(signal.name, direction.name), unit, signal.kind, rate))
    return infos


def unit_of_ratio(above: str, below: str) -> str:
    """Unit of one quantity per another."""
    if above == below:
        return ""
    if not below:
        return above
    return f"{above or '1'}/({below})" if " " in below or "/" in below else f"{above or '1'}/{below}"
