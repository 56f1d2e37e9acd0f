"""Comparison of friction laws and gears: which of them do measured motions ask for?

Each law takes the place of the friction on every axis, is identified on the same samples, and is judged on samples it
has not seen and by the information criteria

    BIC = n log(mean square of the weighted residuals) + k log n,   n independent residuals, k parameters
    AIC = n log(mean square of the weighted residuals) + 2 k

`compare_friction_laws` identifies by inverse dynamics, which needs forces of drives and laws that are linear in their
numbers; `compare_laws` fits simulations, of any law and of elastic gears.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.fitting.residuals import Experiment, list_experiments
from robodyn.analysis.fitting.result import Fit
from robodyn.analysis.identification.identify import HELD_OUT, plan_identification, split_rows
from robodyn.base.errors import Flaw, FlawList, ModelError, refuse, refuse_unknown
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats
from robodyn.computation.simulation import simulate
from robodyn.description.model import Block, ElasticGear, Scenario, with_elastic_joints
from robodyn.description.model.block import JointBlock

EVEN = 2.0
"""Difference of the criterion below which two laws are as good as each other (Kass and Raftery 1995)."""
READING = ("gear_loss",)
"""Laws that read more than their place."""


@dataclass(frozen=True)
class ComparedLaw:
    """One law with the numbers it was tried with.

    Attributes:
        tried: with which numbers, or why it could not be judged.
        parameters: how many are found; bic, aic: less is better.
        fitted, held_out: root mean square of residuals by the noise that the best law leaves.
    """

    law: str
    tried: str
    parameters: int
    bic: float
    aic: float
    fitted: float
    held_out: float


@dataclass(frozen=True)
class LawComparison:
    """Laws in order of the Bayesian criterion, the best first; those that could not be judged come last."""

    rows: tuple[ComparedLaw, ...]

    @property
    def as_good(self) -> list[str]:
        """Laws that the criterion does not distinguish from the best one."""
        return [row.law for row in self.rows[1:] if row.bic - self.rows[0].bic < EVEN]


def _judge(law: str, tried: str, count: int, n: float, squares: Sequence[float]) -> ComparedLaw:
    """A law by its parameters, n independent residuals, and their mean squares at fitted and held-out samples."""
    loss = n * float(np.log(squares[0]))
    bic, aic = loss + count * float(np.log(n)), loss + 2.0 * count
    return ComparedLaw(law, tried, count, bic, aic, squares[0] ** 0.5, squares[1] ** 0.5)


def _friction_blocks(scenario: Scenario) -> list[Block]:
    """What a comparison replaces; a scenario without friction is a ModelError."""
    blocks = [block for block in scenario.machine.all_blocks if block.on and block.info.disturbance]
    if not blocks:
        flaw = Flaw("blocks", "there is no friction", "give each axis a law of friction first")
        raise ModelError([flaw], "comparison of laws")
    return blocks


def _with_friction(
    scenario: Scenario,
    blocks: Sequence[Block],
    laws: Sequence[tuple[str, dict[str, dict[str, float]]]],
    inputs: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> Scenario:
    """The scenario with other laws on every place that had friction.

    Args:
        laws: names of laws, each with its numbers by place; inputs: what a law reads, by place.
    """
    replaced = {block.name for block in blocks}
    others = [block for block in scenario.machine.all_blocks if block.name not in replaced]
    changed = []
    for block in others:
        # A joint's own property, such as an end stop, is a block of its own then.
        own = isinstance(block, JointBlock)
        changed.append(Block(block.name, block.law, block.on, parameters=block.parameters) if own else block)
    for law, parameters in laws:
        for place, numbers in parameters.items():
            read = inputs.get(place, {}) if law in READING else {}
            changed.append(Block(f"{place}.{law}", law, place, read, numbers))
    return scenario.replaced(machine=scenario.machine.with_all_blocks(changed))


# --------------------------------------------------------------------------------------------------
# By inverse dynamics. Numbers by which a law is not linear, such as a Stribeck velocity, are tried one after the other.


STRIBECK = (0.02, 0.05, 0.1, 0.2, 0.5)
"""Stribeck velocities that are tried, by the fastest speed of the axis."""
SMOOTHING = 1e-3
"""Speed over which dry friction is smoothed, by the fastest."""
LINEAR_LAWS = ("viscous_friction", "coulomb_friction", "two_way_stick_friction", "stribeck_friction")


def compare_friction_laws(
    scenario: Scenario, data: Run | Sequence[Run], laws: Sequence[str] = LINEAR_LAWS, *, cutoff: float | None = None
) -> LawComparison:
    """Laws of friction by measured motions and efforts, each with the best of the numbers that were tried.

    Raises:
        ModelError: where the scenario has no friction, or a law is none of those that can be compared.
    """
    runs = [data] if isinstance(data, Run) else list(data)
    blocks = _friction_blocks(scenario)
    refuse_unknown(laws, LINEAR_LAWS, "cannot be compared here", "comparison of laws")
    speeds = _fastest(scenario, blocks, runs)
    tried, noise = [], np.array(np.inf)
    for law in laws:
        for words, parameters in _variants(law, speeds).items():
            plan = plan_identification(_with_friction(scenario, blocks, [(law, parameters)]), runs[0])
            rows = [plan.rows(run, cutoff) for run in runs]
            cutoff = cutoff or rows[0].cutoff
            parts = split_rows(rows, HELD_OUT)
            estimate = plan.estimate(parts[0])
            noise = np.minimum(noise, estimate.noise)
            tried.append((law, words, estimate.beta, parts))

    best: dict[str, ComparedLaw] = {}
    for law, words, beta, parts in tried:
        squares = []
        for part in parts:
            residuals = [((r.tau - r.Y @ beta) / noise)[r.used] for r in part]
            squares.append(float(np.mean(np.concatenate(residuals) ** 2)))
        # Rows are closer than the low-pass makes them new: those two a period of its cutoff are independent.
        n = sum(int(r.used.sum()) * min(2 * r.cutoff / r.rate, 1.0) for r in parts[0])
        judged = _judge(law, words, len(beta), n, squares)
        if law not in best or judged.bic < best[law].bic:
            best[law] = judged
    return LawComparison(tuple(sorted(best.values(), key=lambda judged: judged.bic)))


def _fastest(scenario: Scenario, blocks: Sequence[Block], runs: Sequence[Run]) -> dict[str, float]:
    """Fastest speed of every place with friction."""
    plan = plan_identification(scenario, runs[0])
    places = list(dict.fromkeys(str(block.on) for block in blocks))
    fastest = np.zeros(len(places))
    for run in runs:
        positions = np.column_stack([run[f"{joint}.position"].values for joint in plan.regressor.joints])
        steps = np.maximum(np.diff(run.time), 1e-12)[:, None]
        speeds = np.abs(plan.regressor.speeds(positions[:-1], np.diff(positions, axis=0) / steps))
        fastest = np.maximum(fastest, np.nanpercentile(speeds, 99, axis=0))
    return dict(zip(places, np.maximum(fastest, 1e-9).tolist(), strict=True))


def _variants(law: str, speeds: dict[str, float]) -> dict[str, dict[str, dict[str, float]]]:
    """Numbers of a law on each place, by what they are called; those that are linear are found later."""
    shares = {"": 0.0}
    if law == "stribeck_friction":
        shares = {f"Stribeck velocity {share:g} of the fastest": share for share in STRIBECK}
    variants: dict[str, dict[str, dict[str, float]]] = {}
    for words, share in shares.items():
        variants[words] = {}
        for place, speed in speeds.items():
            level = {"coulomb": 1.0, "viscous": 1.0}
            smooth = level | {"smoothing_velocity": SMOOTHING * speed}
            variants[words][place] = {
                "viscous_friction": {"viscous": 1.0},
                "coulomb_friction": smooth,
                "two_way_stick_friction": level | {"coulomb_back": 1.0},
                "stribeck_friction": smooth | {"static": 1.5, "stribeck_velocity": share * speed},
            }[law]
    return variants


# --------------------------------------------------------------------------------------------------
# By simulation. What the data cannot tell of a law is named before it is searched for, and such a law takes no part.
# Laws that contain the simplest one start from what that one found.


SIMPLEST = "coulomb_friction"
ELASTIC, BACKLASH, LOAD = "elastic_gear", "backlash_gear", "gear_loss"
LAWS = (
    SIMPLEST, "viscous_friction", "stick_friction", "two_way_stick_friction", "stribeck_friction", "lugre_friction",
    "warm_friction", LOAD, ELASTIC, BACKLASH,
)  # fmt: skip
STATIC = 1.3
"""Static level that searches begin with, by the Coulomb level."""
SLOW, SMOOTH, SHORT = 0.05, 1e-3, 1e-3
"""Stribeck and smoothing velocities by the fastest speed, play and bending of bristles by the range of motion."""
LOST = 0.03
"""Share of the load that searches begin with."""
TWIST = 0.01
"""Twist of a gear under its friction that searches begin with, by the range of motion."""


@dataclass(frozen=True)
class FrictionPlace:
    """A place with friction: levels, smoothing, speed and range of motion in the data, and the drive's force there."""

    name: str
    coulomb: float
    viscous: float
    smoothing: float
    speed: float
    range: float
    drive: str


