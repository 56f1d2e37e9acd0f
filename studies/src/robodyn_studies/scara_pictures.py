"""SCARA study, its pictures: the paper's figures 2 to 7 redrawn, and what they do not show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from robodyn.reporting import plot_difference, plot_path, plot_signals
from robodyn.results import Run
from robodyn.studies import Picture
from robodyn_studies.scara_runs import METHODS, POSITIONS, STEPS, motion
from robodyn_studies.scara_spreadsheet import CASES, find_program, spreadsheet_runs

NEAR = ("tool.position.x", "lift.position")
LIMITS = ("limited where it is integrated", "limited where it is used")


def _draw(
    function: Callable[..., None], make: Callable[[], Any], *arguments: Any, **named: Any
) -> Callable[[Path], None]:
    return lambda path: function(make(), *arguments, path, **named)


def _methods(step: float) -> list[Run]:
    return [*(motion("b", method, step) for method in METHODS), motion("b")]


def _limits(task: str, method: str, step: float) -> list[Run]:
    return [motion(name, method, step) for name in (task, f"{task}, output limited")]


def _spreadsheet(case: tuple[str, str, float]) -> list[Run]:
    return list(spreadsheet_runs()[case])


def _avoiding(step: float) -> list[Run]:
    return [motion("c, sampled", "euler", step), motion("c")]


def pictures() -> tuple[Picture, ...]:
    """Each drawn when asked."""
    labels = ["Euler", "Heun", "converged"]
    return (
        Picture(
            "b-path",
            "Tool path of the point-to-point motion, Euler at 0.4 ms (figure 2)",
            _draw(plot_path, lambda: motion("b", "euler", 4e-4), "tool"),
        ),
        Picture("b-joints", "Joint positions over time", _draw(plot_signals, lambda: motion("b"), POSITIONS)),
        *(
            Picture(
                f"b-methods-{1e3 * step:g}ms",
                f"Euler, Heun and the converged motion, step {1e3 * step:g} ms (figures 3 and 4)",
                _draw(plot_signals, partial(_methods, step), POSITIONS, labels=labels),
            )
            for step in STEPS
        ),
        Picture(
            "b-errors",
            "Deviation from the converged motion, Euler and Heun at 1 ms",
            lambda path: plot_difference(_methods(1e-3)[:2], motion("b"), POSITIONS, path, labels=labels[:2]),
        ),
        *(
            Picture(
                f"b-limits-{1e3 * step:g}ms",
                f"Two ways to limit the currents, Euler at {1e3 * step:g} ms (figures 3 and 4, MATLAB and EXCEL)",
                _draw(plot_signals, partial(_limits, "b", "euler", step), POSITIONS, labels=LIMITS),
            )
            for step in STEPS[1:]
        ),
        *(
            Picture(
                f"{task}-spreadsheet-{method}-{1e3 * step:g}ms",
                f"Task {task}, Euler at {1e3 * step:g} ms: native, and recalculated by a spreadsheet program",
                _draw(
                    plot_signals,
                    partial(_spreadsheet, (task, method, step)),
                    POSITIONS,
                    labels=("native", "spreadsheet"),
                ),
            )
            for task, method, step in CASES
            if method == "euler" and find_program()
        ),
        Picture(
            "c-path",
            "Tool path of the collision avoidance, with the obstacle (figure 7)",
            _draw(plot_path, lambda: motion("c"), "tool"),
        ),
        Picture(
            "c-joints",
            "Joint positions in the collision avoidance",
            _draw(plot_signals, lambda: motion("c"), POSITIONS),
        ),
        *(
            Picture(
                f"c-distance-{1e3 * step:g}ms",
                f"Tip along x and height of the tool, Euler at {1e3 * step:g} ms against the converged one; "
                "the obstacle is 0.2 m high (figures 5 and 6)",
                _draw(
                    plot_signals,
                    partial(_avoiding, step),
                    NEAR,
                    labels=("Euler", "converged"),
                ),
            )
            for step in STEPS[1:]
        ),
    )
