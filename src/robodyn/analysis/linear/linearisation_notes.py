"""Notes on a linearisation: what is held, what moves, where is the system not smooth?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis.jumps import describe_leaps, describe_staircases
from robodyn.analysis.linear.operating_point import sticking_directions
from robodyn.computation.assembly.system import FREE

if TYPE_CHECKING:
    from robodyn.analysis.linear.linearisation import Slopes

# Part of a state's magnitude by which it is moved to look for kinks; the jump of a slope that is one, as part of the
# largest slope of the same row a wider step away: smooth laws change much less over such a distance.
KINK_STEP, KINK_JUMP, WIDE_STEP, ROUNDING = 1e-9, 1e-3, 1e-3, 1e-9
# A rate beyond this part of what its slopes make of the states' magnitudes is one of motion.
REST = 1e-6
MOST_NAMES = 5
WAYS = 3
"""On which all states are moved at once: two kinks may hide each other on one way, not on all."""


def describe_notes(slopes: Slopes) -> tuple[str, ...]:
    """Sentences on what a linear model leaves out or takes as it is."""
    staircases = filter(None, [describe_staircases(slopes.parts.staircases), describe_leaps(slopes.parts.staircases)])
    return (*staircases, *_describe_names(slopes))


def _describe_names(slopes: Slopes) -> tuple[str, ...]:
    return tuple(
        f"{sentence}: {_listed(names)}"
        for sentence, names in (
            ("outputs of sampled blocks are held", [task.name for task in slopes.parts.system.discrete.tasks]),
            ("dry friction that sticks is left out", list(_friction(slopes, FREE))),
            ("friction holds it at rest", list(_friction(slopes, 0.0))),
            ("not at rest", _moving(slopes)),
            ("without effect at this operating point", _idle_inputs(slopes)),
            ("a slope jumps just there, the model has one side of it", list(_kinks(slopes))),
        )
        if names
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _friction(slopes: Slopes, direction: float) -> Iterator[str]:
    """Blocks of friction that sticks and now have this direction."""
    system = slopes.parts.system
    directions = sticking_directions(system)
    for info, value in zip(system.memory, slopes.point.m, strict=True):
        if info.name in directions and value == direction:
            yield info.name.removesuffix(".direction")


def _moving(slopes: Slopes) -> list[str]:
    """States with a rate."""
    n = slopes.parts.n
    size = np.abs(slopes.matrix[:n, :n]) @ np.maximum(_nominal(slopes), np.abs(slopes.point.x[:n]))
    moves = np.abs(slopes.values[:n]) > REST * size
    return [state.name for state, moving in zip(slopes.parts.system.states, moves, strict=False) if moving]


def _idle_inputs(slopes: Slopes) -> list[str]:
    inputs = slopes.parts.inputs
    columns = slopes.matrix[:, slopes.matrix.shape[1] - len(inputs) :]
    return [name for name, column in zip(inputs, columns.T, strict=True) if not column.any()]


def _kinks(slopes: Slopes) -> Iterator[str]:
    """States at whose present value a slope jumps: friction at rest, the corner of a table, a limit."""
    x, rough = slopes.point.x, slopes.parts.rough_states
    sides = np.zeros((len(rough), x.size))
    sides[range(len(rough)), rough] = (_nominal(slopes) + np.abs(x[: slopes.parts.n]))[rough]
    # A way on which all of them move crosses every kink that one of them does: mostly there is none.
    ways = np.random.default_rng(0).uniform(0.5, 1.0, (WAYS, len(rough))) * [(-1) ** k for k in range(len(rough))]
    if not any(_jumps(slopes, way @ sides, anywhere=True) for way in ways):
        return
    for k, side in zip(rough, sides, strict=True):
        state = slopes.parts.system.states[k]
        if _jumps(slopes, side):
            yield f"{state.name} = {x[k]:.6g} {state.unit}".rstrip()


def _jumps(slopes: Slopes, side: np.ndarray, anywhere: bool = False) -> bool:
    """Whether a slope is another one on both sides of the operating point.

    Args:
        anywhere: whether small ones count that only the wider step makes large: it may reach what one state does not.
    """
    n, x, nominal = slopes.parts.n, slopes.point.x, _nominal(slopes)
    near, far = (
        [slopes.at(x + sign * part * side)[:, :n] * nominal for sign in (1, -1)] for part in (KINK_STEP, WIDE_STEP)
    )
    here, size = (np.abs(pair).max(axis=(0, 2))[:, None] for pair in (near, far))
    size = np.minimum(here, size) + ROUNDING * size if anywhere else size
    return bool(np.any(np.abs(near[0] - near[1]) > KINK_JUMP * size))


def _nominal(slopes: Slopes) -> np.ndarray:
    nominal = np.array([state.nominal for state in slopes.parts.system.states[: slopes.parts.n]])
    return np.where(np.isfinite(nominal), nominal, 1.0)
