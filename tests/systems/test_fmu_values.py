"""Are all numbers of imported units signals, with their types, arrays and declared ranges?"""

import re

import numpy as np
import pytest
from support.c_units import build_unit

from robodyn.base.errors import ModelError
from robodyn.computation.cosimulation import CosimSettings, SignalConnection, cosimulate
from robodyn.computation.results import OutcomeKind
from robodyn.exchange.fmi import FmuUnit, simulate_fmu
from robodyn.exchange.fmi.unit_variables import WHOLE


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("types")


@pytest.fixture(scope="module")
def types3(folder):
    return build_unit("types3", folder)


@pytest.fixture(scope="module")
def types2(folder):
    return build_unit("types2", folder)


class Source:
    """An output that grows by one in each macro step, from a start."""

    name, inputs, outputs = "source", (), {"y": ""}

    def __init__(self, first, by=1.0):
        self.y, self.by = first, by

    def start(self, time):
        pass

    def read(self):
        return {"y": self.y}

    def write(self, inputs):
        pass

    def advance(self, time, step):
        self.y += self.by


def feed(path, entry, first, by=1.0, **settings):
    signal_connections = [SignalConnection("source.y", f"unit.{entry}", **settings)]
    with FmuUnit(path, "unit") as unit:
        return cosimulate(
            [Source(first, by), unit], signal_connections=signal_connections, settings=CosimSettings(0.1), duration=0.3
        )


def kinds_of(version):
    if version == 2:
        return {"real": 0.25, "integer": 3, "boolean": 0, "enumeration": 1}
    whole = {kind.lower(): 3 for kind in WHOLE if kind != "Integer"}
    return {"float32": 0.25, "float64": 0.25, **whole, "boolean": 0, "mode": 1}


@pytest.mark.parametrize("version", [2, 3])
def test_all_types_are_parameters_inputs_and_outputs(version, types2, types3):
    path = types2 if version == 2 else types3
    given = kinds_of(version)
    parameters = {f"{kind}.parameter": value for kind, value in given.items()}
    with FmuUnit(path, parameters=parameters) as unit:
        unit.write({f"{kind}.input": (float(value),) for kind, value in given.items()})
        unit.start(0.0)
        assert unit.advance(0.0, 0.1) is None
        found = unit.read()
    assert {kind: found[f"{kind}.output"] for kind in given} == {kind: 2.0 * value for kind, value in given.items()}


@pytest.mark.parametrize("kind", [kind for kind in WHOLE if kind not in ("Integer", "Int32", "UInt8")])
def test_integers_reach_to_the_ends_of_their_width_and_no_further(types3, kind):
    for end, beyond in zip(WHOLE[kind], (-1, 1), strict=True):
        name = f"{kind.lower()}.parameter"
        with FmuUnit(types3, parameters={name: end}) as unit:
            assert unit.look([name]) == {name: float(end)}
        with FmuUnit(types3, parameters={name: str(end)}) as unit:
            unit.start(0.0)
            assert unit.read()[f"{kind.lower()}.output"] == float(end)
        with pytest.raises(ModelError, match=rf"must be a whole number at least {WHOLE[kind][0]} and at most"):
            FmuUnit(types3, parameters={name: end + beyond})


def test_whole_numbers_that_no_float_is_are_told(types3):
    run = simulate_fmu(types3, duration=1.0, parameters={"uint64.parameter": 2**60 + 1})
    assert any("'uint64.output' was 1152921504606846977" in sentence for sentence in run.warnings)
    run = simulate_fmu(types3, duration=1.0, parameters={"uint64.parameter": 2**60})
    assert not any("rounded" in sentence for sentence in run.warnings)


