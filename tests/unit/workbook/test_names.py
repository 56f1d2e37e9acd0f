"""Are the names of cells valid, distinct and unlike anything else a spreadsheet reads?"""

import pytest

from robodyn.exchange.workbook.parameters import CellNames, make_name


@pytest.mark.parametrize(
    ("label", "name"),
    [("elbow.motor.gear", "elbow_motor_gear"), ("z-unit.mass", "z_unit_mass"), ("joint1.gain", "joint1_gain")],
)
def test_dots_and_dashes_become_underscores(label, name):
    assert make_name(label) == name


@pytest.mark.parametrize("label", ["A1", "xfd1048576", "R1C1", "r2c", "R", "c", "RC3", "sin", "Summe", "TRUE", "e"])
def test_what_reads_as_a_cell_a_function_or_a_truth_is_set_apart(label):
    assert make_name(label) == f"{label}_"


def test_a_name_starts_with_a_letter_or_underscore():
    assert make_name("3.gain") == "_3_gain"


def test_names_that_differ_by_case_or_punctuation_only_are_told_apart():
    names = CellNames()
    given = [names.give(label) for label in ("a.b", "a_b", "A-B", "a.b_2")]
    assert len({name.lower() for name in given}) == 4
    assert given[0] == "a_b"
