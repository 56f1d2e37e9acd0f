"""Does the report page work in a real browser: read, plot, replay, compare, by mouse, keys and on a phone?"""

import base64
import io
import re
from functools import partial

import numpy as np
import pytest
from PIL import Image
from support.browser import PIXELS, open_browser, show_pages

from robodyn import Run, simulate
from robodyn.catalog import scara_ptp, swinging_arm
from robodyn.model import GROUND, Block, Body, Distance, Joint, Machine, Mechanism, Point, Scenario, TriangleLength
from robodyn.results import Outcome, OutcomeKind, Provenance, SignalInfo
from robodyn.studio import write_report

EVIL = """</script><img src=x onerror="window.broken=1">'"&"""
FIRST = "#panels .panel:nth-of-type(1)"
LINES, OVER = f"{FIRST} canvas:not(.over)", f"{FIRST} canvas.over"
# Read-outs show 6 digits, places of points 3 decimals.
SHOWN, PLACED = 1e-5, 6e-4
# Lengths of struts show 4 decimals.
LONG = 6e-5


@pytest.fixture(scope="module")
def phone(tmp_path_factory):
    metrics = {"width": 360, "height": 740, "pixelRatio": 2, "touch": True}
    with open_browser(tmp_path_factory.mktemp("phone"), mobileEmulation={"deviceMetrics": metrics}) as browser:
        yield browser


@pytest.fixture(scope="module")
def scara():
    return simulate(scara_ptp())


@pytest.fixture(scope="module")
def weak():
    """The same motion with a weaker shoulder."""
    return simulate(scara_ptp().with_numbers({"shoulder.control.limit": 30.0}))


@pytest.fixture(scope="module")
def digger():
    """An arm on two cylinders: one between points, one beside its elbow, its arm not perpendicular to the hinge."""
    bodies = (Body("boom", 4.0, com=(0.4, 0, 0)), Body("stick", 2.0, com=(0.3, 0, 0)))
    level = {"axis": (0, -1, 0)}
    joints = (
        Joint("boom", "revolute", GROUND, "boom", origin=(0, 0, 0.3), **level),
        Joint("stick", "revolute", "boom", "stick", origin=(0.8, 0, 0), **level),
    )
    points = (Point("foot", GROUND, (0.25, 0, 0.05)), Point("lug", "boom", (0.45, 0, -0.06)))
    points += (Point("elbow", "boom", (0.8, 0, 0)),)
    place = {"at": "elbow", "arm": (-1, 0.5, 0.25), "axis": (0, -2, 0)}
    struts = (
        Distance("lift", "foot", "lug"),
        TriangleLength("crowd", {"stick": 1.0}, (0.2, 0.55), offset=3.0, **place),
    )
    stiff = {"stiffness": 30e3, "damping": 300.0}
    springs = [
        Block(f"{strut.name}_oil", "spring", on=strut.name, parameters=stiff | {"rest": 0.5}) for strut in struts
    ]
    machine = Machine("digger", Mechanism("digger", bodies, joints, points), springs, struts)
    return simulate(Scenario("digger", machine, 1.0, initial={"boom.position": 0.6, "stick.position": -1.4}))


@pytest.fixture
def show(browser, tmp_path):
    """Callable runs -> the browser with their page; no page may complain or ask for anything but itself."""
    yield from show_pages(browser, partial(write_numbered, tmp_path))


@pytest.fixture
def draw(artist, tmp_path):
    """The same with a picture of the machine."""
    yield from show_pages(artist, partial(write_numbered, tmp_path))


def write_numbered(folder, number, *runs, **options):
    return write_report(runs, folder / f"report{number}.html", **options)


def number(text):
    return float(text.replace("−", "-").split()[0])


def scrub(browser, share):
    """Drag the time slider to a share of the run; the time it shows."""
    script = "const s = arguments[0], e = document.querySelector('#scrub');"
    browser.run(script + "e.value = 1000 * s; e.dispatchEvent(new Event('input'))", share)
    return number(browser.text("#clock"))


