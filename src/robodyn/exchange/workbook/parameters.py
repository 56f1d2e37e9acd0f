"""Parameter sheet: which numbers stand in named cells? Step size, parameters, start values, what follows from them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from robodyn.base import frozen
from robodyn.computation.assembly import System
from robodyn.computation.simulation.starting import search_start
from robodyn.description.model import Solver

from .cells import CellPlacement, replace_marks
from .row import STEP, RowProgram

# --------------------------------------------------------------------------------------------------
# Cell names: under which name is a cell known? Signal names made fit for spreadsheets.


# What a spreadsheet would read as something else: cells (A1, XFD1048576, R1C1), and bare words, which may be a
# function or a truth in some program and language (SIN, SUMME, TRUE, R, C).
_TAKEN = re.compile(r"[A-Za-z]{1,3}\d+|R\d+C\d*|[^\W\d_]+", re.IGNORECASE)
# Excel takes 255 characters; a formula of 8,192 holds many names.
_LONGEST = 100


class CellNames:
    """Names given so far; letter case does not distinguish two names."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def give(self, label: str, *, short: bool = False) -> str:
        """A valid name not given before: dots and dashes become _, a clash gets a number.

        Args:
            short: whether the label is known to be good as it is, such as `h` for the step.
        """
        name = label if short else make_name(label)
        count = 1
        while name.lower() in self._given:
            count += 1
            name = f"{make_name(label)}_{count}"
        self._given.add(name.lower())
        return name


def make_name(label: str) -> str:
    """A label as a defined name: letters, digits and _, unlike any cell, function or truth."""
    name = re.sub(r"\W", "_", label)[:_LONGEST]
    if not name or not (name[0].isalpha() or name[0] == "_"):
        name = f"_{name}"
    return f"{name}_" if _TAKEN.fullmatch(name) else name


# --------------------------------------------------------------------------------------------------
# Parameter sheet: which numbers stand in named cells? Step size, parameters, start values, what follows from them.


FOUND = "found for the numbers as exported; it does not follow when they change"
"""Remark on start values that a run would search for."""
RTOL, ATOL, DURATION = "rtol_step", "atol_step", "duration_run"
"""Cells by which steps are chosen."""


@frozen
class SheetEntry:
    """A line of the sheet: what it is, its value or formula, unit, the name of its cell, and a remark."""

    label: str
    value: float | str
    unit: str
    name: str
    remark: str = ""


@frozen
class ParameterSheet:
    """The lines of the sheet by section, and the names of its cells for formulas elsewhere.

    Attributes:
        samples: for every timing of tasks, period and offset in steps; the offset is empty where there is none.
        derived: node -> name.
    """

    sections: Mapping[str, tuple[SheetEntry, ...]]
    step: str
    parameters: tuple[str, ...]
    states: tuple[str, ...]
    memory: tuple[str, ...]
    samples: tuple[tuple[str, str], ...]
    derived: Mapping[int, str]


def make_parameter_sheet(
    system: System, row: RowProgram, placement: CellPlacement, formulas: Mapping[int, str], solver: Solver, last: int
) -> ParameterSheet:
    """Every number that can be changed on the sheet, and what depends on such numbers alone.

    Args:
        last: line of the last row on the sheet of the run.
    """
    names = CellNames()
    steps = _step_entries(system, solver, last, names)
    step_entry = steps[0]
    tunable = [SheetEntry(n.name, n.value, n.unit, names.give(n.name)) for n in system.parameters]
    # A start that is searched for is that of the numbers as they are: formulas do not search.
    start = search_start(system, system.described_values)
    remark = "" if system.scenario.initialisation == "given" else FOUND
    states = [
        SheetEntry(info.name, value, info.unit, names.give(f"start.{info.name}"), remark)
        for info, value in zip(system.states, start.x.tolist(), strict=True)
    ]
    memory = [
        SheetEntry(info.name, value, info.unit, names.give(f"start.{info.name}"), remark)
        for info, value in zip(system.memory, start.m.tolist(), strict=True)
    ]
    samples = [_sample_entries(system, timing, k, step_entry.name, names) for k, timing in enumerate(row.timings, 1)]
    derived = {node: names.give(f"derived.{k}") for k, node in enumerate(placement.derived, start=1)}

    def place(number: int) -> str:
        node = row.program.nodes[number]
        if node[0] != "input":
            return derived[number]
        return step_entry.name if node[1] == STEP else tunable[node[2]].name

    sections = {
        "Step": steps,
        "Numbers of the model": tunable,
        "Start values": [*states, *memory],
        "Sampling, in steps": [entry for pair in samples for entry in pair],
        "Derived from the numbers above": [
            SheetEntry(f"derived_{k}", "=" + replace_marks(formulas[node], place), "", name)
            for k, (node, name) in enumerate(derived.items(), start=1)
        ],
    }
    return ParameterSheet(
        {title: tuple(entries) for title, entries in sections.items() if entries},
        step_entry.name,
        tuple(entry.name for entry in tunable),
        tuple(entry.name for entry in states),
        tuple(entry.name for entry in memory),
        tuple((pair[0].name, pair[1].name if pair[1:] else "") for pair in samples),
        derived,
    )


def _step_entries(system: System, solver: Solver, last: int, names: CellNames) -> list[SheetEntry]:
    """The step, or where it is chosen by its error the first one, what it is chosen by, and how far the rows come."""
    assert solver.step is not None
    name = names.give("h", short=True)
    if not solver.adaptive:
        return [SheetEntry("step", solver.step, "s", name, "of time, the same in every row")]
    reached = f"run!$B${last}"
    remark = f'=IF({reached}<{DURATION}*(1-1E-9),"the rows end before the duration","the whole duration")'
    return [
        SheetEntry("first step", solver.step, "s", name, "the next ones follow from the error"),
        SheetEntry("relative tolerance", solver.rtol, "", names.give(RTOL)),
        SheetEntry("absolute tolerance", solver.atol, "", names.give(ATOL), "in parts of the scale of a state"),
        SheetEntry("duration", system.scenario.duration, "s", names.give(DURATION)),
        SheetEntry("time reached", f"={reached}", "s", names.give("time_reached"), remark),
    ]


def _sample_entries(
    system: System, timing: tuple[int, int], number: int, step: str, names: CellNames
) -> tuple[SheetEntry, ...]:
    """Period and offset of some tasks as whole numbers of steps; a step that does not divide them is reported."""
    assert system.discrete.base_period is not None
    tasks = ", ".join(task.name for task in system.discrete.tasks if (task.period, task.offset) == timing)
    entries = []
    for key, ticks in zip(("period", "offset"), timing, strict=True):
        if ticks or key == "period":
            seconds = repr(float(ticks * system.discrete.base_period))
            whole = f"ROUND({seconds}/{step},0)"
            message = f'=IF(ABS({seconds}/{step}-{whole})>1E-6,"the step does not divide {seconds} s","{seconds} s")'
            label = f"sample {number} {key}: {tasks}"
            entries.append(SheetEntry(label, f"={whole}", "steps", names.give(f"sample.{number}.{key}"), message))
    return tuple(entries)
