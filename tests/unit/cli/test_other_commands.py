"""Do list, check, show, compare, export and info say what is there, in words and in JSON?"""

import csv
import zipfile
from functools import partial

import pytest

from robodyn import read_scenario
from robodyn.description.catalog import SCENARIOS, find_scenario
from robodyn.description.files import make_schema


@pytest.fixture
def run_file(invoke, quick, tmp_path):
    """A run file made by the command."""
    assert invoke("run", quick).exit_code == 0
    return tmp_path / "out" / "quick.run"


def test_list_names_every_scenario(invoke, read_json):
    rows = read_json(invoke("list", "--json").stdout)
    assert [row["name"] for row in rows if row["package"] == "robodyn"] == list(SCENARIOS)
    assert {row["name"]: row["duration"] for row in rows}["pendulum"] == find_scenario("pendulum").duration
    lines = invoke("list").stdout.splitlines()
    packages = dict.fromkeys(row["package"] for row in rows)
    assert [line for line in lines if not line.startswith(" ")] == list(packages)
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [row["name"] for row in rows]
    # Sentences that are read beside no other.
    assert all(row["title"][0].isupper() and row["title"][-1] in ".?" for row in rows)


def test_list_tells_scenarios_without_making_them(invoke, monkeypatch):
    def slow(size, fast=True):
        """A crane of a size.

        It takes a minute to make.
        """
        raise AssertionError("made")

    crane = {"crane": partial(slow, 3, fast=False), "plain": slow}
    monkeypatch.setattr("robodyn.description.catalog.SCENARIOS", crane)
    lines = [line.split(maxsplit=1) for line in invoke("list").stdout.splitlines() if line.startswith("  ")]
    titles = dict(lines)
    assert titles["crane"] == "A crane of a size. Options size 3, not fast."
    assert titles["plain"] == "A crane of a size."


def test_a_scenario_that_cannot_be_made_hides_no_other_in_json(invoke, read_json, monkeypatch):
    def broken():
        """A crane."""
        raise ValueError("no rope")

    monkeypatch.setattr("robodyn.description.catalog.SCENARIOS", {"crane": broken})
    with pytest.warns(UserWarning, match="no rope"):
        rows = {row["name"]: row for row in read_json(invoke("list", "--json").stdout)}
    assert rows["crane"]["duration"] is None


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("arm.urdf", "there is no file 'arm.urdf' (did you mean 'arms.urdf'?)"),
        ("quik.toml", "there is no file 'quik.toml' (did you mean 'quick.toml'?)"),
        ("unit.fmu", "there is no file 'unit.fmu'\n"),
        ("robots/arm.urdf", "there is no file 'robots/arm.urdf' (there is no folder 'robots')"),
        ("./quick", "there is no file './quick' (did you mean 'quick.toml'?)"),
        ("pendulm", "there is no scenario 'pendulm' (did you mean 'pendulum'?"),
    ],
)
def test_a_file_that_is_not_there_is_told_with_those_nearly_of_its_name(invoke, quick, tmp_path, what, told):
    (tmp_path / "arms.urdf").write_text("<robot/>")
    done = invoke("run", what)
    assert done.exit_code == 2
    assert told in done.stderr
    if "." in what[1:] and not what.endswith(".fmu"):
        assert told in invoke("check", what).stderr


def test_info_tells_versions_and_the_cache(invoke, read_json):
    facts = read_json(invoke("info", "--json").stdout)
    assert {"robodyn", "numpy", "casadi", "cache"} <= set(facts)
    assert f"casadi       {facts['casadi']}" in invoke("info").stdout


def test_info_empties_the_cache_and_tells_how_much_was_freed(invoke, read_json, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "cache"))
    kernels = tmp_path / "cache" / "kernels"
    kernels.mkdir(parents=True)
    (kernels / "one.bin").write_bytes(bytes(1234))
    message = read_json(invoke("info", "--json").stdout)
    assert (message["cache_files"], message["cache_bytes"]) == (1, 1234)
    assert read_json(invoke("info", "--clear", "--json").stdout)["freed_bytes"] == 1234
    assert "freed_files  0" in invoke("info", "--clear").stdout
    assert not list(kernels.iterdir())


