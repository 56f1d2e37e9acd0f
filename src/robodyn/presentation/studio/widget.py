"""Notebook widget: what if this number were another? Sliders for a scenario, whose curves follow at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import anywidget
import numpy as np
import traitlets

from robodyn.analysis.checked_run import simulate
from robodyn.base import FlawList, ModelError, find_unmatched, fits, nearest, show_quantity
from robodyn.computation.assembly import assemble
from robodyn.computation.results import Run
from robodyn.description.model import Scenario
from robodyn.presentation.pages.contents import thin_rows
from robodyn.presentation.pages.page import read_template

MOST_POINTS = 1500
MOST_CURVES = 8
LEAST, MOST = 0.1, 2.0
"""Ends of a slider, as parts of the number as it is described."""


SCRIPTS = ("units.js", "elements.js", "signals.js", "store.js", "chart.js", "panels.js", "numbers.js")
"""Of the pages: numbers and plots."""
STYLE = """
  background: var(--card); color: var(--text); padding: 0.6rem 0.9rem; border-radius: 8px;
  font: 14px/1.45 system-ui, sans-serif;
  & .rows { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 0 1.5rem; }
  & ul, & p, & h3 { margin: 0; padding: 0; }
"""


def _read_script() -> str:
    own = (files("robodyn.presentation.studio") / "widget.js").read_text(encoding="utf-8")
    return "\n".join([*(read_template(name) for name in SCRIPTS), own])


def _read_style() -> str:
    """Colours and components of the pages, for the widget alone: a notebook has a style of its own."""
    colours = read_template("colours.css").replace(":root", ".robodyn-widget")
    return f"{colours}.robodyn-widget {{{STYLE}{read_template('components.css')}}}\n"


class ScenarioWidget(anywidget.AnyWidget):
    """Sliders and curves; `run` is the last run, `numbers` what has been changed."""

    _esm, _css = _read_script(), _read_style()
    sliders = traitlets.List().tag(sync=True)
    numbers = traitlets.Dict().tag(sync=True)
    runs = traitlets.List().tag(sync=True)
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
        names = [name for name in self.first.names if fits(name, self.patterns)]
        # The run as it is now, and before it the one as described where they differ.
        shown = [("now", self.run)] + ([] if self.run is self.first else [("as described", self.first)])
        self.runs = [_describe(label, run, names[:MOST_CURVES]) for label, run in shown]
        self.told = f"{self.run.outcome.sentence}; simulated in {show_quantity(self.run.statistics.wall_time, 's', 3)}"


def explore(scenario: Scenario, numbers: Sequence[str], signals: Sequence[str] = ("*.position",)) -> ScenarioWidget:
    """A widget for a notebook: sliders for the numbers that match patterns, and the signals that follow from them.

    Raises:
        ModelError: for patterns that match nothing.
    """
    # Units that follow from the joints that blocks act on are known once it is assembled.
    flaws, known = FlawList(), assemble(scenario).numbers
    for pattern in find_unmatched(numbers, known):
        flaws.add("numbers", f"'{pattern}' matches no number", nearest(pattern, known))
    flaws.raise_if_any(f"widget of '{scenario.name}'")
    sliders = []
    for number in (number for name, number in known.items() if fits(name, numbers)):
        ends = sorted((LEAST * number.value, MOST * number.value)) if number.value else [-1.0, 1.0]
        sliders.append({"name": number.name, "value": number.value, "unit": number.unit, "range": ends})
    return ScenarioWidget(scenario, sliders, signals)


def _describe(label: str, run: Run, names: Sequence[str]) -> dict[str, Any]:
    """A run's curves, few enough points to be sent at every move; what is not finite is None, which JSON knows."""
    columns = np.column_stack([run[name].values for name in names]) if names else np.empty((run.time.size, 0))
    time, values = thin_rows(run.time, columns, MOST_POINTS)
    signals: list[dict[str, Any]] = []
    for name, column in zip(names, values.T, strict=True):
        finite = [value if math.isfinite(value) else None for value in column.tolist()]
        signals.append({"name": name, "unit": run[name].unit, "values": finite})
    return {"label": label, "time": time.tolist(), "signals": signals}
