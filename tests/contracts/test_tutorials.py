"""Do the tutorials run? Every cell of every page, in order, with what its last line shows."""

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "tutorials"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.stem != "index")
CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_cell(text, place, names):
    """Execute a cell as a notebook does; the value of a last line that is an expression."""
    *body, last = ast.parse(text).body
    if not isinstance(last, ast.Expr):
        body, last = [*body, last], None
    exec(compile(ast.Module(body, []), place, "exec"), names)
    return eval(compile(ast.Expression(last.value), place, "eval"), names) if last else None


def show(value):
    """What a notebook would show of a value, as text or bytes."""
    ways = [way for way in ("_repr_png_", "_repr_html_", "__repr__") if hasattr(value, way)]
    return getattr(value, ways[0])()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_cell_of_a_tutorial_runs_and_shows_something(page, monkeypatch):
    monkeypatch.chdir(FOLDER)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("---\nfile_format: mystnb\n")
    names, pictures = {}, 0
    for k, cell in enumerate(CELL.findall(text)):
        value = run_cell(cell, f"{page.name}, cell {k + 1}", names)
        pictures += value is not None and show(value)[:4] == b"\x89PNG"
    assert pictures >= 1
    # Something is proved on each page, not only shown.
    assert "\nassert " in text


def test_there_are_seven_tutorials_and_all_are_listed():
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert len(PAGES) == 7
    assert all(f"({page.name})" in index and f"\n{page.stem}\n" in index for page in PAGES)
