"""Are designed motions within all limits, better than random ones, and found by exact slopes?"""

import tomllib
from functools import partial

import numpy as np
import pytest
from typer.testing import CliRunner

from robodyn.analysis.identification.excitation import (
    PENALTIES,
    MotionFamily,
    cost,
    design_excitation,
    draw_motion,
    find_scaling,
    pose_problem,
)
from robodyn.analysis.identification.identify import identify
from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
from robodyn.base.errors import ModelError
from robodyn.cli.application import app
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.description.catalog import two_link_mechanism
from robodyn.description.catalog.two_link import LENGTHS
from robodyn.description.files import write_scenario
from robodyn.description.laws.references import spline_coefficients
from robodyn.description.model import Block, Machine, Scenario

LIMITS = {"lower_limit": -1.5, "upper_limit": 1.0, "speed_limit": 2.0, "effort_limit": 150.0}


@pytest.fixture(scope="module")
def arm():
    mechanism = two_link_mechanism()
    joints = tuple(joint.replaced(**LIMITS) for joint in mechanism.joints)
    friction = Block("elbow.friction", "viscous_friction", "elbow", parameters={"viscous": 3.0})
    return Scenario("arm", Machine("arm", mechanism.replaced(joints=joints), (friction,)), 1.0)


@pytest.mark.parametrize("criterion", ["D", "A"])
def test_slopes_of_the_criterion_are_exact(arm, criterion):
    family = MotionFamily("spline" if criterion == "A" else "fourier", 0.2, 3)
    within = ["tool.position.z>=0.2", "tool.velocity.x<=0.5"]
    problem = pose_problem(arm, {}, within, family, criterion)
    first = draw_motion(problem, 1, range(problem.n))
    none = np.zeros((len(problem.theta),) * 2)
    criterion_at = partial(cost, problem, find_scaling(problem, first, 0.02), none, PENALTIES[0])
    y = 1.3 * first
    value, slope = criterion_at(y)
    way = np.random.default_rng(0).normal(size=y.size)
    h = 1e-6
    difference = (criterion_at(y + h * way)[0] - criterion_at(y - h * way)[0]) / (2 * h)
    assert slope @ way == pytest.approx(difference, rel=1e-5, abs=1e-6)
    assert np.isfinite(value)


@pytest.mark.parametrize("kind", ["fourier", "spline"])
def test_a_designed_motion_tells_more_within_all_limits(arm, kind):
    found = design_excitation(arm, frequency=0.2, harmonics=3, motion=kind, within=["tool.position.z>=20 cm"])
    before, after = found.information
    # Each of some ten parameters known better: log det F rises by twice the sum of logarithms of their deviations.
    assert after > before + 5
    # Between the instants of the search and of its own check too.
    time = np.linspace(0, 5, 7001)
    q, v, a = found.at(time)
    assert q.min() >= -1.5
    assert q.max() <= 1.0
    assert np.abs(v).max() <= 2.0
    heights = LENGTHS["shoulder"] * np.sin(q[:, 0]) + LENGTHS["elbow"] * np.sin(q.sum(axis=1))
    assert heights.min() >= 0.2
    assert heights.min() == pytest.approx(found.workspace["tool.position.z>=20 cm"], abs=1e-4)
    assert np.abs(_efforts(arm, q[::10], v[::10], a[::10])).max() <= 150.0
    for end in (0, -1):
        assert max(np.abs(v[end]).max(), np.abs(a[end]).max()) < 1e-9
    # Central differences: their error is h^2 / 6 times the next derivative, h = 0.7 ms.
    for rate, value in ((v, q), (a, v)):
        np.testing.assert_allclose(rate[1:-1], (value[2:] - value[:-2]) / (time[2] - time[0]), atol=1e-2)
    if kind == "spline":
        parts = spline_coefficients(found.axes[1].times, found.axes[1].points)
        half = found.axes[1].times[1] / 2
        assert parts[:, 2] @ half ** np.arange(4) == pytest.approx(found.at(np.array([5 * half]))[0][0, 1], abs=1e-9)


