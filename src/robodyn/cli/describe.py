"""Descriptions of machines: the catalogue, new files, robot files, checks, dressing and moves."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.base import Flaw, FlawList, ModelError, frozen, nearest, refuse
from robodyn.presentation.reporting.displays import Display, Table, display, shows, write_display

from .application import fail
from .command import RETURNED, Paths, Texts, Written, command, output_schema, writing
from .targets import load_scenario, load_single, phases_of, read_pairs

if TYPE_CHECKING:
    from robodyn.analysis.commissioning import Dressed, Endurance, FastMove, Move
    from robodyn.analysis.commissioning.library import DriveComparison
    from robodyn.computation.assembly import System
    from robodyn.computation.simulation.starting import Found
    from robodyn.description.model import Machine
    from robodyn.description.paths import CartesianPath
    from robodyn.description.robots import Robot
    from robodyn.description.robots.xml_tree import BalanceSheet

TURNS = ("rx", "ry", "rz")
"""How a tool of fewer than six joints may turn on its way."""


@frozen
class Listed:
    """A scenario of the catalogue."""

    JSON = """
    name
    title
    package: that brings it
    options: what it takes as NAME:option=value,...
    duration: [s]
    """
    name: str
    title: str
    package: str
    options: dict[str, str]
    maker: Any
    listed: bool = False

    @property
    def duration(self) -> float | None:
        """How long it lasts [s], as it is made; None, with a warning, where it cannot be."""
        from robodyn.description import catalog

        try:
            return catalog.make_scenario(self.name, self.maker).duration
        except Exception as error:  # noqa: BLE001 - one that cannot be made must not hide the others
            warnings.warn(str(error), stacklevel=1)
            return None


@command("list")
def list_scenarios(options: bool = False) -> list[Listed]:
    """List the scenarios of the catalogue, each with the package that brings it.

    options: Print what each takes as NAME:option=value,...
    """
    from robodyn.description import catalog

    rows = []
    for name, entry in catalog.list_scenarios().items():
        takes = {option: kind.__name__ for option, kind in catalog.options_of(entry.thing).items()}
        rows.append(Listed(name, catalog.title_of(entry.thing), entry.package, takes, entry, options))
    return rows


@shows
def show_list(rows: list[Listed]) -> Display:
    cells: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        own = cells.setdefault(row.package, [])
        own.append((f"  {row.name}", row.title))
        if row.listed and row.options:
            own.append(("", f"options: {', '.join(row.options)}"))
    return Display("Catalogue", [Table(("", ""), own, title=package) for package, own in cells.items()])


@frozen
class Starters:
    """Kinds of scenarios to begin with, and what each is."""

    JSON = "*titles"
    titles: dict[str, str]


@command("new", page=False)
def new(name: str | None = None, kind: str = "cart", list_kinds: bool = False) -> Written | Starters:
    """Write a small commented scenario that runs as it is; no file is overwritten.

    name (argument): Name of the scenario, and of its file NAME.toml.
    kind: Machine to start from: arm, cart or drive.
    list_kinds (--list): List the kinds.
    """
    from robodyn.description.files.starters import starter_titles, write_starter

    if list_kinds:
        return Starters(starter_titles())
    if name is None:
        raise fail("new: name the scenario, robodyn new NAME; --list shows the kinds")
    path = write_starter(Path(name), kind)
    return Written([path], [f"wrote {path}; run it with: robodyn run {path}"])


@shows
def show_starters(starters: Starters) -> Display:
    return Display("Kinds of scenarios", [Table(("", ""), list(starters.titles.items()))])


@frozen
class Imported:
    """A robot file that was read, and what was written of it.

    Attributes:
        whole: whether the balance sheet is printed, or what it amounts to.
    """

    JSON = """
    *sheet
    written
    """
    robot: Robot
    file: Path
    out: Path | None
    written: Sequence[Path]
    whole: bool

    @property
    def sheet(self) -> BalanceSheet:
        """Where every element went."""
        return self.robot.sheet


@command("import", page=False)
def import_file(
    file: Path,
    out: Path | None = None,
    embed: bool = False,
    report: bool = False,
    html: Path | None = None,
    base: str | None = None,
    search: Paths = (),
    keep_massless: bool = False,
    lock: Texts = (),
    assemble: bool = False,
) -> Imported:
    """Read a robot file, account for every element and attribute, and write it as an editable TOML file.

    file: A robot file: URDF, SDF, MJCF or xacro.
    out: Write an editable TOML file.
    embed: Copy the meshes beside the TOML file.
    report: Print the whole balance sheet.
    html: Write the balance sheet as a page.
    base: How the robot stands: fixed, free or planar.
    search: Folder in which packages and meshes are looked for.
    keep_massless: Keep joints that move nothing that has inertia.
    lock: Fix these joints (patterns) where they start, or at NAME=POSITION [rad or m].
    assemble: Let the TOML file start with its loops closed, near the positions of the robot's file.
    """
    from robodyn.description.robots import import_robot

    if embed and out is None:
        raise fail("--embed: copies meshes next to the TOML file; give --out FILE.toml")
    places = dict(_read_lock(text) for text in lock)
    robot = import_robot(file, base, list(search), keep_massless, places)
    if assemble and (out is None or not robot.machine.constraints):
        remedy = "it has no loops" if out else "only a TOML file holds the assembled start; give --out FILE.toml"
        raise fail(f"--assemble has no effect: {remedy}")
    robot = replace(robot, assembled=assemble)
    for option, path in (("--out", out), ("--html", html)):
        if path is not None and path.exists() and path.samefile(file):
            raise fail(f"{option} {path}: is the robot's own file; choose another name")
    written: list[Path] = []
    if out is not None:
        from robodyn.description.files.robot_files import write_robot

        written += write_robot(robot, out, embed)
    if html is not None:
        with writing(f"--html {html}"):
            written.append(write_display(robot.sheet, html))
    return Imported(robot, file, out, written, report)


def _read_lock(text: str) -> tuple[str, float | None]:
    """A pattern of joints, and where they are locked, if that is said."""
    pattern, equals, place = (part.strip() for part in text.partition("="))
    try:
        return pattern, float(place) if equals else None
    except ValueError as error:
        raise fail(f"--lock {text}: must be NAME or NAME=POSITION, a number in rad or m") from error


@shows
def show_imported(imported: Imported) -> Display:
    """The robot's parts, how the file's entries add up, and the choices that were made."""
    sheet, mechanism = imported.sheet, imported.robot.machine.any_mechanism
    counts, free = sheet.counts, sum(len(freedom.velocities) for freedom in mechanism.freedoms)
    lines = [
        f"{imported.file}: '{imported.robot.machine.name}' has {len(mechanism.bodies)} bodies, {len(mechanism.joints)} "
        f"joints, {free} degrees of freedom, {sum(body.mass for body in mechanism.bodies):.6g} kg",
        f"{len(sheet.entries)} elements and attributes: {counts['read']} read as they are, {counts['converted']} "
        f"converted, {counts['choice']} need a choice, {counts['not used']} not used; --report lists them",
        *(f"shapes: {sentence}" for sentence in sheet.not_drawn),
        *(f"choice: {choice}" for choice in sheet.choices),
    ]
    pages = [path for path in imported.written if path.suffix == ".html"]
    sentences = [f"wrote {path}" for path in ([imported.out] if imported.out else []) + pages]
    sentences += [f"run it with: robodyn run {imported.out}"] if imported.out else []
    return Display("Robot file", [*(sheet.text().splitlines() if imported.whole else lines), *sentences])


@frozen
class FoundStart:
    """A start value, as it is described and as it was found."""

    described: float
    found: float


@frozen
class CheckedPhase:
    """An assembled scenario and the start values that were found, where the start is known."""

    JSON = """
    name = system.scenario.name
    *counts
    warnings
    notes
    found
    """
    system: System
    starts: Found | None

    @property
    def counts(self) -> dict[str, int]:
        """How much there is of what."""
        system = self.system
        return {
            "states": len(system.states),
            "memory": len(system.memory),
            "signals": len(system.signals),
            "tunable_parameters": len(system.parameters),
            "sampled_tasks": len(system.discrete.tasks),
            "events": len(system.discrete.guards),
            "delays": len(system.delays),
        }

    @property
    def found(self) -> dict[str, FoundStart]:
        """Start values that were found."""
        return {name: FoundStart(*pair) for name, pair in (self.starts or {}).items()}

    @property
    def notes(self) -> list[str]:
        """Sampled blocks that read a value of the sample before."""
        return [str(read) for read in self.system.discrete.late_reads]

    @property
    def warnings(self) -> list[str]:
        """Sentences on references, starts and loops that do not fit."""
        from robodyn.analysis.checked_run import find_loop_warnings
        from robodyn.computation.simulation.reference_paths import check_starts
        from robodyn.computation.simulation.references import find_reference_warnings

        system, starts = self.system, self.starts
        states = None if starts is None else {name: new for name, (_, new) in starts.items()}
        references = find_reference_warnings(system, states=states)
        unfit = check_starts(system) if starts is not None else []
        return [*system.warnings, *references, *unfit, *find_loop_warnings([system], unknown=True)]


@frozen
class Checked:
    """A usable file; what is wrong with others is an error."""

    JSON = """
    ok
    *first
    phases?: the same of each phase of a sequence
    """
    file: str
    checked: Sequence[CheckedPhase]
    ok: bool = True

    @property
    def first(self) -> CheckedPhase:
        """The scenario, or the first phase of a sequence."""
        return self.checked[0]

    @property
    def phases(self) -> Sequence[CheckedPhase] | None:
        """All phases, where there are several."""
        return self.checked if len(self.checked) > 1 else None


@command("check", page=False)
def check(file: str) -> Checked:
    """Read and assemble a scenario without simulating it, and report every problem.

    file: A TOML file, or a name in the catalogue.
    """
    from robodyn.computation.simulation.starting import make_ready

    flaws = FlawList()
    checked = []
    for k, scenario in enumerate(phases_of(load_scenario(file))):
        try:
            checked.append(CheckedPhase(*make_ready(scenario, begins=k == 0)))
        except ModelError as error:
            flaws.extend(error.flaws)
    flaws.raise_if_any(file)
    return Checked(file, checked)


@shows
def show_checked(found: Checked) -> Display:
    from robodyn.presentation.reporting.summaries import list_starts

    parts, told, notes = [], [], []
    for phase in found.checked:
        told += phase.warnings
        notes += phase.notes
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in phase.counts.items())
        name = f"{found.file}, phase {phase.system.scenario.name}" if found.phases else found.file
        parts += [f"{name}: usable; {counts}", *list_starts(phase.starts or {})]
    return Display(found.file, parts, notes, told)


@frozen
class WrittenFile:
    """A result, and the scenario's file that was written of it."""

    JSON = "*result"
    result: Any
    out: Path | None


