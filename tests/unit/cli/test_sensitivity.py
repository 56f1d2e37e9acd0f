"""Does robodyn sensitivity print a ranking, in words and in JSON, and draw it?"""

import pytest

CALL = ("sensitivity", "pendulum", "--of", "hinge.position", "--set", "duration=1")


def test_the_ranking_is_printed_strongest_first(invoke):
    result = invoke(*CALL, "--parameters", "initial.hinge.position,gravity.z", "--change", "1")
    assert result.exit_code == 0, result.output
    head, columns, first, second = result.stdout.splitlines()
    assert head.startswith("final of hinge.position:")
    assert columns.split()[:3] == ["parameter", "value", "unit"]
    assert columns.endswith("exact per % [mrad]  finite per % [mrad]")
    weights = [abs(float(line.split()[3])) for line in (first, second)]
    assert weights[0] > weights[1] > 0


def test_exact_and_finite_changes_agree_in_json(invoke, read_json):
    result = invoke(*CALL, "--parameters", "gravity.z", "--change", "1", "--json")
    (row,) = read_json(result.stdout)["rows"]
    # One percent to both sides: curvature of 1e-4, and runs of rtol 1e-6 over 1e-2.
    assert row["per_percent"] == pytest.approx(row["finite_per_percent"], rel=1e-2)
    assert row["parameter_value"] == pytest.approx(-9.81, rel=1e-2)


def test_a_change_of_none_leaves_the_finite_runs_out(invoke):
    result = invoke(*CALL, "--parameters", "gravity.z", "--change", "0")
    assert result.stdout.splitlines()[2].split()[4] == "-"


def test_the_ranking_is_drawn(invoke, tmp_path):
    pytest.importorskip("matplotlib")
    result = invoke(*CALL, "--parameters", "gravity.z", "--measure", "max", "--plot", "rank.png")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "rank.png").exists()


def test_the_strongest_numbers_are_found_where_none_is_named(invoke, read_json):
    result = invoke("sensitivity", "pendulum", "--set", "duration=1", "--json")
    found = read_json(result.stdout)
    assert (found["of"], found["measure"]) == ("hinge.position", "final")
    assert found["notes"][0].startswith("the ")
    assert found["notes"][0].endswith(" numbers")
    length, gravity = sorted(found["rows"][:2], key=lambda row: row["parameter"])
    assert (length["parameter"], gravity["parameter"]) == ("bob.com.z", "gravity.z")
    # A point mass swings by g / l alone: one percent of either does the same, to the solver's 1e-8.
    assert length["per_percent"] == pytest.approx(-gravity["per_percent"], rel=1e-5)
    # Its mass does nothing.
    assert len(found["rows"]) == 2


PRESSED = """
duration = "1 s"
initial = { disc.position = 1 }
bodies.disc = { mass = 1, inertia = [0.01, 0.01, 0.02] }
joints.disc = { kind = "revolute", parent = "ground", child = "disc", axis = [0, 0, 1] }
blocks.spring = { law = "spring", on = "disc", parameters = { stiffness = 2 } }
signals.deviation = { formula = "disc.position - 0.5" }
signals.deviation_smaller = { formula = "0.1 * disc.position" }
"""


def test_the_largest_deviation_is_looked_at_and_numbers_that_cannot_grow_are_named(invoke, tmp_path):
    (tmp_path / "disc.toml").write_text(PRESSED, encoding="utf-8")
    result = invoke("sensitivity", "disc.toml")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("rms of deviation: ")
    assert "spring.stiffness" in result.stdout
    # A flat disc has all the inertia about its axis that a body can have.
    message = "since 1 % more or less ends the run: disc.inertia.xx, disc.inertia.yy, disc.inertia.zz"
    assert message in " ".join(result.stderr.split())


def test_nothing_that_moves_is_refused_with_a_remedy(invoke, tmp_path):
    text = 'duration = 1\nblocks.goal = { law = "ramp_reference", parameters = { rate = 1 } }\n'
    (tmp_path / "still.toml").write_text(text, encoding="utf-8")
    result = invoke("sensitivity", "still.toml")
    assert result.exit_code == 2
    assert "name a signal" in result.stderr


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--parameters", "gravity.zz"), "no such number"),
        (("--parameters", ","), "matches no parameter"),
        (("--parameters", "gravity.z", "--measure", "end"), "must be final or max"),
        (("--parameters", "gravity.z", "--change", "100"), "below 100"),
        (("--parameters", "gravity.z", "--of", "hinge.positon"), "hinge.position"),
        (("--parameters", "gravity.z", "--plot", "rank.xyz"), "rank.xyz"),
    ],
)
def test_wrong_requests_end_with_a_sentence_and_exit_code_2(invoke, more, message):
    result = invoke(*CALL, *more)
    assert result.exit_code == 2
    assert message in result.stderr
