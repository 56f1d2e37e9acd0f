"""ISO 9283 sheet: how accurate and repeatable does a robot follow its path, and because of what?

Cycles of one robot are runs in which the stated uncertainties are drawn anew. Accuracy is split by the error budget of
the scenario itself, projected onto the deviation it explains; repeatability by linear regression on what was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.analysis.accuracy import iso9283
from robodyn.analysis.accuracy.causes import Cause, split_accuracy, split_spread
from robodyn.analysis.accuracy.path_geometry import Corner, Followed, find_followed
from robodyn.analysis.sweeps.plan import plan_sweep
from robodyn.analysis.sweeps.progress import SweepProgress
from robodyn.analysis.sweeps.runner import run_sweep
from robodyn.analysis.sweeps.sampling import Distribution
from robodyn.analysis.sweeps.table import SweepTable
from robodyn.assembly import assemble
from robodyn.errors import Flaw, FlawList, ModelError
from robodyn.model import Scenario
from robodyn.results.signal import Floats
from robodyn.results.table import Curves
from robodyn.waiting import told_if_slow

POINTS = 2001
MOVING, STEADY = 1e-4, 0.999
"""Shares of the top speed above which a tool is under way, and at its commanded speed."""


@dataclass(frozen=True)
class Figure:
    """One figure of the sheet: its symbol, name, formula, cycles, value in a unit, and causes [same unit]."""

    symbol: str
    name: str
    formula: str
    cycles: int
    value: float
    unit: str
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, eq=False)
class Sheet:
    """All figures of one robot on one path.

    Attributes:
        uncertain: what was drawn in every cycle, by name; seed: of the draws.
        time: of the curves [s], (m,); deviation: (n, m, 3), along, horizontal, vertical [m]; speed: (n, m) [m/s].
        commanded: speed [m/s], (m,); notes: what is not on the sheet, and why.
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
    notes: tuple[str, ...]

    def as_plain(self) -> dict[str, Any]:
        """Figures and settings as dictionaries, lists, texts and numbers."""
        return {
            "scenario": self.scenario, "standard": "ISO 9283", "figures": [asdict(figure) for figure in self.figures],
            "uncertain": dict(self.uncertain), "seed": self.seed, "notes": list(self.notes),
        }  # fmt: skip


