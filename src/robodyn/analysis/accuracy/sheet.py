"""Accuracy sheet: the figures of ISO 9283 of a robot, with their causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations

import numpy as np

from robodyn.analysis.accuracy import iso9283
from robodyn.analysis.budget import REMAINDER, split_deviation
from robodyn.analysis.sweeps.plan import plan_sweep
from robodyn.analysis.sweeps.runner import run_sweep
from robodyn.analysis.sweeps.table import SweepTable
from robodyn.analysis.sweeps.variation import Distribution
from robodyn.base import Array, Displayed, FlawList, ModelError, frozen, refuse, report_progress
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results.table import Curves
from robodyn.description.model import Scenario

from .iso9283 import PARTS, FollowedPath, find_followed, measure_turns

# --------------------------------------------------------------------------------------------------
# Cycles along a path as arrays: when does the tool move, and at which poses does it rest?


MOVING, STEADY = 1e-4, 0.999
"""Shares of the top speed above which a tool is under way, and at its commanded speed."""
LEAST_ROWS, SAME_PLACE, NEARBY = 3, 1e-7, 1e-3
"""Rows of a rest; distance [m] of two rests at one pose; part of the path before a rest that tells its direction."""


@frozen(eq=False)
class Rest:
    """A rest of the tool at a pose.

    Attributes:
        pose: its name, that of a place; name: of this rest, which tells several at one pose apart.
        first, last: rows at which the command stops, and goes on or the run ends.
        place, direction: commanded place [m] and the direction it is approached in, (3,), where known.
    """

    pose: str
    name: str
    first: int
    last: int
    place: Array | None = None
    direction: Array | None = None


class Cycles:
    """Deviation and tool (n, m, 3), turns (n, m, 3) or None, speeds (n, m), the commanded way (m,) and its speed."""

    def __init__(self, curves: Curves, followed: FollowedPath) -> None:
        self.time = curves.places
        self.followed = followed
        self.tool = np.stack([curves.values[name] for name in followed.tool], axis=-1)
        self.deviation = _deviate(curves, followed)
        self.turns = measure_turns(curves, followed.turned) if followed.turned else None
        self.way = curves.values[followed.way][0]
        self.commanded = np.gradient(self.way, self.time)
        self.speed = np.linalg.norm(np.gradient(self.tool, self.time, axis=1), axis=2)
        top = self.commanded.max()
        if not top > 0:
            what = f"'{followed.way}' does not increase: the tool is commanded to stand still"
            refuse("path", what, "let the scenario last until it moves", "sheet")
        self.moving = self.commanded > MOVING * top
        self.steady = self.commanded > STEADY * top

    @property
    def across(self) -> Array:
        """Deviations perpendicular to the path while it is gone along, (n, m', 2)."""
        return self.deviation[: iso9283.PATH_CYCLES, self.moving, 1:]

    @cached_property
    def rests(self) -> tuple[Rest, ...]:
        """Where the command stops after a motion, in order of time; the end of the run where it never does.

        Poses are counted as they are met, P1 being where the path begins.
        """
        # Rests behind motions; a path without any ends in one.
        rows = _still(self.moving) or [(len(self.time) - 1,) * 2]
        places = [self.followed.place(float(self.way[last])) for _, last in rows]
        if len(rows) == 1:
            return (Rest("end", "end", *rows[0], places[0]),)
        poses = _count(self.followed.place(float(self.way[0])), places)
        rests = []
        for k, ((first, last), place) in enumerate(zip(rows, places, strict=True)):
            visits = poses[: k + 1].count(poses[k])
            name = poses[k] if poses.count(poses[k]) == 1 else f"{poses[k]}/{visits}"
            rests.append(Rest(poses[k], name, first, last, place, self._direction(last, place)))
        return tuple(rests)

    def offsets(self, rest: Rest) -> Array:
        """Attained positions from the commanded one (n, 3): in world axes where the place is known, else the path's."""
        return self.deviation[:, rest.last] if rest.place is None else self.tool[:, rest.last] - rest.place

    def _direction(self, row: int, place: Array | None) -> Array | None:
        before = self.followed.place(float(self.way[row]) - NEARBY * float(self.way[-1]))
        if place is None or before is None:
            return None
        return np.asarray((place - before) / np.linalg.norm(place - before))


def _deviate(curves: Curves, followed: FollowedPath) -> Array:
    """Along, horizontal and vertical (n, m, 3): of places, which are smooth, where their axes turn at corners."""
    if followed.path is None:
        return np.stack([curves.values[name] for name in followed.deviation], axis=-1)
    deviations = followed.path(*(curves.values[name] for name in (*followed.tool, followed.way)))
    return np.stack([np.broadcast_to(deviations[part], curves.values[followed.way].shape) for part in PARTS], axis=-1)


def _still(moving: Array) -> list[tuple[int, int]]:
    """First and last row of every rest behind a motion."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], moving, [True]]).astype(int)))
    runs = [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    begin = int(np.argmax(moving))
    return [(a, b) for a, b in runs if a > begin and b - a >= LEAST_ROWS]


def _count(start: Array | None, places: list[Array | None]) -> list[str]:
    """Names of poses: those of one place are one; without places each rest is a pose."""
    cycle_starts = [start]
    names = []
    for number, place in enumerate(places, start=2):
        known = [(k, one) for k, one in enumerate(cycle_starts, start=1) if one is not None and place is not None]
        same = [k for k, one in known if float(np.linalg.norm(one - place)) < SAME_PLACE]
        if not same:
            cycle_starts.append(place)
        names.append(f"P{same[0] if same else (len(cycle_starts) if place is not None else number)}")
    return names


# --------------------------------------------------------------------------------------------------
# Figures of poses (ISO 9283): accuracy and repeatability of positions, orientations and distances, and settling.


ANGLES = ("a", "b", "c")
LEAST_TURN = np.radians(1.0)
"""Directions that differ by less are one."""
LEAST_REST = 10
"""Rows of a rest in which it can be seen how a tool settles."""


def pose_figures(cycles: Cycles, band: float | None, notes: list[str]) -> list[Figure]:
    """All figures of all rests."""
    figures = [figure for rest in cycles.rests for figure in _of_rest(cycles, rest, band, notes)]
    # vAP of the poses that are approached in several directions.
    variations = []
    for pose in dict.fromkeys(rest.pose for rest in cycles.rests):
        rests: list[Rest] = []
        for rest in cycles.rests:
            if rest.pose == pose and all(_differ(rest, other) for other in rests):
                rests.append(rest)
        if len(rests) > 1:
            middles = np.array([cycles.tool[:, rest.last].mean(axis=0) for rest in rests])
            name = f"multi-directional variation, {len(rests)} approaches"
            value = iso9283.measure_variation(middles)
            variations.append(Figure("vAP", name, "max |G_h - G_k|", len(cycles.tool), value, "m", pose=pose))
    return [*figures, *variations, *_distances(cycles, notes)]


def _of_rest(cycles: Cycles, rest: Rest, band: float | None, notes: list[str]) -> list[Figure]:
    attained = iso9283.measure_pose(cycles.deviation[:, rest.last], np.zeros(3))
    count, pose = len(cycles.deviation), rest.name
    figures = [
        Figure("AP", "positioning accuracy", "|mean p_j - p_c|", count, attained.accuracy, "m", pose=pose),
        Figure("RP", "positioning repeatability", "mean l_j + 3 S_l", count, attained.repeatability, "m", pose=pose),
    ]
    if cycles.turns is not None:
        turns = (part.tolist() for part in iso9283.measure_turn(cycles.turns[:, rest.last]))
        for x, axis, accuracy, spread in zip(ANGLES, "xyz", *turns, strict=True):
            name, formula = f"about {axis}", f"mean {x}_j - {x}_c"
            figures += [
                Figure(f"AP{x}", f"orientation accuracy {name}", formula, count, accuracy, "rad", pose=pose),
                Figure(f"RP{x}", f"orientation repeatability {name}", f"3 S_{x}", count, spread, "rad", pose=pose),
            ]
    within = "RP" if band is None else f"{1e6 * band:.4g} um"
    return figures + _settling(cycles, rest, band or attained.repeatability, within, notes)


def _settling(cycles: Cycles, rest: Rest, limit: float, within: str, notes: list[str]) -> list[Figure]:
    if rest.last - rest.first < LEAST_REST:
        notes.append(f"no stabilisation time at {rest.name}: the rest is too short; extend it")
        return []
    # From when the commanded way to the rest is within the band: a tool may enter it before the command stops, and a
    # path that ends where it began is not within it at its start.
    away = cycles.way[rest.last] - cycles.way[: rest.last + 1]
    begin = int(np.flatnonzero(away > limit).max(initial=0))
    tool = cycles.tool[: iso9283.CORNER_CYCLES, begin : rest.last + 1]
    apart = np.linalg.norm(tool - tool[:, -1:], axis=2)
    settling = iso9283.measure_settling(cycles.time[begin : rest.last + 1], apart, limit)
    count, pose = len(tool), rest.name
    return [
        Figure("t", f"stabilisation time within {within}", "first to last entry", count, settling.time, "s", pose=pose),
        Figure("OV", f"position overshoot of {within}", "max |p - p_rest|", count, settling.overshoot, "m", pose=pose),
    ]


def _differ(one: Rest, other: Rest) -> bool:
    if one.direction is None or other.direction is None:
        return False
    cosine = float(np.clip(one.direction @ other.direction, -1, 1))
    return bool(np.arccos(cosine) > LEAST_TURN)


def _distances(cycles: Cycles, notes: list[str]) -> list[Figure]:
    """AD and RD of the two poses farthest apart, the first of several such pairs: P2 and P4 in the standard's cube."""
    if len(cycles.rests) < 2:
        return []
    far: list[tuple[float, Rest, Rest]] = []
    for one, other in combinations(sorted(cycles.rests, key=lambda rest: rest.name), 2):
        if one.place is not None and other.place is not None and one.pose != other.pose:
            far.append((float(np.linalg.norm(one.place - other.place)), one, other))
    if not far:
        notes.append("no distance accuracy: places of the poses are not known")
        return []
    longest = max(far, key=lambda pair: pair[0])[0]
    distance, one, other = next(pair for pair in far if pair[0] > (1 - 1e-6) * longest)
    accuracy, spread = iso9283.measure_distance(cycles.tool[:, one.last], cycles.tool[:, other.last], distance)
    count, name = len(cycles.tool), f"from {one.name} to {other.name}, {1e3 * distance:.5g} mm"
    return [
        Figure("AD", f"distance accuracy {name}", "mean D_j - D_c", count, accuracy, "m"),
        Figure("RD", "distance repeatability", "3 S_D", count, spread, "m"),
    ]


# --------------------------------------------------------------------------------------------------
# Figures of a sheet and their causes: which part of an accuracy has which cause, which number spreads a cloud?


UNEXPLAINED = "not explained"
Key = tuple[str, str]


@frozen
class Cause:
    """One cause and its share of a figure, in the figure's unit; shares of an accuracy add up to it."""

    name: str
    value: float


def split_accuracy(
    scenario: Scenario, signals: Sequence[str], at: Mapping[Key, tuple[float, Array]], notes: list[str]
) -> dict[Key, tuple[Cause, ...]]:
    """Parts of deviations at times, by the error budget of the scenario, the largest first.

    Args:
        at: symbol and pose -> (time [s], deviation (3,)): parts are projected onto its direction. What the scenario
            itself, without draws, does not explain of it is the remainder.
    """
    try:
        budget = split_deviation(scenario, tuple(signals))
    except ModelError as error:
        notes.append(f"accuracy is not split by cause: {error.flaws[0]}")
        return {}
    order = [budget.signals.index(name) for name in signals]
    causes = {}
    for key, (time, offset) in at.items():
        size = float(np.linalg.norm(offset))
        way = offset / size if size > 0 else np.zeros(3)
        parts = []
        for j, part in enumerate(budget.parts):
            components = [np.interp(time, budget.run.time, budget.values[k, j]) for k in order]
            parts.append(Cause(part.name, float(sum(w * c for w, c in zip(way, components, strict=True)))))
        rest = Cause(REMAINDER, size - sum(part.value for part in parts))
        causes[key] = tuple(sorted([*parts, rest], key=lambda part: -abs(part.value)))
    return causes


def split_spread(table: SweepTable, cloud: Array, figure: float) -> tuple[Cause, ...]:
    """Shares of a repeatability by each drawn number: its part of the cloud's variance, by linear regression.

    Args:
        cloud: attained positions (n, 3), or angles (n, 1); figure: what the shares are of.
    """
    # Regression of the cloud on the drawn numbers, each by its own deviation; what is left is not explained.
    names = [name for name in table.drawn if np.std(table.inputs[name]) > 0]
    total = float(((cloud - cloud.mean(axis=0)) ** 2).sum())
    if not names or total == 0 or len(names) >= len(cloud) - 2:
        return ()
    drawn = np.column_stack([(table.inputs[n] - table.inputs[n].mean()) / table.inputs[n].std() for n in names])
    slopes = np.linalg.lstsq(drawn, cloud - cloud.mean(axis=0), rcond=None)[0]
    shares = (slopes**2).sum(axis=1) * len(cloud) / total
    unexplained = ((cloud - cloud.mean(axis=0) - drawn @ slopes) ** 2).sum() / total
    parts = [Cause(name, float(figure * share)) for name, share in zip(names, shares, strict=True)]
    return tuple(sorted([*parts, Cause(UNEXPLAINED, float(figure * unexplained))], key=lambda part: -part.value))


@frozen
class Figure:
    """One figure: its symbol, name, formula, cycles, value in a unit, causes [same unit], and the pose it is of."""

    symbol: str
    name: str
    formula: str
    cycles: int
    value: float
    unit: str
    causes: tuple[Cause, ...] = ()
    pose: str = ""


# --------------------------------------------------------------------------------------------------
# ISO 9283 sheet: how accurate and repeatable does a robot follow its path, and because of what?
#
# Cycles of one robot are runs in which the stated uncertainties are drawn anew. Accuracy is split by the error budget
# of the scenario itself, projected onto the deviation it explains; repeatability by linear regression on what was
# drawn.


POINTS = 2001


@frozen(eq=False)
class Sheet(Displayed):
    """All figures of one robot on one path.

    Attributes:
        uncertain: what was drawn in every cycle, by name; seed: of the draws.
        time: of the curves [s], (m,); deviation: (n, m, 3), along, horizontal, vertical [m]; speed: (n, m) [m/s].
        commanded: speed [m/s], (m,); rests: where the tool rests, with its rows of the curves; clouds: attained
            positions from the commanded one at each, (n, 3) [m], in the world's axes where their places are known.
        notes: what is not on the sheet, and why; payload: mass of the body of that name [kg].
    """

    JSON = """
    scenario
    standard
    figures
    uncertain
    seed
    notes
    """
    scenario: str
    title: str
    figures: tuple[Figure, ...]
    uncertain: Mapping[str, str]
    seed: int
    time: Array
    deviation: Array
    speed: Array
    commanded: Array
    rests: tuple[Rest, ...]
    clouds: tuple[Array, ...]
    notes: tuple[str, ...]
    payload: float | None = None

    @property
    def standard(self) -> str:
        """The standard by which it is measured."""
        return "ISO 9283"

    def __repr__(self) -> str:
        return f"<Sheet of {self.scenario}: {len(self.figures)} figures>"


@report_progress("measuring")
def make_sheet(
    what: Scenario | System,
    random: Mapping[str, Distribution],
    *,
    deviation: str = "deviation",
    seed: int = 1,
    band: float | None = None,
    budget: bool = True,
    points: int = POINTS,
    workers: int | None = None,
) -> Sheet:
    """The figures of ISO 9283 by 30 cycles of a scenario whose tool follows a path.

    Args:
        random: what differs from cycle to cycle, as `plan_sweep` takes it.
        deviation: block that says how far the tool is from its path.
        band: limit band of the stabilisation time [m]; RP by default.
        budget: whether accuracy is split by cause.
        points: times at which the motion is read; workers: threads, one a core by default.

    Raises:
        ModelError: a scenario without a path, nothing that differs, runs that fail.
    """
    flaws = FlawList()
    system = what if isinstance(what, System) else assemble(what)
    scenario = system.scenario
    if not random:
        same = "nothing varies from cycle to cycle, so every repeatability would be 0"
        flaws.add("random", same, 'name what varies, such as "*.coulomb" = scale:0.9:1.1')
    flaws.add_unless_positive(band=band)
    flaws.raise_if_any(f"sheet of '{scenario.name}'")
    followed = find_followed(system, deviation)
    # The runs, with the curves of all signals that are measured.
    plan = plan_sweep(system, random=random, runs=iso9283.POSE_CYCLES, seed=seed, keep=followed.signals, points=points)
    table = run_sweep(plan, workers=workers)
    failed = [sentence for sentence, kind in zip(table.sentences, table.outcomes, strict=True) if kind != "finished"]
    if failed or table.curves is None:
        short = f"{len(failed)} of {len(table.outcomes)} cycles did not reach the end"
        refuse("cycles", f"{short}: {failed[0] if failed else ''}", source=f"sheet of '{scenario.name}'")
    cycles = Cycles(table.curves, followed)
    notes = _about_orientation(scenario, followed)
    figures = [*pose_figures(cycles, band, notes), *_path(cycles), *_velocity(cycles, notes), *_corners(cycles, notes)]
    figures = _with_causes(scenario, cycles, table, figures, budget, notes)
    drawn = {key: f"{d.kind}:{':'.join(f'{a:g}' for a in d.arguments)}" for key, d in random.items()}
    return Sheet(
        scenario.name, scenario.title, tuple(figures), drawn, seed, cycles.time, cycles.deviation, cycles.speed,
        cycles.commanded, cycles.rests, tuple(cycles.offsets(rest) for rest in cycles.rests), tuple(notes),
        payload=scenario.numbers()["payload.mass"].value if "payload.mass" in scenario.numbers() else None,
    )  # fmt: skip


def _about_orientation(scenario: Scenario, followed: FollowedPath) -> list[str]:
    """Sentences on what is not measured."""
    if followed.turned is None:
        return ["orientations are not measured: no path gives the references of all joints of the tool's arm"]
    bent = {body.name for body in scenario.machine.any_mechanism.flexible_bodies}
    body = followed.turned.attained[0].removesuffix(".orientation.w")
    return [f"orientations are those of the frame of '{body}', without its bending"] if body in bent else []


def _path(cycles: Cycles) -> list[Figure]:
    found = iso9283.measure_path(cycles.across)
    count = len(cycles.across)
    figures = [
        Figure("AT", "path accuracy", "max_i |mean_j d_ij|", count, found.accuracy, "m"),
        Figure("RT", "path repeatability", "max_i (mean_j l_ij + 3 S_li)", count, found.repeatability, "m"),
    ]
    if cycles.turns is None:
        return figures
    turns = (part.tolist() for part in iso9283.measure_path_turn(cycles.turns[:count, cycles.moving]))
    for x, axis, accuracy, spread in zip(ANGLES, "xyz", *turns, strict=True):
        formula = f"max_i |mean_j {x}_ij - {x}_ci|"
        figures += [
            Figure(f"AT{x}", f"path orientation accuracy about {axis}", formula, count, accuracy, "rad"),
            Figure(f"RT{x}", f"path orientation repeatability about {axis}", f"max_i 3 S_{x}i", count, spread, "rad"),
        ]
    return figures


def _velocity(cycles: Cycles, notes: list[str]) -> list[Figure]:
    if cycles.steady.sum() < 10:
        notes.append("no velocity figures: the commanded speed is constant at fewer than 10 points")
        return []
    commanded = float(cycles.commanded[cycles.steady].mean())
    accuracy = iso9283.measure_velocity(cycles.speed[: iso9283.PATH_CYCLES, cycles.steady], commanded)
    count = iso9283.PATH_CYCLES
    return [
        Figure("AV", f"path velocity accuracy at {commanded:.4g} m/s", "(v - v_c)/v_c", count, accuracy.accuracy, "1"),
        Figure("RV", "path velocity repeatability", "3 S_v / v_c", count, accuracy.repeatability, "1"),
        Figure(
            "FV", "path velocity fluctuation", "max_j (max_i v_ij - min_i v_ij)", count, accuracy.fluctuation, "m/s"
        ),
    ]


def _corners(cycles: Cycles, notes: list[str]) -> list[Figure]:
    if not cycles.followed.corners:
        notes.append("no cornering figures: the path has no corners between straight parts")
    corners = []
    tracks = cycles.tool[: iso9283.CORNER_CYCLES]
    for number, corner in enumerate(cycles.followed.corners, start=1):
        # The rows of all tracks from where the first is nearest to reach the corner on.
        apart = np.linalg.norm(tracks[0] - corner.place, axis=1)
        near = np.flatnonzero(apart <= corner.reach)
        figures = iso9283.measure_corner(
            (tracks[:, near[0] : near[-1] + 1] if near.size else tracks), corner.place, corner.before, corner.after
        )
        name = f"corner {number}"
        corners += [
            Figure("CR", f"cornering round-off error, {name}", "min |p - corner|", len(tracks), figures.rounding, "m"),
            Figure("CO", f"cornering overshoot, {name}", "max beyond the line", len(tracks), figures.overshoot, "m"),
        ]
    return corners


def _with_causes(
    scenario: Scenario, cycles: Cycles, table: SweepTable, figures: list[Figure], budget: bool, notes: list[str]
) -> list[Figure]:
    """Accuracy of positions by the error budget, repeatability by what was drawn."""
    path = iso9283.measure_path(cycles.across)
    rows = np.flatnonzero(cycles.moving)
    explained = {("AT", ""): (rows[path.worst], np.append(0.0, path.offsets[path.worst]))}
    clouds = {("RT", ""): cycles.deviation[:, rows[path.widest]] * (0, 1, 1)}
    for rest in cycles.rests:
        cloud = cycles.deviation[:, rest.last]
        explained["AP", rest.name], clouds["RP", rest.name] = (rest.last, cloud.mean(axis=0)), cloud
        if cycles.turns is not None:
            turns = cycles.turns[:, rest.last]
            clouds |= {(f"RP{angle}", rest.name): turns[:, k : k + 1] for k, angle in enumerate(ANGLES)}
    parts: dict[tuple[str, str], tuple[Cause, ...]] = {}
    if budget:
        at = {key: (float(cycles.time[row]), offset) for key, (row, offset) in explained.items()}
        parts |= split_accuracy(scenario, cycles.followed.deviation, at, notes)
    values = {(figure.symbol, figure.pose): figure.value for figure in figures}
    parts |= {key: split_spread(table, cloud, values[key]) for key, cloud in clouds.items()}
    return [replace(figure, causes=parts.get((figure.symbol, figure.pose), ())) for figure in figures]
