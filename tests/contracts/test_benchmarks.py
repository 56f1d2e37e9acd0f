"""Does every benchmark run, and do its contenders agree? The smallest case of each, and no times."""

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest
from benchmarks import __main__ as command
from benchmarks import beside, findings
from benchmarks.findings import Disagreement, Findings, Row

ALL = command.BENCHMARKS + command.ON_REQUEST
# What several benchmarks or none of them alone have.
SHARED = {"__init__", "__main__", "arm", "beside", "findings", "timing"}
BESIDE_OTHERS = {
    "forward_dynamics": "pinocchio",
    "free_motion": "mujoco",
    "creep": "mujoco",
    "quadruped": "mujoco",
    "rx90_rival": "pinocchio",
    "lanes": "mujoco",
    "environments": "mujoco",
    "regression": "pinocchio",
}
"""Benchmarks with a rival that is installed for tests."""


def check(name):
    benchmark = import_module(f"benchmarks.{name}")
    return benchmark.measure(benchmark.SIZES["smallest"])


def test_every_module_is_a_benchmark_or_shared_by_some():
    modules = {path.stem for path in Path(command.__file__).parent.glob("*.py")}
    assert modules == {*ALL, *SHARED}
    for name in ALL:
        sizes = set(import_module(f"benchmarks.{name}").SIZES)
        assert sizes == {"smallest", "usual"} | ({"full"} if name in command.LONGER else set())


@pytest.mark.parametrize("name", ALL)
def test_contenders_agree(name):
    found = check(name)
    assert found.agreements
    assert all(row.name in findings.show(found) for row in found.rows)
    assert set(found.missing) <= {"exudyn", "pydrake", "newton"}
    # Rows of two checkouts are matched by their names.
    assert len({row.name for row in found.rows}) == len(found.rows)


@pytest.mark.parametrize("name", BESIDE_OTHERS)
def test_ours_is_checked_where_a_rival_is_missing(name, monkeypatch):
    rival = BESIDE_OTHERS[name]
    monkeypatch.setitem(sys.modules, rival, None)
    found = check(name)
    assert found.missing == (rival,)
    assert found.agreements
    assert not any(rival in row.rival_name for row in found.rows)


