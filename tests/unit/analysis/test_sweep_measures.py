"""Are measures and curves what their names say, and do bands hold the shares they claim?"""

from dataclasses import replace

import numpy as np
import pytest

from robodyn import ModelError, simulate
from robodyn.analysis.sweeps.plan import plan_sweep
from robodyn.analysis.sweeps.runner import run_sweep
from robodyn.analysis.sweeps.runs import resample, resample_along
from robodyn.analysis.sweeps.variation import Distribution
from robodyn.computation.engine.slices import MEASURES, take_measure
from robodyn.computation.results import Signal
from robodyn.computation.results.table import Curves
from robodyn.description.catalog import find_scenario
from robodyn.description.model import Block


def measure(kind, time, values):
    return take_measure(kind, np.array(time, float), np.array(values, float))


def test_measures_of_a_triangle_are_those_of_its_formula():
    time, values = [0, 1, 4], [0, -3, 0]
    found = {kind: measure(kind, time, values) for kind in MEASURES}
    exact = {"peak": 3, "rms": np.sqrt(3), "mean": -1.5, "final": 0, "max": 0, "min": -3, "time_of_peak": 1}
    assert found == pytest.approx(exact)


def test_a_jump_is_two_rows_at_one_time_and_counts_on_both_sides():
    time, values = [0, 1, 1, 2], [1, 1, 3, 3]
    assert measure("rms", time, values) == pytest.approx(np.sqrt(5))
    assert measure("mean", time, values) == 2
    assert resample(Signal("y", "m", time, values), np.array([0.5, 1.0, 2.5])).tolist()[:2] == [1, 3]


def test_a_curve_ends_with_its_run():
    line, steps = Signal("y", "m", [0.0, 1.0], [0.0, 2.0]), Signal("u", "V", [0.0, 1.0], [0.0, 2.0], "held")
    assert resample(line, np.array([0.0, 0.5, 1.0, 1.5])) == pytest.approx([0, 1, 2, np.nan], nan_ok=True)
    assert resample(steps, np.array([0.0, 0.5, 1.0])).tolist() == [0, 0, 2]


def test_along_a_way_values_are_those_when_a_place_is_first_reached():
    time = np.arange(7.0)
    way = Signal("s", "m", time, [0.0, 0.0, 1.0, 1.0, 0.5, 2.0, 2.0])
    values = Signal("y", "m", time, [5.0, 6.0, 7.0, 50.0, 60.0, 9.0, 90.0])
    found = resample_along(way, {"y": values}, np.array([0.0, 1.0, 1.5, 2.0, 3.0]))
    # 1.5 is first reached two thirds of the way from 0.5 to 2, where y is two thirds of the way from 60 to 9.
    assert found["y"] == pytest.approx([5, 7, 26, 9, np.nan], nan_ok=True)


def test_the_band_holds_the_share_of_the_runs_it_claims():
    values = np.random.default_rng(1).normal(size=(2000, 3))
    values[0, 2] = np.nan
    curves = Curves("time", "s", np.arange(3.0), {"y": values}, {"y": "m"})
    lower, upper = curves.band("y", (5, 95))
    share = np.nanmean((values >= lower) & (values <= upper), axis=0)
    # One run more or less of 2000 lies on an end of the band.
    assert share == pytest.approx(0.9, abs=2e-3)


def test_where_no_run_has_a_value_the_band_has_none():
    curves = Curves("time", "s", np.arange(2.0), {"y": np.array([[1.0, np.nan], [3.0, np.nan]])}, {"y": "m"})
    assert curves.band("y", [50])[0] == pytest.approx([2.0, np.nan], nan_ok=True)


def test_kept_curves_are_the_signals_of_single_runs():
    scenario = find_scenario("scara-ptp")
    plan = plan_sweep(scenario, vary={"elbow.control.proportional": [300.0, 400.0]}, keep=["elbow.position"], points=50)
    table = run_sweep(plan, workers=1)
    run = simulate(scenario.with_numbers(plan.changes(0)))
    times = table.curves.places[table.curves.places < run.time[-1]]
    kept = table.curves.values["elbow.position"][0]
    # Straight lines between rows, four a step: the cubic of the single run differs by less than 1e-5 rad.
    assert kept[: len(times)] == pytest.approx(run["elbow.position"](times), abs=1e-5)
    assert np.isnan(kept[len(times) :]).all(), "the run ends when the arm has arrived"


def test_curves_along_a_signal_are_its_functions():
    scenario = find_scenario("scara-ptp")
    drawn = {"shoulder.control.proportional": Distribution("scale", (0.9, 1.1))}
    names = ["shoulder.position", "elbow.position"]
    plan = plan_sweep(scenario, random=drawn, runs=3, keep=names, along="shoulder.position", points=30)
    curves = run_sweep(plan, workers=1).curves
    assert (curves.along, curves.unit) == ("shoulder.position", "rad")
    there = np.isfinite(curves.values["shoulder.position"])
    assert there[:, :25].all()
    assert curves.values["shoulder.position"][0][there[0]] == pytest.approx(curves.places[there[0]], abs=1e-9)


def test_a_signal_that_does_not_rise_is_no_way():
    scenario = find_scenario("pendulum").with_numbers({"duration": 0.1})
    with pytest.raises(ModelError, match="does not rise"):
        plan_sweep(scenario, vary={"bob.mass": [1, 2]}, keep=["hinge.velocity"], along="hinge.position")


def test_deviations_and_errors_are_measured_by_default_else_where_joints_end():
    scenario = find_scenario("pendulum").with_numbers({"duration": 0.1})
    plain = plan_sweep(scenario, vary={"bob.mass": [1, 2]})
    assert [(measure.name, measure.unit) for measure in plain.measures] == [("final:hinge.position", "rad")]
    watch = Block("deviation", lambda angle: {"angle": angle - 2.0}, inputs={"angle": "hinge.position"})
    watched = replace(scenario, machine=replace(scenario.machine, blocks=(watch,)))
    names = [measure.name for measure in plan_sweep(watched, vary={"bob.mass": [1, 2]}).measures]
    assert names == ["peak:deviation.angle", "rms:deviation.angle"]
