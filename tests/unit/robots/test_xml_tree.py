"""XML of robot files has lines and bounds; nothing in it is fetched or expanded."""

import pytest

from robodyn.base.errors import FlawList
from robodyn.base.untrusted import Unreadable
from robodyn.description.robots.xml_tree import MOST_NESTED, READ, UNUSED, floats_of, parse_xml, read_floats

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
    assert str(flaws.found[0]) == "line 1: axis@xyz: 'two' is no finite number"


def test_dropping_leaves_what_has_a_column_already():
    root = parse_xml('<a b="1"><c d="2"/></a>')
    root.take("b")
    root.drop("for a reason")
    assert root.fates == {"": (READ, ""), "b": (READ, "")}
    assert root.children[0].fates == {"": (UNUSED, "for a reason"), "d": (UNUSED, "for a reason")}
