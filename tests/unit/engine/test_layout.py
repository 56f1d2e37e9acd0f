"""What Python knows of the engine's structures and constants is what its header says."""

import re

import pytest

from robodyn.computation.engine import tableaus
from robodyn.computation.engine.binding import HEADERS, NAMES, structures
from robodyn.computation.engine.integrate import Reason
from robodyn.computation.engine.problem import RECORDING_KINDS
from robodyn.computation.engine.trajectory import Status

TEXT = re.sub(r"/\*.*?\*/", "", "".join(path.read_text() for path in HEADERS), flags=re.DOTALL)
ENUMERATIONS = [
    [entry.split("=")[0].strip() for entry in body.split(",")]
    for body in re.findall(r"enum \{(.*?)\};", TEXT, re.DOTALL)
]


def enumeration(first):
    return next(names for names in ENUMERATIONS if names[0] == first)


def test_statuses_and_reasons_are_those_of_the_header():
    assert ["GOING", *(status.name for status in Status)] == enumeration("GOING")
    assert [status.value for status in Status] == list(range(1, len(Status) + 1))
    assert [reason.name for reason in Reason] == enumeration("ENDED")
    assert [reason.value for reason in Reason] == list(range(len(Reason)))


def test_families_of_methods_are_those_of_the_header():
    assert [getattr(tableaus, name) for name in enumeration("EXPLICIT")] == list(range(8))


def test_kinds_of_recordings_are_those_of_the_header():
    assert enumeration("RECORD_STEPS")[: len(RECORDING_KINDS)] == ["RECORD_STEPS", "RECORD_TIMES", "RECORD_ENDS"]
    assert RECORDING_KINDS == ("steps", "times", "none")


@pytest.mark.parametrize("name", NAMES)
def test_every_declaration_of_a_structure_is_read(name):
    body = re.search(rf"typedef struct (?:\w+ )?\{{([^}}]*)\}} {name};", TEXT).group(1)
    declared = [re.search(r"(\w+)$", line.strip()).group(1) for line in body.split(";") if line.strip()]
    assert [field for field, *_ in structures()[name]._fields_] == declared
