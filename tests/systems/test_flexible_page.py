"""Do pages in a real browser bend flexible bodies as the model does, exaggerate them, and swing in modes?"""

import dataclasses
import re

import numpy as np
import pytest
from support.browser import show_pages
from support.limber import limber_modes

from robodyn.analysis.linear.modes import animate_modes
from robodyn.presentation.pages import write_modes, write_report

# Places of points are shown with 3 decimals.
PLACED = 6e-4
# A power of two changes no digit of a number.
FACTOR = 16.0


@pytest.fixture(scope="module")
def vibration():
    return animate_modes(*limber_modes())


@pytest.fixture
def show(browser):
    """Callable path -> the browser with that page, which must not complain."""
    yield from show_pages(browser, lambda number, path: path)


@pytest.fixture
def draw(artist):
    """The same with a picture of the machine."""
    yield from show_pages(artist, lambda number, path: path)


@pytest.fixture
def bent(vibration):
    """A run in which everything moves: all modes at once."""
    rest = vibration.rest.values
    swings = [(k + 1) ** -0.5 * (run.values - rest) for k, run in enumerate(vibration.runs)]
    return dataclasses.replace(vibration.rest, values=rest + 0.5 * sum(swings))


def scrub(page, share):
    script = "const e = document.querySelector('#scrub'); e.value = 1000 * arguments[0];"
    page.run(script + "e.dispatchEvent(new Event('input'))", share)


def place_of(page, point):
    found = re.search(rf"{point} at \((.*?)\)", page.text(".caption"))[1]
    return np.array([float(part.replace("−", "-")) for part in found.split(",")])


@pytest.mark.parametrize("factor", [1.0, FACTOR])
def test_what_hangs_on_bent_bodies_is_told_where_the_model_says(show, bent, tmp_path, factor):
    found, system = limber_modes()
    page = show(write_report(bent, tmp_path / "bent.html", exaggerate=factor))
    for share in (0.0, 0.125, 0.5):
        scrub(page, share)
        x = found.model.point.x.copy()
        x[: system.n_q] = bent.values[round(share * (len(bent.time) - 1))]
        places = dict(zip(found.skeleton.names, found.skeleton.place(x, found.model.point.p), strict=True))
        for point in ("tip", "knob"):
            np.testing.assert_allclose(place_of(page, point), places[point], atol=PLACED)
    assert ("16 times as large" in page.text(".caption")) == (factor != 1)


def test_exaggeration_draws_what_larger_modal_coordinates_would(draw, bent, tmp_path):
    modes = np.array([".mode" in name for name in bent.names])
    half, faint = (dataclasses.replace(bent, values=bent.values * np.where(modes, 1 / f, 1.0)) for f in (2.0, FACTOR))
    # Both have a badge that says the factor, below which the machine is drawn.
    drawn = draw(write_report(half, tmp_path / "half.html", exaggerate=2.0)).picture("#machine")
    page = draw(write_report(faint, tmp_path / "faint.html", exaggerate=FACTOR, labels=["limber"]))
    assert page.text("#exaggeration-told") == "×16"
    assert page.picture("#machine") == drawn
    page.run("const e = document.querySelector('#exaggeration'); e.value = 0; e.dispatchEvent(new Event('input'))")
    assert page.text("#exaggeration-told") == "×1"
    assert page.picture("#machine") != drawn


def test_modes_swing_over_the_rest_position_and_can_be_chosen(draw, vibration, tmp_path):
    page = draw(write_modes(vibration, tmp_path / "modes.html"))
    assert page.run("return document.querySelectorAll('#modes tbody tr').length") == len(vibration.found)
    # Played from the start again at the end.
    page.click("#play")
    scrub(page, 0.999)
    page.wait("Number(document.querySelector('#scrub').value) < 500")
    page.click("#play")
    scrub(page, 0.0)
    first, message = page.picture("#machine"), page.text(".caption")
    assert message.startswith(f"{vibration.modes[0].frequency:.4g} Hz")
    scrub(page, 0.5)
    assert page.picture("#machine") != first
    page.click("#modes tbody tr:nth-child(3) button")
    assert page.text(".caption").startswith(f"{vibration.modes[2].frequency:.4g} Hz")
    assert page.run("return document.querySelector('.run-choice select').value") == "3"