def test_a_rival_that_is_there_but_broken_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "rival_without_a_part.py").write_text("import no_such_part\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert findings.find_rival("no_such_rival") is None
    with pytest.raises(ModuleNotFoundError, match="no_such_part"):
        findings.find_rival("rival_without_a_part")


def test_a_difference_beyond_what_is_allowed_is_a_disagreement():
    assert "agree to 1.0e-09 m (1e-08 required)" in findings.require_agreement("places", 1e-9, 1e-8, "m")
    for difference in (2e-8, float("nan")):
        with pytest.raises(Disagreement, match="places differ by"):
            findings.require_agreement("places", difference, 1e-8)
    with pytest.raises(Disagreement, match="not so that runs are equal"):
        findings.require("runs are equal", False)


def test_what_happens_to_one_benchmark_does_not_lose_the_others(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    row = Row("a row", 2.0, "ms", rival=4.0, rival_name="a rival", ratio=0.5, spread=(0.4, 2.0), goal=1.0)
    measured = {
        "forward_dynamics": lambda size: 1 / 0,
        "free_motion": lambda size: findings.require_agreement("states", 2.0, 1.0),
        "steppers": lambda size: Findings((row,)),
        "compilation": lambda size: Findings((row,), agreements=("both agree",), missing=("a rival",)),
    }
    for name, measure in measured.items():
        monkeypatch.setattr(f"benchmarks.{name}.measure", measure)
    assert command.main(["--only", *measured]) == command.FAILED
    printed = capsys.readouterr().out
    assert "a row        2 ms  4 ms (a rival)  1/2 (1/2.5 to 2)  <= 1  yes" in printed
    assert "without a rival, which is not installed" in printed
    report = json.loads(Path("out/benchmarks.json").read_text())
    assert [each["benchmark"] for each in report["rows"]] == ["compilation"]
    assert set(report["failures"]) == set(measured) - {"compilation"}
    # The cause of an error that nobody expected, and where it is.
    assert "ZeroDivisionError: division by zero" in report["failures"]["forward_dynamics"]
    assert "test_benchmarks.py" in report["failures"]["forward_dynamics"]
    assert report["failures"]["free_motion"] == "states differ by 2 relative, allowed are 1e+00"
    assert report["failures"]["steppers"] == "nothing was asserted"

    assert command.main(["--check", "--only", "compilation"]) == 0
    assert "2 ms" not in capsys.readouterr().out.rpartition("compilation:")[2]
    assert command.main(["--check", "--only", "compilation", "steppers"]) == command.FAILED


def test_a_page_has_the_rows_of_the_last_run_of_each_benchmark_and_its_tables(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    row = Row("a row", 2.0, "ms", "with a remark", rival=4.0, rival_name="a rival", ratio=0.5, spread=(0.4, 2.0))
    table = findings.Table("cost | worth", ("case", "ms"), (("a|b", 1.25),))
    monkeypatch.setattr("benchmarks.chain.measure", lambda size: Findings((row,), (table,), ("both agree",)))
    old = "| benchmark | measurement |\n| --- | --- |\n| `chain` | old | 1 ms |\n| `creep` | another | 3 ms |"
    places = {"benchmarks": f"Two cores.\n\n{old}", "benchmarks.chain": "old", "benchmarks.creep": "as it was"}
    page = Path("page.md")
    blocks = [f"<!-- numbers of {name} -->\n\n{text}\n\n<!-- end of these numbers -->" for name, text in places.items()]
    page.write_text("Before.\n\n" + "\n\nBetween.\n\n".join(blocks) + "\n\nAfter.\n")
    assert command.main(["--only", "chain", "--page", "page.md"]) == 0
    said = findings.read_blocks(page)
    assert page.read_text().startswith("Before.\n")
    assert page.read_text().endswith("\n\nAfter.\n")
    assert page.read_text().count("Between.") == 2
    assert said["benchmarks"].startswith("Two cores.\n\nMeasured again later, by themselves: `chain`; ")
    lines = [line for line in said["benchmarks"].splitlines() if line.startswith("| `")]
    assert lines == [
        "| `creep` | another | 3 ms |",
        "| `chain` | a row | 2 ms | 4 ms (a rival) | 1/2 (1/2.5 to 2) | - | - |",
    ]
    details = "Cost | worth:\n\n| case | ms |\n| --- | --- |\n| a\\|b | 1.25 |\n\n"
    details += "- a row: with a remark\n- checked: both agree"
    assert said["benchmarks.chain"] == details
    assert said["benchmarks.creep"] == "as it was"
    for words in (["--only", "chain", "steppers"], []):
        with pytest.raises(SystemExit):
            command.main([*words, "--page", "page.md"])
        assert "has no place for the numbers of " in capsys.readouterr().err


def test_the_page_of_benchmarks_has_a_place_for_each():
    places = findings.read_blocks(Path(command.__file__).parents[1] / "docs" / "benchmarks.md")
    others = {"benchmarks", "benchmarks.scaling", "benchmarks.beside"}
    assert set(places) == others | {f"benchmarks.{name}" for name in command.BENCHMARKS}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--full", "--only", "chain"], "--full has an effect only on"),
        (["--full", "--check"], "exclude one another"),
        (["--check", "--json", "file.json"], "measures nothing"),
        (["--check", "--page", "page.md"], "measures nothing"),
        (["--page", "page.md"], "page.md is no file"),
        (["--rounds", "2"], "only with --beside"),
        (["--beside", "no/such/folder"], "no/such/folder is no checkout with benchmarks"),
        (["--beside", ".", "--rounds", "0"], "--rounds: must be at least 1, is 0"),
        (["--only", "no_such_benchmark"], "--only: no benchmark is called no_such_benchmark; there are"),
    ],
)
def test_options_without_effect_are_refused(words, message, capsys):
    with pytest.raises(SystemExit) as error:
        command.main(words)
    assert error.value.code == 2
    assert message in capsys.readouterr().err


CHECKOUT = """
import json, sys
from pathlib import Path
BENCHMARKS = {names}
if __name__ == "__main__":
    name, file = sys.argv[2], Path(sys.argv[4])
    if name == "broken":
        sys.exit("the engine does not compile")
    seen = Path("seen")
    turn = len(seen.read_text()) if seen.exists() else 0
    seen.write_text("x" * (turn + 1))
    # The first turn is slower than the others, on either side.
    value = {value} * (3.0 if turn == 0 else 1.0)
    rows = [{{"name": "a run", "unit": "ms", "ours": value, "ratio": value / 100}},
            {{"name": "{own} row", "unit": "us", "ours": value, "ratio": None}}]
    lines = [["rk4", 200, str(value), 0.25], ["euler", 100, "1", 0.5]]
    table = {{"title": "steps", "columns": ["method", "steps", "ns a step", "share"], "lines": lines}}
    file.write_text(json.dumps({{"rows": rows, "tables": [table], "failures": {{}}}}))
"""


@pytest.fixture
def checkouts(tmp_path):
    """Two of another code each, whose benchmarks are invented."""
    names = {"old": ["runs"], "new": ["runs", "broken"]}
    for side, value in (("old", 2.0), ("new", 3.0)):
        folder = tmp_path / side / "benchmarks"
        folder.mkdir(parents=True)
        text = CHECKOUT.format(names=names[side], value=value, own=side)
        (folder / "__main__.py").write_text(text)
    return tmp_path / "old", tmp_path / "new"


def test_two_checkouts_are_compared_row_by_row_in_turns(checkouts, monkeypatch, tmp_path, capsys):
    old, new = checkouts
    monkeypatch.setattr(beside, "HERE", new)
    file = tmp_path / "comparison.json"
    assert command.main(["--beside", str(old), "--rounds", "2", "--json", str(file)]) == 1
    printed = capsys.readouterr().out
    turns = [line.rpartition(":")[0] for line in printed.splitlines() if line.startswith("turn")]
    assert turns == [
        f"turn {turn} of 2, {name}, {side}"
        for turn, sides in ((1, ("old", "new")), (2, ("new", "old")))
        for name, side in (("runs", sides[0]), ("runs", sides[1]), ("broken", "new"))
    ]
    rows = {(row["row"], row["unit"]): row for row in json.loads(file.read_text())}
    assert rows["a run", "ms"] == {
        "row": "a run", "unit": "ms", "old": 2.0, "new": 3.0, "ratio": 1.5, "by_rival": 1.5
    }  # fmt: skip
    assert rows["steps: rk4", "ns a step"]["ratio"] == 1.5
    assert rows["steps: euler", "ns a step"]["ratio"] == 1.0
    assert rows["new row", "us"]["old"] is None
    assert ("steps: rk4", "share") not in rows
    assert "2 of 3 rows lost more than 5 %" in printed
    assert "only new: new row, 3 us" in printed
    assert "only old: old row, 2 us" in printed
    assert "new: broken FAILED: the engine does not compile" in printed
    assert "1.500  LOST" in printed
    with pytest.raises(SystemExit, match="--only: neither checkout has no_such_benchmark; there are runs, broken"):
        command.main(["--beside", str(old), "--only", "no_such_benchmark"])
