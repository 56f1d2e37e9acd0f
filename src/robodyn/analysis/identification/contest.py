"""Contest of friction laws: which of them do measured motions and efforts ask for?

Each law takes the place of the friction on every axis, is identified on the same rows, and is judged on rows it has not
seen and by the Bayesian information criterion

    BIC = n log(mean square of the weighted residuals) + k log n,   n independent rows, k base parameters
    AIC = n log(mean square of the weighted residuals) + 2 k

Numbers by which a law is not linear, such as a Stribeck velocity, are tried one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.analysis.identification.identify import HELD_OUT, plan_identification, split_rows
from robodyn.analysis.identification.motion_rows import Rows
from robodyn.base.errors import Flaw, ModelError, refuse_unknown
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats
from robodyn.description.model import Block, Scenario
from robodyn.description.model.joint_block import JointBlock

STRIBECK = (0.02, 0.05, 0.1, 0.2, 0.5)
"""Stribeck velocities that are tried, by the fastest speed of the axis."""
SMOOTHING = 1e-3
"""Speed over which dry friction is smoothed, by the fastest."""
LAWS = ("viscous_friction", "coulomb_friction", "two_way_stick_friction", "stribeck_friction")
EVEN = 2.0
"""Difference of the criterion below which two laws are as good as each other (Kass and Raftery 1995)."""


@dataclass(frozen=True)
class Contender:
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
class Contest:
    """Laws in order of the criterion, the best first."""

    rows: tuple[Contender, ...]

    @property
    def as_good(self) -> list[str]:
        """Laws that the criterion does not tell from the best one."""
        return [row.law for row in self.rows[1:] if row.bic - self.rows[0].bic < EVEN]


def compare_friction_laws(
    scenario: Scenario, data: Run | Sequence[Run], laws: Sequence[str] = LAWS, *, cutoff: float | None = None
) -> tuple[Contender, ...]:
    """Contenders in order of the criterion, the best first, one for each law.

    Raises:
        ModelError: where the scenario has no friction, or a law is none of those that can be compared.
    """
    runs = [data] if isinstance(data, Run) else list(data)
    blocks = friction_blocks(scenario)
    refuse_unknown(laws, LAWS, "cannot be compared here", "contest of friction laws")
    speeds = _fastest(scenario, blocks, runs)
    tried, noise = [], None
    for law in laws:
        for words, parameters in _variants(law, speeds):
            other = with_friction(scenario, blocks, [(law, parameters)])
            plan = plan_identification(other, runs[0])
            rows = [plan.rows(run, cutoff) for run in runs]
            cutoff = cutoff or rows[0].cutoff
            parts = split_rows(rows, HELD_OUT)
            found = plan.estimate(parts[0])
            left = [[r.tau - r.Y @ found.beta for r in part] for part in parts]
            tried.append((law, words, len(found.beta), parts, left))
            noise = found.noise if noise is None else np.minimum(noise, found.noise)
    assert noise is not None
    return _best_of_each([_judge(*entry, noise) for entry in tried])


def _judge(law: str, words: str, count: int, parts: Any, left: Any, noise: Floats) -> Contender:
    squares = [_mean_square(part, residuals, noise) for part, residuals in zip(parts, left, strict=True)]
    # Rows are closer than the low-pass makes them new: those two a period of its cutoff are independent.
    n = sum(int(r.used.sum()) * min(2 * r.cutoff / r.rate, 1.0) for r in parts[0])
    return Contender(law, words, count, *criteria(n, squares[0], count), squares[0] ** 0.5, squares[1] ** 0.5)


def criteria(n: float, mean_square: float, count: int) -> tuple[float, float]:
    """BIC and AIC of n independent residuals and a count of parameters."""
    loss = n * float(np.log(mean_square))
    return loss + count * float(np.log(n)), loss + 2.0 * count


def _mean_square(rows: Sequence[Rows], residuals: Sequence[Floats], noise: Floats) -> float:
    return float(np.mean(np.concatenate([(e / noise)[r.used] for r, e in zip(rows, residuals, strict=True)]) ** 2))


def _best_of_each(judged: Sequence[Contender]) -> tuple[Contender, ...]:
    best: dict[str, Contender] = {}
    for contender in judged:
        if contender.law not in best or contender.bic < best[contender.law].bic:
            best[contender.law] = contender
    return tuple(sorted(best.values(), key=lambda contender: contender.bic))


def _fastest(scenario: Scenario, blocks: Sequence[Block], runs: Sequence[Run]) -> dict[str, float]:
    """Fastest speed of every place with friction."""
    plan = plan_identification(scenario, runs[0])
    places = list(dict.fromkeys(str(block.on) for block in blocks))
    found = np.zeros(len(places))
    for run in runs:
        positions = np.column_stack([run[f"{joint}.position"].values for joint in plan.regressor.joints])
        steps = np.maximum(np.diff(run.time), 1e-12)[:, None]
        speeds = np.abs(plan.regressor.speeds(positions[:-1], np.diff(positions, axis=0) / steps))
        found = np.maximum(found, np.nanpercentile(speeds, 99, axis=0))
    return dict(zip(places, np.maximum(found, 1e-9).tolist(), strict=True))


def _variants(law: str, speeds: dict[str, float]) -> Iterator[tuple[str, dict[str, dict[str, float]]]]:
    """Numbers of a law on each place; those that are linear are found later."""
    level = {"coulomb": 1.0, "viscous": 1.0}
    smooth = {place: {"smoothing_velocity": SMOOTHING * speed} for place, speed in speeds.items()}
    if law == "viscous_friction":
        yield "", {place: {"viscous": 1.0} for place in speeds}
    elif law == "coulomb_friction":
        yield "", {place: level | smooth[place] for place in speeds}
    elif law == "two_way_stick_friction":
        yield "", {place: level | {"coulomb_back": 1.0} for place in speeds}
    else:
        for share in STRIBECK:
            own = {place: {"static": 1.5, "stribeck_velocity": share * speed} for place, speed in speeds.items()}
            yield f"Stribeck velocity {share:g} of the fastest", {p: level | smooth[p] | own[p] for p in speeds}


def friction_blocks(scenario: Scenario) -> list[Block]:
    """What a contest replaces; a scenario without friction is a ModelError."""
    blocks = [block for block in scenario.machine.all_blocks if block.on and block.info.disturbance]
    if not blocks:
        flaw = Flaw("blocks", "there is no friction", "give each axis a law of friction first")
        raise ModelError([flaw], "contest of friction laws")
    return blocks


def with_friction(
    scenario: Scenario,
    blocks: Sequence[Block],
    laws: Sequence[tuple[str, dict[str, dict[str, float]]]],
    inputs: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> Scenario:
    """The scenario with other laws on every place that had friction.

    Args:
        laws: names of laws, each with its numbers by place; inputs: what a law reads, by place.
    """
    machine = scenario.machine
    names = {block.name for block in blocks}
    kept = [_plain(block) for block in machine.all_blocks if block.name not in names]
    own = [
        Block(f"{place}.{law}", law, place, inputs.get(place, {}) if law in READING else {}, numbers)
        for law, parameters in laws
        for place, numbers in parameters.items()
    ]
    return scenario.replaced(machine=machine.with_all_blocks([*kept, *own]))


READING = ("gear_loss",)
"""Laws that read more than their place."""


def _plain(block: Block) -> Block:
    """A joint's own property, such as an end stop, as a block of its own."""
    if not isinstance(block, JointBlock):
        return block
    return Block(block.name, block.law, block.on, parameters=block.parameters)
