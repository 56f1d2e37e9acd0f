"""Are the share of good robots and the causes of a spread right, and how sure?"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

import robodyn as rd
from robodyn import ModelError
from robodyn.analysis.sweeps.plan import plan_sweep
from robodyn.analysis.sweeps.uncertainty import find_indices, find_yield
from robodyn.analysis.sweeps.variation import SAMPLINGS, Distribution
from robodyn.computation.results.table import RunTable
from robodyn.description.catalog import find_scenario
from robodyn.presentation.reporting.sweeps import yield_lines

# --------------------------------------------------------------------------------------------------
# Are draws spread as they should be, and is the share of good robots with its interval the true one?


MASS, LENGTH = "bob.mass", "gravity.z"


@pytest.fixture(scope="module")
def pendulum():
    return find_scenario("pendulum").with_numbers({"duration": 0.2})


def make_table(inputs, values, outcomes=None):
    n = len(values)
    return RunTable(
        scenario="test",
        inputs=inputs,
        measures={"peak:y": values},
        units=dict.fromkeys(inputs, "kg") | {"peak:y": "m"},
        outcomes=outcomes or ("finished",) * n,
        sentences=("",) * n,
        end_time=np.ones(n),
    )


@pytest.mark.parametrize("sampling", ["latin-hypercube", "sobol"])
def test_every_equally_likely_slice_has_one_draw(pendulum, sampling):
    """The cumulative distribution of what is drawn has one value in each of n slices: for random draws 63 % of them."""
    given = {MASS: Distribution("normal", (2.0, 0.1)), LENGTH: Distribution("lognormal", (0.2,))}
    plan = plan_sweep(pendulum, random=given, runs=64, sampling=sampling)
    base = pendulum.numbers()[LENGTH].value
    for k, shares in enumerate((ndtr((plan.inputs[:, 0] - 2.0) / 0.1), ndtr(np.log(plan.inputs[:, 1] / base) / 0.2))):
        slices = np.floor(64 * shares).astype(int)
        assert sorted(slices.tolist()) == list(range(64)), k
    other = plan_sweep(pendulum, random=given, runs=64, seed=2, sampling=sampling)
    assert not np.array_equal(plan.inputs, other.inputs)


def test_a_sampling_that_cannot_be_is_refused(pendulum):
    given = {MASS: Distribution("uniform", (1.0, 2.0))}
    with pytest.raises(ModelError, match="take 64 or 128"):
        plan_sweep(pendulum, random=given, runs=100, sampling="sobol")
    with pytest.raises(ModelError, match="did you mean 'sobol'"):
        plan_sweep(pendulum, random=given, sampling="sobel")
    with pytest.raises(ModelError, match="nothing is drawn"):
        plan_sweep(pendulum, vary={MASS: [1.0, 2.0]}, sampling="sobol")
    assert plan_sweep(pendulum, random=given, sampling="sobol").runs == 1024
    assert SAMPLINGS[0] == plan_sweep(pendulum, random=given).sampling


def test_the_interval_of_a_yield_of_all_or_none_is_the_closed_form():
    values = np.linspace(0.0, 1.0, 50)
    table = make_table({"a": values}, values)
    all_good = find_yield(table, "peak:y", 2.0)
    assert (all_good.share, all_good.upper) == (1.0, 1.0)
    assert all_good.lower == pytest.approx(0.025 ** (1 / 50), rel=1e-9)
    none = find_yield(table, "peak:y", -1.0, confidence=0.9)
    assert (none.share, none.lower) == (0.0, 0.0)
    assert none.upper == pytest.approx(1 - 0.05 ** (1 / 50), rel=1e-9)
    assert none.breaking == all_good.breaking == ()


def test_the_interval_holds_the_true_share_as_often_as_it_says():
    random, true, held = np.random.default_rng(3), 0.9, 0
    for _ in range(300):
        values = random.uniform(0.0, 1.0, 80)
        found = find_yield(make_table({}, values), "peak:y", true)
        held += found.lower <= true <= found.upper
    # Three standard errors of a share of 95 % of 300 below it; the interval may hold it more often.
    assert held >= 300 * 0.95 - 3 * np.sqrt(300 * 0.95 * 0.05)


def test_runs_that_failed_or_are_suspect_are_not_good():
    values = np.array([0.1, 0.2, np.nan, 0.3])
    found = find_yield(make_table({}, values, ("finished", "suspect", "overflow", "stopped")), "peak:y", 1.0)
    assert (found.good, found.runs, found.unusable) == (2, 4, 2)
    assert "2 failed or are suspect" in found.sentence


def test_numbers_that_break_a_limit_are_named_also_where_both_ends_do():
    random = np.random.default_rng(1)
    a, b = random.normal(size=(2, 600))
    found = find_yield(make_table({"a": a, "b": b, "c": np.ones(600)}, np.abs(a)), "peak:y", 1.5)
    (only,) = found.breaking
    assert only.name == "a"
    assert any("broken by a" in line for line in yield_lines(found))
    # Of a value that none of them decides, none is named.
    assert find_yield(make_table({"a": a, "b": b}, random.normal(size=600)), "peak:y", 1.0).breaking == ()


def test_a_limit_that_makes_no_sense_is_refused():
    table = make_table({}, np.ones(3))
    with pytest.raises(ModelError) as refused:
        find_yield(table, "peak:z", np.nan, confidence=1.5)
    assert all(words in str(refused.value) for words in ("did you mean 'peak:y'", "is nan", "between 0 and 1"))


# --------------------------------------------------------------------------------------------------
# Are variance-based indices those of a closed form?


pytest.importorskip("SALib")


@pytest.fixture(scope="module")
def system():
    """A signal (1 + a) b + c of three parameters, whose variances are known."""

    @rd.law
    def product(angle, *, a, b, c):
        return {"y": (1 + a) * b + c + 0.0 * angle}

    scenario = replace(find_scenario("pendulum"), duration=0.01, solver=rd.Solver("rk4", step=0.01))
    block = rd.Block("made", product, inputs={"angle": "hinge.position"}, parameters={"a": 0.0, "b": 0.0, "c": 0.0})
    return rd.assemble(replace(scenario, machine=replace(scenario.machine, blocks=(block,))))


def test_indices_are_those_of_a_product_and_a_sum(system):
    """y = (1 + a) b + c with a, b, c of mean 0: variances are b: 1, ab: 4, c: 1 (of deviations 2, 1, 1)."""
    given = {
        "made.a": Distribution("normal", (0.0, 2.0)),
        "made.b": Distribution("normal", (0.0, 1.0)),
        "made.c": Distribution("normal", (0.0, 1.0)),
    }
    found, table = find_indices(system, given, ["final:made.y"], points=256)
    assert len(table) == 256 * 5
    exact = {"made.a": (0.0, 4 / 6), "made.b": (1 / 6, 5 / 6), "made.c": (1 / 6, 1 / 6)}
    for one in found["final:made.y"]:
        first, total = exact[one.name]
        # One and a half times half the interval of 95 %: 99.7 %.
        assert abs(one.first - first) <= 1.5 * one.first_interval
        assert abs(one.total - total) <= 1.5 * one.total_interval
        assert one.total_interval < 0.5
    assert found["final:made.y"][0].name == "made.b"


def test_what_cannot_be_is_refused(system):
    with pytest.raises(rd.ModelError, match="power of 2") as refused:
        find_indices(system, {"made.d": Distribution("normal", (0.0, 1.0))}, ["final:made.y"], points=100)
    assert "no such number" in str(refused.value)
