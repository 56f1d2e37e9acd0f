"""Do rankings say what runs with other numbers show, and what closed forms say?"""

import math

import numpy as np
import pytest
from support.machines import cart

from robodyn.analysis.sensitivity.ranking import measure_signal, move_signals, rank_parameters, unit_of_measure
from robodyn.analysis.sensitivity.system import sensitivity_system
from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.computation.simulation import simulate
from robodyn.description.model import Block, Solver

FINE = Solver("dopri5", rtol=1e-9, atol=1e-11)
STIFFNESS, DAMPING, MASS = 100.0, 4.0, 2.0
NAMES = ("spring.stiffness", "spring.damping", "spring.rest", "cart.mass")


def oscillator(**fields):
    """A cart that a spring pulls to 0.1 m: the step response of m s'' + d s' + k (s - 0.1) = 0."""
    values = {"stiffness": STIFFNESS, "damping": DAMPING, "rest": 0.1}
    return cart(Block("spring", "spring", on="rail", parameters=values), duration=2.0, mass=MASS, **fields)


def peak_time(stiffness=STIFFNESS, damping=DAMPING, mass=MASS):
    """pi / omega with omega = sqrt(k/m - (d / 2m)^2)."""
    return math.pi / math.sqrt(stiffness / mass - (damping / (2 * mass)) ** 2)


MEASURES = {name: measure_signal("rail.position", name) for name in ("final", "peak_time", "max")}


@pytest.fixture(scope="module")
def table():
    return rank_parameters(oscillator(), MEASURES, NAMES, change=0.1, solver=FINE)


def row(table, measure, parameter):
    return next(row for row in table.of(measure) if row.parameter == parameter)


def test_the_slope_of_the_peak_time_is_that_of_its_closed_form(table):
    steps = {"spring.stiffness": ("stiffness", STIFFNESS), "spring.damping": ("damping", DAMPING)}
    for parameter, (key, value) in (steps | {"cart.mass": ("mass", MASS)}).items():
        h = 1e-5 * value
        exact = (peak_time(**{key: value + h}) - peak_time(**{key: value - h})) / (2 * h)
        # Peaks of cubics between samples: the fourth power of a step, five of them a peak.
        assert row(table, "peak_time", parameter).slope == pytest.approx(exact, rel=2e-3)


def test_a_peak_that_scales_with_the_target_changes_with_it_by_one_percent_for_one(table):
    found = row(table, "max", "spring.rest")
    assert found.per_percent == pytest.approx(found.value / 100, rel=1e-6)
    assert found.finite_per_percent == pytest.approx(found.value / 100, rel=1e-6)


def test_finite_changes_are_runs_with_the_changed_number(table):
    found = row(table, "final", "spring.stiffness")
    for value, change in ((found.lower, 0.9), (found.upper, 1.1)):
        run = simulate(oscillator().with_numbers({"spring.stiffness": STIFFNESS * change}), FINE)
        # Two runs of rtol 1e-9, one with the sensitivities beside it.
        assert value == pytest.approx(run["rail.position"].final, rel=1e-7)


def test_slope_and_small_finite_changes_agree():
    table = rank_parameters(oscillator(), MEASURES, NAMES, change=1e-3, solver=FINE)
    for entry in table.rows:
        scale = abs(entry.value) / 100
        # Curvature over a thousandth, and 1e-9 of a run over it.
        assert entry.per_percent == pytest.approx(entry.finite_per_percent, rel=1e-3, abs=1e-5 * scale)


def test_rows_of_a_measure_come_strongest_first(table):
    for measure in MEASURES:
        weights = [entry.weight for entry in table.of(measure)]
        assert weights == sorted(weights, reverse=True)
        assert len(weights) == len(NAMES)


def test_the_slope_at_an_extremum_is_the_sensitivity_there():
    """dy_peak/dp = y_p and dt_peak/dp = -y'_p / y'' at the peak: no detour over moved signals."""
    system = sensitivity_system(assemble(oscillator()), ["spring.stiffness"], ["rail.*"])
    run = simulate(system, FINE)
    at = peak_time()
    by = "/d(spring.stiffness)"
    moved = run[f"d(rail.velocity){by}"](at) / -run["rail.acceleration"](at)
    table = rank_parameters(oscillator(), MEASURES, ["spring.stiffness"], change=0.0, solver=FINE)
    # Linear interpolation of the acceleration between samples, hundreds of them a second.
    assert row(table, "peak_time", "spring.stiffness").slope == pytest.approx(moved, rel=1e-2)
    highest = run[f"d(rail.position){by}"](at)
    assert row(table, "max", "spring.stiffness").slope == pytest.approx(highest, rel=1e-2)


def test_without_exact_derivatives_there_are_finite_changes_and_a_reason():
    scenario = cart(
        Block("step", "step_reference", parameters={"after": 0.3, "at": 0.1}, unit="m"),
        Block("push", "torque_source", on="rail", inputs={"command": "step.value"}),
    )
    table = rank_parameters(scenario, MEASURES | {"peak_time": lambda run: 0.0}, ["step.at"])
    assert "step.at" in table.reason
    found = row(table, "final", "step.at")
    assert found.slope is None
    # s = F (1 - at)^2 / (2 m): per percent of at.
    assert found.finite_per_percent == pytest.approx(-0.3 * 0.9 * 0.1 / MASS / 100, rel=1e-4)


def test_signals_moved_along_a_sensitivity_are_the_changed_run_to_first_order():
    system = sensitivity_system(assemble(oscillator()), ["spring.stiffness"], ["rail.position"])
    run = simulate(system, FINE)
    moved = move_signals(run, "spring.stiffness", 1e-3)
    changed = simulate(oscillator().with_numbers({"spring.stiffness": STIFFNESS + 1e-3}), FINE)
    # The second derivative is of the order 1e-6 m/(N/m)^2.
    difference = changed["rail.position"](moved.time) - moved["rail.position"].values
    assert np.abs(difference).max() < 1e-9


@pytest.mark.parametrize(
    ("names", "change", "message"),
    [
        (["spring.preload"], 0.1, "so a percentage does not change it"),
        (["spring.stifness"], 0.1, "no such number"),
        (["spring.stiffness"], 1.5, "change"),
    ],
)
def test_what_cannot_be_ranked_is_refused(names, change, message):
    with pytest.raises(ModelError, match=message):
        rank_parameters(oscillator(), {"final": MEASURES["final"]}, names, change=change)


def test_a_run_that_cannot_go_on_is_told_with_its_parameter():
    def cubic(position, *, k):
        return k * position**3

    scenario = cart(Block("blow", cubic, on="rail", parameters={"k": 20.0}), initial={"rail.position": 0.5})
    with pytest.raises(ModelError, match=r"blow.k \+90 %"):
        rank_parameters(scenario, {"final": MEASURES["final"]}, ["blow.k"], change=0.9)


def test_units_of_measures():
    assert [unit_of_measure("m", name) for name in ("final", "peak_time", "overshoot")] == ["m", "s", ""]


def test_an_unknown_measure_is_refused():
    with pytest.raises(ModelError, match="max"):
        measure_signal("rail.position", "mx")
