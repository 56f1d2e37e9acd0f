"""Row program: what does one row of the run compute? All functions of a system as one program of an instant."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import casadi as ca

from robodyn.base import frozen
from robodyn.computation.assembly import System
from robodyn.computation.native import Program, read_program
from robodyn.computation.native.program import Builder, Node, operands, with_operands

# --------------------------------------------------------------------------------------------------
# Infinite limits: what is left of a formula? Spreadsheets know no infinity, so it is decided beforehand.
#
# For every finite x:  x < inf is true, inf < x false, min(x, inf) = x, max(x, inf) = inf, and the like below -inf.


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


# --------------------------------------------------------------------------------------------------
# Row program: what does one row of the run compute? All functions of a system as one program of an instant.
#
# Symbols: t_k = k h; x_k states, m_k memory after the samples due at t_k, f the rates.
#
#     m_k     = the due tasks, in declared order, on (t_k, x_k, m_(k-1))
#     Euler:    x_(k+1) = x_k + h f(t_k, x_k, m_k)
#     Heun:     x_p     = x_k + h f(t_k, x_k, m_k)
#               x_(k+1) = x_k + h (f(t_k, x_k, m_k) + f(t_k + h, x_p, m_k)) / 2
#
# With step size control (heun_euler) a row is a try: its step is repeated, shorter, in the next row where x_(k+1) and
# x_p are too far apart.
#
# Limited states are clipped at the end of a step and where it is predicted. One program for all of it lets a
# sub-expression that several functions share be computed in one cell.


# Inputs of a row's program: time, states, memory of the row before, parameters, step, end of the step, task due.
T, X, BEFORE, P, STEP, END, DUE = range(7)
GROUPS = ("memory", "rates", "signals", "guards", "limits", "predicted", "end_rates")

# What a node depends on: numbers alone, parameters, the row's own state, or the predicted end of the step.
CONSTANT, PARAMETER, ROW, PREDICTED = range(4)


@frozen
class RowProgram:
    """The program of a row.

    Attributes:
        outputs: group -> node of each entry; `limits` are all lower, then all upper ones.
        kinds: what each node depends on.
        timings: (period, offset) of the tasks in ticks of the base period, in the order of the input DUE.
    """

    program: Program
    outputs: Mapping[str, tuple[int, ...]]
    kinds: tuple[int, ...]
    timings: tuple[tuple[int, int], ...]


def trace_row(system: System, heun: bool, even: bool) -> RowProgram:
    """The program of one row, for Euler's or Heun's method.

    Args:
        even: whether all steps are alike, so that what depends on them and parameters is computed once.
    """
    tracer = _Tracer(system)
    # What a row says of its instant: memory after the ticks, then rates, signals, guards and limits.
    memory = tracer.run_tasks()
    now = tracer.inputs(tracer.add(T, 0), tracer.column(X, len(system.states)), memory)
    outputs = {"memory": memory}
    expressions = system.expressions
    for group, column in {
        "rates": expressions.rhs,
        "signals": expressions.outputs,
        "guards": expressions.guards,
        "limits": expressions.limits,
    }.items():
        outputs[group] = tracer.insert(column, now)
    # Heun: x + h f(t, x) is where the rates are taken a second time.
    outputs["predicted"], outputs["end_rates"] = [], []
    if heun:
        predicted = [tracer.predict(k, rate, outputs["limits"]) for k, rate in enumerate(outputs["rates"])]
        outputs["predicted"] = predicted
        outputs["end_rates"] = tracer.insert(expressions.rhs, tracer.inputs(tracer.add(END, 0), predicted, memory))
    program = tracer.builder.finish("row", [0] * 7, [outputs[group] for group in GROUPS])
    # What a node depends on says where it stands: nothing, parameters, the row, or the predicted states.
    nodes = dict(zip(GROUPS, program.outputs, strict=True))
    of_inputs = {P: PARAMETER, STEP: PARAMETER if even else ROW, END: PREDICTED}
    at_end = set(nodes["predicted"])
    kinds: list[int] = []
    for number, node in enumerate(program.nodes):
        if node[0] == "input":
            kind = of_inputs.get(node[1], ROW)
        else:
            kind = max((kinds[i] for i in operands(node)), default=CONSTANT)
        kinds.append(PREDICTED if number in at_end else kind)
    return RowProgram(program, nodes, tuple(kinds), tuple(tracer.timings))


class _Tracer:
    """Puts the functions of a system into one builder, their inputs replaced by nodes."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.builder = Builder()
        self.timings: list[tuple[int, int]] = []

    def add(self, kind: int, k: int) -> int:
        return self.builder.add(("input", kind, k))

    def column(self, kind: int, size: int) -> list[int]:
        return [self.add(kind, k) for k in range(size)]

    def inputs(self, t: int, x: list[int], m: list[int]) -> Callable[[int, int], int]:
        """Node of entry k of input i of the system's functions (t, x, d, m, p); nothing is delayed here."""
        columns: list[list[int]] = [[t], x, [], m, self.column(P, len(self.system.parameters))]
        return lambda i, k: columns[i][k]

    def insert(self, column: ca.SX, inputs: Callable[[int, int], int]) -> list[int]:
        """Nodes of a function's output."""
        program = read_program(self.system.function(column))
        new: list[int] = []
        for node in program.nodes:
            new.append(inputs(node[1], node[2]) if node[0] == "input" else self._put(with_operands(node, new)))
        return [new[i] for i in program.outputs[0]]

    def _put(self, node: Node) -> int:
        """Number of a node in the row, decided where it is compared with infinity."""
        decided = decide(node, self.builder.nodes)
        return decided if isinstance(decided, int) else self.builder.add(decided)

    def run_tasks(self) -> list[int]:
        """Memory after all tasks that are due, each on what the one before it left."""
        memory = self.column(BEFORE, len(self.system.memory))
        x = self.column(X, len(self.system.states))
        for task in self.system.discrete.tasks:
            fresh = self.insert(self.system.memory_after(task), self.inputs(self.add(T, 0), x, memory))
            if (task.period, task.offset) not in self.timings:
                self.timings.append((task.period, task.offset))
            due = self.add(DUE, self.timings.index((task.period, task.offset)))
            changed = zip(fresh, memory, strict=True)
            memory = [old if new == old else self.builder.add(("select", due, new, old)) for new, old in changed]
        return memory

    def predict(self, k: int, rate: int, limits: list[int]) -> int:
        """Euler's step of state k, within its limits."""
        change = self.builder.add(("mul", self.add(STEP, 0), rate))
        end = self.builder.add(("add", self.add(X, k), change))
        limited = self.system.limited
        if k in limited:
            at = limited.index(k)
            raised = self._put(("fmax", end, limits[at]))
            end = self._put(("fmin", raised, limits[at + len(limited)]))
        return end
