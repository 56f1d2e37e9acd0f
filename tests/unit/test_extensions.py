"""Is what other packages bring found by name, with its origin, and does one that is broken harm nobody?"""

import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from robodyn.base.errors import ModelError
from robodyn.base.extensions import collect
from robodyn.cli import app
from robodyn.description.catalog import SCENARIOS, find_scenario, list_scenarios
from robodyn.presentation.studies import INSTALL, find_study, list_studies

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_catalogue"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Callable (package, entry points, module text) -> a distribution on the path, as an installer leaves it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(name, points, text=""):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points)
        (tmp_path / f"{name}.py").write_text(text)

    return make


@pytest.fixture
def alone(monkeypatch):
    """No other package brings anything."""
    monkeypatch.setattr("robodyn.base.extensions.entry_points", lambda group: ())


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


GOOD = "from robodyn.description.catalog import pendulum\nSCENARIOS = {'swing': pendulum}\n"


def test_a_scenario_of_another_package_is_found_with_its_origin(install):
    install("swings", "[robodyn.scenarios]\nany = swings:SCENARIOS\n", GOOD)
    assert list_scenarios()["swing"].package == "swings"
    assert find_scenario("swing") == SCENARIOS["pendulum"]()
    assert "swing" in invoke("list").stdout
    assert invoke("check", "swing").exit_code == 0


@pytest.mark.parametrize(
    ("value", "text", "complaint"),
    [
        ("broken:SCENARIOS", "1 / 0", "cannot be loaded: ZeroDivisionError"),
        ("missing:SCENARIOS", "", "cannot be loaded: ModuleNotFoundError: No module named 'missing'"),
        ("broken:NOTHING", "", "cannot be loaded: AttributeError"),
        ("broken:SCENARIOS", "SCENARIOS = 3", "must be a mapping of names, is int"),
        ("broken:SCENARIOS", "SCENARIOS = {'a': 3}", "'a' is not a function that makes a scenario"),
        ("broken:SCENARIOS", "SCENARIOS = {'pendulum': print}", "'pendulum' is taken: robodyn has one of that name"),
    ],
)
def test_a_broken_package_is_warned_of_by_name_and_left_out(install, value, text, complaint):
    # Names of modules differ: Python loads each once.
    name = f"broken{abs(hash(complaint))}"
    install(name, f"[robodyn.scenarios]\nbad = {value.replace('broken', name)}\n", text)
    install("fine", "[robodyn.scenarios]\ngood = fine:SCENARIOS\n", GOOD.replace("swing", "fine-swing"))
    with pytest.warns(UserWarning, match=complaint) as message:
        found = list_scenarios()
    assert any(name in str(warning.message) and "robodyn.scenarios" in str(warning.message) for warning in message)
    assert "fine-swing" in found
    assert all(found[own].package == "robodyn" for own in SCENARIOS)
    sys.modules.pop("fine")


def test_a_scenario_that_cannot_be_made_does_not_hide_the_others(install):
    text = "def fail():\n    raise RuntimeError('no drawing')\nSCENARIOS = {'odd': fail, 'number': lambda: 3}\n"
    install("odd", "[robodyn.scenarios]\nodd = odd:SCENARIOS\n", text)
    assert {"odd", "number", "scara-ptp"} <= {line.split()[0] for line in invoke("list").stdout.splitlines()}
    with pytest.raises(ModelError, match="'odd' of odd cannot be built: RuntimeError: no drawing"):
        find_scenario("odd")
    with pytest.raises(ModelError, match="'number' of odd must be a scenario, is int"):
        find_scenario("number")


def test_the_library_s_own_scenarios_need_no_other_package(install):
    install("slow", "[robodyn.scenarios]\nslow = slow:SCENARIOS\n", "1 / 0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find_scenario("pendulum")


def test_what_is_missing_is_told_with_the_package_that_brings_it(alone):
    with pytest.raises(ModelError, match=r"there is no scenario 'rx90-weld' .*more come with robodyn-studies"):
        find_scenario("rx90-weld")
    for command in ("reproduce", "plot"):
        done = invoke(command, "scara")
        assert done.exit_code == 2
        assert INSTALL in done.stderr


def test_a_misspelt_study_is_told_the_nearest():
    with pytest.raises(ModelError, match="there is no study 'scra' .*did you mean 'scara'"):
        find_study("scra")
    assert list_studies()["scara"].package == "robodyn-studies"


def test_our_own_come_first(alone):
    assert {name: found.thing for name, found in collect("any", {"a": 1}, bool, "true").items()} == {"a": 1}


def test_the_example_of_a_catalogue_is_installed_found_and_reproduced(tmp_path, monkeypatch):
    pytest.importorskip("hatchling")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*install, "--target", str(tmp_path), str(EXAMPLE)], check=True, capture_output=True, text=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert "crane-load" in invoke("list").stdout
    assert invoke("run", "crane-load").exit_code == 0
    done = invoke("reproduce", "crane", "--page", "pages")
    assert done.exit_code == 0, done.output
    assert "published results: 1 reproduced" in done.stdout
    assert "The load of a crane swings on its rope" in Path("pages/crane.md").read_text()
