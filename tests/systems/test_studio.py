"""Does the studio, in a real browser, answer a slider with the run that the library makes, and survive its troubles?"""

import http.client
import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.report_pages import find_barriers, number, scrub
from support.studios import CART, drag, move, serving, strike, write
from typer.testing import CliRunner
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from robodyn import ModelError, read_scenario, simulate
from robodyn.base import waiting
from robodyn.cli import app
from robodyn.cli.studio import call_command

EVIL = """</script><img src=x onerror="window.broken=1">'"&"""
PATIENCE = 60
# Read-outs are rounded to about a ten-thousandth of their curve's range.
SHOWN = 2e-4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def cart(folder):
    path = folder / "cart.toml"
    path.write_text(CART)
    return path


@pytest.fixture(scope="module")
def studio(cart):
    with serving(cart) as server:
        yield server


@pytest.fixture
def page(browser, studio):
    """The browser with the cart's studio, which must not complain."""
    browser.errors()
    browser.open(studio.address)
    yield browser
    assert browser.errors() == []


@pytest.fixture(scope="module")
def weld():
    """A scenario with hundreds of numbers and signals."""
    with serving("rx90-weld") as server:
        yield server


LAYOUT = """
    const box = (element) => {
      const {left, top, right, bottom} = element.getBoundingClientRect();
      return [left, top, right, bottom];
    };
    const all = (selector) => [...document.querySelectorAll(selector)];
    const seen = (element) => {
      const [left, top, right, bottom] = box(element);
      const middle = (top + bottom) / 2;
      // Its middle and both ends: nothing lies over it, and nothing that scrolls cuts it off.
      const places = [0.1, 0.5, 0.9].map((share) => left + share * (right - left));
      return places.every((x) => element === document.elementFromPoint(x, middle));
    };
    const tools = all('#actions button:not([hidden]), #replay-tools > button, #tabs button');
    const scrolling = all('body, #desk, #tree, #side');
    const ids = all('[id]').map(({id}) => id);
    return {
      panels: Object.fromEntries(arguments[0].map((selector) => [selector, box(document.querySelector(selector))])),
      sliders: all('#tree input[type=range]').filter(seen).length,
      charts: all('.chart').map(box),
      machine: box(document.querySelector('#machine')),
      covered: tools.filter((tool) => !seen(tool)).map(({textContent}) => textContent),
      wide: scrolling.filter((part) => part.scrollWidth > part.clientWidth).map(({id}) => id),
      twice: ids.filter((id, k) => ids.indexOf(id) !== k),
    };"""
PANELS = (".top", "#tiles", "#numbers", "#replay", "#transport", "#file", "#side")


def lies_within(inner, outer):
    return all(inner[k] >= outer[k] and inner[k + 2] <= outer[k + 2] for k in (0, 1))


def overlap(one, other):
    return all(one[k] < other[k + 2] and other[k] < one[k + 2] for k in (0, 1))


@pytest.mark.parametrize(("width", "height", "sliders"), [(1440, 900, 8), (1280, 720, 8), (1280, 577, 6)])
def test_panels_fill_the_window_side_by_side_and_sliders_are_seen(artist, weld, width, height, sliders):
    """The last window is what a browser's own bars leave of 1280 x 720."""
    with artist.sized(width, height):
        artist.open(weld.address)
        artist.wait("document.querySelector('#machine')")
        layout = artist.run(LAYOUT, PANELS)
        artist.run("window.location = 'about:blank'")
    panels = layout["panels"]
    assert [name for name, box in panels.items() if not lies_within(box, (0, 0, width, height))] == []
    assert [pair for pair in itertools.combinations(panels, 2) if overlap(*(panels[name] for name in pair))] == []
    # Each of the three columns reaches from the answers above to the bar of time, but for its margins.
    above, below, margin = panels["#tiles"][3], panels["#transport"][1], 16
    assert [name for name in ("#numbers", "#replay", "#side") if panels[name][1] > above + margin] == []
    assert [name for name in ("#numbers", "#file", "#side") if panels[name][3] < below - margin] == []
    assert layout["sliders"] >= sliders
    assert lies_within(layout["machine"], panels["#replay"])
    assert lies_within(layout["charts"][0], panels["#side"])
    left, top, right, bottom = layout["machine"]
    assert (right - left > width / 4, bottom - top > height / 5) == (True, True)
    assert (layout["covered"], layout["wide"], layout["twice"]) == ([], [], [])


