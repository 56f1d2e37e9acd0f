"""Gallery: what do the examples show? A page each with its picture and its code, made at every build.

An example begins with a question, has a `main()` that returns numbers, and a `draw(path)` that draws them.
"""

from __future__ import annotations

import ast
import os
import re
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
EXAMPLES, FOLDER = ROOT / "examples", ROOT / "docs" / "gallery"
GROUPS: dict[str, tuple[str, ...]] = {
    "Mechanisms in motion": (
        *("pendulum_period", "tumbling_body", "atwood_machine", "slider_crank"),
        *("cantilever_beam", "quadratic_drag", "dh_arm", "urdf_arm"),
    ),
    "Contact, friction, breaking": ("bouncing_ball", "sliding_box", "stick_slip", "breaking_rope"),
    "Drives and control": (
        *("dc_motor_start", "sampled_loop", "loop_margins", "delayed_loop"),
        *("input_shaping", "computed_torque", "cart_pole", "learn_to_balance", "swing_up_mpc"),
    ),
    "Many runs, data, modes": ("many_pendulums", "parameter_sweep", "fit_oscillator", "pendulum_modes"),
    "Together with other programs": ("coupled_oscillators", "pendulum_fmu"),
}
HEAD = """# Gallery

Short programs, one idea each. The tests run every one of them and hold what it returns against a closed form, a second
method or another program. The files are in `examples/`.
"""


def read_head(name: str) -> tuple[str, str]:
    """An example's question, and what its docstring says after it."""
    doc = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))) or ""
    question, mark, rest = re.sub(r"\s+", " ", doc.partition("\n\n")[0]).partition("?")
    return question + mark, f"{rest.strip()}\n\n{doc.partition(chr(10) * 2)[2]}".strip()


def load(name: str) -> ModuleType:
    """An example as a module."""
    loader = SourceFileLoader(f"example_{name}", str(EXAMPLES / f"{name}.py"))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    return module


def draw(name: str) -> bool:
    """Draw an example's picture, unless a younger one is there; whether there is one."""
    picture, source = FOLDER / f"{name}.png", EXAMPLES / f"{name}.py"
    if not picture.is_file() or picture.stat().st_mtime < source.stat().st_mtime:
        try:
            load(name).draw(picture)
        except ModuleNotFoundError:  # Another program that the example uses is not installed.
            return False
    return True


def make_page(name: str, drawn: bool) -> str:
    question, text = read_head(name)
    picture = f"![{question}]({name}.png)\n\n" if drawn else ""
    code = f"```{{literalinclude}} ../../examples/{name}.py\n:language: python\n```\n"
    return f"# {question}\n\n{text}\n\n{picture}`examples/{name}.py`\n\n{code}"


def make_index(drawn: dict[str, bool]) -> str:
    parts = [HEAD]
    for group, names in GROUPS.items():
        cards = "\n".join(_card(name, drawn[name]) for name in names)
        parts.append(f"## {group}\n\n::::{{grid}} 1 2 2 2\n:gutter: 3\n\n{cards}\n::::\n")
    listed = "\n".join(name for names in GROUPS.values() for name in names)
    return "\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n"])


def _card(name: str, drawn: bool) -> str:
    image = f":img-top: {name}.png\n" if drawn else ""
    return f":::{{grid-item-card}} {read_head(name)[0]}\n{image}:link: {name}\n:link-type: doc\n:::\n"


def write_pages() -> None:
    FOLDER.mkdir(exist_ok=True)
    read_only = bool(os.environ.get("ROBODYN_SITE_READ_ONLY"))
    drawn = {name: not read_only and draw(name) for names in GROUPS.values() for name in names}
    pages = {name: make_page(name, drawn[name]) for name in drawn} | {"index": make_index(drawn)}
    for name, text in pages.items():
        path = FOLDER / f"{name}.md"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda _: write_pages())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
