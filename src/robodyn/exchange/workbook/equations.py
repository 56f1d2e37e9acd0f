"""Equations sheet: how does the model read? As text, state by state, with the helpers named."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.computation.assembly import System
from robodyn.computation.native.formulas import READABLE
from robodyn.exchange.workbook.cells import Placement, replace_marks, write_formulas
from robodyn.exchange.workbook.columns import Columns, rate_unit
from robodyn.exchange.workbook.row import BEFORE, DUE, END, PARAMETER, STEP, P, RowProgram, T, X

HOUSE_FORM = "M(q) a + c(q, v) = tau_drive + tau_friction + tau_load, solved for the accelerations a"
STEPS = {
    "euler": ("x[k+1] = x[k] + h f(t[k], x[k], m[k])",),
    "heun": (
        "predicted x = x[k] + h f(t[k], x[k], m[k])",
        "x[k+1] = x[k] + h (f(t[k], x[k], m[k]) + f(t[k] + h, predicted x, m[k])) / 2",
    ),
}


@dataclass(frozen=True)
class Equation:
    """A line: left and right side, unit, and the column or cell where it is computed."""

    left: str
    right: str
    unit: str = ""
    place: str = ""


def write_equations(
    system: System, row: RowProgram, columns: Columns, placement: Placement, method: str
) -> dict[str, list[Equation]]:
    """The sections of the page and their equations."""
    reader = _Reader(system, row, columns, placement)
    sections = {"Method": [Equation("", text) for text in STEPS[method]]}
    if system.motion.mechanics is not None:
        sections["Mechanics"] = [Equation("", HOUSE_FORM)]
    sections["States"] = reader.states()
    sections["Limits"] = reader.limits()
    for title, group in (("Memory", "memory"), ("Signals", "signals"), ("Guards", "events"), ("Helpers", "helpers")):
        sections[title] = reader.group(group)
    sections["Derived from parameters"] = reader.derived()
    return {title: lines for title, lines in sections.items() if lines}


class _Reader:
    """Gives nodes the names people know them by."""

    def __init__(self, system: System, row: RowProgram, columns: Columns, placement: Placement) -> None:
        self.system, self.row, self.columns = system, row, columns
        self.derived_names = {node: f"derived_{k}" for k, node in enumerate(placement.derived, start=1)}
        self.texts = write_formulas(row.program, placement.cells, READABLE, lambda number: f"table_{number:x}")
        self.titles = {column.key: column.name for column in columns.columns}

    def name(self, number: int) -> str:
        node = self.row.program.nodes[number]
        if number in self.columns.homes:
            return self.titles[self.columns.homes[number]]
        if number in self.derived_names:
            return self.derived_names[number]
        if node[0] == "const":
            return self.texts[number]
        return self._input(node[1], node[2]) if node[0] == "input" else self.right(number)

    def _input(self, kind: int, k: int) -> str:
        if kind == X:
            return self.system.states[k].name
        if kind == P:
            return self.system.parameters[k].name
        if kind == BEFORE:
            return f"{self.system.memory[k].name} before"
        return {T: "t", STEP: "h", END: "t at the end", DUE: f"sample {k + 1} due"}[kind]

    def right(self, number: int) -> str:
        """The right side of a node's own equation."""
        if self.row.program.nodes[number][0] in ("const", "input"):
            return self.name(number)
        return replace_marks(self.texts[number], self.name)

    def states(self) -> list[Equation]:
        """The rate of every state; one that is a signal already is written out there."""
        found = []
        for k, (state, node) in enumerate(zip(self.system.states, self.row.outputs["rates"], strict=True)):
            right = self.right(node) if self.columns.homes.get(node) == ("rate", k) else self.name(node)
            found.append(Equation(f"{state.name}'", right, rate_unit(state.unit), self.columns.letters[("x", k)]))
        return found

    def limits(self) -> list[Equation]:
        limited, nodes = self.system.limited, self.row.outputs["limits"]
        found = []
        for at, k in enumerate(limited):
            state, lower, upper = self.system.states[k], self.name(nodes[at]), self.name(nodes[at + len(limited)])
            found.append(Equation("", f"{lower} <= {state.name} <= {upper}", state.unit))
        return found

    def group(self, group: str) -> list[Equation]:
        """The equations of a group of columns."""
        found = []
        for column in self.columns.columns:
            if column.group == group and column.node is not None:
                home = self.columns.homes.get(column.node, column.key) == column.key
                right = self.right(column.node) if home else self.name(column.node)
                found.append(Equation(column.name, right, column.unit, self.columns.letters[column.key]))
        return found

    def derived(self) -> list[Equation]:
        nodes = self.derived_names.items()
        return [Equation(name, self.right(node)) for node, name in nodes if self.row.kinds[node] == PARAMETER]
