"""Operation counts: how much arithmetic does each algorithm of dynamics cost, for a given tree?

Three ways to count, all by walking the instructions of the traced algorithm:

    general   every number of the tree is an unknown, nothing is shared: the algorithm as it stands, for any arm
    folded    the tree's own numbers are constants, so that zeros, ones and right angles cost nothing
    shared    folded, and what occurs twice is computed once: the code that runs

The general count is the one to hold against published counts, which assume nothing of the arm's shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.spatial import Inertia, Pose
from robodyn.base.symbolic import is_symbolic
from robodyn.computation.dynamics import (
    Link,
    Tree,
    forward_dynamics,
    inverse_dynamics,
    solve_symmetric,
)
from robodyn_studies.lagrange import lagrange_coefficients, lagrange_inverse_dynamics

WAYS = ("general", "folded", "shared")

_KINDS = {
    "multiplications": (ca.OP_MUL, ca.OP_SQ),
    "additions": (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE),
    "divisions": (ca.OP_DIV, ca.OP_INV),
    "trigonometric": (ca.OP_SIN, ca.OP_COS, ca.OP_TAN, ca.OP_ASIN, ca.OP_ACOS, ca.OP_ATAN, ca.OP_ATAN2),
}
_KIND_OF = {code: kind for kind, codes in _KINDS.items() for code in codes}
# A change of sign is free: it makes an addition a subtraction.
_FREE = frozenset([ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER, ca.OP_ASSIGN, ca.OP_NEG])

Algorithm = Callable[[Tree, Any, Any, Any], Any]


@dataclass(frozen=True)
class OperationCount:
    """Number of arithmetic operations; subtractions count as additions, changes of sign not at all."""

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    trigonometric: int = 0
    others: int = 0

    @property
    def total(self) -> int:
        """All operations together."""
        return self.multiplications + self.additions + self.divisions + self.trigonometric + self.others


def count_operations(function: ca.Function) -> OperationCount:
    """Operations in one evaluation of a function of scalars, as its instructions stand."""
    function = function if function.is_a("SXFunction") else function.expand()
    codes = (function.instruction_id(k) for k in range(function.n_instructions()))

    return OperationCount(**Counter(_KIND_OF.get(code, "others") for code in codes if code not in _FREE))


def _lagrange_forward(tree: Tree, q: Any, v: Any, tau: Any) -> Any:
    """M a = tau - bias, both from the Lagrange coefficients."""
    D = lagrange_coefficients(tree, q)

    return solve_symmetric(D.inertial, tau - D.torques(v, [0.0] * tree.n_v))


ALGORITHMS: Mapping[str, Algorithm] = {
    "inverse, Uicker-Kahn": lagrange_inverse_dynamics,
    "inverse, Newton-Euler": inverse_dynamics,
    "forward, Uicker-Kahn": _lagrange_forward,
    "forward, Walker-Orin": lambda tree, q, v, tau: forward_dynamics(tree, q, v, tau, method="composite"),
}
"""Function of (tree, q, v, accelerations or torques) by name."""


def compare_algorithms(tree: Tree) -> dict[str, dict[str, OperationCount]]:
    """Counts of each algorithm of `ALGORITHMS` for a tree of revolute and prismatic joints, each way of `WAYS`."""
    counts = {}
    for name, algorithm in ALGORITHMS.items():
        folded = trace_algorithm(algorithm, tree)
        ways = (trace_algorithm(algorithm, generalise(tree)), folded, _share(folded))
        counts[name] = {way: count_operations(function) for way, function in zip(WAYS, ways, strict=True)}

    return counts


def trace_algorithm(algorithm: Algorithm, tree: Tree) -> ca.Function:
    """An algorithm on symbols, as a function of all symbols it holds."""
    symbols = [ca.SX.sym(name, size) for name, size in (("q", tree.n_q), ("v", tree.n_v), ("u", tree.n_v))]
    output = ca.densify(ca.SX(algorithm(tree, *symbols)))
    known = {symbol.__hash__() for column in symbols for symbol in ca.vertsplit(column)}
    unknowns = [symbol for symbol in ca.symvar(output) if symbol.__hash__() not in known]

    return ca.Function("traced", [*symbols, ca.vertcat(ca.SX(0, 1), *unknowns)], [output])


def generalise(tree: Tree) -> Tree:
    """The same joints on links of any shape and mass: every number but the axes is a symbol."""
    return Tree(tuple(_general_link(k, link) for k, link in enumerate(tree.links)), ca.SX.sym("g", 3))


def _general_link(k: int, link: Link) -> Link:
    entries = ca.SX.sym(f"I{k}", 6)
    tensor = ca.SX(3, 3)
    for n, (i, j) in enumerate(zip(*np.triu_indices(3), strict=True)):
        tensor[int(i), int(j)] = tensor[int(j), int(i)] = entries[n]
    inertia = Inertia(ca.SX.sym(f"m{k}"), ca.SX.sym(f"c{k}", 3), tensor)
    has_rotor = is_symbolic(link.armature) or link.armature != 0.0

    return replace(
        link,
        frame=Pose(ca.SX.sym(f"R{k}", 3, 3), ca.SX.sym(f"p{k}", 3)),
        inertia=inertia,
        armature=ca.SX.sym(f"A{k}") if has_rotor else 0.0,
    )


def _share(function: ca.Function) -> ca.Function:
    """The same function with equal subexpressions computed once."""
    symbols = function.sx_in()

    return ca.Function("shared", symbols, [ca.cse(function(*symbols))])
