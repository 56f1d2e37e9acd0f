"""Limits of the workspace: which signals of a machine must stay above or below a value while it moves?

Symbols: h(q, v) what is kept positive, such as `tool.position.z` - 0.1, by the width over which it varies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.symbolic.tables import spell_out
from robodyn.base.units import UnitError
from robodyn.computation.assembly import System
from robodyn.computation.results.signal import Floats
from robodyn.description.files.units import read_quantity

KINEMATIC = ("m", "rad", "m/s", "rad/s")
"""Units of what follows from a motion: accelerations and forces of a run would be those of its drives."""
BOUND = re.compile(r"\s*([^<>=\s]+)\s*(>=|<=)\s*([^<>=]+?)\s*")


@dataclass(frozen=True, eq=False)
class Workspace:
    """Bounds as texts, their signs (1 for >=), values, units, and the signals by (q, v), one column."""

    texts: tuple[str, ...]
    signs: Floats
    values: Floats
    units: tuple[str, ...]
    function: ca.Function

    def signals(self, q: Floats, v: Floats) -> Floats:
        """Along a motion, (n_times, bounds)."""
        if not self.texts:
            return np.zeros((len(q), 0))
        return np.array(self.function.map(len(q))(q.T, v.T)).T

    def margins(self, q: Floats, v: Floats) -> Floats:
        """How far each bound is kept, (n_times, bounds): negative where it is not."""
        return self.signs * (self.signals(q, v) - self.values)


def read_workspace(system: System, texts: Sequence[str]) -> Workspace:
    """Bounds such as `tool.position.z>=0.1` or `tool.position.x<=800 mm` on positions and velocities.

    Args:
        system: the mechanism alone.
    """
    units = {info.name: info.unit for info in system.signals if info.unit in KINEMATIC and _follows(system, info.name)}
    flaws = FlawList()
    found = [bound for text in texts for bound in _read(flaws, text, units)]
    flaws.raise_if_any("excitation")
    names = [name for name, _, _ in found]
    signs, values = np.array([sign for _, sign, _ in found]), np.array([value for _, _, value in found])
    own = tuple(units[name] for name in names)
    return Workspace(tuple(text.strip() for text in texts), signs, values, own, _function(system, names))


def _read(flaws: FlawList, text: str, units: dict[str, str]) -> Iterator[tuple[str, float, float]]:
    """Signal, sign and value of a bound."""
    match = BOUND.fullmatch(text)
    if match is None:
        flaws.add(f"within {text}", "must be written as SIGNAL>=VALUE or SIGNAL<=VALUE", '"tool.position.z>=0.1"')
    elif match[1] not in units:
        what = f"'{match[1]}' is no position or velocity of a point, joint or coordinate"
        flaws.add(f"within {text}", what, nearest(match[1], units))
    else:
        try:
            yield match[1], 1.0 if match[2] == ">=" else -1.0, read_quantity(match[3], units[match[1]], bare=True)
        except UnitError as error:
            flaws.add(f"within {text}", str(error))


def _place(system: System, name: str) -> ca.SX:
    return system.expressions.outputs[system.signal_names.index(name)]


def _follows(system: System, name: str) -> bool:
    """Whether a signal depends on q, and on v where that is a state, alone."""
    own = system.symbols
    moving = system.n_q if system.motion.momenta else system.n_q + system.n_v
    others = ca.vertcat(own.t, own.x[moving:], own.d, own.m)
    return not ca.depends_on(_place(system, name), others)


def _function(system: System, names: Sequence[str]) -> ca.Function:
    own = system.symbols
    column = ca.vertcat(ca.SX(0, 1), *(_place(system, name) for name in names))
    numbers = ca.SX([number.value for number in system.parameters])
    column = ca.substitute(column, own.p, numbers) if names else column
    q, v = own.x[: system.n_q], ca.SX(own.x[system.n_q : system.n_q + system.n_v])
    return spell_out(ca.Function("workspace", [q, v], [ca.densify(column)]))
