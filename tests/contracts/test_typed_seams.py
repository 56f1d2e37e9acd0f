"""Parts know each other by types: nobody asks an object by the text of a name whether it can do something."""

import ast
from pathlib import Path

import pytest

import robodyn

ROOT = Path(robodyn.__file__).parent
# Descriptions are read and checked field by field.
DESCRIBING = ("model", "files", "catalog", "studies")
# FMPy's functions are called after types of variables: "get" + "Float64"; CasADi's operators after their operation; and
# users' own units of a co-simulation are asked once, at the border, what they can do.
FOREIGN = ("fmpy_adapter.py", "operators.py", "unit.py")
SOURCES = [
    path
    for path in sorted(ROOT.rglob("*.py"))
    if not {*path.relative_to(ROOT).parts[:2]} & {*DESCRIBING} and path.name not in FOREIGN
]


def asks_by_name(node):
    """hasattr, and getattr with a name written out or put together on the spot."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return False
    if node.func.id == "getattr":
        return isinstance(node.args[1], ast.Constant | ast.JoinedStr)
    return node.func.id in ("hasattr", "methodcaller")


@pytest.mark.parametrize("call", ["hasattr(x, 'a')", "getattr(x, 'a', 0)", "getattr(x, f'get{a}')()"])
def test_a_question_by_name_is_found(call):
    assert any(asks_by_name(node) for node in ast.walk(ast.parse(call)))


def test_no_part_asks_another_by_the_name_of_a_method():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if asks_by_name(node)
    ]
    assert len(SOURCES) > 300
    assert found == []
