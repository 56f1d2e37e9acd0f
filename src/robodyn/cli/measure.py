"""Measurements: what is in them, which motion tells most, and which numbers of a machine they say."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn import analysis
from robodyn.base import Flaw, ModelError, WaitingLine
from robodyn.presentation.reporting.displays import write_display

from .application import fail, messages
from .command import Paths, Texts, command, drawing, refuse_ending, resumable, save_text, writing
from .targets import (
    load_single,
    read_bounds,
    read_data,
    read_pairs,
    read_settings,
    split_names,
    write_numbers,
)

if TYPE_CHECKING:
    from robodyn.analysis.measurement.data_sheet import DataSheets
    from robodyn.computation.results import Run
    from robodyn.description.model import Scenario


@command("data")
def data(
    file: Path,
    mapping: Path | None = None,
    scenario: str | None = None,
    template: Path | None = None,
    align: Path | None = None,
    by: str | None = None,
    rate: float | None = None,
    out: Path | None = None,
) -> DataSheets | None:
    """Print rates, gaps, ranges, noise, quantisation and saturation of measured signals.

    file: CSV, Parquet, MCAP, ROS bag, .npz, .npy or .mat.
    mapping (--map): TOML: which column is which signal.
    scenario: Compare with this machine and propose a mapping: name in the catalogue, or a TOML file.
    template: Write a mapping here (.toml): the one proposed, or one to fill in.
    align: Another recording whose clock is compared.
    by: Signal that both recorded, or signal=other.
    rate: Resample to this rate [Hz], low-passed before.
    out: Write the signals in SI here (.csv, .parquet or .mcap).
    """
    from robodyn.analysis.measurement.data_sheet import DataSheets
    from robodyn.analysis.measurement.measured import samples_as_run
    from robodyn.description.files.samples import read_clocks, read_mapping
    from robodyn.description.files.samples.writing import template_text

    refuse_ending("--template", template, ".toml")
    refuse_ending("--out", out, ".csv", ".parquet", ".mcap")
    known = None if mapping is None else read_mapping(mapping)
    proposal = None if scenario is None else analysis.propose_mapping(load_single(scenario), file, known)
    if proposal is not None and template is not None:
        save_text("--template", template, proposal.text, "mapping")
    if proposal is not None:
        known = proposal.mapping
    elif template is not None:
        save_text("--template", template, template_text(file, known), "mapping to fill in")
        return None
    if rate is not None or out is not None or align is not None:
        runs = [analysis.read_measured(file, known)]
    else:
        runs = [samples_as_run(samples, file) for samples in read_clocks(file, known)]
    if rate is not None:
        runs = [analysis.resample(run, rate) for run in runs]
    offset = _compare_clocks(runs[0], align, by) if align is not None or by is not None else None
    sheets = tuple(analysis.make_data_sheet(run) for run in runs)
    if out is not None:
        from robodyn.computation.results import to_csv, to_mcap, to_parquet

        writers = {".csv": to_csv, ".parquet": to_parquet, ".mcap": to_mcap}
        with writing(f"--out {out}", "export,logs"):
            writers[out.suffix](runs[0], out)
        messages.print(f"{out}")
    return DataSheets(sheets, offset, proposal)


def _compare_clocks(first: Run, align: Path | None, by: str | None) -> analysis.ClockOffset:
    if align is None or by is None:
        raise fail("--align FILE and --by SIGNAL go together")
    signal, _, other = by.partition("=")
    second = analysis.read_measured(align)
    flaws = [
        Flaw(f"--by {by}", f"there is no signal '{name}' in {where}")
        for name, run, where in ((signal, first, "the first file"), (other or signal, second, align))
        if name not in run
    ]
    if flaws:
        raise ModelError(flaws)
    return analysis.synchronise(first, second, signal, other)


@command("excite")
def excite(
    scenario: str,
    frequency: float = 0.1,
    harmonics: int = 5,
    motion: str = "fourier",
    criterion: str = "D",
    noise: float = 0.02,
    limit: Texts = (),
    within: Texts = (),
    measured: Paths = (),
    mapping: Path | None = None,
    seed: int = 0,
    out: Path | None = None,
) -> analysis.Excitation:
    """Design a motion of all joints that tells most of the base parameters within the limits.

    scenario: Name in the catalogue, or a TOML file.
    frequency: Fundamental frequency of the motion [Hz], the inverse of its period.
    harmonics: Number of harmonics; a spline has as many free coefficients.
    motion: fourier (series) or spline (cubic).
    criterion: D (volume of the intervals) or A (sum of variances).
    noise: Noise of measured efforts, as a fraction of their limit or largest value.
    limit: JOINT.speed_limit=2, .lower_limit, .upper_limit, .effort_limit ... in SI.
    within: Bound of a signal: "tool.position.z>=0.1", "tool.position.x<=800 mm".
    measured: Recording that there is: what does it not tell, and which motion would?
    mapping (--map): TOML: which of its columns is which signal.
    seed: Seed of the first motion of the search.
    out: Write the motion (.csv, 1 kHz) or its blocks (.toml).
    """

    refuse_ending("--out", out, ".csv", ".toml")
    if mapping is not None and not measured:
        raise fail("--map: has no effect without --measured")
    settings: dict[str, Any] = {"frequency": frequency, "harmonics": harmonics, "criterion": criterion, "noise": noise}
    limits = read_pairs("limit", limit, lambda _, text: float(text), "name=value, a number in SI")
    settings |= {"limits": limits, "within": within, "motion": motion, "seed": seed}
    runs = [read_data(path, mapping) for path in measured]
    excitation = analysis.design_excitation(load_single(scenario), measured=runs, **settings)
    if out is not None:
        _write_motion(excitation, out)
    return excitation


def _write_motion(excitation: analysis.Excitation, out: Path) -> None:
    import numpy as np

    if out.suffix == ".csv":
        time = np.arange(round(1000 / excitation.frequency) + 1) / 1000
        kinds = ("position", "velocity", "acceleration")
        names = ["time [s]", *(f"{axis.joint}.{kind}" for kind in kinds for axis in excitation.axes)]
        rows = np.column_stack([time, *excitation.at(time)])
        text = "\n".join([",".join(names), *(",".join(f"{value:.9g}" for value in row) for row in rows)])
    else:
        text = "\n".join(_block(axis, excitation.frequency) for axis in excitation.axes)
    save_text("--out", out, text + "\n")


def _block(axis: analysis.AxisSeries | analysis.AxisSpline, frequency: float) -> str:
    """A block of a scenario's file."""

    if isinstance(axis, analysis.AxisSpline):
        law = "spline_reference"
        numbers: dict[str, Any] = {"times": list(axis.times), "points": list(axis.points)}
    else:
        law = "multisine_reference"
        numbers = {"sines": list(axis.sines), "cosines": list(axis.cosines)}
        numbers |= {"frequency": frequency, "offset": axis.offset}
    name = f'blocks."{axis.joint}.reference"'
    lines = [f"[{name}]", f'law = "{law}"', "", f"[{name}.parameters]"]
    return "\n".join([*lines, *(f"{key} = {value}" for key, value in numbers.items()), ""])


