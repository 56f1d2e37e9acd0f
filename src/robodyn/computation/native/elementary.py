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
exactly.

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

from robodyn.computation.native.program import Builder, Node, Program, live_nodes, with_operands

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
NON_NEGATIVE = ("fabs", "sq", "sqrt", "exp")


def inline_elementary(program: Program, rough: bool = False) -> Program:
    """The program with arithmetic in place of elementary functions; rough: to ten digits."""
    builder = RoughArithmetic() if rough else Arithmetic()
    new: list[int] = []
    for node in program.nodes:
        new.append(builder.inline(program, node, new))
    return builder.finish(program.name, program.in_sizes, [[new[i] for i in output] for output in program.outputs])


def inline_some(program: Program, output: int, first: int) -> Program:
    """The same for the entries of one output from `first` on; what those before them need too stays as it is."""
    builder, exact, loose = Arithmetic(), dict[int, int](), dict[int, int]()
    kept = live_nodes(program.nodes, [program.outputs[output][:first]])
    needed = live_nodes(program.nodes, [program.outputs[output][first:]])
    for number, node in enumerate(program.nodes):
        exact[number] = builder.add(with_operands(node, exact))
        if needed[number]:
            loose[number] = exact[number] if kept[number] else builder.inline(program, node, loose)
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
        self._powers: dict[int, dict[float, int]] = {}

    half_pi: tuple[float, ...] = HALF_PI

    def inline(self, program: Program, node: Node, new: Mapping[int, int] | Sequence[int]) -> int:
        """A node of a program by arithmetic, from what its operands have become."""
        op = node[0]
        if op in INLINED:
            number: int = getattr(self, op)(new[node[1]])
            return number
        if op == "pow" and _has_log(program, node):
            return self.pow(new[node[1]], new[node[2]])
        return self.add(with_operands(node, new))

    def number(self, value: float) -> int:
        return self.add(("const", value))

    def muladd(self, a: int, b: int, c: int) -> int:
        """a b + c, rounded once."""
        return self.add(("muladd", a, b, c))

    def polynomial(self, x: int, terms: Sequence[float]) -> int:
        """sum_k terms_k x^k, in pairs: as short a chain as possible."""
        level = [self.number(term) for term in terms]
        while len(level) > 1:
            pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
            level = [self.muladd(pair[1], x, pair[0]) if len(pair) == 2 else pair[0] for pair in pairs]
            x = self.add(("sq", x))
        return level[0]

    def round(self, x: int) -> int:
        return self.add(("floor", self.add(("add", x, self.number(0.5)))))

    def reduce(self, x: int, n: int, parts: Sequence[float]) -> int:
        """x - n (sum of parts), the large part first."""
        minus = self.add(("neg", n))
        for part in parts:
            x = self.muladd(minus, self.number(part), x)
        return x

    def exp(self, x: int) -> int:
        least, largest = self.number(LEAST), self.number(LARGEST)
        x = self.add(("select", self.add(("lt", x, least)), least, x))
        x = self.add(("select", self.add(("lt", largest, x)), largest, x))
        # Argument reduction (Cody and Waite 1980): x = n ln 2 + r, |r| <= ln 2 / 2; exp x = 2^n exp r.
        n = self.round(self.add(("mul", x, self.number(1.0 / math.log(2.0)))))
        r = self.reduce(x, n, (LN2_HIGH, LN2_LOW))
        return self.add(("mul", self.polynomial(r, EXP_TERMS), self.add(("power_of_two", n))))

    def log(self, x: int) -> int:
        exponent, m = self.add(("exponent", x)), self.add(("mantissa", x))
        one = self.number(1.0)
        # x = 2^e m; log m = 2 artanh((m - 1) / (m + 1)), whose series converges fast.
        s = self.add(("div", self.add(("sub", m, one)), self.add(("add", m, one))))
        series = self.polynomial(self.add(("sq", s)), ARTANH_TERMS)
        low = self.muladd(exponent, self.number(LN2_LOW), self.add(("mul", s, series)))
        value = self.muladd(exponent, self.number(LN2_HIGH), low)
        return self.add(("select", self.add(("eq", x, x)), value, x))

    def pow(self, x: int, y: int) -> int:
        # A base of zero or below takes a harmless way, and is not a number in the end where it is negative.
        tiny = self.number(TINY)
        least = self.add(("select", self.add(("lt", x, tiny)), tiny, x))
        value = self._power(least, y)
        negative = self.add(("lt", x, self.number(0.0)))
        return self.add(("select", negative, self.number(math.nan), value))

    def _power(self, x: int, y: int) -> int:
        """x^y for x > 0; where x^(y + 1) is there already, as beside a derivative, by x^(y + 1) / x."""
        exponent = self.nodes[y]
        known = self._powers.setdefault(x, {})
        above = known.get(exponent[1] + 1.0) if exponent[0] == "const" else None
        if above is not None:
            return self.add(("div", above, x))
        value = self.exp(self.add(("mul", y, self.log(x))))
        if exponent[0] == "const":
            known[exponent[1]] = value
        return value

    def _quadrant(self, x: int) -> tuple[int, int, int]:
        """n modulo 4, and sin r and cos r."""
        # x = n pi / 2 + r in three parts of pi / 2; the quadrant n mod 4 chooses sine or cosine and the sign.
        n = self.round(self.add(("mul", x, self.number(2.0 / math.pi))))
        r = self.reduce(x, n, self.half_pi)
        quarter = self.add(("floor", self.add(("mul", n, self.number(0.25)))))
        place = self.muladd(quarter, self.number(-4.0), n)
        square = self.add(("sq", r))
        sine = self.add(("mul", r, self.polynomial(square, SIN_TERMS)))
        return place, sine, self.polynomial(square, COS_TERMS)

    def _is_odd(self, place: int) -> int:
        first = self.add(("eq", place, self.number(1.0)))
        return self.add(("or", first, self.add(("eq", place, self.number(3.0)))))

    def sin(self, x: int) -> int:
        place, sine, cosine = self._quadrant(x)
        value = self.add(("select", self._is_odd(place), cosine, sine))
        below = self.add(("lt", self.number(1.5), place))
        return self.add(("select", below, self.add(("neg", value)), value))

    def cos(self, x: int) -> int:
        place, sine, cosine = self._quadrant(x)
        value = self.add(("select", self._is_odd(place), sine, cosine))
        first = self.add(("eq", place, self.number(1.0)))
        below = self.add(("or", first, self.add(("eq", place, self.number(2.0)))))
        return self.add(("select", below, self.add(("neg", value)), value))


