"""Model of a session: which native code answers for a scenario, and which numbers need other code?

Tunable numbers are changed run by run. Others are constants of the code, which is made anew for them, and kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from robodyn.errors import Flaw, ModelError, nearest
from robodyn.model import Scenario, ScenarioSequence
from robodyn.results import Run
from robodyn.simulation import compile_system, simulate
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.readiness import make_ready
from robodyn.studio.mesh_store import MeshStore

from .source import Source

MOST_KEPT = 6
Say = Callable[[str], None]


@dataclass
class Model:
    """A scenario ready to run; a sequence is compiled phase by phase while it runs.

    Attributes:
        warnings: what `check` says of it.
        meshes: of its looks, read once.
    """

    what: Scenario | ScenarioSequence
    compiled: CompiledSystem | None
    warnings: tuple[str, ...]
    meshes: MeshStore = field(default_factory=MeshStore)

    @property
    def tunable(self) -> frozenset[str]:
        """Numbers that need no other code."""
        return frozenset(self.compiled.tunable) if self.compiled else frozenset()

    @property
    def signals(self) -> list[tuple[str, str]]:
        """Name and unit of all that runs record."""
        return [(info.name, info.unit) for info in self.compiled.recorded] if self.compiled else []

    def simulate(self, values: Mapping[str, float], progress: Any) -> Run:
        """A run with some tunable numbers changed."""
        return simulate(self.compiled or self.what, parameters=dict(values), progress=progress)


class ModelStore:
    """Models by text and by the numbers that are constants of their code; the last ones are kept for all sessions."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.kept: OrderedDict[Any, Model] = OrderedDict()
        self.lock, self.building = threading.Lock(), threading.Lock()

    def find(self, text: str | None, values: Mapping[str, float], say: Say) -> tuple[Model, dict[str, float]]:
        """The model that these numbers need, and those that it is run with.

        Raises:
            ModelError: with every problem of the scenario or the numbers.
        """
        base = self._get(text, {}, say)
        known = {*base.what.numbers(), *start_numbers(base.what)}
        flaws = [Flaw(name, "there is no such number", nearest(name, known)) for name in values if name not in known]
        if flaws:
            raise ModelError(flaws)
        fixed = {name: value for name, value in values.items() if name not in base.tunable}
        model = self._get(text, fixed, say) if fixed else base
        return model, {name: value for name, value in values.items() if name not in fixed}

    def _get(self, text: str | None, fixed: dict[str, float], say: Say) -> Model:
        key = text, frozenset(fixed.items())
        # Who needs the same model waits for it; who has one goes on.
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
                return self.kept[key]
        with self.building:
            if key not in self.kept:
                made = build_model(self.source.read(text), fixed, say)
                with self.lock:
                    self.kept[key] = made
                    while len(self.kept) > MOST_KEPT:
                        self.kept.popitem(last=False)
            return self.kept[key]


def build_model(what: Scenario | ScenarioSequence, fixed: Mapping[str, float], say: Say) -> Model:
    """Read, check as `check` does, and compile."""
    changed = what.with_numbers(fixed) if fixed else what
    say("assembling")
    if isinstance(changed, ScenarioSequence):
        return Model(changed, None, ())
    system, _ = make_ready(changed)
    say("compiling")
    return Model(changed, compile_system(system, on_compile=say), tuple(system.warnings))


def start_numbers(what: Scenario | ScenarioSequence) -> dict[str, tuple[float, str]]:
    """Start values as numbers: value and unit by `initial.STATE`."""
    if isinstance(what, ScenarioSequence):
        return {}
    starts = what.start_values
    return {f"initial.{name}": (starts.get(name, 0.0), unit) for name, unit in what.state_units().items()}
