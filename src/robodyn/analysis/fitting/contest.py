"""Contest of friction laws in a fit: which law predicts data that it was not fitted to?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robodyn.analysis.fitting.experiments import Experiment, list_experiments
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.fitting.result import Fit
from robodyn.analysis.identification.contest import Contender, criteria, friction_blocks, with_friction
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats
from robodyn.computation.simulation import simulate
from robodyn.description.model import Block, ElasticGear, Scenario, with_elastic_joints

# --------------------------------------------------------------------------------------------------
# Laws for a contest: how does a machine become one with another friction or gear, and where does a search begin?


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
class Candidate:
    """A scenario to be fitted: the numbers that are free in it, and names that data have there instead of their own."""

    name: str
    scenario: Scenario
    free: tuple[str, ...]
    renamed: Mapping[str, str]


@dataclass(frozen=True)
class Axis:
    """A place with friction: levels, smoothing, speed and range of motion in the data, and the drive's force there."""

    place: str
    coulomb: float
    viscous: float
    smoothing: float
    speed: float
    range: float
    drive: str


def find_axes(scenario: Scenario, blocks: Sequence[Block], experiments: Sequence[Experiment]) -> list[Axis]:
    """Levels by the friction there is, motions by the data, or by a simulation where they do not have them."""
    places = list(dict.fromkeys(str(block.on) for block in blocks))
    example = experiments[0].data
    run = example
    if not all(f"{place}.position" in example for place in places):
        run = simulate(scenario.with_numbers(experiments[0].numbers).replaced(duration=float(example.time[-1])))
    axes = []
    for place in places:
        position = run[f"{place}.position"].values
        steps = np.diff(run.time) > 0
        speeds = np.abs(np.diff(position)[steps] / np.diff(run.time)[steps])
        span = max(float(np.nanmax(position) - np.nanmin(position)), 1e-12)
        speed = max(float(np.nanpercentile(speeds, 99)), 1e-12)
        own = {key: sum(_number(b, key) for b in blocks if b.on == place) for key in ("coulomb", "viscous")}
        coulomb = own["coulomb"] or 0.1 * own["viscous"] * speed
        viscous = own["viscous"] or 0.1 * coulomb / speed
        smoothing = max(_number(b, "smoothing_velocity") for b in blocks if b.on == place) or SMOOTH * speed
        axes.append(Axis(place, coulomb, viscous, smoothing, speed, span, _drive(scenario, place)))
    return axes


def _number(block: Block, key: str) -> float:
    value = block.parameters.get(key, 0.0)
    return float(value) if isinstance(value, int | float) else 0.0


def _drive(scenario: Scenario, place: str) -> str:
    """The force that a drive puts on a place, "" where there is none or more than one."""
    owners = [
        b.name for b in scenario.machine.blocks if b.on == place and not b.info.disturbance and not b.info.passive
    ]
    return f"{owners[0]}.torque" if len(owners) == 1 else ""


def propose(
    law: str, scenario: Scenario, blocks: Sequence[Block], axes: Sequence[Axis], link_side: Sequence[str]
) -> Candidate:
    """The scenario with one law on all axes, and the numbers to be fitted."""
    own = SIMPLEST if law in (ELASTIC, BACKLASH, LOAD) else law
    numbers = {axis.place: _first_values(own, axis) for axis in axes}
    laws = [(own, numbers)]
    renamed: dict[str, str] = {}
    if law == LOAD:
        lost = {a.place: {"load_loss": LOST, "smoothing_velocity": a.smoothing} for a in axes}
        laws.append((LOAD, lost))
        _check_drives(axes)
    inputs = {axis.place: {"load": axis.drive} for axis in axes}
    made = with_friction(scenario, blocks, laws, inputs)
    free = [f"{place}.{name}.{key}" for name, of in laws for place, keys in of.items() for key in keys
            if key != "smoothing_velocity"]  # fmt: skip
    if law in (ELASTIC, BACKLASH):
        gears = {axis.place: _gear(made, axis, law == BACKLASH) for axis in axes}
        made = made.replaced(machine=with_elastic_joints(made.machine, gears))
        free += [f"{gear.drive}.gear.{key}" for gear in gears.values() for key in _gear_keys(law)]
        renamed = dict(_motor_side(gears, link_side))
    return Candidate(law, made, tuple(free), renamed)


