"""Time signals of a model: which quantities depend on time alone, and can be computed before a run?

Every maximal sub-expression of time and parameters that something else reads. Before a run they are looked at: steps
must be short enough for them, also where no state moves (`find_time_signals`).

Where the instants of many runs are known beforehand and the same for all, they, and rows of the run's table, are
computed once (`separate_time`). A function becomes two:

    row = rows(t, p)              the time signals, of fixed parameters alone
    out = f(row, x, d, m, p)      the rest, which has the row in the place of the time
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from robodyn.computation.native.program import Builder, Program, find_border, find_dependence, with_operands

_FIXED, _TIMED, _OTHER = 0, 1, 2
SUFFIX = ".rows"
"""Behind the name of a function, names the one that computes its rows."""


def find_time_signals(programs: Iterable[Program], time_input: int, parameter_input: int) -> Program:
    """The program that gives the time signals of others, which share their inputs."""
    builder, signals = Builder(), dict[int, None]()
    in_sizes: tuple[int, ...] = ()
    inputs = {time_input: _TIMED, parameter_input: _FIXED}
    for program in programs:
        in_sizes = program.in_sizes
        kinds = find_dependence(program, lambda node: inputs.get(node[1], _OTHER))
        there: dict[int, int] = {}
        for number, node in enumerate(program.nodes):
            if kinds[number] != _OTHER:
                there[number] = builder.add(with_operands(node, there))
        # Time itself is smooth.
        border = [i for i in find_border(program, kinds, _TIMED, _OTHER) if program.nodes[i][0] != "input"]
        signals |= dict.fromkeys(there[number] for number in border)
    return builder.finish("drives", in_sizes, [signals])


def deciding_parameters(signals: Program, parameter_input: int | None) -> tuple[int, ...]:
    """Entries of the parameter input that time signals depend on."""
    return tuple(sorted({n[2] for n in signals.nodes if n[0] == "input" and n[1] == parameter_input}))


def separate_time(
    program: Program, time_input: int, parameter_input: int, fixed: Collection[int]
) -> tuple[Program, Program]:
    """The rest of a program, and the program of its rows.

    Args:
        fixed: entries of the parameter input that are the same in all runs.
    """

    def kind_of(node: tuple[object, ...]) -> int:
        if node[1] == time_input:
            return _TIMED
        return _FIXED if node[1] == parameter_input and node[2] in fixed else _OTHER

    kinds = find_dependence(program, kind_of)
    # What is read across the border stands in the row.
    place = {number: k for k, number in enumerate(find_border(program, kinds, _TIMED, _OTHER))}
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
