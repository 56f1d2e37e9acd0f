"""Coverage of intervals: how often do those of fits and identifications hold a known truth, for which noise?

An interval that is doubted (`doubt`) does not claim to be one: with a model's error it must be, or hold all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.findings import Findings, Table, require_agreement
from robodyn import Recording, simulate
from robodyn.analysis.coloured_noise import describe_doubt
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.identification.identify import plan_identification
from robodyn.base import Array
from robodyn.computation.results import Run
from robodyn.description.catalog import find_scenario
from robodyn.description.catalog.six_axis import MOTORS
from robodyn.description.model import GROUND, Block, Body, Joint, Machine, Mechanism, Scenario

COUNT = 2 * np.pi / 4096 / 100
"""Of a motor's encoder behind a gear of 100 [rad]."""
NOISE = 0.02
"""Of measured torques, by their spread."""
LEVEL = 0.95
ROWS, RATE = 1001, 100.0
TRUTH = {"spring.stiffness": 30.0, "drag.viscous": 3.0}
MEMORY = 20
"""Samples over which coloured noise forgets to 1/e."""
RUBBING = 0.4
"""Dry friction of the slide that the model lacks [N]."""


@dataclass(frozen=True)
class Size:
    """Repetitions of the slide and of the arm, and how far the share of intervals that hold the truth may be from 95 %:
    the fewer, the farther."""

    slide: int = 150
    arm: int = 60
    allowed: float = 0.02


SIZES = {"smallest": Size(10, 2, 0.13), "usual": Size()}


def measure(size: Size) -> Findings:
    """Shares of 95 % intervals that hold the truth and that are doubted, by method and noise."""
    lines, agreements = [], list[str]()
    for method, numbers, noise, held, doubted in [*_slide(size.slide), *_arm(size.arm)]:
        share, sure = float(held.mean()), held[~doubted]
        silent = float((~sure).sum() / held.size)
        least = f"{100 * held.mean(axis=0).min():.1f} %"
        lines.append((method, numbers, noise, f"{100 * share:.1f} %", least, f"{100 * doubted.mean():.1f} %"))
        if doubted.mean() > 0.5:
            # These do not claim to be 95 % intervals: too few may be wrong without a word.
            sentence = f"{method}, {noise}: the share of intervals that miss the truth without a word and 5 %"
            agreements.append(require_agreement(sentence, max(silent - (1 - LEVEL), 0.0), size.allowed, "of 1"))
        else:
            sentence = f"{method}, {noise}: the share of 95 % intervals of {numbers} that hold the truth and 95 %"
            agreements.append(require_agreement(sentence, abs(share - LEVEL), size.allowed, "of 1"))
    columns = ("method", "numbers", "noise", "hold the truth", "least of one number", "doubted")
    title = f"{size.slide} repetitions of a slide on a spring, {size.arm} of a six-axis arm"
    return Findings(tables=(Table(title, columns, tuple(lines)),), agreements=tuple(agreements))


Case = tuple[str, str, str, Array, Array]
"""Method, numbers, noise, whether intervals hold (repetitions, numbers), and whether they are doubted."""


def _white(rng: np.random.Generator, y: Array) -> Array:
    return y + 0.01 * y.std() * rng.normal(size=y.size)


def _coloured(rng: np.random.Generator, y: Array) -> Array:
    a, e = np.exp(-1 / MEMORY), rng.normal(size=y.size)
    e[1:] *= np.sqrt(1 - a * a)
    for k in range(1, y.size):
        e[k] += a * e[k - 1]
    return np.asarray(y + 0.01 * y.std() * e)


def _quantised(rng: np.random.Generator, y: Array) -> Array:
    count = 0.02 * y.std()
    offset = rng.random()
    return np.asarray((np.round(y / count + offset) - offset) * count)


NOISES: dict[str, Callable[[np.random.Generator, Array], Array]] = {
    "white": _white,
    "coloured": _coloured,
    "quantised": _quantised,
    "model error": _white,
}


def slide(rubbing: float = 0.0) -> Scenario:
    """A mass of 2 kg on a spring, moved by a force of many frequencies."""
    # The motion does not repeat itself in the recording: rounding would repeat with it.
    wave = {"sines": (1.0,) * 7, "cosines": (1.0,) * 7, "frequency": 0.097}
    dry = {"coulomb": rubbing, "viscous": 0.0, "smoothing_velocity": 1e-3}
    blocks = (
        Block("wave", "multisine_reference", unit="N", parameters=wave),
        Block("drive", "torque_source", "rail", {"command": "wave.value"}),
        Block("spring", "spring", "rail", parameters={"stiffness": TRUTH["spring.stiffness"]}),
        Block("drag", "viscous_friction", "rail", parameters={"viscous": TRUTH["drag.viscous"]}),
        *([Block("rubbing", "coulomb_friction", "rail", parameters=dry)] if rubbing else []),
    )
    rail = Joint("rail", "prismatic", GROUND, "cart", axis=(1.0, 0.0, 0.0))
    return Scenario("slide", Machine("slide", Mechanism("slide", (Body("cart", 2.0),), (rail,)), blocks), 10.0)


