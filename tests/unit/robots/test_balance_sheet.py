"""The balance sheet adds up: what another parser finds in a file is in exactly one column each."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from support.robot_files import OWN, OWN_FILES, example_robots, walk_xml

from robodyn.base.plain import to_plain
from robodyn.description.robots import import_robot
from robodyn.description.robots.xml_tree import CHOICE, COLUMNS, CONVERTED, LONGEST, UNUSED
from robodyn.presentation.reporting import display, to_page

EXAMPLES = example_robots(".urdf", ".sdf")


def entry_key(entry):
    """Tag and attribute of an entry, and the attribute's value."""
    kind = entry.kind.rpartition("/")[2]
    return kind, entry.value if "@" in kind else None


def included(path):
    return [OWN / "arm_defaults.xml"] if path.name == "arm.xml" else []


@pytest.mark.parametrize("path", [*OWN_FILES, *EXAMPLES], ids=lambda path: path.name)
def test_the_columns_add_up_to_the_file(path):
    if path.name == "arm.xml":
        pytest.importorskip("mujoco")
    sheet = import_robot(path).sheet
    there = Counter(
        (key, value and value[:LONGEST]) for file in (path, *included(path)) for key, value in walk_xml(file)
    )
    assert Counter(map(entry_key, sheet.entries)) == there
    assert sum(sheet.counts.values()) == len(sheet.entries) == there.total()
    assert {entry.column for entry in sheet.entries} <= set(COLUMNS)
    assert all(entry.note for entry in sheet.entries if entry.column in (CONVERTED, CHOICE, UNUSED))


def test_lines_are_those_of_the_file():
    path = OWN / "arm.urdf"
    lines = path.read_text().splitlines()
    for entry in import_robot(path).sheet.entries:
        tag = entry_key(entry)[0].partition("@")[0]
        assert f"<{tag}" in lines[entry.line - 1]


def find(sheet, end):
    (entry,) = [entry for entry in sheet.entries if entry.path.endswith(end)]
    return entry


def test_each_kind_of_fate_has_its_column_and_reason():
    sheet = import_robot(OWN / "arm.urdf").sheet
    assert find(sheet, "joint[lift]/limit@lower").column == "read"
    assert find(sheet, "link[column]/inertial/inertia@ixx").note == "I = R I_file R^T [kg m^2], R of <origin>"
    assert find(sheet, "joint[turn]/axis@xyz").note == "axis / |axis|"
    assert find(sheet, "joint[reach]/limit@effort").column == "choice"
    assert "moves nothing that has inertia: it is fixed" in find(sheet, "joint[wheel]@type").note
    assert "there is no such file" in find(sheet, "link[hand]/visual/geometry/mesh@filename").note
    assert find(sheet, "collision/geometry/sphere@radius").column == "read"
    assert find(sheet, "actuator[motor]/mechanicalReduction").column == "not used"


def test_the_report_has_the_sums_and_every_choice():
    sheet = import_robot(OWN / "arm.urdf").sheet
    text = sheet.text()
    assert f"{len(sheet.entries)} elements and attributes" in text
    assert all(f"{count:>6}" in text for count in sheet.counts.values())
    assert all(entry.note in text for entry in sheet.entries)


def test_the_sheet_is_json_and_a_page():
    sheet = import_robot(OWN / "crane.sdf").sheet
    plain = to_plain(sheet)
    assert json.loads(json.dumps(plain)) == plain
    assert plain["counts"]["entries"] == len(plain["entries"])
    page = to_page(display(sheet))
    assert page.count("<tr data-kind=") == len(plain["entries"])
    assert page.count('type="checkbox"') == sum(count > 0 for count in sheet.counts.values())
    assert "<script>alert" not in to_page(display(replace(sheet, source="<script>alert(1)</script>")))
