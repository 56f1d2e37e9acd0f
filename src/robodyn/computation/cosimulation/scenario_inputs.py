"""Inputs of a scenario as a unit: how does it take what moves between two exchanges, and what does a connection read?

    u(t) = c0 + c1 s + c2 s^2,    s = t - t_exchange

The coefficients are tunable numbers of the traced system, so that an exchange changes numbers and nothing else. Of a
number that does not move by itself there is c0 alone (zero-order hold).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import casadi as ca

from robodyn.base import FlawList, nearest
from robodyn.computation.assembly import System
from robodyn.description.model import Interface, Number

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
    """The system, in which tunable numbers are polynomials of time; their higher coefficients are 0."""
    flaws = FlawList()
    # Numbers that decide when something happens are read before the run, and cannot change in it.
    fixed = {name for rule in system.discrete.breaks for name in rule.names}
    fixed |= {f"{delay.owner}.{key}" for delay in system.delays for key in ("time", "before")}
    for name in names:
        if name not in system.places:
            flaws.add(f"inputs.{name}", "is not a tunable number", nearest(name, system.places))
        elif name in fixed:
            flaws.add(
                f"inputs.{name}",
                "sets when something happens: it cannot change during the run",
                "choose another number",
            )
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")
    if not names:
        return system
    # Each number p becomes p + tau (rate + tau curvature), tau the time since the last exchange.
    begin, step = ca.SX.sym(EXCHANGE), ca.SX.sym(STEP)
    passed = system.symbols.t - begin
    old, new, added, numbers = [], [], [begin, step], [Number(EXCHANGE, 0.0, "s"), Number(STEP, 0.0, "s")]
    for name in names:
        place = system.places[name]
        symbol = system.symbols.p[place]
        rate, curvature = (ca.SX.sym(key) for key in coefficient_names(name)[1:])
        old.append(symbol)
        new.append(symbol + passed * (rate + passed * curvature))
        added += [rate, curvature]
        unit = system.parameters[place].unit
        numbers += [Number(key, 0.0, unit) for key in coefficient_names(name)[1:]]
    # Everything that is computed from the numbers is computed from the polynomials.
    columns = system.expressions.columns()
    acting = [port.acting for port in system.motion.ports]
    fresh = ca.substitute([*columns.values(), system.motion.loads, *acting], old, new)
    n = len(columns)
    ports = [replace(port, acting=force) for port, force in zip(system.motion.ports, fresh[n + 1 :], strict=True)]
    return replace(
        system,
        expressions=system.expressions.with_columns(dict(zip(columns, fresh[:n], strict=True))),
        motion=replace(system.motion, loads=fresh[n], ports=tuple(ports)),
        symbols=system.symbols._replace(p=ca.vertcat(system.symbols.p, *added)),
        parameters=(*system.parameters, *numbers),
        numbers={**system.numbers, **{number.name: number for number in numbers}},
    )


MEAN = "mean_force"
MOVING = ("force", "far_position", "far_velocity", "far_orientation", "far_force", "far_acceleration")
"""Inputs of an interface that may move in time between two exchanges."""


def port_signals(part: Interface) -> tuple[str, ...]:
    """Signals of an interface that a connection reads."""
    quantities = ["position", "velocity", "force"] + (["orientation"] if part.rotates else [])
    quantities += [] if part.takes == "force" else ["impulse"]
    if part.takes != "force" and not part.rigid:
        quantities += ["far_position", "far_velocity"] + (["far_orientation"] if part.rotates else [])
    work = () if part.takes == "motion" else (f"{part.name}.work",)
    return (*(name for quantity in quantities for name in part.names(quantity)), *work)


def moving_inputs(interfaces: Mapping[str, Interface]) -> list[str]:
    """The inputs of interfaces that may move in time between two exchanges."""
    coming = [name for part in interfaces.values() for name in part.incoming]
    return [name for name in coming if _quantity(name, interfaces) in MOVING]


def _quantity(name: str, interfaces: Mapping[str, Interface]) -> str:
    """Which quantity of its interface a number is."""
    owner = max((key for key in interfaces if name.startswith(f"{key}.")), key=len)
    return name.removeprefix(f"{owner}.").partition(".")[0]


def mean_units(giving: Sequence[Interface], units: Mapping[str, str]) -> dict[str, str]:
    """Units of the mean forces over the last macro step, of interfaces that have the coupling on this side.

    Args:
        units: of all signals.
    """
    return {
        mean: units[force] for part in giving for mean, force in zip(part.names(MEAN), part.names("force"), strict=True)
    }


def expected_outputs(part: Interface) -> list[str]:
    """Outputs that say what an interface takes the motion of the other side for."""
    far = "" if part.stiffness is None else "far_"
    names = [*part.names(f"{far}position"), *part.names(f"{far}velocity")]
    return [*names, *(part.names(f"{far}orientation") if part.rotates else ())]


def far_states(part: Interface) -> list[str]:
    """States of the far side behind an interface's stiffness: position, velocity, rotation since the exchange."""
    return [*part.names("far_position"), *part.names("far_velocity"), *far_turns(part)]


def far_turns(part: Interface) -> list[str]:
    """The rotations among these states."""
    return [f"{part.name}.far_turn.{row}" for row in part.row_names[3:]]
