"""SCARA study, its pictures: the paper's figures 2 to 7 redrawn, and what they do not show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from robodyn.computation.results import Run
from robodyn.presentation.reporting import plot_difference, plot_path, plot_signals
from robodyn.presentation.studies import Picture
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
            "the same method and step; targets of our own set of values",
            _draw(plot_path, lambda: motion("b", "euler", 4e-4), "tool"),
            "Figure 2: the tool's path from point to point in space, Euler at 0.4 ms, with a bend towards the end",
        ),
        Picture("b-joints", "Joint positions over time", _draw(plot_signals, lambda: motion("b"), POSITIONS)),
        *(
            Picture(
                f"b-methods-{1e3 * step:g}ms",
                f"Euler, Heun and the converged motion, step {1e3 * step:g} ms",
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
                "two ways to limit the currents: the state, as in MATLAB, or its use, as in the printed spreadsheet; "
                f"Euler at {1e3 * step:g} ms",
                _draw(plot_signals, partial(_limits, "b", "euler", step), POSITIONS, labels=LIMITS),
                f"Figure {figure}: joints over time in task b, Euler at {1e3 * step:g} ms; EXCEL and MATLAB {apart}",
            )
            for step, figure, apart in zip(STEPS[1:], (3, 4), ("coincide", "differ significantly"), strict=True)
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
            "the same, with an obstacle of our own",
            _draw(plot_path, lambda: motion("c"), "tool"),
            "Figure 7: the tool's path in task c; it overshoots the critical distance and returns",
        ),
        Picture(
            "c-joints",
            "Joint positions in the collision avoidance",
            _draw(plot_signals, lambda: motion("c"), POSITIONS),
        ),
        *(
            Picture(
                f"c-distance-{1e3 * step:g}ms",
                "tip along x and height of the tool, against the converged motion; the obstacle is 0.2 m high",
                _draw(
                    plot_signals,
                    partial(_avoiding, step),
                    NEAR,
                    labels=("Euler", "converged"),
                ),
                f"Figure {figure}: tip along x and distance to the obstacle in task c, Euler at {1e3 * step:g} ms; "
                f"EXCEL and MATLAB {apart}",
            )
            for step, figure, apart in zip(STEPS[1:], (5, 6), ("almost coincide", "differ"), strict=True)
        ),
    )
