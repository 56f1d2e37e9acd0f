"""Inverse kinematics: which joint positions bring the tool to a pose? All branches, and the one that is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.base.errors import Flaw, ModelError
from robodyn.base.records import dataclass
from robodyn.description.paths.arm import SerialArm
from robodyn.description.paths.refinement import refine, search
from robodyn.description.paths.spherical_wrist import solve_closed_form, wrist_center

ALIKE = 1e-6
"""Joint positions closer than this are one branch [rad]: at a singularity two branches meet."""


@dataclass(frozen=True, eq=False)
class Branches:
    """All joint positions found that bring the tool to a pose.

    Attributes:
        positions: [rad or m], those of hinges in (-pi, pi], (k, n).
        analytic: whether they come from the closed form; otherwise from a search with many starts.
        periodic: joints that come back after a whole turn, (n,).
    """

    joints: tuple[str, ...]
    positions: np.ndarray
    analytic: bool
    periodic: np.ndarray

    def __len__(self) -> int:
        return len(self.positions)

    def nearest(self, near: Any) -> np.ndarray:
        """The branch whose joints turn least from given positions, whole turns of a joint counted as none, (n,)."""
        if not len(self):
            raise ModelError([Flaw("pose", "is out of reach")], "inverse kinematics")
        shifted = near + wrap(self.positions - np.asarray(near, float), self.periodic)
        return shifted[np.argmin(np.max(np.abs(shifted - near), axis=1))]

    def select(self, index: int) -> np.ndarray:
        """The branch of a number, (n,)."""
        if not isinstance(index, int) or not 0 <= index < len(self):
            what = f"there is no branch {index!r}"
            raise ModelError([Flaw("branch", what, f"there are {len(self)}, counted from 0")], "inverse kinematics")
        return self.positions[index]


def find_branches(arm: SerialArm, R: Any, p: Any, method: str = "auto") -> Branches:
    """All ways to bring the tool to a pose.

    Args:
        R: R_world_tool, 3 x 3; p: place of the tool's point [m, world].
        method: "closed" form, where the last three axes meet; "search" from many starts; "auto" takes the closed
            form where there is one. A closed form gives up to eight branches, in an order that stays along a path.
    """
    if method not in ("auto", "closed", "search"):
        raise ModelError([Flaw("method", f"'{method}' is unknown", "auto, closed or search")], "inverse kinematics")
    R, p = np.asarray(R, float), np.asarray(p, float)
    center = wrist_center(arm) if method != "search" else None
    if center is None and method == "closed":
        what = "the last three of six axes do not meet, or not all motions of the tool count"
        raise ModelError([Flaw("method", what, "use search")], "inverse kinematics")
    if np.all(arm.periodic) and all(arm.kept[3:]) and np.linalg.norm(p - arm.o[0]) > (1 + 1e-9) * arm.reach:
        return Branches(arm.joints, np.zeros((0, arm.n)), center is not None, arm.periodic)
    if center is None:
        found = wrap(search(arm, R, p), arm.periodic)
        order = np.lexsort(np.round(found, 6).T[::-1])
        return Branches(arm.joints, _distinct(arm, found[order]), False, arm.periodic)
    raw = np.array(list(solve_closed_form(arm, center, R, p))).reshape(-1, 6)
    exact = refine(arm, raw, R, p, iterations=3)
    return Branches(arm.joints, _distinct(arm, wrap(exact[np.isfinite(exact[:, 0])])), True, arm.periodic)


def wrap(angle: Any, periodic: Any = True) -> np.ndarray:
    """Angles in (-pi, pi]; positions of joints that are not periodic as they are."""
    angle = np.asarray(angle, float)
    return np.where(periodic, -((np.pi - angle) % (2 * np.pi) - np.pi), angle)


def _distinct(arm: SerialArm, found: np.ndarray) -> np.ndarray:
    kept: list[np.ndarray] = []
    for q in found:
        if all(np.max(np.abs(wrap(q - other, arm.periodic) / arm.scale)) > ALIKE for other in kept):
            kept.append(q)
    return np.array(kept).reshape(-1, arm.n)
