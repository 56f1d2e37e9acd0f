"""Is what a result prints as JSON what its schema promises, key by key?"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated

import jsonschema
import numpy as np
import pytest

from robodyn.base.plain import align, keys_of, schema_of, to_plain


class Ending(Enum):
    """How it ended."""

    DONE = "it reached its end"


@dataclass(frozen=True)
class Part:
    """A part."""

    gain: float
    phase: Annotated[float, "margin [deg]"]


@dataclass(frozen=True)
class Whole:
    """A result with all kinds of fields."""

    JSON = """
    name: what it is called
    ending
    poles
    counts
    *part
    last = parts.gain: of the other one
    note?: only where there is something to say
    size
    """
    name: str
    ending: Ending
    poles: Sequence[complex]
    counts: dict[str, int]
    part: Part
    parts: Part | None = None
    note: str | None = None
    rows: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def size(self) -> int:
        """Of the rows."""
        return len(self.rows)


WHOLE = Whole("arm", Ending.DONE, (1 + 2j,), {"steps": 3}, Part(np.float64(2.5), float("nan")), Part(1.5, 0.0))


def test_json_is_what_its_text_says_and_finite():
    assert to_plain(WHOLE) == {
        "name": "arm", "ending": "done", "poles": [[1.0, 2.0]], "counts": {"steps": 3}, "gain": 2.5, "phase": None,
        "last": 1.5, "size": 3,
    }  # fmt: skip
    table = {Path("a"): np.array([[1.0, np.inf]]), "b": (True, None)}
    assert to_plain(table) == {"a": [[1.0, None]], "b": [True, None]}


@pytest.mark.parametrize("whole", [WHOLE, Whole("", Ending.DONE, (), {}, Part(0, 0), None, "a word")])
def test_what_is_printed_keeps_the_schema(whole):
    schema = schema_of(Whole)
    jsonschema.Draft202012Validator.check_schema(schema)
    plain = json.loads(json.dumps(to_plain(whole)))
    jsonschema.validate(plain, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain | {"more": 1}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain | {"counts": {"steps": "three"}}, schema)


def test_the_schema_has_types_of_annotations_and_meanings_of_the_text():
    properties = schema_of(Whole)["properties"]
    assert properties["name"] == {"type": "string", "description": "what it is called"}
    assert properties["phase"] == {"type": ["number", "null"], "description": "margin [deg]"}
    assert properties["size"] == {"type": "integer"}
    assert schema_of(Whole)["required"] == [key for key in properties if key != "note"]
    assert schema_of(Part | None)["type"] == ["object", "null"]


def test_without_a_text_all_fields_are_written():
    assert [key.name for key in keys_of(Part)] == ["gain", "phase"]
    assert to_plain([Part(1.0, 2.0)]) == [{"gain": 1.0, "phase": 2.0}]


def test_columns_are_as_wide_as_their_contents():
    assert align([("joint", "x"), ("elbow 1", "-1.5")], "<>") == ["joint       x", "elbow 1  -1.5"]
