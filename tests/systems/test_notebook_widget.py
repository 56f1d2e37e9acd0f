"""Does the widget of a notebook show the run that its sliders ask for?"""

import json

import numpy as np
import pytest

from robodyn.base.errors import ModelError
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import find_scenario

widget = pytest.importorskip("robodyn.presentation.studio.widget", reason="anywidget is missing", exc_type=ImportError)


def test_a_slider_moved_gives_the_run_of_that_number():
    pendulum = find_scenario("pendulum")
    shown = widget.explore(pendulum, ["gravity.z"], ["hinge.position"])
    (as_described,) = shown.runs
    shown.numbers = {"gravity.z": -2.0}
    expected = simulate(pendulum.with_numbers({"gravity.z": -2.0}))
    np.testing.assert_array_equal(shown.run["hinge.position"].values, expected["hinge.position"].values)
    now, before = shown.runs
    assert before["signals"] == as_described["signals"]
    (curve,) = now["signals"]
    assert curve["unit"] == "rad"
    assert curve["values"][-1] == expected["hinge.position"].values[-1]
    assert curve["values"][-1] != before["signals"][0]["values"][-1]
    assert "simulated in" in shown.told


MODEL = """
    const changes = [];
    const listeners = {};
    const model = {
        get: (name) => data[name],
        set: (name, value) => (data[name] = value),
        save_changes: () => (window.sent = data.numbers),
        on: (name, listener) => (listeners[name] = listener),
    };
    window.answer = (fresh) => { Object.assign(data, fresh); listeners['change:runs'](); };
    const place = document.createElement('div');
    document.body.append(place);
    widget.render({ model, el: place });
    document.documentElement.dataset.ready = 'true';"""


def test_in_a_browser_units_are_those_of_people_each_with_its_axis(browser, tmp_path):
    shown = widget.explore(find_scenario("scara-ptp"), ["shoulder.control.limit"], ["*.position"])
    data = json.dumps({"sliders": shown.sliders, "runs": shown.runs, "told": shown.told})
    script = widget.ScenarioWidget._esm.replace("export default", "const widget =")
    page = tmp_path / "cell.html"
    style = widget.ScenarioWidget._css
    page.write_text(f"<style>{style}</style><script type=module>{script}\nconst data = {data};{MODEL}</script>")
    browser.errors()
    browser.open(page.as_uri())
    headings = "return [...document.querySelectorAll('.panel h3')].map((head) => head.textContent)"
    assert browser.run(headings) == ["position [deg]", "position [mm]"]
    assert "V" in browser.run("return document.querySelector('.number input[type=text]').value")
    assert browser.colours(".panel canvas") > 10
    before = browser.picture(".panel canvas")
    move = "const s = document.querySelector('.number input[type=range]'); s.value = 30;"
    browser.run(f"{move} s.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change'))")
    shown.numbers = browser.run("return window.sent")
    assert shown.numbers == {"shoulder.control.limit": 30.0}
    browser.run("window.answer(arguments[0])", {"runs": shown.runs, "told": shown.told})
    assert browser.picture(".panel canvas") != before
    # The run as described is there still, dashed.
    assert browser.run("return document.querySelectorAll('.legend li:first-child .value').length") == 4
    assert browser.errors() == []


def test_what_a_scenario_refuses_is_told_and_the_curves_stay():
    shown = widget.explore(find_scenario("pendulum"), ["bob.mass"], ["hinge.position"])
    before = shown.runs
    shown.numbers = {"bob.mass": -1.0}
    assert "bob.mass" in shown.told or "mass" in shown.told
    assert shown.runs == before


def test_a_pattern_that_matches_nothing_is_refused():
    with pytest.raises(ModelError, match=r"numbers: 'bob.masss' matches no number"):
        widget.explore(find_scenario("pendulum"), ["bob.masss"])
