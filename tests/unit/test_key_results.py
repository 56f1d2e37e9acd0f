"""Do key results say what an engineer asks first, and judge it rightly?"""

from types import SimpleNamespace

import numpy as np
import pytest

from robodyn import Run
from robodyn.analysis.budget import Budget, BudgetPart
from robodyn.analysis.key_result import key_results, share_causes
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, SignalInfo
from robodyn.computation.results.outcome import Certificate, Check

TIME = np.linspace(0.0, 1.0, 101)


def run_of(columns, description=None, checks=(), kind=OutcomeKind.FINISHED):
    """A run with these signals: name -> (unit, values)."""
    infos = tuple(SignalInfo(name, unit) for name, (unit, _) in columns.items())
    values = np.column_stack([np.broadcast_to(values, TIME.shape) for _, values in columns.values()])
    provenance = Provenance("drawn", description=description or {})
    return Run(TIME, values, infos, Outcome(kind, "", 1.0), provenance, certificate=Certificate(tuple(checks)))


def on_a_path(horizontal, vertical, **more):
    distance = np.hypot(horizontal, vertical)
    sides = {"along": 0.0, "horizontal": horizontal, "vertical": vertical, "distance": distance}
    return run_of({f"deviation.{side}": ("m", values) for side, values in sides.items()}, **more)


def budget_of(run, parts):
    """Parts as {(name, what, kind): (horizontal, vertical)}."""
    signals = ("deviation.horizontal", "deviation.vertical")
    values = np.array([[np.broadcast_to(own[k], TIME.shape) for own in parts.values()] for k in (0, 1)])
    return Budget(run, signals, "time", tuple(BudgetPart(*key) for key in parts), values, values.sum(axis=1))


def margins(name, phase, gain_to, stable=True, gain_from=0.0):
    own = SimpleNamespace(stable=stable, phase=phase, gain_to=gain_to, gain_from=gain_from)
    return SimpleNamespace(name=name, margins=own)


@pytest.mark.parametrize(("limit", "verdict"), [(None, "none"), (4e-5, "bad"), (5.1e-5, "fair"), (6e-5, "good")])
def test_the_largest_miss_is_judged_by_its_limit(limit, verdict):
    run = on_a_path(3e-5 * TIME, -4e-5 * TIME)
    miss = key_results(run, limit=limit)[0]
    assert miss.value == pytest.approx(5e-5)
    assert (miss.answer, miss.name, miss.time, miss.verdict) == ("50 µm", "vertical", 1.0, verdict)


def test_the_scenario_names_the_limit_and_the_user_goes_first():
    run = on_a_path(5e-5, 0.0, description={"path_limit": 4e-5})
    assert key_results(run)[0].verdict == "bad"
    assert key_results(run, limit=1e-3)[0].verdict == "good"


def test_causes_in_the_direction_of_the_miss_add_up_to_it():
    parts = {
        ("elbow.friction", "force", "cause"): (7e-5, 0.0),
        ("elbow.feed_forward", "coulomb, viscous", "cause"): (-6e-5, 1e-5),
        ("dynamics not fed forward", "", "rest"): (2e-5, 3e-5),
        ("idle", "limit", "cause"): (0.0, 0.0),
    }
    run = on_a_path(*np.sum([*parts.values()], axis=0))
    shares = share_causes(budget_of(run, parts))
    assert shares.names == ("friction not compensated", "dynamics not fed forward")
    assert shares.values.sum(axis=0) == pytest.approx(shares.total)
    assert shares.total == pytest.approx(run["deviation.distance"].values)
    cause = key_results(run, budget=budget_of(run, parts))[1]
    assert cause.share == pytest.approx((2 * 3 + 3 * 4) / 25)
    assert cause.answer == "Dynamics not fed forward 72 %"
    assert cause.detail == "then friction not compensated 28 %"


def test_a_cause_that_is_not_known_is_not_made_up():
    assert key_results(on_a_path(1e-5, 0.0))[1].answer == "Unknown"


def test_the_weakest_loop_is_the_one_with_the_least_of_what_it_should_have():
    rows = (margins("a.command", 60.0, 8.0), margins("elbow.velocity_loop.command", 45.0, 1.5), margins("c", 31.0, 9.0))
    loop = key_results(on_a_path(1e-5, 0.0), loops=SimpleNamespace(rows=rows))[2]
    assert (loop.answer, loop.name, loop.verdict) == ("45° · ×1.5", "elbow velocity loop", "fair")
    rows += (margins("d", np.nan, np.nan, stable=False),)
    assert key_results(on_a_path(1e-5, 0.0), loops=SimpleNamespace(rows=rows))[2].verdict == "bad"


def test_a_step_is_asked_for_settling_and_overshoot():
    wanted, answer = 2.0, 2.0 * (1 - np.exp(-8 * TIME) * np.cos(12 * TIME))
    blocks = [{"name": "loop", "inputs": {"target": "goal.value", "position": "axis.position"}}]
    description = {"machine": {"blocks": blocks}}
    run = run_of({"axis.position": ("rad", answer), "goal.value": ("rad", wanted)}, description)
    settling, overshoot = key_results(run)[:2]
    left = np.abs(answer - wanted) / wanted
    assert np.all(left[settling.value <= TIME] <= 0.02 + 1e-9)
    assert left[TIME.searchsorted(settling.value) - 2] > 0.02
    assert overshoot.value == pytest.approx((answer.max() - 2) / 2)


def test_a_moving_reference_is_asked_for_the_following_error():
    description = {"nominal": {"axis": "wanted.position"}}
    columns = {"axis.position": ("rad", TIME**2 + 0.01 * TIME), "wanted.position": ("rad", TIME**2)}
    error = key_results(run_of(columns, description))[0]
    assert (error.value, error.time, error.name) == (pytest.approx(0.01), 1.0, "axis")


def test_efforts_are_those_of_the_joint_nearest_to_its_limit():
    joints = [{"name": "a", "effort_limit": 100.0}, {"name": "b", "effort_limit": 10.0}]
    description = {"machine": {"mechanism": {"joints": joints}}}
    run = run_of({"a.effort": ("N m", 50 * TIME), "b.effort": ("N m", -9.5 * TIME)}, description)
    effort = key_results(run)[0]
    assert (effort.value, effort.limit, effort.verdict) == (pytest.approx(9.5), 10.0, "fair")
    assert effort.name == "b effort"


@pytest.mark.parametrize(("value", "kind", "verdict"), [
    (1e-9, OutcomeKind.FINISHED, "good"), (1.0, OutcomeKind.SUSPECT, "bad"), (1e-9, OutcomeKind.STEP_TOO_SMALL, "bad"),
])  # fmt: skip
def test_trust_is_what_the_checks_and_the_outcome_say(value, kind, verdict):
    run = run_of({"x": ("m", TIME)}, checks=[Check("energy balance", value, 1e-3)], kind=kind)
    trust = key_results(run)[-1]
    assert trust.verdict == verdict
    assert trust.answer == ("0 of 1" if value > 1e-3 else "1 of 1")


def test_an_empty_record_has_answers_too():
    outcome = Outcome(OutcomeKind.FINISHED, "", 0.0)
    empty = Run(np.empty(0), np.empty((0, 1)), (SignalInfo("x", "m"),), outcome, Provenance("empty"))
    assert [result.answer for result in key_results(empty)] == ["no checks"]