@command("identify", plot="Draw measured and predicted forces into this file.")
def identify(
    scenario: str,
    data: Paths,
    mapping: Path | None = None,
    cutoff: float | None = None,
    held_out: float = 0.25,
    robust: bool = False,
    offsets: bool = True,
    gains: bool = False,
    setting: Texts = (),
    out: Path | None = None,
    map_out: Path | None = None,
    compare_laws: bool = False,
    report: Path | None = None,
    state: Path | None = None,
) -> analysis.Identification | analysis.LawComparison:
    """Identify base parameters with intervals, and bodies that could exist, by inverse dynamics.

    scenario: Name in the catalogue, or a TOML file: a first guess.
    data: Recordings: positions of all joints, forces or currents.
    mapping (--map): TOML: which column is which signal.
    cutoff: Cutoff of the low-pass filter [Hz]; default: chosen from the noise.
    held_out: Share of the rows for the proof, 0 to 1.
    robust: Rows far off count less.
    offsets: Estimate a constant offset of every effort.
    gains: Estimate the true size of every effort, by recordings with a known load.
    setting (--set): Change a number: name=value; a known load of one recording: FILE:name=value.
    out: Write the new numbers here (.toml), over the scenario's.
    map_out: Write the mapping with the offsets and the delay of efforts that were found here (.toml), for `validate`.
    compare_laws: Compare laws of friction, losses and ripple instead, alone and together, on the rows for the proof.
    report: Write a page with all of it here (.html).
    state: Keep finished parts here, to go on after a break.
    """

    refuse_ending("--out", out, ".toml")
    refuse_ending("--report", report, ".html")
    refuse_ending("--map-out", map_out, ".toml")
    what, experiments = _experiments(scenario, data, mapping, setting)
    runs, loads = [one.data for one in experiments], [dict(one.numbers) for one in experiments]
    common = [change for change in setting if change.partition(":")[0] not in {path.name for path in data}]
    if compare_laws:
        if out or report or map_out or gains or any(loads):
            raise fail("--compare-laws: cannot be combined with --out, --map-out, --plot, --report, --gains or loads")
        with resumable(state):
            return analysis.compare_friction_laws(what, runs, cutoff=cutoff, held_out=held_out, state=state)
    settings: dict[str, Any] = {"cutoff": cutoff, "held_out": held_out, "robust": robust, "offsets": offsets}
    with resumable(state):
        found = analysis.identify(what, runs, **settings, loads=loads, gains=gains, state=state)
    write_numbers(scenario, common, found.numbers, out)
    if map_out is not None:
        _write_offsets(found, mapping, runs[0].names, map_out)
    if report is not None:
        with drawing(f"--report {report}"):
            write_display(found, report)
    return found


