"""Portable elementary functions: how do programs give the same bits on every platform?

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
from fractions import Fraction

from robodyn.computation.native.elementary import HALF_PI, LARGEST, LEAST, Arithmetic
from robodyn.computation.native.program import Program, with_operands

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