def text_of(page):
    return page.run("return document.querySelector('#text').value")


def final(page):
    scrub(page, 1.0)
    script = """const rows = [...document.querySelectorAll('.legend li')];
        const row = rows.find((l) => l.textContent.startsWith('rail.position'));
        return [row.querySelector('.value').textContent, row.closest('.panel').dataset.shown];"""
    value, unit = page.run(script)
    # The legend has the unit of its axis.
    return number(value) * {"m": 1.0, "mm": 1e-3, "µm": 1e-6}[unit]


def test_a_slider_gives_the_run_that_the_library_gives_and_undo_takes_it_back(page, cart):
    described, curve = final(page), page.picture("#panels canvas")
    assert described == pytest.approx(simulate(read_scenario(cart))["rail.position"](0.5), rel=SHOWN)
    move(page, "spring.stiffness", 800.0)
    changed = simulate(read_scenario(cart).with_numbers({"spring.stiffness": 800.0}))["rail.position"](0.5)
    assert abs(changed - described) > 0.01
    assert final(page) == pytest.approx(changed, rel=SHOWN)
    assert page.picture("#panels canvas") != curve
    assert "finished" in page.text("#outcome")
    # The run before is a shadow of the new one.
    assert "before" in page.text("#overlay")
    assert text_of(page) == CART.replace("stiffness = 500", "stiffness = 800")
    page.click("#undo")
    page.wait("document.querySelector('#overlay').textContent.includes('as described')")
    assert final(page) == pytest.approx(described, rel=SHOWN)
    assert text_of(page) == CART
    page.click("#redo")
    page.wait("document.querySelector('#overlay').textContent.includes('800')")
    assert final(page) == pytest.approx(changed, rel=SHOWN)
    assert text_of(page) == CART.replace("stiffness = 500", "stiffness = 800")


def shown_value(page, name):
    return page.run("return document.querySelector(`[data-number='${arguments[0]}'] input[type=text]`).value", name)


def test_file_and_sliders_are_one_truth_with_one_undo_kept_over_a_reload_and_saved(browser, tmp_path):
    """A number that is typed into the text moves its slider; Ctrl-Z takes back either, wherever the cursor is."""
    text = CART.replace("mass = 2", 'mass = "2 kg"   # with its box')
    path = tmp_path / "cart.toml"
    path.write_text(text)
    browser.errors()
    with serving(path) as server:
        browser.open(server.address)
        write(browser, text.replace("stiffness = 500", "stiffness = 640"))
        browser.wait("document.querySelector('#overlay').textContent.includes('640')")
        assert shown_value(browser, "spring.stiffness") == "640 N/m"
        move(browser, "carriage.mass", 4.0)
        edited = text.replace("stiffness = 500", "stiffness = 640").replace('"2 kg"', '"4 kg"')
        assert text_of(browser) == edited
        strike(browser, "#text", "z", ctrlKey=True)
        browser.wait("document.querySelector('#text').value.includes('2 kg')")
        assert text_of(browser) == text.replace("stiffness = 500", "stiffness = 640")
        strike(browser, "#number-search", "z", ctrlKey=True)
        browser.wait("document.querySelector('#text').value.includes('stiffness = 500')")
        assert text_of(browser) == text
        browser.click("#redo")
        browser.click("#redo")
        browser.wait("document.querySelector('#text').value.includes('4 kg')")
        # A reload goes on where it was, history included.
        browser.run("document.documentElement.dataset.ready = 'false'; location.reload();")
        browser.wait("document.documentElement.dataset.ready === 'true'")
        assert text_of(browser) == edited
        assert shown_value(browser, "carriage.mass") == "4 kg"
        browser.wait("!document.querySelector('#undo').disabled")
        browser.click("#save")
        browser.wait("document.querySelector('#file-state').textContent === 'as in the file'")
        assert path.read_text() == edited
        browser.run("window.location = 'about:blank'")
    assert browser.errors() == []


