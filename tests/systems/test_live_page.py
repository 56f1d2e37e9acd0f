"""Does a page simulate by itself what robodyn simulates: to the last bit, from a file, with nothing but itself?"""

import dataclasses
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from support.browser import open_browser, show_pages
from support.machines import cart
from support.report_pages import find_barriers

from robodyn.base.errors import ModelError
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import find_scenario
from robodyn.description.files import read_scenario
from robodyn.description.model import Block
from robodyn.exchange.codegen import make_live
from robodyn.exchange.codegen.model import prepare_model
from robodyn.exchange.codegen.web import digest_rows
from robodyn.presentation.pages import make_page, write_report

compiling = pytest.mark.skipif(not find_spec("ziglang"), reason="*** NO LIVE PAGE IS TESTED: ziglang is missing ***")
GANTRY = Path(__file__).parents[2] / "examples" / "gantry.toml"
MOVE = """
    const row = document.querySelector(`[data-number="${arguments[0]}"]`);
    const slider = row.querySelector('input[type=range]');
    delete document.getElementById('live-status').dataset.digest;
    slider.value = arguments[1];
    slider.dispatchEvent(new Event('input'));"""
STATUS = "document.getElementById('live-status')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def show(browser, tmp_path):
    def write(number, live):
        return write_report(live.run, tmp_path / f"live{number}.html", live=live)

    yield from show_pages(browser, write)


def natively(scenario, **changes):
    """The digest of the native run with other numbers."""
    model, compiled = prepare_model(scenario.with_numbers(changes), None, {}, plain=True)
    run = simulate(compiled, model.solver)
    return digest_rows(np.column_stack([run.time, *(run[info.name].values for info in model.outputs)]))


def short_gantry():
    return read_scenario(GANTRY).with_numbers({"duration": 0.3})


@compiling
@pytest.mark.parametrize(
    ("scenario", "number", "value"),
    [(find_scenario("scara-ptp"), "shoulder.control.limit", 25.0), (short_gantry(), "x.friction.coulomb", 40.0)],
    ids=["scara", "gantry"],
)
def test_a_slider_moved_is_the_native_run_to_the_last_bit(show, scenario, number, value):
    live = make_live(scenario)
    page = show(live)
    assert "equal to the native run to the last bit" in page.text("#live-status")
    assert page.run(f"return Number({STATUS}.dataset.digest)") == live.digest
    before = page.picture(".panel canvas")
    page.run(MOVE, number, value)
    page.wait(f"{STATUS}.dataset.digest")
    assert page.run(f"return Number({STATUS}.dataset.digest)") == natively(scenario, **{number: value}) != live.digest
    assert page.picture(".panel canvas") != before
    page.click("#reset")
    assert page.run(f"return Number({STATUS}.dataset.digest)") == live.digest


@compiling
def test_numbers_that_a_scenario_refuses_a_page_refuses(show):
    live = make_live(find_scenario("pendulum"), sliders=["bob.mass", "initial.hinge.position"])
    assert [slider.sign for slider in live.sliders] == ["not negative", "any"]
    page = show(live)
    field = '[data-number="bob.mass"] input[type=text]'
    page.run(f"const f = document.querySelector('{field}'); f.value = '-1'; f.dispatchEvent(new Event('change'));")
    assert page.text('[data-number="bob.mass"] .why') == "bob.mass: must be not negative"
    assert page.text("#live-status").startswith("As described")
    assert [find_barriers(page, scheme) for scheme in ("light", "dark")] == [[], []]
    tiles = "return [...document.querySelectorAll('.tile')].map((tile) => tile.textContent)"
    assert not any("as described" in text for text in page.run(tiles))
    page.run(MOVE, "initial.hinge.position", 0.1)
    page.wait(f"{STATUS}.dataset.digest")
    # One row of answers, which says what it does not know of the changed run.
    assert [text for text in page.run(tiles) if "as described; not recomputed for changed numbers" not in text] == []
    assert page.run(f"return Number({STATUS}.dataset.digest)") != live.digest
    assert page.text("#live-status").startswith("1 number changed")


def test_what_cannot_be_webassembly_is_refused_with_its_reason(monkeypatch):
    monkeypatch.setattr("robodyn.exchange.codegen.web.check_module_compiler", lambda: None)
    options = {"inputs": {"position": "rail.position"}, "hold": {"command": 0.0}, "period": 0.01, "native": False}
    law = Block("law", lambda position: {"command": -position}, **options)
    machine = dataclasses.replace(cart().machine, blocks=(*cart().machine.blocks, law))
    with pytest.raises(ModelError, match="its law is plain Python"):
        make_live(dataclasses.replace(cart(), machine=machine))
    with pytest.raises(ModelError, match="sequence of scenarios"):
        make_live(find_scenario("scara-phases"))
    with pytest.raises(ModelError, match=r"slider: 'rail.masss' matches no number"):
        make_live(cart(), sliders=["rail.masss"])


def test_without_a_compiler_the_remedy_is_told(monkeypatch):
    monkeypatch.setattr("robodyn.exchange.codegen.compilers.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install 'robodyn\[cross\]'"):
        make_live(find_scenario("pendulum"))


def test_the_digest_knows_every_bit_and_every_place():
    rows = np.random.default_rng(3).normal(size=(40, 3))
    for k in range(10):
        other = rows.copy()
        other.ravel().view(np.uint64)[7 * k] ^= np.uint64(1) << np.uint64(6 * k)
        assert digest_rows(other) != digest_rows(rows)
    assert digest_rows(rows[::-1]) != digest_rows(rows)


def test_only_a_live_page_may_run_webassembly():
    run = simulate(find_scenario("pendulum"))
    assert "wasm-unsafe-eval" not in make_page(run)
