"""robodyn excite: which motion tells most of a machine's masses, inertias and friction?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.application import app, fail, messages, output, print_json
from robodyn.cli.targets import load_single, read_pairs
from robodyn.errors import Flaw, ModelError

if TYPE_CHECKING:
    from robodyn.analysis.identification.excitation import AxisSeries, Excitation


@app.command("excite")
def design(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    frequency: Annotated[float, typer.Option(help="Of the Fourier series [Hz]: one over the period.")] = 0.1,
    harmonics: Annotated[int, typer.Option(help="Of the series.")] = 5,
    criterion: Annotated[str, typer.Option(help="D (volume of the intervals) or A (sum of variances).")] = "D",
    noise: Annotated[float, typer.Option(help="Of measured efforts, by their limit or greatest value.")] = 0.02,
    limit: Annotated[
        list[str] | None, typer.Option(help="JOINT.speed_limit=2, .lower_limit, .upper_limit, .effort_limit ... in SI.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the motion the search begins with.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the motion (.csv, 1 kHz) or the series (.toml).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Design a Fourier series for every joint that tells most of the base parameters within the limits."""
    from robodyn.analysis.identification.excitation import design_excitation

    if out is not None and out.suffix not in (".csv", ".toml"):
        raise fail(f"--out {out}: must end in .csv or .toml")
    settings: dict[str, Any] = {"frequency": frequency, "harmonics": harmonics, "criterion": criterion, "noise": noise}
    found = design_excitation(load_single(scenario), limits=_read_limits(limit or []), seed=seed, **settings)
    if as_json:
        print_json(found.as_plain())
    else:
        output.print(_describe(found), markup=False)
    if out is not None:
        _write(found, out)


def _read_limits(pairs: list[str]) -> dict[str, float]:
    found, flaws = {}, []
    for name, text in read_pairs(pairs).items():
        try:
            found[name] = float(text)
        except ValueError:
            flaws.append(Flaw(f"--limit {name}={text}", "must be a number in SI"))
    if flaws:
        raise ModelError(flaws)
    return found


def _describe(found: Excitation) -> str:
    lines = [f"{'joint':<16} {'offset':>9}  sines; cosines"]
    for axis in found.axes:
        series = ["  ".join(f"{value:+.4f}" for value in part) for part in (axis.sines, axis.cosines)]
        lines.append(f"{axis.joint:<16} {axis.offset:>9.4f}  {series[0]};  {series[1]}")
    before, after = found.information
    lines += ["", f"log det of the information: {before:.2f} of a random motion -> {after:.2f}"]
    lines.append("used of limits: " + ", ".join(f"{name} {100 * use:.0f} %" for name, use in found.use.items()))
    lines += [f"hardly told by this motion: {name}" for name in found.hardly_told]
    return "\n".join(lines)


def _block(axis: AxisSeries, frequency: float) -> str:
    """A block of a scenario's file."""
    return (
        f'[blocks."{axis.joint}.reference"]\nlaw = "multisine_reference"\n\n'
        f'[blocks."{axis.joint}.reference".parameters]\nsines = {list(axis.sines)}\ncosines = {list(axis.cosines)}\n'
        f"frequency = {frequency}\noffset = {axis.offset}\n"
    )


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
    try:
        out.write_text(text + "\n", "utf-8")
    except OSError as error:
        raise fail(f"--out {out}: cannot write: {error.strerror}") from error
    messages.print(f"{out}", markup=False)