def compare_laws(
    scenario: Scenario,
    data: Run | Experiment | Sequence[Run | Experiment],
    laws: Sequence[str] = LAWS,
    *,
    free: Sequence[str] = (),
    held_out: float = 0.25,
    link_side: Sequence[str] = (),
    **settings: Any,
) -> LawComparison:
    """Laws of friction and gears by fits of simulations; those that the data cannot tell come last, with the reason.

    Args:
        free: numbers that are fitted beside those of the laws, such as a mass.
        link_side: measured positions and speeds of joints that are taken behind an elastic gear; others are motors'.
        settings: of `fit_parameters`.

    Raises:
        ModelError: where the scenario has no friction, or a law is not known.
    """
    flaws = FlawList()
    flaws.add_unknown(laws, LAWS, "is none of the laws to compare")
    if not 0 < held_out < 1:
        flaws.add("held_out", f"must be above 0 and below 1, is {held_out:g}", "laws are judged by it")
    blocks = _friction_blocks(scenario)
    flaws.raise_if_any("comparison of laws")
    experiments = list_experiments(data)
    places = _find_places(scenario, blocks, experiments)
    settings |= {"held_out": held_out}

    # The simplest law first: others begin with its levels, and with what else was free.
    counts, fits, failures = dict[str, int](), dict[str, Fit](), dict[str, str]()
    for law in dict.fromkeys([SIMPLEST, *laws]):
        try:
            proposal, names, renamed = _propose(law, scenario, blocks, places, link_side)
            names += free
            counts[law] = len(names)
            fits[law] = _fit(proposal, names, experiments, renamed, settings)
        except ModelError as error:
            failures[law] = "; ".join(map(str, error.flaws))
            continue
        if law == SIMPLEST:
            values = fits[law].values
            scenario = scenario.with_numbers({name: values[name] for name in free if name in values})
            for k, place in enumerate(places):
                own = f"{place.name}.{SIMPLEST}"
                places[k] = replace(place, coulomb=values[f"{own}.coulomb"], viscous=values[f"{own}.viscous"])

    fits = {law: fits[law] for law in laws if law in fits}
    failed = [
        ComparedLaw(law, failures[law], counts.get(law, 0), np.inf, np.inf, np.nan, np.nan)
        for law in laws
        if law in failures
    ]
    if not fits:
        raise ModelError([Flaw(c.law, c.tried) for c in failed], "comparison of laws: none can be fitted")
    # Signals in their order: an elastic gear gives some of them other names.
    noise = np.min([[signal.noise for signal in fit.signals] for fit in fits.values()], axis=0)
    squares = {law: _mean_squares(fit, noise) for law, fit in fits.items()}
    n = _independent(fits[min(squares, key=lambda law: squares[law][0])])
    judged = [_judge(law, _remark(fit), counts[law], n, squares[law]) for law, fit in fits.items()]
    return LawComparison((*sorted(judged, key=lambda row: row.bic), *failed))


