"""Does `robodyn run` simulate, keep the run, and end with the code that says how it went?"""

import math

import pytest

from robodyn import load


def quiet_but_for_compiling(text: str) -> bool:
    """No progress and no messages but those of a first compilation."""
    return all(line.startswith("robodyn: compiling") for line in text.splitlines())


def test_a_run_is_kept_and_summed_up(invoke, quick, tmp_path):
    result = invoke("run", quick)
    assert result.exit_code == 0
    assert result.stdout.startswith("quick: reached the end time 0.2 s\n\nPeak speed")
    assert "evaluations" not in result.stdout
    assert "evaluations" in invoke("run", quick, "--statistics").stdout
    assert load(tmp_path / "out" / "quick.run").outcome.ok
    assert quiet_but_for_compiling(result.stderr)


def test_results_are_called_after_the_file_whatever_the_scenario_is_called(invoke, quick, tmp_path):
    """Several files may describe one machine: none writes over the results of another."""
    pytest.importorskip("pyarrow")
    (tmp_path / "faster.toml").write_text(f'name = "arm"\n{quick.read_text(encoding="utf-8")}', encoding="utf-8")
    for command in (["run"], ["sweep", "--vary", "bob.mass=1:2:2", "--no-plot"], ["export", "--to", "fmu"]):
        name, *options = command
        assert invoke(name, "faster.toml", *options).exit_code == 0
    assert load(tmp_path / "out" / "faster.run").provenance.scenario == "arm"
    assert (tmp_path / "out" / "faster.sweep").is_dir()
    assert (tmp_path / "faster.fmu").is_file()


def test_json_tells_the_run_and_nothing_else(invoke, quick, read_json, tmp_path):
    result = invoke("run", quick, "--json", "--out", tmp_path / "runs", "--rate", "100", "--signal", "hinge.*")
    message = read_json(result.stdout)
    assert quiet_but_for_compiling(result.stderr)
    assert message["outcome"] == {"kind": "finished", "ok": True, "sentence": "reached the end time 0.2 s", "time": 0.2}
    assert message["scenario"] == "quick"
    run = load(message["file"])
    assert message["final"] == pytest.approx(run.final)
    assert len(run.time) == 21
    assert all(name.startswith("hinge.") for name in run.names)


def test_settings_on_the_command_line_count(invoke, quick, read_json):
    changes = ("--set", "bob.com.z=-500 mm", "--set", "initial.hinge.position=0.1 rad", "--duration", "0.1")
    result = invoke("run", quick, "--json", "--solver", "dopri5", "--rtol", "1e-9", "--atol", "1e-11", *changes)
    message = read_json(result.stdout)
    assert message["end_time"] == pytest.approx(0.1)
    assert message["solver"]["method"] == "dopri5"
    # A pendulum of 0.5 m from 0.1 rad: the swing differs from a cosine by less than angle^3 / 16.
    assert message["final"]["hinge.position"] == pytest.approx(0.1 * math.cos(math.sqrt(9.81 / 0.5) * 0.1), abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("run", "scara-pt"), "did you mean 'scara-ptp'?"),
        (("run", "none.toml"), "there is no file 'none.toml'"),
        (("run", "pendulum", "--set", "bob.mas=3"), "did you mean 'bob.mass'?"),
        (("run", "pendulum", "--set", "bob.mass=3 m"), "must be in kg"),
        (("run", "pendulum", "--set", "bob.mass"), "key=value"),
        (("run", "pendulum", "--set", "bob.mass=-1"), "must not be negative"),
        (("run", "pendulum", "--solver", "rk45"), "method"),
        (("run", "pendulum", "--step", "-1"), "step"),
        (("run", "pendulum", "--duration", "nan"), "duration"),
        (("run", "pendulum", "--rate", "0"), "rate"),
        (("run", "pendulum", "--signal", "hinge.positon"), "did you mean 'hinge.position'?"),
        (("run", "pendulum", "--step", "fast"), "--step"),
        (("run", "pendulum", "--stepp", "1"), "--step"),
        (("run", "pendulum", "--out", "/proc/none/here"), "cannot create the folder"),
        (("run",), "Missing argument"),
        (("runn", "pendulum"), "runn"),
    ],
)
def test_bad_input_ends_with_code_2_and_on_stdout_only_as_json(invoke, read_json, arguments, complaint):
    for more in ((), ("--json",)):
        result = invoke(*arguments, *more)
        assert result.exit_code == 2
        assert complaint in result.stderr
        if more:
            (problem,) = read_json(result.stdout)["error"]["problems"]
            assert complaint in f"{problem['place']} {problem['what']} {problem['remedy']}"
        else:
            assert result.stdout == ""