def test_infinite_outputs_are_read(types3):
    with FmuUnit(types3, parameters={"gains[1]": float("inf"), "gains[2]": 1e300}) as unit:
        unit.start(0.0)
        assert unit.read()["total"] == float("inf")
        assert unit.warnings == ()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("int8.parameter", 1.5, "must be a whole number from -128 to 127, is 1.5"),
        ("int8.parameter", True, "must be a whole number from -128 to 127, is True"),
        ("int8.parameter", float("nan"), "must be a whole number from -128 to 127, is nan"),
        ("uint8.parameter", 10, "must be a whole number at least 0 and at most 9, is 10"),
        ("int32.parameter", -6, "must be a whole number at least -5 and at most 5, is -6"),
        ("float64.parameter", 1.5, "must be at least -1.0 and at most 1.0, is 1.5"),
        ("float64.parameter", "nonsense", '"nonsense" is not a number'),
        ("float64.parameter", [1.0], r"must be a number, is \[1.0\]"),
        ("float64.input", 2, "must be at least -1.0 and at most 1.0, is 2"),
        ("float32.parameter", 1e39, "must be at least -3.4"),
        ("boolean.parameter", 2, r"must be true or false \(1 or 0\), is 2"),
        ("boolean.parameter", "yes", 'must be true or false .*, is "yes"'),
        ("mode.parameter", "fast", r'must be one of off \(0\), on \(1\), turbo \(4\), is "fast"'),
        ("mode.parameter", 2, "must be one of off"),
        ("mode.input", "turbo", r"must be one of off \(0\), on \(1\), is"),
        ("gains[1]", -101, "must be at least -100.0, is -101"),
        ("gains[4]", 1.0, "is not a parameter of the unit"),
        ("gains", 1.0, "is an array"),
        ("label", "x", "is a String"),
        ("n", 0, "must be a whole number at least 1 and at most 10, is 0"),
        ("n", "many", 'must be a whole number from 1 to 10, is "many"'),
        ("total", 1.0, "is computed by the unit"),
        ("total.x", 1.0, "is not a parameter of the unit"),
    ],
)
def test_values_that_a_variable_does_not_take_are_refused(types3, name, value, message):
    with pytest.raises(ModelError, match=message) as error:
        FmuUnit(types3, "unit", parameters={name: value})
    assert "unit 'unit'" in str(error.value)
    assert f"parameters.{name}" in str(error.value)


def test_values_of_version_2_are_refused_too(types2):
    given = {"real.parameter": 2, "integer.parameter": 0.5, "boolean.parameter": 7, "enumeration.parameter": "slow"}
    with pytest.raises(ModelError) as error:
        FmuUnit(types2, parameters=given)
    assert len(error.value.flaws) == 4


def test_texts_name_items_and_units_of_measure(types3):
    given = {"mode.parameter": "turbo", "boolean.parameter": "true", "gains[1]": "1 rad", "gains[2]": "90 deg"}
    run = simulate_fmu(types3, duration=1.0, parameters=given | {"gains[3]": "0"})
    assert run["mode.output"].final == 4.0
    assert run["boolean.output"].final == 1.0
    # The unit measures gains in degrees.
    assert run["total"].final == pytest.approx(np.degrees(1.0) + 90.0, rel=1e-14)
    with pytest.raises(ModelError, match="has a unit of measure, and the variable none"):
        FmuUnit(types3, parameters={"float64.parameter": "1 deg"})
    with pytest.raises(ModelError, match="must be in rad"):
        FmuUnit(types3, parameters={"gains[1]": "1 m"})


def test_elements_of_arrays_are_signals_row_by_row(types3):
    with FmuUnit(types3) as unit:
        assert [name for name in unit.inputs if name.startswith("matrix")] == [
            f"matrix[{i},{j}]" for i in (1, 2) for j in (1, 2, 3)
        ]
        unit.write({"matrix[1,3]": (5.0,)})
        unit.start(0.0)
        unit.write({"matrix[2,1]": (2.0,)})
        unit.write({"matrix[2,2]": (0.5,)})
        found = unit.read()
    # Elements that are not written stay as they were.
    assert (found["row_sums[1]"], found["row_sums[2]"]) == (5.0, 2.5)


