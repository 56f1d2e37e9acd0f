"""Do fits find the numbers that made the data, and say which ones the data cannot tell?"""

import dataclasses
import json

import numpy as np
import pytest
from scipy.signal import lfilter
from support.machines import cart
from support.measured import measure

from robodyn import Solver
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.fitting.result import describe_correlations, find_unidentifiable, write_fit
from robodyn.analysis.fitting.search_space import SearchSpace, make_scales, spread_points
from robodyn.base.errors import ModelError
from robodyn.description.model import Block, Number
from robodyn.presentation.reporting import describe

# --------------------------------------------------------------------------------------------------
# Does a fit find the numbers that made the data, say how well they are known, and refuse what cannot be known?


SOLVER = Solver("dopri5", rtol=1e-8, atol=1e-10)
TRUE = {"spring.stiffness": 100.0, "drag.viscous": 3.0, "initial.rail.position": 0.1}


def oscillator(*more, **fields):
    blocks = (
        Block("spring", "spring", on="rail", parameters={"stiffness": 100.0}),
        Block("drag", "viscous_friction", on="rail", parameters={"viscous": 3.0}),
    )
    start = {"rail.position": 0.1}
    return cart(*blocks, *more, duration=2.0, initial=start, solver=SOLVER, tunable=("cart.mass",), **fields)


GUESS = oscillator().with_numbers({"spring.stiffness": 80.0, "drag.viscous": 6.0, "initial.rail.position": 0.08})


def test_numbers_are_recovered_from_data_without_noise():
    fit = fit_parameters(GUESS, measure(oscillator(), 0.0), tuple(TRUE))
    # Two kinds of run, with and without the sensitivities, of rtol 1e-8.
    assert fit.values == pytest.approx(TRUE, rel=1e-6)
    assert fit.jacobian == "exact"
    assert fit.signals[0].r_squared > 1 - 1e-10


def test_intervals_hold_the_truth_in_95_of_100_data_and_are_as_wide_as_estimates_scatter():
    fits = [fit_parameters(GUESS, measure(oscillator(), 2e-3, seed=seed), tuple(TRUE)) for seed in range(60)]
    for k, (name, value) in enumerate(TRUE.items()):
        parameters = [fit.parameters[k] for fit in fits]
        # Of 60 intervals at 95 %, 52 or more hold the truth in 99 of 100 cases (binomial).
        assert sum(p.lower <= value <= p.upper for p in parameters) >= 52
        scatter = np.std([fit.values[name] for fit in fits])
        # The scatter of 60 is known to 1/sqrt(120), 9 %; three times that.
        assert np.mean([p.upper - p.lower for p in parameters]) / (2 * 2.03) == pytest.approx(scatter, rel=0.28)


def rubbed(*more):
    """A cart on a spring under a force that does not repeat itself in ten seconds."""
    wave = {"sines": (1.0, -2.0, 4.0, 0.0, 3.0), "cosines": (0.5, 1.0, 2.0, -1.0, 1.5), "frequency": 0.097}
    blocks = (
        Block("wave", "multisine_reference", unit="N", parameters=wave),
        Block("drive", "torque_source", "rail", {"command": "wave.value"}),
        Block("spring", "spring", "rail", parameters={"stiffness": 30.0}),
        Block("drag", "viscous_friction", "rail", parameters={"viscous": 3.0}),
    )
    return cart(*blocks, *more, duration=10.0)