def test_arrows_change_a_number_by_a_percent_and_what_is_no_number_is_refused_at_its_field(page):
    field = "[data-number='spring.stiffness'] input[type=text]"
    strike(page, field, "ArrowUp")
    page.wait("document.querySelector('#text').value.includes('stiffness = 505')")
    page.run(f"const f = document.querySelector(`{field}`); f.value = '7 kg'; f.dispatchEvent(new Event('change'));")
    assert "spring.stiffness: must be a number in N/m" in page.text(".number.refused .why")
    assert "stiffness = 505" in text_of(page)


def test_a_number_that_is_a_constant_of_the_code_compiles_anew_and_its_slider_goes_on_from_the_file(page, cart):
    move(page, "duration", 0.25)
    assert page.run("return document.querySelector('.number[data-number=duration]').className") == "number code changed"
    assert scrub(page, 1.0) == 0.25
    move(page, "duration", 0.5)
    assert page.run("return document.querySelector('.number[data-number=duration]').className") == "number code"
    assert scrub(page, 1.0) == 0.5


def test_a_number_that_no_machine_can_have_is_refused_at_its_slider_and_the_run_stays(page):
    shown = final(page)
    drag(page, "carriage.mass", -1.0)
    page.wait("document.querySelector('.number.refused')")
    assert "mass" in page.text(".number.refused .why")
    assert final(page) == pytest.approx(shown)
    move(page, "carriage.mass", 3.0)
    assert not page.run("return document.querySelector('.number.refused')")


def test_a_broken_file_is_told_as_check_tells_it_and_runs_again_when_mended(page, cart, tmp_path):
    broken = CART.replace("viscous = 4", "viscose = 4").replace('kind = "prismatic"', 'kind = "prisma"')
    copy = tmp_path / "cart.toml"
    copy.write_text(broken)
    with pytest.raises(ModelError) as told:
        read_scenario(copy)
    write(page, broken)
    page.wait("document.querySelector('#flaws').children.length > 0")
    shown = page.run("return [...document.querySelectorAll('.flaw')].map((flaw) => flaw.textContent)")
    assert shown == [str(flaw) for flaw in told.value.flaws]
    assert page.text("#outcome") == f"{len(shown)} problems"
    # The lines that are meant are marked.
    marked = page.run("return [...document.querySelectorAll('.gutter b')].map((line) => Number(line.textContent))")
    assert broken.splitlines().index('kind = "prisma"') + 1 in marked
    write(page, CART.replace("stiffness = 500", "stiffness = 900"))
    page.wait("document.querySelector('#flaws').children.length === 0")
    page.wait("document.querySelector('#outcome').textContent === 'finished'")
    expected = simulate(read_scenario(cart).with_numbers({"spring.stiffness": 900.0}))["rail.position"](0.5)
    assert final(page) == pytest.approx(expected, rel=SHOWN)
    assert cart.read_text() == CART
    write(page, CART + "\n[joints.rail")
    page.wait("document.querySelector('#flaws').textContent.includes('TOML')")


def test_a_file_that_another_program_writes_is_followed_and_edits_here_are_kept_from_it(page, cart):
    try:
        run = page.run("return document.documentElement.dataset.run")
        cart.write_text(CART.replace("stiffness = 500", "stiffness = 321"))
        page.wait(f"document.documentElement.dataset.run !== '{run}'")
        expected = simulate(read_scenario(cart))["rail.position"](0.5)
        assert final(page) == pytest.approx(expected, rel=SHOWN)
        assert "321" in page.run("return document.querySelector('#text').value")
        write(page, CART.replace("stiffness = 500", "stiffness = 222"))
        page.wait("document.querySelector('#file-state').textContent === 'edited, not saved'")
        cart.write_text(CART.replace("stiffness = 500", "stiffness = 333"))
        page.wait("document.querySelector('#file-state').textContent.includes('changed on disk')")
        assert "222" in page.run("return document.querySelector('#text').value")
    finally:
        cart.write_text(CART)
    page.run("[...document.querySelectorAll('#file-head button')].find((b) => b.textContent === 'Discard').click()")
    page.wait("document.querySelector('#file-state').textContent === 'as in the file'")


