"""Paths in files: a line, an arc or waypoints with a speed, planned for a mechanism as a reference block."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import FlawList
from robodyn.description import paths
from robodyn.description.model import Block, Description, Floats, Machine, Mechanism, Rows
from robodyn.description.model.fields import (
    Z_AXIS,
    array,
    child,
    flag,
    quantities,
    quantity,
    reference,
    rotation_matrix,
    texts,
    unit_vector,
    vector,
    weights,
    whole_number,
)
from robodyn.description.model.interface import ROTATION

from .reading import TableReader
from .table import FAILED, TomlTable, attempt

if TYPE_CHECKING:
    from robodyn.description.paths import CartesianPath, JointPath
    from robodyn.description.paths.reference import PathRequest

SAME_PLACE = 1e-9
"""Difference of joint positions [rad or m] of a path that is planned again."""


class Pointing(Description):
    """Where a tool's axis points."""

    NOUN, MARKS = "orientation", ("pointing",)

    pointing: Floats = unit_vector(doc="where the tool's axis points, in world axes")
    spin: float = quantity("rad", default=0.0, doc="about it")
    axis: Floats = unit_vector(default=Z_AXIS, doc="of the tool, in its body's frame")

    @property
    def matrix(self) -> Any:
        """R_world_tool."""
        return paths.point_tool(self.pointing, self.spin, self.axis)


class Turned(Description):
    """How a tool is turned."""

    NOUN = "orientation"

    rotation: Rows | None = rotation_matrix(default=None, doc="R_world_tool")

    def check(self, flaws: FlawList) -> None:
        if self.rotation is None:
            flaws.add("", "is missing", "give the direction of the tool: { pointing = [0, 0, -1] }")

    @property
    def matrix(self) -> Any:
        """R_world_tool."""
        return self.rotation


class Timing(Description):
    """When a point is how far along its path, with polynomials of degree 5 between."""

    NOUN = "timing"

    time: Floats = vector("s", None, doc="from the start of the motion, beginning at 0")
    way: Floats = vector("m", None, doc="along the path at these times, beginning at 0")
    speed: Floats = vector("m/s", None, doc="then")
    acceleration: Floats = vector("m/s^2", None, doc="then")

    def check(self, flaws: FlawList) -> None:
        if flaws.found:
            return
        if len(self.time) < 2 or any(b <= a for a, b in pairwise(self.time)) or self.time[0] != 0:
            flaws.add("time", "must be two or more that increase from 0")
        if any(b < a for a, b in pairwise(self.way)) or not self.way or self.way[0] != 0:
            flaws.add("way", "must begin at 0 and not decrease")
        for key in ("way", "speed", "acceleration"):
            if len(getattr(self, key)) != len(self.time):
                flaws.add(key, f"has {len(getattr(self, key))} values, time has {len(self.time)}")


class PathForm(Description, ABC, kw_only=True):
    """The keys of all paths: the tool, its orientation, the speed along it, and how the joints are chosen."""

    NOUN = "path"

    point: str = reference("point", doc="the point of an arm that follows the path")
    orientation: Any = child(
        Pointing,
        Turned,
        default=None,
        doc="table that says how the tool is turned",
        absent="free to rotate, if `free` says so",
    )
    end_orientation: Any = child(
        Pointing,
        Turned,
        default=None,
        doc="the same at the end: the tool rotates uniformly in between",
        absent="as at the start",
    )
    speed: float | None = quantity(
        "m/s", positive=True, default=None, doc="along the path", absent="needed without timing"
    )
    acceleration: float | None = quantity(
        "m/s^2", positive=True, default=None, doc="along the path", absent="needed without timing"
    )
    jerk: float | None = quantity(
        "m/s^3", positive=True, default=None, doc="along the path: S-shaped speed", absent="none: trapezoidal speed"
    )
    timing: Timing | None = child(
        Timing, default=None, doc="instead of speed, acceleration and jerk: an explicit timing", absent="by them"
    )
    begin: float = quantity("s", default=0.0, doc="when it starts to move")
    period: float | None = quantity(
        "s", positive=True, default=None, doc="sample time of setpoints", absent="continuous"
    )
    delay: float = quantity("s", non_negative=True, default=0.0, doc="of their effect")
    near: Floats | None = vector(
        "", None, default=None, doc="joint positions [rad or m] near which the branch is chosen at the start",
        absent="the middle of each joint's limits, or 0",
    )  # fmt: skip
    free: tuple[str, ...] = texts(
        "motion",
        default=(),
        doc='motions of the tool that are left free: `"x"`, `"y"`, `"z"` of the world, one of `"rx"`, `"ry"`, '
        '`"rz"` about its own axes, or all three',
        absent="none",
    )
    prefer: Mapping[str, float] | None = weights(
        "moving joint",
        default=None,
        doc="positions [rad or m] of joints to keep or reach, of a redundant arm",
        absent="as at the start",
    )
    branch: int | None = whole_number(default=None, doc="number of the branch instead")
    singular: float | None = quantity(
        default=None, doc="smallest singular value of the Jacobian that is allowed", absent="0.02"
    )
    spacing: float | None = quantity(
        "m", positive=True, default=None, doc="of the knots", absent="what keeps the interpolation to 1e-11 rad"
    )

    deviation: bool = flag(
        default=False, doc="whether a block `deviation` measures how far the point is from where it should be"
    )
    measured: tuple[str, ...] = texts(
        "signal",
        default=(),
        doc="measured positions of the arm's joints, from which `deviation_seen` is found through nominal kinematics",
        absent="no `deviation_seen`",
    )

    def check(self, flaws: FlawList) -> None:
        for key in ("speed", "acceleration", "jerk"):
            if getattr(self, key) is not None and self.timing is not None:
                flaws.add(key, "has no effect beside timing", "give one of them")
        if self.measured and not self.deviation:
            flaws.add("measured", "has no effect", "deviation = true measures deviations")
        if (
            self.orientation is None
            and not flaws.concern("orientation", "free")
            and not set(ROTATION) <= set(self.free)
        ):
            remedy = f"direct the tool: {{ pointing = [0, 0, -1] }}, or free = {list(ROTATION)} to let it turn"
            flaws.add("orientation", "is missing", remedy)

    @abstractmethod
    def path(self, *turns: Any) -> CartesianPath:
        """The path of the tool, turned so at its start and end."""


