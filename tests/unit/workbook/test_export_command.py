"""Does `robodyn export --to xlsx` write what is asked for and say clearly what it cannot?"""

import openpyxl
import pytest
from typer.testing import CliRunner

from robodyn.cli import app


@pytest.fixture
def export(tmp_path, monkeypatch):
    """Callable arguments -> result of the command, run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, ["export", *map(str, arguments)])


def value_of(book, name):
    return book["parameters"][book.defined_names[name].attr_text.split("!")[1].replace("$", "")].value


def test_a_scenario_becomes_a_workbook(export, tmp_path):
    result = export("pendulum", "--to", "xlsx", "--solver", "heun", "--step", "0.01", "--rows", "20")
    assert result.exit_code == 0, result.output
    book = openpyxl.load_workbook(tmp_path / "pendulum.xlsx")
    assert book["run"].max_row == 23
    assert value_of(book, "h") == 0.01


def test_numbers_and_the_duration_can_be_set(export, tmp_path):
    arguments = (
        "--set",
        "bob.mass=3",
        "--set",
        "initial.hinge.position=90 deg",
        "--duration",
        "0.5",
        "--out",
        "p.xlsx",
    )
    result = export("pendulum", "--to", "xlsx", "--solver", "euler", "--step", "0.1", *arguments)
    assert result.exit_code == 0, result.output
    book = openpyxl.load_workbook(tmp_path / "p.xlsx")
    assert book["run"].max_row == 9
    assert value_of(book, "bob_mass") == 3
    assert value_of(book, "start_hinge_position") == pytest.approx(1.5707963267948966, rel=1e-15)


def test_tolerances_of_chosen_steps_can_be_set(export, tmp_path):
    result = export("pendulum", "--to", "xlsx", "--solver", "heun_euler", "--rtol", "1e-3", "--atol", "1e-4")
    assert result.exit_code == 0, result.output
    assert "first step 0.001 s" in result.output
    book = openpyxl.load_workbook(tmp_path / "pendulum.xlsx")
    assert (value_of(book, "rtol_step"), value_of(book, "atol_step")) == (1e-3, 1e-4)


def test_mechanism_numbers_can_be_kept_as_cells(export, tmp_path):
    arguments = ("--solver", "euler", "--step", "0.001", "--rows", "5", "--tunable", "*.mass")
    assert export("scara-ptp", "--to", "xlsx", *arguments).exit_code == 0
    assert value_of(openpyxl.load_workbook(tmp_path / "scara-ptp.xlsx"), "link2_mass") == 6.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("scara-ptp", "--to", "xlsx"), "choose euler or heun"),
        (("pendulum", "--to", "xlsx", "--solver", "euler", "--step", "1e-8"), "1,048,573"),
        (("pendulum", "--to", "xlsx", "--solver", "euler", "--rows", "5", "--duration", "1"), "give only one"),
        (("some.run", "--to", "xlsx"), "takes its scenario"),
        (("some.run", "--to", "csv", "--rows", "5"), "only for --to xlsx"),
        (("pendulum", "--to", "xlsx", "--solver", "euler", "--rtol", "1e-3"), "no effect on the fixed-step method"),
        (("pendulum", "--to", "xls"), "did you mean 'xlsx'"),
        (("pendulum", "--to", "xlsx", "--solver", "euler", "--out", "/proc/none/p.xlsx"), "cannot be written"),
    ],
)
def test_what_cannot_be_is_told_with_exit_code_2(export, arguments, said):
    result = export(*arguments)
    assert result.exit_code == 2
    assert said in result.output