@frozen
class WrittenDressing(WrittenFile):
    """A dressed robot and its file."""

    result: Dressed


@frozen
class WrittenMove(WrittenFile):
    """A move and its file."""

    result: Move | FastMove


@shows
def show_written(written: WrittenFile) -> Display:
    shown = display(written.result)
    sentences = [f"wrote {written.out}; run it with: robodyn run {written.out}"] if written.out else []
    return replace(shown, parts=(*shown.parts, *sentences))


def _refuse_existing(out: Path | None) -> None:
    if out is not None and out.exists():
        raise fail(f"--out {out}: already exists; choose another file, or remove it")


@command("dress")
def dress_robot(
    robot: str,
    drives: str = "strain-wave",
    drive: Texts = (),
    library: Path | None = None,
    errors: str | None = None,
    heat: bool = False,
    control: str = "cascade",
    joint: Texts = (),
    payload: str | None = None,
    tool: str | None = None,
    setting: Texts = (),
    out: Path | None = None,
) -> WrittenDressing:
    """Add a drive, friction, an encoder and tuned loops to joints; print what was assumed, and from which source.

    robot: TOML file with a mechanism, or a name of the catalogue.
    drives: strain-wave, planetary or ball-screw; or a TOML file with [all] and [JOINT] tables.
    drive: Drive of the library: JOINT=NAME, or all=NAME; robodyn drives lists them.
    library: TOML file with drives of your own.
    errors: typical: also cogging, ripple, errors of gear and encoder, dead time, a supply that sags ...; or none.
    heat: Let motors warm up, derate and trip.
    control: cascade, computed-torque, or a TOML file with an [all] table.
    joint: Joints to dress (patterns); default: all that nothing drives.
    payload: Mass that the robot carries at a point, "2 kg".
    tool: Point that carries it.
    setting (--set): Change a number: name=value; initial.JOINT.position="30 deg".
    out: TOML file to write; it must not be there yet.
    """
    from robodyn.analysis.commissioning import dress, drive_tables
    from robodyn.description.files import write_scenario

    _refuse_existing(out)
    bare = load_single(robot, setting)
    start = {name.removesuffix(".position"): q for name, q in bare.initial.items() if name.endswith(".position")}
    machine = _with_payload(bare.machine, payload, tool) if payload or tool else bare.machine
    names = read_pairs("drive", drive, lambda _, name: name, "JOINT=NAME")
    common: dict[str, Any] = {"heat": True} if heat else {}
    tables = drive_tables(drives, names, common | ({"errors": errors} if errors else {}))
    joints = list(joint) or None
    dressed = dress(machine, tables, control, joints, start=start, duration=bare.duration, library=library)
    if out is not None:
        write_scenario(dressed.scenario, out)
    return WrittenDressing(dressed, out)


