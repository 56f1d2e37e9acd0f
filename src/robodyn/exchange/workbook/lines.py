"""Formulas of a row, and the sheet of equations: which stands in a column, in the first row and in later ones?

In these texts {r} stands for the number of the formula's own line on the sheet and {p} for that of the line before.
"""

from __future__ import annotations

from collections.abc import Callable

from robodyn.base import frozen
from robodyn.computation.assembly import System
from robodyn.computation.native.formulas import READABLE, is_infinite, write_number

from .cells import (
    CellPlacement,
    Column,
    SheetColumns,
    rate_unit,
    replace_marks,
    write_formulas,
)
from .parameters import ATOL, DURATION, RTOL, ParameterSheet
from .row import BEFORE, DUE, END, PARAMETER, STEP, P, RowProgram, T, X

# A reference that jumps at the end of a step is read just before it; nearer times are equal to spreadsheets.
JUST_BEFORE = "(1-1E-12)"
BREAK_WIDTH = "1E-6"


@frozen
class LineWriter:
    """Writes the formulas of columns.

    Attributes:
        formulas: node -> text with marks; names: of the cells beside the parameters.
        breaks: range of the times at which references jump, empty without any.
    """

    system: System
    row: RowProgram
    columns: SheetColumns
    formulas: dict[int, str]
    names: ParameterSheet
    breaks: str

    def write(self, column: Column) -> tuple[str, str]:
        """Formulas of the first row and of the later ones."""
        special = _SPECIAL.get(column.key[0])
        if special is not None:
            lines = special(self, column.key[1])
            return (lines, lines) if isinstance(lines, str) else lines
        assert column.node is not None
        # A node is computed in its own column; another one that shows it says where that is.
        say = self._compute if self.columns.homes.get(column.node) == column.key else self.place
        return f"={say(column.node, True)}", f"={say(column.node, False)}"

    def _compute(self, number: int, first: bool) -> str:
        """The formula of a node, with the places of what it is computed of."""
        return replace_marks(self.formulas[number], lambda inner: self.place(inner, first))

    def place(self, number: int, first: bool = False) -> str:
        """Where a node is found: a cell of the same row, of the row before, a name, or a number."""
        node = self.row.program.nodes[number]
        if number in self.columns.homes:
            return self._at(*self.columns.homes[number])
        if node[0] == "const":
            return write_number(node[1]).text
        if node[0] != "input":
            # A sign before a parameter has no cell of its own.
            return self.names.derived.get(number) or self._compute(number, first)
        if node[1] == BEFORE and first:
            return self.names.memory[node[2]]
        return self._input(node[1], node[2])

    def _input(self, kind: int, k: int) -> str:
        if kind == P:
            return self.names.parameters[k]
        if kind == STEP:
            return self._step
        return self._before("m", k) if kind == BEFORE else self._at({T: "t", X: "x", END: "end", DUE: "due"}[kind], k)

    def _at(self, key: str, k: int = 0) -> str:
        """The cell of a column in the same row, with a mark for its number."""
        return f"{self.columns.letters[key, k]}{{r}}"

    def _before(self, key: str, k: int = 0) -> str:
        """The cell of a column in the row before."""
        return f"{self.columns.letters[key, k]}{{p}}"

    @property
    def _even(self) -> bool:
        return ("h", 0) not in self.columns.letters

    @property
    def _adaptive(self) -> bool:
        return ("proposal", 0) in self.columns.letters

    @property
    def _step(self) -> str:
        """From a row to the next one: the step, or a cell of the row where rows are not even."""
        return self.names.step if self._even else self._at("h")

    @property
    def _wanted(self) -> str:
        """The step before it is cut short where a reference bends."""
        return self._at("proposal") if self._adaptive else self.names.step

    @property
    def _next_time(self) -> str:
        """Time of the row after: a step later, or where a reference bends before that, as native runs step."""
        now, step = self._at("t"), self._wanted
        if not self.breaks:
            return f"{now}+{step}"
        passed = f"SUMPRODUCT(({self.breaks}<={now}+{BREAK_WIDTH}*{step})*1)"
        bend = f"IFERROR(SMALL({self.breaks},{passed}+1),1E+99)"
        return f"IF({bend}<={now}+(1+{BREAK_WIDTH})*{step},{bend},{now}+{step})"

    def step_number(self, _: int) -> tuple[str, str]:
        return "0", f"={self._before('step')}+1"

    def time(self, _: int) -> tuple[str, str]:
        if self._adaptive:
            now = self._before("t")
            return "0", f"=IF({self._accepted},{now}+{self._before('h')},{now})"
        text = f"={self._at('step')}*{self.names.step}"
        return text, text if self._even else f"={self._next_time}".replace("{r}", "{p}")

    def length(self, _: int) -> str:
        """Time to the next row."""
        end = f"MIN({self._next_time},{DURATION})" if self._adaptive else self._next_time
        return f"={end}-{self._at('t')}"

    def state(self, k: int) -> tuple[str, str]:
        """The end of the step before; where it was too long, what it began with."""
        end = self._end(k).replace("{r}", "{p}")
        if self._adaptive:
            end = f"IF({self._accepted},{self._before('tried', k)},{self._before('x', k)})"
        return f"={self.names.states[k]}", f"={end}"

    def _end(self, k: int) -> str:
        """x + h f, or x + h (f + f at the end) / 2, within the limits."""
        change = self.place(self.row.outputs["rates"][k])
        if self.row.outputs["end_rates"]:
            change = f"({change}+{self.place(self.row.outputs['end_rates'][k])})/2"
        return self._limit(k, f"{self._at('x', k)}+{self._step}*{change}")

    # Step size control: the difference of Heun's and Euler's step is the error of the latter. A step whose error is too
    # large is tried again, shorter; the next one is as long as the error allows, which is of second order in the step.

    @property
    def _accepted(self) -> str:
        return f"{self._before('accepted')}=1"

    def tried(self, k: int) -> str:
        return f"={self._end(k)}"

    def off(self, k: int) -> str:
        """Error of a state in parts of its tolerance, atol scale + rtol max(|x|, |x at the end|)."""
        rate, end_rate = (self.place(self.row.outputs[group][k]) for group in ("rates", "end_rates"))
        size = f"MAX(ABS({self._at('x', k)}),ABS({self._at('tried', k)}))"
        allowed = f"({ATOL}*{self.system.states[k].nominal!r}+{RTOL}*{size})"
        return f"={self._step}*({end_rate}-{rate})/2/{allowed}"

    def error(self, _: int) -> str:
        """Root mean square of all states."""
        n = len(self.system.states)
        return f"=SQRT(SUMSQ({self._at('off')}:{self._at('off', n - 1)})/{n})"

    def accepted(self, _: int) -> str:
        return f"=IF(IFERROR({self._at('error')}<=1,FALSE),1,0)"

    def proposal(self, _: int) -> tuple[str, str]:
        """h_next = 0.9 h error^(-1/2), at most five times as long or short; a step that was cut short says nothing."""
        error, step, before = (self._before(key) for key in ("error", "h", "proposal"))
        longer = f"{step}*IFERROR(MIN(5,MAX(0.2,0.9/SQRT(MAX({error},1E-10)))),0.2)"
        cut = f"AND({self._accepted},{step}<{before}*(1-1E-12))"
        return f"={self.names.step}", f"=IF({cut},MAX({longer},{before}),{longer})"

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

    def due(self, k: int) -> str:
        step, (period, offset) = self._at("step"), self.names.samples[k]
        if not offset:
            return f"=IF(MOD({step},{period})=0,1,0)"
        return f"=IF(AND({step}>={offset},MOD({step}-{offset},{period})=0),1,0)"

    def end(self, _: int) -> str:
        """End of the step; just before a jump of a reference that happens there."""
        end = f"{self._at('t')}+{self._step}"
        if not self.breaks:
            return f"={end}"
        jumps = f"SUMPRODUCT((ABS({self.breaks}-({end}))<{BREAK_WIDTH}*{self._wanted})*1)>0"
        return f"=IF({jumps},({end})*{JUST_BEFORE},{end})"

    def event(self, k: int) -> tuple[str, str]:
        """Whether the guard has passed zero in the wanted direction since the row before."""
        guard = self.system.discrete.guards[k]
        now, before = self._at("guard", k), self._before("guard", k)
        rising, falling = f"AND({before}<0,{now}>=0)", f"AND({before}>0,{now}<=0)"
        test = {1: rising, -1: falling, 0: f"OR({rising},{falling})"}[guard.direction]
        consequence = "end" if guard.terminal else "event"
        return '=""', f'=IF({test},"{consequence}","")'


