"""Are units read as written, as pint understands them, and ambiguous ones refused?"""

import itertools
import math
from fractions import Fraction

import pint
import pytest

from robodyn.base.units import (
    COHERENT,
    OTHERS,
    PREFIXED,
    PREFIXES,
    SHOWN,
    UnitError,
    UnitOfMeasure,
    choose_unit,
    fill_unit,
    parse_unit,
    same_quantity,
    show_quantities,
    show_quantity,
    write_unit,
)

ORACLE = pint.UnitRegistry()
# pint counts an angle as a plain number and spells some units otherwise.
SPELLED = {"rad": "radian", "rev": "revolution", "in": "inch"}
SPELLED |= {"t": "tonne", "Nm": "newton*meter", "lb": "pound", "rpm": "rpm"}
SPELLED |= {"Nmm": "newton*millimeter", "Ncm": "newton*centimeter", "Nms": "newton*meter*second", "%": "percent"}
SPELLED |= {"l": "liter", "L": "liter", "h": "hour", "C": "coulomb", "F": "farad", "T": "tesla", "g": "gram"}
NAMES = (*COHERENT, *PREFIXED, *OTHERS)
BASES = {"kilogram": "kg", "meter": "m", "second": "s", "ampere": "A", "kelvin": "K", "mole": "mol", "candela": "cd"}


def ask_pint(text):
    """Factor to SI and powers of kg, m, s, A, K, mol, cd."""
    found = ORACLE(text).to_base_units()
    powers = {BASES[str(unit)]: power for unit, power in found.unit_items() if str(unit) != "radian"}
    return found.magnitude, powers


def compare(text, oracle):
    unit = parse_unit(text)
    factor, powers = ask_pint(oracle)
    assert unit.factor == pytest.approx(factor, rel=1e-14)
    assert {base: power for base, power in unit.dimension.items() if base != "rad"} == pytest.approx(powers)


@pytest.mark.parametrize("name", NAMES)
def test_every_unit_is_what_pint_says(name):
    compare(name, SPELLED.get(name, name))


@pytest.mark.parametrize("name", sorted({*COHERENT, *PREFIXED} - {"kg"}))
def test_every_prefix_is_what_pint_says(name):
    for prefix in PREFIXES:
        compare(f"{prefix}{name}", f"{10.0 ** PREFIXES[prefix]} * {SPELLED.get(name, name)}")


@pytest.mark.parametrize(
    ("text", "oracle"),
    [
        ("mm/rev", "millimeter/revolution"),
        ("N/um", "newton/micrometer"),
        ("N m/A", "newton*meter/ampere"),
        ("Nm/rad", "newton*meter/radian"),
        ("kNm", "kilonewton*meter"),
        ("deg/s^2", "degree/second**2"),
        ("deg/s/s", "degree/second**2"),
        ("kg m^2", "kilogram*meter**2"),
        ("kg*cm²", "kilogram*centimeter**2"),
        ("g/cm^3", "gram/centimeter**3"),
        ("l/min", "liter/minute"),
        ("µm", "micrometer"),
        ("μm/m", "micrometer/meter"),
        ("N·m·s/rad", "newton*meter*second/radian"),
        ("N m s rad^-1", "newton*meter*second/radian"),
        ("m s⁻¹", "meter/second"),
        ("1/min", "1/minute"),
        ("m^3/(s Pa)", "meter**3/(second*pascal)"),
        ("m^3/(s V Pa^0.5)", "meter**3/(second*volt*pascal**0.5)"),
        ("Pa^(1/2)", "pascal**0.5"),
        ("(mm/s)^2", "(millimeter/second)**2"),
        ("Ω", "ohm"),
        ("lbf/inch", "force_pound/inch"),
        ("kWh", "kilowatt*hour"),
        ("rad/s", "radian/second"),
    ],
)
def test_products_quotients_and_powers_are_what_pint_says(text, oracle):
    compare(text, oracle)


