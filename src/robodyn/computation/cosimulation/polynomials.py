"""Polynomial inputs: how does a system take inputs that move between two exchanges? With tunable coefficients.

u(t) = c0 + c1 s + c2 s^2,    s = t - t_exchange
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca

from robodyn.base.errors import FlawList, nearest
from robodyn.computation.assembly import System
from robodyn.description.model import Number

EXCHANGE, STEP = "exchange.time", "exchange.step"
HIGHEST_ORDER = 2


def coefficient_names(name: str) -> tuple[str, ...]:
    """Tunable numbers of an input: c0 has the input's own name."""
    return (name, *(f"{name}.order{k}" for k in range(1, HIGHEST_ORDER + 1)))


@cache
def all_coefficients(names: tuple[str, ...]) -> tuple[str, ...]:
    """c0 of all numbers, then c1 of all, ..."""
    return tuple(key for keys in zip(*map(coefficient_names, names), strict=True) for key in keys)


def with_polynomials(system: System, names: Sequence[str]) -> System:
    """The same system, in which tunable numbers are polynomials of time; their higher coefficients are 0."""
    _check(system, names)
    if not names:
        return system
    place = {number.name: k for k, number in enumerate(system.parameters)}
    begin, step = ca.SX.sym(EXCHANGE), ca.SX.sym(STEP)
    passed = system.symbols.t - begin
    old, new, added, numbers = [], [], [begin, step], [Number(EXCHANGE, 0.0, "s"), Number(STEP, 0.0, "s")]
    for name in names:
        symbol = system.symbols.p[place[name]]
        rate, curvature = (ca.SX.sym(key) for key in coefficient_names(name)[1:])
        old.append(symbol)
        new.append(symbol + passed * (rate + passed * curvature))
        added += [rate, curvature]
        unit = system.parameters[place[name]].unit
        numbers += [Number(key, 0.0, unit) for key in coefficient_names(name)[1:]]
    return _substitute(system, (old, new), added, numbers)


def _substitute(system: System, change: tuple[list[ca.SX], list[ca.SX]], added: list[ca.SX], numbers: Any) -> System:
    own = system.expressions.columns()
    fresh = ca.substitute([*own.values(), system.motion.loads, *(port.acting for port in system.motion.ports)], *change)
    n = len(own)
    acting = [replace(port, acting=force) for port, force in zip(system.motion.ports, fresh[n + 1 :], strict=True)]
    return replace(
        system,
        expressions=system.expressions.with_columns(dict(zip(own, fresh[:n], strict=True))),
        motion=replace(system.motion, loads=fresh[n], ports=tuple(acting)),
        symbols=system.symbols._replace(p=ca.vertcat(system.symbols.p, *added)),
        parameters=(*system.parameters, *numbers),
        numbers={**system.numbers, **{number.name: number for number in numbers}},
    )


def _check(system: System, names: Sequence[str]) -> None:
    flaws = FlawList()
    tunable = [number.name for number in system.parameters]
    fixed = {value for rule in system.discrete.breaks for entry in rule.parameters.values() for value in _names(entry)}
    fixed |= {f"{delay.owner}.{key}" for delay in system.delays for key in ("time", "before")}
    for name in names:
        if name not in tunable:
            flaws.add(f"inputs.{name}", "is no tunable number", nearest(name, tunable))
        elif name in fixed:
            flaws.add(
                f"inputs.{name}", "says when something happens: it cannot change on the way", "take another number"
            )
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")


def _names(entry: Any) -> tuple[str, ...]:
    return entry if isinstance(entry, tuple) else (entry,)
