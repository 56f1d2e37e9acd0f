"""Are designed motions within all limits, better than random ones, and found by exact slopes?"""

import tomllib

import numpy as np
import pytest
from typer.testing import CliRunner

from robodyn.analysis.identification.excitation import _find_limits, _Problem, design_excitation
from robodyn.analysis.identification.regressor import make_regressor
from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
from robodyn.catalog import two_link_mechanism
from robodyn.cli.application import app
from robodyn.errors import ModelError
from robodyn.files import write_scenario
from robodyn.model import Block, Machine, Scenario

LIMITS = {"lower_limit": -1.5, "upper_limit": 1.0, "speed_limit": 2.0, "effort_limit": 150.0}


@pytest.fixture(scope="module")
def arm():
    mechanism = two_link_mechanism()
    joints = tuple(joint.replaced(**LIMITS) for joint in mechanism.joints)
    friction = Block("elbow.friction", "viscous_friction", "elbow", parameters={"viscous": 3.0})
    return Scenario("arm", Machine("arm", mechanism.replaced(joints=joints), (friction,)), 1.0)


@pytest.mark.parametrize("criterion", ["D", "A"])
def test_slopes_of_the_criterion_are_exact(arm, criterion):
    regressor = make_regressor(arm)
    problem = _Problem(regressor, _find_limits(arm, regressor, {}), 0.2, 3, 0.02, criterion)
    y = 1.3 * problem._start(1)
    value, slope = problem.cost(y)
    way = np.random.default_rng(0).normal(size=y.size)
    h = 1e-6
    difference = (problem.cost(y + h * way)[0] - problem.cost(y - h * way)[0]) / (2 * h)
    assert slope @ way == pytest.approx(difference, rel=1e-5, abs=1e-6)
    assert np.isfinite(value)


def test_a_designed_motion_tells_more_within_all_limits(arm):
    found = design_excitation(arm, frequency=0.2, harmonics=3)
    before, after = found.information
    # Each of some ten parameters known better: log det F rises by twice the sum of logarithms of their deviations.
    assert after > before + 5
    time = np.linspace(0, 5, 701)
    q, v, a = found.at(time)
    assert q.min() >= -1.5
    assert q.max() <= 1.0
    assert np.abs(v).max() <= 2.0
    dynamics = MachineDynamics(arm.machine)
    tau = np.array([dynamics.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)])
    tau[:, 1] += 3.0 * v[:, 1]
    assert np.abs(tau).max() <= 150.0
    assert max(np.abs(v[0]).max(), np.abs(a[0]).max()) < 1e-9
    np.testing.assert_allclose(v[1:-1], (q[2:] - q[:-2]) / (time[2] - time[0]), atol=2e-3)


def test_limits_that_are_missing_or_cannot_be_kept_are_told(arm):
    bare = Scenario("arm", Machine("arm", two_link_mechanism()), 1.0)
    with pytest.raises(ModelError, match=r"elbow.speed_limit: is needed"):
        design_excitation(bare)
    with pytest.raises(ModelError, match="cannot be kept"):
        design_excitation(arm, limits={"shoulder.effort_limit": 1.0}, iterations=2)


def test_the_command_writes_series_for_a_scenario(arm, tmp_path):
    path, out = tmp_path / "arm.toml", tmp_path / "series.toml"
    write_scenario(arm, path)
    options = ["--harmonics", "2", "--frequency", "0.2", "--limit", "elbow.speed_limit=1.0", "--out", str(out)]
    told = CliRunner().invoke(app, ["excite", str(path), *options])
    assert told.exit_code == 0, told.output
    series = tomllib.loads(out.read_text())["blocks"]["elbow.reference"]["parameters"]
    assert len(series["sines"]) == len(series["cosines"]) == 2