def _slide(repetitions: int) -> Iterator[Case]:
    """Spring and friction by a fit of positions, and with the mass by inverse dynamics of forces."""
    times = tuple(np.arange(ROWS) / RATE)
    recording = Recording(times=times, signals=("rail.position", "drive.torque"))
    waves = [_draw_wave(seed) for seed in range(repetitions)]
    rubbings = (0.0, RUBBING)
    runs = {r: [simulate(slide(r).with_numbers(wave), recording=recording) for wave in waves] for r in rubbings}
    guess = slide().with_numbers({"spring.stiffness": 25.0, "drag.viscous": 4.0})
    plan = plan_identification(slide(), runs[0.0][0])
    right = plan.base.G @ plan.regressor.given
    for noise, spoil in NOISES.items():
        fits, identified = list[tuple[list[bool], bool]](), list[tuple[list[bool], bool]]()
        for seed, run in enumerate(runs[RUBBING if noise == "model error" else 0.0]):
            rng = np.random.default_rng(seed)
            position, force = run.values.T
            fit = fit_parameters(guess.with_numbers(waves[seed]), _log(run, [spoil(rng, position)]), tuple(TRUTH))
            fits.append(([p.lower <= TRUTH[p.name] <= p.upper for p in fit.parameters], bool(fit.doubt)))
            rows = plan.rows(_log(run, [position, spoil(rng, force)]))
            found = plan.estimate([rows])
            doubt = describe_doubt(found.spread, found.parts, [rows.Y])
            held = np.abs(found.beta - right) < found.spread.half_widths
            identified.append((held.tolist(), bool(doubt)))
        for method, numbers, cases in (("fit", "spring, friction", fits), ("identify", "mass to offset", identified)):
            yield method, numbers, noise, *(np.array(part) for part in zip(*cases, strict=True))


def _draw_wave(seed: int) -> dict[str, float]:
    """Amplitudes and phases of the force's seven frequencies [N]."""
    numbers = np.random.default_rng(seed).normal(0, 2.0, (2, 7))
    return {f"wave.{part}.{k}": float(numbers[i, k]) for i, part in enumerate(("sines", "cosines")) for k in range(7)}


def _log(run: Run, columns: Sequence[Array]) -> Run:
    """The first signals of a run with other values."""
    infos = tuple(replace(info, rate=None) for info in run.infos[: len(columns)])
    return Run(run.time, np.column_stack(columns), infos, run.outcome, run.provenance)


def _arm(repetitions: int) -> Iterator[Case]:
    """Inertias and losses of the catalogue's excited arm by encoder counts and noisy torques."""
    scenario = find_scenario("excited-arm")
    run = simulate(scenario, recording=Recording(rate=1000.0))
    log = take_log(run, 0)
    plan = plan_identification(scenario, log)
    cutoff = plan.rows(log).cutoff
    truth = plan.base.G @ plan.regressor.given
    names = [plan.regressor.names[k] for k in plan.base.kept]
    losses = np.array([".friction." in name or "offset" in name for name in names])
    held, doubted = [], []
    for seed in range(repetitions):
        rows = plan.rows(take_log(run, seed), cutoff)
        found = plan.estimate([rows])
        held.append(np.abs(found.beta - truth) < found.spread.half_widths)
        doubted.append(bool(describe_doubt(found.spread, found.parts, [rows.Y])))
    for numbers, chosen in {"inertias": ~losses, "friction and offsets": losses}.items():
        yield "identify", f"{numbers} of the arm", "white, counts", np.array(held)[:, chosen], np.array(doubted)


def take_log(run: Run, seed: int) -> Run:
    """Encoder counts and torques with noise, as a log would have them."""
    rng = np.random.default_rng(seed)
    motors = np.column_stack([run[f"{motor}.position"].values for motor in MOTORS])
    motors = np.round(motors / COUNT + rng.random(6)) * COUNT
    joints = np.column_stack([motors[:, :5], motors[:, 5] - motors[:, 4]])
    torques = np.column_stack([run[f"{motor}.drive.torque"].values for motor in MOTORS])
    torques += rng.normal(0, NOISE * torques.std(axis=0), torques.shape)
    names = [*(f"joint{k + 1}.position" for k in range(6)), *(f"{motor}.drive.torque" for motor in MOTORS)]
    infos = tuple(replace(run.infos[run.names.index(name)], rate=None) for name in names)
    return Run(run.time, np.column_stack([joints, torques]), infos, run.outcome, run.provenance)
