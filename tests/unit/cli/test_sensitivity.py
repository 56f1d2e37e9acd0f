"""Does robodyn sensitivity print a ranking, in words and in JSON, and draw it?"""

import pytest

CALL = ("sensitivity", "pendulum", "--of", "hinge.position", "--set", "duration=1")


def test_the_ranking_is_printed_strongest_first(invoke):
    result = invoke(*CALL, "--parameters", "initial.hinge.position,gravity.z", "--change", "1")
    assert result.exit_code == 0, result.output
    head, columns, first, second = result.stdout.splitlines()
    assert head.startswith("final of hinge.position:")
    assert columns.split()[:2] == ["parameter", "value"]
    weights = [abs(float(line.split()[2])) for line in (first, second)]
    assert weights[0] > weights[1] > 0


def test_exact_and_finite_changes_agree_in_json(invoke, read_json):
    result = invoke(*CALL, "--parameters", "gravity.z", "--change", "1", "--json")
    (row,) = read_json(result.stdout)["rows"]
    # One percent to both sides: curvature of 1e-4, and runs of rtol 1e-6 over 1e-2.
    assert row["per_percent"] == pytest.approx(row["finite_per_percent"], rel=1e-2)
    assert row["parameter_value"] == pytest.approx(-9.81, rel=1e-2)


def test_a_change_of_none_leaves_the_finite_runs_out(invoke):
    result = invoke(*CALL, "--parameters", "gravity.z", "--change", "0")
    assert result.stdout.splitlines()[2].split()[3] == "-"


def test_the_ranking_is_drawn(invoke, tmp_path):
    pytest.importorskip("matplotlib")
    result = invoke(*CALL, "--parameters", "gravity.z", "--measure", "largest", "--plot", "rank.png")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "rank.png").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--parameters", "gravity.zz"), "no such number"),
        (("--parameters", ","), "names no number"),
        (("--parameters", "gravity.z", "--measure", "end"), "must be final or largest"),
        (("--parameters", "gravity.z", "--change", "100"), "below 100"),
        (("--parameters", "gravity.z", "--of", "hinge.positon"), "hinge.position"),
        (("--parameters", "gravity.z", "--plot", "rank.xyz"), "rank.xyz"),
    ],
)
def test_wrong_requests_end_with_a_sentence_and_exit_code_2(invoke, more, message):
    result = invoke(*CALL, *more)
    assert result.exit_code == 2
    assert message in result.stderr