class RoughArithmetic(Arithmetic):
    """Exponentials and logarithms to ten digits, in three quarters of the operations: for friction laws, whose numbers
    are known to two."""

    def exp(self, x: int) -> int:
        x = self.add(("fmin", self.add(("fmax", x, self.number(LEAST))), self.number(LARGEST)))
        n = self.round(self.add(("mul", x, self.number(1.0 / math.log(2.0)))))
        r = self.reduce(x, n, (math.log(2.0),))
        return self.add(("mul", self.polynomial(r, EXP_TERMS[:10]), self.add(("power_of_two", n))))

    def log(self, x: int) -> int:
        exponent, m = self.add(("exponent", x)), self.add(("mantissa", x))
        one = self.number(1.0)
        s = self.add(("div", self.add(("sub", m, one)), self.add(("add", m, one))))
        series = self.polynomial(self.add(("sq", s)), ARTANH_TERMS[:6])
        return self.muladd(exponent, self.number(math.log(2.0)), self.add(("mul", s, series)))

    def pow(self, x: int, y: int) -> int:
        # A base that is no number, or negative, stays none.
        value = self._power(self.add(("fmax", x, self.number(TINY))), y)
        allowed = self.add(("le", self.number(0.0), x))
        return self.add(("select", allowed, value, self.number(math.nan)))


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
    new: dict[int, int] = {}
    for number, node in enumerate(program.nodes):
        function = getattr(builder, node[0], None) if node[0] in FUNCTIONS else None
        new[number] = function(*(new[i] for i in node[1:])) if function else builder.add(with_operands(node, new))
    return builder.finish(program.name, program.in_sizes, [[new[i] for i in output] for output in program.outputs])


