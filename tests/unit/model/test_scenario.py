"""Is a scenario checked: its time, its start, its events and what it records?"""

import math

import pytest

from robodyn import Block, Event, Machine, ModelError, Recording, Scenario

MACHINE = Machine("m", blocks=(Block("b", "constant_reference", parameters={"constant": 1.0}),))


def flaws_of(make):
    with pytest.raises(ModelError) as error:
        make()
    return {flaw.path: f"{flaw.what} {flaw.remedy}" for flaw in error.value.flaws}


@pytest.mark.parametrize("duration", [0.0, -1.0, math.nan, math.inf, "1 s"])
def test_an_impossible_duration_is_refused(duration):
    assert set(flaws_of(lambda: Scenario("s", MACHINE, duration))) == {"duration"}


def test_start_values_are_numbers():
    assert set(flaws_of(lambda: Scenario("s", MACHINE, 1.0, {"b.x": math.nan}))) == {"initial.b.x"}
    assert set(flaws_of(lambda: Scenario("s", MACHINE, 1.0, 3.0))) == {"initial"}


def test_events_and_blocks_have_different_names():
    events = (Event("b", lambda time: time - 1), Event("e", lambda time: time), Event("e", lambda time: time))
    assert set(flaws_of(lambda: Scenario("s", MACHINE, 1.0, events=events))) == {"events.b", "events.e"}


def test_times_beyond_the_end_cannot_be_recorded():
    late = Recording(times=(0.0, 2.0))
    assert set(flaws_of(lambda: Scenario("s", MACHINE, 1.0, recording=late))) == {"recording.times"}
    with pytest.raises(ModelError, match="recording"):
        Scenario("s", MACHINE, 3.0, recording=late).with_numbers({"duration": 1.0})


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"rate": 0.0}, "rate"),
        ({"rate": 100.0, "refine": 2}, ""),
        ({"times": (1.0, 0.5)}, "times"),
        ({"times": ()}, "times"),
        ({"times": (0.0, math.nan)}, "times[1]"),
        ({"refine": 0}, "refine"),
        ({"refine": 1.5}, "refine"),
        ({"signals": ()}, "signals"),
        ({"signals": "elbow.*"}, "signals"),
    ],
)
def test_a_recording_that_cannot_be_made_is_refused(given, path):
    assert set(flaws_of(lambda: Recording(**given))) == {path}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"direction": "risng"}, "direction"),
        ({"guard": 3.0}, "guard"),
        ({"action": 3.0}, "action"),
        ({"parameters": {"level": math.nan}}, "parameters.level"),
        ({"parameters": {"x": 1.0}, "inputs": {"x": "b.value"}}, "parameters.x"),
        ({"native": False}, "native"),
        ({"terminal": "yes"}, "terminal"),
        ({"inputs": ["b.value"]}, "inputs"),
    ],
)
def test_a_flawed_event_is_told_by_its_path(given, path):
    assert set(flaws_of(lambda: Event(**({"name": "e", "guard": lambda x: x} | given)))) == {path}


def test_a_scenario_cannot_be_changed_through_what_it_was_made_from():
    initial = {"b.x": 1.0}
    scenario = Scenario("s", MACHINE, 1.0, initial)
    initial["b.x"] = math.nan
    assert scenario.initial == {"b.x": 1.0}
    with pytest.raises(TypeError, match="cannot be changed"):
        scenario.initial["b.x"] = math.nan
