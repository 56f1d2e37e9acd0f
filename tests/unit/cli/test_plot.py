"""Does robodyn plot write the pictures that are asked for, where they are asked for?"""

import pytest

pytest.importorskip("matplotlib")

POINT = """
    [points.tip]
    body = "bob"
    origin = [0, 0, -1]
"""


@pytest.fixture
def run_files(invoke, quick):
    """Two run files of a pendulum with a point, the second of another mass, made by the command."""
    quick.write_text(quick.read_text() + POINT)
    for folder, mass in (("one", 1), ("two", 2)):
        assert invoke("run", quick, "--set", f"bob.mass={mass}", "--out", folder).exit_code == 0
    return "one/quick.run", "two/quick.run"


@pytest.fixture
def calls(monkeypatch):
    """What the command asks the plotting functions for; nothing is drawn."""
    import robodyn.presentation.reporting as reporting

    asked = []
    for name in ("plot_signals", "plot_phase", "plot_path"):
        monkeypatch.setattr(reporting, name, lambda *a, name=name, **options: asked.append((name, *a, options)))
    return asked


def test_a_picture_of_the_main_signals_stands_beside_the_run(invoke, run_files, tmp_path):
    result = invoke("plot", run_files[0])
    assert result.exit_code == 0
    assert result.stdout == "one/quick.png\n"
    assert (tmp_path / "one/quick.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["new/a.svg", "a.pdf"])
def test_out_names_the_file(invoke, run_files, tmp_path, name):
    result = invoke("plot", *run_files, "--path", "tip", "--out", name)
    assert result.exit_code == 0
    assert (tmp_path / name).stat().st_size > 1000


def test_every_kind_of_picture_asked_for_is_written_into_a_folder(invoke, run_files, tmp_path):
    against = ("--signal", "hinge.velocity", "--against", "hinge.position")
    result = invoke("plot", run_files[0], *against, "--path", "tip", "--out", "pictures")
    assert result.stdout.split() == ["pictures/quick-against.png", "pictures/quick-path.png"]
    assert {file.name for file in (tmp_path / "pictures").iterdir()} == {"quick-against.png", "quick-path.png"}


def test_signals_runs_labels_and_times_are_passed_on(invoke, run_files, calls):
    options = ("--signal", "hinge.*", "--signal", "tip.*", "--label", "light", "--label", "heavy", "--from", "0.1")
    assert invoke("plot", *run_files, *options, "--out", "a.png").exit_code == 0
    ((name, runs, signals, path, message),) = calls
    assert (name, signals, str(path)) == ("plot_signals", ["hinge.*", "tip.*"], "a.png")
    assert [run.provenance.parameters["bob.mass"]["value"] for run in runs] == [1.0, 2.0]
    assert message == {"labels": ["light", "heavy"], "window": (0.1, None), "units": (), "dark": False}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), ["plot_signals"]),
        (("--path", "tip"), ["plot_path"]),
        (("--path", "tip", "--signal", "hinge.*"), ["plot_signals", "plot_path"]),
        (("--signal", "hinge.*", "--against", "tip.position.x"), ["plot_phase"]),
    ],
)
def test_options_choose_the_kind_of_picture(invoke, run_files, calls, options, expected):
    assert invoke("plot", run_files[0], *options).exit_code == 0
    assert [call[0] for call in calls] == expected


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--signal", "hinge.positon"), "did you mean hinge.position"),
        (("--path", "tap"), "did you mean 'tip'?"),
        (("--against", "hinge.position"), "with --signal"),
        (("--from", "5"), "must end after it starts"),
        (("--label", "a", "--label", "b"), "2 labels for 1 runs"),
        (("--out", "a.xyz"), "pictures end in .png, .svg or .pdf"),
        (("--out", "quick.toml/a.png"), "cannot be written"),
        (("--path", "tip", "--signal", "*", "--out", "a.png"), "give a folder"),
        (("--path", "tip", "--exaggerate", "10"), "nothing to exaggerate"),
        (("--exaggerate", "10"), "use it with --path"),
    ],
)
def test_what_cannot_be_drawn_is_told(invoke, run_files, tmp_path, options, complaint):
    before = sorted(tmp_path.rglob("*"))
    result = invoke("plot", run_files[0], *options)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stdout == ""
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("names", [("none.run",), ("nothing",), ("none.run", "quick.toml")])
def test_a_run_that_is_not_there_is_told(invoke, quick, names):
    result = invoke("plot", *names)
    assert result.exit_code == 2
    assert f"run file '{names[0]}'" in result.stderr or f"run file nor a study '{names[0]}'" in result.stderr


def test_the_pictures_of_a_study_are_drawn_into_a_folder(invoke, tmp_path, monkeypatch):
    """Two of them: some others ask LibreOffice."""
    scara = pytest.importorskip("robodyn_studies.scara_pictures")
    first = scara.pictures()[:2]
    monkeypatch.setattr(scara, "pictures", lambda: first)
    result = invoke("plot", "scara", "--out", tmp_path / "scara")
    assert result.exit_code == 0
    drawn = sorted((tmp_path / "scara").glob("*.png"))
    assert [path.stem for path in drawn] == ["b-joints", "b-path"]
    assert all(str(path) in result.stdout for path in drawn)
