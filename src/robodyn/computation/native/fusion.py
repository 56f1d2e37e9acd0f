"""Fused multiply-add: which products and sums become one operation?

    a b + c -> muladd(a, b, c),   a b - c -> muladd(a, b, -c),   c - a b -> muladd(-a, b, c)

This made forward dynamics of a six-axis arm 10 % faster. A compiler left to contract by itself chooses by
where else a product is used, so that one expression may differ in its last digit between two kernels; a
limit that one kernel sets and another tests would then miss itself. Here the choice depends on the
expression alone. Two kinds of difference stay as they are, since they must be exactly 0 where their terms
are equal: of a product and an input (which may be the same product, stored earlier), and of squares.

Strength reduction: which quotients become products?

    a / b, c / b -> a r, c r with r = 1 / b

A division takes as long as a dozen products. A quotient so written may differ in its last digit from the same quotient
elsewhere, so this is done only where it is asked for: in functions whose results nothing compares exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from zlib import crc32

from .program import COMMUTATIVE, Builder, Node, Program, operands, rewrite

NAN = 2**61 - 2
"""Stands for a constant that is not a number; hashes of numbers are below the prime 2**61 - 1."""


def fuse(program: Program) -> Program:
    """The program with multiply-adds, ("muladd", a, b, c) for a b + c."""
    builder, forms, nodes = Builder(), forms_of(program), program.nodes

    def replace(node: Node, new: Sequence[int]) -> int | None:
        product = _product_to_fuse(node, nodes, forms) if node[0] == "add" or node[0] == "sub" else None
        if product is None:
            return None
        # Factors in the order of their forms, not of their places: kernels that compute the same then share it.
        factors = sorted(nodes[product][1:], key=forms.__getitem__)
        return _add_fused(builder, node, product, factors, new)

    return rewrite(program, builder, replace)


def _add_fused(builder: Builder, node: Node, product: int, factors: Sequence[int], new: Sequence[int]) -> int:
    a, b = new[factors[0]], new[factors[1]]
    other = node[2] if node[1] == product else node[1]
    c = new[other]
    # a b - c, or c - a b: the sign goes into one operand, the rounding stays one.
    if node[0] == "sub" and product == node[1]:
        c = builder.add(("neg", c))
    elif node[0] == "sub":
        a = builder.add(("neg", a))
    return builder.add(("muladd", a, b, c))


def _product_to_fuse(node: Node, nodes: tuple[Node, ...], forms: list[int]) -> int | None:
    """The operand of a sum or difference that is fused with it; of two products, the first by form."""
    first, second = node[1], node[2]
    ops = nodes[first][0], nodes[second][0]
    if "mul" not in ops or first == second or (node[0] == "sub" and "input" in ops):
        return None
    if ops[0] == ops[1]:
        return min(first, second, key=forms.__getitem__)
    return first if ops[0] == "mul" else second


def forms_of(program: Program) -> list[int]:
    """A number for every node that depends on the expression it stands for, not on its place or use."""
    codes = {op: crc32(op.encode()) for op in {node[0] for node in program.nodes}}
    forms: list[int] = []
    for node in program.nodes:
        op = node[0]
        # Commutative operations have one form in either order.
        if op in COMMUTATIVE:
            a, b = forms[node[1]], forms[node[2]]
            form = hash((codes[op], a, b) if a < b else (codes[op], b, a))
        else:
            read = operands(node)
            # What is left besides the operands is a number: a constant, a place in an input or a table. Python's hash
            # of a nan is that of the object, not of its value: another one in each process.
            numbers = [NAN if number != number else number for number in node[1 : len(node) - len(read)]]
            form = hash((codes[op], *numbers, *[forms[i] for i in read]))
        forms.append(form)
    return forms


SHARED = 2
"""Quotients of one denominator from which on they become products."""


def share_reciprocals(program: Program) -> Program:
    """The program with one reciprocal for all quotients of a denominator; numbers and parameters count always."""
    shared = Counter(node[2] for node in program.nodes if node[0] == "div")
    shared.update(node[1] for node in program.nodes if node[0] == "inv")
    builder = Builder()

    def replace(node: Node, new: Sequence[int]) -> int | None:
        # A reciprocal of a number or a parameter is made once a run, by the prelude.
        if node[0] == "div" and (shared[node[2]] >= SHARED or program.nodes[node[2]][0] in ("const", "input")):
            reciprocal = builder.add(("inv", new[node[2]]))
            return builder.add(("mul", new[node[1]], reciprocal))
        return None

    return rewrite(program, builder, replace)
