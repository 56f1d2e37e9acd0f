"""Does a report show the answer first: tiles, path, causes; on small screens, in the dark and on paper?"""

import base64
import dataclasses
import re
from functools import partial

import numpy as np
import pytest
from support.browser import show_pages
from support.report_pages import find_barriers, scrub, write_numbered

from robodyn import Run
from robodyn.analysis.budget import Budget, BudgetPart
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, SignalInfo
from robodyn.presentation.reporting import Display, Table, to_section
from robodyn.presentation.studio.work import find_answers

TIME = np.linspace(0.0, 2.0, 401)
WAY = 0.5 * TIME
CAUSES = {"friction and losses": 3e-5, "sampling and delay": 2.5e-5, "gear": -5e-6}
MISS = 4e-5 * np.exp(-(((TIME - 0.8) / 0.1) ** 2))
TILES = """
    return [...document.querySelectorAll('.tile')].map((tile) => ({
        text: tile.textContent.replace(/\\u00a0/g, ' '), verdict: tile.dataset.verdict, height: tile.offsetHeight,
        colour: getComputedStyle(tile.querySelector('strong')).color}))"""


@pytest.fixture(scope="module")
def tracked():
    """A slide that follows a straight path and misses it by 50 µm at 0.8 s; three fifths are friction."""
    joints = [{"name": "x", "kind": "prismatic", "parent": "ground", "child": "cart", "axis": [1.0, 0.0, 0.0]}]
    mechanism = {
        "bodies": [{"name": "cart", "mass": 2.0, "com": [0.0, 0.0, 0.0]}],
        "joints": joints,
        "points": [{"name": "tool", "body": "cart", "origin": [0.0, 0.0, 0.1]}],
    }
    law = {"type": "PathDeviation", "knots": [0.0, 1.0], "place": [[0, 0, 0.1], [1, 0, 0.1]]}
    law["tangent"] = [[1, 0, 0], [1, 0, 0]]
    inputs = {axis: f"tool.position.{axis}" for axis in "xyz"} | {"s": "path.s"}
    description = {"machine": {"mechanism": mechanism, "blocks": [{"name": "deviation", "law": law, "inputs": inputs}]}}
    columns = {
        "x.position": WAY,
        "tool.position.x": WAY,
        "tool.position.y": 0.75 * MISS,
        "tool.position.z": 0.1 + MISS,
        "path.s": WAY,
        "deviation.horizontal": 0.75 * MISS,
        "deviation.vertical": MISS,
        "deviation.distance": 1.25 * MISS,
    }
    infos = tuple(SignalInfo(name, "m") for name in columns)
    outcome = Outcome(OutcomeKind.FINISHED, "reached the end", 2.0)
    provenance = Provenance("cart", description=description)
    return Run(TIME, np.column_stack([*columns.values()]), infos, outcome, provenance)


@pytest.fixture(scope="module")
def budget(tracked):
    sides = np.array([tracked["deviation.horizontal"].values, tracked["deviation.vertical"].values])
    parts = (
        BudgetPart("x.friction", "force", "cause"),
        BudgetPart("sampling and delay", "", "loop"),
        BudgetPart("gear", "", "loop"),
    )
    values = np.stack([0.6 * sides, 0.5 * sides, -0.1 * sides], axis=1)
    return Budget(tracked, ("deviation.horizontal", "deviation.vertical"), "time", parts, values, sides)


@pytest.fixture
def show(browser, tmp_path):
    yield from show_pages(browser, partial(write_numbered, tmp_path))


@pytest.mark.parametrize(("limit", "verdict", "colour"), [(4e-5, "bad", "bad"), (1e-4, "good", "good")])
def test_the_first_tile_says_how_far_it_misses_and_is_coloured(show, tracked, budget, limit, verdict, colour):
    page = show(tracked, limit=limit, budget=budget)
    miss, cause, *_, trust = page.run(TILES)
    assert re.match(r"Largest path deviation · limit (40|100) µm50 µmvertical, at 800 ms", miss["text"])
    assert "Friction and losses 60 %" in cause["text"]
    assert "no checks" in trust["text"]
    assert miss["verdict"] == verdict
    probe = "const e = document.createElement('i'); e.style.color = `var(--${arguments[0]})`; document.body.append(e);"
    assert miss["colour"] == page.run(probe + "const c = getComputedStyle(e).color; e.remove(); return c", colour)


