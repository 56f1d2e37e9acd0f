"""Sensitivities of delayed signals: how do they change with a parameter, also with the delay itself?

Symbols: w the signals that are delayed, d(t) = w(t - T) what arrives, h a shift of the sensitivities.

    dd/dp = w_p(t - T),    dd/dT = w_T(t - T) - w_dot(t - T)

Each w_p is delayed like w itself, and so is w_dot where it is needed. Both are zero before the start where w has a
given value b there: what is delayed is w_p + b, and b is taken off what arrives.

Where w jumps, its rate is no function. If d acts on the rates by itself, its part h = f(d) - f(d at the start) takes
the jump: U = S + h has none, and

    U_dot = f_x S + f_d w_T(t - T) + h_t + h_x f
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import casadi as ca

from robodyn.analysis.sensitivity.parameters import REMEDY, Direction
from robodyn.analysis.sensitivity.tangent import Tangent, sensitivity_name
from robodyn.base.errors import FlawList
from robodyn.base.symbolic.kinds import changed_entries
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import DelayInfo
from robodyn.description.model import Number

BEFORE_START = 1e30
"""A time [s] longer than any run: what arrives after it is the value before the start."""


@dataclass(frozen=True)
class Companion(DelayInfo):
    """A delay that is as long as another, also where that one's time is changed for a run."""

    source: str = ""

    @property
    def owner(self) -> str:
        return self.source


def add_delays(tangent: Tangent) -> Tangent:
    """The tangent with the sensitivities of delayed signals, their rates and shifts as far as they are needed."""
    system = tangent.system
    if not system.delays:
        return tangent
    flaws = FlawList()
    _check_actions(system, flaws)
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
    moved = [D - _unit(D.numel(), d.delay) * rates for D, d in zip(delayed, tangent.directions, strict=True)]
    tangent = dataclasses.replace(
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


def extend_delayed(tangent: Tangent) -> ca.SX:
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


def _needs_rates(tangent: Tangent) -> bool:
    return tangent.instant is not None or any(direction.delay is not None for direction in tangent.directions)


def _needs_start(tangent: Tangent, direction: Direction) -> bool:
    """Whether the delay whose time is the parameter carries jumps, from a start value that is not given."""
    k = direction.delay
    return k is not None and tangent.system.delays[k].before is None and can_jump(tangent.system)[k]


def _companion(info: DelayInfo, name: str, nominal: float = 1.0) -> Companion:
    return Companion(name, info.time, info.before, nominal, info.owner)


def _before(system: System) -> ca.SX:
    """The given values before the start, 0 where there is none."""
    return ca.vertcat(*(_given(system, info) for info in system.delays))


def _given(system: System, info: DelayInfo) -> ca.SX:
    names = [number.name for number in system.parameters]
    return ca.SX(0) if info.before is None else system.symbols.p[names.index(f"{info.owner}.before")]


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
        jumps = [a or b for a, b in zip(jumps, _depends(w, ca.vertcat(ca.SX(0, 1), *arriving)), strict=True)]
    return jumps


def _add_shifts(tangent: Tangent, flaws: FlawList) -> Tangent:
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
    return dataclasses.replace(tangent, shifts=tuple(shifts), delays=tuple(infos), extra=ca.vertcat(*symbols))


def more_numbers(tangent: Tangent) -> dict[str, Number]:
    """Times of the delays that have no name in the scenario."""
    own = [info for info in tangent.delays if not isinstance(info, Companion)]
    return {f"{info.owner}.time": Number(f"{info.owner}.time", info.time, "s") for info in own}


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


def _check_actions(system: System, flaws: FlawList) -> None:
    """An event that makes a delayed signal jump is refused: the jump arrives at a time that moves with p."""
    column = ca.vertcat(system.symbols.x, system.symbols.m)
    for guard in system.discrete.guards:
        changed = [column[i] for i in _changed(system, guard.action)] if guard.action else []
        if any(_depends(system.expressions.delayed, ca.vertcat(ca.SX(0, 1), *changed))):
            what = "makes a delayed signal jump, at a time that depends on parameters"
            flaws.add(f"events.{guard.name}", what, REMEDY)


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


def _unit(n: int, k: int | None) -> ca.SX:
    return ca.SX([1.0 if i == k else 0.0 for i in range(n)])
