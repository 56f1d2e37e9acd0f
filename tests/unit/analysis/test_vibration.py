"""Does a mode in motion pass through the shapes that are drawn, with the phases of its states?"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag
from support.limber import limber_modes

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.modes import DRAWN_DEFLECTION, ModeSet, animate_modes, find_modes

# What is left after sums and products of numbers near 1.
ROUNDING = 1e-12


@pytest.fixture(scope="module")
def swinging():
    found, system = limber_modes()
    return found, system, animate_modes(found, system)


def places(found, system, run, t):
    x = found.model.point.x.copy()
    x[: system.n_q] = [run[state.name](t) for state in system.states[: system.n_q]]
    return found.skeleton.place(x, found.model.point.p)


def test_it_begins_and_ends_in_the_drawn_shape_and_is_opposite_between(swinging):
    found, system, vibration = swinging
    assert len(vibration.runs) == len(vibration.modes) > 3
    for mode, run in zip(vibration.modes, vibration.runs, strict=True):
        for share, drawn in ((0.0, mode.displaced.there), (0.5, mode.displaced.back), (1.0, mode.displaced.there)):
            found_there = places(found, system, run, share * vibration.period)
            np.testing.assert_allclose(found_there, drawn, atol=ROUNDING)


def test_states_that_lag_behind_do_so_in_motion(swinging):
    found, system, vibration = swinging
    for mode, run in zip(vibration.modes, vibration.runs, strict=True):
        for state in system.states[: system.n_q]:
            # A quarter of a period on, Re(phi j) = -Im(phi).
            swing = run[state.name](vibration.period / 4) - vibration.rest[state.name](0.0)
            assert swing == pytest.approx(-mode.displaced.amplitude * mode.shape[state.name].imag, abs=ROUNDING)


def test_modes_of_flexible_bodies_are_drawn_large_enough_and_not_too_large(swinging):
    found, _, vibration = swinging
    size = np.ptp(found.mean, axis=0).max()
    assert any(mode.dominant(1)[0].startswith(("crook.mode", "lash.mode")) for mode in vibration.modes)
    for mode in vibration.modes:
        moved = np.linalg.norm(mode.displaced.there - found.mean, axis=1).max() / size
        # Up to the limit of deflection, which is kept to first order, and a tenth of it where turns are the limit.
        assert 0.1 * DRAWN_DEFLECTION < moved < 1.1 * DRAWN_DEFLECTION


def test_free_motions_are_not_taken_for_vibrations():
    found, _ = limber_modes()
    slow, swings = [[0.0, 1.0], [-1e-24, 0.0]], [[0.0, 1.0], [-400.0, 0.0]]
    alone = find_modes(LinearModel(slow))[0]
    beside = min(find_modes(LinearModel(block_diag(slow, swings))), key=lambda mode: abs(mode.pole))
    assert (alone.free, beside.free) == (False, True)
    alone, beside = (replace(mode, participation={"hinge.position": 1.0}) for mode in (alone, beside))
    assert alone in ModeSet(found.model, (alone,), found.skeleton).moving
    assert beside not in ModeSet(found.model, (*found, beside), found.skeleton).moving


def test_modes_that_move_nothing_cannot_be_animated(swinging):
    found, system, _ = swinging
    with pytest.raises(ValueError, match="no mode oscillates"):
        animate_modes(found, system, modes=[])
