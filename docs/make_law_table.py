"""Which laws are there? Writes the table in docs/laws.md from the laws' own signatures, units and docstrings.

Run it after a law has changed: `python docs/make_law_table.py`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from robodyn.analysis.model_stand_in import UnitModel
from robodyn.description.laws import MODULES, Law, arguments_of, info_of
from robodyn.description.model.control_model import find_rows

PAGE = Path(__file__).with_name("laws.md")
FOLDED = {"target": (1.0, 0.0, 0.0, 0.0)}
"""Of parameters that are no tables."""
TASK = ("target", "stiffness", "damping")
"""What a task of positions needs."""
BEGIN, END = "<!-- law table: begin -->", "<!-- law table: end -->"


def write_table(page: str) -> str:
    """The page with the part between its marks replaced by the present table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{make_table()}{END}{after}"


def make_table() -> str:
    """One section a module, one row a law."""
    return "".join(_section(module) for module in MODULES)


def _section(module: ModuleType) -> str:
    name = module.__name__.rpartition(".")[2]
    question = _first_line(module)
    head = f"\n### {name}\n\n{question}\n\n| law | inputs | parameters | outputs | states and memory |\n"
    rows = [_row(law, function) for law, function in vars(module).items() if isinstance(function, Law)]
    return head + "| --- | --- | --- | --- | --- |\n" + "\n".join(rows) + "\n\n"


def _row(name: str, law: Callable[..., Any]) -> str:
    info = info_of(law)
    kept = [*info.states, *info.memory]
    given = [a for a in arguments_of(law) if a.name not in kept]
    inputs = [_with_unit(a.name, info.units) for a in given if not a.keyword_only]
    parameters = [_with_unit(a.name, info.units) + _default(a) for a in given if a.keyword_only]
    stored = [f"{_with_unit(n, info.units)}, state" for n in info.states]
    stored += [f"{_with_unit(n, info.units)}, memory" for n in info.memory]
    outputs = [_with_unit(n, info.units) for n in _returned(law)]
    cells = [f"`{name}`: {_first_line(law)}", *map(_join, (inputs, parameters, outputs, stored))]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _returned(law: Callable[..., Any]) -> list[str]:
    """Names of a law's outputs, from one call with ones; rates and new memory are known by their endings."""
    info = info_of(law)
    needed = [a for a in arguments_of(law) if not a.has_default or a.name in TASK]
    arguments: dict[str, Any] = {a.name: 1.0 for a in needed}
    arguments |= {a.name: FOLDED.get(a.name, (0.0, 1.0)) for a in needed if a.name in info.folded}
    if "model" in arguments:
        arguments |= {a.name: (1.0,) for a in needed if not a.keyword_only}
        arguments["model"] = UnitModel(("axis",), find_rows(("axis.position",), "world"))
    hidden = {f"{n}_dot" for n in info.states} | {f"{n}_next" for n in info.memory}
    return [name for name in law(**arguments) if name not in hidden]


def _with_unit(name: str, units: Any) -> str:
    return f"`{name}` [{units[name]}]" if units.get(name) else f"`{name}`"


def _default(argument: Any) -> str:
    if not argument.has_default:
        return ""
    if isinstance(argument.default, tuple):
        return f" = {', '.join(f'{value:g}' for value in argument.default)}" if argument.default else " = none"
    return " = inf" if argument.default == math.inf else f" = {argument.default:g}"


def _first_line(documented: Any) -> str:
    return (inspect.getdoc(documented) or "").splitlines()[0]


def _join(cells: list[str]) -> str:
    return "<br>".join(cells)


if __name__ == "__main__":
    PAGE.write_text(write_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
