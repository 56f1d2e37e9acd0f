"""Does everything follow from the one line that declares a field?"""

import functools
import math

import numpy as np
import pytest

from robodyn import Block, Body, Machine, ModelError, Scenario, Solver
from robodyn.base.errors import FlawList
from robodyn.base.spatial import Pose, about_axis
from robodyn.computation.engine.tableaus import (
    CONTACT_STEP,
    ESDIRK,
    EXPLICIT,
    FUSED_STEP,
    IMPLICIT_STEP,
    METHODS,
    ROSENBROCK,
    STABILISED,
    SYMPLECTIC,
    method_table,
)
from robodyn.description.files.reading import TableReader
from robodyn.description.files.table import TomlTable
from robodyn.description.model import describe, digest
from robodyn.description.model.description import Description
from robodyn.description.model.fields import (
    EMPTY,
    choice,
    flag,
    numbers,
    part_name,
    place,
    quantity,
    reference,
    reference_map,
    texts,
    unit_vector,
    weights,
    whole_number,
)
from robodyn.description.model.solver import METHODS as KNOWN


class Winch(Description):
    """Something that no other file of the package knows."""

    NOUN = "winch"

    name: str = part_name()
    start: str = reference("point", key="rope[0]")
    end: str = reference("point", key="rope[1]")
    drum: float = quantity("m", positive=True, remedy="measure it")
    of: dict[str, float] = weights("moving joint")
    anchor: tuple[float, ...] = place(default=(0.0, 0.0, 0.0), frame="start")
    axis: tuple[float, ...] = unit_vector(default=(0.0, 0.0, 1.0), frame="start")
    inputs: dict[str, str] = reference_map("signal", several=True, default=EMPTY)
    gains: dict[str, float] = numbers(under="", default=EMPTY)
    layers: int = whole_number(least=1, default=1)
    kind: str = choice(("wire", "belt"), default="wire")
    labels: tuple[str, ...] = texts("labels", default=())
    brake: bool = flag(default=False)

    def check(self, flaws):
        if not flaws.concern("drum", "layers") and self.drum * self.layers > 10:
            flaws.add("layers", "are too many")


GOOD = {"name": "w", "start": "top", "end": "hook", "drum": 0.2, "of": {"hinge": 2}}


def flaws_of(**changes):
    with pytest.raises(ModelError) as error:
        Winch(**(GOOD | changes))
    assert "winch 'w'" in str(error.value)
    return {flaw.path: f"{flaw.what} {flaw.remedy}" for flaw in error.value.flaws}


def test_every_field_is_checked_and_all_flaws_are_told_at_once():
    wrong = {"start": 3, "drum": -1, "anchor": (0, math.nan, 0), "axis": (0, 0, 0), "of": {"hinge": "much"}}
    wrong |= {"inputs": {"x": None}, "gains": {"k": math.inf}, "layers": 0, "kind": "wir", "labels": "a", "brake": 1}
    message = flaws_of(**wrong)
    places = [
        "start",
        "drum",
        "of.hinge",
        "anchor[1]",
        "axis",
        "inputs.x",
        "gains.k",
        "layers",
        "kind",
        "labels",
        "brake",
    ]
    assert list(message) == places
    assert message["drum"] == "must be positive, is -1 m measure it"
    assert "'wire'" in message["kind"]


def test_what_concerns_several_fields_is_checked_where_they_are_right():
    assert list(flaws_of(drum=6.0, layers=2)) == ["layers"]
    assert list(flaws_of(drum="wide", layers=100)) == ["drum"]


def test_values_are_kept_as_plain_numbers():
    winch = Winch(**(GOOD | {"anchor": np.arange(3), "axis": [0, 3, 4], "gains": {"k": np.float32(2)}}))
    assert (winch.anchor, winch.axis, winch.gains) == ((0.0, 1.0, 2.0), (0.0, 0.6, 0.8), {"k": 2.0})
    assert hash(winch) == hash(Winch(**(GOOD | {"anchor": (0, 1, 2), "axis": (0, 0.6, 0.8), "gains": {"k": 2}})))


