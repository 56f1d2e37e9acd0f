"""Checks of varied numbers: do the descriptions that hold them accept them? Only these are asked, run after run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from robodyn.errors import FlawList, ModelError
from robodyn.model import Block, Number, Scenario
from robodyn.model.numbers import check_finite
from robodyn.model.rules import check_rule

Check = Callable[[Mapping[str, Any]], Any]
"""Raises a ModelError where a description does not accept its numbers with these changed."""

PERIOD = "period"
"""Of sampled blocks, which rules of frequencies read without naming it."""


@runtime_checkable
class Numbered(Protocol):
    """A description that holds numbers."""

    def numbers(self) -> Iterable[Number]:
        """All of them, by name."""

    def with_numbers(self, changes: Mapping[str, float]) -> Any:
        """The same with some changed."""


class Checks:
    """The checks of all descriptions of a scenario, found by the numbers they hold."""

    def __init__(self, scenario: Scenario) -> None:
        machine, mechanism, self.scenario = scenario.machine, scenario.machine.mechanism, scenario.name
        parts: list[Any] = [*machine.coordinates, *machine.delays, *machine.loads, *machine.constraints]
        parts += [*machine.contacts, *machine.interfaces, *scenario.events]
        parts += [*mechanism.bodies, *mechanism.points] if mechanism else []
        # Joints that follow others are checked together with these, by the whole scenario.
        parts += mechanism.joints if mechanism and not any(joint.mimic for joint in mechanism.joints) else ()
        checks: list[tuple[Any, Check]] = [(part, part.with_numbers) for part in parts]
        checks += [(block, BlockCheck(block)) for block in machine.blocks]
        self.scalars = {
            f"{block.name}.{key}"
            for block in machine.blocks
            for key, value in block.parameters.items()
            if not isinstance(value, tuple)
        }
        self.place = {number.name: k for k, (part, _) in enumerate(checks) for number in part.numbers()}
        self.checks = [check for _, check in checks]

    def __call__(self, changes: Mapping[str, float]) -> None:
        """Ask every description whose numbers change."""
        own: dict[int, dict[str, float]] = {}
        flaws = FlawList()
        for name, value in changes.items():
            check_finite(flaws, name, value, infinite=True)
            if name in self.place:
                own.setdefault(self.place[name], {})[name] = value
        flaws.raise_if_any(f"scenario '{self.scenario}'")
        for k, changed in own.items():
            self.checks[k](changed)

    def screen(self, columns: Mapping[str, np.ndarray]) -> list[str]:
        """Numbers whose values in many runs, (n_runs,) each, are not known to be accepted in all of them.

        The laws of blocks look at all runs at once: what they accept so, they accept in each.
        """
        own: dict[int, dict[str, np.ndarray]] = {}
        for name, values in columns.items():
            if name in self.place:
                own.setdefault(self.place[name], {})[name] = values
        return [name for k, changed in own.items() if not self._accepts(k, changed) for name in changed]

    def _accepts(self, k: int, columns: Mapping[str, np.ndarray]) -> bool:
        if not columns.keys() <= self.scalars:
            return False
        flaws = FlawList()
        for name, values in columns.items():
            check_finite(flaws, name, float(np.abs(values).max()), infinite=True)
        try:
            self.checks[k](columns)
        except ModelError:
            return False
        return not flaws.found


class BlockCheck:
    """The rules a block's law states for its parameters; making the block anew would take longer than a short run."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.chosen: dict[tuple[str, ...], tuple[dict[str, str], list[str]]] = {}

    def __call__(self, changes: Mapping[str, Any]) -> None:
        names = tuple(changes)
        if names not in self.chosen:
            self.chosen[names] = self._choose(names)
        rules, needed = self.chosen[names]
        values = {key: _value(self.block, key, changes) for key in needed}
        flaws = FlawList()
        for key, rule in rules.items():
            check_rule(flaws, f"parameters.{key}", rule, values[key], values)
        flaws.raise_if_any(f"block '{self.block.name}'")

    def _choose(self, names: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
        """The rules of numbers that change and of those that are compared with them, and what these rules read."""
        block = self.block
        changed = {name[len(block.name) + 1 :].partition(".")[0] for name in names}
        rules, read = {}, {PERIOD}
        for key, rule in block.info.checks.items():
            compared = {key, *rule.replace(",", "").split()}
            if key in block.parameters and (PERIOD in changed or not changed.isdisjoint(compared)):
                rules[key] = rule
                read |= compared
        return rules, [key for key in block.parameters if key in read]


def _value(block: Block, key: str, changes: Mapping[str, Any]) -> np.ndarray:
    path, value = f"{block.name}.{key}", block.parameters[key]
    if isinstance(value, tuple):
        return np.array([changes.get(f"{path}.{k}", entry) for k, entry in enumerate(value)])
    return np.atleast_1d(np.asarray(changes.get(path, value), float))
