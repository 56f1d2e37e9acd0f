"""Control loops: crossover, bandwidth and margins of each, and which gain makes one unstable."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eig
from scipy.optimize import brentq

from robodyn.base import Array, Displayed, FlawList, frozen, nearest, refuse, refuse_word, report_progress
from robodyn.computation.assembly import System, assemble
from robodyn.description.model import Block, Scenario
from robodyn.description.model.block import name_results
from robodyn.description.model.machine import find_controllers

from .linear_model import MATRICES, LinearModel
from .linearisation import Place, linearise, reduce_constraints
from .margins import (
    MOST_GAIN,
    EigenvalueCurves,
    Margins,
    choose_between,
    count_growing,
    find_bandwidth,
    find_gains,
    find_margins,
    find_stable_range,
    interpolate_crossing,
    refine_curve,
    respond_held,
    respond_loop,
)
from .modes import FRICTION
from .poles import count_growing_poles, find_poles
from .responses import FrequencyResponse, choose_frequencies, respond
from .sampling import STABLE, SampledModel, can_lift, count_above_one, lift, linearise_sampled, remembered, scale_held

# --------------------------------------------------------------------------------------------------
# Continuous loops, with pure delays as they are: where are they cut, and which margins has each?
#
# A loop is cut at an output s of a block. A number p is added to it, s = w + p with w what the block computes, and the
# closed machine is linearised (see `linear_model`; s = C x + K d + p):
#
#     x' = A x + E d + B p,   v = F x + H d + G p,   w = C x + K d
#
# Closed by a factor k, s = k w, that is p = (k - 1) w; k = 0 cuts it, k = 1 is the machine as it runs. The gain round
# the cut loop is exact at every frequency, delays included; poles of the closed one too (see `poles`).
#
#     gain margins    k = -1 / L            where L(i omega) is real and negative
#     phase margin    |angle of -L|         where |L| = 1
#     delay margin    angle of -L / omega   there, the angle from 0 to 2 pi


DRY = ("coulomb", "static")
"""Numbers of friction laws that are no slope of a speed."""
ACTS = 1e-12
"""Gain below which nothing comes back."""


def probe(block: Block, outputs: Sequence[str]) -> Block:
    """The block with a number `probe_k` added to each of some outputs."""
    function = block.function

    def probed(**arguments: Any) -> dict[str, Any]:
        added = [arguments.pop(f"probe_{k}") for k in range(len(outputs))]
        results = name_results(block, function(**arguments))
        for output, number in zip(outputs, added, strict=True):
            name, _, place = output.partition(".")
            if place:
                values = list(results[name])
                values[int(place)] = values[int(place)] + number
                results[name] = tuple(values)
            else:
                results[name] = results[name] + number
        return results

    signature = inspect.signature(function)
    more = [inspect.Parameter(f"probe_{k}", inspect.Parameter.KEYWORD_ONLY, default=0.0) for k in range(len(outputs))]
    units = {f"probe_{k}": block.info.units.get(output.partition(".")[0], "") for k, output in enumerate(outputs)}
    probed.__name__ = block.law_name
    probed.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *more])  # type: ignore[attr-defined]
    probed.law_info = replace(block.info, units={**block.info.units, **units})  # type: ignore[attr-defined]
    return block.replaced(law=probed)


@frozen(eq=False)
class ContinuousLoop:
    """A loop that can be closed by any factor.

    Attributes:
        signal: at which it is cut; closed: from the number added there to the signal, the machine as it runs.
    """

    signal: str
    closed: LinearModel

    def close(self, factor: float) -> LinearModel:
        """The machine with what the block computes multiplied by a factor."""
        m, more = self.closed, factor - 1.0
        parts = {"A": m.B @ m.C, "E": m.B @ m.K, "F": m.G @ m.C, "H": m.G @ m.K}
        return replace(m, **{name: getattr(m, name) + more * part for name, part in parts.items()})

    def gain(self, frequency: Array) -> Array:
        """Once round the loop, its sign turned: L = -w / u, so that negative feedback is unstable round -1."""
        return -self._cut.frequency_response(2 * np.pi * frequency)[:, 0, 0]

    @cached_property
    def _cut(self) -> LinearModel:
        return replace(self.close(0.0), D=np.zeros((1, 1)))

    def count_growing(self, factor: float = 1.0) -> int:
        """How many motions grow."""
        return count_growing_poles(self.close(factor), STABLE)

    def respond(self) -> FrequencyResponse:
        """The gain over frequencies that show it."""
        grid = choose_frequencies([self.closed, self._cut])
        grid, values = refine_curve(self.gain, grid, self.gain(grid))
        variable = self.closed.outputs[0]
        return FrequencyResponse(variable, variable, grid, values)

    def margins(self, gain: FrequencyResponse) -> Margins:
        """Margins of the loop, by its gain's curve."""
        frequency, values = gain.frequency, gain.values
        # No positive factor makes a positive gain -1; the curve between two points goes about as far as they are apart.
        negative = np.minimum(values[:-1].real, values[1:].real) < np.abs(np.diff(values))
        real = [self.gain(np.array([f]))[0].real for f in self._crossings(frequency, values, np.imag, negative)]
        limits = [float(-1 / value) for value in (*real, values[0].real) if value < -1 / MOST_GAIN]
        low, high = find_stable_range(count_growing(self.count_growing, limits))
        # What motions are multiplied by in the time of the fastest one, as sampled loops have them in a cycle.
        poles = self.closed.poles()
        radius = float(np.exp((poles / np.abs(poles).max(initial=1.0)).real.max(initial=-np.inf)))
        if radius > 1 + STABLE:
            return Margins((self.signal,), False, radius, low, high, float("nan"), float("nan"))
        phase, delay = float("inf"), float("inf")
        for f in self._crossings(frequency, values, lambda value: np.abs(value) - 1):
            angle = np.angle(-self.gain(np.array([f]))[0])
            phase = min(phase, abs(np.degrees(angle)))
            delay = min(delay, (angle % (2 * np.pi)) / (2 * np.pi * f))
        return Margins((self.signal,), True, radius, low, high, float(phase), float(delay))

    def _crossings(
        self,
        frequency: Array,
        values: Array,
        measure: Callable[[Array], Array],
        wanted: ArrayLike = True,
    ) -> list[float]:
        """Frequencies [Hz] at which a measure of the gain changes its sign, between points where it is wanted."""
        sign = measure(values) > 0
        places = np.flatnonzero((sign[:-1] != sign[1:]) & wanted)

        def at(f: float) -> float:
            return float(measure(self.gain(np.array([f])))[0])

        return [float(brentq(at, *frequency[k : k + 2], xtol=1e-12, rtol=1e-12)) for k in places]