def test_intervals_hold_the_truth_for_noise_that_remembers_and_do_not_claim_to_for_a_lacking_law():
    """Noise of a memory of 20 samples, of which intervals for white noise hold the truth in a quarter of the cases."""
    true, times = {"spring.stiffness": 30.0, "drag.viscous": 3.0}, tuple(np.arange(1001) / 100)
    clean = measure(rubbed(), 0.0, times=times)
    held = []
    for seed in range(25):
        steps = np.random.default_rng(seed).normal(size=1401)
        noise = 1e-3 * lfilter([np.sqrt(1 - np.exp(-0.1))], [1.0, -np.exp(-0.05)], steps)[400:, None]
        fit = fit_parameters(rubbed(), dataclasses.replace(clean, values=clean.values + noise), tuple(true))
        held.append([p.lower <= true[p.name] <= p.upper for p in fit.parameters])
        assert "if it is noise" in fit.doubt or "follows the motion" in fit.doubt
    # Of 50 intervals at 95 %, 43 or more hold the truth in 99 of 100 cases (binomial).
    assert np.sum(held) >= 43
    dry = Block("dry", "coulomb_friction", "rail", parameters={"coulomb": 0.4, "smoothing_velocity": 1e-3})
    fit = fit_parameters(rubbed(), measure(rubbed(dry), 1e-3, times=times), tuple(true))
    assert fit.parameters[1].lower > 3.0
    assert fit.doubt in fit.warnings
    assert "interval by noise alone" in describe(fit)
    assert fit.doubt


def test_noise_is_estimated_for_each_signal():
    data = measure(oscillator(), [1e-3, 5e-2], ("rail.position", "rail.velocity"))
    fit = fit_parameters(GUESS, data, tuple(TRUE))
    # 101 samples give a deviation to 7 %; three times that.
    assert [signal.noise for signal in fit.signals] == pytest.approx([1e-3, 5e-2], rel=0.2)
    assert fit.values == pytest.approx(TRUE, rel=0.02)


def test_missing_samples_are_left_out():
    data = measure(oscillator(), 0.0)
    values = data.values.copy()
    values[10:40] = np.nan
    fit = fit_parameters(GUESS, dataclasses.replace(data, values=values), tuple(TRUE))
    assert fit.values == pytest.approx(TRUE, rel=1e-6)
    assert fit.signals[0].samples == 71


def test_starts_are_compared_and_the_best_is_taken():
    """A spring twice as stiff fits a fast oscillation badly: from far away the search ends elsewhere."""
    far = oscillator().with_numbers({"spring.stiffness": 600.0})
    data = measure(oscillator(), 1e-4)
    alone = fit_parameters(far, data, ["spring.stiffness"])
    several = fit_parameters(far, data, ["spring.stiffness"], bounds={"spring.stiffness": (10.0, 1000.0)}, starts=8)
    assert alone.values["spring.stiffness"] != pytest.approx(100.0, rel=0.1)
    assert several.values["spring.stiffness"] == pytest.approx(100.0, rel=1e-3)
    assert several.agreeing >= 1
    assert len(several.starts) == 8


def test_a_number_at_its_bound_is_told():
    bounds = {"spring.stiffness": (70.0, 90.0)}
    fit = fit_parameters(GUESS, measure(oscillator(), 1e-4), tuple(TRUE), bounds=bounds)
    assert fit.parameters[0].at_bound
    assert fit.values["spring.stiffness"] == pytest.approx(90.0, rel=1e-5)
    assert any("bound" in warning for warning in fit.warnings)


def test_slopes_by_differences_are_told_and_lead_to_the_same():
    step = Block("step", "step_reference", parameters={"after": 5.0, "at": 0.3}, unit="m")
    push = Block("push", "torque_source", on="rail", inputs={"command": "step.value"})
    scenario = oscillator(step, push)
    guess = scenario.with_numbers({"step.at": 0.35, "spring.stiffness": 90.0})
    fit = fit_parameters(guess, measure(scenario, 0.0), ["step.at", "spring.stiffness"])
    assert "central differences" in fit.jacobian
    assert "step.at" in fit.jacobian
    assert fit.values == pytest.approx({"step.at": 0.3, "spring.stiffness": 100.0}, rel=1e-5)


def refused(scenario, data, free, **settings):
    with pytest.raises(ModelError) as caught:
        fit_parameters(scenario, data, free, **settings)
    return str(caught.value)


def test_a_number_without_effect_is_refused():
    idle = Block("idle", "coulomb_friction", on="rail", parameters={"coulomb": 0.0, "smoothing_velocity": 0.1})
    message = refused(oscillator(idle), measure(oscillator(), 1e-4), ["spring.stiffness", "idle.smoothing_velocity"])
    assert "idle.smoothing_velocity: has no effect" in message