def test_causes_follow_the_time_and_a_click_draws_one(show, tracked, budget):
    page = show(tracked, budget=budget)
    read = "return [...document.querySelectorAll('.cause')].map((row) => row.textContent)"
    assert page.run(read) == ["Friction and losses30 µm", "Sampling and delay25 µm", "Gear−5 µm"]
    assert "50 µm" in page.text("#causes-title")
    # The slider's steps are coarser than the run's rows.
    scrub(page, 0.45)
    third = 1.25e6 * MISS[180] * np.array([0.6, 0.5, -0.1])
    shown = [float(re.search(r"(−?[\d.]+) µm", text)[1].replace("−", "-")) for text in page.run(read)]
    assert shown == pytest.approx(third, rel=0.01)
    page.click(".cause")
    assert "deviation by friction and losses" in page.text("#deviation-panels")
    assert page.run("return document.querySelector('.cause').getAttribute('aria-pressed')") == "true"


def test_a_budget_of_the_studio_feeds_the_tile_and_the_bars(tracked, budget):
    answers = find_answers(budget)
    (tile,) = answers["tiles"]
    assert (tile["heading"], tile["answer"]) == ("Main cause", "Friction and losses 60 %")
    worst = int(np.argmax(MISS))
    assert answers["time"] == TIME.tolist()
    assert {cause["signal"]: cause["values"][worst] for cause in answers["causes"]} == pytest.approx(
        {f"deviation by {cause}": value for cause, value in CAUSES.items()}
    )
    assert find_answers(tracked) == {}


def test_what_rounding_leaves_is_0_in_legends(show, tracked):
    noise = np.where(TIME < 1.0, 1e-22, tracked["deviation.horizontal"].values)
    columns = {info.name: tracked[info.name].values for info in tracked.infos} | {"deviation.horizontal": noise}
    page = show(dataclasses.replace(tracked, values=np.column_stack([*columns.values()])))
    legend = "[...document.querySelectorAll('#deviation-panels .legend li')].map((row) => row.textContent)"
    assert "deviation.horizontal0×" in page.run(f"return {legend}")


def test_axes_are_labelled_in_the_units_of_people(show, tracked):
    page = show(tracked)
    assert page.text("#deviation-panels h3") == "deviation [µm]"
    assert "causes of the deviation were not computed" in page.text("#causes")


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (800, 1000)])
def test_nothing_flows_over_and_tiles_stay_low(show, tracked, budget, size):
    page = show(tracked, budget=budget, limit=1e-4)
    with page.sized(*size):
        page.run("document.querySelectorAll('details').forEach((part) => (part.open = true))")
        assert page.run("return document.documentElement.scrollWidth") == size[0]
        assert all(tile["height"] < 120 for tile in page.run(TILES))
        clipped = """
            return [...document.querySelectorAll('main *')].filter((part) =>
            part.scrollHeight > part.clientHeight + 2 && ['auto', 'scroll'].includes(getComputedStyle(part).overflowY))
            .map((part) => part.id || part.className)"""
        assert [part for part in page.run(clipped) if part != "signal-list"] == []


def test_every_part_is_in_the_navigation(show, tracked, budget):
    page = show(tracked, budget=budget)
    links = page.run("return [...document.querySelectorAll('nav a')].map((link) => link.getAttribute('href'))")
    folds = page.run("return [...document.querySelectorAll('.fold')].map((fold) => `#${fold.id}`)")
    assert set(folds) < set(links)
    page.click("a[href='#fold-provenance']")
    assert page.run("return document.querySelector('#fold-provenance').open")


def test_tables_of_analyses_keep_their_titles(show, tracked):
    table = Table(("part",), [["friction"]], title="deviation.vertical [µm]")
    page = show(tracked, sections=[to_section(Display("Error budget", (table,)))])
    assert page.run("return document.querySelector('.fold caption').textContent") == "deviation.vertical [µm]"


def test_everything_is_on_paper(show, tracked, budget):
    page = show(tracked, budget=budget)
    pdf = base64.b64decode(page._report("print", {}))
    assert pdf.startswith(b"%PDF")
    # Unfolded, there is more than one sheet; afterwards all is folded again.
    assert len(re.findall(rb"/Type\s*/Page[^s]", pdf)) >= 2
    assert page.run("return document.querySelectorAll('.fold[open]').length") == 0


def test_a_page_plays_on_opening_unless_less_motion_is_wished_for(show, tracked):
    page = show(tracked)
    assert page.text("#clock") == "0.0000 s"
    page._develop("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "no-preference"}])
    try:
        show(tracked)
        page.wait("document.querySelector('#clock')?.textContent > '0.0000 s'")
    finally:
        page._develop("Emulation.setEmulatedMedia", features=[])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(show, tracked, budget, scheme):
    page = show(tracked, budget=budget, limit=4e-5)
    page.run("document.querySelectorAll('details.fold').forEach((part) => (part.open = true))")
    assert find_barriers(page, scheme) == []
