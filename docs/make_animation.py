"""Make the animated picture of the README: a UR5 carries 2 kg along a line; how far it misses, and why.

    python docs/make_animation.py

imports the robot of example-robot-data, dresses and moves it, writes the report page of the run, plays that page in
Chromium without a window, and writes docs/images/ur5-line.webp. It takes some minutes, and needs what tests need:
`make setup`, chromium and chromedriver.
"""

from __future__ import annotations

import base64
import io
import subprocess
import sys
import tempfile
from importlib.metadata import files
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import open_browser  # noqa: E402

PICTURE = ROOT / "docs" / "images" / "ur5-line.webp"
NAME = "UR5 carrying 2 kg along a line"
POSE = {"shoulder_lift": -60, "elbow": 90, "wrist_1": -120, "wrist_2": -90}
"""Where the robot stands at first [deg]."""
WINDOW = (1280, 784)
WIDTH = 1000
"""Of the picture [pixels]."""
FRAMES, PAUSE = 64, 2000
"""Number of frames; how long the last one stands [ms]."""
LARGEST = 3_000_000
"""Of the picture [bytes]."""
ONLY_THE_ANSWER = "#plots, #folds, nav, #exports { display: none !important; } body { overflow: hidden; }"
SHOW_TIME = """
    const scrub = document.querySelector('#scrub');
    scrub.value = arguments[0] * scrub.max;
    scrub.dispatchEvent(new Event('input'));"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = write_page(Path(folder))
        frames = play_page(page, Path(folder) / "profile")
    size = write_picture(frames)
    sys.stdout.write(f"{PICTURE.relative_to(ROOT)}: {len(frames)} frames, {size / 1e6:.1f} MB\n")


def write_page(folder: Path) -> Path:
    """The report page of the UR5 on its line, as docs/your-own-robot.md makes it."""
    robot = next(file.locate() for file in files("example-robot-data") or () if file.name == "ur5_robot.urdf")
    pose = [part for joint, angle in POSE.items() for part in ("--set", f"initial.{joint}_joint.position={angle} deg")]
    tool = ["--tool", "tool0"]
    for command in (
        ["import", str(robot), "--embed", "--out", "ur5.toml"],
        ["dress", "ur5.toml", "--payload", "2 kg", *tool, *pose, "--out", "dressed.toml"],
        ["move", "dressed.toml", "--line", "0,0.5,0", *tool, "--speed", "0.25", "--out", f"{NAME}.toml"],
        ["report", f"{NAME}.toml", "--limit", "5 mm", "--out", f"{NAME}.html"],
    ):
        program = [sys.executable, "-c", "from robodyn.cli import main; main()", *command]
        subprocess.run(program, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / f"{NAME}.html"


def play_page(page: Path, profile: Path) -> list[Image.Image]:
    """What the page shows at times from start to end."""
    frames = []
    with open_browser(profile, webgl=True) as browser, browser.sized(*WINDOW):
        # The page's content security policy lets in no other style.
        browser._develop("Page.setBypassCSP", enabled=True)
        browser.open(page.as_uri())
        style = "const s = document.createElement('style'); s.textContent = arguments[0]; document.head.append(s);"
        browser.run(style, ONLY_THE_ANSWER)
        for k in range(FRAMES):
            browser.run(SHOW_TIME, k / (FRAMES - 1))
            # Two frames of the browser: one in which it hears of the time, one in which it has drawn it.
            browser.run("window.drawn = 0; const f = () => ++window.drawn < 3 && requestAnimationFrame(f); f();")
            browser.wait("window.drawn >= 3")
            shot = browser._call("GET", f"/session/{browser.session}/screenshot")
            image = Image.open(io.BytesIO(base64.b64decode(shot))).convert("RGB")
            height = round(image.height * WIDTH / image.width)
            frames.append(image.resize((WIDTH, height), Image.Resampling.LANCZOS))
    return frames


def write_picture(frames: list[Image.Image]) -> int:
    """Write the frames as one picture, as good as its size allows; returns its size [bytes]."""
    durations = [60] * (len(frames) - 1) + [PAUSE]
    for quality in (80, 70, 60, 50, 40):
        options = {"append_images": frames[1:], "duration": durations, "loop": 0, "quality": quality, "method": 4}
        frames[0].save(PICTURE, save_all=True, **options)
        size = PICTURE.stat().st_size
        if size <= LARGEST:
            return size
    raise SystemExit(f"{PICTURE}: {size / 1e6:.1f} MB even at the lowest quality: take fewer frames")


if __name__ == "__main__":
    main()