@told_if_slow("measuring")
def make_sheet(
    scenario: Scenario,
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
    if not random:
        what = "nothing differs from cycle to cycle, so that every repeatability would be 0"
        flaws.add("random", what, 'say what does, such as "*.coulomb" = scale:0.9:1.1')
    if band is not None and not band > 0:
        flaws.add("band", f"must be positive, is {band:g}")
    flaws.raise_if_any(f"sheet of '{scenario.name}'")
    followed = find_followed(assemble(scenario), deviation)
    plan = plan_sweep(
        scenario, random=random, runs=iso9283.POSE_CYCLES, seed=seed, keep=followed.signals, points=points
    )
    table = run_sweep(plan, folder, workers=workers, progress=progress)
    failed = [sentence for sentence, kind in zip(table.sentences, table.outcomes, strict=True) if kind != "finished"]
    if failed or table.curves is None:
        what = f"{len(failed)} of {len(table.outcomes)} cycles did not reach the end"
        raise ModelError([Flaw("cycles", f"{what}: {failed[0] if failed else ''}")], f"sheet of '{scenario.name}'")
    motion = _Motion(table.curves, followed)
    notes: list[str] = ["orientations are not measured"]
    figures = [*_pose(motion), *_path(motion), *_velocity(motion, notes)]
    figures += [*_corners(motion, notes), *_settling(motion, band, notes)]
    figures = _with_causes(scenario, motion, table, figures, budget, notes)
    drawn = {key: f"{d.kind}:{':'.join(f'{a:g}' for a in d.arguments)}" for key, d in random.items()}
    return Sheet(
        scenario.name, scenario.title, tuple(figures), drawn, seed, motion.time, motion.deviation, motion.speed,
        motion.commanded, tuple(notes),
    )  # fmt: skip


class _Motion:
    """The cycles as arrays: deviation and tool (n, m, 3), speeds (n, m), the commanded way (m,) and its speed."""

    def __init__(self, curves: Curves, followed: Followed) -> None:
        self.time = curves.places
        self.followed = followed
        self.deviation = np.stack([curves.values[name] for name in followed.deviation], axis=-1)
        self.tool = np.stack([curves.values[name] for name in followed.tool], axis=-1)
        self.way = curves.values[followed.way][0]
        self.commanded = np.gradient(self.way, self.time)
        self.speed = np.linalg.norm(np.gradient(self.tool, self.time, axis=1), axis=2)
        top = self.commanded.max()
        if not top > 0:
            what = f"'{followed.way}' does not grow: the tool is told to stand"
            raise ModelError([Flaw("path", what, "let the scenario last until it moves")], "sheet")
        self.moving = self.commanded > MOVING * top
        self.steady = self.commanded > STEADY * top
        self.stop = int(np.flatnonzero(self.moving)[-1])

    @property
    def across(self) -> Floats:
        """Deviations perpendicular to the path while it is gone along, (n, m', 2)."""
        return self.deviation[: iso9283.PATH_CYCLES, self.moving, 1:]


def _pose(motion: _Motion) -> list[Figure]:
    found = iso9283.measure_pose(motion.deviation[:, -1], np.zeros(3))
    count = len(motion.deviation)
    return [
        Figure("AP", "pose accuracy at the end of the path", "|mean p_j - p_c|", count, found.accuracy, "m"),
        Figure("RP", "pose repeatability there", "mean l_j + 3 S_l", count, found.repeatability, "m"),
    ]


def _path(motion: _Motion) -> list[Figure]:
    found = iso9283.measure_path(motion.across)
    count = len(motion.across)
    return [
        Figure("AT", "path accuracy", "max_i |mean_j d_ij|", count, found.accuracy, "m"),
        Figure("RT", "path repeatability", "max_i (mean_j l_ij + 3 S_li)", count, found.repeatability, "m"),
    ]


def _velocity(motion: _Motion, notes: list[str]) -> list[Figure]:
    if motion.steady.sum() < 10:
        notes.append("no velocity figures: the commanded speed is constant at fewer than 10 points")
        return []
    commanded = float(motion.commanded[motion.steady].mean())
    found = iso9283.measure_velocity(motion.speed[: iso9283.PATH_CYCLES, motion.steady], commanded)
    count = iso9283.PATH_CYCLES
    return [
        Figure("AV", f"path velocity accuracy at {commanded:.4g} m/s", "(v - v_c)/v_c", count, found.accuracy, "1"),
        Figure("RV", "path velocity repeatability", "3 S_v / v_c", count, found.repeatability, "1"),
        Figure("FV", "path velocity fluctuation", "max_j (max_i v_ij - min_i v_ij)", count, found.fluctuation, "m/s"),
    ]


def _corners(motion: _Motion, notes: list[str]) -> list[Figure]:
    if not motion.followed.corners:
        notes.append("no cornering figures: the path has no corners between straight parts")
    found = []
    tracks = motion.tool[: iso9283.CORNER_CYCLES]
    for number, corner in enumerate(motion.followed.corners, start=1):
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


def _settling(motion: _Motion, band: float | None, notes: list[str]) -> list[Figure]:
    if len(motion.time) - motion.stop < 10:
        notes.append("no stabilisation time: the run ends with the path; let it go on")
        return []
    limit = band or iso9283.measure_pose(motion.deviation[:, -1], np.zeros(3)).repeatability
    # From when the commanded way to the end is within the band: a tool may enter it before the command stops, and a
    # path that ends where it began is not within it at its start.
    begin = int(np.flatnonzero(motion.way[-1] - motion.way > limit).max(initial=0))
    rest = motion.tool[: iso9283.CORNER_CYCLES, begin:]
    apart = np.linalg.norm(rest - rest[:, -1:], axis=2)
    found = iso9283.measure_settling(motion.time[begin:], apart, limit)
    name = f"within {1e6 * limit:.4g} um"
    return [
        Figure("t", f"position stabilisation time, {name}", "first to last entry", len(rest), found.time, "s"),
        Figure("OV", f"position overshoot, {name}", "max |p - p_rest|", len(rest), found.overshoot, "m"),
    ]


def _with_causes(
    scenario: Scenario, motion: _Motion, table: SweepTable, figures: list[Figure], budget: bool, notes: list[str]
) -> list[Figure]:
    """Accuracy by the error budget, repeatability by what was drawn."""
    path = iso9283.measure_path(motion.across)
    times = motion.time[motion.moving]
    end = motion.deviation[:, -1].mean(axis=0)
    at = {
        "AP": (float(motion.time[-1]), end),
        "AT": (float(times[path.worst]), np.append(0.0, path.offsets[path.worst])),
    }
    parts = split_accuracy(scenario, motion.followed.deviation, at, notes) if budget else {}
    clouds = {"RP": motion.deviation[:, -1], "RT": motion.deviation[:, motion.moving][:, path.widest] * (0, 1, 1)}
    values = {figure.symbol: figure.value for figure in figures}
    parts |= {key: split_spread(table, cloud, values[key]) for key, cloud in clouds.items()}
    return [Figure(**(figure.__dict__ | {"causes": parts.get(figure.symbol, ())})) for figure in figures]
