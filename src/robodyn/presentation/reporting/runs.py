"""Runs of a plot: which are drawn, what is each called, and which time of them is shown?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robodyn.computation.results import Run

from .figures import COLOURS, LINE_STYLES, LINE_WIDTH

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

# From and to [s]; None is the beginning or the end of what was recorded.
Window = tuple[float | None, float | None]
Span = tuple[float, float]

_SOLVER_KEYS = ("method", "step", "rtol")
_MOST_PARAMETERS = 3
_THINNEST = 0.8


def as_runs(runs: Run | Sequence[Run]) -> tuple[Run, ...]:
    """One run or several as a tuple; as many as there are colours for."""
    runs = (runs,) if isinstance(runs, Run) else tuple(runs)
    if not 1 <= len(runs) <= len(COLOURS):
        raise ValueError(f"from 1 to {len(COLOURS)} runs can be drawn in one figure, not {len(runs)}")
    return runs


def shown_span(runs: Sequence[Run], window: Window | None) -> Span:
    """The shown time [s]: the window, open ends filled in from the runs; each run must have a part in it."""
    if any(run.time.size == 0 for run in runs):
        raise ValueError("a run without samples cannot be drawn")
    first, last = min(float(run.time[0]) for run in runs), max(float(run.time[-1]) for run in runs)
    start, end = (None, None) if window is None else window
    start, end = first if start is None else start, last if end is None else end
    if window is not None and not start < end:
        raise ValueError(f"the shown time must end after it starts, is from {start:g} s to {end:g} s")
    for run in runs:
        if run.time[0] > end or run.time[-1] < start:
            recorded = f"recorded from {run.time[0]:.9g} s to {run.time[-1]:.9g} s"
            raise ValueError(f"{run.provenance.scenario}: {recorded}, nothing from {start:g} s to {end:g} s")
    return start, end


def run_labels(runs: Sequence[Run], labels: Sequence[str] | None = None) -> tuple[str, ...]:
    """What each run is called: as given, or by scenario and whatever distinguishes runs of one scenario."""
    if labels is not None:
        if len(labels) != len(runs):
            raise ValueError(f"{len(labels)} labels for {len(runs)} runs")
        return tuple(labels)
    names = [run.provenance.scenario for run in runs]
    if len(set(names)) == len(names):
        return tuple(names)
    same = len(set(names)) == 1
    parts = zip(names, _settings(runs), _parameters(runs), strict=True)
    message = [", ".join(part for part in ("" if same else name, *rest) if part) for name, *rest in parts]
    return tuple(message) if len(set(message)) == len(message) else _numbered(names)


def run_lines(labels: Sequence[str]) -> list["Line2D"]:
    """Legend entries for runs: a colour and a line style each."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], label=label, **run_style(number)) for number, label in enumerate(labels)]


def run_style(number: int) -> dict[str, Any]:
    """Colour and line style of a run among several; the style helps where colour is not printed."""
    style = LINE_STYLES[number % len(LINE_STYLES)]
    # Later lines lie above earlier ones and are thinner: runs that agree are all seen.
    width = max(LINE_WIDTH + 0.8 - 0.3 * number, _THINNEST)
    return {"color": COLOURS[number], "linestyle": style, "linewidth": width}


def _settings(runs: Sequence[Run]) -> list[str]:
    """Of each run the solver settings that are not the same in all; a tolerance only where no step is given."""
    solvers = [run.provenance.solver for run in runs]
    keys = [key for key in _SOLVER_KEYS if len({str(solver.get(key)) for solver in solvers}) > 1]
    return [", ".join(_setting(solver, key) for key in keys if _counts(solver, key)) for solver in solvers]


def _counts(solver: dict[str, Any], key: str) -> bool:
    return solver.get(key) is not None and not (key == "rtol" and solver.get("step") is not None)


def _setting(solver: dict[str, Any], key: str) -> str:
    value = solver[key]
    return {"method": f"{value}", "step": f"step {value} s"}.get(key, f"{key} {value}")


def _parameters(runs: Sequence[Run]) -> list[str]:
    """Of each run the parameters that are not the same in all, while they are few."""
    tables = [run.provenance.parameters for run in runs]
    names = dict.fromkeys(name for table in tables for name in table)
    differing = [name for name in names if len({str(table.get(name)) for table in tables}) > 1]
    if len(differing) > _MOST_PARAMETERS:
        return ["" for _ in runs]
    return [", ".join(_parameter(name, table[name]) for name in differing if name in table) for table in tables]


def _parameter(name: str, entry: dict[str, Any]) -> str:
    return f"{name} = {entry['value']:.6g} {entry['unit']}".strip()


def _numbered(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name} ({number})" for number, name in enumerate(names, start=1))