def cut_loops(
    what: System | Scenario,
    signals: Sequence[str] | None = None,
    *,
    at: Place = "start",
    friction: str = "sliding",
    parameters: Mapping[str, float] | None = None,
    zero: Sequence[str] = (),
) -> list[ContinuousLoop]:
    """Loops of continuous blocks, each cut at a signal, all others closed.

    Args:
        signals: outputs of continuous blocks; without them those of all controllers that act back on themselves.
        at, parameters: as `linearise` takes them.
        friction: "none" leaves all of it out, "sliding" what is dry, "stuck" nothing.
        zero: outputs that are zero meanwhile, such as the command of an outer loop.

    Raises:
        ModelError: for signals that are no output of a continuous block.
    """
    refuse_word("friction", friction, FRICTION, "loops")
    scenario = what.scenario if isinstance(what, System) else what
    names = {block.name: block for block in scenario.machine.blocks if not block.sampled}
    known = (what if isinstance(what, System) else assemble(what)).signal_names
    if signals is None:
        blocks = find_controllers(scenario.machine)
        outputs = [name for block in blocks for name in _outputs(block, known)]
    else:
        outputs = list(signals)
    # Block and output of each signal.
    every = {name: block for block in names for name in _outputs(names[block], known)}
    flaws, places = FlawList(), dict[str, tuple[str, str]]()
    for name in (*outputs, *zero):
        if name in every:
            places[name] = every[name], name.removeprefix(f"{every[name]}.")
        else:
            flaws.add(f"loops.{name}", "is not an output of a continuous block", nearest(name, every))
    flaws.raise_if_any(f"scenario '{scenario.name}'")
    if not outputs:
        return []
    # One number for each place, in the order of the block's own.
    cuts: dict[str, list[str]] = {}
    for block, output in places.values():
        cuts.setdefault(block, []).append(output)
    numbers = {name: f"{block}.probe_{cuts[block].index(output)}" for name, (block, output) in places.items()}
    machine = scenario.machine
    blocks = [probe(block, cuts[block.name]) if block.name in cuts else block for block in machine.blocks]
    system = assemble(scenario.replaced(machine=machine.replaced(blocks=tuple(blocks))))
    changes = dict(parameters or {})
    if friction == "none":
        system = system.without_friction
    elif friction == "sliding":
        # Friction that slides at a steady speed has no level of its own; bristles stay.
        dry = [one for one in system.scenario.machine.all_blocks if one.info.disturbance and not one.state_names]
        levels = [f"{block.name}.{name}" for block in dry if not block.info.sticks for name in DRY]
        changes = {name: 0.0 for name in levels if name in system.places} | changes
    model = linearise(system, at, list(numbers.values()), list(places), changes)
    if system.motion.constraint_forces:
        model = reduce_constraints(model, system)
    for name in zero:
        # The model with a signal zero whatever its block computes: the number p added is -(C x + K d + D others).
        column = [one.name for one in model.inputs].index(numbers[name])
        row = [one.name for one in model.outputs].index(name)
        others = model.D[row].copy()
        others[column] = 0.0
        computed = {"x": model.C[row], "d": model.K[row], "u": others}
        pushed = {"x": model.B[:, column], "d": model.G[:, column], "y": model.D[:, column]}
        changed: dict[str, Any] = {
            key: getattr(model, key) - np.outer(pushed[rows], computed[columns])
            for key, (rows, columns) in MATRICES.items()
        }
        model = replace(model, **changed)
    loops = [ContinuousLoop(name, model.choose([numbers[name]], [name])) for name in outputs]
    if signals is not None:
        return loops
    # Those to which anything comes back at all.
    return [one for one in loops if np.abs(one.gain(choose_frequencies([one.closed], 20))).max() > ACTS]


