"""robodyn data: what is in a file of measurements?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.errors import Flaw, ModelError
from robodyn.cli.answers import writing
from robodyn.cli.application import app, fail, messages, output, print_json
from robodyn.cli.targets import refuse_ending

if TYPE_CHECKING:
    from robodyn.computation.results import Run


@app.command("data")
def show_data(
    file: Annotated[Path, typer.Argument(help="CSV, Parquet, MCAP, ROS bag, .npz, .npy or .mat.")],
    mapping: Annotated[Path | None, typer.Option("--map", help="TOML: which column is which signal.")] = None,
    template: Annotated[Path | None, typer.Option(help="Write a mapping to fill in here (.toml).")] = None,
    align: Annotated[Path | None, typer.Option(help="Another recording whose clock is compared.")] = None,
    by: Annotated[str | None, typer.Option(help="Signal that both recorded, or signal=other.")] = None,
    rate: Annotated[float | None, typer.Option(help="Resample to this rate [Hz], low-passed before.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the signals in SI here (.csv, .parquet or .mcap).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print rates, gaps, ranges, noise, quantisation and saturation of measured signals."""
    from robodyn.analysis.measurement.data_sheet import describe_data_sheet, make_data_sheet
    from robodyn.analysis.measurement.filtering import resample
    from robodyn.analysis.measurement.template import write_template
    from robodyn.description.files.samples import read_mapping

    known = None if mapping is None else read_mapping(mapping)
    if template is not None:
        write_template(file, template, known)
        messages.print(f"mapping to fill in: {template}")
        return
    runs = _read(file, known, merged=rate is not None or out is not None or align is not None)
    if rate is not None:
        runs = [resample(run, rate) for run in runs]
    offset = _compare_clocks(runs[0], align, by) if align is not None or by is not None else None
    sheets = [make_data_sheet(run) for run in runs]
    if as_json:
        found: dict[str, Any] = {"clocks": [sheet.as_plain() for sheet in sheets]}
        print_json(found | ({"offset": asdict(offset)} if offset else {}))
    else:
        output.print("\n\n".join(map(describe_data_sheet, sheets)))
        if offset:
            output.print(_describe_offset(offset))
    if out is not None:
        _write(runs[0], out)


def _read(file: Path, known: Any, merged: bool) -> list[Run]:
    """One recording, or one for each clock of the file."""
    from robodyn.analysis.measurement.measured import as_run, read_measured
    from robodyn.description.files.samples import read_clocks

    if merged:
        return [read_measured(file, known)]
    return [as_run(samples, file) for samples in read_clocks(file, known)]


def _compare_clocks(first: Run, align: Path | None, by: str | None) -> Any:
    from robodyn.analysis.measurement.measured import read_measured
    from robodyn.analysis.measurement.synchronisation import synchronise

    if align is None or by is None:
        raise fail("--align FILE and --by SIGNAL go together")
    signal, _, other = by.partition("=")
    second = read_measured(align)
    flaws = [
        Flaw(f"--by {by}", f"there is no signal '{name}' in {where}")
        for name, run, where in ((signal, first, "the first file"), (other or signal, second, align))
        if name not in run
    ]
    if flaws:
        raise ModelError(flaws)
    return synchronise(first, second, signal, other)


def _describe_offset(found: Any) -> str:
    return (
        f"\nsecond clock: {found.offset:+.6g} s (deviation {found.deviation:.2g}), "
        f"{found.skew * 1e6:+.3g} ppm (deviation {found.skew_deviation * 1e6:.2g}), correlation {found.correlation:.4f}"
    )


def _write(run: Run, path: Path) -> None:
    from robodyn.computation.results import to_csv, to_mcap, to_parquet

    writers = {".csv": to_csv, ".parquet": to_parquet, ".mcap": to_mcap}
    refuse_ending("--out", path, *writers)
    with writing(f"--out {path}", "export,logs"):
        writers[path.suffix](run, path)
    messages.print(f"{path}")
