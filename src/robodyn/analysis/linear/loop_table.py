"""Loop table: which bandwidth and which stability margins does each control loop have, sampled or continuous?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from robodyn.analysis.linear.continuous_loops import cut_loops
from robodyn.analysis.linear.frequency import FrequencyResponse, respond
from robodyn.analysis.linear.gains import find_gains
from robodyn.analysis.linear.lifting import lift, scale_held
from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.linearisation import linearise
from robodyn.analysis.linear.loop_gain import find_bandwidth, interpolate_crossing, respond_held, respond_loop
from robodyn.analysis.linear.margins import Margins, find_margins
from robodyn.analysis.linear.operating_point import Place
from robodyn.analysis.linear.sampled_model import SampledModel
from robodyn.analysis.linear.sampling import linearise_sampled
from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.base.lazy import Displayed
from robodyn.base.waiting import told_if_slow
from robodyn.computation.assembly import System, assemble
from robodyn.description.model import Block, Scenario


@dataclass(frozen=True)
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


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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
        """What the linear model leaves out."""
        return self.model.notes

    def __repr__(self) -> str:
        return f"<LoopTable of {', '.join(row.name for row in self.rows) or 'no loop'}>"


@told_if_slow("cutting the loops of")
def loop_table(
    what: System | Scenario,
    loops: Mapping[str, Loop] | None = None,
    *,
    at: Place = "start",
    friction: str | None = None,
    parameters: Mapping[str, float] | None = None,
) -> LoopTable:
    """Bandwidth and margins of loops, all others being closed unless they are cut.

    Args:
        loops: by name; without it every output of a sampled block with gains that acts back on itself or, nothing being
            sampled, of every continuous controller.
        at, parameters: as `linearise` takes them.
        friction: "none", "stuck" or "sliding", as `linearise_sampled` and `cut_loops` take it; "none" by default where
            blocks are sampled, else "sliding".
    """
    system = what if isinstance(what, System) else assemble(what)
    _check_loops(system, loops or {})
    if not system.discrete.tasks:
        return _continuous_table(system, loops, at, friction or "sliding", parameters)
    friction = friction or "none"
    answers = tuple(dict.fromkeys(loop.answer for loop in (loops or {}).values() if loop.answer is not None))
    model = linearise_sampled(system, at, outputs=answers, friction=friction, parameters=parameters)
    if loops is None:
        loops = {name: Loop(name) for name in closed_signals(model, system.scenario)}
    return LoopTable(tuple(_measure(model, name, loop) for name, loop in loops.items()), model)


def _continuous_table(
    system: System, loops: Mapping[str, Loop] | None, at: Place, friction: str, parameters: Mapping[str, float] | None
) -> LoopTable:
    """The same of continuous blocks, delays exact."""
    cut_at = partial(cut_loops, system, at=at, friction=friction, parameters=parameters)
    if loops is None:
        pairs = [(cut.signal, Loop(cut.signal), cut) for cut in cut_at()]
        if not pairs:
            remedy = "name where to cut: --loop BLOCK.OUTPUT; linear models without loops: robodyn modes"
            raise ModelError([Flaw("blocks", "none is a controller that acts back on itself", remedy)])
    else:
        pairs = [(name, loop, cut_at([loop.signal], zero=loop.cut)[0]) for name, loop in loops.items()]
    rows = []
    for name, loop, cut in pairs:
        gain = cut.respond()
        if loop.target is not None and loop.answer is not None:
            followed = respond(linearise(system, at, [loop.target], [loop.answer], parameters))
        else:
            followed = FrequencyResponse(gain.input, gain.output, gain.frequency, gain.values / (1 + gain.values))
        figures = (gain, followed, cut.margins(gain), find_crossover(gain), find_bandwidth(followed))
        rows.append(LoopFigures(name, loop, *figures))
    return LoopTable(tuple(rows), pairs[0][2].closed)


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


def _measure(model: SampledModel, name: str, loop: Loop) -> LoopFigures:
    # A target is driven, and so cut already: to whom it is zero it says nothing.
    driven = scale_held(model, [name for name in loop.cut if name != loop.target], 0.0)
    model = scale_held(model, loop.cut, 0.0)
    gain = respond_loop(model, loop.signal)
    if loop.target is not None and loop.answer is not None:
        followed = respond_held(driven, loop.target, loop.answer)
    else:
        followed = FrequencyResponse(gain.input, gain.output, gain.frequency, gain.values / (1 + gain.values))
    margins = find_margins(model, loop.signal)
    return LoopFigures(name, loop, gain, followed, margins, find_crossover(gain), find_bandwidth(followed))


def find_crossover(gain: FrequencyResponse) -> float:
    """Highest frequency [Hz] at which the magnitude falls through 1, interpolated in logarithms; nan if none."""
    size = np.maximum(gain.magnitude, np.finfo(float).tiny)
    found = np.flatnonzero((size[:-1] > 1) & (size[1:] <= 1))
    if not found.size:
        return float("nan")
    k = int(found[-1])
    return interpolate_crossing(gain.frequency[k : k + 2], size[k : k + 2])


def _check_loops(system: System, loops: Mapping[str, Loop]) -> None:
    """Names that are not there; where to cut is checked by `cut_loops` where nothing is sampled."""
    flaws, sampled = FlawList(), bool(system.discrete.tasks)
    held = [info.name for info in system.signals if info.kind == "held"]
    tunable = [number.name for number in system.parameters]
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
