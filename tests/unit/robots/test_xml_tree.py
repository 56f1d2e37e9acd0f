"""XML of robot files has lines and bounds; nothing in it is fetched or expanded."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from support.robot_files import OWN, OWN_FILES, example_robots, walk_xml

from robodyn.base.errors import FlawList
from robodyn.base.plain import to_plain
from robodyn.base.untrusted import Unreadable
from robodyn.description.robots import import_robot
from robodyn.description.robots.xml_tree import (
    CHOICE,
    COLUMNS,
    CONVERTED,
    LONGEST,
    MOST_NESTED,
    READ,
    UNUSED,
    floats_of,
    parse_xml,
    read_floats,
)
from robodyn.presentation.reporting import display, to_page

LAUGHS = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]><robot>&c;</robot>'
OUTSIDE = '<!DOCTYPE a SYSTEM "file:///etc/passwd"><robot/>'


def test_elements_know_their_line_path_and_text():
    root = parse_xml('<robot name="r">\n <link name="a">\n  <mass>3 <!-- kg --></mass></link></robot>')
    mass = root.children[0].children[0]
    assert (mass.line, mass.path, mass.text.strip()) == (3, "robot[r]/link[a]/mass", "3")


@pytest.mark.parametrize("text", [LAUGHS, OUTSIDE])
def test_document_types_are_refused(text):
    with pytest.raises(Unreadable, match="document type in line 1"):
        parse_xml(text)


@pytest.mark.parametrize("text", ["", "name = 1", "<a>", "<a></b>", "<a b=1/>", "\0", "<a/><b/>", '<a b="1" b="2"/>'])
def test_what_is_no_xml_is_refused_with_its_place(text):
    with pytest.raises(Unreadable, match="is not XML: .*line 1"):
        parse_xml(text)


def test_nesting_has_a_bound():
    deep = "<a>" * (MOST_NESTED + 1) + "</a>" * (MOST_NESTED + 1)
    with pytest.raises(Unreadable, match="nested more than"):
        parse_xml(deep)


@pytest.mark.parametrize("text", ["1 2", "1 2 3 4", "1 2 x", "1 2 nan", "1 2 inf", "1 2 1_0", "1 2 1e999"])
def test_numbers_are_finite_and_as_many_as_asked_for(text):
    with pytest.raises(ValueError, match="number"):
        read_floats(text, 3)


def test_a_wrong_number_is_noted_with_its_line():
    flaws = FlawList()
    element = parse_xml('<axis\n xyz="1 two 3"/>')
    assert floats_of(element, "xyz", 3, (1.0, 0.0, 0.0), flaws) == [1.0, 0.0, 0.0]
    assert str(flaws.found[0]) == "line 1: axis@xyz: 'two' is not a finite number"


def test_dropping_leaves_what_has_a_column_already():
    root = parse_xml('<a b="1"><c d="2"/></a>')
    root.take("b")
    root.drop("for a reason")
    assert root.fates == {"": (READ, ""), "b": (READ, "")}
    assert root.children[0].fates == {"": (UNUSED, "for a reason"), "d": (UNUSED, "for a reason")}


# --------------------------------------------------------------------------------------------------
# The balance sheet adds up: what another parser finds in a file is in exactly one column each.


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