def _gear_keys(law: str) -> tuple[str, ...]:
    return ("stiffness", "damping", "gap") if law == BACKLASH else ("stiffness", "damping")


def _motor_side(gears: Mapping[str, ElasticGear], link_side: Sequence[str]) -> Iterator[tuple[str, str]]:
    for joint, gear in gears.items():
        for quantity in ("position", "velocity", "acceleration"):
            if f"{joint}.{quantity}" not in link_side:
                yield f"{joint}.{quantity}", f"{gear.drive}.{quantity}"


def _check_drives(axes: Sequence[Axis]) -> None:
    none = [axis.place for axis in axes if not axis.drive]
    if none:
        what = "has no drive, or more than one, whose force could be the load"
        raise ModelError([Flaw(place, what) for place in none], "contest of laws")


def _gear(scenario: Scenario, axis: Axis, play: bool) -> ElasticGear:
    """Numbers that the search for a gear begins with."""
    mechanism = scenario.machine.mechanism
    joint = next((j for j in mechanism.joints if j.name == axis.place), None) if mechanism else None
    if joint is None or not joint.armature:
        what = "no rotor is there that a gear could twist against"
        raise ModelError(
            [Flaw(f"{axis.place}.armature", what, "give the joint its motor's inertia, by the gear squared")]
        )
    stiffness = (axis.coulomb + axis.viscous * axis.speed) / (TWIST * axis.range)
    damping = 0.1 * float(np.sqrt(stiffness * joint.armature))
    return ElasticGear(f"{axis.place}_drive", stiffness, damping, SHORT * axis.range if play else 0.0)


def _first_values(law: str, axis: Axis) -> dict[str, float]:
    """Numbers of a law that a search begins with."""
    level = {"coulomb": axis.coulomb, "viscous": axis.viscous}
    smooth = {"smoothing_velocity": axis.smoothing}
    slow = {"static": STATIC * axis.coulomb, "stribeck_velocity": SLOW * axis.speed}
    stiffness = axis.coulomb / (SHORT * axis.range)
    power = axis.coulomb * axis.speed + axis.viscous * axis.speed**2
    return {
        "viscous_friction": {"viscous": axis.viscous + axis.coulomb / axis.speed},
        "coulomb_friction": level | smooth,
        "stick_friction": level | {"static": STATIC * axis.coulomb},
        "two_way_stick_friction": level | {"coulomb_back": axis.coulomb},
        "stribeck_friction": level | slow | smooth,
        "lugre_friction": level | slow | {"stiffness": stiffness, "damping": 0.1 * axis.viscous},
        "warm_friction": level | smooth | {"softening": 2 * power, "time_constant": axis.range / axis.speed * 3},
    }[law]


# --------------------------------------------------------------------------------------------------
# Contest of laws by simulation: which law of friction, which gear do measured runs of a machine ask for?
#
# Each law takes the place of the friction on every axis, is fitted to the same samples, and is judged on samples it
# has
# not seen and by information criteria. What the data cannot tell of a law is named before it is searched for, and such
# a law takes no part. Laws that contain the simplest one start from what that one found.


def compare_laws(
    scenario: Scenario,
    data: Run | Experiment | Sequence[Run | Experiment],
    laws: Sequence[str] = LAWS,
    *,
    free: Sequence[str] = (),
    held_out: float = 0.25,
    link_side: Sequence[str] = (),
    **settings: Any,
) -> tuple[Contender, ...]:
    """Contenders in order of the Bayesian criterion; those that the data cannot tell come last, with the reason.

    Args:
        free: numbers that are fitted beside those of the laws, such as a mass.
        link_side: measured positions and speeds of joints that are taken behind an elastic gear; others are motors'.
        settings: of `fit_parameters`.

    Raises:
        ModelError: where the scenario has no friction, or a law is not known.
    """
    flaws = FlawList()
    flaws.add_unknown(laws, LAWS, "is no law of the contest")
    if not 0 < held_out < 1:
        flaws.add("held_out", f"must be above 0 and below 1, is {held_out:g}", "laws are judged by it")
    blocks = friction_blocks(scenario)
    flaws.raise_if_any("contest of laws")
    experiments = list_experiments(data)
    axes = find_axes(scenario, blocks, experiments)
    settings |= {"held_out": held_out}
    first = propose(SIMPLEST, scenario, blocks, axes, link_side)
    fits: dict[str, tuple[int, Fit | str]] = {SIMPLEST: _fit(first, experiments, free, settings)}
    begun, axes = _begin(scenario, axes, free, fits[SIMPLEST][1])
    for law in laws:
        if law not in fits:
            try:
                candidate = propose(law, begun, blocks, axes, link_side)
            except ModelError as error:
                fits[law] = (0, _reason(error))
                continue
            fits[law] = _fit(candidate, experiments, free, settings)
    return _judge({law: fits[law] for law in laws})


