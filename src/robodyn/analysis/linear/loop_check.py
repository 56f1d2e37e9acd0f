"""Stability check of loops: will they be stable, and if not, which gain is the cause and by how much?

All outputs of one block are scaled by k. Of the blocks whose scaling leaves the fewest growing motions the one that has
to be changed least is named; then, with its outputs scaled well beyond that limit, the next, until nothing grows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eig

from robodyn.analysis.linear.constrained import reduce_constraints
from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.linearisation import Place, linearise
from robodyn.analysis.linear.loop_table import cut_loops, held_outputs
from robodyn.analysis.linear.margins import STABLE, Curves, choose_between, count_growing, find_gains
from robodyn.analysis.linear.poles import find_poles
from robodyn.analysis.linear.sampling import SampledModel, can_lift, lift, linearise_sampled, remembered, scale_held
from robodyn.base.waiting import report_progress
from robodyn.computation.assembly import System, assemble
from robodyn.description.model import Block, Scenario
from robodyn.description.model.controllers import find_controllers


@dataclass(frozen=True)
class LoopFinding:
    """A loop that is unstable.

    Attributes:
        block: the block that is the cause, None where no block's gain alone changes it.
        gains: its numbers that its outputs are proportional to; below, above: factors on them between which it is
            stable (0: no lower limit, inf: no upper one).
        growth: [1/s]; radius: of the largest multiplier, in turn_time [s].
        states: that take most part, by name.
    """

    block: str | None
    gains: tuple[str, ...]
    above: float
    below: float
    growth: float
    radius: float
    turn_time: float
    states: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What grows, how fast, and which gain to change by how much."""
        what = f"deviations of {', '.join(self.states)} grow x10 in {_describe_time(np.log(10) / self.growth)}"
        size = f"multiplier {self.radius:.4g} in {_describe_time(self.turn_time)}"
        if self.block is None:
            return f"unstable at the start: {what} ({size}); no controller's gain alone changes that"
        loop = f"the loop of {self.block} is unstable at these gains: {what} ({size})"
        return f"{loop}; {self._remedy()}"

    def _remedy(self) -> str:
        which = " and ".join(f"{self.block}.{name}" for name in self.gains) or f"what {self.block} commands"
        if self.below < 1:
            return f"reduce {which} below {_describe_share(self.below)}"
        return f"raise {which} above {_describe_share(self.above)}"


@report_progress("checking the loops of")
def check_loops(
    what: System | Scenario,
    *,
    at: Place = "start",
    friction: str | None = None,
    parameters: Mapping[str, float] | None = None,
) -> tuple[LoopFinding, ...]:
    """Loops that are unstable at the start of a scenario; none where nothing is controlled.

    Args:
        at, parameters: as `linearise` takes them.
        friction: as `loop_table` takes it; by default "none" where blocks are sampled and "stuck", as it is, else.

    Raises:
        ModelError: where a sampled block is called in Python, or continuous delays act besides: then it is not known.
    """
    system = what if isinstance(what, System) else assemble(what)
    if not system.discrete.tasks:
        return _check_continuous(system, at, friction or "stuck", parameters)
    friction = friction or "none"
    model = linearise_sampled(system, at, friction=friction, parameters=parameters)
    blocks = [block for block in system.scenario.machine.blocks if block.sampled]
    found: list[LoopFinding] = []
    while _count(model.multipliers) and len(found) <= len(blocks):
        blame = _find_blame(model, blocks)
        found.append(_describe(model, blame))
        if blame is None:
            break
        model = scale_held(model, blame.signals, blame.inside)
    return tuple(found)


