"""Parameters of inverse dynamics: in which numbers of a machine are its joint forces linear?

Of a body they are mass m, first moments h = m c and the inertia L about the origin of its frame,

    L = I + m (c.c 1 - c c^T)

of a rotor its inertia, of a law those of its numbers by which its force has no second derivative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from robodyn.computation.results.signal import Floats
from robodyn.description.model import Body, Scenario
from robodyn.description.model.body import TENSOR, tensor_of

MOMENTS = ("hx", "hy", "hz")
OF_BODY = ("mass", *MOMENTS, *(f"L{key}" for key in TENSOR))
"""What a body's ten parameters are called behind its name."""
NON_NEGATIVE = ("mass", "Lxx", "Lyy", "Lzz")
UNITS = ("kg", *("kg m",) * 3, *("kg m^2",) * 6)
TESTS = 8
LINEAR = 1e-9
"""Second derivative, by the first one's size, that is none."""


@dataclass(frozen=True)
class Parameter:
    """One number in which joint forces are linear.

    Attributes:
        given: its value by the scenario; number: the scenario's own number where it is one, "" for a body's parameters.
        non_negative: whether a negative value could not be.
    """

    name: str
    unit: str
    given: float
    number: str = ""
    body: str = ""
    non_negative: bool = False


def body_parameters(body: Body) -> list[Parameter]:
    """The ten of one body."""
    values = standard_values(body.mass, np.array(body.com), tensor_of(body.inertia))
    return [
        Parameter(f"{body.name}.{key}", unit, float(value), body=body.name, non_negative=key in NON_NEGATIVE)
        for key, unit, value in zip(OF_BODY, UNITS, values, strict=True)
    ]


def standard_values(mass: float, com: Floats, tensor: Floats) -> Floats:
    """(m, h, L) of mass, centre of mass and inertia about it, (10,)."""
    about_origin = tensor + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return np.concatenate([[mass], mass * com, entries_of(about_origin)])


def entries_of(tensor: Floats) -> Floats:
    """xx, yy, zz, xy, xz, yz."""
    return np.array([tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]])


def body_numbers(body: str, values: Floats) -> dict[str, float]:
    """The scenario's numbers of a body from its ten parameters."""
    mass, h = float(values[0]), values[1:4]
    com = h / mass
    tensor = tensor_of(values[4:].tolist()) - mass * (com @ com * np.eye(3) - np.outer(com, com))
    found = {f"{body}.mass": mass} | {f"{body}.com.{axis}": float(c) for axis, c in zip("xyz", com, strict=True)}
    return found | {f"{body}.inertia.{key}": float(e) for key, e in zip(TENSOR, entries_of(tensor), strict=True)}


def linear_numbers(
    force: Any, symbols: Mapping[str, Any], given: Mapping[str, float], moving: Sequence[Any]
) -> list[str]:
    """Names of numbers by which a force is linear, all of them together; those without effect are left out.

    Looked at where they are somewhat off their values, at random motions.
    """
    names = list(symbols)
    if not names:
        return []
    p, rest = ca.vertcat(*symbols.values()), ca.vertcat(*moving)
    gradient = ca.jacobian(ca.SX(force), p)
    curvature = ca.Function("h", [p, rest], [gradient, ca.densify(ca.jacobian(gradient, p))])
    rng = np.random.default_rng(1)
    values = np.array([given[name] for name in names])
    bent, slopes = np.zeros((len(names), len(names))), np.zeros(len(names))
    for test in range(TESTS):
        at = values * rng.uniform(0.5, 1.5, len(names)) + 1e-3 * rng.random(len(names))
        # Slow motions too: the Stribeck effect is none else.
        slope, second = (np.array(part) for part in curvature(at, rng.normal(0, 10.0 ** -(test % 4), rest.numel())))
        slopes = np.maximum(slopes, np.abs(np.nan_to_num(slope).ravel()))
        bent = np.maximum(bent, np.abs(np.nan_to_num(second)) * np.maximum(np.abs(at), 1e-3))
    kept: list[int] = []
    effects = slopes * np.abs([given[name] or 1.0 for name in names])
    for k in range(len(names)):
        size = LINEAR * max(slopes[k], 1e-300)
        if effects[k] > LINEAR * effects.max() and bent[k, k] <= size and all(bent[k, j] <= size for j in kept):
            kept.append(k)
    return [names[k] for k in kept]


def massive_bodies(scenario: Scenario) -> list[Body]:
    """Bodies whose mass the scenario gives; massless ones stay so."""
    mechanism = scenario.machine.mechanism
    return [body for body in (mechanism.bodies if mechanism else ()) if isinstance(body, Body) and body.mass > 0]
