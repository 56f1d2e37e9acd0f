"""Conditions of a model: what decides between one course of its functions and another, and can it change in a box?

A condition is a number whose level decides: a < b, the smaller of two, the sign, the stair of a floor, the interval of
a table. All of them are collected from the traced functions, whether anything acts on them or not, and three programs
are made of them:

    conditions    their values at a point
    enclosures    bounds of the values of all guards, limits of states and conditions for all points of a box
    drifts        bounds of their rates while the point moves through the box

Bounds are balls, a middle and a radius, computed operation by operation (midpoint-radius arithmetic). What the engine
proves with them is said in `engine/proof.c`. Rounding is not enclosed: the boxes are wider than the motion by more than
it amounts to.

The box is one input in the place of the states: [middle, radius, middle of the rate, radius of the rate] of
K = 1 + n_x + n_d + n_m numbers each, which are time, states, delayed signals and memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from robodyn.base import frozen
from robodyn.base.symbolic import tables

from .program import Builder, Node, Program, Term, find_dependence, operands

DELAYS = "delayed"
BENT = ("rhs", DELAYS)
"""Functions whose conditions matter: rates, and what delays keep of each step as a polynomial."""
GUARDS, LIMITS = "guards", "limits"
CONDITIONS, ENCLOSURES, DRIFTS = "conditions", "enclosures", "drifts"
TIME, STATES, DELAYED, MEMORY = range(4)
MOVING = (TIME, STATES, DELAYED)
"""Inputs that change within a step."""
JUMP, KINK, STAIR, TABLE, UNBOUNDED = range(5)
"""Kinds: the level is the sign of a value, at whose zero something jumps, or bends; the whole number below it; or the
row of a table. UNBOUNDED: it is too long an expression to be bounded."""
STRAIGHT, LATE = 8, 16
"""Added to the kind of a condition: it is affine in time and states, so that along a line it never changes back; what a
delay keeps depends on it."""
ROUNDING = 2.0**-50
"""What a part of a row is below 1, for each row."""
LONGEST = 3000
"""Operations of a guard or condition whose bounds are worth their compilation: those of forces in contacts and of
friction that holds a large mechanism are longer, and would be too wide to decide anything."""


class Conditions(NamedTuple):
    """What the conditions of a model are.

    Attributes:
        programs: `conditions`, `enclosures` and `drifts`, by name; none where there is nothing to bound.
        kinds: of guards, limits of states and conditions, in this order.
        n_conditions: their number; omitted: how many more there are, too long to be bounded.
        work: operations of the bounds of all for one box.
        entries: of the box, that any bound depends on.
    """

    programs: dict[str, Program]
    kinds: tuple[int, ...] = ()
    n_conditions: int = 0
    omitted: int = 0
    work: int = 0
    entries: tuple[int, ...] = ()


def find_conditions(programs: Mapping[str, Program], limited: Iterable[int]) -> Conditions:
    """The conditions of some functions of t, x, d, m and p, and bounds of them, of the guards and of limited states.

    Args:
        programs: by name, those that are there; limited: states with limits, in the order of the limits.
    """
    builder = Builder()
    copied = {}
    for name, program in programs.items():
        there = builder.copy(program)
        copied[name] = [there[i] for i in program.outputs[0]]
    sizes = next(iter(programs.values())).in_sizes
    # Guards first, then the limits of states, upper ones before lower ones, as the engine has them.
    watched = list(copied[GUARDS]) if GUARDS in copied else []
    ends, places = list(copied.get(LIMITS, ())), list(limited)
    for k, bound in enumerate([*ends[len(places) :], *ends[: len(places)]]):
        state = builder.add(("input", STATES, places[k % len(places)]))
        watched.append(builder.add(("sub", state, bound)))
    # What only memory and parameters decide is the same throughout a step.
    roots = [node for name in BENT for node in copied.get(name, ())]
    kinds_by_node = _collect(builder, _reach(builder.nodes, roots), watched)
    short = {i: kind for i, kind in kinds_by_node.items() if _is_short(builder.nodes, i)}
    kinds = [KINK if _is_short(builder.nodes, i) else UNBOUNDED for i in watched]
    degrees = _find_degrees(builder.nodes) if short else []
    late = _collect(builder, _reach(builder.nodes, copied.get(DELAYS, ())), watched)
    kinds += [kind + STRAIGHT * (degrees[i] <= 1) + LATE * (i in late) for i, kind in short.items()]
    if all(kind == UNBOUNDED for kind in kinds):
        return Conditions({}, omitted=len(kinds_by_node))
    places = [_place_in_table(builder, i) if kind == TABLE else i for i, kind in short.items()]
    points = builder.finish(CONDITIONS, sizes, [places])
    # A number in the place of what is not bounded.
    outputs = [
        i if kind != UNBOUNDED else builder.add(("const", 1.0))
        for i, kind in zip([*watched, *short], kinds, strict=True)
    ]
    bounds, used = _enclose(builder, outputs, sizes)
    rates = _Tangents(builder)
    # The row of a table rises with the place in it.
    moved = [node[2] if (node := builder.nodes[i])[0] == "locate" else i for i in outputs]
    drifts, also = _enclose(builder, [rates.of(i) for i in moved], sizes)
    bounding = {CONDITIONS: points, ENCLOSURES: bounds, DRIFTS: drifts}
    work = len(bounds.nodes) + len(drifts.nodes)
    omitted = len(kinds_by_node) - len(short)
    return Conditions(bounding, tuple(kinds), len(short), omitted, work, tuple(sorted({*used, *also})))


def _place_in_table(builder: Builder, row: int) -> int:
    """The row and how far in it, below 1: its whole number is the row, and the place rises through all of them."""
    _, number, x = builder.nodes[row]
    knots = np.array(tables.lookup(number).values)
    slopes = 1.0 / np.diff(knots, append=2.0 * knots[-1] - knots[-2] if len(knots) > 1 else knots[-1] + 1.0)
    tabled = (knots, slopes)
    begin, slope = (builder.add(("gather", tables.register(tables.GATHER, values), row)) for values in tabled)
    part = builder.add(("mul", builder.add(("sub", x, begin)), slope))
    below = builder.add(("const", 1.0 - len(knots) * ROUNDING))
    part = builder.add(("fmin", builder.add(("fmax", part, builder.add(("const", 0.0)))), below))
    return builder.add(("add", row, part))


def _is_short(nodes: list[Node], number: int) -> bool:
    return len(_reach(nodes, [number], LONGEST)) <= LONGEST


def _reach(nodes: list[Node], roots: Iterable[int], longest: float = math.inf) -> list[int]:
    """All nodes that some need, in order; one more than the longest number of them at most."""
    reached: set[int] = set()
    waiting = list(roots)
    while waiting and len(reached) <= longest:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            waiting += operands(nodes[number])
    return sorted(reached)


def _find_degrees(nodes: list[Node]) -> list[int]:
    """0 of what holds within a step, 1 of what is affine in time and states, 2 of all else; the row of a table
    counts as its place does."""
    degrees: list[int] = []
    for node in nodes:
        read = [degrees[i] for i in operands(node)]
        match node[0]:
            case "input":
                degree = {TIME: 1, STATES: 1, DELAYED: 2}.get(node[1], 0)
            case "mul":
                degree = sum(read)
            case "muladd":
                degree = max(read[0] + read[1], read[2])
            case "add" | "sub" | "neg" | "twice" | "locate":
                degree = max(read)
            case "div" | "select" | "if_else_zero" if not read[node[0] == "div"]:
                degree = max(read)
            case _:
                degree = 2 * any(read)
        degrees.append(min(degree, 2))
    return degrees


TRUTHS = frozenset(["lt", "le", "eq", "ne", "and", "or", "not"])
LOGIC = frozenset(["and", "or", "not"])
SMOOTH = frozenset(["const", "input", "add", "sub", "mul", "neg", "sq", "twice", "inv", "div", "sqrt", "sin", "cos"])
"""Most operations by far: nothing decides between two courses of theirs but a truth that one reads as a number."""


def _collect(builder: Builder, numbers: list[int], watched: list[int]) -> dict[int, int]:
    """The values whose levels decide, with the kind of each, without those that are watched anyway."""
    kinds: dict[int, int] = {}
    known = {_either_way(builder.nodes[i]) for i in watched}
    moves = find_dependence(builder, lambda node: node[1] in MOVING) if numbers else []
    for number in numbers:
        node = builder.nodes[number]
        if node[0] in SMOOTH and TRUTHS.isdisjoint(builder.nodes[i][0] for i in operands(node)):
            continue
        decisive = [_decisive(builder, node)] if any(moves[i] for i in operands(node)) else []
        # A truth decides where something else than another truth reads it: of `a and b` neither does alone.
        used = [] if node[0] in LOGIC else [i for i in operands(node) if builder.nodes[i][0] in TRUTHS and moves[i]]
        # a < b ? a : c is a limit, at which nothing jumps.
        limits = node[0] == "select" and not {*builder.nodes[node[1]][1:]}.isdisjoint(node[2:])
        margins = [(_margin(builder, moves, i), KINK if limits else JUMP) for i in used]
        for place, kind in [value for value in decisive if value] + margins:
            key = _either_way(builder.nodes[place])
            if key not in known:
                known.add(key)
                kinds[place] = kind
    return kinds


def _margin(builder: Builder, moves: list[int], number: int) -> int:
    """A value that is below zero where a truth holds, and only there: by how much it does."""
    node, add = builder.nodes[number], builder.add
    below, above = add(("const", -1.0)), add(("const", 1.0))
    if node[0] in ("lt", "le"):
        return add(("sub", node[1], node[2]))
    if node[0] == "not":
        return add(("neg", _margin(builder, moves, node[1])))
    if node[0] in ("and", "or"):
        still, moving = sorted(node[1:], key=lambda i: moves[i])
        margin = _margin(builder, moves, moving)
        if not moves[still]:
            choices = (margin, above) if node[0] == "and" else (below, margin)
            return add(("select", still, *choices))
        return add(("fmax" if node[0] == "and" else "fmin", _margin(builder, moves, still), margin))
    # Equal numbers, and numbers taken for truths, have no margin.
    return add(("select", number, below, above))


def _either_way(node: Node) -> Node:
    """b - a decides what a - b does."""
    return ("sub", *sorted(node[1:])) if node[0] == "sub" else node


def _decisive(builder: Builder, node: Node) -> tuple[int, int] | None:
    """The value whose level decides what a node gives, if there is one."""
    add = builder.add
    match node[0]:
        case "fmin" | "fmax":
            return add(("sub", node[1], node[2])), KINK
        case "fabs" | "sign":
            return node[1], KINK
        case "copysign":
            return node[2], JUMP
        case "floor":
            return node[1], STAIR
        case "ceil":
            return add(("neg", node[1])), STAIR
        case "fmod":
            return add(("div", node[1], node[2])), STAIR
        case "remainder":
            turns = add(("div", node[1], node[2]))
            return add(("add", turns, add(("const", 0.5)))), STAIR
        case "locate":
            return add(node), TABLE
        case "atan2":
            # The angle jumps where y changes its sign behind x = 0.
            behind = add(("lt", node[2], add(("const", 0.0))))
            return add(("select", behind, node[1], add(("const", 1.0)))), JUMP
    return None


# ---------------------------------------------------------------------------------------------------------------- rates


class _Tangents:
    """Rates of nodes while time, states and delayed signals move: forward differentiation.

    A rate says nothing across a jump. Where one is possible, a pseudo-node `settled` is added to the rate, whose bounds
    are zero as long as what decides stays what it is, and infinite elsewhere.
    """

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._rates: dict[int, Term | None] = {}

    def of(self, number: int) -> int:
        """The rate of a node, as a node."""
        for needed in _reach(self._builder.nodes, [number]):
            if needed not in self._rates:
                self._rates[needed] = self._rate(needed)
        rate = self._rates[number]
        return self._builder.add(("const", 0.0)) if rate is None else rate.node

    def _rate(self, number: int) -> Term | None:
        node = self._builder.nodes[number]
        op = node[0]
        if op == "input":
            moved = ("input", -1 - node[1], node[2])
            return Term(self._builder, self._builder.add(moved)) if node[1] in MOVING else None
        rates = [self._rates[i] for i in operands(node)]
        if all(rate is None for rate in rates):
            return None
        value, *read = (Term(self._builder, i) for i in (number, *operands(node)))
        zero = value.number(0.0)
        if op in STEPPING:
            return _settled(zero, value)
        known = [zero if rate is None else rate for rate in rates]
        if op in ("select", "if_else_zero"):
            slope = read[0].choose(known[1], known[2] if op == "select" else zero)
            return slope if rates[0] is None else _settled(slope, read[0])
        if op in ("fmod", "remainder"):
            # a - n b, as long as n is the same.
            turns = self._decisive(node, value).apply("floor")
            whole = -turns if rates[1] is not None else zero
            return _settled(known[0] + whole * known[1], turns)
        if op == "copysign":
            below = read[1] < zero
            same = read[0].apply("sign") * value.number(1.0).apply("copysign", read[1])
            return _settled(same * known[0], below)
        if op in ("fmin", "fmax"):
            first, second = read if op == "fmin" else read[::-1]
            return (first <= second).choose(known[0], known[1])
        slopes = _SLOPES[op](value, *read)
        terms = [value.number(s) * r for s, r in zip(slopes, rates, strict=True) if r is not None]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total if op != "atan2" else _settled(total, self._decisive(node, value) < zero)

    def _decisive(self, node: Node, value: Term) -> Term:
        place = _decisive(self._builder, node)
        return Term(self._builder, place[0]) if place else value


def _settled(rate: Term, deciding: Term) -> Term:
    """A rate, known where a node does not change its value."""
    return rate + deciding.apply("settled")


STEPPING = frozenset([*TRUTHS, "sign", "floor", "ceil", "locate", "gather", "seek", "row"])
"""Operations that change by steps alone."""


def _root(value: Term) -> Term:
    return value.apply("sqrt").apply("inv")


_SLOPES: dict[str, Callable[..., tuple[Term | float, ...]]] = {
    "add": lambda y, a, b: (1.0, 1.0),
    "sub": lambda y, a, b: (1.0, -1.0),
    "neg": lambda y, a: (-1.0,),
    "twice": lambda y, a: (2.0,),
    "mul": lambda y, a, b: (b, a),
    "div": lambda y, a, b: (b.apply("inv"), -(y / b)),
    "inv": lambda y, a: (-y.apply("sq"),),
    "sq": lambda y, a: (a.apply("twice"),),
    "muladd": lambda y, a, b, c: (b, a, 1.0),
    "fabs": lambda y, a: (a.apply("sign"),),
    "sqrt": lambda y, a: (y.apply("inv") * 0.5,),
    "exp": lambda y, a: (y,),
    "log": lambda y, a: (a.apply("inv"),),
    "log1p": lambda y, a: ((a + 1.0).apply("inv"),),
    "expm1": lambda y, a: (y + 1.0,),
    "erf": lambda y, a: ((-a.apply("sq")).apply("exp") * (2.0 / math.sqrt(math.pi)),),
    "sin": lambda y, a: (a.apply("cos"),),
    "cos": lambda y, a: (-a.apply("sin"),),
    "tan": lambda y, a: (y.apply("sq") + 1.0,),
    "asin": lambda y, a: (_root(1.0 - a.apply("sq")),),
    "acos": lambda y, a: (-_root(1.0 - a.apply("sq")),),
    "atan": lambda y, a: ((a.apply("sq") + 1.0).apply("inv"),),
    "sinh": lambda y, a: (a.apply("cosh"),),
    "cosh": lambda y, a: (a.apply("sinh"),),
    "tanh": lambda y, a: (1.0 - y.apply("sq"),),
    "asinh": lambda y, a: (_root(a.apply("sq") + 1.0),),
    "acosh": lambda y, a: (_root(a.apply("sq") - 1.0),),
    "atanh": lambda y, a: ((1.0 - a.apply("sq")).apply("inv"),),
    "pow": lambda y, a, b: (b * a.apply("pow", b - 1.0), y * a.apply("log")),
    "hypot": lambda y, a, b: (a / y, b / y),
    "atan2": lambda v, y, x: (
        x * (x.apply("sq") + y.apply("sq")).apply("inv"),
        -(y * (x.apply("sq") + y.apply("sq")).apply("inv")),
    ),
}
"""Derivatives of every smooth operation y by its operands."""


# --------------------------------------------------------------------------------------------------------------- bounds


@frozen
class _Ball:
    """Bounds of a number by nodes: its middle and its radius, None where it is known exactly.

    Attributes:
        finite: whether both are certainly numbers. Those of others are 0 and infinity where they are not: what is no
            number would be lost in the smaller or larger of two.
    """

    middle: Term
    radius: Term | None = None
    finite: bool = True


@frozen
class _Truth:
    """Whether a condition may hold, and whether it may fail, as nodes."""

    may_hold: Term
    may_fail: Term


@frozen
class _Index:
    """The first and the last row of a table that a place may be in."""

    first: Term
    last: Term


Bounds = _Ball | _Truth | _Index


def _enclose(source: Builder, outputs: list[int], sizes: tuple[int, ...]) -> tuple[Program, set[int]]:
    """Bounds [middles, radii] of some nodes, as a program of the box; entries of the box that it reads."""
    enclosure = _Enclosure(sizes)
    bounds: dict[int, Bounds] = {}
    for number in _reach(source.nodes, outputs):
        bounds[number] = enclosure.bound(source.nodes[number], bounds)
    balls = [enclosure.ball(bounds[number]) for number in outputs]
    columns = [ball.middle.node for ball in balls], [enclosure.radius(ball).node for ball in balls]
    box = (sizes[TIME], 4 * enclosure.width, *sizes[DELAYED:])
    return enclosure.builder.finish(ENCLOSURES, box, [[*columns[0], *columns[1]]]), enclosure.entries


class _Enclosure:
    """Bounds of each operation from those of its operands."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.builder = Builder()
        self.width = sum(sizes[: MEMORY + 1])
        self.entries: set[int] = set()
        self._begins = [sum(sizes[:i]) for i in range(MEMORY + 1)]

    def _add(self, *node: object) -> Term:
        numbers = (part.node if isinstance(part, Term) else part for part in node)
        return Term(self.builder, self.builder.add(tuple(numbers)))

    def _const(self, value: float) -> Term:
        return self._add("const", value)

    def bound(self, node: Node, found: Mapping[int, Bounds]) -> Bounds:
        """Bounds of a node."""
        op = node[0]
        if op == "const":
            return _Ball(self._add(*node))
        if op == "input":
            return self._input(node)
        own = [found[i] for i in operands(node)]
        # What is exact stays the operation that it is.
        exact = [b.middle for b in own if isinstance(b, _Ball) and b.radius is None]
        if op not in ("settled", "locate", "gather", "seek", "row") and len(exact) == len(own):
            return _Ball(self._add(op, *exact))
        rule = RULES.get(op)
        bounds: Bounds = self._unknown()
        if rule is not None:
            bounds = rule(self, node, *own)
        elif op in _RISING:
            bounds = self._between(*(self._add(op, self._into(op, end)) for end in self._ends(self.ball(own[0]))))
        finite = op not in _UNLIMITED and all(not isinstance(b, _Ball) or b.finite for b in own)
        return bounds if finite or not isinstance(bounds, _Ball) else self._settle_infinite(bounds)

    def _settle_infinite(self, ball: _Ball) -> _Ball:
        """Bounds that may not be numbers: then 0 and infinity."""
        radius = self.radius(ball)
        size = abs(ball.middle) + radius
        known = size < math.inf
        middle = known.choose(ball.middle, 0.0)
        return _Ball(middle, known.choose(radius, math.inf), finite=False)

    def _into(self, op: str, end: Term) -> Term:
        """The end of an interval, within what a function is defined for."""
        least, most = _RISING[op]
        end = end.apply("fmax", least) if least is not None else end
        return end.apply("fmin", most) if most is not None else end

    def _unknown(self) -> _Ball:
        return _Ball(self._const(0.0), self._const(math.inf), finite=False)

    def _input(self, node: Node) -> _Ball:
        rate, number = node[1] < 0, node[1] if node[1] >= 0 else -1 - node[1]
        if number > MEMORY:
            return _Ball(self._add(*node))
        place = self._begins[number] + node[2]
        self.entries.add(place)
        first = place + (2 * self.width if rate else 0)
        return _Ball(self._add("input", STATES, first), self._add("input", STATES, first + self.width))

    # Bounds of one kind as those of another.

    def radius(self, ball: _Ball) -> Term:
        """The radius as a node."""
        return self._const(0.0) if ball.radius is None else ball.radius

    def ball(self, bounds: Bounds) -> _Ball:
        """Bounds as a number's."""
        if isinstance(bounds, _Ball):
            return bounds
        if isinstance(bounds, _Index):
            return self._between(bounds.first, bounds.last)
        return self._between(~bounds.may_fail, bounds.may_hold)

    def _truth(self, bounds: Bounds) -> _Truth:
        """Bounds as a truth's: anything but zero is true."""
        if isinstance(bounds, _Truth):
            return bounds
        low, high = self._ends(self.ball(bounds))
        zero = self._const(0.0)
        may_fail = (low <= zero) & (zero <= high)
        is_zero = low.equals(zero) & high.equals(zero)
        return _Truth(~is_zero, may_fail)

    def _ends(self, ball: _Ball) -> tuple[Term, Term]:
        if ball.radius is None:
            return ball.middle, ball.middle
        return ball.middle - ball.radius, ball.middle + ball.radius

    def _between(self, low: Term, high: Term) -> _Ball:
        half = self._const(0.5)
        middle = half * (low + high)
        return _Ball(middle, half * (high - low))

    def _sizes(self, ball: _Ball) -> tuple[Term, Term]:
        """Least and largest magnitude."""
        size = abs(ball.middle)
        if ball.radius is None:
            return size, size
        least = (size - ball.radius).apply("fmax", 0.0)
        return least, size + ball.radius

    def _hull(self, a: _Ball, b: _Ball) -> _Ball:
        (a_low, a_high), (b_low, b_high) = self._ends(a), self._ends(b)
        return self._between(a_low.apply("fmin", b_low), a_high.apply("fmax", b_high))

    def _pick(self, condition: Term, a: _Ball, b: _Ball) -> _Ball:
        """One ball or the other, by a condition that is known."""
        middle = condition.choose(a.middle, b.middle)
        if a.radius is None and b.radius is None:
            return _Ball(middle)
        return _Ball(middle, condition.choose(self.radius(a), self.radius(b)))

    # Arithmetic.

    def _sum(self, op: str, a: _Ball, b: _Ball) -> _Ball:
        middle = self._add(op, a.middle, b.middle)
        if a.radius is None or b.radius is None:
            return _Ball(middle, b.radius if a.radius is None else a.radius)
        return _Ball(middle, a.radius + b.radius)

    def _product(self, a: _Ball, b: _Ball) -> _Ball:
        middle = a.middle * b.middle
        if a.radius is None and b.radius is None:
            return _Ball(middle)
        if a.radius is None:
            a, b = b, a
        assert a.radius is not None
        # |a| r_b + r_a (|b| + r_b)
        if b.radius is None:
            return _Ball(middle, a.radius * abs(b.middle))
        across = a.radius * self._sizes(b)[1]
        return _Ball(middle, abs(a.middle) * b.radius + across)

    def _reciprocal(self, a: _Ball) -> _Ball:
        if a.radius is None:
            return _Ball(a.middle.apply("inv"))
        size = abs(a.middle)
        near, far = (self._add(op, size, a.radius).apply("inv") for op in ("sub", "add"))
        ball = self._between(far, near)
        apart = a.radius < size
        radius = apart.choose(self.radius(ball), math.inf)
        return _Ball(ball.middle.apply("copysign", a.middle), radius)

    def _square(self, a: _Ball) -> _Ball:
        return self._between(*(size.apply("sq") for size in self._sizes(a)))

    def on_add(self, node: Node, a: Bounds, b: Bounds) -> _Ball:
        return self._sum(node[0], self.ball(a), self.ball(b))

    on_sub = on_add

    def on_mul(self, node: Node, a: Bounds, b: Bounds) -> _Ball:
        return self._square(self.ball(a)) if node[1] == node[2] else self._product(self.ball(a), self.ball(b))

    def on_div(self, node: Node, a: Bounds, b: Bounds) -> _Ball:
        top, bottom = self.ball(a), self.ball(b)
        if bottom.radius is not None:
            return self._product(top, self._reciprocal(bottom))
        size = abs(bottom.middle)
        return _Ball(top.middle / bottom.middle, self.radius(top) / size)

    def on_muladd(self, node: Node, a: Bounds, b: Bounds, c: Bounds) -> _Ball:
        return self._sum("add", self.on_mul(node, a, b), self.ball(c))

    def on_neg(self, node: Node, a: Bounds) -> _Ball:
        ball = self.ball(a)
        return _Ball(-ball.middle, ball.radius)

    def on_twice(self, node: Node, a: Bounds) -> _Ball:
        ball = self.ball(a)
        return self._sum("add", ball, ball)

    def on_inv(self, node: Node, a: Bounds) -> _Ball:
        return self._reciprocal(self.ball(a))

    def on_sq(self, node: Node, a: Bounds) -> _Ball:
        return self._square(self.ball(a))

    def on_fabs(self, node: Node, a: Bounds) -> _Ball:
        return self._between(*self._sizes(self.ball(a)))

    def on_fmin(self, node: Node, a: Bounds, b: Bounds) -> _Ball:
        ends = zip(self._ends(self.ball(a)), self._ends(self.ball(b)), strict=True)
        return self._between(*(self._add(node[0], *pair) for pair in ends))

    on_fmax = on_fmin

    def on_hypot(self, node: Node, a: Bounds, b: Bounds) -> _Ball:
        sizes = zip(self._sizes(self.ball(a)), self._sizes(self.ball(b)), strict=True)
        return self._between(*(self._add("hypot", *pair) for pair in sizes))

    def on_copysign(self, node: Node, a: Bounds, b: Bounds) -> _Ball:
        size, (low, high) = self.on_fabs(node, a), self._ends(self.ball(b))
        side = self._between(*(self._const(1.0).apply("copysign", end) for end in (low, high)))
        return self._product(size, side)

    # Elementary functions that do not only rise.

    def on_sin(self, node: Node, a: Bounds) -> _Ball:
        """f(m + s) = f(m) cos s + f'(m) sin s, with cos s from 1 - r^2 / 2 to 1 and |sin s| at most r."""
        ball = self.ball(a)
        value, slope = self._add(node[0], ball.middle), self._add({"sin": "cos", "cos": "sin"}[node[0]], ball.middle)
        radius = self.radius(ball)
        quarter = self._const(0.25) * radius.apply("sq")
        sag = quarter.apply("fmin", 1.0)
        sway = abs(slope) * radius.apply("fmin", 1.0)
        middle = value - value * sag
        return _Ball(middle, abs(value) * sag + sway)

    on_cos = on_sin

    def on_tan(self, node: Node, a: Bounds) -> _Ball:
        ball = self.ball(a)
        return self._product(self.on_sin(("sin",), ball), self._reciprocal(self.on_sin(("cos",), ball)))

    def on_acos(self, node: Node, a: Bounds) -> _Ball:
        low, high = (self._into("asin", end) for end in self._ends(self.ball(a)))
        return self._between(high.apply("acos"), low.apply("acos"))

    def on_cosh(self, node: Node, a: Bounds) -> _Ball:
        return self._between(*(size.apply("cosh") for size in self._sizes(self.ball(a))))

    def on_pow(self, node: Node, a: Bounds, b: Bounds) -> _Ball:
        base, exponent = self.ball(a), self.ball(b)
        known = self.builder.nodes[exponent.middle.node] if exponent.radius is None else ("input",)
        if known[0] != "const":
            # exp(b log a): of positive numbers alone.
            return self._exp(self._product(exponent, self._log(base)))
        power, rises = abs(float(known[1])), self._const(abs(float(known[1])))
        if power % 2 == 0:
            ends = self._sizes(base)
        elif power % 1 == 0:
            ends = self._ends(base)
        else:
            ends = self._into("sqrt", self._ends(base)[0]), self._into("sqrt", self._ends(base)[1])
        ball = self._between(*(end.apply("pow", rises) for end in ends))
        return ball if known[1] >= 0 else self._reciprocal(ball)

    def _exp(self, ball: _Ball) -> _Ball:
        return self._between(*(end.apply("exp") for end in self._ends(ball)))

    def _log(self, ball: _Ball) -> _Ball:
        return self._between(*(self._into("log", end).apply("log") for end in self._ends(ball)))

    def on_atan2(self, node: Node, a: Bounds, b: Bounds) -> _Ball:
        """The bounds by its four corners, unless the box holds the origin or is cut by the half line on which the
        angle jumps."""
        y, x = self._ends(self.ball(a)), self._ends(self.ball(b))
        corners = [one.apply("atan2", other) for one in y for other in x]
        low = high = corners[0]
        for corner in corners[1:]:
            low, high = low.apply("fmin", corner), high.apply("fmax", corner)
        zero = self._const(0.0)
        cut = [x[0] <= zero, y[0] <= zero, zero <= y[1]]
        is_cut = cut[0] & cut[1] & cut[2]
        return self._pick(is_cut, _Ball(zero, self._const(math.pi)), self._between(low, high))

    def on_fmod(self, node: Node, a: Bounds, b: Bounds) -> _Ball:
        """a - n b where n is certain, else anything below |b|."""
        top, bottom = self.ball(a), self.ball(b)
        low, high = self._ends(self.on_div(node, top, bottom))
        if node[0] == "remainder":
            half = self._const(0.5)
            low, high = ((end + half).apply("floor") for end in (low, high))
        else:
            zero = self._const(0.0)
            low, high = ((end < zero).choose(end.apply("ceil"), end.apply("floor")) for end in (low, high))
        rest = self._sum("sub", top, self._product(_Ball(low), bottom))
        anything = _Ball(self._const(0.0), self._sizes(bottom)[1])
        return self._pick(low.equals(high), rest, anything)

    on_remainder = on_fmod

    # Decisions.

    def on_lt(self, node: Node, a: Bounds, b: Bounds) -> _Truth:
        (a_low, a_high), (b_low, b_high) = self._ends(self.ball(a)), self._ends(self.ball(b))
        return _Truth(a_low < b_high, b_low <= a_high)

    def on_le(self, node: Node, a: Bounds, b: Bounds) -> _Truth:
        (a_low, a_high), (b_low, b_high) = self._ends(self.ball(a)), self._ends(self.ball(b))
        return _Truth(a_low <= b_high, b_low < a_high)

    def on_eq(self, node: Node, a: Bounds, b: Bounds) -> _Truth:
        (a_low, a_high), (b_low, b_high) = self._ends(self.ball(a)), self._ends(self.ball(b))
        meet = (a_low <= b_high) & (b_low <= a_high)
        same = a_low.equals(b_high) & a_high.equals(b_low)
        return _Truth(meet, ~same)

    def on_ne(self, node: Node, a: Bounds, b: Bounds) -> _Truth:
        equal = self.on_eq(node, a, b)
        return _Truth(equal.may_fail, equal.may_hold)

    def on_and(self, node: Node, a: Bounds, b: Bounds) -> _Truth:
        one, other = self._truth(a), self._truth(b)
        return _Truth(one.may_hold & other.may_hold, one.may_fail | other.may_fail)

    def on_or(self, node: Node, a: Bounds, b: Bounds) -> _Truth:
        one, other = self._truth(a), self._truth(b)
        return _Truth(one.may_hold | other.may_hold, one.may_fail & other.may_fail)

    def on_not(self, node: Node, a: Bounds) -> _Truth:
        truth = self._truth(a)
        return _Truth(truth.may_fail, truth.may_hold)

    def on_select(self, node: Node, condition: Bounds, a: Bounds, b: Bounds) -> _Ball:
        truth, one, other = self._truth(condition), self.ball(a), self.ball(b)
        both = self._hull(one, other)
        # A number that is known exactly may be infinite: no limit.
        if one.radius is None or other.radius is None:
            both = self._settle_infinite(both)
        either = self._pick(truth.may_hold, both, other)
        return self._pick(truth.may_fail, either, one)

    def on_if_else_zero(self, node: Node, condition: Bounds, a: Bounds) -> _Ball:
        return self.on_select(node, condition, a, _Ball(self._const(0.0)))

    def on_settled(self, node: Node, deciding: Bounds) -> _Ball:
        """No rate while what decides is certain; any, where it is not."""
        if isinstance(deciding, _Truth):
            open_ = deciding.may_hold & deciding.may_fail
        else:
            low, high = self._ends(self.ball(deciding))
            open_ = ~low.equals(high)
        return _Ball(self._const(0.0), open_.choose(math.inf, 0.0))

    # Tables.

    def on_locate(self, node: Node, a: Bounds) -> _Index:
        return _Index(*(self._add(node[0], node[1], end) for end in self._ends(self.ball(a))))

    on_seek = on_locate

    def on_gather(self, node: Node, index: Bounds) -> _Ball:
        """The entry, both of two neighbours, or any of the table."""
        assert isinstance(index, _Index)
        values = tables.lookup(node[1]).values
        first, last = (_Ball(self._add("gather", node[1], end)) for end in (index.first, index.last))
        apart = index.last - index.first
        some = self._hull(first, last)
        all_ = self._between(self._const(min(values)), self._const(max(values)))
        near = apart < 1.5
        return self._pick(near, some, all_)

    def on_row(self, node: Node, index: Bounds) -> _Ball:
        """The number of a row; which numbers the rows between have is not known here."""
        assert isinstance(index, _Index)
        first = self._add("row", node[1], index.first)
        same = index.first.equals(index.last)
        return self._pick(same, _Ball(first), self._unknown())


_RISING: dict[str, tuple[float | None, float | None]] = {
    **dict.fromkeys(
        ("sign", "floor", "ceil", "exp", "log1p", "expm1", "erf", "atan", "sinh", "tanh", "asinh"), (None, None)
    ),
    "sqrt": (0.0, None),
    "log": (0.0, None),
    "acosh": (1.0, None),
    "asin": (-1.0, 1.0),
    "atanh": (-1.0, 1.0),
}
"""Operations that never fall, with the ends of what they are defined for."""
_UNLIMITED = frozenset(
    [
        *("inv", "div", "tan", "pow", "exp", "expm1", "log", "log1p", "sinh", "cosh", "acosh", "atanh", "fmod"),
        *("remainder", "row", "settled"),
    ]
)
"""Operations whose bounds may be infinite."""


RULES: dict[str, Callable[..., Bounds]] = {
    name.removeprefix("on_"): rule for name, rule in vars(_Enclosure).items() if name.startswith("on_")
}
"""How each operation is bounded that is neither monotonic nor unknown."""
