"""RX90B study, runs: which do published values and pictures share, and what is read from them?"""

from __future__ import annotations

from functools import cache

import numpy as np

from robodyn.computation.assembly import assemble
from robodyn.computation.perturbation import Perturbed
from robodyn.computation.results import Run
from robodyn.computation.simulation import CompiledSystem, compile_system, simulate
from robodyn.description.model import Recording, Scenario, Solver
from robodyn_studies.catalog import rx90_weld
from robodyn_studies.catalog.rx90 import stiff_bristles
from robodyn_studies.catalog.rx90_parameters import AXES

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
PERFECT = {f"axis{k}.encoder.resolution": SMOOTH for k in AXES}
MICRO = 1e6
SIDES = ("horizontal", "vertical")
DEVIATIONS = tuple(f"deviation.{side}" for side in SIDES)
BUILDS = {"rigid": {}, "elastic": {"elastic": True}, "flexible": {"flexible": True}}
"""The robot with nothing elastic, with gears that twist, with rigid gears and links that bend."""
TIP = tuple(f"tool.position.{axis}" for axis in "xyz")
READINGS = tuple(f"axis{k}.encoder.measured" for k in AXES)
SEEN = (*TIP, *DEVIATIONS, "path.s", "path.speed", "tool.velocity.y", *READINGS)
"""What is recorded of robots that are not rigid: native code of few signals is compiled sooner."""


@cache
def weld(build: str = "rigid") -> Scenario:
    """The weld of one of BUILDS."""
    return rx90_weld(**BUILDS[build])


def signals_of(build: str) -> tuple[str, ...]:
    """What runs record: of the rigid robot all."""
    return ("*",) if build == "rigid" else SEEN


@cache
def full_weld(build: str, signals: tuple[str, ...]) -> CompiledSystem:
    """The weld by the non-linear equations, made ready."""
    return compile_system(assemble(weld(build)), Solver("rosw2", step=STEP), signals=signals)


@cache
def _compiled_near(build: str, signals: tuple[str, ...], propagators: bool) -> Perturbed:
    solver = Solver("rosw2", step=STEP)
    return Perturbed(weld(build), points=POINTS, solver=solver, signals=signals, propagators=propagators)


def near_weld(build: str, signals: tuple[str, ...], points: int = POINTS, propagators: bool = True) -> Perturbed:
    """The weld made ready near its nominal motion in so many pieces; the code is shared, whatever their number."""
    near = _compiled_near(build, signals, propagators)
    if near.points != points:
        near.use_points(points)
    return near


@cache
def weld_run(build: str = "rigid", smooth: bool = False, step: float = STEP, stiff: bool = False) -> Run:
    """The weld by the non-linear equations.

    Args:
        smooth: whether the encoders don't round; stiff: whether bristles give way by tenths of a microradian.
    """
    signals = signals_of(build)
    solver, recording = Solver("rosw2", step=step), Recording(rate=1000.0, signals=signals)
    return simulate(full_weld(build, signals), solver, parameters=changed(smooth, stiff), recording=recording)


@cache
def perturbed_run(
    build: str = "rigid",
    smooth: bool = False,
    points: int = POINTS,
    step: float = STEP,
    stiff: bool = False,
    propagators: bool | None = None,
) -> Run:
    """The weld by the perturbation method.

    Args:
        propagators: whether they take the steps; by default not where encoders don't round, so that both simulations
            take the same steps and differ by what linear mechanics leave out.
    """
    signals = signals_of(build)
    propagators = not smooth if propagators is None else propagators
    near, recording = near_weld(build, signals, points, propagators), Recording(rate=1000.0, signals=signals)
    # The same code, whatever its step.
    near.solver = Solver("rosw2", step=step)
    return near.simulate(parameters=changed(smooth, stiff), recording=recording)


def changed(smooth: bool, stiff: bool) -> dict[str, float]:
    """Numbers of a robot whose encoders don't round, and of one with stiff bristles."""
    return (PERFECT if smooth else {}) | (stiff_bristles() if stiff else {})


def apart(run: Run, other: Run) -> np.ndarray:
    """Distance of the tips of two runs at the instants of the first [m], (n_times,)."""
    return np.linalg.norm([run[name].values - other[name](run.time) for name in TIP], axis=0)


def largest_deviations(run: Run) -> list[float]:
    """Largest size of the horizontal and of the vertical deviation [m]."""
    return [float(np.max(np.abs(run[name].values))) for name in DEVIATIONS]


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
