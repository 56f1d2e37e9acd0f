"""Loop-invariant prelude: what can be computed once per set of parameters instead of once per call?

Every maximal sub-expression of parameters alone, in any of a module's programs, moves into one program

    c = prelude(p)

and the others read its results behind the parameters, as entry n_parameters + k of the same input.
"""

from collections.abc import Mapping
from typing import NamedTuple

from robodyn.computation.native.program import Builder, Node, Program, find_border, find_dependence, with_operands

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
    border = find_border(program, kinds, _PARAMETER, _VARIABLE)
    wanted = {i for i in border if program.nodes[i][0] != "input"}
    builder = Builder()
    here: dict[int, int] = {}
    there: dict[int, int] = {}
    for number, node in enumerate(program.nodes):
        if kinds[number] == _VARIABLE:
            here[number] = builder.add(with_operands(node, here))
            continue
        # Constants and parameters are computed there, whether or not something here reads them.
        there[number] = prelude.add(_as_prelude(with_operands(node, there)))
        # A border: what varies reads it here as one more entry behind the parameters.
        if number in wanted:
            k = entries.setdefault(there[number], len(entries))
            here[number] = builder.add(("input", parameter_input, n_parameters + k))
        elif kinds[number] != _PARAMETER or node[0] == "input":
            here[number] = builder.add(with_operands(node, here))
    return builder.finish(program.name, program.in_sizes, [[here[i] for i in output] for output in program.outputs])


def _as_prelude(node: Node) -> Node:
    return ("input", 0, node[2]) if node[0] == "input" else node


def _widened(program: Program, parameter_input: int, n_inputs: int) -> Program:
    sizes = list(program.in_sizes)
    sizes[parameter_input] = n_inputs
    return Program(program.name, tuple(sizes), program.nodes, program.outputs)
