"""Drives of a model: which quantities depend on time alone?

Every maximal sub-expression of time and parameters that something else reads, in any of some programs. They are looked
at before a run: steps must be short enough for them, also where no state moves.
"""

from collections.abc import Iterable

from robodyn.computation.native.program import Builder, Program, operands, with_operands

_FIXED, _TIMED, _OTHER = 0, 1, 2


def find_drives(programs: Iterable[Program], time_input: int, parameter_input: int) -> Program:
    """The program that gives all drives of others, which share their inputs."""
    builder, found = Builder(), dict[int, None]()
    in_sizes: tuple[int, ...] = ()
    for program in programs:
        in_sizes = program.in_sizes
        kinds = _kinds(program, time_input, parameter_input)
        there: dict[int, int] = {}
        for number, node in enumerate(program.nodes):
            # Of time and parameters alone: copied; at the border to the rest it is a drive.
            if kinds[number] != _OTHER:
                there[number] = builder.add(with_operands(node, there))
        found |= dict.fromkeys(there[number] for number in _boundary(program, kinds))
    return builder.finish("drives", in_sizes, [found])


def deciding_parameters(drives: Program, parameter_input: int | None) -> tuple[int, ...]:
    """Entries of the parameter input that drives depend on."""
    return tuple(sorted({n[2] for n in drives.nodes if n[0] == "input" and n[1] == parameter_input}))


def _kinds(program: Program, time_input: int, parameter_input: int) -> list[int]:
    inputs = {time_input: _TIMED, parameter_input: _FIXED}
    kinds: list[int] = []
    for node in program.nodes:
        own = inputs.get(node[1], _OTHER) if node[0] == "input" else _FIXED
        kinds.append(max((kinds[i] for i in operands(node)), default=own))
    return kinds


def _boundary(program: Program, kinds: list[int]) -> list[int]:
    """Operations on time that something else, or an output, reads; time itself is smooth."""
    readers = [operands(node) for node, kind in zip(program.nodes, kinds, strict=True) if kind == _OTHER]
    read = {i for numbers in (*readers, *program.outputs) for i in numbers}
    return sorted(i for i in read if kinds[i] == _TIMED and program.nodes[i][0] != "input")
