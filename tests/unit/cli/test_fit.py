"""Does robodyn fit find numbers from a file, print and keep them, and go on after a break?"""

import numpy as np
import pytest

from robodyn.computation.simulation import simulate
from robodyn.description.files import read_scenario
from robodyn.description.model import Recording

TIMES = np.linspace(0.0, 1.0, 51)
FREE = "damping.viscous,initial.hinge.position"
PENDULUM = """
    duration = 2
    [bodies.bob]
    mass = 1
    com = [0, 0, -1]
    [joints.hinge]
    kind = "revolute"
    parent = "ground"
    child = "bob"
    axis = [0, 1, 0]
    [blocks.damping]
    law = "viscous_friction"
    on = "hinge"
    parameters.viscous = 0.5
    [initial]
    hinge.position = "30 deg"
"""


@pytest.fixture
def files(tmp_path):
    """A pendulum and its swing, measured in degrees with noise of a hundredth of a radian."""
    scenario = tmp_path / "pendulum.toml"
    scenario.write_text(PENDULUM)
    what = read_scenario(str(scenario))
    run = simulate(what, recording=Recording(times=tuple(TIMES), signals=("hinge.position",)))
    noise = 0.01 * np.random.default_rng(0).standard_normal(TIMES.size)
    angles = np.degrees(run["hinge.position"].values + noise)
    lines = [f"{t!r},{a!r}" for t, a in zip(TIMES.tolist(), angles.tolist(), strict=True)]
    data = tmp_path / "swing.csv"
    data.write_text("\n".join(["time [s],hinge.position [deg]", *lines]))
    return scenario, data


def test_values_intervals_and_files_are_given(invoke, files, tmp_path, read_json):
    out = tmp_path / "found.toml"
    start = ("--set", "damping.viscous=0.3", "--starts", "2")
    result = invoke("fit", *files, "--free", FREE, *start, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    found = {p["name"]: p for p in read_json(result.stdout)["parameters"]}
    viscous = found["damping.viscous"]
    # The noise leaves a deviation of some 2 %.
    assert viscous["value"] == pytest.approx(0.5, rel=0.1)
    assert viscous["lower"] < viscous["value"] < viscous["upper"]
    assert viscous["given"] == 0.3
    # The file is a scenario: the one that was fitted, with what was found and what was set beside it.
    assert "# damping.viscous = " in out.read_text()
    assert read_scenario(out).numbers()["damping.viscous"].value == viscous["value"]


def test_a_fitted_scenario_has_the_numbers_that_were_set_for_the_fit(invoke, files, tmp_path):
    out = tmp_path / "found.toml"
    result = invoke("fit", *files, "--free", FREE, "--set", "gravity.z=-9.7", "--out", out)
    assert result.exit_code == 0, result.output
    assert read_scenario(out).machine.mechanism.gravity[2] == -9.7
    assert invoke("run", out, "--out", tmp_path / "out").exit_code == 0


def test_the_table_is_printed_and_the_fit_drawn(invoke, files, tmp_path):
    pytest.importorskip("matplotlib")
    result = invoke("fit", *files, "--free", FREE, "--plot", tmp_path / "fit.png", "--noise", "hinge.position=0.01")
    assert result.exit_code == 0, result.output
    assert "95 % interval" in result.stdout
    assert "correlation" in result.stdout
    assert (tmp_path / "fit.png").exists()


def test_finished_searches_are_kept(invoke, files, tmp_path):
    call = ("fit", *files, "--free", FREE, "--starts", "2", "--state", tmp_path / "state.json")
    first, second = invoke(*call), invoke(*call)
    assert (tmp_path / "state.json").exists()
    assert first.stdout == second.stdout


def test_an_interrupt_tells_how_to_go_on(invoke, files, tmp_path, monkeypatch):
    from robodyn.analysis.fitting import fit

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "_search", interrupted)
    result = invoke("fit", *files, "--free", FREE, "--state", tmp_path / "state.json")
    assert result.exit_code == 130
    assert "run the same command again to continue" in result.stderr


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--free", "damping.viscos"), "no such number"),
        (("--free", FREE, "--bounds", "damping.viscous=1"), "name=lower:upper"),
        (("--free", FREE, "--noise", "hinge.position"), "signal=deviation"),
        (("--free", FREE, "--out", "found.txt"), ".toml or .json"),
        (("--free", "bob.mass,damping.viscous"), "cannot be told apart"),
        (("--free", ","), "at least one"),
    ],
)
def test_wrong_requests_end_with_a_sentence_and_exit_code_2(invoke, files, more, message):
    result = invoke("fit", *files, *more)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_flaws_of_the_data_name_file_line_and_column(invoke, files, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("time,hinge.position\n0,0.1\n0.1,x\n")
    result = invoke("fit", files[0], bad, "--free", FREE)
    assert result.exit_code == 2
    assert "bad.csv" in result.stderr
    assert "line 3, column 2 (hinge.position)" in result.stderr


def test_fitted_numbers_are_judged_by_predictions_beside_those_before(invoke, files, tmp_path, read_json):
    """What `fit --out` writes includes the file that it began with, which is the baseline; pictures and page follow."""
    scenario, data = files
    out, page = tmp_path / "found.toml", tmp_path / "page.html"
    assert invoke("fit", *files, "--free", FREE, "--set", "damping.viscous=3", "--out", out).exit_code == 0
    scenario.write_text(PENDULUM.replace("viscous = 0.5", "viscous = 5"))
    pictures = ("--plot", tmp_path / "growth.svg", "--plot-run", tmp_path / "run.svg")
    result = invoke("validate", out, data, "--horizon", "0.3", *pictures, "--json")
    assert result.exit_code == 0, result.output
    step, ahead, free = read_json(result.stdout)["predictions"]
    assert (step["kind"], ahead["kind"], free["kind"]) == ("one step", "0.3 s ahead", "free run")
    assert free["rms"] == pytest.approx(0.01, rel=0.3)
    assert free["than_nominal"] == "better than"
    assert (tmp_path / "growth.svg").stat().st_size > (tmp_path / "run.svg").stat().st_size / 10 > 0
    result = invoke("report", out, "--measured", data, "--out", page)
    assert result.exit_code == 0, result.output
    assert all(word in page.read_text() for word in ("simulated, measured", "hinge.position.residual", "0.5 s ahead"))
    assert invoke("report", out, "--map", data, "--out", page).exit_code == 2
