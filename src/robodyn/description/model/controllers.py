"""Controllers of a machine: which of its continuous blocks close loops?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robodyn.description.model.block import Block
from robodyn.description.model.machine import Machine

CONTROL = tuple(f"robodyn.description.laws.{name}" for name in ("control", "model_based"))
"""Modules whose laws are controllers, whatever they read."""
MOTION = ""
"""Owner of signals that no block computes: positions, speeds, forces of the machine."""


def find_controllers(machine: Machine) -> list[Block]:
    """Continuous blocks at which a reference and the machine's motion meet first, and those with a controller's law.

    A reference is a block that reads nothing: a step, a spline, a table.
    """
    members: tuple[Any, ...] = (*machine.blocks, *machine.signals, *machine.delays)
    parts = {part.name: part for part in members}
    reads = {name: _read_by(part, parts) for name, part in parts.items()}
    meets: dict[str, bool] = {}
    for name in parts:
        upstream = _upstream(name, reads)
        referred = any(not reads[one] for one in upstream if one in reads)
        meets[name] = bool(reads[name]) and referred and MOTION in upstream
    controllers = []
    for block in machine.blocks:
        first = meets[block.name] and not any(meets.get(one) for one in _upstream(block.name, reads) - {block.name})
        known = getattr(block.function, "__module__", "") in CONTROL and MOTION in _upstream(block.name, reads)
        if not block.sampled and not block.info.disturbance and (first or known):
            controllers.append(block)
    return controllers


def has_loops(machine: Machine) -> bool:
    """Whether any block is sampled or a continuous controller."""
    return any(block.sampled for block in machine.blocks) or bool(find_controllers(machine))


def _read_by(part: Any, parts: Mapping[str, Any]) -> set[str]:
    """Names of the parts whose signals a part reads; `MOTION` where it reads the machine's own."""
    owners = set()
    for _, to, name in part.references():
        if to == "signal":
            pieces = str(name).split(".")
            longer = (".".join(pieces[:k]) for k in range(len(pieces), 0, -1))
            owners.add(next((owner for owner in longer if owner in parts and owner != part.name), MOTION))
    if isinstance(part, Block) and (part.on or part.takes_model):
        owners.add(MOTION)
    return owners


def _upstream(name: str, reads: Mapping[str, set[str]]) -> set[str]:
    """All parts that a part depends on, itself and `MOTION` included; the machine itself is not passed."""
    seen, waiting = {name}, [name]
    while waiting:
        fresh = reads.get(waiting.pop(), set()) - seen
        seen |= fresh
        waiting += fresh
    return seen