def _find_places(scenario: Scenario, blocks: Sequence[Block], experiments: Sequence[Experiment]) -> list[FrictionPlace]:
    """Levels by the friction there is, motions by the data, or by a simulation where they do not have them."""
    names = list(dict.fromkeys(str(block.on) for block in blocks))
    run = example = experiments[0].data
    if not all(f"{name}.position" in example for name in names):
        run = simulate(scenario.with_numbers(experiments[0].numbers).replaced(duration=float(example.time[-1])))
    places = []
    for name in names:
        position = run[f"{name}.position"].values
        steps = np.diff(run.time) > 0
        speeds = np.abs(np.diff(position)[steps] / np.diff(run.time)[steps])
        span = max(float(np.nanmax(position) - np.nanmin(position)), 1e-12)
        speed = max(float(np.nanpercentile(speeds, 99)), 1e-12)
        here = [block for block in blocks if block.on == name]
        own = {key: sum(_number(block, key) for block in here) for key in ("coulomb", "viscous")}
        coulomb = own["coulomb"] or 0.1 * own["viscous"] * speed
        viscous = own["viscous"] or 0.1 * coulomb / speed
        smoothing = max(_number(block, "smoothing_velocity") for block in here) or SMOOTH * speed
        # The force of the only drive there.
        acting = [block for block in scenario.machine.blocks if block.on == name]
        drives = [block.name for block in acting if not block.info.disturbance and not block.info.passive]
        drive = f"{drives[0]}.torque" if len(drives) == 1 else ""
        places.append(FrictionPlace(name, coulomb, viscous, smoothing, speed, span, drive))
    return places