def test_arrays_are_sized_by_structural_parameters(types3):
    with FmuUnit(types3) as unit:
        assert unit.look(["gains[1]", "gains[2]", "gains[3]"]) == {"gains[1]": 1.0, "gains[2]": 2.0, "gains[3]": 3.0}
    with FmuUnit(types3, parameters={"n": 2, "gains[1]": 10.0, "gains[2]": 20.0}) as unit:
        unit.start(0.0)
        assert unit.read()["total"] == 30.0
        assert "gains[3]" not in unit.variables
    with pytest.raises(ModelError, match=r"has 4 elements now and no start values .*also gains\[2\], gains\[3\]"):
        FmuUnit(types3, parameters={"n": 4, "gains[1]": 10.0})


def test_one_element_of_a_parameter_leaves_the_others_as_they_start(types3):
    with FmuUnit(types3, parameters={"gains[2]": 20.0, "flags[1]": True}) as unit:
        unit.start(0.0)
        assert unit.read()["total"] == 24.0
        assert unit.look(["flags[1]", "flags[2]"]) == {"flags[1]": 1.0, "flags[2]": 1.0}


def test_an_array_whose_elements_have_the_names_of_others_is_refused(folder):
    folder = folder / "twice"
    folder.mkdir()
    path = build_unit("types3", folder, lambda text: text.replace('name="total"', 'name="gains[1]"'))
    with pytest.raises(ModelError, match=r"gains\[1\]: is an element of an array and another variable"):
        FmuUnit(path)


@pytest.mark.parametrize(
    ("entry", "first", "by", "message"),
    [
        ("float64.input", 0.0, 0.7, r"at 0.2 s: unit 'unit' does not take what 'float64.input' is given: must be at"),
        ("int32.input", 4.0, 1.0, "must be a whole number at least -5 and at most 5, is 6.0"),
        ("int8.input", 0.0, 0.5, "must be a whole number from -128 to 127, is 0.5"),
        ("boolean.input", 0.0, 1.0, r"must be true or false \(1 or 0\), is 2.0"),
        ("mode.input", 0.0, 1.0, r"must be one of off \(0\), on \(1\), is 2.0"),
    ],
)
def test_an_input_that_leaves_its_range_ends_the_run_with_a_sentence(types3, entry, first, by, message):
    run = feed(types3, entry, first, by)
    assert run.outcome.kind is OutcomeKind.FAILED
    assert run.outcome.time < 0.3
    assert re.search(message, run.outcome.sentence), run.outcome.sentence
    # What was before is kept, and nothing is clipped: the last input that was taken is the last one in range.
    output = run["unit"][entry.replace("input", "output")]
    assert output.final - output.values[0] == pytest.approx(by * (run.outcome.time > 0.1), abs=1e-15)


def test_integers_are_fed_and_read_through_links(types3):
    run = feed(types3, "int16.input", 7.0)
    assert run.outcome.ok
    assert run["unit"]["int16.output"].final == 10.0
    assert run["unit"].infos[run["unit"].names.index("int16.output")].kind == "held"


def test_whole_numbers_are_not_extrapolated(types3, types2):
    for path, entry in ((types3, "int16.input"), (types2, "integer.input")):
        with pytest.raises(ModelError, match=rf"unit.{entry}: order 1 is more than it takes \(at most 0\)"):
            feed(path, entry, 0.0, order=1)


def test_start_values_out_of_their_own_range_and_texts_are_told(folder):
    folder = folder / "doubtful"
    folder.mkdir()
    start = 'valueReference="70" causality="parameter" start="0"'
    label = 'valueReference="160" causality="parameter"'
    changes = {start: start.replace('"0"', '"12"'), label: label.replace("parameter", "input")}

    def change(text):
        for old, new in changes.items():
            text = text.replace(old, new)
        return text

    path = build_unit("types3", folder, change)
    run = simulate_fmu(path, duration=1.0)
    assert "'uint8.parameter' starts at 12, out of the range 0 to 9 that the unit declares" in run.warnings
    assert "'label' is a String, no signal: it is left as it is" in run.warnings
