"""Measured efforts: from which measured signals follow the forces that drives put on the joints?

A drive's force is a signal of the scenario, `elbow.drive.torque`. It is taken from the data by that name, or as
`elbow.effort`, or computed by the drive's own law where the data have all that it depends on, such as a current that is
a state, or another output of the drive, such as the current of a current source, of which it is a multiple.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from robodyn.analysis.identification.regressor import passive_blocks
from robodyn.assembly import System
from robodyn.errors import Flaw, ModelError
from robodyn.results import Run
from robodyn.results.signal import Floats
from robodyn.symbolic.tables import spell_out

PROBE, PROBES = 1e-2, 8
"""Size and number of random states at which a force is compared with another output of its drive."""
SAME = 1e-9


@dataclass(frozen=True)
class Effort:
    """The force on a joint or coordinate, and the data's signals that it is computed from."""

    on: str
    signals: tuple[str, ...]
    function: Any
    """Of these signals; None for the sum of them."""

    def of(self, data: Run) -> Floats:
        columns = [data[name].values for name in self.signals]
        if self.function is None:
            return np.sum(columns, axis=0)
        return np.array(self.function.map(len(columns[0]))(np.vstack(columns))).ravel()


def find_efforts(system: System, data: Run) -> list[Effort]:
    """Efforts of all drives that the data tell."""
    drives = drives_of(system)
    places = list(dict.fromkeys([*drives, *system.motion.coordinates]))
    found = [effort for place in places for effort in _effort(system, place, drives.get(place, []), data)]
    if not found:
        known = ", ".join(signal for signals in drives.values() for signal in signals) or "none of the model's drives"
        what = f"have no force of a drive: {known}"
        remedy = "name a column like one of them, or JOINT.effort, in a mapping"
        raise ModelError([Flaw("signals", what, remedy)], "measured data")
    return found


def drives_of(system: System) -> dict[str, list[str]]:
    """Joint or coordinate -> signals of forces that drives put on it."""
    passive = {block.name for block in passive_blocks(system.scenario)}
    found: dict[str, list[str]] = {}
    for on, signal in system.motion.forces:
        if signal.rpartition(".")[0] not in passive:
            found.setdefault(on, []).append(signal)
    return found


def _effort(system: System, place: str, signals: list[str], data: Run) -> Iterator[Effort]:
    if f"{place}.effort" in data:
        yield Effort(place, (f"{place}.effort",), None)
    elif signals and all(signal in data for signal in signals):
        yield Effort(place, tuple(signals), None)
    elif signals:
        outputs = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
        total = sum((outputs[signal] for signal in signals), ca.SX(0))
        names = _inputs_of(system, total)
        if names and all(name in data for name in names):
            yield Effort(place, tuple(names), _function(system, total, names))
        elif len(signals) == 1:
            yield from _by_output(system, place, signals[0], outputs, data)


def _by_output(system: System, place: str, force: str, outputs: Mapping[str, ca.SX], data: Run) -> Iterator[Effort]:
    """The force as a multiple of another measured output of its drive, such as the current."""
    owner = force.rpartition(".")[0]
    for name in (n for n in outputs if n.rpartition(".")[0] == owner and n != force and n in data):
        factor = _factor(system, outputs[force], outputs[name])
        if factor is not None:
            given = ca.SX.sym("given")
            yield Effort(place, (name,), ca.Function("effort", [given], [factor * given]))
            return


def _factor(system: System, force: ca.SX, other: ca.SX) -> float | None:
    """How many times one expression another is, whatever the state; None where that is no constant."""
    symbols = system.symbols
    pair = ca.substitute([force, other], [symbols.p], [ca.SX([number.value for number in system.parameters])])
    both = spell_out(ca.Function("pair", [symbols.t, symbols.x, symbols.d, symbols.m], pair))
    rng = np.random.default_rng(0)
    sizes = [column.numel() for column in (symbols.t, symbols.x, symbols.d, symbols.m)]
    found = np.array([[float(v) for v in both(*(rng.normal(0, PROBE, n) for n in sizes))] for _ in range(PROBES)])
    if not np.isfinite(found).all() or not np.any(found[:, 1]):
        return None
    factor = float(found[:, 0] @ found[:, 1] / (found[:, 1] @ found[:, 1]))
    left = np.abs(found[:, 0] - factor * found[:, 1]).max()
    return factor if factor and left <= SAME * np.abs(found[:, 0]).max() else None


def _columns(system: System) -> dict[str, ca.SX]:
    """States and memory by name."""
    states = [(info.name, system.symbols.x[k]) for k, info in enumerate(system.states)]
    memory = [(info.name, system.symbols.m[k]) for k, info in enumerate(system.memory)]
    return dict([*states, *memory])


def _inputs_of(system: System, total: ca.SX) -> list[str]:
    columns = _columns(system)
    table = ca.vertcat(*columns.values())
    depends = ca.which_depends(total, table, 1, False)
    return [name for name, used in zip(columns, depends, strict=True) if used]


def _function(system: System, total: ca.SX, names: list[str]) -> Any:
    columns = _columns(system)
    given = ca.SX.sym("given", len(names))
    old = ca.vertcat(*(columns[name] for name in names), system.symbols.p)
    new = ca.vertcat(given, ca.SX([number.value for number in system.parameters]))
    plain = ca.substitute([total], [old], [new])[0]
    return spell_out(ca.Function("effort", [given], [plain]))