class LineForm(PathForm, kw_only=True):
    MARKS = ("kind=line",)
    start: Floats = vector("m", suffixes=(), doc="in world axes")
    end: Floats = vector("m", suffixes=(), doc="in world axes")

    def path(self, *turns: Any) -> CartesianPath:
        return paths.straight_line(self.start, self.end, *turns)


class ArcThrough(PathForm, kw_only=True):
    MARKS = ("kind=arc",)
    start: Floats = vector("m", suffixes=(), doc="in world axes")
    middle: Floats = vector("m", suffixes=(), doc="a point in between")
    end: Floats = vector("m", suffixes=(), doc="in world axes")

    def path(self, *turns: Any) -> CartesianPath:
        return paths.arc_through(self.start, self.middle, self.end, *turns)


class ArcAbout(PathForm, kw_only=True):
    MARKS = ("kind=arc", "center")
    start: Floats = vector("m", suffixes=(), doc="in world axes")
    center: Floats = vector("m", suffixes=(), doc="or the middle of the circle")
    normal: Floats = vector("", suffixes=(), doc="about which it goes round")
    angle: float = quantity("rad", doc="by which it goes round")

    def path(self, *turns: Any) -> CartesianPath:
        return paths.arc_about(self.center, self.normal, self.start, self.angle, *turns)


class WayPointsForm(PathForm, kw_only=True):
    MARKS = ("kind=points",)
    points: Rows = array("m", doc="waypoints, a list of places")
    radius: Any = quantities(
        "m", default=None, doc="of the blends at the inner waypoints, one number or a list", absent="rests at each"
    )
    pause: float | None = quantity(
        "s", non_negative=True, default=None, doc="how long the point rests at the inner waypoints", absent="0"
    )

    def check(self, flaws: FlawList) -> None:
        super().check(flaws)
        if self.radius is not None and self.pause is not None:
            flaws.add("pause", "has no effect beside radius", "give one of them: blends, or rests")
        if self.pause is not None and self.timing is not None:
            flaws.add("pause", "has no effect beside timing", "give one of them")

    def path(self, *turns: Any) -> CartesianPath:
        return paths.waypoints(self.points, self.radius, *turns)


PATHS = (LineForm, ArcThrough, ArcAbout, WayPointsForm)


def read_path(name: str, table: TomlTable, reader: TableReader, mechanism: Mechanism | None) -> tuple[Block, ...]:
    """The blocks of a path: its form read, planned for the mechanism, with every flaw noted.

    Args:
        mechanism: None where there is none or it is flawed; the path's table is then checked by itself.
    """
    form: PathForm | None = reader.read(table, PATHS)
    if form is None:
        return (FAILED,)
    # Here, since a speed that cannot be read is not missing.
    for key in ("speed", "acceleration"):
        if form.timing is None and getattr(form, key) is None:
            table.note(key, "is missing", "or give a timing")
    turns = [None if turn is None else turn.matrix for turn in (form.orientation, form.end_orientation)]
    path = attempt(table, form.path, *turns)
    if mechanism is None and not table.flaws.found:
        table.note("point", "there is no mechanism that could follow the path", "give bodies and joints")
    if path is FAILED or mechanism is None:
        return (FAILED,)
    profile = form.stated("speed", "acceleration", "jerk")
    choice = form.stated("near", "branch", "free", "prefer", "singular", "spacing")
    plan: JointPath | None = attempt(table, paths.plan_path, mechanism, form.point, path, **choice, **profile)
    timing = form.stated(*(key for key in ("begin", "pause", "period", "delay") if key in form.KINDS))
    if plan is None:
        return (FAILED,)
    if form.measured and len(form.measured) != len(plan.joints):
        what = f"must be {len(plan.joints)} signals, is {len(form.measured)}"
        table.note("measured", what, f"one for each of {', '.join(plan.joints)}")
    deviations = paths.deviation_blocks(mechanism, name, form.point, path, form.measured) if form.deviation else ()
    if form.timing is not None:
        # The block of a path with a timing of its own.
        if form.timing.way[-1] > plan.length * (1 + 1e-9):
            what = f"goes to {form.timing.way[-1]:.9g} m, the path ends at {plan.length:.9g} m"
            table.note("timing.way", what)
        rows = (form.timing.time, form.timing.way, form.timing.speed, form.timing.acceleration)
        return (attempt(table, paths.timed_block, name, plan, *rows, **timing), *deviations)
    return (attempt(table, paths.path_block, name, plan, **profile, **timing), *deviations)


