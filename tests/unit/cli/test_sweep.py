"""Does robodyn sweep understand its options, print a table and leave its files?"""

import pytest

pytest.importorskip("pyarrow")


def test_a_grid_prints_its_table_and_leaves_its_files(invoke, quick, tmp_path):
    pytest.importorskip("matplotlib")
    options = ["--vary", "bob.mass=1:3:3", "--values", "initial.hinge.position=10 deg,20 deg", "--workers", 1]
    done = invoke("sweep", quick, *options)
    assert done.exit_code == 0, done.output
    assert "6 runs, 6 of them completed" in done.output
    assert "times real time" in done.output
    folder = tmp_path / "out" / "quick.sweep"
    names = {path.name for path in folder.iterdir()}
    assert {"plan.json", "table.parquet", "final-hinge.position.png", "final-hinge.position-influence.png"} <= names


def test_json_holds_the_percentiles(invoke, quick, read_json):
    options = ["--random", "bob.mass=scale:0.8:1.2", "--runs", 5, "--workers", 1, "--no-plot", "--json"]
    message = read_json(invoke("sweep", quick, *options, "--out", "mc").stdout)
    assert (message["runs"], message["carried_through"], message["pictures"]) == (5, 5, [])
    assert message["percentiles"]["final:hinge.position"]["unit"] == "rad"


def test_every_problem_is_told_at_once_with_the_nearest_name(invoke, quick):
    options = ["--vary", "bob.mas=1:2:3", "--vary", "gravity.z=1", "--random", "bob.com.z=norml:1:2"]
    done = invoke("sweep", quick, *options, "--measure", "mx:hinge.position,peak:hinge.positon", "--set", "bb=1")
    assert done.exit_code == 2
    for words in ("'bob.mass'", "first:last:count", "'normal'", "'max'", "'hinge.position'", "--set bb=1"):
        assert words in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "nothing is varied"),
        (["--vary", "bob.mass"], "must be written as name="),
        (["--vary", "bob.mass=1:2:0"], "whole number"),
        (["--vary", "bob.mass=a:b:3"], "--vary bob.mass=a:b:3:"),
        (["--vary", "bob.mass=0:2:3:log"], "must be positive"),
        (["--vary", "bob.mass=1 s:2 s:3"], "must be in kg"),
        (["--vary", "bob.mass=1:2:3", "--values", "bob.mass=1,2"], "given twice"),
        (["--vary", "bob.mass=1:2:3", "--runs", "5"], "has no effect"),
        (["--vary", "bob.mass=1:2:3", "--points", "5"], "has no effect"),
        (["--vary", "bob.mass=1:2:3", "--set", "bob.mass=4"], "has no effect: 'bob.mass' is varied"),
        (["--random", "bob.mass=uniform:2:1"], "must rise"),
        (["--vary", "bob.mass=1:2:3", "--method", "nonlinar"], "did you mean 'nonlinear'"),
        (["--vary", "bob.mass=1:2:3", "--workers", "0"], "must be at least 1"),
        (["--vary", "bob.mass=1:2:3", "--on", "slurm"], "must be dask or dask:ADDRESS"),
        (["--vary", "bob.mass=1:2:3", "--on", "dask:head:8786", "--workers", "2"], "has no effect"),
    ],
)
def test_bad_options_end_with_a_message(invoke, quick, options, words):
    done = invoke("sweep", quick, *options)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_changed_sweep_is_refused_unless_fresh(invoke, quick):
    common = ["--workers", 1, "--no-plot", "--out", "here"]
    assert invoke("sweep", quick, "--vary", "bob.mass=1:3:3", *common).exit_code == 0
    refused = invoke("sweep", quick, "--vary", "bob.mass=1:3:4", *common)
    assert refused.exit_code == 2
    assert "another sweep" in refused.stderr
    assert "--fresh" in refused.stderr
    assert invoke("sweep", quick, "--vary", "bob.mass=1:3:4", *common, "--fresh").exit_code == 0
