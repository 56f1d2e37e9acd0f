"""Intermediate representation: what does a traced function compute, free of the library that traced it?

A `Program` is a list of nodes in static single assignment: every node is computed once, from nodes before
it. It is a plain value that every back-end (machine code, C, spreadsheets) starts from.

    ("const", value)                     a number
    ("input", i, k)                      entry k of input i
    ("locate", table, x)                 max(0, number of knots of the table at or below x  - 1)
    ("gather", table, index)             entry of a table; index is a "locate" node
    ("seek", width, x)                   row at x of the table given with a run: `robodyn.computation.native.rows`
    ("row", column, index)               a number of that row; index is a "seek" node
    ("select", condition, a, b)          a where the condition is not 0, else b
    ("muladd", a, b, c)                  a b + c, rounded once where the processor can
    ("power_of_two", n)                  2^n for a whole number n of at most 1023 in size
    ("exponent", x), ("mantissa", x)     whole number e and sqrt(1/2) <= m < sqrt(2) with x = 2^e m, for x > 0
    (operation, a) or (operation, a, b)  all others, named in `OPERATIONS`

x, index, condition, a, b and c are numbers of nodes; table is a number of `robodyn.base.symbolic.tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any

from robodyn.base import frozen

Node = tuple[Any, ...]

UNARY = (
    *("neg", "inv", "sq", "twice", "fabs", "sign", "floor", "ceil", "not"),
    *("sqrt", "exp", "log", "log1p", "expm1", "erf"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
BINARY = (
    *("add", "sub", "mul", "div", "pow", "fmod", "remainder", "copysign", "fmin", "fmax", "hypot", "atan2"),
    *("lt", "le", "eq", "ne", "and", "or", "if_else_zero"),
)

OPERATIONS = frozenset([*UNARY, *BINARY, "select", "muladd", "locate", "gather", "seek", "row"])
"""Everything a back-end may meet; machine code has three more, on the bits of numbers, for `elementary`."""
RUN_TIME = frozenset(["seek", "row"])
"""What reads numbers that are given with a run: native code only."""

# Operations whose first argument is not a node: the number of a table, a width or column, or what is not supported.
_LABELLED = frozenset(["locate", "gather", "seek", "row", "unsupported"])
_LEAVES = frozenset(["const", "input"])
_OTHERS = _LABELLED | _LEAVES
"""What does not read all that stands behind its operation; everything else, most nodes by far, does."""
COMMUTATIVE = frozenset(["add", "mul", "eq", "ne", "and", "or", "hypot"])


@frozen
class Program:
    """A straight-line computation.

    Attributes:
        in_sizes: number of entries of every input.
        nodes: in an order in which they can be computed.
        outputs: for every output, the node of each of its entries.
    """

    name: str
    in_sizes: tuple[int, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[tuple[int, ...], ...]

    @property
    def out_sizes(self) -> tuple[int, ...]:
        """Number of entries of every output."""
        return tuple(len(output) for output in self.outputs)

    @property
    def n_operations(self) -> int:
        """Number of nodes that compute something."""
        return sum(node[0] != "const" and node[0] != "input" for node in self.nodes)


def operands(node: Node) -> Sequence[int]:
    """Numbers of the nodes that a node reads."""
    op = node[0]
    if op not in _OTHERS:
        return node[1:]
    return () if op in _LEAVES else node[2:]


def with_operands(node: Node, renumbered: Any) -> Node:
    """The node reading other nodes: operand i becomes renumbered[i]."""
    op = node[0]
    if op not in _OTHERS:
        # Written out: every pass calls this for every node.
        n = len(node)
        if n == 3:
            _, a, b = node
            return op, renumbered[a], renumbered[b]
        if n == 2:
            return op, renumbered[node[1]]
        return (op, *[renumbered[i] for i in node[1:]])
    return node if op in _LEAVES else (op, node[1], *[renumbered[i] for i in node[2:]])


Replace = Callable[[Node, Sequence[int]], int | None]


def keep(node: Node, new: Sequence[int]) -> None:
    """A node is not replaced."""


class Builder:
    """Nodes under construction, numbered by value: adding an equal node again gives the same number."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}

    def add(self, node: Node) -> int:
        """Number of a node."""
        op = node[0]
        key = node
        if op in COMMUTATIVE:
            _, first, second = node
            if first > second:
                node = key = (op, second, first)
            if op == "add" and self.nodes[first][0] == "if_else_zero":
                node = key = self._joined_branches(node)
        elif op == "const":
            # Equal numbers may differ in the sign of zero, and a NaN equals nothing: compare what is written.
            key = (op, float(node[1]).hex())
        # Value numbering: common sub-expressions are one node.
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.nodes)
            self.nodes.append(node)
        return number

    def append(self, node: Node) -> int:
        """Number of a node known to be unlike all others."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _joined_branches(self, node: Node) -> Node:
        """(c ? a : 0) + (!c ? b : 0) is how CasADi writes the choice c ? a : b."""
        nodes = self.nodes
        first, second = nodes[node[1]], nodes[node[2]]
        if first[0] == "if_else_zero" and second[0] == "if_else_zero":
            if nodes[second[1]] == ("not", first[1]):
                return ("select", first[1], first[2], second[2])
            if nodes[first[1]] == ("not", second[1]):
                return ("select", second[1], second[2], first[2])
        return node

    def copy(self, program: Program, replace: Replace = keep) -> list[int]:
        """The numbers that a program's nodes have here, in their order.

        Args:
            replace: what stands for a node, from what those before it have become; None: the node itself.
        """
        new: list[int] = []
        add, put = self.add, new.append
        for node in program.nodes:
            number = None if replace is keep else replace(node, new)
            put(add(with_operands(node, new)) if number is None else number)
        return new

    def finish(self, name: str, in_sizes: Iterable[int], outputs: Iterable[Iterable[int]]) -> Program:
        """The program of the nodes that the outputs need."""
        return restrict(Program(name, (), tuple(self.nodes), ()), name, in_sizes, outputs)


def rewrite(program: Program, builder: Builder, replace: Replace) -> Program:
    """The program with other nodes in the place of some, see `Builder.copy`."""
    new = builder.copy(program, replace)
    return builder.finish(program.name, program.in_sizes, [[new[i] for i in output] for output in program.outputs])


class Term:
    """A node under construction that is computed with as with a number; comparisons give conditions."""

    __slots__ = ("builder", "node")

    def __init__(self, builder: Builder, node: int) -> None:
        self.builder, self.node = builder, node

    def apply(self, op: str, *others: Term | float) -> Term:
        """A further operation, with this term as its first operand."""
        return Term(self.builder, self.builder.add((op, self.node, *(self.number(other).node for other in others))))

    def number(self, value: Term | float) -> Term:
        """A constant beside this term."""
        return value if isinstance(value, Term) else Term(self.builder, self.builder.add(("const", value)))

    def __add__(self, other: Term | float) -> Term:
        return self.apply("add", other)

    def __sub__(self, other: Term | float) -> Term:
        return self.apply("sub", other)

    def __rsub__(self, other: float) -> Term:
        return self.number(other).apply("sub", self)

    def __mul__(self, other: Term | float) -> Term:
        return self.apply("mul", other)

    def __truediv__(self, other: Term) -> Term:
        return self.apply("div", other)

    def __neg__(self) -> Term:
        return self.apply("neg")

    def __abs__(self) -> Term:
        return self.apply("fabs")

    def __lt__(self, other: Term | float) -> Term:
        return self.apply("lt", other)

    def __le__(self, other: Term) -> Term:
        return self.apply("le", other)

    def __and__(self, other: Term) -> Term:
        return self.apply("and", other)

    def __or__(self, other: Term) -> Term:
        return self.apply("or", other)

    def __invert__(self) -> Term:
        return self.apply("not")

    def __gt__(self, other: float) -> Term:
        return self.number(other) < self

    def equals(self, other: Term | float) -> Term:
        return self.apply("eq", other)

    def choose(self, value: Term | float, otherwise: Term | float) -> Term:
        """The value where this condition holds."""
        return self.apply("select", value, otherwise)


def find_dependence(program: Program | Builder, kind_of: Callable[[Node], int]) -> list[int]:
    """The largest kind of input that each node depends on; 0 of constants.

    Args:
        kind_of: kind of an input.
    """
    kinds: list[int] = []
    put = kinds.append
    for node in program.nodes:
        if len(node) == 3 and node[0] not in _OTHERS:
            # Written out for most nodes, as in `with_operands`.
            first, second = kinds[node[1]], kinds[node[2]]
            put(first if first > second else second)
        elif node[0] == "input":
            put(kind_of(node))
        else:
            put(max([kinds[i] for i in operands(node)], default=0))
    return kinds


def find_border(program: Program, kinds: Sequence[int], inner: int) -> list[int]:
    """Nodes of the inner kind that one of a larger kind, or an output, reads."""
    readers = [operands(node) for node, kind in zip(program.nodes, kinds, strict=True) if kind > inner]
    read = {i for numbers in (*readers, *program.outputs) for i in numbers}
    return sorted(i for i in read if kinds[i] == inner)


def find_dependents(program: Program, source: int) -> bytearray:
    """1 for a node and each one that depends on it, else 0."""
    reached = bytearray(len(program.nodes))
    reached[source] = 1
    for number in range(source + 1, len(program.nodes)):
        reached[number] = any(reached[i] for i in operands(program.nodes[number]))
    return reached


def restrict(program: Program, name: str, in_sizes: Iterable[int], outputs: Iterable[Iterable[int]]) -> Program:
    """The program of the nodes that some outputs need."""
    wanted = [tuple(output) for output in outputs]
    # Dead code is left out: only what outputs reach backwards stays.
    live = live_nodes(program.nodes, wanted)
    if all(live):
        return Program(name, tuple(in_sizes), program.nodes, tuple(wanted))
    kept = list(compress(range(len(live)), live))
    renumbered = [-1] * len(live)
    for place, number in enumerate(kept):
        renumbered[number] = place
    nodes = [with_operands(program.nodes[number], renumbered) for number in kept]
    columns = tuple(tuple(renumbered[i] for i in output) for output in wanted)
    return Program(name, tuple(in_sizes), tuple(nodes), columns)


def live_nodes(nodes: Sequence[Node], outputs: Iterable[Iterable[int]]) -> bytearray:
    """1 for each node that some outputs need, else 0."""
    live = bytearray(len(nodes))
    for output in outputs:
        for number in output:
            live[number] = 1
    for number in range(len(nodes) - 1, -1, -1):
        if live[number]:
            node = nodes[number]
            if node[0] in _OTHERS:
                for operand in operands(node):
                    live[operand] = 1
            elif len(node) == 3:
                live[node[1]] = live[node[2]] = 1
            else:
                for operand in node[1:]:
                    live[operand] = 1
    return live
