"""Does the page of a machine, in a real browser, put every kind of joint where the model does, and draw what it has?"""

import re
from functools import partial

import numpy as np
import pytest
from support.browser import PIXELS, show_pages
from support.report_pages import toggle

from robodyn import simulate
from robodyn.base.spatial import quaternion_from_rpy
from robodyn.description.catalog import four_bars
from robodyn.description.model import GROUND, Body, Joint, Machine, Mechanism, Mimic, Point, Rod, Scenario
from robodyn.description.model.body import BoxLook, SphereLook
from robodyn.description.model.description import describe
from robodyn.presentation.pages import write_view

EVIL = """</script><img src=x onerror="window.broken=1">'"&"""
# Places of points are shown with 3 decimals.
PLACED = 6e-4
TILT = ((0.36, 0.48, -0.8), (-0.8, 0.6, 0.0), (0.48, 0.64, 0.6))
KINDS = ("free", "planar", "revolute", "prismatic", "screw", "ball", "universal", "cylindrical", "fixed")
CORNERS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@pytest.fixture
def show(browser, tmp_path):
    """Callable scenario -> the browser with its page, which must not complain or ask for anything else."""
    yield from show_pages(browser, partial(write_numbered, tmp_path))


@pytest.fixture
def draw(artist, tmp_path):
    """The same with a picture of the machine."""
    yield from show_pages(artist, partial(write_numbered, tmp_path))


def write_numbered(folder, number, scenario, **options):
    path = folder / f"view{number}.html"
    return write_view(describe(scenario), scenario.start_values, path, **options)


@pytest.fixture(scope="module")
def chain():
    """A joint of every kind, one behind the other, none of them straight, and one beside them that follows."""
    axis = {"axis": (0.48, -0.6, 0.64)}
    options = dict.fromkeys(("revolute", "prismatic", "cylindrical", "planar", "universal"), axis)
    options["screw"] = axis | {"pitch": 0.3, "lower_limit": -1.0, "upper_limit": 2.0}
    bodies = [Body(kind, 1.0, inertia=(1.0, 1.0, 1.0)) for kind in (*KINDS, "shadow")]
    parents = (GROUND, *KINDS)
    joints = [
        Joint(f"{kind}_joint", kind, parent, kind, (0.2, -0.1, 0.3), TILT, **options.get(kind, {}))
        for kind, parent in zip(KINDS, parents, strict=False)
    ]
    mimic = Mimic("revolute_joint", -2.0, 0.1)
    joints.append(Joint("shadow_joint", "revolute", "planar", "shadow", (0.1, 0.2, 0.3), **axis, mimic=mimic))
    points = [Point(f"end_{k}", "fixed", place) for k, place in enumerate(CORNERS)]
    points += [Point(f"side_{k}", "shadow", place) for k, place in enumerate(CORNERS)]
    return Scenario("chain", Machine("chain", Mechanism("chain", bodies, joints, points)), 1e-3)


def put(page, name, value):
    script = "const e = document.querySelector(`.slider[data-joint='${arguments[0]}'] input[type=number]`);"
    page.run(script + "e.value = arguments[1]; e.dispatchEvent(new Event('change'))", name, value)


def places(page):
    """Where the page says points are [m]."""
    found = re.findall(r"(\w+) at \((.*?)\) m", page.text(".caption").replace("−", "-"))
    return {name: [float(part) for part in place.split(",")] for name, place in found}


def test_every_kind_of_joint_stands_where_the_model_puts_it(show, chain):
    page = show(chain)
    first = places(page)
    names = page.run("return [...document.querySelectorAll('.slider')].map((row) => row.dataset.joint)")
    moving = [name for name in names if name != "shadow_joint"]
    # Free 3 + 3, planar 3, revolute, prismatic, screw 1 each, ball 3, universal 2, cylindrical 2.
    assert len(moving) == 19
    rng = np.random.default_rng(3)
    for _ in range(2):
        values = dict(zip(moving, rng.uniform(-1.4, 1.4, len(moving)).round(5).tolist(), strict=True))
        for name, value in values.items():
            put(page, name, value)
        initial = {f"{name}.position": value for name, value in values.items() if " " not in name}
        initial["shadow_joint.position"] = 0.1 - 2 * initial["revolute_joint.position"]
        for ball in ("free_joint", "ball_joint"):
            turned = quaternion_from_rpy(*(values[f"{ball} {tilt}"] for tilt in ("roll", "pitch", "yaw")))
            initial |= dict(zip((f"{ball}.orientation.{part}" for part in "wxyz"), turned, strict=True))
        run = simulate(chain.with_numbers({f"initial.{name}": float(value) for name, value in initial.items()}))
        shown = places(page)
        assert len(shown) == 6
        for point, place in shown.items():
            assert place == pytest.approx([run[f"{point}.position.{axis}"](0.0) for axis in "xyz"], abs=PLACED)
    page.click("button[title='Move all joints to zero']")
    assert places(page) == first


