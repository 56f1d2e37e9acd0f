"""Are quantities with units read as SI, and wrong ones refused?"""

import math

import pytest

from robodyn import ModelError, read_scenario
from robodyn.base.units import OTHERS, PREFIXED, UnitError, parse_unit
from robodyn.description.files.units import read_quantity


@pytest.mark.parametrize(
    ("text", "expected", "value"),
    [
        ("90 deg", "rad", math.pi / 2),
        ("90deg", "{x}", math.pi / 2),
        ("120 mm", "{x}", 0.12),
        ("-1.5e3 rpm", "rad/s", -1500 * math.pi / 30),
        ("2 kg cm^2", "kg m^2", 2e-4),
        ("3 kg", "{I}", 3.0),
        ("5 N", "{F}", 5.0),
        ("5 N m", "{F}", 5.0),
        ("250 us", "s", 250e-6),
        ("4 kHz", "Hz", 4000.0),
        ("7 V/rad", "V/{x}", 7.0),
        ("0.1 1/s", "1/s", 0.1),
        ("70 GPa", "Pa", 70e9),
        ("inf", "V", math.inf),
        (3, "kg", 3.0),
        ("0", "kg", 0.0),
        (" 3 ", "", 3.0),
        (" 3 ", "1", 3.0),
        ("50 %", "1", 0.5),
        ("10 mm/rev", "{x}/rad", 0.01 / (2 * math.pi)),
        ("80 N/um", "{F}/{x}", 80e6),
        ("0.5 Nm/A", "N m/A", 0.5),
        ("5 N/m^n", "N/m^n", 5.0),
        ("3 1/min", "Hz", 0.05),
        ("2 V/(rad/s)", "{u} s/{x}", 2.0),
    ],
)
def test_a_quantity_is_read_in_si(text, expected, value):
    assert read_quantity(text, expected) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "expected", "complaint"),
    [
        ("90 deg", "m", "must be in m"),
        ("3 m", "kg", "must be in kg"),
        ("5 V", "{F}", "must be in N m or N"),
        ("3", "kg", r'"3" has no unit: write "3 kg", or 3 without quotes'),
        ("3", "{x}", 'write "3 rad" or "3 m"'),
        ("3 J", "{F}", "must be in N m or N"),
        ("3 rad/s", "Hz", "must be in Hz"),
        ("3 m", "1", "plain number"),
        ("3 N m/rad s", "", "two ways"),
        ("3 N/m^2", "N/m^n", "must be in N/m.n"),
        ("3 furlongs", "m", 'unit "furlongs"'),
        ("three", "m", "not a number"),
        ("", "m", "not a number"),
        ("3 4", "m", "not a number"),
        ("3 1/s", "m", "must be in m"),
        ("1.2.3 m", "m", "not a number"),
        (True, "m", "must be a number"),
        (None, "m", "must be a number"),
        ([1.0], "m", "must be a number"),
        (math.nan, "m", "must be a number"),
        ("nan", "m", "not a number"),
        (10**400, "m", "too large"),
    ],
)
def test_what_is_no_such_quantity_is_refused(value, expected, complaint):
    with pytest.raises(UnitError, match=complaint):
        read_quantity(value, expected)


@pytest.mark.parametrize("unit", [*OTHERS, *PREFIXED])
def test_every_known_unit_can_be_written(unit):
    known = parse_unit(unit)
    assert read_quantity(f"2 {unit}", known.name or "1") == 2 * known.factor
    assert read_quantity(f"2 {known.name}") == 2


def test_where_everything_is_text_a_number_without_a_unit_is_in_si():
    assert read_quantity("3", "kg", bare=True) == 3
    with pytest.raises(UnitError, match='the file gives it in deg: write "3 deg", or "3 rad"'):
        read_quantity("3", "rad", "deg", bare=True)


def test_the_unit_of_a_block_is_that_of_its_numbers(tmp_path):
    text = 'duration = 1\n[blocks.goal]\nlaw = "sine_reference"\nunit = "m"\n'
    path = tmp_path / "goal.toml"
    path.write_text(text + 'parameters = { amplitude = "50 mm", frequency = "30 1/min" }')
    assert read_scenario(path).machine.blocks[0].parameters["frequency"] == 0.5
    path.write_text(text + 'parameters = { amplitude = "50 deg", frequency = "3" }')
    with pytest.raises(ModelError) as caught:
        read_scenario(path)
    assert 'blocks.goal.parameters.amplitude: "50 deg" must be in m' in str(caught.value)
    assert 'blocks.goal.parameters.frequency: "3" has no unit: write "3 Hz"' in str(caught.value)
