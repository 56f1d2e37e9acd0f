"""Signals at interfaces: what does a connection read there, and which of what comes in moves between exchanges?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from robodyn.computation.cosimulation.unit import InterfaceMotion
from robodyn.description.model import Interface

MEAN = "mean_force"
MOVING = ("force", "far_position", "far_velocity", "far_orientation", "far_force", "far_acceleration")
"""What comes in at an interface that may move in time between two exchanges."""


def port_signals(part: Interface) -> tuple[str, ...]:
    """Signals of an interface that a connection reads."""
    quantities = ["position", "velocity", "force"] + (["orientation"] if part.rotates else [])
    quantities += [] if part.takes == "force" else ["impulse"]
    if part.takes != "force" and not part.rigid:
        quantities += ["far_position", "far_velocity"] + (["far_orientation"] if part.rotates else [])
    work = () if part.takes == "motion" else (f"{part.name}.work",)
    return (*(name for quantity in quantities for name in part.names(quantity)), *work)


def moving_inputs(interfaces: Mapping[str, Interface]) -> list[str]:
    """What comes in that may move in time between two exchanges."""
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


def mean_forces(
    part: Interface, found: Mapping[str, float], impulse: Sequence[float], passed: float
) -> dict[str, float]:
    """Mean of an interface's force over the last macro step: what its impulse grew by, divided by the time passed.

    Args:
        found: signals now; impulse: at the beginning of the step; passed: since then [s].
    """
    if passed <= 0:
        return {mean: found[force] for mean, force in zip(part.names(MEAN), part.names("force"), strict=True)}
    impulses = zip(part.names(MEAN), part.names("impulse"), impulse, strict=True)
    return {mean: (found[now] - before) / passed for mean, now, before in impulses}


def far_states(part: Interface, motion: InterfaceMotion) -> dict[str, float]:
    """States of the far side behind an interface's stiffness: where it is, and no rotation since this exchange."""
    states = dict(zip(part.names("far_position"), motion.position, strict=True))
    states |= dict(zip(part.names("far_velocity"), motion.velocity, strict=True))
    return states | {f"{part.name}.far_turn.{row}": 0.0 for row in part.row_names[3:]}


@cache
def lower_triangle(n: int) -> tuple[np.ndarray, ...]:
    """Rows and columns of a symmetric matrix's entries as they are sent, row by row."""
    return np.tril_indices(n)
