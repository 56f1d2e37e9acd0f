"""Are published studies found by the command line, and does a cheap part of each come out? `make test-studies` has all."""

import json

import pytest
from typer.testing import CliRunner

from robodyn.cli import app
from robodyn.studies import list_studies

PARTS = {
    "scara": "Task b: end times",
    "epaas": "Steps of the test rig",
    "constraints": "What the method adds to the pendulum",
    "rx90": "Loops",
    "cosimulation": "benchmark",
}


def test_every_study_has_a_part_here():
    assert [name for name, found in list_studies().items() if found.package == "robodyn-studies"] == list(PARTS)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_each_study_comes_out(name):
    done = CliRunner().invoke(app, ["reproduce", name, "--part", PARTS[name], "--json"])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout)
    assert len(figures) > 3
    assert all(PARTS[name] in figure["part"] and figure["ok"] for figure in figures)
