"""robodyn perturb: simulate a scenario near its nominal motion, and compare with the non-linear simulation."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.answers import writing
from robodyn.cli.application import app, fail, messages, output, print_json
from robodyn.cli.progress import SimulationProgress
from robodyn.cli.run import announce, end_unless_ok, errors_as_json, prepare_folder, save_run
from robodyn.cli.targets import load_single, name_results

if TYPE_CHECKING:
    from robodyn.computation.perturbation import Comparison, Convergence, Perturbed
    from robodyn.computation.results import Run


@app.command("perturb")
def perturb_scenario(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file, with a nominal motion.")],
    points: Annotated[int | None, typer.Option(help="Pieces of the nominal motion, 400 by default.")] = None,
    nominal: Annotated[Path | None, typer.Option(help="File of the nominal motion: read, or written if new.")] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Run the non-linear simulation too.")] = False,
    convergence: Annotated[str | None, typer.Option(help="Numbers of points to compare, such as 50,100,200.")] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Errors of all signals, by a tight non-linear simulation.")
    ] = False,
    signal: Annotated[list[str] | None, typer.Option(help="Compare these signals (patterns).")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the run's file.")] = Path("out"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Simulate near the nominal motion: linear mechanics, with friction, drives and control in full."""
    what = load_single(scenario, setting)
    counts = _read_counts(convergence)
    folder = prepare_folder(out)
    near = _make_ready(what, points, nominal)
    with SimulationProgress(what.duration) as progress:
        run = near.simulate(certify=certify, progress=progress)
    path = folder / f"{name_results(scenario, what)}-perturbed.run"
    save_run(run, path)
    found = _compare(near, run, signal or []) if compare else None
    course = _converge(what, counts, signal or []) if counts else None
    _report(run, path, found, course, as_json)
    end_unless_ok(run.outcome)


def _read_counts(text: str | None) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")] if text else []
    except ValueError as error:
        raise fail(f"--convergence {text}: must be whole numbers, such as 50,100,200") from error
    if any(count < 1 for count in counts):
        raise fail(f"--convergence {text}: each must be at least 1")
    return counts


def _make_ready(what: Any, points: int | None, file: Path | None) -> Perturbed:
    """The scenario near its nominal motion, which is read from a file, or computed and kept there."""
    from robodyn.computation.perturbation import Perturbed, load_nominal, save_nominal
    from robodyn.computation.perturbation.nominal import POINTS

    if file is not None and file.exists():
        read = load_nominal(file)
        if points not in (None, read.points):
            raise fail(f"--points {points}: the nominal motion in {file} has {read.points}; name another file")
        return Perturbed(what, nominal=read, on_compile=announce)
    near = Perturbed(what, points=POINTS if points is None else points, on_compile=announce)
    if file is not None:
        with writing(f"--nominal {file}"):
            save_nominal(near.nominal, file)
        messages.print(f"robodyn: nominal motion saved as {file}")
    return near


def _compare(near: Perturbed, run: Run, signals: list[str]) -> Comparison:
    from robodyn.computation.perturbation import Comparison, compare_runs
    from robodyn.computation.perturbation.comparison import choose_signals
    from robodyn.computation.simulation import simulate

    with SimulationProgress(near.scenario.duration) as progress:
        nonlinear = simulate(near.scenario, near.solver, progress=progress, on_compile=announce)
    chosen = choose_signals(nonlinear, run, signals)
    return Comparison(nonlinear, run, compare_runs(nonlinear, run, chosen))


def _converge(what: Any, counts: list[int], signals: list[str]) -> Convergence:
    from robodyn.computation.perturbation import find_convergence

    return find_convergence(what, counts, signals=signals)


def _report(run: Run, path: Path, found: Comparison | None, course: Convergence | None, as_json: bool) -> None:
    if as_json:
        print_json(_as_json(run, path, found, course))
        return
    output.print(run.summary(signals=False))
    output.print(f"saved as {path}")
    for line in [*_comparison_lines(found), *_convergence_lines(course)]:
        output.print(line)


def _comparison_lines(found: Comparison | None) -> list[str]:
    if found is None:
        return []
    lines = [f"{'difference from non-linear':<30} {'largest':>11} {'at':>9} {'rms':>11} {'< 2e-6':>8} {'< 1e-5':>8}"]
    for row in found.differences:
        shares = " ".join(f"{100 * share:6.1f} %" for share in row.shares)
        lines.append(f"{row.signal:<30} {row.largest:11.3e} {row.at:9.4f} {row.rms:11.3e} {shares}  {row.unit}")
    times = [1e3 * r.statistics.wall_time for r in (found.nonlinear, found.perturbed)]
    lines.append(f"non-linear {times[0]:.1f} ms, perturbed {times[1]:.1f} ms: {found.speedup:.2f} times as fast")
    return lines


def _convergence_lines(course: Convergence | None) -> list[str]:
    if course is None:
        return []
    rows = zip(course.points, course.largest, strict=True)
    return [f"{'points':>8} {'largest difference':>20}", *(f"{count:8d} {largest:20.4e}" for count, largest in rows)]


def _as_json(run: Run, path: Path, found: Comparison | None, course: Convergence | None) -> dict[str, Any]:
    message: dict[str, Any] = {
        "scenario": run.provenance.scenario,
        "outcome": {"ok": run.outcome.ok, "sentence": run.outcome.sentence},
        "statistics": asdict(run.statistics) | {"times_real_time": run.statistics.times_real_time},
        **run.certificate.to_plain(),
        **errors_as_json(run),
        "file": str(path),
    }
    if found is not None:
        message["differences"] = [asdict(row) for row in found.differences]
        message["nonlinear_wall_time"] = found.nonlinear.statistics.wall_time
        message["speedup"] = found.speedup
    if course is not None:
        message["convergence"] = asdict(course)
    return message
