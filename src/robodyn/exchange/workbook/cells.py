"""Cells: which sub-expressions deserve one of their own, and what is the formula in each?

A node gets a cell when it has a name (a signal, a rate, memory), when it is used more than once and is more than a
sign, a product or two, or when its formula would grow too long or too deep. What depends on parameters alone is
computed once, beside the parameters. A node in a formula is written as a mark, replaced by its cell once all columns
have their places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from robodyn.computation.native.formulas import SPREADSHEET, Notation, Term, as_number, compose, write_number
from robodyn.computation.native.program import Program, operands
from robodyn.exchange.workbook.row import CONSTANT, PARAMETER, RowProgram

# Spreadsheets allow 8,192 characters and 64 levels; people read less.
LONGEST_FORMULA = 240
DEEPEST_FORMULA = 24
# Work, counted in operations, from which a repeated sub-expression is computed once; a function counts three.
WORTH_SHARING = 3
CALL_WORK = 3

_MARK = re.compile("\x01(\\d+)\x02")


@dataclass(frozen=True)
class Placement:
    """Nodes with a cell, in order of computation: named and helper ones in the rows, derived ones beside the
    parameters."""

    derived: tuple[int, ...]
    helpers: tuple[int, ...]
    cells: frozenset[int]


def place_cells(row: RowProgram, named: Iterable[int]) -> Placement:
    """Choose the nodes that get cells.

    Args:
        named: operations in the rows that have a column under a name of their own.
    """
    program, kinds = row.program, row.kinds
    cells = set(named)
    uses, boundary = _count_uses(program), _find_boundary(row)
    terms: list[Term] = []
    work: list[int] = []
    for number, node in enumerate(program.nodes):
        if node[0] in ("const", "input"):
            terms.append(write_number(node[1]) if node[0] == "const" else mark(number))
            work.append(0)
            continue
        term = compose(SPREADSHEET, node, [terms[i] for i in operands(node)])
        own = CALL_WORK if SPREADSHEET.forms[node[0]].is_call else 1
        work.append(own + sum(work[i] for i in operands(node)))
        shared = uses[number] > 1 and work[number] >= WORTH_SHARING
        long = len(term.text) > LONGEST_FORMULA or term.depth > DEEPEST_FORMULA
        derived = number in boundary and not (node[0] == "neg" and program.nodes[node[1]][0] == "input")
        if kinds[number] != CONSTANT and (number in cells or shared or long or derived):
            cells.add(number)
            term, work[number] = mark(number), 0
        terms.append(term)
    derived_cells = tuple(n for n in sorted(cells) if kinds[n] == PARAMETER)
    helpers = tuple(n for n in sorted(cells.difference(named)) if kinds[n] != PARAMETER)
    return Placement(derived_cells, helpers, frozenset(cells))


def write_formulas(
    program: Program, cells: frozenset[int], notation: Notation, table_text: Callable[[int], str]
) -> dict[int, str]:
    """The formula of every cell, and the text of every constant, with marks for the nodes it reads."""
    terms: list[Term] = []
    formulas: dict[int, str] = {}
    for number, node in enumerate(program.nodes):
        if node[0] == "const":
            terms.append(write_number(node[1], notation.digits))
            formulas[number] = terms[-1].text
        elif node[0] == "input":
            terms.append(mark(number))
        else:
            table = table_text(node[1]) if node[0] in ("locate", "gather") else ""
            term = compose(notation, node, [terms[i] for i in operands(node)], table)
            formulas[number] = as_number(notation, term).text
            terms.append(mark(number) if number in cells else term)
    return formulas


def mark(number: int) -> Term:
    """What stands for a node until its place is known."""
    return Term(f"\x01{number}\x02")


def replace_marks(text: str, place: Callable[[int], str]) -> str:
    """The text with every node's place in it."""
    return _MARK.sub(lambda found: place(int(found[1])), text)


def _count_uses(program: Program) -> list[int]:
    """How often each node is written in the formulas that read it."""
    uses = [0] * len(program.nodes)
    for node in program.nodes:
        if node[0] in SPREADSHEET.forms:
            form = SPREADSHEET.forms[node[0]]
            for k, i in enumerate(operands(node)):
                uses[i] += form.repeats(k)
    for output in program.outputs:
        for i in output:
            uses[i] += 1
    return uses


def _find_boundary(row: RowProgram) -> set[int]:
    """Operations on parameters alone that something else, or an output, reads."""
    nodes, kinds = row.program.nodes, row.kinds
    readers = [operands(node) for node, kind in zip(nodes, kinds, strict=True) if kind > PARAMETER]
    return {
        i for read in [*readers, *row.program.outputs] for i in read if kinds[i] == PARAMETER and nodes[i][0] != "input"
    }
