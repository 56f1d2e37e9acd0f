"""Do objects show themselves in notebooks: short as text, with tables and pictures as HTML, names never as markup?"""

import base64
import hashlib
import re

import numpy as np
import pytest

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.computation.results import Run, Signal, compare
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import find_scenario
from robodyn.description.robots.xml_tree import BalanceEntry, BalanceSheet
from robodyn.presentation.pages import make_page, read_note
from robodyn.presentation.reporting.displays import (
    Display,
    DisplayFigure,
    Table,
    describe,
    display,
    table_lines,
    to_html,
    to_page,
    to_section,
)

HOSTILE = "<img src=x onerror=alert(1)>\"'&"


@pytest.fixture(scope="module")
def run():
    return simulate(find_scenario("pendulum"))


def test_text_is_short_and_html_has_tables_and_pictures(run):
    scenario = find_scenario("pendulum")
    shown = [
        scenario,
        scenario.machine,
        run,
        run["hinge.position"],
        compare(run, run),
        LinearModel(np.diag([-1.0, -2.0])),
    ]
    for found in shown:
        assert len(repr(found)) < 200
        html = found._repr_html_()
        assert "<table" in html
        assert ("data:image/png" in html) == (found in shown[2:4] + shown[5:])


def test_names_are_text_wherever_they_stand(run):
    signal = Signal(HOSTILE, HOSTILE, np.arange(3.0), np.arange(3.0), note=HOSTILE)
    html = signal._repr_html_()
    assert "<img src=x" not in html
    assert "&lt;img src=x" in html
    assert "<img src=x" not in to_html(Display(HOSTILE, (HOSTILE, Table((HOSTILE,), [[HOSTILE]])), (HOSTILE,)))
    page = make_page(run, labels=[HOSTILE], sections=[read_note(f"# {HOSTILE}\n\n{HOSTILE}")])
    assert "<img src=x" not in page
    frame = run.show(labels=[HOSTILE])._repr_html_()
    assert frame.count("<") == 2  # the frame's own tags: all of the page is text of its attribute
    assert "allow-same-origin" not in frame


def test_figures_appear_without_pyplot(run):
    for figure in (run.plot("*.velocity"), run["hinge.position"].plot()):
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_runs_become_tables_of_other_libraries(run):
    frame, dataset = run.to_pandas(), run.to_xarray()
    assert list(frame.columns) == list(run.names)
    np.testing.assert_array_equal(frame["hinge.position"].to_numpy(), run["hinge.position"].values)
    np.testing.assert_array_equal(dataset["hinge.position"].values, run["hinge.position"].values)
    assert dataset["hinge.position"].attrs["units"] == "rad"


def test_a_table_says_how_much_it_leaves_out():
    many = Display("many", (Table(("k",), [[k] for k in range(50)], most=40),))
    section = to_section(many)
    assert (len(section["tables"][0]["rows"]), section["tables"][0]["more"]) == (40, 10)
    assert "and 10 more" in to_html(many)


def test_an_empty_run_is_shown_too(run):
    empty = Run(np.zeros(0), np.zeros((0, len(run.infos))), run.infos, run.outcome, run.provenance)
    assert "Run of pendulum" in empty._repr_html_()


def test_a_note_is_headings_paragraphs_lists_and_code():
    prose = read_note("# Head\n\nOne\ntwo.\n- a\n- b\n  c\n\n```\nx < 1\n```\n")["prose"]
    assert [block["kind"] for block in prose] == ["heading", "paragraph", "list", "code"]
    assert prose[1]["text"] == "One two."
    assert prose[2]["items"] == ["a", "b c"]
    assert prose[3]["text"] == "x < 1"


def test_signals_that_are_not_there_are_refused(run):
    assert '"selected":["hinge.velocity"]' in make_page(run, signals=["*.velocity"])
    with pytest.raises(ValueError, match=r"no signal matches 'hinge.velocty' \(did you mean 'hinge.velocity'\?\)"):
        make_page(run, signals=["hinge.velocty"])


def test_a_machine_lists_joints_and_blocks():
    joints, blocks = display(find_scenario("scara-ptp").machine).tables
    assert {"shoulder", "elbow", "lift"} <= {row[0] for row in joints.rows}
    assert "shoulder.control" in [row[0] for row in blocks.rows]


def test_a_page_may_run_its_own_script_and_no_other():
    page = to_page(display(BalanceSheet(HOSTILE, (BalanceEntry(1, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE),))))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "<img src=x" not in page


def test_the_shell_gets_the_same_table_in_columns():
    rows = [("shoulder", 1.5, True, None), ("elbow", float("nan"), False, -0.0)]
    lines = describe(Display("two", ("A sentence.", Table(("joint", "x [m]", "ok", "y"), rows, ".3f")))).splitlines()
    assert lines[0] == "A sentence."
    assert [line.split() for line in lines[1:]] == [
        ["joint", "x", "[m]", "ok", "y"],
        ["shoulder", "1.500", "yes", "-"],
        ["elbow", "-", "no", "0.000"],
    ]
    assert len({line.index("x [m]") + 5 for line in lines[1:2]} | {lines[2].index("1.500") + 5}) == 1


def test_a_picture_that_cannot_be_drawn_is_a_sentence():
    def fail():
        raise ValueError("no mode oscillates & moves")

    shown = Display("modes", (DisplayFigure("shapes", fail),))
    assert "no picture: no mode oscillates &amp; moves" in to_html(shown)
    assert "<img" not in to_page(shown)


def test_what_nobody_shows_is_refused():
    with pytest.raises(TypeError, match="no display is defined for complex"):
        display(1j)


def test_a_class_of_the_same_name_in_another_package_is_not_taken_for_it(run):
    other = type("Comparison", (), {})()
    assert "signals compared" in display(compare(run, run)).heading
    with pytest.raises(TypeError, match="no display is defined for Comparison"):
        display(other)


def test_no_line_of_a_wide_table_is_wider_than_the_terminal():
    heads = ("name", *(f"quantity {k} [N m]" for k in range(12)), "source")
    rows = [("axis1.position_loop.command", *(10.0**k for k in range(12)), "a rule of thumb, see github.com/a/b_c")] * 2
    for width in (60, 80, 120):
        lines = table_lines(Table(heads, rows), width)
        assert max(map(len, lines)) <= width
        # Every block of columns begins with the name, which is broken at its dots.
        assert sum(line.startswith("name") for line in lines) == sum(line == "" for line in lines) + 1