FUNCTIONS = (
    *("exp", "log", "pow", "expm1", "log1p", "hypot", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)


class _Portable(Arithmetic):
    """Elementary functions as nodes, without fused multiply-adds and right at the ends of the numbers."""

    half_pi = _cut(sum((Fraction(part) for part in HALF_PI), Fraction()), 5)

    def muladd(self, a: int, b: int, c: int) -> int:
        return self.add(("add", self.add(("mul", a, b)), c))

    def exp(self, x: int) -> int:
        value = self._choose(self._less(self.number(LARGEST), x), math.inf, super().exp(x))
        return self._choose(self._less(x, self.number(LEAST)), 0.0, value)

    def log(self, x: int) -> int:
        least, shift = self.number(2.0**-1000), 54.0
        # Numbers close to zero have fewer digits: they are multiplied by 2^54 first.
        small = self._less(x, least)
        value = super().log(self.add(("select", small, self.add(("mul", x, self.number(2.0**shift))), x)))
        less = self.add(("sub", value, self.number(shift * math.log(2.0))))
        value = self.add(("select", small, less, value))
        value = self._choose(self.add(("eq", x, self.number(0.0))), -math.inf, value)
        value = self._choose(self.add(("eq", x, self.number(math.inf))), math.inf, value)
        return self._choose(self._less(x, self.number(0.0)), math.nan, value)

    def pow(self, x: int, y: int) -> int:
        value = self.exp(self.add(("mul", y, self.log(self.add(("fabs", x))))))
        whole = self.add(("eq", self.add(("floor", y)), y))
        half = self.add(("mul", y, self.number(0.5)))
        odd = self.add(("ne", self.add(("floor", half)), half))
        signed = self.add(("select", odd, self.add(("neg", value)), value))
        signed = self.add(("select", whole, signed, self.number(math.nan)))
        value = self.add(("select", self._less(x, self.number(0.0)), signed, value))
        return self._choose(self.add(("eq", y, self.number(0.0))), 1.0, value)

    def expm1(self, x: int) -> int:
        series = self.add(("mul", x, self.polynomial(x, EXPM1_TERMS)))
        near = self._less(self.add(("fabs", x)), self.number(NEAR))
        return self.add(("select", near, series, self.add(("sub", self.exp(x), self.number(1.0)))))

    def log1p(self, x: int) -> int:
        # Kahan's: the rounding of u = 1 + x is taken back by x / (u - 1).
        one = self.number(1.0)
        u = self.add(("add", one, x))
        ratio = self.add(("div", x, self.add(("sub", u, one))))
        value = self.add(("mul", self.log(u), ratio))
        value = self._choose(self.add(("eq", u, self.number(0.0))), -math.inf, value)
        value = self._choose(self.add(("eq", x, self.number(math.inf))), math.inf, value)
        return self.add(("select", self.add(("eq", u, one)), x, value))

    def hypot(self, x: int, y: int) -> int:
        _, large, ratio = self._proportion(self.add(("fabs", x)), self.add(("fabs", y)))
        size = self.add(("sqrt", self.muladd(ratio, ratio, self.number(1.0))))
        return self._choose(self.add(("eq", large, self.number(math.inf))), math.inf, self.add(("mul", large, size)))

    def _proportion(self, x: int, y: int) -> tuple[int, int, int]:
        """Of sizes: whether y is larger, the larger one, and the smaller one as part of it; 0 where both are."""
        steep = self._less(x, y)
        small, large = self.add(("select", steep, x, y)), self.add(("select", steep, y, x))
        nothing = self.add(("eq", self.add(("add", x, y)), self.number(0.0)))
        return steep, large, self._choose(nothing, 0.0, self.add(("div", small, large)))

    def _quadrant(self, x: int) -> tuple[int, int, int]:
        # Beyond what can be reduced there is no angle.
        far = self._less(self.number(FARTHEST), self.add(("fabs", x)))
        return super()._quadrant(self._choose(far, math.nan, x))

    def tan(self, x: int) -> int:
        return self.add(("div", self.sin(x), self.cos(x)))

    def atan2(self, y: int, x: int) -> int:
        steep, _, ratio = self._proportion(self.add(("fabs", x)), self.add(("fabs", y)))
        angle = self._atan_of_unit(ratio)
        angle = self.add(("select", steep, self._beyond(math.pi / 2, angle), angle))
        behind = self._less(self.add(("copysign", self.number(1.0), x)), self.number(0.0))
        angle = self.add(("select", behind, self._beyond(math.pi, angle), angle))
        return self.add(("copysign", angle, y))

    def _atan_of_unit(self, x: int) -> int:
        """Of 0 <= x <= 1."""
        one = self.number(1.0)
        far = self._less(self.number(TAN_PI_8), x)
        turned = self.add(("div", self.add(("sub", x, one)), self.add(("add", x, one))))
        x = self.add(("select", far, turned, x))
        angle = self.add(("mul", x, self.polynomial(self.add(("sq", x)), ATAN_TERMS)))
        return self.add(("select", far, self.add(("add", angle, self.number(math.pi / 4))), angle))

    def _beyond(self, angle: float, less: int) -> int:
        return self.add(("sub", self.number(angle), less))

    def atan(self, x: int) -> int:
        # Infinite slopes: a ratio of 1 to infinity is 0.
        return self.atan2(x, self.number(1.0))

    def asin(self, x: int) -> int:
        return self.atan2(x, self._other_leg(x))

    def acos(self, x: int) -> int:
        return self.atan2(self._other_leg(x), x)

    def _other_leg(self, x: int) -> int:
        """sqrt(1 - x^2), without cancellation near 1."""
        one = self.number(1.0)
        return self.add(("sqrt", self.add(("mul", self.add(("sub", one, x)), self.add(("add", one, x))))))

    def sinh(self, x: int) -> int:
        t = self.expm1(self.add(("fabs", x)))
        whole = self.add(("add", t, self.add(("div", t, self.add(("add", t, self.number(1.0)))))))
        whole = self._choose(self.add(("eq", t, self.number(math.inf))), math.inf, whole)
        return self.add(("copysign", self.add(("mul", whole, self.number(0.5))), x))

    def cosh(self, x: int) -> int:
        up = self.exp(self.add(("fabs", x)))
        return self.add(("mul", self.add(("add", up, self.add(("inv", up)))), self.number(0.5)))

    def tanh(self, x: int) -> int:
        size = self.add(("fabs", x))
        most = self.number(SATURATED)
        size = self.add(("select", self._less(most, size), most, size))
        t = self.expm1(self.add(("twice", size)))
        return self.add(("copysign", self.add(("div", t, self.add(("add", t, self.number(2.0))))), x))

    def asinh(self, x: int) -> int:
        size, one = self.add(("fabs", x)), self.number(1.0)
        root = self.add(("add", one, self.hypot(size, one)))
        inner = self.muladd(size, self.add(("div", size, root)), size)
        return self.add(("copysign", self.log1p(inner), x))

    def acosh(self, x: int) -> int:
        one = self.number(1.0)
        less = self.add(("sub", x, one))
        root = self.add(("sqrt", self.add(("mul", less, self.add(("add", x, one))))))
        return self.log1p(self.add(("add", less, root)))

    def atanh(self, x: int) -> int:
        inner = self.add(("div", self.add(("twice", x)), self.add(("sub", self.number(1.0), x))))
        return self.add(("mul", self.log1p(inner), self.number(0.5)))

    def _less(self, a: int, b: int) -> int:
        return self.add(("lt", a, b))

    def _choose(self, condition: int, value: float, otherwise: int) -> int:
        """A constant where a condition holds."""
        return self.add(("select", condition, self.number(value), otherwise))