def _with_payload(machine: Machine, payload: str | None, tool: str | None) -> Machine:
    """A mass `payload` at a point; an error budget knows it by this name."""
    from robodyn.base import UnitError
    from robodyn.description.files.units import read_quantity
    from robodyn.description.model import Body

    points = machine.any_mechanism.points
    chosen = [point for point in points if point.name == tool] if tool else list(points)
    if not payload or len(chosen) != 1 or not machine.mechanism:
        names = ", ".join(point.name for point in points) or "none"
        refuse("--payload", "needs a mass, and --tool the point it is attached to", f"points: {names}")
    try:
        mass = read_quantity(payload, "kg", bare=True)
    except UnitError as error:
        raise ModelError([Flaw(f"--payload {payload}", str(error))]) from error
    loaded = machine.mechanism.with_payload(Body("payload", mass), chosen[0].body, chosen[0].origin)
    return replace(machine, mechanism=loaded)


@command("drives", plot="Draw torque over speed into this file.")
def drives(
    name: Texts = (),
    compare: bool = False,
    family: str | None = None,
    library: Path | None = None,
) -> DriveComparison:
    """Drives by name: list them, compare some, or tell every number of one with its source.

    name (NAME): Drives, or patterns such as "XM*"; all if not given.
    compare: Set them side by side: continuous and peak torque, speed, reflected inertia, friction, play, mass.
    family: spur, planetary, strain-wave or ball-screw.
    library: TOML file with drives of your own.
    """
    from robodyn.analysis.commissioning.library import compare_drives

    return compare_drives(name, library, family, compare)


