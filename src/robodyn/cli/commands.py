"""Commands by group: which are there, what is each for, and how is it called?

Each name is a module of this package, which registers the command when it is loaded. The examples are those of
`robodyn guide`, so they are written once and a test runs them.
"""

from __future__ import annotations

from pathlib import Path

GROUPS = {
    "Describe a machine": {
        "list": "scenarios of the catalogue",
        "new": "write a small commented scenario to begin with",
        "import": "read a robot file (URDF, SDF, MJCF) and account for all of it",
        "check": "read and assemble a scenario, report every problem",
        "dress": "add drives, friction, encoders and tuned loops to a robot",
        "move": "move joints, or a tool along a line or to poses",
        "design": "gains of state controllers: LQR, LQG, observers",
        "schema": "JSON Schema of scenario files, or of what a command prints",
    },
    "Run": {
        "run": "simulate a scenario or an FMU and keep the run",
        "sweep": "many runs with other numbers, on all cores or a cluster",
        "perturb": "simulate near a nominal motion: linear mechanics, full friction",
        "cosim": "simulate subsystems that meet at communication points",
    },
    "Look": {
        "show": "summary of a run",
        "plot": "pictures of runs: over time, against each other, in space",
        "report": "one self-contained page: plots, 3-D replay, events, numbers",
        "view": "a machine with a slider for every joint, or a report, in the browser",
        "studio": "change numbers, see the machine answer: a page on this computer",
        "compare": "largest differences between two runs",
    },
    "Analyse": {
        "modes": "frequencies, damping and shapes of the modes",
        "poles": "poles, zeros and what truncation leaves of them",
        "kinematics": "closed loops: motors to a point, and back",
        "loops": "bandwidth and margins of every sampled loop",
        "bode": "loops over frequency, open and closed",
        "step": "step responses: overshoot, rise and settling time",
        "sensitivity": "which parameters a signal depends on most",
        "budget": "of what a deviation consists; the parts add up",
        "sheet": "accuracy and repeatability by ISO 9283, with their causes",
        "circle": "circular deviation and quadrant peaks by ISO 230-4",
        "tune": "gains that make a motion best within margins",
    },
    "Measure": {
        "data": "rates, gaps, noise and saturation of measured signals",
        "excite": "the motion that tells most of a machine's numbers",
        "identify": "masses, inertias and friction by inverse dynamics",
        "fit": "numbers of a scenario fitted to measured signals",
        "validate": "prediction errors on data that were not seen",
    },
    "Export and more": {
        "export": "tables, TOML, spreadsheets, FMUs, C and WebAssembly",
        "reproduce": "published studies: their figures beside ours",
        "guide": "how to drive this program, for people and assistants",
        "info": "versions, and the cache of native code",
    },
}
"""What each command is for, in the order of the help."""

COMMANDS = tuple(name for group in GROUPS.values() for name in group)


def read_guide() -> str:
    """The guide, as it is printed."""
    return Path(__file__).with_name("guide.md").read_text(encoding="utf-8")


def examples_of(command: str) -> list[str]:
    """Lines of the guide that call this command."""
    begin = f"$ robodyn {command}"
    lines = [line.removeprefix("$ ") for line in read_guide().splitlines() if line.startswith(begin)]
    return [line for line in lines if line.split()[1] == command]