def test_the_editor_completes_tables_keys_and_words_by_the_schema(page):
    script = """const [text, area] = [arguments[0], document.querySelector('#text')];
        area.value = text; area.focus(); area.setSelectionRange(text.length, text.length);
        area.dispatchEvent(new Event('input'));
        return [...document.querySelectorAll('.choices li span:first-child')].map((choice) => choice.textContent);"""
    page.wait("document.querySelector('#file-state')")
    page.run(script, CART)
    page.wait(
        "(() => { const a = document.querySelector('#text'); a.dispatchEvent(new Event('input')); return true; })()"
    )
    assert page.run(script, CART + "[blo")[0] == "blocks"
    assert "stop_restitution" in page.run(script, CART + "[joints.other]\nstop_r")
    assert page.run(script, CART + '[joints.other]\nkind = "pris') == ['"prismatic"']
    assert '"carriage"' in page.run(script, CART + '[joints.other]\nparent = "')
    # Keys that are there are not offered again.
    assert "axis" not in page.run(script, CART.replace("axis = [1, 0, 0]", "axis = [1, 0, 0]\nax"))
    page.press("Tab")
    assert page.run("return document.querySelector('.choices').hidden")


def test_runs_are_pinned_and_compared(page, cart):
    page.click("#pin")
    move(page, "spring.stiffness", 700.0)
    page.click("#tab-compare")
    page.wait("document.querySelector('#pane-compare').textContent.includes('largest difference')")
    one, other = (simulate(read_scenario(cart).with_numbers({"spring.stiffness": k})) for k in (500.0, 700.0))
    apart = np.abs(one["rail.position"](one.time) - other["rail.position"](one.time)).max()
    row = "[...document.querySelectorAll('#pane-compare tr')].find((r) => r.cells[0].textContent === 'rail.position')"
    # Rows of the runs differ, and so the places where they are compared: the curves are smooth.
    assert number(page.run(f"return {row}.cells[2].textContent")) == pytest.approx(apart, rel=2e-3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page, scheme):
    for tab in ("play", "run", "budget"):
        page.click(f"#tab-{tab}")
        assert find_barriers(page, scheme) == []


def test_compare_pins_the_run_where_none_is(page):
    page.click("#compare")
    assert page.run("return document.querySelector('#tab-compare').getAttribute('aria-selected')") == "true"
    assert page.run("return document.querySelector('#pin').disabled")
    assert "outcome" in page.text("#pane-compare")


def test_error_bars_are_asked_for_at_the_tile_and_belong_to_their_numbers(page):
    button = "#tiles button[title='Estimate the errors of the results']"
    page.click(button)
    page.wait("document.querySelector('#pane-run .errors')")
    assert "rail.position" in page.text("#pane-run .errors")
    assert page.run(f'return document.querySelector("{button}")') is None
    move(page, "spring.stiffness", 650.0)
    # Of other numbers nothing is certified, and those before are certified still.
    page.wait(f'document.querySelector("{button}")')
    page.click("#undo")
    page.wait(f'!document.querySelector("{button}")')


def test_a_scenario_of_the_catalogue_is_opened_from_the_start_page_and_saved_as_a_file(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "cache"))
    browser.errors()
    with serving(None) as server:
        browser._report("url", {"url": server.address})
        browser.wait("document.querySelector('[data-scenario=pendulum]')")
        browser.click("[data-scenario=pendulum]")
        browser.wait("document.documentElement.dataset.ready === 'true'")
        move(browser, "bob.mass", 3.0)
        browser.click("#save")
        browser.wait("document.querySelector('#dialog').open")
        browser.click("#dialog button.main")
        browser.wait("!document.querySelector('#dialog').open")
        assert read_scenario(tmp_path / "pendulum.toml").numbers()["bob.mass"].value == 3.0
        browser.wait("document.querySelector('#file-state').textContent === 'as in the file'")
        browser.run("window.location = 'about:blank'")
    assert browser.errors() == []