@command("endurance", plot="Draw the time to trip over the load into this file.")
def endurance(
    what: Texts,
    torque: float | None = None,
    ambient: float = 25.0,
    start: float | None = None,
    library: Path | None = None,
    setting: Texts = (),
) -> Endurance:
    """How long drives can hold: time to trip or temperature in the end, and the curve over the load.

    what: Drives of the library, or one dressed robot (TOML file), held where it starts.
    torque: Torque at the output [N m]; default: rated torque. Of a robot it is its weight's.
    ambient: Temperature of the surroundings [deg C].
    start: Temperature of the motors at the start [deg C]; default: that of the surroundings.
    library: TOML file with drives of your own.
    setting (--set): Change a number of the robot: name=value.
    """
    from robodyn.analysis.commissioning.endurance import endurance_of, robot_endurance
    from robodyn.analysis.commissioning.library import ZERO, compare_drives

    warm, begin = ambient + ZERO, None if start is None else start + ZERO
    if len(what) == 1 and Path(what[0]).suffix == ".toml":
        if torque is not None:
            refuse("--torque", "a robot's drives hold its weight", "change its payload instead")
        return robot_endurance(load_single(what[0], setting), warm, begin)
    if setting:
        refuse("--set", "changes numbers of a robot, and no robot is given", "leave it out")
    return endurance_of(compare_drives(what, library).drives, torque, warm, begin)