def _fit(
    candidate: Candidate, experiments: Sequence[Experiment], free: Sequence[str], settings: Mapping[str, Any]
) -> tuple[int, Fit | str]:
    """How many numbers are free, and the fit of one candidate or why there is none."""
    names = [*candidate.free, *free]
    own = dict(settings)
    if isinstance(own.get("noise"), Mapping):
        own["noise"] = {candidate.renamed.get(name, name): level for name, level in own["noise"].items()}
    try:
        renamed = [replace(one, data=_rename(one.data, candidate.renamed)) for one in experiments]
        return len(names), fit_parameters(candidate.scenario, renamed, names, **own)
    except ModelError as error:
        return len(names), _reason(error)


def _reason(error: ModelError) -> str:
    return "; ".join(str(flaw) for flaw in error.flaws)


def _rename(data: Run, renamed: Mapping[str, str]) -> Run:
    return replace(data, infos=tuple(replace(info, name=renamed.get(info.name, info.name)) for info in data.infos))


def _begin(
    scenario: Scenario, axes: Sequence[Axis], free: Sequence[str], fit: Fit | str
) -> tuple[Scenario, list[Axis]]:
    """The scenario and the levels of friction as the simplest law found them."""
    if isinstance(fit, str):
        return scenario, list(axes)
    values = fit.values
    begun = scenario.with_numbers({name: values[name] for name in free if name in values})
    found = [(values[f"{a.place}.{SIMPLEST}.coulomb"], values[f"{a.place}.{SIMPLEST}.viscous"]) for a in axes]
    return begun, [replace(a, coulomb=c, viscous=v) for a, (c, v) in zip(axes, found, strict=True)]


def _judge(fits: Mapping[str, tuple[int, Fit | str]]) -> tuple[Contender, ...]:
    done = {law: (count, fit) for law, (count, fit) in fits.items() if isinstance(fit, Fit)}
    failed = [Contender(law, fit, count, np.inf, np.inf, np.nan, np.nan)
              for law, (count, fit) in fits.items() if isinstance(fit, str)]  # fmt: skip
    if not done:
        raise ModelError([Flaw(c.law, c.tried) for c in failed], "contest of laws: none can be fitted")
    # Signals in their order: an elastic gear gives some of them other names.
    noise = np.min([[signal.noise for signal in fit.signals] for _, fit in done.values()], axis=0)
    squares = {law: _mean_squares(fit, noise) for law, (_, fit) in done.items()}
    best = min(squares, key=lambda law: squares[law][0])
    n = _independent(done[best][1])
    found = [
        Contender(law, _remark(fit), count, *criteria(n, squares[law][0], count), *(s**0.5 for s in squares[law]))
        for law, (count, fit) in done.items()
    ]
    return (*sorted(found, key=lambda contender: contender.bic), *failed)


def _remark(fit: Fit) -> str:
    """Numbers at their bounds: the law has become a simpler one."""
    bound = [p.name for p in fit.parameters if p.at_bound]
    hardly = [p.name for p in fit.parameters if not p.at_bound and p.value and p.upper - p.lower > 2 * abs(p.value)]
    words = [f"at its bound: {', '.join(bound)}"] if bound else []
    return "; ".join([*words, f"hardly told: {', '.join(hardly)}"] if hardly else words)


def _mean_squares(fit: Fit, noise: Floats) -> tuple[float, float]:
    """Of weighted residuals at fitted and at held-out samples."""
    level = dict(zip([signal.name for signal in fit.signals], noise, strict=True))
    fitted, held = list[Floats](), list[Floats]()
    for r in fit.recordings:
        for k, name in enumerate(r.measured.names):
            apart = (r.measured.values[:, k] - r.run[name].values) / level[name]
            seen = np.isfinite(r.residuals[:, k])
            fitted.append(apart[seen])
            held.append(apart[~seen & np.isfinite(apart)])
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
