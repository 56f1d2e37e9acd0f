"""Which runs and readings do the figures and pictures of the RX90B study share?"""

from __future__ import annotations

from functools import cache

import numpy as np

from robodyn.catalog import rx90_weld
from robodyn.catalog.rx90_parameters import AXES
from robodyn.engine import Solver
from robodyn.model import Scenario
from robodyn.perturbation import Perturbed
from robodyn.results import Run
from robodyn.simulation import simulate

STUDY = "study of the RX90B"
OWN = "own"
POINTS = 400
"""Of linearisation along the path, as in the study."""
STEP = 0.25e-3
"""Of the traced whole-step method [s]: the sample time of the fast loops."""
REVERSAL = 0.6
"""Where joints 2 and 3 turn back in the study [m along the path]."""
SMOOTH = 1e-13
"""Resolution [rad] of an encoder that rounds nothing that counts."""
MICRO = 1e6
SIDES = ("horizontal", "vertical")
DEVIATIONS = tuple(f"deviation.{side}" for side in SIDES)
BUILDS = {"rigid": {}, "elastic": {"elastic": True}, "flexible": {"flexible": True}}
"""The robot with nothing elastic, with gears that twist, and with rigid gears and links that bend."""
TIP = tuple(f"tool.position.{axis}" for axis in "xyz")


@cache
def weld(build: str = "rigid", smooth: bool = False) -> Scenario:
    """The weld.

    Args:
        build: one of BUILDS; smooth: whether its encoders don't round.
    """
    scenario = rx90_weld(**BUILDS[build])
    return scenario.with_numbers({f"axis{k}.encoder.resolution": SMOOTH for k in AXES}) if smooth else scenario


@cache
def weld_run(build: str = "rigid", smooth: bool = False, step: float = STEP) -> Run:
    """The weld by the non-linear equations."""
    return simulate(weld(build, smooth), Solver("rosw2", step=step))


@cache
def near_weld(build: str = "rigid", smooth: bool = False) -> Perturbed:
    """The weld made ready near its nominal motion."""
    return Perturbed(weld(build, smooth), points=POINTS, solver=Solver("rosw2", step=STEP))


@cache
def perturbed_run(build: str = "rigid", smooth: bool = False, points: int = POINTS) -> Run:
    """The weld by the perturbation method."""
    near = near_weld(build, smooth)
    if near.points != points:
        near.use_points(points)
    return near.simulate()


def apart(run: Run, other: Run) -> np.ndarray:
    """Distance of the tips of two runs at the instants of the first [m], (n_times,)."""
    return np.linalg.norm([run[name].values - other[name](run.time) for name in TIP], axis=0)


def share_below(values: np.ndarray, bound: float) -> float:
    """Part of the time, evenly sampled, that values are below a bound."""
    return float(np.mean(values < bound))


def along_path(run: Run) -> np.ndarray:
    """Way along the line [mm], (n_times,)."""
    return 1e3 * run["path.s"].values


def jump_at(run: Run, place: float, side: str, reach: float = 0.025) -> float:
    """How much a deviation changes within a piece of the path [m]: its largest less its smallest value.

    Args:
        place: middle of the piece [m along the path]; reach: half its length [m].
    """
    near = np.abs(run["path.s"].values - place) <= reach
    return float(np.ptp(run[f"deviation.{side}"].values[near]))