def path_tables(flaws: FlawList, machine: Machine) -> dict[str, tuple[dict[str, Any], list[str]]]:
    """The tables of planned paths by the names of their reference blocks, each with all blocks that reading it makes.

    A path that was planned before the mechanism was changed would be another one when it is read: that is a flaw.
    """
    from robodyn.description.paths.deviation import NOMINAL

    there = {block.name: block for block in machine.blocks}
    written: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for name, block in there.items():
        request: PathRequest | None = getattr(block.law, "request", None)
        shape = None if request is None else _shape(request.path)
        if request is None or shape is None or machine.mechanism is None:
            continue
        choice = {key: getattr(request, key) for key in ("near", "branch", "prefer", "singular", "spacing")}
        choice = {key: value for key, value in choice.items() if value is not None}
        plan = paths.plan_path(machine.mechanism, request.point, request.path, free=request.free, **choice)
        law: Any = block.law
        ends = [law.position[k][: len(law.joints)] for k in (0, -1)]
        if not np.allclose(plan.position[[0, -1]], ends, rtol=0, atol=SAME_PLACE):
            flaws.add(f"paths.{name}", "was planned before the mechanism was changed", "plan it again for this one")
        if isinstance(request.prefer, str):
            flaws.add(f"paths.{name}.prefer", f"'{request.prefer}' has no form in files", "give positions by joint")
        table = shape | {"point": request.point} | _turning(request) | _timing_table(block) | choice
        # Deviations that reading the path makes as they are need no tables of their own.
        measured = there[NOMINAL].inputs["positions"] if NOMINAL in there else ()
        blocks = paths.deviation_blocks(machine.mechanism, name, request.point, request.path, measured)
        if all(there.get(one.name) == one for one in blocks):
            table |= {"deviation": True} | ({"measured": list(measured)} if measured else {})
            written[name] = table, [name, *(one.name for one in blocks)]
        else:
            written[name] = table, [name]
    return written


def _shape(path: CartesianPath) -> dict[str, Any] | None:
    """A path's curve as a file gives it; None where no form has it."""
    pieces = path.pieces
    first, last = pieces[0], pieces[-1]
    lines = [piece for piece in pieces if isinstance(piece, paths.Line)]
    if path.stops and len(lines) == len(pieces):
        return {"kind": "points", "points": [*(line.start for line in lines), lines[-1].end]}
    if len(pieces) == 1 and isinstance(first, paths.Line):
        return {"kind": "line", "start": first.start, "end": first.end}
    if len(pieces) == 1 and isinstance(first, paths.Arc):
        return {"kind": "arc"} | {key: getattr(first, key) for key in ("start", "center", "normal", "angle")}
    kinds = [type(piece) for piece in pieces]
    if set(kinds) != {paths.Line, paths.Blend} or (paths.Line, paths.Line) in pairwise(kinds):
        return None
    blends = [piece for piece in pieces if isinstance(piece, paths.Blend)]
    start, end = (piece.at([way])[0][0].tolist() for piece, way in ((first, 0.0), (last, last.length)))
    corners = [list(piece.corner) for piece in blends]
    return {"kind": "points", "points": [start, *corners, end], "radius": [piece.radius for piece in blends]}


def _turning(request: PathRequest) -> dict[str, Any]:
    """How the tool is turned on its way, and which motions are free."""
    turned = request.path.orientation
    if turned is None:
        return {"free": [*ROTATION, *(name for name in request.free if name not in ROTATION)]}
    table: dict[str, Any] = {"orientation": {"rotation": turned.start}}
    table |= {} if turned.end is None else {"end_orientation": {"rotation": turned.end}}
    return table | ({"free": list(request.free)} if request.free else {})


def _timing_table(block: Block) -> dict[str, Any]:
    """When the tool is where, as the block has it now."""
    law: Any = block.law
    table = {key: value for key, value in block.parameters.items() if value != math.inf}
    if hasattr(law, "times"):
        ways = zip(("way", "speed", "acceleration"), (law.position, law.velocity, law.acceleration), strict=True)
        table["timing"] = {"time": law.times} | {key: [row[-1] for row in rows] for key, rows in ways}
    return table | {key: value for key, value in (("period", block.period), ("delay", block.delay)) if value}