def test_every_problem_of_a_file_is_told(invoke, tmp_path):
    (tmp_path / "bad.toml").write_text("duration = -1\ncolour = 3\n[bodies.a]\nmass = 'x'\n")
    result = invoke("run", "bad.toml")
    assert result.exit_code == 2
    assert "bad.toml: 4 problems" in result.stderr
    for path in ("duration", "colour", "bodies.a.mass", "bodies.a"):
        assert f"  {path}: " in result.stderr


def test_a_folder_that_cannot_be_written_is_told_before_simulating(invoke, quick, tmp_path):
    (tmp_path / "taken").write_text("a file")
    result = invoke("run", quick, "--out", "taken")
    assert result.exit_code == 2
    assert "--out taken" in result.stderr


def test_a_simulation_that_blows_up_ends_with_code_3_and_keeps_its_run(invoke, read_json, tmp_path):
    """Bristles a hundred times too stiff for Euler's method at this step."""
    result = invoke("run", "two-link-loop", "--solver", "euler", "--step", "1e-3", "--json")
    assert result.exit_code == 3
    message = read_json(result.stdout)
    assert not message["outcome"]["ok"]
    assert message["outcome"]["sentence"] in result.stderr
    partial = load(tmp_path / "out" / "two-link-loop.run")
    assert 0 < partial.time[-1] < 2.0


def test_a_used_up_budget_ends_with_code_3_and_keeps_its_run(invoke, quick, tmp_path):
    result = invoke("run", quick, "--max-steps", "5")
    assert result.exit_code == 3
    assert "used all 5 steps" in result.stderr
    assert load(tmp_path / "out" / "quick.run").outcome.cut_short


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("old.run", "a run, not a scenario: use it with `show`"),
        ("track.csv", "a table of samples"),
        ("law.py", "a Python file"),
    ],
)
def test_a_file_of_another_kind_is_told_what_it_is(invoke, tmp_path, file, kind):
    (tmp_path / file).write_text("<robot/>")
    for command in ("run", "check"):
        done = invoke(command, file)
        assert done.exit_code == 2
        assert f"{file} is {kind}" in done.output


def test_a_pattern_sets_all_that_fit_it_and_a_name_after_it_has_the_last_word(invoke, tmp_path):
    settings = ("--set", "initial.*.position=30 deg", "--set", "initial.elbow.position=1", "--duration", "0.1")
    result = invoke("run", "double-pendulum", *settings, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    run = load(tmp_path / "double-pendulum.run")
    assert run["shoulder.position"].values[0] == pytest.approx(math.radians(30))
    assert run["elbow.position"].values[0] == 1.0
    wrong = invoke("run", "double-pendulum", "--set", "*.mas=1")
    assert wrong.exit_code == 2
    assert "there is no number '*.mas'" in wrong.output


@pytest.mark.parametrize("last", ["0.05", "50 ms"])
def test_the_end_of_a_run_alone_may_be_kept(invoke, quick, tmp_path, last):
    assert invoke("run", quick, "--last", last, "--rate", "1000", "--record-tolerance", "0").exit_code == 0
    run = load(tmp_path / "out" / "quick.run")
    assert run.time[0] == pytest.approx(0.15, abs=1.5e-3)
    assert run.time[-1] == 0.2