def test_sliders_have_units_and_limits_and_tell_what_is_beyond_them(show, chain):
    page = show(chain)
    row = ".slider[data-joint='screw_joint']"
    assert "−1 … 2" in page.text(row)
    assert page.run("return document.querySelector(arguments[0]).max", f"{row} input[type=range]") == "2"
    assert page.text(f"{row} .unit") == "rad"
    assert page.text(".slider[data-joint='prismatic_joint'] .unit") == "m"
    violated = "return [...document.querySelectorAll('.slider.violated')].map((one) => one.dataset.joint)"
    assert page.run(violated) == []
    put(page, "screw_joint", 2.5)
    assert page.run(violated) == ["screw_joint"]
    assert page.run("return document.querySelector(arguments[0]).disabled", ".slider[data-joint='shadow_joint'] input")


def test_loops_stay_closed_by_the_least_motion_or_all_goes_back(show):
    page = show(four_bars(1))
    assert page.run("return document.querySelectorAll('#notes p').length") == 0
    names = page.run("return [...document.querySelectorAll('.slider')].map((row) => row.dataset.joint)")
    put(page, names[0], 0.9)
    closed = places(page)
    assert closed["end0"] == pytest.approx(closed["top1"], abs=1e-9)
    assert field(page, names[0]) == pytest.approx(0.9)
    assert "do not close" not in page.run("return document.querySelector('#sliders').innerText")


def test_what_cannot_be_closed_goes_back(show):
    """A triangle whose third side is a rod: beyond it the hinge does not turn."""
    bodies = [Body("arm", 1.0, inertia=(1, 1, 1)), Body("tip", 1.0, inertia=(1, 1, 1))]
    joints = [Joint("shoulder", "revolute", GROUND, "arm"), Joint("slide", "prismatic", "arm", "tip", axis=(1, 0, 0))]
    points = [Point("end", "tip", (1, 0, 0)), Point("pin", GROUND, (0, 2.0, 0))]
    machine = Machine("rod", Mechanism("rod", bodies, joints, points), constraints=[Rod("rod", "pin", "end", 5**0.5)])
    page = show(Scenario("rod", machine, 1.0))
    put(page, "shoulder", 0.5)
    # |(r cos 0.5, r sin 0.5) - (0, 2)| = 5^0.5, r = 1 + slide.
    r = 2 * np.sin(0.5) + np.sqrt((2 * np.sin(0.5)) ** 2 + 1)
    assert field(page, "slide") == pytest.approx(r - 1, abs=1e-5)
    put(page, "slide", 4.0)
    assert field(page, "slide") == pytest.approx(r - 1, abs=1e-5)
    assert "The loops do not close there" in page.run("return document.querySelector('#sliders').innerText")


def field(page, name):
    return float(
        page.run(
            "return document.querySelector(arguments[0]).value", f".slider[data-joint='{name}'] input[type=number]"
        )
    )


def boxed(name="boxed"):
    looks = (BoxLook(name="shell", size=(0.4, 0.3, 0.2), colour="#cc2222"),)
    looks += (SphereLook(name="hull", radius=0.5, collision=True),)
    body = Body("box", 2.0, inertia=(0.1, 0.2, 0.25), looks=looks)
    machine = Machine("box", Mechanism("box", [body], [Joint("hinge", "revolute", GROUND, "box")], []))
    return Scenario(name, machine, 1.0)


def reddish(page):
    """Shares of pixels that are red, and of all that are drawn, of the picture."""
    script = """
        let [red, all] = [0, 0];
        for (let k = 0; k < data.length; k += 4) {
            red += data[k + 3] === 255 && data[k] > 60 && data[k + 1] < 0.45 * data[k] && data[k + 2] < 0.45 * data[k];
            all += data[k + 3] > 60;
        }
        return [red, all];"""
    return np.array(page.run(PIXELS + script, "#machine"))


def test_shapes_collisions_and_inertia_are_shown_on_wish(draw):
    page = draw(boxed())
    red, drawn = reddish(page)
    assert red > 5000
    toggle(page, "collision")
    # The hull is clear, so that the box is less red behind it, and larger.
    hidden, larger = reddish(page)
    assert hidden < 0.6 * red
    assert larger > 1.5 * drawn
    toggle(page, "collision")
    assert reddish(page).tolist() == [red, drawn]
    put(page, "hinge", 0.5)
    assert reddish(page).tolist() != [red, drawn]
    for what, canvas in (("inertia", "#machine"), ("centres of mass", "#marks"), ("frames", "#marks")):
        before = page.picture(canvas)
        toggle(page, what)
        assert page.picture(canvas) != before


def test_what_files_say_is_text_and_never_runs(show):
    page = show(boxed(), notes=[EVIL])
    assert page.text("#notes") == EVIL
    assert page.run("return document.querySelectorAll('img').length") == 0
    assert not page.run("return window.broken")


def test_without_webgl_a_sentence_stands_in_the_pictures_place(show):
    page = show(boxed())
    assert "No 3-D picture: this browser" in page.text("#stage")
    put(page, "hinge", 0.5)
    assert page.text(".slider[data-joint='hinge'] output") == "28.6°"
    assert "2 kg" in page.text("#bodies")
