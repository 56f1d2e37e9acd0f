"""Pages of the documentation: what does each show, in which order, and what does it take for granted?

A page is a row of steps: its fences, and the commands `robodyn ...` that stand within its sentences.
"""

import os
import re
import shlex
import shutil
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GIVEN_FILES = Path(__file__).with_name("given_files")
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)[ ]*(?P<mark>\S*)[ ]*\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL
)
DIRECTIVE = re.compile(r"^```\{.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(robodyn\s[^`]+)`")
FORM = re.compile(r"\b[A-Z]{2,}\b|\.\.\.")
"""What stands for something else, as in `robodyn show RUN` or `robodyn plot RUN...`."""


@dataclass(frozen=True)
class Step:
    """A fence of a page, or a command of a sentence, whose mark is "inline"."""

    place: str
    language: str
    mark: str
    text: str


def read_steps(page):
    """All steps of a page, in order."""
    text = page.read_text(encoding="utf-8")
    blank = DIRECTIVE.sub(lambda found: "\n" * found[0].count("\n"), text)
    steps, end = [], 0
    for found in FENCE.finditer(blank):
        steps += _inline_steps(page, blank, end, found.start())
        body = textwrap.dedent(found["text"])
        steps.append(Step(_place(page, blank, found.start()), found["language"], found["mark"], body))
        end = found.end()
    return steps + _inline_steps(page, blank, end, len(blank))


def _inline_steps(page, text, begin, end):
    found = INLINE.finditer(text, begin, end)
    return [
        Step(_place(page, text, one.start()), "console", "inline", f"$ {' '.join(one[1].split())}\n") for one in found
    ]


def _place(page, text, position):
    return f"{page.name}:{text.count(chr(10), 0, position) + 1}"


def read_commands(step):
    """Commands of a console fence with the lines shown below each; lines that go on are joined, remarks left out."""
    for entry in re.split(r"^\$ ", re.sub(r" *\\\n *", " ", step.text), flags=re.MULTILINE)[1:]:
        command, _, shown = entry.partition("\n")
        yield re.sub(r"\s+# .*", "", command).strip(), shown


# Commands that take long are read as they stand and run in a shorter form, with more options, or as another command.
# None: it serves until Ctrl-C, asks for a cluster, needs a package of one's own, or a study's tests run it.
SHORTER = {
    "robodyn studio": None,
    "robodyn run crane-load": None,
    "robodyn reproduce crane": None,
    "robodyn view out/scara-ptp.run": None,
    "robodyn view ur5.urdf": "--out view.html --no-browser",
    "robodyn sweep two-link-loop --random *.friction.coulomb=scale:0.8:1.2 --on dask": None,
    "robodyn reproduce scara": '--part "forms of the model"',
    "robodyn reproduce epaas": '--part "Inertia and coupling"',
    "robodyn reproduce rx90": '--part "The task"',
    "robodyn reproduce rx90 --page": "robodyn reproduce rx90 --part 'The task'",
    "robodyn plot rx90": None,
    "robodyn budget rx90-weld --along path.s --signal": "--points 20 --set duration=0.1 --no-plot",
    "robodyn budget rx90-weld": None,
    "robodyn budget line.toml": "--points 20 --no-plot",
    "robodyn sensitivity line.toml": "--set duration=0.1 --change 0",
    # The demo makes this page of the whole weld: see test_make_targets.py.
    "robodyn report rx90-weld": "--set duration=0.5",
    "robodyn sheet": "--no-budget",
    "robodyn sheet rx90-weld": None,
    "robodyn sweep rx90-weld": "--runs 2 --points 11 --no-plot --set duration=0.5",
    "robodyn sweep arm.toml": "--runs 4 --no-plot",
    "robodyn sweep arm.toml --vary": "--no-plot",
    "robodyn run quadruped": "--duration 0.05",
    "robodyn run delta-stack": None,
    "robodyn fit slide.toml slide.csv --compare-laws all": "--compare-laws viscous_friction",
    "robodyn fit epaas-rig-extend": "--starts 1",
    "robodyn tune examples/gantry_feed_forward.toml": "robodyn tune axis.toml --minimise peak:error "
    "--free '*.derivative' --subject-to margin>=now --subject-to phase>=now --bounds '*.derivative=300:700' "
    "--points 101",
    "robodyn tune rx90-weld": "robodyn tune axis.toml --minimise peak:error --free loop.derivative "
    "--subject-to 'margin:l*>=6 dB' --subject-to 'phase:l*>=45 deg' --points 101",
    # A robot of two joints stands for one of six.
    "robodyn dress ur5.toml": "robodyn dress ur5.toml --payload '2 kg' --tool tool0 --out dressed.toml "
    "--set 'initial.shoulder_lift_joint.position=-60 deg' --set 'initial.elbow_joint.position=90 deg'",
    "robodyn move dressed.toml --line 0,0.5,0": "--line 0,0,0.05",
    "robodyn move dressed.toml --cube 0.4": "--cube 0.02 --pause 0.05",
}