@command("move", plot="Draw speed and efforts of --fast into this file.")
def move_robot(
    robot: str,
    to: Texts = (),
    line: str | None = None,
    cube: float | None = None,
    plane: str | None = None,
    pause: float | None = None,
    tool: str | None = None,
    speed: float | None = None,
    fast: bool = False,
    share: float | None = None,
    jerk: float | None = None,
    begin: float = 0.0,
    out: Path | None = None,
) -> WrittenMove:
    """Move joints, or a tool along a line or to poses; what hinders it is reported before anything runs.

    robot: TOML file of a dressed robot.
    to: Where a joint goes: joint="30 deg".
    line: How far the tool goes, straight: dx,dy,dz [m].
    cube: Side [m] of a cube about the tool, whose five poses of ISO 9283 it visits.
    plane: Plane of the poses: rises or falls, x+ (default), x-, y+, y-.
    pause: At each pose [s]; 0.5 by default.
    tool: Point that goes along the line or to the poses.
    speed: Share of the joints' speed limits, or of the tool in m/s; 0.5 by default.
    fast: In the least time that all limits allow.
    share: Share of the limits that --fast may use; 1 by default.
    jerk: Limit of --fast along the line [m/s^3].
    begin: When it starts [s].
    out: TOML file to write; it must not be there yet.
    """
    from robodyn.analysis.commissioning import cube_path, line_from, move, move_fast
    from robodyn.description.files import write_scenario
    from robodyn.description.files.units import read_quantity

    _refuse_existing(out)
    if sum(way is not None for way in (to or None, line, cube)) != 1:
        raise fail("--to, --line and --cube: give exactly one, joint positions or a tool path")
    _refuse_unused(cube is not None, "--cube", {"--plane": plane, "--pause": pause})
    _refuse_unused(fast, "--fast", {"--share": share, "--jerk": jerk})
    _refuse_unused(line is not None, "--line", {"--fast": fast or None})
    what = load_single(robot)
    along: CartesianPath | None = None
    if line is not None:
        along = line_from(what, _read_line(line), tool)
    elif cube is not None:
        along = cube_path(what, cube, tool, plane or "x+")
    options: dict[str, Any] = {"tool": tool, "begin": begin}
    if along is not None and not along.orientation:
        options["free"] = TURNS
    if fast:
        assert along is not None
        limits = {"top_speed": speed, "share": share, "jerk": jerk}
        options |= {key: value for key, value in limits.items() if value is not None}
        found: Move = move_fast(what, along, **options)
    else:
        options["speed"] = 0.5 if speed is None else speed
        if cube is not None:
            options["pause"] = 0.5 if pause is None else pause
        # Positions of joints, with units where wished; who moves them says which joints there are.
        units = what.state_units()

        def read(joint: str, text: str) -> float:
            return read_quantity(text, units.get(f"{joint}.position", ""), bare=True)

        found = move(what, read_pairs("to", to, read) or None, along=along, **options)
    if out is not None and found.scenario is not None:
        write_scenario(found.scenario, out)
    return WrittenMove(found, out)


def _refuse_unused(used: bool, by: str, options: dict[str, Any]) -> None:
    for option, value in options.items():
        if value is not None and not used:
            raise fail(f"{option}: has no effect without {by}")


def _read_line(text: str) -> list[float]:
    try:
        by = [float(part) for part in text.split(",")]
    except ValueError:
        by = []
    if len(by) != 3:
        refuse(f"--line {text}", "must be three numbers, dx,dy,dz [m]", "--line 0,0.5,0")
    return by


@command("schema", page=False, json=False)
def schema(name: str | None = None) -> None:
    """Print the JSON Schema of scenario files, by which editors complete and check TOML, or of a command's output.

    name (COMMAND): Command whose --json output is described.
    """
    from .application import command_names, load_command, print_json

    if name is None:
        from robodyn.description.files.schema import make_schema

        print_json(make_schema())
        return
    if name in command_names():
        load_command(name)
    if name not in RETURNED:
        raise fail(f"schema: '{name}' prints no JSON ({nearest(name, command_names())})")
    print_json(output_schema(name))