def _outputs(block: Block, known: Sequence[str]) -> list[str]:
    """Signals that a block computes: not its states, their rates, nor memory."""
    own = {f"{block.name}.{name}" for name in (*block.state_names, *block.memory_names)}
    own |= {f"{name}_dot" for name in own}
    return [name for name in known if name.startswith(f"{block.name}.") and name not in own]


# --------------------------------------------------------------------------------------------------
# Loop table: which bandwidth and which stability margins does each control loop have, sampled or continuous?


@frozen
class Loop:
    """Where a loop is cut, and what it is to follow.

    Attributes:
        signal: output of a block at which it is cut: a sampled one where any block is sampled, else a continuous one.
        target, answer: what is followed, a held signal or, nothing being sampled, a number, and the signal that follows
            it, for the bandwidth; without them it is that of `L / (1 + L)`.
        cut: such outputs that are zero meanwhile, such as the command of an outer loop.
    """

    signal: str
    target: str | None = None
    answer: str | None = None
    cut: tuple[str, ...] = ()


@frozen(eq=False)
class LoopFigures:
    """One loop: gain round it (negative feedback, first harmonic), closed, margins, and frequencies [Hz].

    Attributes:
        closed: of the answer to the target, or `L / (1 + L)`.
        crossover: highest frequency at which the gain is 1; bandwidth: at which what follows is 3 dB down; nan if none.
    """

    JSON = """
    name: the signal at which the loop is cut
    crossover: [Hz]
    bandwidth: [Hz]
    *margins
    """
    name: str
    loop: Loop
    gain: FrequencyResponse
    closed: FrequencyResponse
    margins: Margins
    crossover: float
    bandwidth: float


