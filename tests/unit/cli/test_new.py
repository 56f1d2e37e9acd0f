"""Does new write scenarios that run as they are, and never overwrite one?"""

import math

import pytest

from robodyn import load
from robodyn.description.files.starters import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_scenario_runs_as_written(invoke, tmp_path, kind):
    done = invoke("new", "mine", "--kind", kind)
    assert done.exit_code == 0, done.output
    assert "robodyn run mine.toml" in (tmp_path / "mine.toml").read_text(encoding="utf-8")
    done = invoke("run", "mine.toml", "--record-tolerance", "0")
    assert done.exit_code == 0, done.output
    assert "warning" not in done.output
    run = load(tmp_path / "out" / "mine.run")
    if kind == "arm":
        # It starts at 60 and 90 degrees from the vertical, links of 0.4 and 0.3 m.
        assert run["reach"].values[0] == pytest.approx(math.hypot(0.4 * math.sin(math.pi / 3) + 0.3, 0.2), rel=1e-12)
    else:
        signal, target, tolerance = {
            "cart": ("rail.position", 0.4, 2e-3),
            "drive": ("shaft.position", 4 * math.pi, 0.01),
        }[kind]
        assert run[signal].final == pytest.approx(target, abs=tolerance)


def test_no_file_is_overwritten(invoke, tmp_path):
    (tmp_path / "mine.toml").write_text("precious")
    done = invoke("new", "mine.toml")
    assert done.exit_code == 2
    assert "already exists" in done.output
    assert (tmp_path / "mine.toml").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["x", "--kind", "cat"], "did you mean 'cart'?"),
        ([], "name the scenario"),
        (["nowhere/x"], "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_told(invoke, arguments, complaint):
    done = invoke("new", *arguments)
    assert done.exit_code == 2
    assert complaint in done.output


def test_the_kinds_are_listed(invoke):
    done = invoke("new", "--list")
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.output.splitlines()] == list(KINDS)
