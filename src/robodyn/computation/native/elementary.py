"""Elementary functions: how are exp, log, pow, sin and cos computed by arithmetic alone?

A call into the C library saves and restores every register around it; in straight-line code with dozens of such calls
that costs more than the functions themselves. Written as arithmetic they also overlap with what stands beside them.

    exp x = 2^n e^r,                n = round(x / ln 2),   |r| <= ln 2 / 2
    log x = e ln 2 + 2 artanh s,    x = 2^e m,  sqrt(1/2) <= m < sqrt(2),  s = (m - 1) / (m + 1)
    pow(x, y) = exp(y log x),       where x cannot be negative or y is no whole number
    sin x, cos x                    x = n pi/2 + r,        |r| <= pi / 4

The errors are a few units in the last place (pow: y log x of them), for angles up to a million radians. A NaN stays a
NaN; beyond the largest number there is 8e307 instead of infinity, and no exp is below 3e-261, so that no product with
it is slow for being close to zero. This is done only where it is asked for: in functions whose results nothing compares
needed_exact.

Portable elementary functions: how do programs give the same bits on every platform?

Arithmetic and square roots are rounded alike everywhere (IEEE 754); sines, powers and their kin come from C libraries
that differ in the last digit, and an adaptive method makes much of a last digit. Here they are all written as
arithmetic whose every operation is rounded by itself:

    expm1 x = x sum x^k / (k + 1)!               near 0
    atan x = pi/4 + atan((x - 1) / (x + 1)),     atan x = sum (-1)^k x^(2k + 1) / (2k + 1) for x < tan(pi/8)
    tanh x = t / (t + 2),                        t = expm1(2 x)

The errors are a few units in the last place (pow: y log x of them), for angles up to 8e8 radians; of larger ones
there is no number. `erf` stays the library's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from .program import Builder, Node, Program, Term, live_nodes, rewrite, with_operands

LEAST, LARGEST = -600.0, 709.0
TINY = 1e-80
"""Least base of a power: its powers and its reciprocal are far from the ends of the numbers."""
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
"""Parts of ln 2: a whole number below 2^20 times the first is exact."""
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
"""Parts of pi / 2, each the rounded rest of those before it."""
EXP_TERMS = tuple(1.0 / math.factorial(k) for k in range(13))
SIN_TERMS = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(8))
COS_TERMS = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(9))
ARTANH_TERMS = tuple(float(Fraction(2, 2 * k + 1)) for k in range(11))
INLINED = ("exp", "log", "sin", "cos")
SHARED_FROM = 6000
"""Nodes from which on functions share code."""
NON_NEGATIVE = ("fabs", "sq", "sqrt", "exp")


def inline_elementary(program: Program, rough: bool = False) -> Program:
    """The program with arithmetic in place of elementary functions; rough: to ten digits."""
    builder = RoughArithmetic() if rough else Arithmetic()
    return rewrite(program, builder, lambda node, new: builder.inline(program, node, new))


def inline_some(program: Program, output: int, first: int) -> Program:
    """The same for the entries of one output from `first` on; what those before them need too stays as it is, and in a
    long program what any other output needs: all else is then compiled once, not once more with other last digits."""
    builder, exact, loose = Arithmetic(), dict[int, int](), dict[int, int]()
    before = program.outputs[output][:first]
    others = program.outputs if len(program.nodes) > SHARED_FROM else ()
    needed_exact = live_nodes(program.nodes, [before, *others[:output], *others[output + 1 :]])
    needed = live_nodes(program.nodes, [program.outputs[output][first:]])
    alone = (node for node, all_of, some in zip(program.nodes, needed, needed_exact, strict=True) if all_of > some)
    if not any(node[0] in INLINED or node[0] == "pow" for node in alone):
        return program
    for number, node in enumerate(program.nodes):
        exact[number] = builder.add(with_operands(node, exact))
        if needed[number]:
            loose[number] = exact[number] if needed_exact[number] else builder.inline(program, node, loose)
    outputs = [[exact[i] for i in entries] for entries in program.outputs]
    outputs[output][first:] = [loose[i] for i in program.outputs[output][first:]]
    return builder.finish(program.name, program.in_sizes, outputs)


def _has_log(program: Program, node: Node) -> bool:
    """Whether x^y is exp(y log x): x cannot be negative, or the result would not be a number if it were."""
    base, exponent = program.nodes[node[1]], program.nodes[node[2]]
    return base[0] in NON_NEGATIVE or (exponent[0] == "const" and not float(exponent[1]).is_integer())


class Arithmetic(Builder):
    """Elementary functions as nodes; equal parts of them are computed once."""

    def __init__(self) -> None:
        super().__init__()
        self._powers: dict[int, dict[float, Term]] = {}

    half_pi: tuple[float, ...] = HALF_PI

    def inline(self, program: Program, node: Node, new: Mapping[int, int] | Sequence[int]) -> int:
        """A node of a program by arithmetic, from what its operands have become."""
        op = node[0]
        if op in INLINED or (op == "pow" and _has_log(program, node)):
            return self.call(op, [new[i] for i in node[1:]])
        return self.add(with_operands(node, new))

    def call(self, op: str, operands: Sequence[int]) -> int:
        """The function of a name."""
        value: Term = getattr(self, op)(*(Term(self, number) for number in operands))
        return value.node

    def muladd(self, a: Term, b: Term | float, c: Term | float) -> Term:
        """a b + c, rounded once."""
        return a.apply("muladd", b, c)

    def polynomial(self, x: Term, terms: Sequence[float]) -> Term:
        """sum_k terms_k x^k, in pairs: as short a chain as possible."""
        level = [x.number(term) for term in terms]
        while len(level) > 1:
            pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
            level = [self.muladd(pair[1], x, pair[0]) if len(pair) == 2 else pair[0] for pair in pairs]
            x = x.apply("sq")
        return level[0]

    def round(self, x: Term) -> Term:
        return (x + 0.5).apply("floor")

    def reduce(self, x: Term, n: Term, parts: Sequence[float]) -> Term:
        """x - n (sum of parts), the large part first."""
        minus = -n
        for part in parts:
            x = self.muladd(minus, part, x)
        return x

    def exp(self, x: Term) -> Term:
        least, largest = x.number(LEAST), x.number(LARGEST)
        x = (x < least).choose(least, x)
        x = (largest < x).choose(largest, x)
        return self._exp(x, (LN2_HIGH, LN2_LOW), EXP_TERMS)

    def _exp(self, x: Term, ln2: Sequence[float], terms: Sequence[float]) -> Term:
        # Argument reduction (Cody and Waite 1980): x = n ln 2 + r, |r| <= ln 2 / 2; exp x = 2^n exp r.
        n = self.round(x * (1.0 / math.log(2.0)))
        r = self.reduce(x, n, ln2)
        return self.polynomial(r, terms) * n.apply("power_of_two")

    def log(self, x: Term) -> Term:
        exponent, of_mantissa = self._log(x, ARTANH_TERMS)
        low = self.muladd(exponent, LN2_LOW, of_mantissa)
        value = self.muladd(exponent, LN2_HIGH, low)
        return x.equals(x).choose(value, x)

    def _log(self, x: Term, terms: Sequence[float]) -> tuple[Term, Term]:
        """e and log m of x = 2^e m: log m = 2 artanh((m - 1) / (m + 1)), whose series converges fast."""
        exponent, m = x.apply("exponent"), x.apply("mantissa")
        one = x.number(1.0)
        s = (m - one) / (m + one)
        series = self.polynomial(s.apply("sq"), terms)
        return exponent, s * series

    def pow(self, x: Term, y: Term) -> Term:
        # A base of zero or below takes a harmless way, and is not a number in the end where it is negative.
        tiny = x.number(TINY)
        value = self._power((x < tiny).choose(tiny, x), y)
        return (x < 0.0).choose(math.nan, value)

    def _power(self, x: Term, y: Term) -> Term:
        """x^y for x > 0; where x^(y + 1) is there already, as beside a derivative, by x^(y + 1) / x."""
        exponent = self.nodes[y.node]
        known = self._powers.setdefault(x.node, {})
        above = known.get(exponent[1] + 1.0) if exponent[0] == "const" else None
        if above is not None:
            return above / x
        value = self.exp(y * self.log(x))
        if exponent[0] == "const":
            known[exponent[1]] = value
        return value

    def _quadrant(self, x: Term) -> tuple[Term, Term, Term]:
        """n modulo 4, and sin r and cos r."""
        # x = n pi / 2 + r in three parts of pi / 2; the quadrant n mod 4 chooses sine or cosine and the sign.
        n = self.round(x * (2.0 / math.pi))
        r = self.reduce(x, n, self.half_pi)
        quarter = (n * 0.25).apply("floor")
        place = self.muladd(quarter, -4.0, n)
        square = r.apply("sq")
        sine = r * self.polynomial(square, SIN_TERMS)
        return place, sine, self.polynomial(square, COS_TERMS)

    def _is_odd(self, place: Term) -> Term:
        return place.equals(1.0) | place.equals(3.0)

    def sin(self, x: Term) -> Term:
        place, sine, cosine = self._quadrant(x)
        value = self._is_odd(place).choose(cosine, sine)
        return (place > 1.5).choose(-value, value)

    def cos(self, x: Term) -> Term:
        place, sine, cosine = self._quadrant(x)
        value = self._is_odd(place).choose(sine, cosine)
        below = place.equals(1.0) | place.equals(2.0)
        return below.choose(-value, value)


class RoughArithmetic(Arithmetic):
    """Exponentials and logarithms to ten digits, in three quarters of the operations: for friction laws, whose numbers
    are known to two."""

    def exp(self, x: Term) -> Term:
        return self._exp(x.apply("fmax", LEAST).apply("fmin", LARGEST), (math.log(2.0),), EXP_TERMS[:10])

    def log(self, x: Term) -> Term:
        exponent, of_mantissa = self._log(x, ARTANH_TERMS[:6])
        return self.muladd(exponent, math.log(2.0), of_mantissa)

    def pow(self, x: Term, y: Term) -> Term:
        # A base that is no number, or negative, stays none.
        value = self._power(x.apply("fmax", TINY), y)
        return x.number(0.0).apply("le", x).choose(value, x.number(math.nan))


EXPM1_TERMS = tuple(1.0 / math.factorial(k + 1) for k in range(15))
ATAN_TERMS = tuple((-1.0) ** k / (2 * k + 1) for k in range(22))
TAN_PI_8 = math.sqrt(2.0) - 1.0
PART_BITS = 24
FARTHEST = 8e8
NEAR = 0.5
"""Below this expm1 is its series."""
SATURATED = 20.0
"""Above this tanh is 1 to the last digit."""


def _cut(value: Fraction, count: int) -> tuple[float, ...]:
    """Parts of a number, all but the last of so few bits that products with whole numbers below 2^29 are exact."""
    parts = []
    for _ in range(count - 1):
        fraction, power = math.frexp(float(value))
        parts.append(math.ldexp(math.floor(math.ldexp(fraction, PART_BITS)), power - PART_BITS))
        value -= Fraction(parts[-1])
    return (*parts, float(value))


def make_portable(program: Program) -> Program:
    """The program with arithmetic in place of everything that C libraries differ in."""
    builder = _Portable()

    def replace(node: Node, new: Sequence[int]) -> int | None:
        return builder.call(node[0], [new[i] for i in node[1:]]) if node[0] in FUNCTIONS else None

    return rewrite(program, builder, replace)


FUNCTIONS = (
    *("exp", "log", "pow", "expm1", "log1p", "hypot", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)


class _Portable(Arithmetic):
    """Elementary functions as nodes, without fused multiply-adds and right at the ends of the numbers."""

    half_pi = _cut(sum((Fraction(part) for part in HALF_PI), Fraction()), 5)

    def muladd(self, a: Term, b: Term | float, c: Term | float) -> Term:
        return a * b + c

    def exp(self, x: Term) -> Term:
        value = (x > LARGEST).choose(math.inf, super().exp(x))
        return (x < LEAST).choose(0.0, value)

    def log(self, x: Term) -> Term:
        least, shift = x.number(2.0**-1000), 54.0
        # Numbers close to zero have fewer digits: they are multiplied by 2^54 first.
        small = x < least
        value = super().log(small.choose(x * 2.0**shift, x))
        value = small.choose(value - shift * math.log(2.0), value)
        value = x.equals(0.0).choose(-math.inf, value)
        value = x.equals(math.inf).choose(math.inf, value)
        return (x < 0.0).choose(math.nan, value)

    def pow(self, x: Term, y: Term) -> Term:
        value = self.exp(y * self.log(abs(x)))
        whole = y.apply("floor").equals(y)
        half = y * 0.5
        odd = half.apply("floor").apply("ne", half)
        signed = odd.choose(-value, value)
        signed = whole.choose(signed, x.number(math.nan))
        value = (x < 0.0).choose(signed, value)
        return y.equals(0.0).choose(1.0, value)

    def expm1(self, x: Term) -> Term:
        series = x * self.polynomial(x, EXPM1_TERMS)
        near = abs(x) < NEAR
        return near.choose(series, self.exp(x) - 1.0)

    def log1p(self, x: Term) -> Term:
        # Kahan's: the rounding of u = 1 + x is taken back by x / (u - 1).
        one = x.number(1.0)
        u = one + x
        ratio = x / (u - one)
        value = self.log(u) * ratio
        value = u.equals(0.0).choose(-math.inf, value)
        value = x.equals(math.inf).choose(math.inf, value)
        return u.equals(one).choose(x, value)

    def hypot(self, x: Term, y: Term) -> Term:
        _, large, ratio = self._proportion(abs(x), abs(y))
        size = self.muladd(ratio, ratio, 1.0).apply("sqrt")
        return large.equals(math.inf).choose(math.inf, large * size)

    def _proportion(self, x: Term, y: Term) -> tuple[Term, Term, Term]:
        """Whether y is the larger of two sizes, the larger one, and the smaller one as part of it; 0 where both are."""
        steep = x < y
        small, large = steep.choose(x, y), steep.choose(y, x)
        nothing = (x + y).equals(0.0)
        return steep, large, nothing.choose(0.0, small / large)

    def _quadrant(self, x: Term) -> tuple[Term, Term, Term]:
        # Beyond what can be reduced there is no angle.
        return super()._quadrant((abs(x) > FARTHEST).choose(math.nan, x))

    def tan(self, x: Term) -> Term:
        return self.sin(x) / self.cos(x)

    def atan2(self, y: Term, x: Term) -> Term:
        steep, _, ratio = self._proportion(abs(x), abs(y))
        angle = self._atan_of_unit(ratio)
        angle = steep.choose(math.pi / 2 - angle, angle)
        behind = x.number(1.0).apply("copysign", x) < 0.0
        angle = behind.choose(math.pi - angle, angle)
        return angle.apply("copysign", y)

    def _atan_of_unit(self, x: Term) -> Term:
        """The arc tangent of 0 <= x <= 1."""
        one = x.number(1.0)
        far = x > TAN_PI_8
        x = far.choose((x - one) / (x + one), x)
        angle = x * self.polynomial(x.apply("sq"), ATAN_TERMS)
        return far.choose(angle + math.pi / 4, angle)

    def atan(self, x: Term) -> Term:
        # Infinite slopes: a ratio of 1 to infinity is 0.
        return self.atan2(x, x.number(1.0))

    def asin(self, x: Term) -> Term:
        return self.atan2(x, self._other_leg(x))

    def acos(self, x: Term) -> Term:
        return self.atan2(self._other_leg(x), x)

    def _other_leg(self, x: Term) -> Term:
        """sqrt(1 - x^2), without cancellation near 1."""
        one = x.number(1.0)
        return ((one - x) * (one + x)).apply("sqrt")

    def sinh(self, x: Term) -> Term:
        t = self.expm1(abs(x))
        whole = t + t / (t + 1.0)
        whole = t.equals(math.inf).choose(math.inf, whole)
        return (whole * 0.5).apply("copysign", x)

    def cosh(self, x: Term) -> Term:
        up = self.exp(abs(x))
        return (up + up.apply("inv")) * 0.5

    def tanh(self, x: Term) -> Term:
        size, most = abs(x), x.number(SATURATED)
        size = (most < size).choose(most, size)
        t = self.expm1(size.apply("twice"))
        return (t / (t + 2.0)).apply("copysign", x)

    def asinh(self, x: Term) -> Term:
        size, one = abs(x), x.number(1.0)
        root = one + self.hypot(size, one)
        inner = self.muladd(size, size / root, size)
        return self.log1p(inner).apply("copysign", x)

    def acosh(self, x: Term) -> Term:
        one = x.number(1.0)
        less = x - one
        root = (less * (x + one)).apply("sqrt")
        return self.log1p(less + root)

    def atanh(self, x: Term) -> Term:
        inner = x.apply("twice") / (1.0 - x)
        return self.log1p(inner) * 0.5