def test_random_products_are_what_pint_says():
    words = ["N", "mm", "kg", "ms", "kV", "deg", "bar"]
    for above, other, below, power in itertools.product(words, words, words, (1, 2, 3)):
        spelled = [SPELLED.get(word, word) for word in (above, other, below)]
        compare(f"{above} {other}^{power}/{below}", "{}*{}**{}/{}".format(*spelled[:2], power, spelled[2]))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("N m/rad s", "two ways"),
        ("mpa", "did you mean 'MPa'"),
        ("KN", "did you mean 'kN'"),
        ("kkg", "unknown"),
        ("mmin", "unknown"),
        ("°C", "temperatures are in K"),
        ("m^13", "power above 12"),
        ("m^(1/99)", "power above 12"),
        ("km^0.5", "root"),
        ("m//s", "precedes"),
        ("/s", "precedes"),
        ("m/", "follows"),
        ("(m", "lacks a parenthesis"),
        ("m)", "too many"),
        ("^2", "power of nothing"),
        ("m^2^2", "power of nothing"),
        ("m^x", "not understood"),
        ("m;s", "not understood"),
        ("m " * 60, "at most 100 letters"),
        ("(" * 99, "lacks a parenthesis"),
    ],
)
def test_what_is_no_unit_is_refused_with_the_reason(text, complaint):
    with pytest.raises(UnitError, match=complaint):
        parse_unit(text)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("N m", "kN mm", True),
        ("N m", "J", False),
        ("kWh", "J", True),
        ("W", "V A", True),
        ("rad/s", "Hz", False),
        ("rpm", "deg/s", True),
        ("Hz", "1/s", True),
        ("N m/rad", "N m", False),
        ("N/m^n", "N/m^n", True),
        ("N/m^n", "N/m", False),
    ],
)
def test_angles_and_energies_are_kept_apart(first, second, same):
    assert same_quantity(first, second) is same


@pytest.mark.parametrize("text", ["N m s/rad", "kg m^2", "1/s", "m^3/(s Pa)", "rad/s^2", "V/(A s)", ""])
def test_a_unit_of_si_keeps_its_name(text):
    assert parse_unit(text).name == text
    assert parse_unit(text).factor == 1


def test_units_multiply_like_numbers():
    newton, metre = parse_unit("N"), parse_unit("m")
    assert (newton * metre).name == "N m"
    assert (newton / metre).name == "N/m"
    assert ((metre**2) ** Fraction(1, 2)).name == "m"
    assert (metre / metre) == UnitOfMeasure()
    assert parse_unit("deg").factor == math.pi / 180


def test_placeholders_are_filled_without_ambiguity():
    assert fill_unit("{x}/{F}", {"{x}": "rad", "{F}": "N m"}) == "rad/(N m)"
    assert fill_unit("{u} s/{x}", {"{x}": "rad", "{u}": "rad/s"}) == "1"
    assert fill_unit("{u}/{x}", {"{x}": "m", "{u}": "V"}) == "V/m"


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (3.12e-5, "m", "31.2 µm"),
        (-0.25, "m", "-250 mm"),
        (2.0, "m", "2 m"),
        (0.5, "rad", "28.65 deg"),
        (2e-3, "s", "2 ms"),
        (300.0, "rad/s", "2865 rpm"),
        (2e5, "Pa", "2 bar"),
        (9.81, "m/s^2", "9.81 m/s²"),
        (12.0, "kg m^2", "12 kg m²"),
        (12.0, "N m/rad", "12 N m/rad"),
        (7.0, "my_unit", "7 my_unit"),
        (7.0, "", "7"),
        (1e-16, "m", "0 m"),
        (-6.8e-33, "N m", "0 N m"),
        (-0.0, "m", "0 m"),
        (math.nan, "m", "nan m"),
        (math.inf, "m", "inf m"),
    ],
)
def test_a_quantity_is_shown_in_the_unit_of_its_size(value, unit, shown):
    assert show_quantity(value, unit) == shown


def test_numbers_of_a_row_share_a_unit_and_rounding_beside_them_is_0():
    assert show_quantities([-1e-13, 0.02, 2e-6], "m") == (["0", "20", "0.002"], "mm")


def test_shown_units_measure_what_they_stand_for_and_get_no_larger_number_than_the_next():
    for unit, steps in SHOWN.items():
        sizes = [parse_unit(name).factor for _, name in steps]
        assert all(parse_unit(name).measures_like(parse_unit(unit)) for _, name in steps)
        assert sizes == sorted(sizes)
        assert [least for least, _ in steps] == sorted(least for least, _ in steps)
        for least, name in steps:
            assert write_unit(name) == name
            assert choose_unit(unit, max(least, 1e-11)).name == name


@pytest.mark.parametrize(("unit", "printed"), [("um", "µm"), ("kg m^2", "kg m²"), ("kohm", "kΩ"), ("m^0.5", "m^0.5"),
                                               ("1/s^2", "1/s²"), ("us", "µs"), ("bus", "bus")])  # fmt: skip
def test_units_are_printed_alike(unit, printed):
    assert write_unit(unit) == printed