def readouts(browser):
    """Values shown beside the names of the plotted signals, by name, one for each run."""
    script = """
        return [...document.querySelectorAll('.legend li')].map((row) => [row.querySelector('.name').textContent,
            [...row.querySelectorAll('.value')].map((value) => value.textContent)]);"""
    return {name: [number(text) for text in texts] for name, texts in browser.run(script)}


def place_of(browser, point):
    """Where the replay says a point is [m]."""
    found = re.search(rf"{point} at \((.*?)\)", browser.text(".caption"))
    return np.array([number(part) for part in found[1].split(",")])


def length_of(browser, strut):
    """How long the replay says a strut is [m]."""
    return float(re.search(rf"{strut} ([\d.]+) m long", browser.text(".caption"))[1])


def pixels_like(browser, *colours):
    """How many pixels of the machine have each colour of the style sheet, in any light."""
    script = """
        const style = getComputedStyle(document.documentElement);
        return arguments[1].map((name) => {
            const wanted = style.getPropertyValue(`--${name}`).trim();
            const rgb = [1, 3, 5].map((k) => parseInt(wanted.slice(k, k + 2), 16));
            let count = 0;
            for (let k = 0; k < data.length; k += 4) {
                const light = data[k] / rgb[0];
                const near = [1, 2].every((c) => Math.abs(data[k + c] - light * rgb[c]) < 3);
                count += data[k + 3] === 255 && light > 0.5 && light < 1.05 && near;
            }
            return count;
        });"""
    return browser.run(PIXELS + script, "#machine", list(colours))


def toggle(browser, text):
    script = "[...document.querySelectorAll('#replay-tools label')].find((l) => l.textContent === arguments[0]).click()"
    browser.run(script, text)


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
    assert "This browser cannot draw in space" in page.text("#stage")


def test_time_and_hand_move_the_picture_of_the_machine(draw, scara):
    page = draw(scara)
    assert page.colours("#machine") > 50
    # Of 200,000 pixels; edges of other parts may mix to such a colour at random.
    assert pixels_like(page, "barrel")[0] < 1000
    pictures = [page.picture("#machine")]
    scrub(page, 0.4)
    pictures.append(page.picture("#machine"))
    page.point("#machine", (0.5, 0.5), "down", (0.6, 0.45), "up")
    pictures.append(page.picture("#machine"))
    page.turn_wheel("#machine", 200)
    pictures.append(page.picture("#machine"))
    assert len(set(pictures)) == 4


def saved_gif(page):
    """What the page hands to the reader as a file, 4 pictures or so of a second."""
    page.run("document.querySelector('footer select').value = 5")
    page.run("document.querySelector('footer select').dispatchEvent(new Event('change'))")
    page.run(
        "const make = URL.createObjectURL; URL.createObjectURL = (blob) => { window.saved = blob; return make(blob); }"
    )
    page.click("button[aria-label^='Save the replay']")
    page.wait("window.saved")
    page.run("saved.arrayBuffer().then((all) => (window.bytes = [...new Uint8Array(all)]))")
    page.wait("window.bytes")
    return Image.open(io.BytesIO(bytes(page.run("return window.bytes"))))


def test_a_replay_is_saved_as_an_animated_gif(draw, digger):
    page = draw(digger)
    shown = page.picture("#machine")
    gif = saved_gif(page)
    assert gif.n_frames == 4
    assert gif.info["loop"] == 0
    pictures = []
    for k in range(4):
        gif.seek(k)
        pictures.append(np.array(gif.convert("RGB"), float))
    page.wait("document.querySelector('#replay-tools button:last-child').textContent === 'GIF'")
    assert page.picture("#machine") == shown
    # The first picture is what the page shows at the start, to the colours of a GIF (steps of 8 of 255, the 256 most
    # frequent ones), on the card's white.
    alone = np.array(Image.open(io.BytesIO(base64.b64decode(shown.partition(",")[2]))), float)
    seen = alone[..., :3] * alone[..., 3:] / 255 + 255 - alone[..., 3:]
    assert pictures[0].shape == seen.shape
    assert np.mean(np.abs(pictures[0] - seen).max(axis=2) < 24) > 0.95
    assert all(np.mean(np.abs(one - pictures[0]).max(axis=2) > 24) > 0.003 for one in pictures[1:])