def test_a_run_that_cannot_go_on_is_shown_as_far_as_it_came_and_a_long_one_can_be_stopped(page):
    write(page, CART + "\n[solver]\nmax_steps = 20\n")
    page.wait("document.querySelector('#outcome').textContent === 'step limit'")
    assert 0 < scrub(page, 1.0) < 0.5
    assert page.colours("#panels canvas") > 2
    write(
        page,
        CART.replace("duration = 0.5", "duration = 1e6").replace("viscous = 4", "viscous = 0")
        + "\n[recording]\nrate = 0.01\n",
    )
    page.wait("document.querySelector('#doing').textContent.startsWith('simulating')")
    page.click("#stop")
    page.wait("document.querySelector('#outcome').textContent === 'interrupted'")


def test_two_browsers_at_once_do_not_disturb_each_other_and_the_machine_is_drawn(page, artist, studio):
    artist.open(studio.address)
    assert artist.colours("#machine") > 20
    move(page, "spring.stiffness", 650.0)
    move(artist, "friction.viscous", 1.0)
    assert "spring.stiffness = 650" in page.text("#overlay")
    assert "friction.viscous = 1" in artist.text("#overlay")
    assert "650" not in artist.text("#overlay")
    assert final(page) != final(artist)
    artist.run("window.location = 'about:blank'")


def test_a_command_is_called_with_the_text_as_it_is(page, cart):
    move(page, "friction.viscous", 2.0)
    page.click("#tab-sweep")
    page.run("document.querySelector('#sweep-vary').value = 'spring.stiffness=400:600:5'")
    page.run("document.querySelector('#sweep-measure').value = 'final:rail.position'")
    page.click("#sweep-start")
    page.wait("document.querySelector('[data-job=sweep] table')")
    cells = (
        "[...document.querySelectorAll('[data-job=sweep] tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    )
    rows = page.run(f"return {cells}")
    assert [number(row[1]) for row in rows] == [400, 450, 500, 550, 600]
    numbers = {"spring.stiffness": 400.0, "friction.viscous": 2.0}
    expected = simulate(read_scenario(cart).with_numbers(numbers))["rail.position"](0.5)
    # Five digits in mm are shown; the sweep's own rows end at the same time.
    assert "[mm]" in page.text("[data-job=sweep] thead")
    assert number(rows[0][2]) == pytest.approx(1e3 * expected, rel=1e-4)


def test_a_command_knows_numbers_that_are_not_in_the_text_yet(cart):
    spec = {"source": str(cart), "text": CART, "values": {"friction.viscous": 2.0}}
    options = {"vary": "spring.stiffness=400:600:5", "measure": "final:rail.position"}
    folder = Path.cwd()
    try:
        _, shown = call_command("sweep", spec, options, lambda *_: None)
    finally:
        os.chdir(folder)
    assert waiting._line.listener is None
    numbers = {"spring.stiffness": 400.0, "friction.viscous": 2.0}
    expected = simulate(read_scenario(cart).with_numbers(numbers))["rail.position"](0.5)
    assert shown.tables[0].rows[0][2] == pytest.approx(expected, rel=1e-9)


def test_names_and_titles_that_look_like_script_are_text(browser, folder):
    """In the file's name, its title, a key, a value: all are shown, none runs."""
    path = folder / "<img src=x onerror='window.broken=1'>.toml"
    quoted = EVIL.replace('"', '\\"')
    path.write_text('name = "evil"' + CART.replace('"A cart on a rail"', f'"{quoted}"'))
    browser.errors()
    with serving(path) as server:
        browser.open(server.address)
        assert browser.text("#heading") == EVIL
        assert path.name in browser.text("#file-head")
        write(browser, CART + f'\n[joints."{quoted}"]\nkind = "{quoted}"\n')
        browser.wait("document.querySelector('#flaws').textContent.includes('onerror')")
        browser.click("#tab-modes")
        assert browser.run("return document.querySelectorAll('img').length") == 0
        assert not browser.run("return window.broken")
        # Even a script that found its way into the page would not run.
        browser.run("document.body.insertAdjacentHTML('beforeend', arguments[0])", EVIL.removeprefix("</script>"))
        assert not browser.run("return window.broken")
    assert any("Content Security Policy" in message for message in browser.errors())


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/?token={token}", {}, 200),
        ("/", {}, 403),
        ("/?token=wrong", {}, 403),
        ("/?token={token}", {"Host": "evil.example"}, 403),
        ("/?token={token}", {"Host": "evil.example:{port}"}, 403),
        ("/other?token={token}", {}, 404),
    ],
)
def test_only_who_knows_the_token_and_asks_this_computer_gets_the_page(studio, path, headers, status):
    fill = {"token": studio.token, "port": studio.port}
    link = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=PATIENCE)
    link.request("GET", path.format(**fill), headers={name: text.format(**fill) for name, text in headers.items()})
    answer = link.getresponse()
    assert answer.status == status
    body = answer.read()
    assert studio.token.encode() not in body
    if status == 200:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert b"cart" not in body


