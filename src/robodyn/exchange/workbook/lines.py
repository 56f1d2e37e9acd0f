"""Formulas of a row: which stands in a column, in the first row of the run and in every later one?

In these texts {r} stands for the number of the formula's own line on the sheet and {p} for that of the line before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robodyn.computation.assembly import System
from robodyn.computation.native.formulas import is_infinite, write_number
from robodyn.exchange.workbook.cells import replace_marks
from robodyn.exchange.workbook.columns import Column, Columns, Key
from robodyn.exchange.workbook.parameters import ParameterSheet
from robodyn.exchange.workbook.row import BEFORE, DUE, END, STEP, P, RowProgram, T, X

# A reference that jumps at the end of a step is read just before it; nearer times are equal to spreadsheets.
JUST_BEFORE = "(1-1E-12)"
BREAK_WIDTH = "1E-6"


@dataclass(frozen=True)
class LineWriter:
    """Writes the formulas of columns.

    Attributes:
        formulas: node -> text with marks; names: of the cells beside the parameters.
        breaks: range of the times at which references jump, empty without any.
    """

    system: System
    row: RowProgram
    columns: Columns
    formulas: dict[int, str]
    names: ParameterSheet
    breaks: str = ""

    def write(self, column: Column) -> tuple[str, str]:
        """Formulas of the first row and of the later ones."""
        special = _SPECIAL.get(column.key[0])
        if special is not None:
            return special(self, column.key[1])
        assert column.node is not None
        at_home = self.columns.homes.get(column.node) == column.key
        text = self.formulas[column.node] if at_home else None
        return self._fill(column.node, text, first=True), self._fill(column.node, text, first=False)

    def _fill(self, node: int, text: str | None, first: bool) -> str:
        if text is None:
            return f"={self.place(node, first)}"
        return "=" + replace_marks(text, lambda number: self.place(number, first))

    def place(self, number: int, first: bool = False) -> str:
        """Where a node is found: a cell of the same row, of the row before, a name, or a number."""
        node = self.row.program.nodes[number]
        if number in self.columns.homes:
            return f"{self._letter(self.columns.homes[number])}{{r}}"
        if node[0] == "const":
            return write_number(node[1]).text
        if node[0] != "input":
            return self.names.derived[number] if number in self.names.derived else self._inline(number, first)
        if node[1] == BEFORE and first:
            return self.names.memory[node[2]]
        return self._input(node[1], node[2])

    def _inline(self, number: int, first: bool) -> str:
        """A sign before a parameter has no cell of its own."""
        return replace_marks(self.formulas[number], lambda inner: self.place(inner, first))

    def _input(self, kind: int, k: int) -> str:
        if kind == P:
            return self.names.parameters[k]
        if kind == STEP:
            return self._step
        cells = {T: ("t", "{r}"), X: ("x", "{r}"), BEFORE: ("m", "{p}"), END: ("end", "{r}"), DUE: ("due", "{r}")}
        key, line = cells[kind]
        return f"{self._letter((key, k))}{line}"

    def _letter(self, key: Key) -> str:
        return self.columns.letters[key]

    @property
    def _even(self) -> bool:
        return ("h", 0) not in self.columns.letters

    @property
    def _step(self) -> str:
        """From a row to the next one: the step, or a cell of the row where references bend between even rows."""
        return self.names.step if self._even else f"{self._letter(('h', 0))}{{r}}"

    def _next_time(self, row: str) -> str:
        """Time of the row after a row: a step later, or where a reference bends before that, as native runs step."""
        now, step = f"{self._letter(('t', 0))}{{{row}}}", self.names.step
        passed = f"SUMPRODUCT(({self.breaks}<={now}+{BREAK_WIDTH}*{step})*1)"
        bend = f"IFERROR(SMALL({self.breaks},{passed}+1),1E+99)"
        return f"IF({bend}<={now}+(1+{BREAK_WIDTH})*{step},{bend},{now}+{step})"

    def step_number(self, _: int) -> tuple[str, str]:
        return "0", f"={self._letter(('step', 0))}{{p}}+1"

    def time(self, _: int) -> tuple[str, str]:
        text = f"={self._letter(('step', 0))}{{r}}*{self.names.step}"
        return text, text if self._even else f"={self._next_time('p')}"

    def length(self, _: int) -> tuple[str, str]:
        """Time to the next row."""
        text = f"={self._next_time('r')}-{self._letter(('t', 0))}{{r}}"
        return text, text

    def state(self, k: int) -> tuple[str, str]:
        """x + h f, or x + h (f + f at the end) / 2, within the limits."""
        change = self.place(self.row.outputs["rates"][k])
        if self.row.outputs["end_rates"]:
            change = f"({change}+{self.place(self.row.outputs['end_rates'][k])})/2"
        text = f"{self._letter(('x', k))}{{r}}+{self._step}*{change}"
        return f"={self.names.states[k]}", "=" + self._limit(k, text.replace("{r}", "{p}"))

    def _limit(self, k: int, text: str) -> str:
        limited = self.system.limited
        if k not in limited:
            return text
        at = limited.index(k)
        for function, node in (("MAX", at), ("MIN", at + len(limited))):
            bound = self.row.outputs["limits"][node]
            if not is_infinite(self.row.program.nodes[bound]):
                text = f"{function}({text},{self.place(bound)})"
        return text

    def due(self, k: int) -> tuple[str, str]:
        step, (period, offset) = f"{self._letter(('step', 0))}{{r}}", self.names.samples[k]
        since = f"{step}-{offset}" if offset else step
        test = f"MOD({since},{period})=0"
        text = f"=IF(AND({step}>={offset},{test}),1,0)" if offset else f"=IF({test},1,0)"
        return text, text

    def end(self, _: int) -> tuple[str, str]:
        """End of the step; just before a jump of a reference that happens there."""
        step = self.names.step
        end = f"{self._letter(('t', 0))}{{r}}+{self._step}"
        if not self.breaks:
            return f"={end}", f"={end}"
        jumps = f"SUMPRODUCT((ABS({self.breaks}-({end}))<{BREAK_WIDTH}*{step})*1)>0"
        text = f"=IF({jumps},({end})*{JUST_BEFORE},{end})"
        return text, text

    def event(self, k: int) -> tuple[str, str]:
        """Whether the guard has passed zero in the wanted direction since the row before."""
        guard = self.system.discrete.guards[k]
        now = f"{self._letter(('guard', k))}{{r}}"
        before = now.replace("{r}", "{p}")
        rising, falling = f"AND({before}<0,{now}>=0)", f"AND({before}>0,{now}<=0)"
        test = {1: rising, -1: falling, 0: f"OR({rising},{falling})"}[guard.direction]
        said = "end" if guard.terminal else "event"
        return '=""', f'=IF({test},"{said}","")'


_SPECIAL: dict[str, Callable[[LineWriter, int], tuple[str, str]]] = {
    "step": LineWriter.step_number,
    "t": LineWriter.time,
    "h": LineWriter.length,
    "x": LineWriter.state,
    "due": LineWriter.due,
    "end": LineWriter.end,
    "event": LineWriter.event,
}