def _efforts(arm, q, v, a):
    dynamics = MachineDynamics(arm.machine)
    tau = np.array([dynamics.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)])
    tau[:, 1] += 3.0 * v[:, 1]
    return tau


def _recording(arm, motion):
    """Of three periods of 5 s at 200 Hz, with noise of the efforts as `design_excitation` thinks of it."""
    time = np.arange(3000) / 200
    q, v, a = motion(time % 5.0)
    tau = _efforts(arm, q, v, a) + np.random.default_rng(1).normal(0, 3.0, q.shape)
    infos = [SignalInfo(f"{joint}.position", "rad") for joint in ("shoulder", "elbow")]
    infos += [SignalInfo(f"{joint}.effort", "N m") for joint in ("shoulder", "elbow")]
    return Run(time, np.hstack([q, tau]), tuple(infos), Outcome(OutcomeKind.FINISHED, "", 15.0), Provenance("measured"))


def test_a_number_that_a_held_joint_hides_is_told_by_the_motion_that_is_suggested(arm):
    both = design_excitation(arm, frequency=0.2, harmonics=3, iterations=5)

    def held(time):
        return [part * [1.0, 0.0] for part in both.at(time)]

    first = _recording(arm, held)
    found = design_excitation(arm, frequency=0.2, harmonics=3, iterations=5, measured=[first])
    hidden = {s.number: s for s in found.suggestions}
    known = {p.name: p for p in identify(arm, first, held_out=0).base}
    assert not known["elbow.friction.viscous"].identifiable
    assert hidden["elbow.friction.viscous"].joints == ("elbow",)
    motions = {s.joints: s.motion for s in found.suggestions if s.joints}
    for joints, motion in motions.items():
        second = _recording(arm, lambda time, c=motion: found.at(time, c))
        after = {p.name: p for p in identify(arm, [first, second], held_out=0).base}
        for number in (s.number for s in found.suggestions if s.joints == joints):
            assert after[number].identifiable, number
            assert after[number].deviation <= (abs(after[number].given) or np.inf), number
    # Nothing that least squares cannot tell from the first recording is passed over.
    lost = {name for name, p in known.items() if not p.identifiable and not name.endswith("offset")}
    assert lost <= set(hidden)


def test_limits_that_are_missing_or_cannot_be_kept_are_told(arm):
    bare = Scenario("arm", Machine("arm", two_link_mechanism()), 1.0)
    with pytest.raises(ModelError, match=r"elbow.speed_limit: is needed"):
        design_excitation(bare)
    with pytest.raises(ModelError, match="cannot be kept"):
        design_excitation(arm, limits={"shoulder.effort_limit": 0.001}, iterations=2)


def test_bounds_of_the_workspace_that_mean_nothing_are_told_all_at_once(arm):
    texts = ["tool.position.z>0.1", "tol.position.z>=0", "elbow.torque<=3", "tool.position.x<=3 kg"]
    with pytest.raises(ModelError) as told:
        design_excitation(arm, within=texts)
    for words in ("SIGNAL>=VALUE", "did you mean 'tool.position.z'", "'elbow.torque' is not a position", "kg"):
        assert words in str(told.value)
    with pytest.raises(ModelError, match=r"tool.position.z>=5: cannot be kept"):
        design_excitation(arm, within=["tool.position.z>=5"])


def test_the_command_writes_series_for_a_scenario(arm, tmp_path):
    path, out = tmp_path / "arm.toml", tmp_path / "series.toml"
    write_scenario(arm, path)
    options = ["--harmonics", "2", "--frequency", "0.2", "--limit", "elbow.speed_limit=1.0", "--out", str(out)]
    told = CliRunner().invoke(app, ["excite", str(path), *options])
    assert told.exit_code == 0, told.output
    series = tomllib.loads(out.read_text())["blocks"]["elbow.reference"]["parameters"]
    assert len(series["sines"]) == len(series["cosines"]) == 2
