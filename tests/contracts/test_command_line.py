"""The command line keeps its word: every command is listed, explained by an example, and speaks JSON."""

import json

import jsonschema
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from robodyn.base.plain import schema_of
from robodyn.cli import app
from robodyn.cli.application import command_groups, command_names, examples_of
from robodyn.cli.command import RETURNED, Failure, output_schema

# They print a text, a schema or serve a page.
WITHOUT_JSON = {"guide", "schema", "studio"}
WIDTH = 80
GROUP = get_command(app)
COMMANDS = command_names()


def options_of(command):
    return [option for parameter in GROUP.get_command(None, command).params for option in parameter.opts]


def test_help_lists_every_command_with_its_group_on_lines_that_fit():
    printed = CliRunner().invoke(app, ["--help"]).stdout
    lines = printed.splitlines()
    assert all(f"{title}:" in lines for title in command_groups())
    assert all(any(line.split()[:1] == [name] for line in lines) for name in COMMANDS)
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_an_example_and_json_with_a_schema(command):
    assert examples_of(command)
    if command not in WITHOUT_JSON:
        assert "--json" in options_of(command)
        assert command in RETURNED
        jsonschema.Draft202012Validator.check_schema(output_schema(command))


def test_help_of_a_command_shows_its_examples_as_they_are_typed():
    printed = CliRunner().invoke(app, ["circle", "--help"]).stdout
    (example,) = examples_of("circle")
    assert example in [line.strip() for line in printed.splitlines()]


def test_version_is_printed():
    from importlib.metadata import version

    assert CliRunner().invoke(app, ["--version"]).stdout == f"robodyn {version('robodyn')}\n"


@pytest.mark.parametrize(
    ("arguments", "place", "what"),
    [
        (["check", "missing.toml"], "", "there is no file 'missing.toml'"),
        (["run", "pendulum", "--set", "bob.mas=1"], "--set bob.mas=1", "there is no number 'bob.mas'"),
        (["plot", "missing.run"], "", "there is neither a run file nor a study"),
        (["show", "x.run", "--sgnal", "x"], "", "No such option: --sgnal"),
    ],
)
def test_bad_input_is_json_where_json_is_asked_for(tmp_path, monkeypatch, arguments, place, what):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 2
    printed = json.loads(result.stdout)
    jsonschema.validate(printed, schema_of(Failure))
    (problem,) = printed["error"]["problems"]
    assert problem["place"] == place
    assert what in problem["what"]
    assert what in result.stderr


def test_shells_complete_commands():
    result = CliRunner().invoke(
        app, [], env={"_ROBODYN_COMPLETE": "complete_bash", "COMP_WORDS": "robodyn ide", "COMP_CWORD": "1"},
        prog_name="robodyn",
    )  # fmt: skip
    assert result.stdout.split() == ["identify"]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_reports_progress_by_the_one_progress_line(command, monkeypatch):
    entered = []

    class Recorded(Exception):
        """The line was begun."""

    def begin(what, **how):
        entered.append((what, how))
        raise Recorded

    monkeypatch.setattr("robodyn.cli.command.WaitingLine", begin)
    wanted = [p for p in GROUP.get_command(None, command).params if p.required]
    values = [word for p in wanted for word in ([*p.opts[:1], "1"] if p.param_type_name == "option" else ["1"])]
    result = CliRunner().invoke(app, [command, *values])
    assert isinstance(result.exception, Recorded)
    assert entered == [("", {"transient": True})]
