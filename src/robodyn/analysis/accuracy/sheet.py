"""ISO 9283 sheet: how accurate and repeatable does a robot follow its path, and because of what?

Cycles of one robot are runs in which the stated uncertainties are drawn anew. Accuracy is split by the error budget of
the scenario itself, projected onto the deviation it explains; repeatability by linear regression on what was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.analysis.accuracy import iso9283
from robodyn.analysis.accuracy.causes import Cause, Figure, split_accuracy, split_spread
from robodyn.analysis.accuracy.cycles import Cycles, Rest
from robodyn.analysis.accuracy.path_geometry import Corner, Followed, find_followed
from robodyn.analysis.accuracy.poses import ANGLES, pose_figures
from robodyn.analysis.sweeps.plan import plan_sweep
from robodyn.analysis.sweeps.runner import SweepProgress, run_sweep
from robodyn.analysis.sweeps.table import SweepTable
from robodyn.analysis.sweeps.variation import Distribution
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.base.lazy import Displayed
from robodyn.base.waiting import told_if_slow
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results.signal import Floats
from robodyn.description.model import Scenario

POINTS = 2001


@dataclass(frozen=True, eq=False)
class Sheet(Displayed):
    """All figures of one robot on one path.

    Attributes:
        uncertain: what was drawn in every cycle, by name; seed: of the draws.
        time: of the curves [s], (m,); deviation: (n, m, 3), along, horizontal, vertical [m]; speed: (n, m) [m/s].
        commanded: speed [m/s], (m,); rests: where the tool rests, with its rows of the curves; clouds: attained
            positions from the commanded one at each, (n, 3) [m], in the world's axes where their places are known.
        notes: what is not on the sheet, and why.
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
    time: Floats
    deviation: Floats
    speed: Floats
    commanded: Floats
    rests: tuple[Rest, ...]
    clouds: tuple[Floats, ...]
    notes: tuple[str, ...]

    @property
    def standard(self) -> str:
        """By which it is measured."""
        return "ISO 9283"

    def __repr__(self) -> str:
        return f"<Sheet of {self.scenario}: {len(self.figures)} figures>"


@told_if_slow("measuring")
def make_sheet(
    what: Scenario | System,
    random: Mapping[str, Distribution],
    *,
    deviation: str = "deviation",
    seed: int = 1,
    band: float | None = None,
    budget: bool = True,
    points: int = POINTS,
    folder: str | Path | None = None,
    workers: int | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> Sheet:
    """The figures of ISO 9283 by 30 cycles of a scenario whose tool follows a path.

    Args:
        random: what differs from cycle to cycle, as `plan_sweep` takes it.
        deviation: block that says how far the tool is from its path.
        band: limit band of the stabilisation time [m]; RP by default.
        budget: whether accuracy is split by cause.
        points: times at which the motion is read; folder: keeps runs, so that the same call goes on after a break.

    Raises:
        ModelError: a scenario without a path, nothing that differs, runs that fail.
    """
    flaws = FlawList()
    system = what if isinstance(what, System) else assemble(what)
    scenario = system.scenario
    if not random:
        same = "nothing differs from cycle to cycle, so that every repeatability would be 0"
        flaws.add("random", same, 'say what does, such as "*.coulomb" = scale:0.9:1.1')
    flaws.add_unless_positive(band=band)
    flaws.raise_if_any(f"sheet of '{scenario.name}'")
    followed = find_followed(system, deviation)
    table = _run_cycles(system, random, seed, followed, points, folder, workers, progress)
    assert table.curves is not None
    cycles = Cycles(table.curves, followed)
    notes = _about_orientation(scenario, followed)
    figures = [*pose_figures(cycles, band, notes), *_path(cycles), *_velocity(cycles, notes), *_corners(cycles, notes)]
    figures = _with_causes(scenario, cycles, table, figures, budget, notes)
    drawn = {key: f"{d.kind}:{':'.join(f'{a:g}' for a in d.arguments)}" for key, d in random.items()}
    return Sheet(
        scenario.name, scenario.title, tuple(figures), drawn, seed, cycles.time, cycles.deviation, cycles.speed,
        cycles.commanded, cycles.rests, tuple(cycles.offsets(rest) for rest in cycles.rests), tuple(notes),
    )  # fmt: skip


def _about_orientation(scenario: Scenario, followed: Followed) -> list[str]:
    """What is not measured of it."""
    if followed.turned is None:
        return ["orientations are not measured: no path gives the references of all joints of the tool's arm"]
    mechanism = scenario.machine.mechanism
    bent = {body.name for body in mechanism.flexible_bodies} if mechanism else set()
    body = followed.turned.attained[0].removesuffix(".orientation.w")
    return [f"orientations are those of the frame of '{body}', not of where it bends"] if body in bent else []


def _run_cycles(
    system: System, random: Mapping[str, Distribution], seed: int, followed: Followed, points: int, *how: Any
) -> SweepTable:
    """The runs, with the curves of all signals that are measured."""
    plan = plan_sweep(system, random=random, runs=iso9283.POSE_CYCLES, seed=seed, keep=followed.signals, points=points)
    folder, workers, progress = how
    table = run_sweep(plan, folder, workers=workers, progress=progress)
    failed = [sentence for sentence, kind in zip(table.sentences, table.outcomes, strict=True) if kind != "finished"]
    if failed or table.curves is None:
        what = f"{len(failed)} of {len(table.outcomes)} cycles did not reach the end"
        raise ModelError([Flaw("cycles", f"{what}: {failed[0] if failed else ''}")], f"sheet of '{plan.scenario.name}'")
    return table


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
    found = iso9283.measure_velocity(cycles.speed[: iso9283.PATH_CYCLES, cycles.steady], commanded)
    count = iso9283.PATH_CYCLES
    return [
        Figure("AV", f"path velocity accuracy at {commanded:.4g} m/s", "(v - v_c)/v_c", count, found.accuracy, "1"),
        Figure("RV", "path velocity repeatability", "3 S_v / v_c", count, found.repeatability, "1"),
        Figure("FV", "path velocity fluctuation", "max_j (max_i v_ij - min_i v_ij)", count, found.fluctuation, "m/s"),
    ]


def _corners(cycles: Cycles, notes: list[str]) -> list[Figure]:
    if not cycles.followed.corners:
        notes.append("no cornering figures: the path has no corners between straight parts")
    found = []
    tracks = cycles.tool[: iso9283.CORNER_CYCLES]
    for number, corner in enumerate(cycles.followed.corners, start=1):
        figures = iso9283.measure_corner(_near(tracks, corner), corner.place, corner.before, corner.after)
        name = f"corner {number}"
        found += [
            Figure("CR", f"cornering round-off error, {name}", "min |p - corner|", len(tracks), figures.rounding, "m"),
            Figure("CO", f"cornering overshoot, {name}", "max beyond the line", len(tracks), figures.overshoot, "m"),
        ]
    return found


def _near(tracks: Floats, corner: Corner) -> Floats:
    """The rows of all tracks from where the first is nearest to reach the corner on."""
    apart = np.linalg.norm(tracks[0] - corner.place, axis=1)
    near = np.flatnonzero(apart <= corner.reach)
    return tracks[:, near[0] : near[-1] + 1] if near.size else tracks


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
