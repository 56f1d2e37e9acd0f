"""Are formulas read as mathematics reads them, their units followed, and hostile ones refused?"""

import math

import pytest

import robodyn as rd
from robodyn.description.model.formula import (
    DEEPEST,
    FUNCTIONS,
    FormulaError,
    evaluate,
    infer_unit,
    names_in,
    parse_formula,
    rename_signals,
)

VALUES = {"a": 2.0, "b": 3.0, "x.position": 0.3, "y.position": 0.4, "time": 1.5, "my-arm.position": 7.0}
UNITS = {"x": "m", "y": "m", "v": "m/s", "q": "rad", "w": "rad/s", "tau": "N m", "F": "N"}
UNITS |= {"E": "J", "f": "Hz", "k": "1"}


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("hypot(x.position, y.position) - 0.05", 0.45),
        ("a + b * 2", 8.0),
        ("-a^2", -4.0),
        ("2^-a", 0.25),
        ("b**a**a", 81.0),
        ("a - b - 1", -2.0),
        ("12 / a / b", 2.0),
        ("not a < b", 0.0),
        ("a < b and b < 4 or a > 5", 1.0),
        ("where(a >= 2, 10, b)", 10.0),
        ("clip(b, 0, 1) + min(a, b) + max(a, b)", 6.0),
        ("sin(pi / 2) * .5e1", 5.0),
        ("'my-arm.position' - 7", 0.0),
        ("+a", 2.0),
        ("sqrt(abs(-4))", 2.0),
        ("1e3*time", 1500.0),
    ],
)
def test_a_formula_is_read_as_mathematics_reads_it(formula, value):
    assert evaluate(parse_formula(formula), VALUES) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("function", [name for name in FUNCTIONS if hasattr(math, name) and FUNCTIONS[name][0] == 1])
def test_functions_of_one_argument_are_those_of_mathematics(function):
    found = evaluate(parse_formula(f"{function}(a / 4)"), VALUES)
    assert found == pytest.approx(getattr(math, function)(0.5), rel=1e-15)


@pytest.mark.parametrize(
    ("formula", "at", "complaint"),
    [
        ("a + ", 4, "ends here"),
        ("a + * b", 4, "expected"),
        ("hypott(a, b)", 0, "did you mean 'hypot'"),
        ("hypot(a)", 0, "takes 2 arguments, not 1"),
        ("hypot(a, b", 10, "missing after the arguments"),
        ("(a + b", 6, "missing"),
        ("a b", 2, "not expected"),
        ("a = b", 2, "not understood"),
        ("a == b", 2, "not expected"),
        ("a < b < 3", 6, "compares three"),
        ("__import__('os').system('ls')", 0, "no function"),
        ("[a for a in b]", 0, "not understood"),
        ("lambda: a", 6, "not understood"),
        ("a; b", 1, "not understood"),
        ("9^99^99", 4, "power above 100"),
        ("10^99*10^99*10^99*10^99*a", 17, "finite"),
        ("a^1000", 2, "power above 100"),
        ("1/0 + a", 1, "finite"),
        ("1e999 * a", 0, "finite"),
        ("", 0, "ends here"),
        ("(" * 500 + "a" + ")" * 499, DEEPEST + 1, "nested"),
        ("-" * 900 + "a", DEEPEST + 1, "nested"),
        ("a^" * 400 + "a", 2 * DEEPEST + 2, "nested"),
        ("a+" * 400 + "a", 0, "more than 300 parts"),
        ("a" * 2000, 0, "at most 1000"),
    ],
)
def test_what_is_no_formula_is_refused_at_its_place(formula, at, complaint):
    with pytest.raises(FormulaError) as caught:
        parse_formula(formula)
    assert complaint in f"{caught.value} {caught.value.remedy}"
    if "parts" not in complaint:
        assert caught.value.at == at


@pytest.mark.parametrize(
    ("formula", "unit"),
    [
        ("hypot(x, y) - 0.05", "m"),
        ("2 * x", "m"),
        ("x / time", "m/s"),
        ("tau * w", "W"),
        ("F * v", "W"),
        ("tau * q", "N m"),
        ("x * w + v", "m/s"),
        ("sqrt(x^2 + y^2)", "m"),
        ("atan2(y, x) + q", "rad"),
        ("sin(q) * x", "m"),
        ("where(v > 0, x, -x)", "m"),
        ("sign(v) * F", "N"),
        ("x / y", ""),
        ("unknown * x", None),
        ("unknown + x", "m"),
        ("exp(x / y)", ""),
    ],
)
def test_the_unit_of_a_result_follows(formula, unit):
    found = infer_unit(parse_formula(formula), UNITS | {"time": "s"})
    assert (found.name if found else None) == unit


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("x + q", "'+' combines m and rad"),
        ("w - f", "'-' combines rad/s and Hz"),
        ("tau + E", "'+' combines N m and J"),
        ("hypot(x, v)", "'hypot' combines m and m/s"),
        ("x < v", "'<' combines"),
        ("sin(x)", "takes an angle, not m"),
        ("exp(x)", "takes plain numbers, not m"),
        ("k^x", "takes plain numbers, not m"),
        ("where(x > 0, x, v)", "'where' combines m and m/s"),
    ],
)
def test_unlike_quantities_do_not_meet(formula, complaint):
    with pytest.raises(FormulaError, match=complaint.replace("+", r"\+").replace("^", r"\^")):
        infer_unit(parse_formula(formula), UNITS)


def test_signals_get_other_names_and_parameters_keep_theirs():
    assert rename_signals("a*'b-c.x' + a", lambda name: f"left.{name}") == "left.a*'left.b-c.x' + left.a"
    signal = rd.FormulaSignal("r", "hypot(x.position, time) - radius", parameters={"radius": 0.1})
    renamed = signal.renamed(lambda _, name: name if name == "time" else f"left.{name}")
    assert renamed.name == "left.r"
    assert renamed.formula == "hypot(left.x.position, time) - radius"
    assert {name.name for name in names_in(renamed.tree)} == {"left.x.position", "time", "radius"}


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"formula": "x.position +"}, "formula: ends here"),
        ({"formula": "1 + 2"}, "reads no signal"),
        ({"formula": "x.position", "unit": "mm"}, "not an SI unit.*write 'm'"),
        ({"formula": "x.position", "unit": "furlong"}, "unknown"),
        ({"formula": "x.position", "parameters": {"a": 1.0}}, "parameters.a: is not used"),
        ({"formula": "x.position * sin", "parameters": {"sin": 1.0}}, "name of a function"),
        ({"formula": "x.position * a", "parameters": {"a": math.nan}}, "finite"),
        ({"formula": 3}, "must be text"),
    ],
)
def test_a_flawed_signal_is_refused(fields, complaint):
    with pytest.raises(rd.ModelError, match=complaint):
        rd.FormulaSignal("r", **fields)
