"""Checks of varied numbers: do the descriptions that hold them accept them? Only these are asked, run after run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from robodyn.errors import FlawList
from robodyn.model import Block, Number, Scenario
from robodyn.model.numbers import check_finite
from robodyn.model.rules import check_rule

Check = Callable[[Mapping[str, float]], Any]
"""Raises a ModelError where a description does not accept its numbers with these changed."""


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
        parts += [*mechanism.bodies, *mechanism.joints, *mechanism.points] if mechanism else []
        checks: list[tuple[Any, Check]] = [(part, part.with_numbers) for part in parts]
        checks += [(block, partial(check_block, block)) for block in machine.blocks]
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


def check_block(block: Block, changes: Mapping[str, float]) -> None:
    """The rules a block's law states for its parameters; making the block anew would take longer than a short run."""
    values = {}
    for key, value in block.parameters.items():
        path = f"{block.name}.{key}"
        if isinstance(value, tuple):
            values[key] = np.array([changes.get(f"{path}.{k}", entry) for k, entry in enumerate(value)])
        else:
            values[key] = np.array([changes.get(path, value)])
    flaws = FlawList()
    for key, rule in block.info.checks.items():
        if key in values:
            check_rule(flaws, f"parameters.{key}", rule, values[key], values)
    flaws.raise_if_any(f"block '{block.name}'")
