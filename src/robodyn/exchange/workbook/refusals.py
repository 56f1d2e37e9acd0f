"""Limits of spreadsheets: which scenarios cannot be one? Every reason with its place and remedy, all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from robodyn.base.errors import FlawList
from robodyn.computation.assembly import System
from robodyn.computation.assembly.base_period import as_fraction
from robodyn.computation.native.formulas import find_unwritable
from robodyn.computation.native.program import operands
from robodyn.computation.simulation.problem import break_times
from robodyn.description.model import Solver
from robodyn.exchange.workbook.row import PARAMETER, RowProgram

METHODS = ("euler", "heun")
EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_FORMULA = 1_048_576, 16_384, 8_192
# Writing takes about 10 microseconds a formula, LibreOffice as long again to open it: half a minute each at this size.
LARGEST_WORKBOOK = 3_000_000
# A jump this part of a step beside a row stands on the row.
ON_A_ROW = 1e-6


def check_method(solver: Solver, flaws: FlawList) -> None:
    """Only methods of one formula a step can be laid out in rows."""
    if solver.method not in METHODS:
        flaws.add("solver.method", f"'{solver.method}' has no rows of equal steps", f"choose {' or '.join(METHODS)}")


def check_parts(system: System, step: float, between: Sequence[float], flaws: FlawList) -> None:
    """Parts of a system that act between the rows, or outside of formulas."""
    for guard in system.discrete.guards:
        if guard.action or guard.call:
            what = "its action changes the state between two rows"
            remedy = "decide in a sampled block whose period is the step, or drop the action"
            flaws.add(f"events.{guard.name}.action", what, remedy)
    for task in system.discrete.tasks:
        if task.call:
            flaws.add(f"blocks.{task.name}", "is Python code, which has no formula", "write it as a native law")
    for delay in system.delays:
        remedy = "delay a sampled block's output instead, or leave it out"
        flaws.add(f"delays.{delay.name.removesuffix('.output')}", "reads between earlier rows", remedy)
    _check_samples(system, step, flaws)
    if between and system.discrete.tasks:
        what = f"a reference jumps or bends at {between[0]:g} s, between two rows, and blocks are sampled at whole rows"
        flaws.add("breaks", what, "choose a step of which that time is a multiple, or move the reference")


def _check_samples(system: System, step: float, flaws: FlawList) -> None:
    for block in system.scenario.machine.blocks:
        if block.period is None:
            continue
        for key, time in (("period", block.period), ("offset", block.offset), ("delay", block.delay)):
            if (as_fraction(time) / as_fraction(step)).denominator != 1:
                what = f"{time:g} s is no whole multiple of the step {step:g} s"
                flaws.add(f"blocks.{block.name}.{key}", what, _whole_step(system))


def _whole_step(system: System) -> str:
    base = system.discrete.base_period or Fraction(1)
    return f"choose --step {float(base):g} or a whole fraction of it"


def find_bends_between(breaks: Sequence[float], step: float) -> list[float]:
    """Those of the jumps and bends of references that fall between rows of equal steps: they get rows of their own."""
    return [time for time in breaks if abs(time / step - round(time / step)) > ON_A_ROW]


def find_breaks(system: System, end: float) -> list[float]:
    """Times before the end at which references jump or bend [s], ascending."""
    values = {name: number.value for name, number in system.numbers.items()}
    return break_times(system.discrete.breaks, values, 0.0, end).tolist()


def check_operations(row: RowProgram, names: dict[int, str], flaws: FlawList) -> None:
    """Operations without a formula, each reported by the first name that depends on it.

    Args:
        names: node -> name of the signal, rate or memory it is.
    """
    nodes = row.program.nodes
    for source, why in find_unwritable(row.program):
        reached = {source}
        for number in range(source + 1, len(nodes)):
            if any(i in reached for i in operands(nodes[number])):
                reached.add(number)
        path = next((name for node, name in names.items() if node in reached), "model")
        flaws.add(path, why, "use another law there")


def check_size(n_rows: int, n_columns: int, head: int, flaws: FlawList) -> None:
    """Too many rows, columns or cells for a spreadsheet to hold or to be of use."""
    if n_rows < 2:
        flaws.add("rows", f"must be at least 2, are {n_rows}", "raise --rows or the duration, or shorten the step")
    if n_rows + head > EXCEL_ROWS:
        what = f"{n_rows:,} rows are more than the {EXCEL_ROWS - head:,} a sheet holds"
        flaws.add("rows", what, "lengthen the step, or give --rows or --duration")
    elif n_columns > EXCEL_COLUMNS:
        what = f"the model needs {n_columns:,} columns, a sheet holds {EXCEL_COLUMNS:,}"
        flaws.add("model", what, "it is too large for a spreadsheet")
    elif n_rows * n_columns > LARGEST_WORKBOOK:
        what = f"{n_rows:,} rows of {n_columns:,} columns are {n_rows * n_columns:,} formulas"
        most = max(LARGEST_WORKBOOK // n_columns, 2)
        flaws.add("rows", f"{what}, more than {LARGEST_WORKBOOK:,}", f"give --rows {most} or a longer step")


def check_formulas(formulas: Mapping[str, str], flaws: FlawList) -> None:
    """Formulas longer than a cell takes; only very long names make them so.

    Args:
        formulas: name of the column -> formula.
    """
    for name, text in formulas.items():
        if len(text) > EXCEL_FORMULA:
            what = f"its formula has {len(text):,} characters, a cell takes {EXCEL_FORMULA:,}"
            flaws.add(name, what, "give parts and blocks shorter names")


def check_limits(system: System, row: RowProgram, flaws: FlawList) -> None:
    """Limits of states must not move from row to row."""
    for at, node in enumerate(row.outputs["limits"]):
        if row.kinds[node] > PARAMETER:
            name = system.states[system.limited[at % len(system.limited)]].name
            flaws.add(name, "its limits change with time or state", "give it limits that depend on parameters alone")
