"""Do printed equations mean what the system computes?"""

import math
from dataclasses import replace

import numpy as np
import pytest

from robodyn import assemble
from robodyn.computation.native import compile_kernels
from robodyn.computation.native.formulas import READABLE
from robodyn.computation.simulation.equations import equations_of
from robodyn.description.catalog import SCENARIOS, pendulum, scara_ptp, two_link_loop

WORDS = {name: getattr(math, name) for name in ("sin", "cos", "exp", "sqrt", "tanh")}
WORDS |= {"abs": abs, "min": min, "max": max, "sign": np.sign, "inf": math.inf}


def evaluate(lines, names):
    """Read printed equations as Python, with dots in names turned into underscores."""
    values = dict(WORDS) | {name.replace(".", "_"): value for name, value in names.items()}
    rates = {}
    for line in lines:
        left, _, right = line.partition(" = ")
        for name in sorted(names, key=len, reverse=True):
            right = right.replace(name, name.replace(".", "_"))
        number = eval(right.replace("^", "**"), {"__builtins__": {}}, values)
        if left.endswith("'"):
            rates[left[:-1]] = number
        else:
            values[left] = number
    return rates


@pytest.mark.parametrize("make", [pendulum, scara_ptp, two_link_loop], ids=lambda make: make.__name__)
def test_printed_equations_evaluate_to_the_rates(make):
    system = assemble(make())
    generator = np.random.default_rng(3)
    x, m = generator.uniform(-0.5, 0.5, len(system.states)), generator.uniform(-1, 1, len(system.memory))
    p = np.array([number.value for number in system.parameters])
    kernel = compile_kernels({"rhs": system.function(system.expressions.rhs)}).kernels["rhs"]
    expected = kernel(np.array([0.3]), x, np.zeros(0), m, p)
    names = {"time": 0.3} | dict(zip([s.name for s in system.states], x, strict=True))
    names |= dict(zip([entry.name for entry in system.memory], m, strict=True))
    names |= dict(zip([number.name for number in system.parameters], p, strict=True))
    # As Python writes it: a bar would not do, and six digits would not be enough.
    notation = replace(
        READABLE, forms=READABLE.forms | {"fabs": READABLE.forms["sin"]._replace(template="abs({0})")}, digits=10
    )
    rates = evaluate(equations_of(system, notation), names)
    # Constants are printed with ten digits.
    assert [rates[state.name] for state in system.states] == pytest.approx(list(expected), rel=1e-8, abs=1e-9)


def test_too_many_equations_are_summed_up(monkeypatch):
    monkeypatch.setattr("robodyn.computation.simulation.equations.TOO_MANY", 10)
    (sentence,) = equations_of(assemble(SCENARIOS["scara-ptp"]()))
    assert "too many to read" in sentence
