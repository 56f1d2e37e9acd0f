"""Do intervals of least squares hold the truth for noise of any colour, and is what follows the motion told?"""

import numpy as np
import pytest
from scipy.signal import lfilter

from robodyn.analysis.coloured_noise import SURE, ResidualRows, describe_doubt, find_chance, find_spread

ROWS, REPETITIONS = 500, 120
TIME = np.arange(ROWS) / 50
SLOPES = np.column_stack([np.sin(2 * TIME), np.cos(2 * TIME) + 0.5 * np.cos(5 * TIME), np.ones(ROWS)])
MOVING = 0.1 + np.abs(np.cos(2 * TIME))


def slow(rng):
    """A memory of ten samples, one in twenty is worth a new one."""
    return lfilter([1.0], [1.0, -np.exp(-0.1)], rng.normal(size=ROWS + 200))[200:]


def blue(rng):
    """Differences, such as of counted positions: what they have at low frequencies is nearly nothing."""
    return np.diff(rng.normal(size=ROWS + 1))


NOISES = {
    "white": lambda rng: rng.normal(size=ROWS),
    "slow": slow,
    "blue": blue,
    "with the motion": lambda rng: MOVING * rng.normal(size=ROWS),
}


def regress(noise, slopes=SLOPES, channels=1):
    """Coefficients of noise, of which all are 0, and the rows as they are given to the estimate of their spread."""
    X, y = np.vstack([slopes] * channels), np.concatenate(noise)
    beta = np.linalg.lstsq(X, y, rcond=None)[0]
    e = (y - X @ beta).reshape(channels, -1).T
    stacked = np.stack([slopes] * channels, axis=1)
    return beta, ResidualRows(stacked, e, np.ones(e.shape, bool))


@pytest.mark.parametrize("kind", NOISES)
def test_intervals_hold_the_truth_for_noise_of_this_kind(kind):
    held, errors = [], []
    for seed in range(REPETITIONS):
        beta, part = regress([NOISES[kind](np.random.default_rng(seed))])
        spread = find_spread([part], np.eye(3))
        assert np.all(spread.deviations > 0)
        held.append(np.abs(beta) < spread.half_widths)
        errors.append(beta / spread.deviations)
    # Three deviations of the share of as many intervals; the numbers of one fit are independent.
    chance = 3 * np.sqrt(0.05 * 0.95 / np.size(held))
    size = np.sqrt(np.mean(np.square(errors), axis=0))
    if kind == "blue":
        # Of noise that vanishes at low frequencies a filter of finite order sees too much there: too wide, never none.
        assert np.mean(held) > 0.95 - chance
        assert np.all(size > 0.3)
        return
    assert np.mean(held) == pytest.approx(0.95, abs=chance)
    assert size == pytest.approx(1.0, abs=0.25)


def test_channels_that_share_their_noise_are_no_two_measurements():
    held = []
    for seed in range(60):
        own = slow(np.random.default_rng(seed))
        beta, part = regress([own, own], channels=2)
        held.append(np.abs(beta) < find_spread([part], np.eye(3)).half_widths)
    assert np.mean(held) > 0.88


def test_recordings_of_their_own_and_rows_left_out_change_little():
    deviations = []
    for seed in range(30):
        noise = slow(np.random.default_rng(seed))
        _, part = regress([noise])
        halves = [
            ResidualRows(part.X[rows], part.e[rows], part.used[rows]) for rows in (slice(0, 250), slice(250, 500))
        ]
        _, half = regress([noise[:250]], SLOPES[:250])
        empty = ResidualRows(*(np.concatenate([x, np.zeros_like(x)]) for x in (half.X, half.e, half.used)))
        deviations.append([find_spread(parts, np.eye(3)).deviations for parts in ([part], halves, [half], [empty])])
    whole, halves, half, empty = np.sqrt(np.mean(np.square(deviations), axis=0))
    assert halves == pytest.approx(whole, rel=0.15)
    assert empty == pytest.approx(half, rel=0.1)


def test_what_follows_the_motion_is_told_and_noise_is_not():
    shapes = [np.column_stack([np.sin(2 * TIME), np.cos(2 * TIME)])[:, None]]
    chances = np.array([find_chance([regress([slow(np.random.default_rng(seed))])[1]], shapes) for seed in range(60)])
    # One in fifty by chance, at most: the least of several tests is counted as often as there are tests.
    assert np.mean(chances < SURE) <= 2 / 60
    rubbing = np.sign(np.cos(2 * TIME)) * np.abs(np.sin(2 * TIME))
    _, part = regress([slow(np.random.default_rng(0)) + 8 * rubbing])
    spread = find_spread([part], np.eye(3))
    assert "follows the motion" in describe_doubt(spread, [part], shapes)


def test_noise_too_slow_for_the_recording_is_told():
    walk = np.cumsum(np.random.default_rng(0).normal(size=ROWS))
    _, part = regress([walk])
    assert "not 95 % intervals" in describe_doubt(find_spread([part], np.eye(3)), [part], [np.sin(TIME)[:, None, None]])
