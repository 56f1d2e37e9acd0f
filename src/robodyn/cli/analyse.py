"""Analyses of motions: of what deviations consist, how accurate a machine is, and which numbers decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn import analysis
from robodyn.base import FlawList, frozen, near_names, nearest, refuse
from robodyn.presentation.reporting.displays import Display, display, shows, write_picture

from .application import fail, messages
from .command import Paths, Texts, command, drawing, needing, refuse_ending, refuse_other
from .run import prepare_folder
from .sweep import read_varied, trace_varied
from .targets import (
    load_run,
    load_single,
    load_system,
    name_results,
    read_lengths,
    read_pairs,
    read_settings,
    split_names,
)

if TYPE_CHECKING:
    from robodyn.analysis.accuracy.arms import ArmSheet
    from robodyn.analysis.accuracy.circle import CircleTests
    from robodyn.analysis.sensitivity.ranking import Ranking
    from robodyn.computation.assembly import System

MEASURES = ("final", "max", "min", "rms", "peak_time", "oscillation_time", "overshoot")


@command("sensitivity", plot="Draw the ranking into this file (.png, .svg, .pdf).")
def sensitivity(
    scenario: str,
    of: str | None = None,
    parameters: str | None = None,
    measure: str | None = None,
    at: float = 0.0,
    change: float | None = None,
    setting: Texts = (),
) -> Ranking:
    """Rank parameters by their effect on a signal, by exact derivatives and by finite changes.

    scenario: Name in the catalogue, or a TOML file.
    of: Signal to look at; else the largest deviation, or a joint.
    parameters: Numbers to change, with commas between them; else the ten strongest of all.
    measure: What of the signal: final, max, min, rms, peak_time, oscillation_time, overshoot; else final, of a
        deviation rms.
    at: Time of the step, for the last three measures [s].
    change: Finite change to both sides [%], 0 for none; else 10, of the strongest 1.
    setting (--set): Change a number: name=value.
    """
    if measure is not None:
        refuse_other("--measure", measure, MEASURES)
    if change is None:
        change = 1.0 if parameters is None else 10.0
    if not 0 <= change < 100:
        raise fail(f"--change {change:g}: must be from 0 to below 100 %")
    if parameters is not None and not split_names(parameters):
        raise fail("--parameters: matches no parameter")
    from robodyn.analysis.sensitivity.ranking import Ranking, choose_measure, find_strongest, unit_of_measure

    what = load_single(scenario, setting)
    if of is None:
        measure, of = choose_measure(what, measure)
    measure = measure or "final"
    measured = analysis.measure_signal(of, measure, at)
    try:
        names, note = (split_names(parameters), "") if parameters else find_strongest(what, measured)
        if not names:
            raise fail(f"{measure} of {of}: {note}; none of them affects it")
        ranking = analysis.rank_parameters(what, {measure: measured}, names, change=change / 100)
    except KeyError as error:
        raise fail(f"--of {of}: {error.args[0]}") from error
    notes = (*([note] if note else []), *ranking.notes)
    unit = unit_of_measure(ranking.run[of].unit, measure)
    return Ranking(measure, of, unit, ranking.of(measure), ranking.reason, notes)


@frozen
class WrittenBudget:
    """A budget, and the files with its parts over time."""

    JSON = """
    *budget
    files
    """
    budget: analysis.Budget
    files: Sequence[Path]


@command("budget")
def budget(
    scenario: str,
    signal: Texts = (),
    along: str = "time",
    group: Texts = (),
    without: Texts = (),
    points: int = 400,
    setting: Texts = (),
    out: Path = Path("out"),
    plot: bool = True,
) -> WrittenBudget:
    """Split the deviation from the wanted motion into parts that add up: friction, sampling, limits, elasticity.

    scenario: Name in the catalogue, or a TOML file, with a nominal motion.
    signal: Split these signals (patterns); deviation.* if none.
    along: Signal to draw against, such as path.s.
    group: Add parts up: name=pattern,pattern.
    without: A part of its own: name=value without an effect; payload.mass=0 if none.
    points: Pieces of the nominal motion.
    setting (--set): Change a number: name=value.
    out: Folder for the picture and the tables.
    plot: Draw the parts along the motion.
    """

    what = load_single(scenario, setting)
    options: dict[str, Any] = {"along": along, "points": points}
    options["without"] = read_settings(without, what, scenario) if without else None
    groups = _read_groups(group)
    name = name_results(scenario, what)
    folder = prepare_folder(out)
    chosen: dict[str, Any] = {"signals": signal} if signal else {}
    result = analysis.split_deviation(what, **chosen, **options)
    result = result.grouped(groups) if groups else result
    files = _write_tables(result, folder, name)
    if plot:
        files.append(folder / f"{name}-budget.png")
        with drawing():
            write_picture(display(result), "plot", files[-1])
    return WrittenBudget(result, files)


def _read_groups(texts: Sequence[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for text in texts:
        name, equals, patterns = (part.strip() for part in text.partition("="))
        if not name or not equals or not split_names(patterns):
            raise fail(f"--group {text}: must be written as name=pattern,pattern")
        if name in groups:
            raise fail(f"--group {text}: '{name}' is given twice; name all its patterns at once")
        groups[name] = split_names(patterns)
    return groups


def _write_tables(budget: analysis.Budget, folder: Path, name: str) -> list[Path]:
    """All parts over time: a CSV file, and a Parquet file where its package is installed."""
    from robodyn.computation.results import to_csv, to_parquet

    parts = analysis.as_run(budget)
    files = [to_csv(parts, folder / f"{name}-budget.csv")]
    try:
        files.append(to_parquet(parts, folder / f"{name}-budget.parquet"))
    except ImportError as error:
        messages.print(f"robodyn: {name}-budget.parquet needs {error.name}: pip install 'robodyn[export]'")
    return files


@shows
def show_written_budget(found: WrittenBudget) -> Display:
    shown = display(found.budget)
    return replace(shown, parts=(*shown.parts, f"written: {', '.join(map(str, found.files))}"))


@command("sheet", plot="Draw the figures of an open arm and their causes into this file.")
def sheet(
    scenario: str,
    random: Texts = (),
    standard: str = "iso9283",
    deviation: str = "deviation",
    band: str | None = None,
    seed: int = 1,
    budget: bool = True,
    workers: int | None = None,
    setting: Texts = (),
    out: Paths = (),
) -> analysis.Sheet | ArmSheet:
    """Simulate 30 cycles with stated uncertainties and print the figures of ISO 9283, each with its causes.

    scenario: Name in the catalogue, or a TOML file, whose tool follows a path; or an open arm: so101, so100, koch,
        wx250s, open-manipulator-x, with ranges for what is not published.
    random: Parameter that varies from cycle to cycle: name=scale:0.9:1.1, as in sweep.
    standard: iso9283.
    deviation: Block that says how far the tool is from its path.
    band: Limit band of the stabilisation time; default: RP.
    seed: Seed of the random draws.
    budget: Split accuracy by cause.
    workers: Threads; one a core by default.
    setting (--set): Change a number: name=value; of an arm a choice: play="0.5 deg", or a range "0.2 deg:1 deg".
    out: Page to write, .html or .pdf; may be given twice.
    """
    from robodyn.analysis.accuracy.arms import arm_names, arm_sheet, load_arm
    from robodyn.base import UnitError
    from robodyn.description.files.units import read_quantity

    refuse_other("--standard", standard, ("iso9283",))
    for path in out:
        refuse_ending("--out", path, ".html", ".pdf")
    if scenario in arm_names():
        if random or band or deviation != "deviation":
            fault = "for an open arm only --set, --seed, --out and --plot have an effect"
            refuse("sheet", "--random, --deviation and --band have no effect on an open arm", fault)
        figures = arm_sheet(load_arm(scenario), read_pairs("set", setting, lambda _, text: text), seed=seed)
        write_sheets(figures, "--out", out)
        return figures
    _refuse_unknown_subject(scenario, arm_names())
    what = load_single(scenario, setting)
    flaws = FlawList()
    system = trace_varied(what, random)
    _, drawn = read_varied(flaws, system, scenario, (), (), random)
    width = None
    try:
        width = None if band is None else read_quantity(band, "m", bare=True)
    except UnitError as error:
        flaws.add(f"--band {band}", str(error))
    flaws.raise_if_any(f"sheet of '{what.name}'")
    result = analysis.make_sheet(
        system, drawn, deviation=deviation, band=width, seed=seed, budget=budget, workers=workers
    )
    write_sheets(result, "--out", out)
    return result


def _refuse_unknown_subject(what: str, arms: list[str]) -> None:
    """Refuse a name that is neither a file, nor one of the catalogue, with the arms among what it may have meant."""
    from robodyn.description.catalog import list_scenarios

    name = what.partition(":")[0]
    names = [*arms, *list_scenarios()]
    is_path = Path(what).exists() or Path(what).suffix or Path(what).name != what
    if name in names or is_path:
        return
    remedy = nearest(name, names) if near_names(name, names) else f"open arms are {', '.join(arms)}"
    what = f"there is no open arm and no scenario '{name}'"
    refuse("", what, f"{remedy}; robodyn list lists scenarios")


@command("circle", plot="Draw the polar plot into this file.")
def circle(
    runs: Texts,
    x: str = "tool.position.x",
    y: str = "tool.position.y",
    radius: str | None = None,
    centre: str | None = None,
    sheet: Paths = (),
) -> CircleTests:
    """Radial deviation, circular deviation and quadrant peaks of the last whole turn, as ISO 230-4 defines them.

    runs: Run files; of two in opposite directions also the hysteresis.
    x: Signal of the attained position.
    y: The other one.
    radius: Radius of the nominal circle; default: fitted, to 1 µm.
    centre: Centre of the nominal circle, X,Y; default: fitted.
    sheet: Sheet to sign, .html or .pdf; may be given twice.
    """
    from robodyn.analysis.accuracy.circle import CircleTests

    size = None if radius is None else read_lengths("--radius", radius, 1)[0]
    middle = None
    if centre is not None:
        first, second = read_lengths("--centre", centre, 2)
        middle = first, second
    tests = [
        analysis.measure_circle(load_run(path), x, y, radius=size, centre=middle, name=Path(path).stem) for path in runs
    ]
    both_ways = len(tests) == 2 and tests[0].clockwise != tests[1].clockwise
    tests_of_both = CircleTests(tuple(tests), analysis.measure_hysteresis(*tests) if both_ways else None)
    write_sheets(tests_of_both, "--sheet", sheet)
    return tests_of_both


def write_sheets(found: analysis.Sheet | CircleTests | ArmSheet, option: str, paths: Sequence[Path]) -> None:
    """Typeset a sheet into each file."""
    for path in paths:
        from robodyn.presentation.reporting import write_sheet

        with drawing(f"{option} {path}"), needing(f"{option} {path}", "sheets"):
            write_sheet(found, path)
        messages.print(f"sheet: {path}")


@command("forces", plot="Draw the parts over time into this file.")
def forces(scenario: str, payload: str | None = None, setting: Texts = ()) -> analysis.ForceSplit:
    """Simulate and split what drives give into inertia, Coriolis, gravity, payload and friction; loads of the joints.

    scenario: Name in the catalogue, or a TOML file.
    payload: Body whose part stands by itself; default: one of the name payload.
    setting (--set): Change a number: name=value.
    """

    return analysis.split_forces(load_single(scenario, setting), payload)


@frozen
class BranchPosture:
    """A posture of a machine with closed loops."""

    JSON = """
    motors
    point
    joints
    iterations = posture.iterations
    residual = posture.residual
    singular = near.kind: none, input, output, both or constraint
    condition = near.condition
    """
    posture: analysis.Posture
    near: analysis.Singularity
    motors: dict[str, float]
    point: dict[str, float]
    joints: dict[str, float]


@frozen
class Postures:
    """Postures of a point; several branches where a place can be reached in several ways."""

    JSON = "postures"
    of: str
    postures: Sequence[BranchPosture]


@command("kinematics")
def kinematics(
    scenario: str,
    point: str,
    motor: Texts,
    position: Texts = (),
    to: str | None = None,
    axes: str = "x,y,z",
    setting: Texts = (),
) -> Postures:
    """Forward or inverse kinematics of a machine with closed loops, its branches, and how near it is to singular.

    scenario: Name in the catalogue, or a TOML file: a machine with loops.
    point (--point): Name of the point.
    motor (--motor): Joints or coordinates that motors move, with commas between.
    position: Forward: motor=position; others as at the start.
    to: Inverse: place of the point, x=0.1,z=-0.3; others 0.
    axes: Coordinates of the point that count, one for each motor.
    setting (--set): Change a number: name=value.
    """
    from robodyn.description.model.numbers import XYZ

    if (to is None) == (not position):
        raise fail("--position, --to: give exactly one: motor positions, or a target for the point")
    machine = analysis.ParallelKinematics(load_system(scenario, setting), point, split_names(motor), split_names(axes))
    rows = []
    for posture in [_forward(machine, position)] if to is None else _inverse(machine, to):
        motors = dict(zip(machine.actuated, posture.actuated.tolist(), strict=True))
        place = dict(zip(XYZ, posture.points[point].tolist(), strict=True))
        joints = dict(zip(posture.joints, posture.q.tolist(), strict=True))
        rows.append(BranchPosture(posture, machine.singularity(posture), motors, place, joints))
    return Postures(point, rows)


def _forward(machine: analysis.ParallelKinematics, texts: Sequence[str]) -> analysis.Posture:
    values = read_pairs("position", texts, lambda _, text: float(text), "motor=position")
    unknown = [name for name in values if name not in machine.actuated]
    if unknown:
        raise fail(f"--position {unknown[0]}: is not one of the motors {', '.join(machine.actuated)}")
    start = dict(zip(machine.actuated, machine.at(machine.start).s.tolist(), strict=True))
    posture = machine.forward(list((start | values).values()))
    if not posture.solved:
        raise fail(f"--position: the loops do not close there; {posture.residual:.3g} m or rad remain")
    return posture


def _inverse(machine: analysis.ParallelKinematics, text: str) -> list[analysis.Posture]:
    place = read_pairs("to", text.split(","), lambda _, value: float(value), "x=0.1,y=0,z=-0.3")
    unknown = [axis for axis in place if axis not in machine.axes]
    if unknown:
        raise fail(f"--to {unknown[0]}: is not one of the axes {', '.join(machine.axes)}")
    target = [place.get(axis, 0.0) for axis in machine.axes]
    branches = machine.branches(target)
    if not branches:
        nearest = machine.inverse(target)
        at = ", ".join(f"{value:.4g}" for value in nearest.points[machine.point])
        raise fail(f"--to {text}: is out of reach; the closest point found is ({at}) m")
    return branches


@command("linkage", plot="Draw torques, rotors and errors over the angles into this file.")
def linkage(
    scenario: str,
    angle: Texts,
    motor: Texts,
    at: Texts = (),
    places: int = 21,
    setting: Texts = (),
) -> analysis.ParallelJoint:
    """A joint that motors turn through rods: its torque map, inertia and limits, and what a serial stand-in gets wrong.

    scenario: Name in the catalogue, or a TOML file: a machine with loops.
    angle (--angle): Joints that are turned, with commas between, each with limits or as NAME=FROM:TO [rad].
    motor (--motor): Joints or coordinates that motors move, as many as angles.
    at: Where the stand-in is taken: angle=position [rad]; others as at the start.
    places: Number of places along each angle.
    setting (--set): Change a number: name=value.
    """

    if places < 2:
        raise fail(f"--places {places}: must be 2 or more")
    system = load_system(scenario, setting)
    grid = {}
    for text in split_names(angle):
        name, equals, ends = (part.strip() for part in text.partition("="))
        grid[name] = np.linspace(*_read_range(system, name, ends if equals else None), places)
    start = read_pairs("at", at, lambda _, text: float(text), "angle=position")
    unknown = [name for name in start if name not in grid]
    if unknown:
        raise fail(f"--at {unknown[0]}: is not one of the angles {', '.join(grid)}")
    return analysis.map_parallel_joint(system, split_names(motor), grid, start)


def _read_range(system: System, name: str, text: str | None) -> tuple[float, float]:
    """Ends of an angle's grid: those said, or the limits of its joint."""
    if text is not None:
        try:
            lower, upper = (float(end) for end in text.split(":"))
        except ValueError as error:
            raise fail(f"--angle {name}={text}: must be NAME=FROM:TO in rad, such as {name}=-0.5:0.5") from error
        if not lower < upper:
            raise fail(f"--angle {name}={text}: must go from lower to upper")
        return lower, upper
    joints = {joint.name: joint for joint in system.scenario.machine.any_mechanism.joints}
    if name not in joints:
        raise fail(f"--angle {name}: there is no such joint ({nearest(name, joints)})")
    limits = joints[name].limits
    if not {"lower_limit", "upper_limit"} <= limits.keys():
        raise fail(f"--angle {name}: has no limits; give {name}=FROM:TO in rad")
    return limits["lower_limit"], limits["upper_limit"]


@shows
def show_postures(postures: Postures) -> Display:
    parts = []
    for k, row in enumerate(postures.postures):
        name = f"branch {k + 1} of {len(postures.postures)}" if len(postures.postures) > 1 else "posture"
        motors = ", ".join(f"{joint} {round(value, 9):.6g}" for joint, value in row.motors.items())
        place = ", ".join(f"{axis} {round(value, 9):.6g}" for axis, value in row.point.items())
        parts.append(f"{name}: {motors}")
        parts.append(f"  {postures.of}: {place} m; singular: {row.near.kind}, condition {row.near.condition:.4g}")
    return Display(f"Postures of {postures.of}", parts)