def _number(block: Block, key: str) -> float:
    value = block.parameters.get(key, 0.0)
    return float(value) if isinstance(value, int | float) else 0.0


def _propose(
    law: str,
    scenario: Scenario,
    blocks: Sequence[Block],
    places: Sequence[FrictionPlace],
    link_side: Sequence[str],
) -> tuple[Scenario, list[str], dict[str, str]]:
    """The scenario with one law on all places, the numbers that are fitted, and signals that data name otherwise."""
    friction = SIMPLEST if law in (ELASTIC, BACKLASH, LOAD) else law
    laws = [(friction, {place.name: _first_values(friction, place) for place in places})]
    if law == LOAD:
        laws.append((LOAD, {p.name: {"load_loss": LOST, "smoothing_velocity": p.smoothing} for p in places}))
        what = "has no drive, or more than one, whose force could be the load"
        if undriven := [Flaw(place.name, what) for place in places if not place.drive]:
            raise ModelError(undriven, "comparison of laws")
    proposal = _with_friction(scenario, blocks, laws, {place.name: {"load": place.drive} for place in places})
    free = []
    for name, numbers in laws:
        for place, keys in numbers.items():
            free += [f"{place}.{name}.{key}" for key in keys if key != "smoothing_velocity"]
    renamed: dict[str, str] = {}
    if law in (ELASTIC, BACKLASH):
        gears = {place.name: _first_gear(proposal, place, law == BACKLASH) for place in places}
        proposal = proposal.replaced(machine=with_elastic_joints(proposal.machine, gears))
        of_gear = ("stiffness", "damping", "gap") if law == BACKLASH else ("stiffness", "damping")
        for joint, gear in gears.items():
            free += [f"{gear.drive}.gear.{key}" for key in of_gear]
            # What was measured is the motor's motion, unless it is said to be the link's.
            for quantity in ("position", "velocity", "acceleration"):
                if f"{joint}.{quantity}" not in link_side:
                    renamed[f"{joint}.{quantity}"] = f"{gear.drive}.{quantity}"
    return proposal, free, renamed