def test_check_tells_a_flawed_file_in_words_and_in_json(invoke, read_json, tmp_path):
    (tmp_path / "bad.toml").write_text("duration = 1\n[blocks.b]\nlaw = 'low_pas'\n")
    result = invoke("check", "bad.toml", "--json")
    assert result.exit_code == 2
    (problem,) = read_json(result.stdout)["error"]["problems"]
    assert problem["place"] == "blocks.b.law"
    assert problem["remedy"] == "did you mean 'low_pass'?"
    assert "blocks.b.law" in result.stderr
    assert invoke("check", "bad.toml").stdout == ""


def test_check_tells_flaws_of_signals_and_of_the_solver_together(invoke, quick):
    text = quick.read_text().replace('"10 ms"', "-1").replace("hinge.position =", '"hinge.positon" =')
    quick.write_text(text)
    result = invoke("check", quick)
    assert result.exit_code == 2
    assert "solver.step" in result.stderr
    assert "did you mean 'hinge.position'?" in result.stderr


def test_show_sums_up_a_run(invoke, run_file, read_json):
    assert "hinge.position" not in invoke("show", run_file).stdout
    assert "hinge.position" in invoke("show", run_file, "--signals").stdout
    message = read_json(invoke("show", run_file, "--json").stdout)
    assert message["outcome"]["kind"] == "finished"


