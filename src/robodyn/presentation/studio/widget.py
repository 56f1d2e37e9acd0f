"""Notebook widget: what if this number were another? Sliders for a scenario, whose curves follow at once."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from robodyn.analysis.checked_run import simulate
from robodyn.base.errors import FlawList, ModelError, nearest
from robodyn.base.units import choose_unit, show_quantity
from robodyn.computation.results import Run
from robodyn.description.model import Scenario
from robodyn.presentation.pages.contents import thin_rows

MOST_POINTS = 1500
MOST_CURVES = 6
LEAST, MOST = 0.1, 2.0
"""Ends of a slider, as parts of the number as it is described."""


class ScenarioWidget(anywidget.AnyWidget):
    """Sliders and curves; `run` is the last run, `numbers` what has been changed."""

    _esm = (files("robodyn.presentation.studio") / "widget.js").read_text(encoding="utf-8")
    sliders = traitlets.List().tag(sync=True)
    numbers = traitlets.Dict().tag(sync=True)
    curves = traitlets.List().tag(sync=True)
    told = traitlets.Unicode().tag(sync=True)

    def __init__(self, scenario: Scenario, sliders: Sequence[dict[str, Any]], signals: Sequence[str]) -> None:
        super().__init__()
        self.scenario, self.patterns = scenario, tuple(signals)
        self.first = self.run = simulate(scenario)
        self.sliders = list(sliders)
        self._show()
        self.observe(self._follow, names="numbers")

    def __repr__(self) -> str:
        return f"<ScenarioWidget of {self.scenario.name}: {len(self.sliders)} sliders>"

    def _follow(self, _: Any) -> None:
        """Simulate with the numbers of the sliders; what the scenario refuses is told."""
        try:
            self.run = simulate(self.scenario.with_numbers(self.numbers))
        except ModelError as error:
            self.told = "; ".join(f"{flaw.path}: {flaw.what}" for flaw in error.flaws)
        else:
            self._show()

    def _show(self) -> None:
        names = [name for name in self.first.names if any(fnmatchcase(name, pattern) for pattern in self.patterns)]
        shown = names[:MOST_CURVES]
        # One unit for all curves that are measured alike: the script gives each unit axes of its own.
        largest: dict[str, float] = {}
        for name in shown:
            for run in (self.first, self.run):
                signal = run[name]
                largest[signal.unit] = max(largest.get(signal.unit, 0.0), signal.peak)
        curves = []
        for name in shown:
            unit = choose_unit(self.first[name].unit, largest[self.first[name].unit])
            before, now = (_thin(run, name, unit.size) for run in (self.first, self.run))
            curves.append({"name": name, "unit": unit.name, "before": before, "now": now})
        self.curves = curves
        self.told = f"{self.run.outcome.sentence}; simulated in {show_quantity(self.run.statistics.wall_time, 's', 3)}"


def explore(scenario: Scenario, numbers: Sequence[str], signals: Sequence[str] = ("*.position",)) -> ScenarioWidget:
    """A widget for a notebook: sliders for the numbers that match patterns, and the signals that follow from them.

    Raises:
        ModelError: for patterns that match nothing.
    """
    flaws, known = FlawList(), scenario.numbers()
    for pattern in numbers:
        if not any(fnmatchcase(name, pattern) for name in known):
            flaws.add("numbers", f"'{pattern}' matches no number", nearest(pattern, known))
    flaws.raise_if_any(f"widget of '{scenario.name}'")
    chosen = [number for name, number in known.items() if any(fnmatchcase(name, pattern) for pattern in numbers)]
    return ScenarioWidget(scenario, [_slider(number.name, number.value, number.unit) for number in chosen], signals)


def _slider(name: str, value: float, unit: str) -> dict[str, Any]:
    low, high = sorted((LEAST * value, MOST * value)) if value else (-1.0, 1.0)
    return {"name": name, "value": value, "unit": unit, "low": low, "high": high}


def _thin(run: Run, name: str, size: float) -> list[list[float]]:
    """Times [s] and values in a unit of this size, few enough to be sent at every move."""
    time, values = thin_rows(run.time, run[name].values[:, None] / size, MOST_POINTS)
    return [time.tolist(), values[:, 0].tolist()]