def _write_offsets(
    identification: analysis.Identification, mapping: Path | None, names: Sequence[str], out: Path
) -> None:
    from robodyn.description.files.samples import read_mapping
    from robodyn.description.files.samples.writing import mapping_text, own_mapping, with_offsets

    own = own_mapping(names, read_mapping(mapping) if mapping else None)
    head = ["Columns with the offsets and the delay that `robodyn identify` found in their efforts."]
    remarks: dict[str, list[str]] = {}
    for name, value in identification.offsets.items():
        remarks.setdefault(name, []).append(f"offset by identification: {value:.6g} in SI")
    for name, value in identification.delays.items():
        remarks.setdefault(name, []).append(f"{1e3 * value:.3g} ms of the delay by identification")
    text = mapping_text(with_offsets(own, identification.offsets, identification.delays), head, remarks)
    save_text("--map-out", out, text, "mapping")


@command("fit", plot="Draw measured and simulated signals into this file.")
def fit(
    scenario: str,
    data: Paths,
    free: str = "",
    each: str = "",
    mapping: Path | None = None,
    entry: Texts = (),
    held_out: float = 0.25,
    bounds: Texts = (),
    starts: int = 1,
    noise: Texts = (),
    seed: int = 0,
    setting: Texts = (),
    workers: int = 0,
    compare_laws: str | None = None,
    out: Path | None = None,
    state: Path | None = None,
) -> analysis.Fit | analysis.LawComparison:
    """Fit numbers of a scenario to measured signals, with intervals and correlations.

    scenario: Name in the catalogue, or a TOML file.
    data: Recordings: CSV, Parquet, MCAP, ROS bag, .npz or .mat.
    free: Numbers to fit, with commas between them.
    each: Numbers to fit that every recording has its own value of.
    mapping (--map): TOML: which column is which signal.
    entry (--input): Measured signal that takes the place of the computed one.
    held_out: Share of the data, at its end, for the proof.
    bounds: Search range of a parameter: name=lower:upper.
    starts: How many searches, from different places.
    noise: Known noise: signal=deviation; default: estimated.
    seed: Seed of the starting points.
    setting (--set): Change a number: name=value; of one recording: FILE:name=value.
    workers: Threads; default: all processors.
    compare_laws: Compare laws of friction and gears instead: names with commas, or all.
    out: Write a scenario with the fitted numbers (.toml), or all results (.json).
    state: Keep finished searches here, to go on after a break; those of compared laws in STATE-LAW.
    """
    from robodyn.analysis.fitting.result import ENDINGS, describe_numbers

    refuse_ending("--out", out, *ENDINGS)
    levels = read_pairs("noise", noise, lambda _, text: float(text), "signal=deviation, in SI units")
    settings: dict[str, Any] = {"bounds": read_bounds(bounds), "noise": levels or None}
    settings |= {"inputs": entry, "held_out": held_out, "each": split_names(each), "starts": starts, "seed": seed}
    settings |= {"state": state, "workers": workers or os.cpu_count() or 1}
    what, experiments = _experiments(scenario, data, mapping, setting)
    if compare_laws is not None:
        if out or each:
            raise fail("--compare-laws: has no effect on --out, --plot and --each; fit again with the best law")
        chosen = None if compare_laws == "all" else split_names(compare_laws)
        with resumable(state):
            return analysis.compare_laws(what, experiments, chosen, free=split_names(free), **settings)
    result = _fit(what, experiments, split_names(free), settings)
    if out is not None and out.suffix == ".json":
        with writing(f"--out {out}"):
            messages.print(f"fitted numbers: {analysis.write_fit(result, out)}")
    else:
        of_one = [change for change in setting if change.partition(":")[0] in {path.name for path in data}]
        common = [change for change in setting if change not in of_one]
        write_numbers(scenario, common, result.common_values, out, describe_numbers(result))
    return result


