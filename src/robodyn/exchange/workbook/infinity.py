"""Infinite limits: what is left of a formula? Spreadsheets know no infinity, so it is decided beforehand.

For every finite x:  x < inf is true, inf < x false, min(x, inf) = x, max(x, inf) = inf, and the like below -inf.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from robodyn.computation.native.program import Node


def decide(node: Node, nodes: Sequence[Node]) -> Node | int:
    """The node, or what it comes to: a constant, or the number of the operand that it equals.

    Args:
        nodes: those that the node's operands are numbers of.
    """
    op = node[0]
    if op in ("lt", "le", "eq", "ne"):
        return _compare(node, nodes)
    if op in ("fmin", "fmax"):
        return _choose(node, nodes)
    if op in ("select", "if_else_zero") and nodes[node[1]][0] == "const":
        if nodes[node[1]][1] != 0:
            return int(node[2])
        return int(node[3]) if op == "select" else ("const", 0.0)
    return node


def _infinity(node: Node) -> float:
    """inf or -inf where the node is that constant, else 0."""
    return node[1] if node[0] == "const" and math.isinf(node[1]) else 0.0


def _compare(node: Node, nodes: Sequence[Node]) -> Node:
    left, right = (_infinity(nodes[i]) for i in node[1:])
    if left == right:
        return node
    if node[0] in ("eq", "ne"):
        return ("const", float(node[0] == "ne"))
    return ("const", float(left < right))


def _choose(node: Node, nodes: Sequence[Node]) -> Node | int:
    sign = 1.0 if node[0] == "fmin" else -1.0
    for infinite, other in ((node[1], node[2]), (node[2], node[1])):
        value = sign * _infinity(nodes[infinite])
        if value:
            return int(other) if value > 0 else int(infinite)
    return node