def test_show_draws_a_picture(invoke, run_file, tmp_path):
    pytest.importorskip("matplotlib")
    result = invoke("show", run_file, "--png", "swing.png", "--signal", "hinge.*")
    assert result.exit_code == 0
    assert (tmp_path / "swing.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--png", "a.png", "--signal", "hinge.positon"), "did you mean hinge.position"),
        (("--png", "quick.toml/a.png"), "quick.toml"),
        (("--signal", "hinge.position"), "give --png"),
    ],
)
def test_show_tells_what_it_cannot_do_before_it_prints(invoke, run_file, arguments, complaint):
    pytest.importorskip("matplotlib")
    result = invoke("show", run_file, *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("command", [("show",), ("compare", "quick.toml"), ("export", "--to", "csv")])
def test_a_file_that_is_no_run_is_told(invoke, quick, command):
    for file, complaint in (("none.run", "no run file 'none.run'"), (quick, "not a run file"), (".", "is not a file")):
        result = invoke(command[0], file, *command[1:])
        assert result.exit_code == 2
        assert complaint in result.stderr
        assert result.stderr.count(str(file)) == 1 or file == "."


def test_a_damaged_run_is_told(invoke, run_file):
    with zipfile.ZipFile(run_file) as archive:
        rows = archive.getinfo("rows/000000")
    data = bytearray(run_file.read_bytes())
    data[rows.header_offset + rows.file_size // 2] ^= 0xFF
    run_file.write_bytes(data)
    # Signals are read, and checked, when they are asked for: here all of them.
    commands = (("compare", run_file, run_file), ("show", run_file, "--signals"), ("export", run_file, "--to", "csv"))
    for words in commands:
        result = invoke(*words)
        assert result.exit_code == 2, words
        assert "damaged" in result.stderr


def test_a_run_compared_with_itself_differs_by_nothing(invoke, run_file, read_json):
    message = read_json(invoke("compare", run_file, run_file, "--json").stdout)
    assert message["differences"]
    assert all(row["max_abs"] == 0 for row in message["differences"])
    assert "hinge.position" in invoke("compare", run_file, run_file).stdout


def test_a_run_is_exported_for_other_programs(invoke, run_file):
    result = invoke("export", run_file, "--to", "csv")
    assert result.exit_code == 0
    path = run_file.with_suffix(".csv")
    rows = [row for row in csv.reader(path.read_text().splitlines()) if not row[0].startswith("#")]
    assert len(rows) > 20
    assert str(path) in result.stdout


def test_an_unknown_format_is_answered_with_the_nearest(invoke, run_file):
    result = invoke("export", run_file, "--to", "parket")
    assert result.exit_code == 2
    assert "did you mean 'parquet'?" in result.stderr
    below_a_file = invoke("export", run_file, "--to", "csv", "--out", "quick.toml/x.csv")
    assert below_a_file.exit_code == 2
    assert "cannot be written" in below_a_file.stderr


def test_a_page_that_is_served_has_no_json(invoke):
    result = invoke("view", "pendulum", "--json", "--no-browser")
    assert (result.exit_code, "--out FILE writes the page" in result.stderr) == (2, True)


def test_what_has_no_picture_is_told(invoke, quick, tmp_path):
    block = '[blocks.push]\nlaw = "constant_force"\non = "hinge"\nparameters = { value = 1 }\n'
    quick.write_text(quick.read_text() + block)
    result = invoke("bode", quick, "--input", "push.value", "--output", "hinge.position", "--nyquist", "a.png")
    assert (result.exit_code, "there is nothing to draw" in result.stderr) == (2, True)
    assert not (tmp_path / "a.png").exists()


def test_every_result_can_be_a_page(invoke, run_file, tmp_path):
    assert invoke("compare", run_file, run_file, "--out", "both.html").exit_code == 0
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "hinge.position" in page
    assert page.count("<table") == 1
    refused = invoke("compare", run_file, run_file, "--out", "both.pdf")
    assert (refused.exit_code, "must end in .html or .json" in refused.stderr) == (2, True)


def test_without_a_command_the_help_is_shown(invoke):
    assert "Realistic dynamic simulation" in invoke("--help").stdout


def test_a_part_of_a_study_is_computed_alone(invoke, read_json):
    figures = read_json(invoke("reproduce", "scara", "--part", "FORMS", "--json").stdout)
    assert [figure["name"] for figure in figures] == ["a_forms_disagreement"]


@pytest.mark.parametrize(
    ("options", "message"), [(["--part", "frms"], "Task a: forms"), (["--part", "forms"], "whole")]
)
def test_parts_that_are_not_there_or_on_a_page_are_told(invoke, tmp_path, options, message):
    page = ["--page", tmp_path] if message == "whole" else []
    result = invoke("reproduce", "scara", *options, *page)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_scenario_is_exported_as_a_file_that_is_read_back_equal(invoke, tmp_path):
    result = invoke("export", "scara-ptp", "--to", "toml", "--set", "duration=1.5 s")
    assert (result.exit_code, result.stdout.strip()) == (0, "scara-ptp.toml")
    changed = SCENARIOS["scara-ptp"]().with_numbers({"duration": 1.5})
    assert read_scenario(tmp_path / "scara-ptp.toml") == changed


def test_a_scenario_that_a_file_cannot_hold_is_refused_with_what_cannot_be_written(invoke):
    result = invoke("export", "delta-stand", "--to", "toml")
    assert result.exit_code == 2
    assert "blocks.target.law: 'AimMotors' is a Python function that a file cannot name" in result.stderr
    chain = invoke("export", "scara-phases", "--to", "c")
    assert (chain.exit_code, "sequence of scenarios" in chain.stderr) == (2, True)


def test_a_sequence_is_exported_phase_by_phase_with_its_numbers_changed(invoke, tmp_path):
    result = invoke("export", "scara-phases", "--to", "toml", "--set", "blocked.critical=150 mm", "--out", "p.toml")
    assert result.stdout.split() == ["p.toml", "p-approach.toml", "p-rise.toml", "p-finish.toml"]
    assert read_scenario(tmp_path / "p-approach.toml").numbers()["blocked.critical"].value == 0.15
    assert "phase rise: usable" in invoke("check", "p.toml").stdout
    refused = invoke("export", "scara-phases", "--to", "toml", "--duration", "2")
    assert (refused.exit_code, "no effect on a sequence" in refused.stderr) == (2, True)


def test_the_schema_of_scenario_files_is_printed(invoke, read_json):
    schema = read_json(invoke("schema").stdout)
    assert schema == make_schema()
    assert {"bodies", "blocks", "solver", "duration"} <= schema["properties"].keys()


def test_the_sheet_of_an_open_arm_is_a_page_with_intervals_and_choices(invoke, tmp_path):
    page = tmp_path / "arm.html"
    assert invoke("sheet", "so101", "--out", str(page)).exit_code == 0
    text = page.read_text()
    for words in ("Performance by ISO 9283", "5 ... 95 %", "servo_gain", "Known: of a single servo", "data:image/png"):
        assert words in text
    assert "--band have no effect on an open arm" in invoke("sheet", "so101", "--band", "1 mm").stderr


def test_a_sheet_of_nothing_known_suggests_open_arms_too(invoke):
    done = invoke("sheet", "so1")
    assert done.exit_code == 2
    assert "did you mean 'so101'" in done.stderr
    assert "open arms are so101" in invoke("sheet", "xyzzy").stderr
    assert "four-bar" in invoke("sheet", "four-bat").stderr