def test_two_springs_side_by_side_are_refused_with_the_direction():
    second = Block("second", "spring", on="rail", parameters={"stiffness": 50.0})
    message = refused(oscillator(second), measure(oscillator(), 1e-4), ["spring.stiffness", "second.stiffness"])
    # A percent of 100 N/m is undone by two of 50 N/m.
    assert "spring.stiffness -0.5 %, second.stiffness +1 %" in message


def test_mass_spring_and_friction_of_a_free_oscillation_are_refused_all_three():
    message = refused(oscillator(), measure(oscillator(), 1e-4), ["cart.mass", "spring.stiffness", "drag.viscous"])
    assert "cart.mass +1 %, spring.stiffness +1 %, drag.viscous +1 %" in message


def test_bad_requests_are_told():
    data = measure(oscillator(), 1e-4)
    assert "no such number" in refused(oscillator(), data, ["spring.stifness"])
    assert "at least one" in refused(oscillator(), data, [])
    assert "twice" in refused(oscillator(), data, ["drag.viscous", "drag.viscous"])
    assert "outside" in refused(oscillator(), data, ["drag.viscous"], bounds={"drag.viscous": (5.0, 9.0)})
    assert "free parameter" in refused(oscillator(), data, ["drag.viscous"], bounds={"drag.viscou": (1.0, 9.0)})
    assert "positive" in refused(oscillator(), data, ["drag.viscous"], noise=-1.0)
    assert "missing" in refused(oscillator(), data, ["drag.viscous"], noise={})
    assert "at least 1" in refused(oscillator(), data, ["drag.viscous"], starts=0)
    assert "comes from the data" in refused(oscillator(), data, ["duration"])


def test_data_of_another_machine_are_refused():
    data = measure(oscillator(), 1e-4)
    other = dataclasses.replace(data, infos=(dataclasses.replace(data.infos[0], name="rail.positon"),))
    assert "did you mean 'rail.position'" in refused(oscillator(), other, ["drag.viscous"])


class Interrupt:
    """Presses Ctrl-C in a given start."""

    def __init__(self, start):
        self.start = start
        self.seen = []

    def __call__(self, at):
        self.seen.append(at.start)
        if at.start == self.start:
            raise KeyboardInterrupt


def test_an_interrupted_fit_goes_on_where_it_stopped(tmp_path):
    data, state = measure(oscillator(), 1e-3), tmp_path / "fit.json"
    whole = fit_parameters(GUESS, data, tuple(TRUE), starts=4)
    with pytest.raises(KeyboardInterrupt):
        fit_parameters(GUESS, data, tuple(TRUE), starts=4, state=state, progress=Interrupt(3))
    assert len(json.loads(state.read_text())["kept"]) == 2
    rest = Interrupt(None)
    resumed = fit_parameters(GUESS, data, tuple(TRUE), starts=4, state=state, progress=rest)
    assert set(rest.seen) == {3, 4}
    assert resumed.values == whole.values
    assert [start.cost for start in resumed.starts] == [start.cost for start in whole.starts]


def test_more_starts_go_on_from_fewer(tmp_path):
    data, state = measure(oscillator(), 1e-3), tmp_path / "fit.json"
    fit_parameters(GUESS, data, tuple(TRUE), starts=2, state=state)
    seen = Interrupt(None)
    fit_parameters(GUESS, data, tuple(TRUE), starts=3, state=state, progress=seen)
    assert set(seen.seen) == {3}


def test_the_state_of_another_fit_is_refused(tmp_path):
    state = tmp_path / "fit.json"
    fit_parameters(GUESS, measure(oscillator(), 1e-3), tuple(TRUE), state=state)
    assert "another fit" in refused(GUESS, measure(oscillator(), 1e-3, seed=2), tuple(TRUE), state=state)
    state.write_text("{}")
    assert "not the state" in refused(GUESS, measure(oscillator(), 1e-3), tuple(TRUE), state=state)


