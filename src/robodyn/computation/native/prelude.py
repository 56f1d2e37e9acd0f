"""Loop-invariant prelude: what can be computed once per set of parameters instead of once per call?

Every maximal sub-expression of parameters alone, in any of a module's programs, moves into one program

    c = prelude(p)

and the others read its results behind the parameters, as entry n_parameters + k of the same input.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from .program import Builder, Program, find_border, find_dependence, with_operands

_PARAMETER, _VARIABLE = 1, 2


class Separated(NamedTuple):
    """Programs that read the prelude's results, and the prelude itself, from p to c."""

    programs: dict[str, Program]
    prelude: Program
    n_parameters: int


def separate_prelude(programs: Mapping[str, Program], parameter_input: int) -> Separated:
    """Moves what depends on input `parameter_input` alone out of all programs."""
    n_parameters = _common_size(programs, parameter_input)
    prelude = Builder()
    entries: dict[int, int] = {}
    rewritten = {
        name: _rewrite(program, parameter_input, n_parameters, prelude, entries) for name, program in programs.items()
    }
    n_inputs = n_parameters + len(entries)
    widened = {name: _widened(program, parameter_input, n_inputs) for name, program in rewritten.items()}
    return Separated(widened, prelude.finish("prelude", [n_parameters], [entries]), n_parameters)


def _common_size(programs: Mapping[str, Program], parameter_input: int) -> int:
    sizes = {}
    for name, program in programs.items():
        if not 0 <= parameter_input < len(program.in_sizes):
            raise ValueError(f"function {name} has no input {parameter_input} for the parameters")
        sizes[name] = program.in_sizes[parameter_input]
    if len(set(sizes.values())) > 1:
        raise ValueError(f"the parameters must have one size in all functions, not {sizes}")
    return next(iter(sizes.values()), 0)


def _rewrite(
    program: Program, parameter_input: int, n_parameters: int, prelude: Builder, entries: dict[int, int]
) -> Program:
    """One program without its parameter-only work; entries[node of the prelude] = k, place in c."""
    kinds = find_dependence(program, lambda node: _PARAMETER if node[1] == parameter_input else _VARIABLE)
    # Operations on parameters alone that something else, or an output, reads.
    border = find_border(program, kinds, _PARAMETER)
    wanted = {i for i in border if program.nodes[i][0] != "input"}
    builder = Builder()
    here: dict[int, int] = {}
    there: dict[int, int] = {}
    for number, node in enumerate(program.nodes):
        if kinds[number] == _VARIABLE:
            # Different in the program, and still so here: each entry of the prelude is one expression of parameters.
            here[number] = builder.append(with_operands(node, here))
            continue
        # Constants and parameters are computed there, whether or not something here reads them.
        copied = ("input", 0, node[2]) if node[0] == "input" else with_operands(node, there)
        there[number] = prelude.add(copied)
        # A border: what varies reads it here as one more entry behind the parameters.
        if number in wanted:
            k = entries.setdefault(there[number], len(entries))
            here[number] = builder.add(("input", parameter_input, n_parameters + k))
        elif kinds[number] != _PARAMETER or node[0] == "input":
            here[number] = builder.add(with_operands(node, here))
    return builder.finish(program.name, program.in_sizes, [[here[i] for i in output] for output in program.outputs])


def _widened(program: Program, parameter_input: int, n_inputs: int) -> Program:
    sizes = list(program.in_sizes)
    sizes[parameter_input] = n_inputs
    return Program(program.name, tuple(sizes), program.nodes, program.outputs)


# --------------------------------------------------------------------------------------------------
# Time signals of a model: which quantities depend on time alone, and can be computed before a run?
#
# Every maximal sub-expression of time and parameters that something else reads. Before a run they are looked at: steps
# must be short enough for them, also where no state moves (`find_time_signals`).
#
# Where the instants of many runs are known beforehand and the same for all, they, and rows of the run's table, are
# computed once (`separate_time`). A function becomes two:
#
#     row = rows(t, p)              the time signals, of fixed parameters alone
#     out = f(row, x, d, m, p)      the rest, which has the row in the place of the time


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
        border = [i for i in find_border(program, kinds, _TIMED) if program.nodes[i][0] != "input"]
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
    place = {number: k for k, number in enumerate(find_border(program, kinds, _TIMED))}
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
