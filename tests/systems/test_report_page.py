"""Does the report page work in a real browser: read, plot, compare, by mouse, keys and on a phone?"""

from functools import partial

import numpy as np
import pytest
from support.browser import open_browser, show_pages
from support.report_pages import number, scrub, write_numbered

from robodyn import Run
from robodyn.base.units import parse_unit
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, SignalInfo
from robodyn.presentation.pages import write_report

EVIL = """</script><img src=x onerror="window.broken=1">'"&"""
FIRST = "#panels .panel:nth-of-type(1)"
LINES, OVER = f"{FIRST} canvas:not(.over)", f"{FIRST} canvas.over"
# Read-outs show 6 digits.
SHOWN = 1e-5


@pytest.fixture(scope="module")
def phone(tmp_path_factory):
    metrics = {"width": 360, "height": 740, "pixelRatio": 2, "touch": True}
    with open_browser(tmp_path_factory.mktemp("phone"), mobileEmulation={"deviceMetrics": metrics}) as browser:
        yield browser


@pytest.fixture
def show(browser, tmp_path):
    """Callable runs -> the browser with their page; no page may complain or ask for anything but itself."""
    yield from show_pages(browser, partial(write_numbered, tmp_path))


def readouts(browser):
    """Values in SI of what is shown beside the names of the plotted signals, by name, one for each run."""
    script = """
        return [...document.querySelectorAll('.legend li')].map((row) => [row.querySelector('.name').textContent,
            row.closest('.panel').dataset.shown,
            [...row.querySelectorAll('.value')].map((value) => value.textContent)]);"""
    rows = browser.run(script)
    return {name: [number(text) * parse_unit(unit or "1").factor for text in texts] for name, unit, texts in rows}


def pick(browser, name):
    browser.run("document.querySelector('#signal-picker').open = true")
    browser.click(f"label[data-name='{name}'] input")


def test_plots_are_drawn(show, scara):
    page = show(scara)
    panels = page.run("return document.querySelectorAll('.panel').length")
    assert panels == 4
    for k in range(panels):
        # Grid, letters and lines: an empty canvas has one colour.
        assert page.colours(f"#panels .panel:nth-of-type({k + 1}) canvas:not(.over)") > 10
    assert "No 3-D picture: this browser" in page.text("#stage")


def test_summary_events_parameters_and_provenance_are_told(show, scara):
    page = show(scara)
    assert scara.outcome.sentence in page.text("#summary")
    assert str(scara.statistics.steps) in page.text("#summary")
    assert all(event.name in page.text("#events") for event in scara.events)
    assert "shoulder.motor.resistance" in page.text("#parameters")
    assert scara.provenance.digest in page.text("#provenance")


def test_scrubbing_moves_the_arm_and_the_readouts(show, scara):
    page = show(scara)
    marks = page.picture(OVER)
    time = scrub(page, 0.4)
    assert time == pytest.approx(0.4 * scara.time[-1], abs=1e-4)
    assert page.picture(OVER) != marks
    exact = 0.4 * scara.time[-1]
    for name, (value,) in readouts(page).items():
        # Columns are rounded to a millionth of their usual range.
        assert value == pytest.approx(scara[name](exact), rel=SHOWN, abs=3e-6 * scara[name].peak)


def test_picking_a_signal_changes_the_plot(show, scara):
    page = show(scara)
    before = page.picture(LINES)
    pick(page, "shoulder.target.value")
    assert "shoulder.target.value" in readouts(page)
    assert page.picture(LINES) != before
    page.click("button[aria-label='Remove shoulder.target.value']")
    assert page.picture(LINES) == before


def test_a_signal_of_another_unit_gets_its_own_panel(show, scara):
    page = show(scara)
    page.run("document.querySelector('#signal-picker').open = true")
    page.type("#picker input[type=search]", "lift current")
    visible = "return [...document.querySelectorAll('.signal-list label')].filter(l => l.offsetParent).length"
    # lift.motor.current and current_dot
    assert page.run(visible) == 2
    pick(page, "lift.motor.current")
    assert page.run("return document.querySelectorAll('.panel').length") == 5


def test_dragging_enlarges_and_a_double_click_shows_all_again(show, scara):
    page = show(scara)
    whole = page.picture(LINES)
    page.point(OVER, (0.3, 0.5), "down", (0.5, 0.5), (0.6, 0.5), "up")
    enlarged = page.picture(LINES)
    assert enlarged != whole
    page.point(OVER, (0.5, 0.5), "down", "up", "down", "up")
    assert page.picture(LINES) == whole
    page.turn_wheel(OVER, -300)
    assert page.picture(LINES) not in (whole, enlarged)


