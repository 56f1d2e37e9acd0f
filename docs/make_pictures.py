"""Make the pictures of pages: the README's animation and the screenshots of the documentation.

    python docs/make_pictures.py                # all
    python docs/make_pictures.py animation studio

Each is made from what the program does now, in Chromium without a window. All of them take some minutes, and need what
tests need: `make setup`, chromium and chromedriver.
"""

from __future__ import annotations

import base64
import io
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import open_browser  # noqa: E402
from support.studios import drag, serving  # noqa: E402

DRAWN = "window.drawn = 0; const next = () => ++window.drawn < 3 && requestAnimationFrame(next); next();"
SHOW_TIME = """
    const scrub = document.querySelector('#scrub');
    scrub.value = arguments[0] * scrub.max;
    scrub.dispatchEvent(new Event('input'));"""


def run_robodyn(folder: Path, *arguments: str) -> None:
    program = [sys.executable, "-c", "from robodyn.cli import main; main()", *arguments]
    subprocess.run(program, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def open_styled(browser: Any, page: Path, style: str) -> None:
    """Open a page with some style of its own."""
    # Its content security policy lets in no other one.
    browser._develop("Page.setBypassCSP", enabled=True)
    browser.open(page.as_uri())
    browser.run(
        "const s = document.createElement('style'); s.textContent = arguments[0]; document.head.append(s)", style
    )


def take_picture(browser: Any, selector: str = "") -> Image.Image:
    """What is seen now, or one element of it."""
    # Three frames of the browser: it has heard of what changed, and has drawn it.
    browser.run(DRAWN)
    browser.wait("window.drawn >= 3")
    shot = browser._call("GET", f"/session/{browser.session}/screenshot")
    image = Image.open(io.BytesIO(base64.b64decode(shot))).convert("RGB")
    if not selector:
        return image
    box = browser.run("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", selector)
    return image.crop([round(box[side]) for side in ("left", "top", "right", "bottom")])


# The animation: a UR5 carries 2 kg along a line; how far it misses, and why. The commands are those of
# docs/your-own-robot.md.

NAME = "UR5 carrying 2 kg along a line"
POSE = {"shoulder_lift": -60, "elbow": 90, "wrist_1": -120, "wrist_2": -90}
"""Where the robot stands at first [deg]."""
WIDTH = 1000
"""Of the picture [pixels]."""
FRAMES, FRAME, PAUSE = 64, 60, 2000
"""Number of frames, how long each one stands, and the last one [ms]."""
LARGEST = 3_000_000
"""Of the picture [bytes]."""
ONLY_THE_ANSWER = "#plots, #folds, nav, #exports { display: none !important; } body { overflow: hidden; }"


def make_animation(browser: Any, folder: Path) -> None:
    """docs/images/ur5-line.webp, as good as its size allows."""
    robot = next(file.locate() for file in files("example-robot-data") or () if file.name == "ur5_robot.urdf")
    pose = [part for joint, angle in POSE.items() for part in ("--set", f"initial.{joint}_joint.position={angle} deg")]
    tool = ("--tool", "tool0")
    run_robodyn(folder, "import", str(robot), "--embed", "--out", "ur5.toml")
    run_robodyn(folder, "dress", "ur5.toml", "--payload", "2 kg", *tool, *pose, "--out", "dressed.toml")
    run_robodyn(folder, "move", "dressed.toml", "--line", "0,0.5,0", *tool, "--speed", "0.25", "--out", f"{NAME}.toml")
    run_robodyn(folder, "report", f"{NAME}.toml", "--limit", "5 mm", "--out", f"{NAME}.html")
    frames = []
    with browser.sized(1280, 784):
        open_styled(browser, folder / f"{NAME}.html", ONLY_THE_ANSWER)
        for k in range(FRAMES):
            browser.run(SHOW_TIME, k / (FRAMES - 1))
            frame = take_picture(browser)
            frames.append(frame.resize((WIDTH, round(frame.height * WIDTH / frame.width)), Image.Resampling.LANCZOS))
    path = IMAGES / "ur5-line.webp"
    durations = [FRAME] * (len(frames) - 1) + [PAUSE]
    for quality in (80, 70, 60, 50, 40):
        options = {"append_images": frames[1:], "duration": durations, "loop": 0, "quality": quality, "method": 4}
        frames[0].save(path, save_all=True, **options)
        if path.stat().st_size <= LARGEST:
            return
    raise SystemExit(f"{path}: above {LARGEST / 1e6:g} MB even at the lowest quality: take fewer frames")


def make_studio(browser: Any, folder: Path) -> None:
    """docs/images/studio.png: the weld, its causes computed and a number moved."""
    with serving("rx90-weld") as server, browser.sized(1440, 900):
        browser.open(server.address)
        browser.wait("document.querySelector('#machine')")
        drag(browser, "payload.mass", 2.0)
        browser.run(
            "const s = document.querySelector('#number-search'); s.value = ''; s.dispatchEvent(new Event('input'))"
        )
        browser.wait("document.querySelector('#file-state').textContent.startsWith('edited')")
        browser.click("#tiles button[title^=Split]")
        browser.wait("document.querySelector('.cause')")
        # Numbers are ranked beside it.
        while browser.text("#order") != "most influential first":
            time.sleep(1)
        browser.click("#tab-play")
        browser.run(SHOW_TIME, 0.51)
        take_picture(browser).save(IMAGES / "studio.png", optimize=True)
        browser.leave()


def make_live(browser: Any, folder: Path) -> None:
    """docs/images/live-scara.png: a slider of a live page is moved."""
    run_robodyn(folder, "report", "scara-ptp", "--live", "--out", "scara.html")
    with browser.sized(1280, 720):
        browser.open((folder / "scara.html").as_uri())
        drag(browser, "shoulder.control.limit", 25.0)
        browser.wait("document.querySelector('#live-status').textContent.startsWith('1 number')")
        browser.run(SHOW_TIME, 0.4)
        take_picture(browser).save(IMAGES / "live-scara.png", optimize=True)


ONLY_THE_MACHINE = """
    header, footer, #notes, #tiles, #right, #folds, #replay-tools { display: none !important; }
    #workspace { grid-template-columns: minmax(0, 1fr) !important; }
    #picture { height: calc(100vh - 3rem) !important; }"""


def make_machines(browser: Any, folder: Path) -> None:
    """docs/images/quadruped.png and catalogue-robots.png: machines on their ways."""
    pictures = []
    for scenario, share in (("quadruped", 0.5), ("rover", 0.6), ("quadrotor", 0.6), ("arm-on-slope", 0.5)):
        run_robodyn(folder, "report", scenario, "--fast", "--out", f"{scenario}.html")
        with browser.sized(*((1000, 560) if scenario == "quadruped" else (560, 420))):
            open_styled(browser, folder / f"{scenario}.html", ONLY_THE_MACHINE)
            browser.run(SHOW_TIME, share)
            pictures.append(take_picture(browser, "#picture"))
    quadruped, *robots = pictures
    quadruped.save(IMAGES / "quadruped.png", optimize=True)
    width, height = robots[0].size
    row = Image.new("RGB", (3 * width + 40, height), "white")
    for k, robot in enumerate(robots):
        row.paste(robot, (k * (width + 20), 0))
    row.save(IMAGES / "catalogue-robots.png", optimize=True)


MAKERS: dict[str, Callable[[Any, Path], None]] = {
    "animation": make_animation,
    "studio": make_studio,
    "live": make_live,
    "machines": make_machines,
}


def main() -> None:
    names = sys.argv[1:] or list(MAKERS)
    if unknown := [name for name in names if name not in MAKERS]:
        raise SystemExit(f"{', '.join(unknown)}: unknown, choose among {', '.join(MAKERS)}")
    for name in names:
        with tempfile.TemporaryDirectory() as folder, open_browser(Path(folder) / "profile", webgl=True) as browser:
            MAKERS[name](browser, Path(folder))


if __name__ == "__main__":
    main()