def test_cylinders_have_barrels_and_rods_also_beside_another_run(draw, digger):
    page = draw(digger, digger, labels=["one", "other"])
    both, names = page.picture("#machine"), page.picture("#marks")
    toggle(page, "others")
    barrel, rod = pixels_like(page, "barrel", "rod")
    assert barrel > 1000
    assert rod > 100
    assert page.picture("#machine") != both
    toggle(page, "names")
    assert page.picture("#marks") != names


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
        assert value == pytest.approx(scara[name](exact), rel=SHOWN, abs=1e-9)


@pytest.mark.parametrize("make", [scara_ptp, swinging_arm])
def test_the_drawn_tool_is_where_the_simulation_says(show, make):
    run = simulate(make(duration=3.0))
    page = show(run)
    for share in (0.0, 0.31, 0.77, 1.0):
        scrub(page, share)
        exact = [run[f"tool.position.{axis}"](share * run.time[-1]) for axis in "xyz"]
        assert place_of(page, "tool") == pytest.approx(exact, abs=PLACED)


def test_drawn_cylinders_are_as_long_as_the_simulation_says(show, digger):
    page = show(digger)
    lengths = {"lift": set(), "crowd": set()}
    for share in (0.0, 0.04, 0.13, 1.0):
        scrub(page, share)
        for name, shown in lengths.items():
            exact = digger[f"{name}.position"](share * digger.time[-1])
            shown.add(length_of(page, name))
            assert length_of(page, name) == pytest.approx(exact, abs=LONG)
    assert all(len(shown) > 2 for shown in lengths.values())


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


def test_another_runs_machine_can_be_chosen(show, scara, weak):
    page = show(scara, weak, labels=["strong", "weak"])
    scrub(page, 0.5)
    choose = "const list = document.querySelector('#replay-tools select'); list.value = 1;"
    page.run(choose + "list.dispatchEvent(new Event('change'))")
    time = 0.5 * max(scara.time[-1], weak.time[-1])
    assert place_of(page, "tool")[0] == pytest.approx(weak["tool.position.x"](time), abs=PLACED)


def test_keys_play_and_step(show, scara):
    page = show(scara)
    page.press("Right", "Right", "Left")
    assert number(page.text("#clock")) == pytest.approx(scara.time[-1] / 200, abs=1e-4)
    page.press("End")
    assert number(page.text("#clock")) == pytest.approx(scara.time[-1], abs=1e-4)
    page.press("Home", " ")
    page.wait("parseFloat(document.querySelector('#clock').textContent) > 0")
    assert page.run("return document.querySelector('#play').getAttribute('aria-label')") == "Pause"
    page.press(" ")
    stopped = page.text("#clock")
    page.press("Tab")
    assert page.text("#clock") == stopped


def test_every_control_is_reached_by_tab_and_has_a_name(show, scara):
    page = show(scara)
    nameless = """
        return [...document.querySelectorAll('button, input, select, canvas[tabindex]')].filter((element) =>
            !(element.getAttribute('aria-label') || element.labels?.length)).map((element) => element.outerHTML)"""
    assert page.run(nameless) == []
    assert page.run("return [...document.querySelectorAll('[tabindex]')].every((e) => e.tabIndex === 0)")


def test_a_playing_replay_ends_at_the_end(show, scara):
    page = show(scara)
    scrub(page, 0.97)
    page.click("#play")
    page.wait("document.querySelector('#play').getAttribute('aria-label') === 'Play'")
    assert number(page.text("#clock")) == pytest.approx(scara.time[-1], abs=1e-4)


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
    assert "50,000 rows were thinned to 20,000" in page.text("#summary")
    assert page.colours(LINES) > 10


@pytest.mark.parametrize("several", [False, True])
def test_the_page_fits_a_phone(phone, tmp_path, scara, weak, several):
    runs = [scara, weak] if several else [scara]
    phone.open(write_report(runs, tmp_path / "phone.html").as_uri())
    phone.run("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    assert phone.run("return innerWidth") == 360
    assert phone.run("return document.documentElement.scrollWidth") == 360
    assert phone.errors() == []
