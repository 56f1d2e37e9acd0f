"""Are gains tuned to where closed forms say, within margins that are kept exactly?

x' = e u, u = -k x, sampled with a delay of one sample: z (z - 1) + e k T = 0 is stable up to e k T = 1, so that a gain
margin of m dB is e k T = 10^(-m/20).
"""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from support.machines import signals_only
from support.sampled_loops import PERIOD, proportional

from robodyn import simulate
from robodyn.analysis.tuning.tune import tune_gains
from robodyn.base.errors import ModelError
from robodyn.description.model import Block, Recording
from robodyn.presentation.reporting import describe


def push(value, command, *, effort):
    return {"output": value, "value_dot": effort * command}


def loop(gain=1.0):
    plant = Block("plant", push, inputs={"command": "loop.command"}, states={"value": 1.0}, parameters={"effort": 1.0})
    wiring = {"inputs": {"value": "plant.value"}, "parameters": {"gain": gain}, "period": PERIOD, "delay": PERIOD}
    return signals_only(plant, Block("loop", proportional, **wiring), duration=2.0)


def gain_at(margin):
    return 10 ** (-margin / 20) / PERIOD


def tune(*limits, gain=1.0, **settings):
    return tune_gains(loop(gain), ["loop.gain"], "rms:plant.value", limits=limits, points=401, **settings)


def test_an_active_margin_decides_the_gain_and_has_a_price():
    found = tune("margin>=12 dB")
    assert found.values["loop.gain"] == pytest.approx(gain_at(12), rel=1e-4)
    assert found.slopes == "exact"
    (limit,) = found.limits
    assert limit.active
    assert limit.after == pytest.approx(12, abs=1e-3)
    ends = [tune(f"margin>={12 + d} dB").after for d in (-0.2, 0.2)]
    # Differences over 0.4 dB, of optima found to 1e-4.
    assert limit.price == pytest.approx((ends[1] - ends[0]) / 0.4, rel=0.02)
    assert found.rest < 1e-6


def test_without_limits_the_gain_is_where_a_search_by_simulations_alone_finds_it():
    found = tune(bounds={"loop.gain": (0.5, 9.0)})
    times = Recording(times=tuple(np.linspace(0, 2, 401).tolist()))

    def rms(gain):
        y = simulate(loop(gain), recording=times)["plant.value"].values
        return np.sqrt(np.mean(y**2))

    best = minimize_scalar(rms, bounds=(0.5, 9.0), method="bounded", options={"xatol": 1e-3}).x
    # Both means are flat at the optimum, and not taken in the same way: root of 1e-4.
    assert found.values["loop.gain"] == pytest.approx(best, rel=0.02)
    assert found.rest < 0.02
    assert not found.limits


def test_all_cases_keep_their_margins_and_the_worst_decides():
    found = tune("margin>=12 dB", vary={"plant.effort": (0.5, 1.0, 2.0)})
    assert found.values["loop.gain"] == pytest.approx(gain_at(12) / 2, rel=1e-4)
    assert [case.changes["plant.effort"] for case in found.cases] == [0.5, 1.0, 2.0]
    assert found.after == max(case.after for case in found.cases) < found.before
    assert "worst of 3 cases" in describe(found)


def test_a_limit_on_the_motion_is_kept_as_well():
    found = tune("peak:loop.command<=2", gain=1.0)
    # At first the command is the gain itself.
    assert found.values["loop.gain"] == pytest.approx(2.0, rel=1e-3)
    assert found.limits[0].active


def test_the_smallest_of_a_signal_is_that_of_the_whole_motion():
    """Of a value that decays from 1, one window alone has the smallest."""
    found = tune_gains(loop(3.0), ["loop.gain"], "peak:loop.command", limits=["min:plant.value<=0.1"], points=401)
    assert found.limits[0].active
    assert simulate(loop(found.values["loop.gain"]))["plant.value"].values.min() == pytest.approx(0.1, rel=1e-3)
    found = tune_gains(loop(0.5), ["loop.gain"], "min:plant.value", limits=["peak:loop.command<=1"], points=401)
    assert found.values["loop.gain"] == pytest.approx(1.0, rel=1e-3)
    ends = [simulate(loop(gain))["plant.value"].final for gain in (0.5, 1.0)]
    assert (found.before, found.after) == pytest.approx(ends, rel=2e-3)


def test_margins_that_no_gain_keeps_are_refused_with_the_nearest_that_some_do():
    with pytest.raises(ModelError, match="loop.command has 1.938 dB") as refused:
        tune("margin>=6 dB", gain=9.0, bounds={"loop.gain": (8.0, 20.0)})
    assert "loop.gain = 8" in str(refused.value)
    assert "ask for at most 1.94 dB" in str(refused.value)


def test_an_interrupted_tuning_goes_on_where_it_stopped(tmp_path):
    state, calls = tmp_path / "tune.json", []

    def interrupt(at):
        calls.append(at)
        if len(calls) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune("margin>=12 dB", state=state, progress=interrupt)
    again, fresh = tune("margin>=12 dB", state=state), tune("margin>=12 dB")
    assert again.values == fresh.values
    assert again.evaluations < fresh.evaluations
    with pytest.raises(ModelError, match="another tuning"):
        tune("margin>=11 dB", state=state)


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(ModelError) as refused:
        tune_gains(
            loop(),
            ["loop.gian"],
            "rms:plant.valeu",
            limits=["margin<=6 dB", "phase>=45", "nothing", "margin>=6 m"],
            over="all",
            at=["end"],
            runs=3,
        )
    told = str(refused.value)
    for part in ("did you mean 'loop.gain'", "did you mean 'plant.value'", "has a lower limit", "45", "what>=value"):
        assert part in told
    assert len(refused.value.flaws) == 9
    with pytest.raises(ModelError, match="no loop matches 'x"):
        tune("margin:x*>=6 dB")
