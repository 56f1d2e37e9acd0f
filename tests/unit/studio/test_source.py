"""Where does the studio's text come from, and what does it write, where, over what?"""

import os
import stat

import numpy as np
import pytest
from support.studios import CART

from robodyn import ModelError, read_scenario, simulate
from robodyn.presentation.pages.contents import thin_rows
from robodyn.presentation.studio.model import ModelStore, slider_range
from robodyn.presentation.studio.server import keep_address, last_address
from robodyn.presentation.studio.session import MOST_ROWS, encode_frame
from robodyn.presentation.studio.source import Source, mark_text


@pytest.fixture
def cart(tmp_path):
    path = tmp_path / "cart.toml"
    path.write_text(CART)
    return path


def test_a_text_is_read_in_place_of_its_file_with_what_stands_beside_it(cart):
    cart.with_name("part.toml").write_text("[bodies.carriage]\nmass = 7\n")
    text = 'include = "part.toml"\n' + CART.replace("[bodies.carriage]\nmass = 2", "")
    assert Source(str(cart)).read(text).numbers()["carriage.mass"].value == 7.0
    assert Source(str(cart)).read().numbers()["carriage.mass"].value == 2.0


def test_a_catalogues_scenario_has_a_text_where_a_file_can_hold_it():
    text, why = Source("scara-ptp").text()
    assert why == ""
    assert Source("scara-ptp").read(text).numbers() == Source("scara-ptp").read().numbers()
    assert Source("scara-phases").text() == (None, "A sequence of scenarios has no file.")


@pytest.mark.parametrize(
    "name", ["", "../out.toml", "/out.toml", "out.txt", "sub/out.toml", ".toml", "..", "link.toml"]
)
def test_nothing_is_written_elsewhere_than_beside_the_scenario(cart, name):
    (cart.parent / "link.toml").symlink_to(cart.parent.parent / "elsewhere.toml")
    with pytest.raises(ModelError, match="cannot be written"):
        Source(str(cart)).save(name, "x", None)


def test_what_another_has_written_meanwhile_is_not_written_over(cart):
    source, seen = Source(str(cart)), mark_text(CART)
    source.save("cart.toml", CART + "# one\n", seen)
    with pytest.raises(ModelError, match="was changed by another program"):
        source.save("cart.toml", CART + "# other\n", seen)
    assert cart.read_text() == CART + "# one\n"


def test_tunable_numbers_share_a_model_and_others_have_their_own(cart):
    said = []
    models = ModelStore(Source(str(cart)))
    first = models.find(None, {"spring.stiffness": 700.0}, said.append)
    assert first.changes == {"spring.stiffness": 700.0}
    assert said[:3] == ["reading", "assembling", "compiling"]
    said.clear()
    assert models.find(None, {"spring.stiffness": 800.0}, said.append).model is first.model
    assert said == []
    other = models.find(None, {"duration": 0.2, "spring.stiffness": 800.0}, said.append)
    assert other.base is first.model
    assert other.model is not first.model
    assert other.changes == {"spring.stiffness": 800.0}
    run = other.model.simulate(other.changes, None)
    expected = simulate(read_scenario(cart).with_numbers({"duration": 0.2, "spring.stiffness": 800.0}))
    assert np.array_equal(run["rail.position"](0.2), expected["rail.position"](0.2))
    # A mass is a constant of the code until it is moved.
    assert "carriage.mass" not in first.model.tunable
    heavy = models.find(None, {"carriage.mass": 3.0}, said.append)
    said.clear()
    assert models.find(None, {"carriage.mass": 4.0, "friction.viscous": 1.0}, said.append).model is heavy.model
    assert said == []
    end = heavy.model.simulate({"carriage.mass": 4.0}, None)["rail.position"](0.5)
    expected = simulate(read_scenario(cart).with_numbers({"carriage.mass": 4.0}))["rail.position"](0.5)
    # Other code rounds otherwise.
    assert end == pytest.approx(expected, rel=1e-9)
    begun = models.find(None, {"initial.rail.velocity": 0.4}, said.append)
    assert begun.model.simulate(begun.changes, None)["rail.velocity"](0.0) == 0.4
    assert said == []
    with pytest.raises(ModelError, match="there is no such number"):
        models.find(None, {"spring.stifness": 1.0}, said.append)


def test_a_model_is_made_anew_where_any_file_it_was_read_from_has_changed(cart):
    """The file itself, one that it includes, a Python file with a law."""
    law = cart.with_name("laws.py")
    law.write_text("import robodyn as rd\n\n@rd.law()\ndef pull(velocity):\n    return {'force': -velocity}\n")
    cart.with_name("part.toml").write_text("[bodies.carriage]\nmass = 2\n")
    text = 'include = "part.toml"\n' + CART.replace("[bodies.carriage]\nmass = 2", "")
    cart.write_text(text + '\n[blocks.pull]\nlaw = "laws.py:pull"\non = "rail"\n')
    models = ModelStore(Source(str(cart)))
    kept = models.find(None, {}, lambda _: None).model
    assert models.find(None, {}, lambda _: None).model is kept
    for file, old, new in (
        (cart.with_name("part.toml"), "2", "3.5"),
        (law, "-velocity", "-9 * velocity"),
        (cart, "500", "550"),
    ):
        file.write_text(file.read_text().replace(old, new))
        again = models.find(None, {}, lambda _: None).model
        assert again is not kept
        kept = again
    end = kept.simulate({}, None)["rail.position"](0.5)
    # m = 3.5 kg, k = 550 N/m, d = 4 + 9 N s/m, let go at 0.1 m.
    decay = 13 / 7
    omega = np.sqrt(550 / 3.5 - decay**2)
    assert end == pytest.approx(
        0.1 * np.exp(-decay / 2) * (np.cos(omega / 2) + decay / omega * np.sin(omega / 2)), rel=1e-5
    )


def test_a_frame_holds_the_samples_that_a_page_reads(cart):
    run = simulate(read_scenario(cart))
    frame = encode_frame({"type": "run"}, run, ["rail.position", "rail.position", "absent"])
    length = int.from_bytes(frame[:4], "little")
    assert length > 0
    start = 8 + (length + 7) // 8 * 8
    time = np.frombuffer(frame, "<f8", run.time.size, start)
    assert np.array_equal(time, run.time)
    values = np.frombuffer(frame, "<f4", run.time.size, start + 8 * run.time.size)
    spread = np.ptp(run["rail.position"](run.time))
    assert np.abs(values - run["rail.position"](run.time)).max() <= 1e-6 * spread
    assert thin_rows(run.time, run.values, MOST_ROWS)[0].size == run.time.size


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [(4.0, "kg", [0, 8]), (-4.0, "m", [-8, 0]), (0.0, "kg", [0, 1]), (0.0, "N", [-1, 1]), (np.inf, "N", [0, 1])],
)
def test_sliders_reach_from_nothing_to_twice_the_value(value, unit, expected):
    assert slider_range(value, unit) == expected


@pytest.mark.skipif(os.name == "nt", reason="no owners of files")
def test_an_address_is_kept_for_its_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path))
    assert last_address("scara-ptp") is None
    keep_address("scara-ptp", 4711, "secret")
    assert (last_address("scara-ptp").port, last_address("scara-ptp").token) == (4711, "secret")
    assert last_address("scara-avoid") is None
    [kept] = (tmp_path / "studio").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    kept.chmod(0o666)
    assert last_address("scara-ptp") is None