def _experiments(
    scenario: str, files: Sequence[Path], mapping: Path | None, changes: Sequence[str]
) -> tuple[Scenario, list[analysis.Experiment]]:
    """The scenario with what is changed for all, and recordings with what is changed for one."""

    what = load_single(scenario)
    own: dict[str, list[str]] = {path.name: [] for path in files}
    common: list[str] = []
    for change in changes:
        label, colon, pair = change.partition(":")
        one_of = colon and label in own
        (own[label] if one_of else common).append(pair if one_of else change)
    what = what.with_numbers(read_settings(common, what, scenario))
    experiments = []
    for path in files:
        changed = read_settings(own[path.name], what, scenario)
        experiments.append(analysis.Experiment(read_data(path, mapping), changed, path.name))
    return what, experiments


def _fit(
    what: Scenario, experiments: list[analysis.Experiment], names: list[str], settings: dict[str, Any]
) -> analysis.Fit:
    with resumable(settings["state"]), WaitingLine(f"fitting {what.name}") as line:

        def show(at: analysis.FitProgress) -> None:
            said = f"start {at.start} of {at.starts}, simulation {at.evaluations}, cost {at.cost:.4g}"
            line.update(said, (at.start - 1) / at.starts)

        return analysis.fit_parameters(what, experiments, names, progress=show, **settings)


@command(
    "validate",
    plot="Draw how errors grow with the time ahead into this file.",
    plot_run="Draw measured and simulated signals into this file.",
)
def validate(
    scenario: str,
    data: Path,
    mapping: Path | None = None,
    entry: Texts = (),
    against: str | None = None,
    horizon: float = 0.5,
    held_out: float = 1.0,
    method: str = "both",
    cutoff: float | None = None,
    setting: Texts = (),
    state: Path | None = None,
) -> analysis.Validation:
    """Print prediction errors of a scenario by signal: one step, 0.5 s ahead and in a free run, beside two baselines.

    Measured references and commands are inputs; where none are measured, efforts are.

    scenario: Name in the catalogue, or a TOML file.
    data: Measured signals: CSV, Parquet, MCAP, ROS bag, .npz or .mat.
    mapping (--map): TOML: which column is which signal.
    entry (--input): Measured signal that takes the place of the computed one, instead of those found; or none.
    against: Scenario to be better than; by default the file that this one includes, or its numbers before --set.
    horizon: How far ahead predictions go [s].
    held_out: Share of the data, at its end, that is compared: 0.25 after fit or identify on the same file.
    method: simulation, inverse (dynamics) or both.
    cutoff: Low-pass of inverse dynamics [Hz].
    setting (--set): Change a number: name=value.
    state: Keep finished parts here, to go on after a break.
    """

    what = load_single(scenario, setting)
    inputs = None if not entry else [] if list(entry) == ["none"] else entry
    options: dict[str, Any] = {"method": method, "cutoff": cutoff, "horizon": horizon, "held_out": held_out}
    options |= {"nominal": _nominal(scenario, against, setting), "state": state}
    with resumable(state):
        return analysis.validate(what, read_data(data, mapping), inputs, **options)


