"""robodyn circle: how round is a circle that a machine has followed, and how high are its quadrant peaks?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from robodyn.cli.answers import drawing
from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.targets import load_run


@app.command("circle")
def circle(
    runs: Annotated[list[str], typer.Argument(help="Run files; of two in opposite directions also the hysteresis.")],
    x: Annotated[str, typer.Option(help="Signal of the attained position.")] = "tool.position.x",
    y: Annotated[str, typer.Option(help="The other one.")] = "tool.position.y",
    radius: Annotated[str | None, typer.Option(help="Of the nominal circle; default: fitted, to 1 um.")] = None,
    centre: Annotated[str | None, typer.Option(help="Of the nominal circle, X,Y; default: fitted.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the polar plot into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Radial deviation, circular deviation and quadrant peaks of the last whole turn, as ISO 230-4 defines them."""
    from robodyn.analysis.accuracy.circle import measure_circle, measure_hysteresis

    middle = None if centre is None else _lengths("--centre", centre, 2)
    size = None if radius is None else _lengths("--radius", radius, 1)[0]
    where = None if middle is None else (middle[0], middle[1])
    names = [Path(path).stem for path in runs]
    tests = [
        measure_circle(load_run(path), x, y, radius=size, centre=where, name=name)
        for path, name in zip(runs, names, strict=True)
    ]
    hysteresis = measure_hysteresis(*tests) if len(tests) == 2 and tests[0].clockwise != tests[1].clockwise else None
    if plot is not None:
        from robodyn.presentation.reporting.circle import plot_circle

        with drawing(f"--plot {plot}"):
            plot_circle(tests, plot)
    if as_json:
        kept = [{key: v for key, v in asdict(test).items() if key not in ("angles", "deviation")} for test in tests]
        print_json({"standard": "ISO 230-4", "tests": kept, "hysteresis": hysteresis})
        return
    for test in tests:
        head = f"{test.name}: radius {1e3 * test.radius:.6g} mm, {60 * test.speed:.4g} m/min"
        output.print(f"{head}, {'clockwise' if test.clockwise else 'anticlockwise'}")
        output.print(
            f"  radial deviation F      {1e6 * test.lowest:+.4g} .. {1e6 * test.highest:+.4g} um", markup=False
        )
        output.print(f"  circular deviation G    {1e6 * test.circular:.4g} um")
        for peak in test.peaks:
            at = f"{57.29577951 * peak.reversal:.0f}"
            output.print(f"  quadrant peak at {at:>3} deg {1e6 * peak.height:+.4g} um")
    if hysteresis is not None:
        output.print(f"circular hysteresis H     {1e6 * hysteresis:.4g} um")


def _lengths(option: str, text: str, count: int) -> list[float]:
    from robodyn.base.units import UnitError
    from robodyn.description.files.units import read_quantity

    parts = text.split(",")
    try:
        if len(parts) != count:
            raise UnitError(f"must be {count} lengths with commas between them")
        return [read_quantity(part.strip(), "m", bare=True) for part in parts]
    except UnitError as error:
        raise fail(f"{option} {text}: {error}") from error