def test_numbers_have_names_and_can_be_changed():
    winch = Winch(**GOOD, gains={"k": 2.0})
    found = {number.name: (number.value, number.unit) for number in winch.numbers()}
    assert found["w.drum"] == (0.2, "m")
    assert found["w.anchor.y"] == (0.0, "m")
    assert found["w.k"] == (2.0, "")
    changed = winch.with_numbers({"w.drum": 0.3, "w.anchor.y": 1.0, "w.k": 4.0, "other.drum": 9.0})
    assert (changed.drum, changed.anchor, changed.gains) == (0.3, (0.0, 1.0, 0.0), {"k": 4.0})
    assert winch.with_numbers({"other.drum": 9.0}) is winch


def test_references_are_known_and_renamed():
    winch = Winch(**GOOD, inputs={"x": "hinge.position", "y": ("a.v", 3.0)})
    assert list(winch.references("winches.w")) == [
        ("winches.w.start", "point", "top"),
        ("winches.w.end", "point", "hook"),
        ("winches.w.of", "moving joint", "hinge"),
        ("winches.w.inputs.x", "signal", "hinge.position"),
        ("winches.w.inputs.y", "signal", "a.v"),
    ]
    left = winch.renamed(lambda to, name: f"left.{name}")
    assert (left.name, left.start, left.of) == ("left.w", "left.top", {"left.hinge": 2.0})
    assert left.inputs == {"x": "left.hinge.position", "y": ("left.a.v", 3.0)}


def test_what_is_given_in_the_grounds_frame_moves_with_it():
    turned = Pose(about_axis((1.0, 0.0, 0.0), math.pi / 2), np.array([1.0, 2.0, 3.0]))
    winch = Winch(**GOOD, anchor=(0.0, 1.0, 0.0))
    moved = winch.moved(turned, {"top"})
    np.testing.assert_allclose(moved.anchor, (1.0, 2.0, 4.0), atol=1e-15)
    np.testing.assert_allclose(moved.axis, (0.0, -1.0, 0.0), atol=1e-15)
    assert winch.moved(turned, {"hook"}) is winch


def test_a_table_of_a_file_becomes_one_and_flaws_name_its_keys(tmp_path):
    flaws = FlawList()
    data = {"rope": ["top", "hook"], "drum": "20 cm", "of": {"hinge": 2}, "anchor": ["1 mm", 0, 0], "axis": [0, 0, 2]}
    made = TableReader(tmp_path).read(TomlTable(data, "winches.w", flaws), (Winch,), "w")
    assert not flaws.found
    assert made == Winch(**GOOD, anchor=(1e-3, 0.0, 0.0))
    wrong = {"rope": ["top"], "drum": "3 kg", "layers": 1.5, "kind": "rope", "drun": 1}
    TableReader(tmp_path).read(TomlTable(wrong, "winches.w", flaws), (Winch,), "w")
    paths = {flaw.path for flaw in flaws.found}
    assert paths == {f"winches.w.{key}" for key in ("rope", "drum", "of", "layers", "kind", "drun")}


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_said_of_a_method_is_what_its_coefficients_are(name):
    table = method_table(name)
    families = dict.fromkeys((EXPLICIT, STABILISED), "explicit") | dict.fromkeys((ROSENBROCK, ESDIRK), "stiff")
    families |= {SYMPLECTIC: "symplectic", IMPLICIT_STEP: "implicit_step", FUSED_STEP: "fused_step"}
    families[CONTACT_STEP] = "contact_step"
    said = KNOWN[name]
    assert (said.order, said.family, said.adaptive) == (table.order, families[table.family], bool(table.adaptive))
    assert set(KNOWN) == set(METHODS) == set(Solver.names())


# --------------------------------------------------------------------------------------------------
# Does a description as plain data say all that differs from the defaults, and is its digest its own?


def test_defaults_are_left_out():
    assert describe(Body("a", 2.0)) == {"type": "Body", "name": "a", "mass": 2.0}


def test_digests_tell_whole_numbers_and_decimals_alike_and_values_apart():
    assert digest(Body("a", 2)) == digest(Body("a", 2.0))
    assert digest(Body("a", 2.0)) != digest(Body("a", 2.0 + 1e-15 * 2))


def test_any_callable_can_be_a_law():
    def scaled(value, gain):
        return {"output": gain * value}

    block = Block("b", functools.partial(scaled, gain=2.0), inputs={"value": 1.0})
    assert describe(block)["law"] == "functools:partial"


def test_equal_scenarios_have_equal_hashes():
    def make():
        block = Block("b", "constant_reference", parameters={"constant": 1.0})
        return Scenario("s", Machine("m", blocks=(block,)), 1.0, {}, solver=Solver("rk4"))

    assert len({make(), make()}) == 1