@frozen(eq=False)
class LoopTable(Displayed):
    """All loops at one operating point; warnings are sentences on those that are unstable."""

    JSON = """
    notes
    warnings
    loops = rows
    """
    rows: tuple[LoopFigures, ...]
    model: SampledModel | LinearModel
    warnings: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what the linear model leaves out."""
        return self.model.notes

    def __repr__(self) -> str:
        return f"<LoopTable of {', '.join(row.name for row in self.rows) or 'no loop'}>"


@report_progress("cutting the loops of")
def loop_table(
    what: System | Scenario,
    loops: Mapping[str, Loop] | None = None,
    *,
    at: Place = "start",
    friction: str | None = None,
) -> LoopTable:
    """Bandwidth and margins of loops, all others being closed unless they are cut.

    Args:
        loops: by name; without it every output of a sampled block with gains that acts back on itself or, nothing being
            sampled, of every continuous controller.
        at: as `linearise` takes it.
        friction: "none", "stuck" or "sliding", as `linearise_sampled` and `cut_loops` take it; "none" by default where
            blocks are sampled, else "sliding".
    """
    system = what if isinstance(what, System) else assemble(what)
    _check_loops(system, loops or {})
    if not system.discrete.tasks:
        return _continuous_table(system, loops, at, friction or "sliding")
    answers = tuple(dict.fromkeys(loop.answer for loop in (loops or {}).values() if loop.answer is not None))
    model = linearise_sampled(system, at, outputs=answers, friction=friction or "none")
    if loops is None:
        loops = {name: Loop(name) for name in closed_signals(model, system.scenario)}
    rows = []
    for name, loop in loops.items():
        cut, response = scale_held(model, loop.cut, 0.0), None
        if loop.target is not None and loop.answer is not None:
            # A target is driven, and so cut already: to whom it is zero it says nothing.
            driven = scale_held(model, [signal for signal in loop.cut if signal != loop.target], 0.0)
            response = respond_held(driven, loop.target, loop.answer)
        gain = respond_loop(cut, loop.signal)
        rows.append(_measure(name, loop, gain, response, find_margins(cut, loop.signal)))
    return LoopTable(tuple(rows), model)


def _continuous_table(system: System, loops: Mapping[str, Loop] | None, at: Place, friction: str) -> LoopTable:
    """The table of loops of continuous blocks, delays exact."""
    cut_at = partial(cut_loops, system, at=at, friction=friction)
    if loops is None:
        pairs = [(cut.signal, Loop(cut.signal), cut) for cut in cut_at()]
        if not pairs:
            remedy = "name where to cut: --loop BLOCK.OUTPUT; linear models without loops: robodyn modes"
            refuse("blocks", "none is a controller in a feedback loop", remedy)
    else:
        pairs = [(name, loop, cut_at([loop.signal], zero=loop.cut)[0]) for name, loop in loops.items()]
    rows = []
    for name, loop, cut in pairs:
        gain, response = cut.respond(), None
        if loop.target is not None and loop.answer is not None:
            response = respond(linearise(system, at, [loop.target], [loop.answer]))
        rows.append(_measure(name, loop, gain, response, cut.margins(gain)))
    return LoopTable(tuple(rows), pairs[0][2].closed)


def _measure(
    name: str, loop: Loop, gain: FrequencyResponse, response: FrequencyResponse | None, margins: Margins
) -> LoopFigures:
    """A row of the table; without a response of an answer to a target, the closed loop is L / (1 + L)."""
    if response is None:
        response = FrequencyResponse(gain.input, gain.output, gain.frequency, gain.values / (1 + gain.values))
    return LoopFigures(name, loop, gain, response, margins, find_crossover(gain), find_bandwidth(response))


def closed_signals(model: SampledModel, scenario: Scenario) -> list[str]:
    """Held outputs of sampled blocks with gains that act back on themselves."""
    blocks = [block for block in scenario.machine.blocks if block.sampled and find_gains(block)]
    held = [name for block in blocks for name in held_outputs(model, block)]
    return [name for name in held if lift(model, [name]).closes]


def held_outputs(model: SampledModel, block: Block) -> list[str]:
    """Names of what a sampled block holds for others to read: not its own memory, nor what waits to take effect."""
    own = {f"{block.name}.{name}" for name in block.memory_names}
    names = [variable.name for variable in model.memory if variable.name.startswith(f"{block.name}.")]
    return [name for name in names if name not in own and ".pending." not in name]


def find_crossover(gain: FrequencyResponse) -> float:
    """Highest frequency [Hz] at which the magnitude falls through 1, interpolated in logarithms; nan if none."""
    size = np.maximum(gain.magnitude, np.finfo(float).tiny)
    for k in np.flatnonzero((size[:-1] > 1) & (size[1:] <= 1))[::-1]:
        return interpolate_crossing(gain.frequency[k : k + 2], size[k : k + 2])
    return float("nan")


def _check_loops(system: System, loops: Mapping[str, Loop]) -> None:
    """Names that are not there; where to cut is checked by `cut_loops` where nothing is sampled."""
    flaws, sampled = FlawList(), bool(system.discrete.tasks)
    held = [info.name for info in system.signals if info.kind == "held"]
    tunable = system.places
    for name, loop in loops.items():
        for part, signal in (("signal", loop.signal), ("target", loop.target), *(("cut", one) for one in loop.cut)):
            if sampled and signal is not None and signal not in held:
                flaws.add(f"loops.{name}.{part}", f"'{signal}' is not held by a sampled block", nearest(signal, held))
        if not sampled and loop.target is not None and loop.target not in tunable:
            flaws.add(f"loops.{name}.target", f"there is no number '{loop.target}'", nearest(loop.target, tunable))
        if loop.answer is not None and loop.answer not in system.signal_names:
            remedy = nearest(loop.answer, system.signal_names)
            flaws.add(f"loops.{name}.answer", f"there is no signal '{loop.answer}'", remedy)
        if (loop.target is None) != (loop.answer is None):
            flaws.add(f"loops.{name}", "has only one of target and answer", "give both or neither")
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")


# --------------------------------------------------------------------------------------------------
# Stability check of loops: will they be stable, and if not, which gain is the cause and by how much?
#
# All outputs of one block are scaled by k. Of the blocks whose scaling leaves the fewest growing motions the one that
# has to be changed least is named; then, with its outputs scaled well beyond that limit, the next, until nothing grows.


@frozen
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
        """The finding in words: which states grow, how fast, and which gain to change by how much."""
        what = f"deviations of {', '.join(self.states)} grow x10 in {_describe_time(np.log(10) / self.growth)}"
        size = f"multiplier {self.radius:.4g} in {_describe_time(self.turn_time)}"
        if self.block is None:
            return f"unstable at the start: {what} ({size}); no single controller gain changes that"
        which = " and ".join(f"{self.block}.{name}" for name in self.gains) or f"what {self.block} commands"
        remedy = f"raise {which} above {100 * self.above:.3g} %"
        if self.below < 1:
            remedy = f"reduce {which} below {100 * self.below:.3g} %"
        return f"the loop of {self.block} is unstable at these gains: {what} ({size}); {remedy}"


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
    model = linearise_sampled(system, at, friction=friction or "none", parameters=parameters)
    blocks = [block for block in system.scenario.machine.blocks if block.sampled]
    findings: list[LoopFinding] = []
    while (now := count_above_one(model.multipliers)) and len(findings) <= len(blocks):
        scalings = [scaling for block in blocks if find_gains(block) for scaling in _find_scalings(model, block)]
        scalings = [scaling for scaling in scalings if scaling.left < now]
        blame = min(scalings, key=lambda scaling: (scaling.left, round(scaling.change, 3)), default=None)
        findings.append(_describe_sampled(model, blame))
        if blame is None:
            break
        model = scale_held(model, blame.signals, blame.inside)
    return tuple(findings)


def _check_continuous(
    system: System, at: Place, friction: str, parameters: Mapping[str, float] | None
) -> tuple[LoopFinding, ...]:
    """Continuous loops whose gain alone makes the machine unstable; None's sentence where no gain alone does."""
    blocks = find_controllers(system.scenario.machine)
    if not blocks:
        return ()
    if friction == "stuck":
        # Loops are cut by another trace: not where nothing grows in this one.
        model = linearise(system, at, parameters=parameters)
        if system.motion.constraint_forces:
            model = reduce_constraints(model, system)
        if not count_growing_poles(model, STABLE):
            return ()
    loops = cut_loops(system, at=at, friction=friction, parameters=parameters)
    if not loops or not loops[0].count_growing():
        return ()
    closed = loops[0].closed
    fastest = max(closed.poles(), key=lambda pole: pole.real)
    turn = 2 * np.pi / abs(fastest.imag) if fastest.imag else 1 / fastest.real
    # Of all loops the one whose gain has to be changed least.
    scalings = []
    for loop in loops:
        margins = loop.margins(loop.respond())
        block = next(block for block in blocks if loop.signal.startswith(f"{block.name}."))
        if not np.isnan(margins.gain_from) and find_gains(block):
            scalings.append(_Scaling(block, (loop.signal,), 0, margins.gain_from, margins.gain_to))
    blame = min(scalings, key=lambda scaling: scaling.change, default=None)
    # States that take most part in the motion that grows most.
    root = max(find_poles(closed), key=lambda root: root.pole.real)
    shares = np.abs(root.shares[: closed.order])
    states = tuple(closed.states[k].name for k in np.argsort(-shares, kind="stable")[:2])
    return (_name_finding(blame, float(fastest.real), float(np.exp(fastest.real * turn)), float(turn), states),)


