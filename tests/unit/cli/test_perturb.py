"""Does robodyn perturb simulate near the nominal motion, compare and keep what it found?"""

import pytest

from robodyn import load

CALL = ("perturb", "two-link-loop", "--set", "duration=0.5", "--points", "50")


def test_a_run_is_kept_and_compared(invoke, read_json, tmp_path):
    result = invoke(*CALL, "--compare", "--json", "--signal", "tool.position.?", "--convergence", "10,50")
    assert result.exit_code == 0, result.output
    message = read_json(result.stdout)
    assert {row["signal"] for row in message["differences"]} == {f"tool.position.{axis}" for axis in "xyz"}
    # Half a second of a motion that deviates by less than 1 mrad.
    assert max(row["largest"] for row in message["differences"]) < 2e-6
    assert message["convergence"]["points"] == [10, 50]
    seconds = message["nonlinear_seconds"], message["perturbed_seconds"]
    assert message["speedup"] == pytest.approx(seconds[0] / seconds[1])
    assert message["statistics"]["extra"]["propagators"].startswith("none: the method rodas4")
    assert load(message["file"]).outcome.ok


def test_the_comparison_is_printed_with_both_times(invoke):
    result = invoke(*CALL, "--compare")
    assert result.exit_code == 0, result.output
    assert "difference from nonlinear" in result.stdout
    assert "times as fast (processor time, warm, best of several alternating runs)" in result.stdout
    assert "propagators: none: the method rodas4 chooses or composes its steps itself" in result.stdout


def test_the_nominal_motion_is_written_and_read_back(invoke, tmp_path):
    first = invoke(*CALL, "--nominal", "motion.npz")
    assert first.exit_code == 0, first.output
    assert (tmp_path / "motion.npz").exists()
    assert invoke(*CALL, "--nominal", "motion.npz").exit_code == 0
    finer = invoke(*CALL[:-1], "60", "--nominal", "motion.npz")
    assert finer.exit_code == 2
    assert "has 50; name another file" in finer.stderr
    foreign = invoke("perturb", "two-link-loop", "--nominal", "motion.npz")
    assert foreign.exit_code == 2
    assert "lasts 0.5 s, the scenario 2 s" in foreign.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("perturb", "pendulum"), "nominal: is missing"),
        ((*CALL, "--compare", "--signal", "tol.*"), "matches no signal"),
        ((*CALL, "--convergence", "10,x"), "must be whole numbers"),
        ((*CALL[:-1], "0"), "points: must be a whole number of at least 1"),
    ],
)
def test_what_cannot_be_done_is_told(invoke, arguments, message):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
