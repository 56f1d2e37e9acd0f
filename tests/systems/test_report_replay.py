"""Does the replay on the report page show the machine as it was simulated, in a real browser?"""

import base64
import io
import re
from functools import partial

import numpy as np
import pytest
from PIL import Image
from support.browser import PIXELS, show_pages
from support.report_pages import number, scrub, toggle, write_numbered

from robodyn import simulate
from robodyn.description.catalog import scara_ptp, swinging_arm
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    Distance,
    Joint,
    Machine,
    Mechanism,
    Point,
    Scenario,
    TriangleLength,
)

# Places of points show 3 decimals, lengths of struts 4.
PLACED, LONG = 6e-4, 6e-5


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
    page.click("summary[aria-label='What is shown']")
    page.click("#gif")
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
    page.wait("document.querySelector('#gif').textContent === 'Save as GIF'")
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


def test_another_runs_machine_can_be_chosen(show, scara, weak):
    page = show(scara, weak, labels=["strong", "weak"])
    scrub(page, 0.5)
    choose = "const list = document.querySelector('.run-choice select'); list.value = 1;"
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


def test_a_playing_replay_ends_at_the_end(show, scara):
    page = show(scara)
    scrub(page, 0.97)
    page.click("#play")
    page.wait("document.querySelector('#play').getAttribute('aria-label') === 'Play'")
    assert number(page.text("#clock")) == pytest.approx(scara.time[-1], abs=1e-4)
