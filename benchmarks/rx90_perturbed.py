"""How much faster is the welding robot simulated near its nominal motion than in full: rigid, elastic, flexible?

Both in the same engine, with the same signals recorded at 1 kHz; friction, drives and controllers are in full on both
sides. One robot by `simulate` and many in lanes by `simulate_many`, their friction drawn at random. Times are
processor times, the least of several in turns. Errors are distances of the tip from a converged non-linear run, solver
included, with perfect encoders: a count that falls a tick earlier or later would hide them. Computing the nominal
motion, its propagators and tables, once for all runs, is not part of the times; it is reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.findings import Findings, Row, Table, require_agreement
from benchmarks.rx90 import ACCURACY, CONVERGED, DEVIATION, OURS, PERFECT, WHOLE, apart
from robodyn import simulate, simulate_many
from robodyn.computation.assembly import assemble
from robodyn.computation.perturbation import Perturbed
from robodyn.computation.simulation import CompiledSystem, compile_system
from robodyn.description.model import Recording, Scenario
from robodyn_studies.catalog.rx90 import rx90_weld, weld_angles
from robodyn_studies.catalog.rx90_links import resting_modes, rx90_flexible_mechanism
from robodyn_studies.rx90_runs import weld

BUILDS = {
    "rigid": "rigid gears",
    "elastic": "elastic gears",
    "flexible": "flexible links, 10 modes",
    "many modes": "flexible links, 30 modes",
}
GOALS = {"rigid": 1 / 8, "elastic": None, "flexible": 1 / 6, "many modes": 1 / 10}
VIBRATIONS = 10
"""Of each of two tubes with its end held, beside five static modes: 30 in all."""
MOST_WITH_MODES = 16
"""Robots with many modes: non-linear ones take a tenth of a second each."""
RECORDING = Recording(rate=1000.0, signals=DEVIATION)
VARIED = ("friction.coulomb", "friction.coulomb_back", "friction.viscous")
# Of tips with the encoders' counts, one of which may fall a tick earlier in one of both ways: 5 um are a count of
# joint 2 at the tip.
WITH_COUNTS = 5e-6


@dataclass(frozen=True)
class Size:
    """Motion begins at 0.3 s."""

    duration: float = WHOLE
    builds: tuple[str, ...] = tuple(BUILDS)
    robots: int = 64
    turns: int = 4


SIZES = {"smallest": Size(0.5, ("rigid",), 2, 1), "usual": Size()}


@dataclass(frozen=True)
class Pair:
    """Both ways of one build: processor times a robot and simulated second [ms/s], least of all turns, errors [m].

    Attributes:
        single, lanes: non-linear and perturbed.
        error, near_error: of the non-linear and of the perturbed run from the converged one, with perfect encoders.
        difference: of both with the encoders' counts. ready: to make the nominal motion and its tables ready [s].
    """

    single: tuple[float, float]
    lanes: tuple[float, float]
    error: float
    near_error: float
    difference: float
    ready: float
    way: str


def measure(size: Size) -> Findings:
    """Two rows of each build, one robot and several side by side."""
    rows, agreements, lines = [], [], []
    for build in size.builds:
        pair = compare_ways(build, size)
        what = f"tips of both ways and of a converged run, {BUILDS[build]}, perfect encoders,"
        agreements.append(require_agreement(what, max(pair.error, pair.near_error), ACCURACY, "m"))
        what = f"tips of both ways, {BUILDS[build]}, with counts,"
        agreements.append(require_agreement(what, pair.difference, WITH_COUNTS, "m"))
        for name, times in (("one robot", pair.single), ("many in lanes", pair.lanes)):
            lines.append((BUILDS[build], name, *times, times[0] / times[1]))
            rows.append(describe(build, name, times, pair))
    columns = ("build", "runs", "non-linear, ms/s", "perturbed, ms/s", "times faster")
    return Findings(tuple(rows), (Table("RX90B weld: both ways", columns, tuple(lines)),), tuple(agreements))


def describe(build: str, name: str, times: tuple[float, float], pair: Pair) -> Row:
    return Row(
        f"RX90B weld, {BUILDS[build]}, perturbation against non-linear, {name}",
        times[1],
        "ms/s",
        f"propagators: {pair.way}; tips {pair.difference * 1e6:.2f} um apart with the encoders' counts; without them "
        f"{pair.near_error * 1e6:.3f} um from a converged run; made ready in {pair.ready:.2f} s",
        times[0],
        "non-linear, alike",
        times[1] / times[0],
        GOALS[build],
    )


def scenario_of(build: str, duration: float) -> Scenario:
    """The weld of one build."""
    if build != "many modes":
        return replace(weld(build), duration=duration)
    scenario, mechanism = rx90_weld(flexible=True), rx90_flexible_mechanism(vibrations=VIBRATIONS)
    start = {name: value for name, value in scenario.initial.items() if name.startswith(("joint", "axis"))}
    start |= resting_modes(mechanism, weld_angles())
    machine = replace(scenario.machine, mechanism=mechanism)
    return replace(scenario, name="rx90-weld-modes", machine=machine, initial=start, duration=duration)


def compare_ways(build: str, size: Size) -> Pair:
    """Everything of one build."""
    scenario = scenario_of(build, size.duration)
    system = assemble(scenario)
    full = compile_system(system, OURS, signals=DEVIATION)
    near = Perturbed(system, solver=OURS, signals=DEVIATION)
    near.simulate(recording=RECORDING)
    # Once more, compiled: what the nominal motion, its propagators and tables take.
    near.use_points(near.points)
    begun = time.process_time()
    near.simulate(recording=RECORDING)
    ready = time.process_time() - begun
    ways: dict[str, Callable[..., Any]] = {
        "full": partial(simulate, full, OURS, recording=RECORDING),
        "near": partial(near.simulate, recording=RECORDING),
    }
    robots = size.robots if build != "many modes" else min(size.robots, MOST_WITH_MODES)
    numbers = draw_friction(full, robots)
    for name, compiled in (("full lanes", full), ("near lanes", near.compiled({}))):
        settings = {"measures": [f"peak:{DEVIATION[0]}"], "record": RECORDING, "threads": 1, "lanes": True}
        ways[name] = partial(simulate_many, compiled, numbers, **settings)
    # Non-linear lanes with many modes take seconds each.
    seconds = time_in_turns(ways, size.turns if build != "many modes" else min(size.turns, 2))
    best = simulate(full, CONVERGED, recording=RECORDING, parameters=PERFECT)
    errors = [apart(ways[name](parameters=PERFECT), best) for name in ("full", "near")]
    runs = [ways[name]() for name in ("full", "near")]
    scale = 1e3 / scenario.duration
    single = scale * seconds["full"], scale * seconds["near"]
    lanes = scale / robots * seconds["full lanes"], scale / robots * seconds["near lanes"]
    way = runs[1].statistics.extra["propagators"]
    return Pair(single, lanes, errors[0], errors[1], apart(*runs), ready, way)


def draw_friction(full: CompiledSystem, count: int) -> dict[str, np.ndarray]:
    """Coulomb and viscous friction of all places, known to about a fifth."""
    draw = np.random.default_rng(1).standard_normal
    varied = [number for number in full.system.parameters if number.name.endswith(VARIED)]
    return {number.name: number.value * np.exp(0.2 * draw(count)) for number in varied}


def time_in_turns(ways: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """Least processor time of each way [s]; a first turn compiles and does not count."""
    least = dict.fromkeys(ways, np.inf)
    for turn in range(turns + 1):
        for name, way in ways.items():
            begun = time.process_time()
            way()
            if turn:
                least[name] = min(least[name], time.process_time() - begun)
    return least