# Columns with a formula of their own: that of every row, or of the first row and of the later ones.
_SPECIAL: dict[str, Callable[[LineWriter, int], str | tuple[str, str]]] = {
    "step": LineWriter.step_number,
    "t": LineWriter.time,
    "proposal": LineWriter.proposal,
    "h": LineWriter.length,
    "x": LineWriter.state,
    "tried": LineWriter.tried,
    "off": LineWriter.off,
    "error": LineWriter.error,
    "accepted": LineWriter.accepted,
    "due": LineWriter.due,
    "end": LineWriter.end,
    "event": LineWriter.event,
}

# --------------------------------------------------------------------------------------------------
# Equations sheet: how does the model read? As text, state by state, with the helpers named.


HOUSE_FORM = "M(q) a + c(q, v) = tau_drive + tau_friction + tau_load, solved for the accelerations a"
STEPS = {
    "euler": ("x[k+1] = x[k] + h f(t[k], x[k], m[k])",),
    "heun": (
        "predicted x = x[k] + h f(t[k], x[k], m[k])",
        "x[k+1] = x[k] + h (f(t[k], x[k], m[k]) + f(t[k] + h, predicted x, m[k])) / 2",
    ),
    "heun_euler": (
        "predicted x = x[k] + h f(t[k], x[k])",
        "tried x = x[k] + h (f(t[k], x[k]) + f(t[k] + h, predicted x)) / 2",
        "error = root mean square of (tried x - predicted x) / (atol scale + rtol max(|x[k]|, |tried x|))",
        "error <= 1: x[k+1] = tried x, t[k+1] = t[k] + h; else both stay and the step is tried again, shorter",
        "h[k+1] = h[k] min(5, max(0.2, 0.9 / sqrt(error)))",
    ),
}