def test_a_click_in_a_plot_goes_to_that_time(show, scara):
    page = show(scara)
    page.point(OVER, (0.5, 0.5), "down", "up")
    assert 0.4 * scara.time[-1] < number(page.text("#clock")) < 0.6 * scara.time[-1]


def test_a_click_on_an_event_goes_to_its_time(show, scara):
    page = show(scara)
    page.click("a[href='#fold-events']")
    page.click("#events tbody tr:nth-child(1) button")
    assert number(page.text("#clock")) == pytest.approx(scara.events[0].time, abs=1e-4)


def test_two_runs_are_overlaid_and_can_be_hidden(show, scara, weak):
    page = show(scara, weak, labels=["strong", "weak"])
    both = page.picture(LINES)
    time = 0.5 * max(scara.time[-1], weak.time[-1])
    scrub(page, 0.5)
    strong, slow = readouts(page)["shoulder.position"]
    assert strong == pytest.approx(scara["shoulder.position"](time), rel=SHOWN)
    assert slow == pytest.approx(weak["shoulder.position"](time), rel=SHOWN)
    page.click("#plot-tools label.run:nth-of-type(2) input")
    assert page.picture(LINES) != both
    assert len(readouts(page)["shoulder.position"]) == 1
    differing = "return [...document.querySelectorAll('tr.differs td:first-child')].map((cell) => cell.textContent)"
    assert page.run(differing) == ["shoulder.control.limit"]


def test_every_control_is_reached_by_tab_and_has_a_name(show, scara):
    page = show(scara)
    nameless = """
        return [...document.querySelectorAll('button, input, select, canvas[tabindex]')].filter((element) =>
            !(element.getAttribute('aria-label') || element.labels?.length || /\\w/.test(element.textContent)))
            .map((element) => element.outerHTML)"""
    assert page.run(nameless) == []
    assert page.run("return [...document.querySelectorAll('[tabindex]')].every((e) => e.tabIndex === 0)")


def measured(names, time, values):
    outcome = Outcome(OutcomeKind.FINISHED, EVIL, 1.0)
    infos = tuple(SignalInfo(name, EVIL) for name in names)
    return Run(time, values, infos, outcome, Provenance(EVIL, parameters={EVIL: {"value": 1.0, "unit": EVIL}}))


def test_names_that_look_like_markup_are_shown_as_they_are(show):
    time = np.linspace(0.0, 1.0, 50)
    page = show(measured([EVIL], time, np.sin(9 * time)[:, None]))
    assert page.text("h1") == EVIL
    assert EVIL in page.text("#picker")
    assert EVIL in page.text("#parameters")
    assert page.run("return document.querySelectorAll('img').length") == 0
    assert not page.run("return window.broken")


def test_data_without_a_machine_has_plots_and_no_replay(show):
    time = np.linspace(0.0, 1.0, 50)
    page = show(measured(["force"], time, np.sin(9 * time)[:, None]))
    assert page.colours(LINES) > 10
    assert page.run("return document.querySelector('#machine')") is None
    assert "no description of a mechanism" in page.text("#replay")


@pytest.mark.parametrize(
    "values", [np.empty((0, 1)), np.ones((1, 1)), np.full((3, 1), np.nan), np.array([[np.inf], [1.0], [2.0]])]
)
def test_odd_records_do_not_break_the_page(show, values):
    page = show(measured(["force"], np.arange(float(len(values))), values))
    assert "force" in page.text("#picker")
    page.press("Right", "End")


def test_a_thinned_run_says_so(show):
    time = np.linspace(0.0, 1.0, 50_000)
    page = show(measured(["force"], time, np.sin(9000 * time)[:, None]))
    assert "50,000 rows were thinned to 10,000" in page.text("#summary")
    assert page.colours(LINES) > 10


@pytest.mark.parametrize("several", [False, True])
def test_the_page_fits_a_phone(phone, tmp_path, scara, weak, several):
    runs = [scara, weak] if several else [scara]
    phone.open(write_report(runs, tmp_path / "phone.html").as_uri())
    phone.run("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    assert phone.run("return innerWidth") == 360
    assert phone.run("return document.documentElement.scrollWidth") == 360
    assert phone.errors() == []