def _nominal(scenario: str, against: str | None, setting: Texts) -> Scenario | None:
    """The scenario before its numbers were changed, where that is known."""
    import tomllib

    if against is not None:
        return load_single(against)
    if setting:
        return load_single(scenario)
    path = Path(scenario)
    if path.suffix == ".toml" and path.is_file():
        included = tomllib.loads(path.read_text(encoding="utf-8")).get("include")
        if isinstance(included, str):
            return load_single(str(path.parent / included))
    return None


@command("calibrate", plot="Draw the error of every pose before and after into this file.")
def calibrate(
    scenario: str,
    poses: Paths = (),
    point: str | None = None,
    elastic: str = "none",
    frame: str = "fitted",
    held_out: float = 0.25,
    plan: int | None = None,
    seed: int = 0,
    setting: Texts = (),
    out: Path | None = None,
    urdf: Path | None = None,
) -> analysis.Calibration | analysis.PosePlan:
    """Find the true geometry of joints and tool from poses in which the tool was measured or touched something.

    scenario: Name in the catalogue, or a TOML file: the robot as designed.
    poses (argument): CSV with a column for each joint, and x, y, z, or point, plane or distance.
    point: Point of the machine that was measured.
    elastic: Compliance under weight and load: none, gears or links.
    frame: Frame of the measured positions: fitted (unknown) or robot.
    held_out: Share of the poses held out as proof, 0 to 1.
    plan: Instead, choose this many of the most informative poses, from those given or random ones.
    seed: Seed for choosing held-out or random poses.
    setting (--set): Change a number: name=value.
    out: Write the calibrated robot (.toml) or the planned poses (.csv) here.
    urdf: Copy this URDF, with the new joint origins, to NAME-calibrated.urdf beside it.
    """
    from robodyn.analysis.calibration import chain_of, join_poses
    from robodyn.description.files.patching import change_text
    from robodyn.description.robots.urdf import write_origins

    refuse_ending("--out", out, ".csv" if plan is not None else ".toml")
    what = load_single(scenario, setting)
    if plan is not None:
        if urdf is not None:
            raise fail("--urdf: has no effect with --plan")
        chain = chain_of(what, point, elastic)
        offered = join_poses([analysis.read_poses(path, chain) for path in poses]) if poses else None
        chosen = analysis.plan_poses(what, plan, point, candidates=offered, elastic=elastic, seed=seed)
        if out is not None:
            heads = [f"{joint} [{unit}]" for joint, unit in zip(chosen.joints, chosen.units, strict=True)]
            rows = [",".join(f"{value:.9g}" for value in row) for row in chosen.q]
            save_text("--out", out, "\n".join([",".join(heads), *rows]) + "\n")
        return chosen
    if not poses:
        raise fail("no poses given; --plan 30 --out poses.csv plans poses to measure")
    calibration = analysis.calibrate(what, poses, point, elastic=elastic, frame=frame, held_out=held_out, seed=seed)
    if out is not None:
        included = Path(os.path.relpath(scenario, out.parent)).as_posix() if scenario.endswith(".toml") else None
        save_text("--out", out, change_text(what, calibration.apply(what), included), "calibrated robot")
    if urdf is not None:
        copy = urdf.with_name(f"{urdf.stem}-calibrated.urdf")
        save_text("--urdf", copy, write_origins(urdf, calibration.origins(what)), "calibrated robot")
    return calibration
