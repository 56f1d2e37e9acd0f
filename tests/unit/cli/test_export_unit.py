"""robodyn export --to fmu."""

import shutil

import pytest

pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")


def test_a_unit_is_written_and_told(invoke, tmp_path):
    path = tmp_path / "unit.fmu"
    done = invoke("export", "pendulum", "--to", "fmu", "--fmi", "3", "--out", str(path), "--duration", "1")
    assert done.exit_code == 0, done.output
    assert "FMI 3.0" in done.output
    assert "differs from the simulation by" in done.output
    assert path.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--to", "fmu", "--rows", "3"), "--rows: no effect on --to fmu; only for --to xlsx"),
        (("--to", "xlsx", "--fmi", "3"), "--fmi: no effect on --to xlsx; only for --to fmu"),
        (("--to", "fmu", "--fmi", "4"), "fmi: must be 2 or 3, is 4"),
        (("--to", "fmu", "--platform", "win46"), "'win46' is unknown (did you mean 'win64'?)"),
        (("--to", "fmu", "--input", "hinge=x"), "--input hinge=x: must be written as name=number"),
        (("--to", "fmu", "--input", "hinge.force"), "inputs.hinge.force: cannot be an input"),
    ],
)
def test_what_is_wrong_is_told(invoke, arguments, sentence):
    done = invoke("export", "pendulum", *arguments)
    assert done.exit_code == 2
    assert sentence in done.output
