"""Loop table: which bandwidth and which stability margins does each loop of a sampled controller have?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from robodyn.analysis.linear.frequency import FrequencyResponse
from robodyn.analysis.linear.gains import find_gains
from robodyn.analysis.linear.lifting import lift, scale_held
from robodyn.analysis.linear.loop_gain import find_bandwidth, respond_held, respond_loop
from robodyn.analysis.linear.margins import Margins, find_margins
from robodyn.analysis.linear.operating_point import Place
from robodyn.analysis.linear.sampled_model import SampledModel
from robodyn.analysis.linear.sampling import linearise_sampled
from robodyn.assembly import System, assemble
from robodyn.errors import FlawList, nearest
from robodyn.lazy import later
from robodyn.model import Block, Scenario
from robodyn.waiting import told_if_slow


@dataclass(frozen=True)
class Loop:
    """Where a loop is cut, and what it is to follow.

    Attributes:
        signal: held output of a sampled block at which it is cut.
        target, answer: held signal that is followed and the signal that follows it, for the bandwidth; without them it
            is that of `L / (1 + L)`.
        cut: held signals that are zero meanwhile, such as the command of an outer loop.
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

    name: str
    loop: Loop
    gain: FrequencyResponse
    closed: FrequencyResponse
    margins: Margins
    crossover: float
    bandwidth: float


@dataclass(frozen=True, eq=False)
class LoopTable:
    """All loops at one operating point."""

    rows: tuple[LoopFigures, ...]
    model: SampledModel

    def __repr__(self) -> str:
        return f"<LoopTable of {', '.join(row.name for row in self.rows) or 'no loop'}>"

    _repr_html_ = later("robodyn.reporting.shown:loops_html")


@told_if_slow("cutting the loops of")
def loop_table(
    what: System | Scenario,
    loops: Mapping[str, Loop] | None = None,
    *,
    at: Place = "start",
    friction: str = "none",
    parameters: Mapping[str, float] | None = None,
) -> LoopTable:
    """Bandwidth and margins of loops, all others being closed unless they are cut.

    Args:
        loops: by name; without it every output of a sampled block with gains that acts back on itself.
        at, friction, parameters: as `linearise_sampled` takes them.
    """
    system = what if isinstance(what, System) else assemble(what)
    _check_loops(system, loops or {})
    answers = tuple(dict.fromkeys(loop.answer for loop in (loops or {}).values() if loop.answer is not None))
    model = linearise_sampled(system, at, outputs=answers, friction=friction, parameters=parameters)
    if loops is None:
        loops = {name: Loop(name) for name in closed_signals(model, system.scenario)}
    return LoopTable(tuple(_measure(model, name, loop) for name, loop in loops.items()), model)


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
    size = np.log(np.maximum(gain.magnitude, np.finfo(float).tiny))
    found = np.flatnonzero((size[:-1] > 0) & (size[1:] <= 0))
    if not found.size:
        return float("nan")
    k = int(found[-1])
    x, y = np.log(gain.frequency[k : k + 2]), size[k : k + 2]
    return float(np.exp(brentq(lambda at: np.interp(at, x, y), *x)))


def _check_loops(system: System, loops: Mapping[str, Loop]) -> None:
    flaws, held = FlawList(), [info.name for info in system.signals if info.kind == "held"]
    if not system.discrete.tasks:
        flaws.add("blocks", "none is sampled", "linear models of continuous loops: robodyn modes")
    for name, loop in loops.items():
        for part, signal in (("signal", loop.signal), ("target", loop.target), *(("cut", one) for one in loop.cut)):
            if signal is not None and signal not in held:
                flaws.add(f"loops.{name}.{part}", f"'{signal}' is not held by a sampled block", nearest(signal, held))
        if loop.answer is not None and loop.answer not in system.signal_names:
            remedy = nearest(loop.answer, system.signal_names)
            flaws.add(f"loops.{name}.answer", f"there is no signal '{loop.answer}'", remedy)
        if (loop.target is None) != (loop.answer is None):
            flaws.add(f"loops.{name}", "has only one of target and answer", "give both or neither")
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")