def _first_gear(scenario: Scenario, place: FrictionPlace, play: bool) -> ElasticGear:
    """Numbers that the search for a gear begins with."""
    mechanism = scenario.machine.mechanism
    joint = next((j for j in mechanism.joints if j.name == place.name), None) if mechanism else None
    if joint is None or not joint.armature:
        what = "no rotor is there that a gear could twist against"
        remedy = "give the joint its motor's inertia, by the gear squared"
        refuse(f"{place.name}.armature", what, remedy)
    stiffness = (place.coulomb + place.viscous * place.speed) / (TWIST * place.range)
    damping = 0.1 * float(np.sqrt(stiffness * joint.armature))
    return ElasticGear(f"{place.name}_drive", stiffness, damping, SHORT * place.range if play else 0.0)


def _first_values(law: str, place: FrictionPlace) -> dict[str, float]:
    """Numbers of a law that a search begins with."""
    level = {"coulomb": place.coulomb, "viscous": place.viscous}
    smooth = {"smoothing_velocity": place.smoothing}
    slow = {"static": STATIC * place.coulomb, "stribeck_velocity": SLOW * place.speed}
    stiffness = place.coulomb / (SHORT * place.range)
    power = place.coulomb * place.speed + place.viscous * place.speed**2
    return {
        "viscous_friction": {"viscous": place.viscous + place.coulomb / place.speed},
        "coulomb_friction": level | smooth,
        "stick_friction": level | {"static": STATIC * place.coulomb},
        "two_way_stick_friction": level | {"coulomb_back": place.coulomb},
        "stribeck_friction": level | slow | smooth,
        "lugre_friction": level | slow | {"stiffness": stiffness, "damping": 0.1 * place.viscous},
        "warm_friction": level | smooth | {"softening": 2 * power, "time_constant": place.range / place.speed * 3},
    }[law]


def _fit(
    scenario: Scenario,
    names: Sequence[str],
    experiments: Sequence[Experiment],
    renamed: Mapping[str, str],
    settings: Mapping[str, Any],
) -> Fit:
    """The fit of one proposal to data some of whose signals have other names there."""
    noise = settings.get("noise")
    if isinstance(noise, Mapping):
        settings = {**settings, "noise": {renamed.get(name, name): level for name, level in noise.items()}}
    data = []
    for one in experiments:
        infos = tuple(replace(info, name=renamed.get(info.name, info.name)) for info in one.data.infos)
        data.append(replace(one, data=replace(one.data, infos=infos)))
    return fit_parameters(scenario, data, names, **settings)


def _remark(fit: Fit) -> str:
    """Numbers at their bounds: the law has become a simpler one; and those that are hardly known."""
    bound = [p.name for p in fit.parameters if p.at_bound]
    poor = [p.name for p in fit.parameters if not p.at_bound and p.value and p.upper - p.lower > 2 * abs(p.value)]
    remarks = (("at its bound", bound), ("poorly identified", poor))
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in remarks if names)


def _mean_squares(fit: Fit, noise: Floats) -> tuple[float, float]:
    """Of weighted residuals at fitted and at held-out samples."""
    level = dict(zip([signal.name for signal in fit.signals], noise, strict=True))
    fitted, held = list[Floats](), list[Floats]()
    for r in fit.recordings:
        for k, name in enumerate(r.measured.names):
            residuals = (r.measured.values[:, k] - r.run[name].values) / level[name]
            seen = np.isfinite(r.residuals[:, k])
            fitted.append(residuals[seen])
            held.append(residuals[~seen & np.isfinite(residuals)])
    return float(np.mean(np.concatenate(fitted) ** 2)), float(np.mean(np.concatenate(held) ** 2))


def _independent(fit: Fit) -> float:
    """How many independent samples residuals are worth: each row counts 1 / (1 + 2 sum of correlations) up to the first
    that is none (Bartlett 1935)."""
    total = 0.0
    for column in (column for r in fit.recordings for column in r.residuals.T):
        e = column[np.isfinite(column)]
        if e.size < 2 or not e.any():
            continue
        e = e - e.mean()
        power = np.abs(np.fft.rfft(e, 2 * e.size)) ** 2
        correlation = np.fft.irfft(power)[: e.size] / max(float(e @ e), 1e-300)
        end = int(np.argmax(correlation < 0.05)) or e.size
        total += e.size / (1 + 2 * float(np.sum(correlation[1:end])))
    return max(total, 2.0)
