"""Mode animation: how does a mode look in motion? A period of it as a run, large enough to be seen.

    q = q0 + a Re(phi exp(j omega t))

The amplitude a is chosen for the eye and stays: neither damping nor large motions are in it. Joints and modes that
lag behind each other do so here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.linear.modes import Mode, ModeSet
from robodyn.analysis.linear.tangent import positions_by
from robodyn.computation.assembly import System
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.description.model import describe

# Rows of a period: between them, motions drawn as straight lines are off by a thousandth of their size.
ROWS = 73
MOST_MODES = 12


@dataclass(frozen=True, eq=False)
class Vibration:
    """Modes in motion.

    Attributes:
        found: all modes; modes: those that are drawn, runs: a period of each; rest: the operating point.
        period: of every run [s], whatever the mode's own.
    """

    found: ModeSet
    modes: tuple[Mode, ...]
    runs: tuple[Run, ...]
    rest: Run
    period: float


def animate_modes(
    found: ModeSet, system: System, *, modes: Sequence[Mode] | None = None, period: float = 2.0
) -> Vibration:
    """A period of each mode as positions of all joints and modal coordinates.

    Args:
        found: modes of the system, with shapes in space.
        modes: which ones, from those found; without them the slowest that oscillate and move the mechanism.
        period: how long each is made to take [s].
    """
    modes = list(found.moving[:MOST_MODES] if modes is None else modes)
    modes = [mode for mode in modes if mode.displaced is not None]
    if not modes:
        raise ValueError("no mode oscillates and moves the mechanism")
    runs = tuple(_run(system, found, mode, period) for mode in modes)
    return Vibration(found, tuple(modes), runs, _run(system, found, None, period), period)


def _run(system: System, found: ModeSet, mode: Mode | None, period: float) -> Run:
    point = found.model.point
    assert point is not None
    coordinates = system.states[: system.n_q]
    time = np.linspace(0.0, period, ROWS)
    swing = np.zeros((ROWS, system.n_q))
    if mode is not None and mode.displaced is not None:
        into, positions = positions_by(system, point.x)
        shape = mode.displaced.amplitude * (into @ [mode.shape[name] for name in positions])
        swing = np.real(np.exp(2j * np.pi * time / period)[:, None] * shape)
    infos = tuple(SignalInfo(state.name, state.unit) for state in coordinates)
    said = "the operating point" if mode is None else f"a period of {1 / mode.frequency:.4g} s, drawn in {period:g} s"
    outcome = Outcome(OutcomeKind.FINISHED, said, period)
    return Run(time, point.x[: system.n_q] + swing, infos, outcome, _provenance(system, point.p))


def _provenance(system: System, p: np.ndarray) -> Provenance:
    used = {name: {"value": number.value, "unit": number.unit} for name, number in system.numbers.items()}
    for number, value in zip(system.parameters, p.tolist(), strict=True):
        used[number.name] = {"value": value, "unit": number.unit}
    return Provenance(system.scenario.name, describe(system.scenario), used)