@frozen
class _Scaling:
    """Factors on a block's outputs, `above` to `below`, between which they leave `left` growing motions."""

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


def _find_scalings(model: SampledModel, block: Block) -> list[_Scaling]:
    """The ranges of factors on a block's outputs other than the one of today, with what is left to grow in each."""
    signals = tuple(held_outputs(model, block))
    if not can_lift(model, signals):
        return []
    lifted = lift(model, signals)
    if not lifted.closes:
        return []
    limits = EigenvalueCurves(lifted).real_gains()
    ranges = count_growing(lifted.count_growing, limits)
    return [_Scaling(block, signals, n_growing, low, high) for low, high, n_growing in ranges if not low <= 1 <= high]


def _describe_sampled(model: SampledModel, blame: _Scaling | None) -> LoopFinding:
    # States that take most part in the motion that grows most: of left and right eigenvector the product.
    places = remembered(model.matrix)
    values, left, right = eig(model.matrix[np.ix_(places, places)], left=True, right=True)
    most = int(np.argmax(np.abs(values)))
    share = np.abs(left[:, most] * right[:, most]) * (places < model.order)
    leading = places[np.argsort(-share, kind="stable")[:2]]
    states = tuple(model.states[k].name for k in leading if k < model.order)
    return _name_finding(blame, model.growth, float(np.abs(model.multipliers).max()), model.turn_time, states)


def _name_finding(
    blame: _Scaling | None, growth: float, radius: float, turn_time: float, states: tuple[str, ...]
) -> LoopFinding:
    if blame is None:
        return LoopFinding(None, (), 1.0, 1.0, growth, radius, turn_time, states)
    block, limits = blame.block, (blame.above, blame.below)
    return LoopFinding(block.name, find_gains(block), *limits, growth, radius, turn_time, states)


def _describe_time(seconds: float) -> str:
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3)
    return f"{seconds * factor:.3g} {unit}"