def test_reports_hold_values_intervals_and_files(tmp_path):
    fit = fit_parameters(GUESS, measure(oscillator(), 1e-3), tuple(TRUE))
    text = describe(fit)
    assert all(name in text for name in (*TRUE, "rail.position", "R²", "slopes: exact"))
    plain = json.loads(write_fit(fit, tmp_path / "fit.json").read_text())
    assert plain["parameters"][0]["value"] == fit.values["spring.stiffness"]
    with pytest.raises(ModelError, match="must end in"):
        write_fit(fit, tmp_path / "fit.txt")


def test_scales_undo_themselves_and_keep_signs():
    numbers = (Number("a", 2.0, ""), Number("b", -3.0, ""), Number("c", 0.0, ""))
    scales = make_scales(numbers, {"c": (-0.2, 0.2)})
    assert [scale.logarithmic for scale in scales] == [True, False, False]
    for scale, number in zip(scales, numbers, strict=True):
        assert scale.value(scale.scaled(number.value)) == pytest.approx(number.value)
    space = SearchSpace(scales, (), ())
    points = space.draw_starts(20, seed=3)
    assert np.all((points[1:, 2] * 0.4 >= -0.2) & (points[1:, 2] * 0.4 <= 0.2))
    np.testing.assert_array_equal(points[:5], space.draw_starts(5, seed=3))


def test_quasi_random_points_fill_the_square_evenly():
    points = spread_points(64, 2, seed=0)
    counts = np.histogram2d(*points.T, bins=4, range=[[0, 1], [0, 1]])[0]
    # 4 in each of 16 squares; 64 independent random points would leave one with fewer than 2 in 4 of 5 cases.
    assert counts.min() >= 2
    assert counts.max() <= 6


def test_a_fit_that_misses_the_data_says_so():
    far = oscillator().with_numbers({"spring.stiffness": 600.0})
    fit = fit_parameters(far, measure(oscillator(), 1e-4), ["spring.stiffness"])
    assert fit.signals[0].r_squared < 0.5
    assert any("is not met" in warning and "intervals mean nothing" in warning for warning in fit.warnings)


# --------------------------------------------------------------------------------------------------
# Is what has no effect, or cannot be distinguished, named, and are deviations those of linear least squares?


GENERATOR = np.random.default_rng(2)
J = GENERATOR.standard_normal((50, 3))
NAMES = ("mass", "stiffness", "viscous")


def test_independent_columns_have_no_flaw():
    assert find_unidentifiable(J, NAMES) == []


def test_a_column_of_zeros_has_no_effect():
    (flaw,) = find_unidentifiable(J * [1.0, 0.0, 1.0], NAMES)
    assert flaw.path == "stiffness"
    assert "no effect" in flaw.what


def test_a_dependent_column_is_told_with_the_direction_in_which_nothing_changes():
    """J (1, 2, 0) = 0 where the second column is minus half the first."""
    dependent = np.column_stack([J[:, 0], -0.5 * J[:, 0], J[:, 2]])
    (flaw,) = find_unidentifiable(dependent, NAMES)
    assert flaw.path == "mass, stiffness"
    assert "mass +0.5 %, stiffness +1 %" in flaw.what


def test_a_combination_of_three_is_told():
    dependent = np.column_stack([J[:, 0], J[:, 1], J[:, 0] + J[:, 1]])
    (flaw,) = find_unidentifiable(dependent, NAMES)
    assert flaw.path == "mass, stiffness, viscous"


def test_very_different_sizes_are_no_flaw():
    assert find_unidentifiable(J * [1e-3, 1.0, 1e5], NAMES) == []


def test_fewer_samples_than_parameters_are_a_flaw():
    flaws = find_unidentifiable(J[:2], NAMES)
    assert any("2 samples" in flaw.what for flaw in flaws)


@pytest.mark.parametrize(("value", "count"), [(0.98, 0), (-0.995, 1)])
def test_strong_correlations_are_told(value, count):
    correlation = np.array([[1.0, value], [value, 1.0]])
    assert len(describe_correlations(correlation, ("a", "b"))) == count