def shorten(command):
    """Words of the command to run in place of one, or None where it is only read."""
    words = shlex.split(command.partition(" > ")[0])
    fitting = [key for key in SHORTER if " ".join(words).startswith(key)]
    more = SHORTER[max(fitting, key=len)] if fitting else ""
    if more is None:
        return None
    return shlex.split(more) if more.startswith("robodyn ") else [*words, *shlex.split(more)]


LOGS = (
    *("arm.toml", "map.toml", "robodyn run arm.toml", "robodyn run arm.toml --set tool.mass=2.5 --out second"),
    *("robodyn export out/arm.run --to csv --out run1.csv", "robodyn export out/arm.run --to csv --out log.csv"),
    *(
        "robodyn export second/arm.run --to csv --out run2.csv",
        "robodyn export second/arm.run --to csv --out other.csv",
    ),
    "robodyn export second/arm.run --to mcap --out run2.mcap",
)
# What readers of a page have before they begin: files of ours, files that another page shows, and what commands make.
GIVEN = {
    "README": ("ur5.urdf",),
    "your-own-robot": ("ur5.urdf",),
    "report": ("findings.md", "ur5.urdf"),
    "toml": ("drive.onnx",),
    "accuracy": (
        *("cartesian.toml", "drives.toml", "control.toml"),
        "robodyn dress cartesian.toml --drives drives.toml --control control.toml --out dressed.toml",
    ),
    "analysis-linear": (
        "robodyn export examples/gantry.toml --to toml --out before.toml",
        "robodyn export examples/gantry.toml --set y.velocity_loop.proportional=1 --to toml --out after.toml",
        "robodyn run before.toml --duration 0.2",
        "robodyn run after.toml --duration 0.2",
    ),
    "fitting": (
        *LOGS,
        "slide.toml",
        "robodyn run slide.toml --rate 500",
        "robodyn export out/slide.run --to csv --out slide.csv",
    ),
    "identification": LOGS,
    "measurements": (*LOGS, "robot.csv", "tracker.csv"),
    "compare-with-measurements": (
        "robodyn export pendulum --to toml --out scenario.toml",
        "robodyn run scenario.toml --rate 200 --signal hinge.*",
        "robodyn export out/scenario.run --to csv --out log.csv",
    ),
    "try-many-variants": ("your-first-robot.md", "robodyn run arm.toml"),
    "share-results": ("your-first-robot.md", "robodyn run arm.toml", "robodyn run arm.toml --out heavy"),
}


def lay_out(page, folder, run):
    """Put what a page takes for granted into a folder; `run` carries out the words of a command."""
    os.symlink(ROOT / "examples", folder / "examples")
    for one in GIVEN.get(page.stem, ()):
        if one.startswith("robodyn "):
            run(shlex.split(one))
        elif one.endswith(".md") and (ROOT / "docs" / one).is_file():
            for step in read_steps(ROOT / "docs" / one):
                action, _, file = step.mark.partition("=")
                if action in ("file", "append"):
                    with open(folder / file, "a", encoding="utf-8") as target:
                        target.write(step.text)
        else:
            shutil.copy(GIVEN_FILES / one, folder / one)
