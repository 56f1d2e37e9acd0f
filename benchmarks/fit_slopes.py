"""Fit in closed loop: the same search by exact slopes and by finite differences, in CPU time.

A slide with friction in a sampled loop with a delay; mass, friction, stiffness and start values are free. The encoder
has no counts: differences over small steps would see nothing but these.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.findings import Findings, Row, require_agreement
from robodyn import Recording, simulate
from robodyn.analysis import fit_parameters
from robodyn.description.model import GROUND, Block, Body, Joint, Machine, Mechanism, Scenario

GOAL = 1 / 3
# Two searches of one minimum; and what the noise of the measurement leaves of each number.
AGREEMENT, NOISE = 1e-6, 1e-2
TRUE = {
    "carriage.mass": 12.0, "friction.coulomb": 8.0, "friction.viscous": 25.0, "spring.stiffness": 300.0,
    "initial.rail.position": 0.0, "initial.rail.velocity": 0.0,
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """Duration of the measurement [s], how far wrong the first guess is, and searches each way."""

    duration: float = 3.0
    guess: float = 1.3
    rounds: int = 2


SIZES = {"smallest": Size(0.5, 1.02, 1), "usual": Size()}


def loop(duration: float) -> Scenario:
    """The slide with its controller."""
    wave = {"sines": (0.02, 0.0, 0.012), "cosines": (0.0, 0.008, 0.0), "frequency": 0.5}
    gains = {"proportional": 2e4, "integral": 1e5, "derivative": 800.0}
    read = {"target": "wave.value", "position": "encoder.measured", "velocity": "encoder.measured_rate"}
    losses = {"coulomb": 8.0, "viscous": 25.0, "smoothing_velocity": 1e-3}
    blocks = (
        Block("wave", "multisine_reference", parameters=wave, unit="m"),
        Block("encoder", "sampled_encoder", None, {"value": "rail.position"}, {"resolution": 0.0}, period=1e-3),
        Block("control", "sampled_pid", None, read, gains, period=1e-3, delay=1e-3, unit="N"),
        Block("force", "torque_source", "rail", {"command": "control.command"}),
        Block("friction", "coulomb_friction", "rail", parameters=losses),
        Block("spring", "spring", "rail", parameters={"stiffness": 300.0}),
    )
    rail = Joint("rail", "prismatic", GROUND, "carriage", axis=(1, 0, 0))
    machine = Machine("slide", Mechanism("slide", (Body("carriage", 12.0),), (rail,)), blocks)
    return Scenario("slide", machine, duration, {"rail.position": 0.0, "rail.velocity": 0.0})


def measure(size: Size) -> Findings:
    """The same search both ways, in CPU time; both end at the same numbers."""
    scenario = loop(size.duration)
    run = simulate(scenario, recording=Recording(rate=500.0, signals=("encoder.measured", "control.command")))
    noise = np.random.default_rng(0).normal(0, [1e-6, 0.5], run.values.shape)
    data = replace(run, values=run.values + noise)
    guess = scenario.with_numbers({name: size.guess * value for name, value in TRUE.items() if value})
    spent: dict[bool, list[float]] = {True: [], False: []}
    values = {}
    for _ in range(size.rounds):
        for exact, times in spent.items():
            begun = time.process_time()
            fit = fit_parameters(guess, data, list(TRUE), exact=exact)
            times.append(time.process_time() - begun)
            values[exact] = fit.values
    apart = [abs(values[True][n] / values[False][n] - 1) for n, value in TRUE.items() if value]
    off = [abs(values[True][n] / value - 1) for n, value in TRUE.items() if value]
    agreements = (
        require_agreement("numbers fitted by exact slopes and by differences", max(apart), AGREEMENT),
        require_agreement("fitted numbers and those of the measurement", max(off), NOISE),
    )
    ours, rival = min(spent[True]), min(spent[False])
    name, rival_name = "fit in closed loop, 6 numbers", "central differences"
    row = Row(name, ours, "s", rival=rival, rival_name=rival_name, ratio=ours / rival, goal=GOAL)
    return Findings((row,), agreements=agreements)
