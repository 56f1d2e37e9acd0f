"""Jumps of sensitivities: how do these change at events and samples?

Symbols: g the guard, a the action's new x and m, T the event's time, dT its derivative by p; f- and f+ the rates before
and after; primes of p left out.

    dT = -(g_x S + g_d D + g_m M + g_p) / (g_t + g_x f- + g_d d_dot)
    S+ = a_x S + a_d D + a_m M + a_p + (a_t + a_x f- + a_d d_dot) dT - f+ dT

A guard that jumps across zero by another's action, or by a sample, happens at that instant: its dT is that one's, or 0.
Where a state arrives at its limit L it stays there: S+ = L_p.
"""

from __future__ import annotations

import dataclasses
import math

import casadi as ca

from robodyn.analysis.sensitivity.parameters import REMEDY
from robodyn.analysis.sensitivity.tangent import Tangent
from robodyn.base.errors import FlawList
from robodyn.base.symbolic import where
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import Guard


def extend_tasks(tangent: Tangent) -> dict[str, ca.SX]:
    """Tasks that write M too: `M+ = a_x S + a_d D + a_m M + a_p`; samples are taken at times that do not move."""
    found = {}
    for name, memory in tangent.system.expressions.updates.items():
        columns = [tangent.along(j, tangent.smooth.updates[name]) for j in range(tangent.count)]
        still = [] if tangent.instant is None else [tangent.system.symbols.t, ca.SX.zeros(tangent.count)]
        found[name] = ca.vertcat(memory, *columns, *still)
    return found


def extend_actions(extended: System, tangent: Tangent) -> System:
    """Actions that write S and M too, one for each guard, since the instant depends on the guard."""
    system = tangent.system
    _check_guards(system)
    own, smooth = system.expressions, tangent.smooth
    guards, actions = [], {}
    for k, guard in enumerate(system.discrete.guards):
        if guard.action is None:
            guards.append(guard)
            continue
        name = f"action:guard{k}"
        shifts = _instant_shifts(tangent, tangent.smooth.guards[k])
        actions[name] = _act(tangent, own.actions[guard.action], smooth.actions[guard.action], shifts)
        guards.append(dataclasses.replace(guard, action=name))
    # At the start and at the ends of steps, time does not move with the parameters.
    still, start, projection = [ca.SX(0)] * tangent.count, system.discrete.start_action, own.projection
    if start is not None:
        actions[start] = _act(tangent, own.actions[start], smooth.actions[start], still)
    if own.projection is not None and smooth.projection is not None:
        projection = _act(tangent, own.projection, smooth.projection, still)
    expressions = dataclasses.replace(extended.expressions, actions=actions, projection=projection)
    discrete = dataclasses.replace(extended.discrete, guards=tuple(guards))
    return dataclasses.replace(extended, discrete=discrete, expressions=expressions)


def _check_guards(system: System) -> None:
    """Guards that references make jump are refused: whether one was crossed or jumped over cannot be known."""
    flaws = FlawList()
    jumping = ca.vertcat(system.symbols.t, system.symbols.d)
    for k, guard in enumerate(system.discrete.guards):
        jumps = any(ca.which_depends(system.expressions.guards[k], jumping, 1, True))
        if guard.action and system.discrete.breaks and jumps:
            flaws.add(f"events.{guard.name}", "its guard follows a reference that jumps or kinks", REMEDY)
    flaws.raise_if_any(f"sensitivities of '{system.scenario.name}'")


def _instant_shifts(tangent: Tangent, guard: ca.SX) -> list[ca.SX]:
    """dT of each parameter: by the guard's crossing, or as of what happened at the same time before."""
    assert tangent.instant is not None
    rate = tangent.rate(guard)
    again = tangent.instant[0] == tangent.system.symbols.t
    return [where(again, tangent.instant[1 + j], -tangent.along(j, guard) / rate) for j in range(tangent.count)]


def _act(tangent: Tangent, after: ca.SX, smooth: ca.SX, shifts: list[ca.SX]) -> ca.SX:
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
        moved = tangent.along(j, smooth) + along_time * shift
        h = ca.substitute(ca.densify(tangent.shifts[j]), ca.vertcat(own.x, own.m), ca.vertcat(x_after, m_after))
        states.append(moved[:n_x] - f_after * shift + h)
        memory.append(moved[n_x:])
    instant = [] if tangent.instant is None else [time, *shifts]
    return ca.vertcat(after[:n_x], *states, after[n_x:], *memory, *instant)


def _unfolded(column: ca.SX, time: ca.SX) -> ca.SX:
    """The same values, none of them a constant: CasADi must not look up tables, whose meaning it does not know."""
    entries = [column[i] for i in range(column.numel())]
    return ca.vertcat(ca.SX(0, 1), *(ca.if_else(time > -math.inf, e, 0) if e.is_constant() else e for e in entries))


def add_limits(extended: System, tangent: Tangent) -> System:
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
            actions[f"action:{side}{k}"] = _arrive(extended, tangent, k, limit)
            guards.append(Guard(name, direction, action=f"action:{side}{k}"))
    expressions = dataclasses.replace(extended.expressions, guards=ca.vertcat(*column), actions=actions)
    discrete = dataclasses.replace(extended.discrete, guards=tuple(guards))
    return dataclasses.replace(extended, discrete=discrete, expressions=expressions)


def _arrive(extended: System, tangent: Tangent, k: int, limit: ca.SX) -> ca.SX:
    """[x, U+, m, M] with the sensitivity of state k that of its limit."""
    x = ca.SX(extended.symbols.x)
    for j in range(tangent.count):
        shift = ca.densify(tangent.shifts[j])
        x[(1 + j) * len(tangent.system.states) + k] = tangent.along(j, limit) + shift[k]
    return ca.vertcat(x, extended.symbols.m)