@frozen
class SheetEquation:
    """A line: left and right side, unit, and the column or cell where it is computed."""

    left: str
    right: str
    unit: str = ""
    place: str = ""


def write_equations(
    system: System, row: RowProgram, columns: SheetColumns, placement: CellPlacement, method: str
) -> dict[str, list[SheetEquation]]:
    """The sections of the page and their equations."""
    reader = _Reader(system, row, columns, placement)
    sections = {"Method": [SheetEquation("", text) for text in STEPS[method]]}
    if system.motion.mechanics is not None:
        sections["Mechanics"] = [SheetEquation("", HOUSE_FORM)]
    sections["States"] = reader.states()
    sections["Limits"] = reader.limits()
    for title, group in (("Memory", "memory"), ("Signals", "signals"), ("Guards", "events"), ("Helpers", "helpers")):
        sections[title] = reader.group(group)
    sections["Derived from parameters"] = reader.derived()
    return {title: lines for title, lines in sections.items() if lines}


class _Reader:
    """Gives nodes the names people know them by."""

    def __init__(self, system: System, row: RowProgram, columns: SheetColumns, placement: CellPlacement) -> None:
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

    def states(self) -> list[SheetEquation]:
        """The rate of every state; one that is a signal already is written out there."""
        equations = []
        for k, (state, node) in enumerate(zip(self.system.states, self.row.outputs["rates"], strict=True)):
            right = self.right(node) if self.columns.homes.get(node) == ("rate", k) else self.name(node)
            equations.append(
                SheetEquation(f"{state.name}'", right, rate_unit(state.unit), self.columns.letters[("x", k)])
            )
        return equations

    def limits(self) -> list[SheetEquation]:
        limited, nodes = self.system.limited, self.row.outputs["limits"]
        equations = []
        for at, k in enumerate(limited):
            state, lower, upper = self.system.states[k], self.name(nodes[at]), self.name(nodes[at + len(limited)])
            equations.append(SheetEquation("", f"{lower} <= {state.name} <= {upper}", state.unit))
        return equations

    def group(self, group: str) -> list[SheetEquation]:
        """The equations of a group of columns."""
        equations = []
        for column in self.columns.columns:
            if column.group == group and column.node is not None:
                home = self.columns.homes.get(column.node, column.key) == column.key
                right = self.right(column.node) if home else self.name(column.node)
                equations.append(SheetEquation(column.name, right, column.unit, self.columns.letters[column.key]))
        return equations

    def derived(self) -> list[SheetEquation]:
        nodes = self.derived_names.items()
        return [SheetEquation(name, self.right(node)) for node, name in nodes if self.row.kinds[node] == PARAMETER]
