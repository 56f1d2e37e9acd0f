"""Timetable: what of a function depends on time alone, and is read from a row of numbers for each instant?

Where the instants of many runs are known beforehand and the same for all, references, and rows of the run's table, are
computed once. A function becomes two:

    row = rows(t, p)              every maximal sub-expression of time and of fixed parameters that something else reads
    out = f(row, x, d, m, p)      the rest, which has the row in the place of the time
"""

from __future__ import annotations

from collections.abc import Collection

from robodyn.computation.native.program import Builder, Program, operands, with_operands

_FIXED, _TIMED, _OTHER = 0, 1, 2
SUFFIX = ".rows"
"""Behind the name of a function, names the one that computes its rows."""


def separate_time(
    program: Program, time_input: int, parameter_input: int, fixed: Collection[int]
) -> tuple[Program, Program]:
    """The rest of a program, and the program of its rows.

    Args:
        fixed: entries of the parameter input that are the same in all runs.
    """
    kinds: list[int] = []
    for node in program.nodes:
        own = _FIXED
        if node[0] == "input":
            known = node[1] == parameter_input and node[2] in fixed
            own = _TIMED if node[1] == time_input else _FIXED if known else _OTHER
        kinds.append(max((kinds[i] for i in operands(node)), default=own))
    # What is read across the border stands in the row.
    readers = [operands(node) for node, kind in zip(program.nodes, kinds, strict=True) if kind == _OTHER]
    read = {i for numbers in (*readers, *program.outputs) for i in numbers}
    place = {number: k for k, number in enumerate(sorted(i for i in read if kinds[i] == _TIMED))}
    rest, rows = Builder(), Builder()
    here: dict[int, int] = {}
    there: dict[int, int] = {}
    for number, node in enumerate(program.nodes):
        if kinds[number] != _OTHER:
            there[number] = rows.add(with_operands(node, there))
        if number in place:
            here[number] = rest.add(("input", time_input, place[number]))
        elif kinds[number] != _TIMED:
            here[number] = rest.add(with_operands(node, here))
    sizes = list(program.in_sizes)
    sizes[time_input] = len(place)
    outputs = [[here[i] for i in output] for output in program.outputs]
    columns = [there[number] for number in place]
    return rest.finish(program.name, sizes, outputs), rows.finish(program.name + SUFFIX, program.in_sizes, [columns])
