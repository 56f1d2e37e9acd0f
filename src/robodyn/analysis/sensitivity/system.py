"""Forward sensitivity equations: how does a motion change with parameters? Integrated beside the motion itself.

Symbols: S = dx/dp of the states, M = dm/dp of the memory, D = dd/dp of the delayed signals, for one parameter p:

    x_dot = f(t, x, d, m, p),    S_dot = f_x S + f_d D + f_m M + f_p

The derivatives are exact, made from the traced expressions, and run in the same native engine as the motion itself;
those of quantisers and other staircases are the means over their steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fnmatch import fnmatchcase

import casadi as ca

from robodyn.analysis.jumps import Jump, describe_leaps, describe_staircases, find_block_jumps, smooth_expressions
from robodyn.analysis.sensitivity.delays import add_delays, extend_delayed, more_numbers
from robodyn.analysis.sensitivity.events import add_limits, extend_actions, extend_tasks
from robodyn.analysis.sensitivity.parameters import Direction, find_directions
from robodyn.analysis.sensitivity.tangent import Tangent, sensitivity_name, start_tangent
from robodyn.base.errors import FlawList, nearest
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import MemoryInfo, StateInfo
from robodyn.computation.assembly.network import SignalInfo

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
    chosen = _choose(system, system.scenario.recording.signals if signals is None else tuple(signals))
    rates = ca.vertcat(system.expressions.rhs, *tangent.state_rates)
    outputs = [tangent.along(j, tangent.smooth.outputs) for j in range(tangent.count)]
    picked = [column[k] for column in outputs for k in chosen]
    extended = dataclasses.replace(
        system,
        states=(*system.states, *_states(system, tangent.directions)),
        memory=(*system.memory, *_memory(system, tangent)),
        signals=(*system.signals, *_signals(system, chosen, tangent.directions)),
        numbers=dict(system.numbers) | more_numbers(tangent),
        delays=(*system.delays, *tangent.delays),
        symbols=tangent.symbols,
        expressions=dataclasses.replace(
            system.expressions,
            rhs=rates,
            outputs=ca.vertcat(system.expressions.outputs, *picked),
            delayed=extend_delayed(tangent),
            updates=extend_tasks(tangent),
        ),
        warnings=(*system.warnings, *filter(None, [describe_staircases(jumps), describe_leaps(jumps)])),
    )
    return add_limits(extend_actions(extended, tangent), tangent)


def _choose(system: System, patterns: Sequence[str]) -> list[int]:
    flaws = FlawList()
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in system.signal_names):
            flaws.add("signals", f"'{pattern}' matches no signal", nearest(pattern, system.signal_names))
    flaws.raise_if_any("sensitivities")
    return [k for k, name in enumerate(system.signal_names) if any(fnmatchcase(name, p) for p in patterns)]


def _states(system: System, directions: Sequence[Direction]) -> list[StateInfo]:
    """The states S: their errors are weighed like those of the states themselves for a change of p by its size.

    Those of book-keeping, the last ones, are not weighed at all.
    """
    n_moving = len(system.states) - system.n_quadratures
    return [
        StateInfo(
            sensitivity_name(state.name, direction.name),
            unit_of_ratio(state.unit, direction.unit),
            1.0 if direction.state == k else 0.0,
            (state.nominal if k < n_moving else UNWEIGHED) / direction.nominal,
        )
        for direction in directions
        for k, state in enumerate(system.states)
    ]


def _memory(system: System, tangent: Tangent) -> list[MemoryInfo]:
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
