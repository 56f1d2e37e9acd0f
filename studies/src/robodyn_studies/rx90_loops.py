"""RX90B study: how fast and how safe are the loops of the six axes?

The study prints no gain: ours are this project's choice, and so are the limits they are held against.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from robodyn.analysis import Loop, LoopTable, loop_table
from robodyn.presentation.studies import PublishedValue, above
from robodyn_studies.catalog.rx90_parameters import AXES
from robodyn_studies.rx90_runs import OWN, weld

GAIN, PHASE, BANDWIDTH = 2.0, 30.0, 10.0
"""Least factor on the gain, phase [deg] and bandwidth [Hz] of a sound servo loop."""


@cache
def position_loops() -> LoopTable:
    """The position loops at the start of the weld, all others closed, friction left out."""
    return loop_table(
        weld(),
        {
            f"axis {k}": Loop(f"axis{k}.position_loop.command", f"setpoints.position{k}", f"joint{k}.position")
            for k in AXES
        },
    )


@cache
def current_commands() -> LoopTable:
    """The same cut at the current commands, behind position and velocity loops."""
    return loop_table(weld(), {f"axis {k}": Loop(f"axis{k}.velocity_loop.command") for k in AXES})


def margin_figures() -> Iterator[PublishedValue]:
    """Bandwidth, gain and phase margin of each axis."""
    where = "at the start of the weld, all other loops closed, friction left out"
    both = f"the smaller one of the loop cut at the position loop's and at the current command, {where}"
    pairs = zip(AXES, position_loops().rows, current_commands().rows, strict=True)
    for k, outer, inner in pairs:
        margins = (outer.margins, inner.margins)
        reason = f"from setpoint to joint, -3 dB, {where}"
        yield above(f"bandwidth_axis{k}_hz", outer.bandwidth, BANDWIDTH, "Hz", reason, OWN)
        yield above(f"gain_margin_axis{k}", min(one.gain_to for one in margins), GAIN, "", both, OWN)
        yield above(f"phase_margin_axis{k}_deg", min(one.phase for one in margins), PHASE, "deg", both, OWN)
