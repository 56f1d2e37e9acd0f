"""Are published studies found, and does a cheap part of each come out? `make test-studies` has all."""

import json

import pytest
from typer.testing import CliRunner

from robodyn.cli import app
from robodyn.presentation.studies import list_studies

PARTS = {
    "scara": "Task b: the critical step",
    "epaas": "Steps of the test rig",
    "constraints": "What the method adds to the pendulum",
    "rx90": "The task",
    "cosimulation": "Beams",
}


def test_every_study_has_a_part_here():
    assert [name for name, found in list_studies().items() if found.package == "robodyn-studies"] == list(PARTS)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_each_study_comes_out(name):
    done = CliRunner().invoke(app, ["reproduce", name, "--part", PARTS[name], "--json"])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout)
    assert {figure["part"] for figure in figures} == {PARTS[name]}
    # The others are those that come out otherwise, or that nobody can reproduce.
    assert sum(figure["verdict"] not in ("different", "not reproducible") for figure in figures) > len(figures) / 2
    assert {figure["kind"] for figure in figures} <= {"published result", "input", "own check"}