def test_a_conversation_needs_the_token_and_the_studios_own_origin(studio):
    own = f"http://127.0.0.1:{studio.port}"
    address = f"ws://127.0.0.1:{studio.port}/studio?token="
    for token, origin in (("wrong", own), (studio.token, "http://evil.example"), (studio.token, None)):
        with pytest.raises(InvalidStatus) as refused:
            connect(address + token, origin=origin)
        assert refused.value.response.status_code == 403
    with connect(address + studio.token, origin=own) as link:
        for nonsense in ("{", "[]", '{"do": "nothing"}', '{"do": "run"}', '{"do": "run", "run": 1, "values": 3}'):
            link.send(nonsense)
            assert "cannot be understood" in link.recv(PATIENCE)


def test_nobody_else_on_the_network_is_served(studio):
    assert studio.socket.getsockname()[0] == "127.0.0.1"


def launch(cart, cache, *options):
    command = [
        sys.executable,
        "-c",
        "from robodyn.cli import main; main()",
        "studio",
        str(cart),
        "--no-browser",
        *options,
    ]
    environment = os.environ | {"ROBODYN_CACHE": str(cache), "PYTHONUNBUFFERED": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # A supervisor may have started us with interrupts ignored; the command must see them.
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    return subprocess.Popen(command, env=environment, **pipes, **heard)


def test_a_killed_server_is_told_and_a_restarted_one_goes_on_with_what_was_changed(browser, cart, tmp_path):
    first = launch(cart, tmp_path)
    address = first.stdout.readline().split()[0]
    browser.open(address)
    move(browser, "spring.stiffness", 750.0)
    shown, run = final(browser), browser.run("return document.documentElement.dataset.run")
    first.kill()
    first.wait(PATIENCE)
    browser.wait("!document.querySelector('#banner').hidden")
    second = launch(cart, tmp_path)
    assert second.stdout.readline().split()[0] == address
    browser.wait("document.querySelector('#banner').hidden")
    browser.wait(f"document.documentElement.dataset.run !== '{run}'")
    assert "spring.stiffness = 750" in browser.text("#overlay")
    assert final(browser) == pytest.approx(shown)
    port = address.split(":")[2].split("/")[0]
    taken = CliRunner().invoke(app, ["studio", str(cart), "--port", port])
    assert f"--port {port}: is not available" in taken.stderr
    assert taken.exit_code == 2
    # Ctrl-C ends it, also with a browser that is still there.
    second.send_signal(signal.SIGINT)
    out, told = second.communicate(timeout=PATIENCE)
    assert (out, told, second.returncode) == ("ended\n", "", 0)
    browser.errors()
