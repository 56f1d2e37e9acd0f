"""Does robodyn budget print a table that adds up, draw it, and keep the parts in files?"""

import csv
import sys

import pytest

CALL = ("budget", "two-link-loop", "--set", "duration=0.5", "--points", "50", "--signal", "tool.position.z")


def test_a_budget_is_told_and_kept(invoke, read_json, tmp_path):
    result = invoke(*CALL, "--json", "--along", "tool.position.x")
    assert result.exit_code == 0, result.output
    message = read_json(result.stdout)
    rows = {row["name"]: row for row in message["signals"]["tool.position.z"]["rows"]}
    assert {"shoulder.friction", "elbow.friction", "sampling and delay", "dynamics not fed forward"} <= rows.keys()
    parts = [row["at_worst"] for name, row in rows.items() if name not in ("sum of parts", "remainder", "total")]
    # A sum in another order.
    assert sum(parts) + rows["remainder"]["at_worst"] == pytest.approx(rows["total"]["at_worst"], rel=1e-12)
    assert message["remainder_share"] < 0.01
    for file in message["files"]:
        assert (tmp_path / file).stat().st_size > 0
    with open(tmp_path / "out/two-link-loop-budget.csv", encoding="utf-8") as file:
        assert "tool.position.z: elbow.friction [m]" in next(csv.reader(file))


def test_the_table_has_its_unit_groups_sum_and_remainder(invoke):
    result = invoke(*CALL, "--no-plot", "--group", "friction=*.friction")
    assert result.exit_code == 0, result.output
    for words in ("tool.position.z [mm]", "friction", "2 parts", "sum of parts", "remainder", "total", "written: "):
        assert words in result.stdout
    assert "without effect: elbow.velocity_loop, shoulder.velocity_loop" in result.stdout
    assert ".png" not in result.stdout


def test_without_the_package_of_parquet_files_there_is_a_table_and_a_word_of_it(invoke, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = invoke(*CALL, "--no-plot")
    assert result.exit_code == 0, result.output
    assert "two-link-loop-budget.parquet needs pyarrow: pip install 'robodyn[export]'" in result.stderr
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("budget", "pendulum", "--signal", "hinge.position"), "nominal: is missing"),
        (("budget", "two-link-loop"), "matches no signal"),
        ((*CALL, "--along", "tool.position.w"), "along: there is no signal"),
        ((*CALL, "--group", "friction"), "must be written as name=pattern"),
        ((*CALL, "--without", "payload.mass=0"), "there is no number 'payload.mass'"),
    ],
)
def test_what_cannot_be_done_is_told(invoke, arguments, message):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