def _check_continuous(
    system: System, at: Place, friction: str, parameters: Mapping[str, float] | None
) -> tuple[LoopFinding, ...]:
    """Continuous loops whose gain alone makes the machine unstable; None's sentence where no gain alone does."""
    blocks = {block.name: block for block in find_controllers(system.scenario.machine)}
    if not blocks:
        return ()
    if friction == "stuck":
        # Loops are cut by another trace: not where nothing grows in this one.
        model = linearise(system, at, parameters=parameters)
        if system.motion.constraint_forces:
            model = reduce_constraints(model, system)
        poles = np.array([root.pole for root in find_poles(model)])
        if not _count(np.exp(poles / np.abs(poles).max(initial=1.0))):
            return ()
    loops = cut_loops(system, at=at, friction=friction, parameters=parameters)
    if not loops or not _count(loops[0].multipliers()):
        return ()
    poles = loops[0].poles()
    fastest = max(poles, key=lambda pole: pole.real)
    turn = 2 * np.pi / abs(fastest.imag) if fastest.imag else 1 / fastest.real
    rest = (float(fastest.real), float(np.exp(fastest.real * turn)), float(turn), _growing_states(loops[0].closed))
    # Of all loops the one whose gain has to be changed least.
    limits = []
    for loop in loops:
        margins = loop.margins(loop.respond())
        block = next(block for name, block in blocks.items() if loop.signal.startswith(f"{name}."))
        if not np.isnan(margins.gain_from) and find_gains(block):
            change = -np.log(margins.gain_to) if margins.gain_to < 1 else np.log(margins.gain_from)
            limits.append((float(change), block, margins))
    if not limits:
        return (LoopFinding(None, (), 1.0, 1.0, *rest),)
    _, block, margins = min(limits, key=lambda row: row[0])
    return (LoopFinding(block.name, find_gains(block), margins.gain_from, margins.gain_to, *rest),)


def _growing_states(model: LinearModel, count: int = 2) -> tuple[str, ...]:
    """States that take most part in the motion that grows most."""
    root = max(find_poles(model), key=lambda root: root.pole.real)
    shares = np.abs(root.shares[: model.order])
    return tuple(model.states[k].name for k in np.argsort(-shares, kind="stable")[:count])


@dataclass(frozen=True)
class _Blame:
    """A block, the factors between which its outputs leave `left` growing motions, and one of these factors."""

    block: Block
    signals: tuple[str, ...]
    left: int
    above: float
    below: float

    @property
    def inside(self) -> float:
        """A factor well inside the range: half or twice its limit, or its middle where it is narrow."""
        middle = choose_between(self.above, self.below)
        return max(self.below / 2, middle) if self.below < 1 else min(2 * self.above, middle)

    @property
    def change(self) -> float:
        """How far the gain must go, as a logarithm."""
        return float(-np.log(self.below) if self.below < 1 else np.log(self.above))


def _count(multipliers: np.ndarray) -> int:
    return int(np.sum(np.abs(multipliers) > 1 + STABLE))


def _find_blame(model: SampledModel, blocks: Sequence[Block]) -> _Blame | None:
    now = _count(model.multipliers)
    found = [blame for block in blocks if find_gains(block) for blame in _scalings(model, block) if blame.left < now]
    return min(found, key=lambda blame: (blame.left, round(blame.change, 3)), default=None)


def _scalings(model: SampledModel, block: Block) -> list[_Blame]:
    """The ranges of factors on a block's outputs other than the one of today, with what is left to grow in each."""
    signals = tuple(held_outputs(model, block))
    if not can_lift(model, signals):
        return []
    lifted = lift(model, signals)
    if not lifted.closes:
        return []
    ranges = count_growing(lifted, Curves(lifted).real_gains())
    return [_Blame(block, signals, left, low, high) for low, high, left in ranges if not low <= 1 <= high]


def _describe(model: SampledModel, blame: _Blame | None) -> LoopFinding:
    radius = float(np.abs(model.multipliers).max())
    rest = (model.growth, radius, model.turn_time, _dominant_states(model))
    if blame is None:
        return LoopFinding(None, (), 1.0, 1.0, *rest)
    return LoopFinding(blame.block.name, find_gains(blame.block), blame.above, blame.below, *rest)


def _dominant_states(model: SampledModel, count: int = 2) -> tuple[str, ...]:
    """States that take most part in the motion that grows most: of left and right eigenvector the product."""
    kept = remembered(model.matrix)
    values, left, right = eig(model.matrix[np.ix_(kept, kept)], left=True, right=True)
    most = int(np.argmax(np.abs(values)))
    share = np.abs(left[:, most] * right[:, most]) * (kept < model.order)
    places = kept[np.argsort(-share, kind="stable")[:count]]
    return tuple(model.states[k].name for k in places if k < model.order)


def _describe_time(seconds: float) -> str:
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3)
    return f"{seconds * factor:.3g} {unit}"


def _describe_share(factor: float) -> str:
    return f"{100 * factor:.3g} %"
