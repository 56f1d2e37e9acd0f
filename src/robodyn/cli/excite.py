"""robodyn excite: which motion tells most of a machine's masses, inertias and friction?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.atomic import write_file
from robodyn.cli.answers import answer, writing
from robodyn.cli.application import app, fail, messages
from robodyn.cli.targets import load_single, read_data, read_pairs, refuse_ending

if TYPE_CHECKING:
    from robodyn.analysis.identification.excitation import Excitation
    from robodyn.analysis.identification.motions import AxisSeries, AxisSpline
    from robodyn.analysis.identification.suggestions import Suggestion


@app.command("excite")
def design(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    frequency: Annotated[float, typer.Option(help="Of the motion [Hz]: one over its period.")] = 0.1,
    harmonics: Annotated[int, typer.Option(help="Of the series; a spline has as many free numbers.")] = 5,
    motion: Annotated[str, typer.Option(help="fourier (series) or spline (cubic).")] = "fourier",
    criterion: Annotated[str, typer.Option(help="D (volume of the intervals) or A (sum of variances).")] = "D",
    noise: Annotated[float, typer.Option(help="Of measured efforts, by their limit or greatest value.")] = 0.02,
    limit: Annotated[
        list[str] | None, typer.Option(help="JOINT.speed_limit=2, .lower_limit, .upper_limit, .effort_limit ... in SI.")
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(help='Bound of a signal: "tool.position.z>=0.1", "tool.position.x<=800 mm".'),
    ] = None,
    measured: Annotated[
        list[Path] | None, typer.Option(help="Recording that there is: what does it not tell, and which motion would?")
    ] = None,
    mapping: Annotated[Path | None, typer.Option("--map", help="TOML: which of its columns is which signal.")] = None,
    seed: Annotated[int, typer.Option(help="Of the motion the search begins with.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the motion (.csv, 1 kHz) or its blocks (.toml).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Design a motion of all joints that tells most of the base parameters within the limits."""
    from robodyn.analysis.identification.excitation import design_excitation

    refuse_ending("--out", out, ".csv", ".toml")
    if mapping is not None and not measured:
        raise fail("--map: has no effect without --measured")
    settings: dict[str, Any] = {"frequency": frequency, "harmonics": harmonics, "criterion": criterion, "noise": noise}
    limits = read_pairs("limit", limit or [], lambda _, text: float(text), "name=value, a number in SI")
    settings |= {"limits": limits, "within": within or [], "motion": motion, "seed": seed}
    runs = [read_data(path, mapping) for path in measured or []]
    found = design_excitation(load_single(scenario), measured=runs, **settings)
    answer(as_json, found.as_plain, lambda: _describe(found, bool(runs)))
    if out is not None:
        _write(found, out)


def _describe(found: Excitation, measured: bool) -> str:
    spline = found.family.kind == "spline"
    lines = [f"{'joint':<16} points" if spline else f"{'joint':<16} {'offset':>9}  sines; cosines"]
    lines += [f"{axis.joint:<16} {_numbers(axis)}" for axis in found.axes]
    before, after = found.information
    lines += ["", f"log det of the information: {before:.2f} of a random motion -> {after:.2f}"]
    lines.append("used of limits: " + ", ".join(f"{name} {100 * use:.0f} %" for name, use in found.use.items()))
    lines += [f"within {text}: {value:.4g} at the nearest" for text, value in found.workspace.items()]
    if measured:
        lines += [f"hardly told even with this motion: {name}" for name in found.hardly_told]
    by = "the measured motions" if measured else "this motion"
    lines += [f"hardly told by {by}: {s.number}: {_would_tell(s, measured)}" for s in found.suggestions]
    return "\n".join(lines)


def _would_tell(s: Suggestion, measured: bool) -> str:
    if s.joints:
        told = "" if s.then is None else f" to {100 * s.then:.0f} %"
        return f"{' and '.join(s.joints)} moving alone would tell it{told}"
    longer = "" if measured or s.deviation is None else f"; {math.ceil(s.deviation**2)} periods or less noise would"
    return f"no period of one or two joints moving alone would tell it{longer}"


def _numbers(axis: AxisSeries | AxisSpline) -> str:
    from robodyn.analysis.identification.motions import AxisSpline

    if isinstance(axis, AxisSpline):
        return "  ".join(f"{value:+.4f}" for value in axis.points)
    series = ["  ".join(f"{value:+.4f}" for value in part) for part in (axis.sines, axis.cosines)]
    return f"{axis.offset:>9.4f}  {series[0]};  {series[1]}"


def _block(axis: AxisSeries | AxisSpline, frequency: float) -> str:
    """A block of a scenario's file."""
    from robodyn.analysis.identification.motions import AxisSpline

    if isinstance(axis, AxisSpline):
        law = "spline_reference"
        numbers: dict[str, Any] = {"times": list(axis.times), "points": list(axis.points)}
    else:
        law = "multisine_reference"
        numbers = {"sines": list(axis.sines), "cosines": list(axis.cosines)}
        numbers |= {"frequency": frequency, "offset": axis.offset}
    lines = [
        f'[blocks."{axis.joint}.reference"]',
        f'law = "{law}"',
        "",
        f'[blocks."{axis.joint}.reference".parameters]',
    ]
    return "\n".join([*lines, *(f"{key} = {value}" for key, value in numbers.items()), ""])


def _write(found: Excitation, out: Path) -> None:
    import numpy as np

    time = np.arange(round(1000 / found.frequency) + 1) / 1000
    if out.suffix == ".csv":
        kinds = ("position", "velocity", "acceleration")
        names = ["time [s]", *(f"{axis.joint}.{kind}" for kind in kinds for axis in found.axes)]
        rows = np.column_stack([time, *found.at(time)])
        text = "\n".join([",".join(names), *(",".join(f"{value:.9g}" for value in row) for row in rows)])
    else:
        text = "\n".join(_block(axis, found.frequency) for axis in found.axes)
    with writing(f"--out {out}"):
        write_file(out, text + "\n")
    messages.print(f"{out}")
