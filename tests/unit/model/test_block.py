"""Is it reported when something a block is given is missing, unknown, impossible or without effect?"""

import math

import numpy as np
import pytest

from robodyn import Block, Delay, ModelError
from robodyn.base.errors import nearest

SPRING = {"stiffness": 10.0}
LOOP = {"proportional": 1.0, "integral": 1.0}
LOOP_INPUTS = {"velocity_command": "a", "velocity": "b"}


def flaws_of(*given, **named):
    with pytest.raises(ModelError) as error:
        Block(*given, **named)
    return {flaw.path: f"{flaw.what} {flaw.remedy}" for flaw in error.value.flaws}


def test_defaults_become_parameters_with_a_name():
    assert Block("b", "spring", on="j", parameters=SPRING).parameters["rest"] == 0.0


def test_a_sampled_law_is_given_its_period():
    block = Block("b", "sampled_velocity_loop", inputs=LOOP_INPUTS, parameters=LOOP, period=1e-3)
    assert block.parameters["period"] == 1e-3


def test_an_unknown_law_is_answered_with_the_nearest():
    assert "'lugre_friction'" in flaws_of("b", "lugre_fricton")["law"]
    assert "'pid_control' or 'sampled_pid'" in flaws_of("b", "pid")["law"]


def test_a_quantity_by_another_word_is_answered_with_ours():
    names = ("hinge.acceleration", "hinge.torque", "hinge.velocity", "hinge.position")
    assert nearest("hinge.angle", names) == "did you mean 'hinge.position'?"
    assert nearest("hinge.speed", names) == "did you mean 'hinge.velocity'?"
    assert nearest("hinge.force", names) == "did you mean 'hinge.torque'?"


def test_unknown_parameters_inputs_and_states_are_told_with_the_nearest():
    message = flaws_of("b", "spring", on="j", parameters=SPRING | {"dampng": 1.0}, inputs={"x": "y"}, states={"z": 0.0})
    assert "'damping'" in message["parameters.dampng"]
    assert {"inputs.x", "states.z"} <= set(message)


def test_what_a_law_needs_is_told_where_it_belongs():
    assert set(flaws_of("b", "spring")) == {"inputs.position", "inputs.velocity", "parameters.stiffness"}


@pytest.mark.parametrize("value", [-1.0, math.nan, "5", True, None])
def test_an_impossible_parameter_is_told(value):
    assert set(flaws_of("b", "spring", on="j", parameters={"stiffness": value})) == {"parameters.stiffness"}


def test_rules_between_parameters_are_checked():
    stop = {"stiffness": 1.0, "lower": 1.0, "upper": -1.0}
    assert "above lower" in flaws_of("b", "end_stop", on="j", parameters=stop)["parameters.upper"]
    spline = {"times": (0.0, 1.0), "points": (1.0, 2.0, 3.0)}
    assert "as many as times" in flaws_of("b", "spline_reference", parameters=spline)["parameters.points"]
    backwards = {"times": (1.0, 0.0), "points": (1.0, 2.0)}
    assert "larger" in flaws_of("b", "table_reference", parameters=backwards)["parameters.times"]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"offset": 0.1}, "offset"),
        ({"delay": 0.1}, "delay"),
        ({"hold": {"force": 0.0}}, "hold"),
        ({"native": False}, "native"),
        ({"unit": "kg"}, "unit"),
        ({"on": 3}, "on"),
        ({"acts": {"force": 3}}, "acts.force"),
        ({"inputs": {"position": None}}, "inputs.position"),
        ({"inputs": {"position": math.nan}}, "inputs.position"),
        ({"inputs": "elbow.position"}, "inputs"),
        ({"native": "no"}, "native"),
    ],
)
def test_what_has_no_effect_or_no_meaning_is_refused(given, path):
    right = {"name": "b", "law": "spring", "on": "j", "parameters": SPRING}
    assert path in flaws_of(**(right | given))


def test_a_value_cannot_come_from_two_places():
    message = flaws_of("b", "spring", on="j", inputs={"stiffness": "s.value"}, parameters=SPRING)
    assert "inputs.stiffness" in message["parameters.stiffness"]
    friction = {"stiffness": 1.0, "damping": 1.0, "viscous": 1.0, "coulomb": 1.0, "static": 1.0}
    friction |= {"stribeck_velocity": 1.0, "bristle": 0.1}
    assert "states.bristle" in flaws_of("b", "lugre_friction", on="j", parameters=friction)["parameters.bristle"]


def test_a_law_with_memory_must_be_sampled():
    message = flaws_of("b", "sampled_velocity_loop", inputs=LOOP_INPUTS, parameters=LOOP | {"period": 1e-3})
    assert "error_sum" in message["period"]


def test_a_law_with_states_cannot_be_sampled():
    message = flaws_of("b", "low_pass", inputs={"value": "a"}, parameters={"time_constant": 1.0}, period=1e-3)
    assert "filtered" in message["period"]


def test_another_period_than_the_blocks_own_is_refused():
    message = flaws_of(
        "b", "sampled_velocity_loop", inputs=LOOP_INPUTS, parameters=LOOP | {"period": 2e-3}, period=1e-3
    )
    assert "every 0.001 s" in message["parameters.period"]


@pytest.mark.parametrize("period", [0.0, -1.0, math.nan, "1 ms"])
def test_an_impossible_period_is_refused(period):
    assert "period" in flaws_of("b", "sample_and_hold", inputs={"value": "a"}, period=period)


def test_a_law_called_in_python_names_its_outputs():
    def double(value):
        return {"output": 2 * value}

    named = {"inputs": {"value": "a"}, "period": 0.1, "native": False}
    assert "names its outputs" in flaws_of("b", double, **named)["hold"]
    assert Block("b", double, **named, hold={"output": 0.0}).sampled


def test_a_law_whose_arguments_have_no_names_is_told():
    assert "must be named" in flaws_of("b", lambda *everything: 0.0)["law"]


def test_changing_the_period_changes_what_the_law_is_given():
    block = Block("b", "sampled_velocity_loop", inputs=LOOP_INPUTS, parameters=LOOP, period=1e-3)
    changed = block.with_numbers({"b.period": 2e-3})
    assert (changed.period, changed.parameters["period"]) == (2e-3, 2e-3)
    plain = Block("b", "sample_and_hold", inputs={"value": "a"}, period=1e-3)
    assert plain.with_numbers({"b.period": 1.0}).period == 1.0


def test_a_block_cannot_be_changed_through_its_mappings():
    given = {"position": "a.x", "velocity": "a.v"}
    block = Block("b", "spring", inputs=given, parameters=SPRING)
    given["position"] = "other"
    assert block.inputs["position"] == "a.x"
    with pytest.raises(TypeError, match="cannot be changed"):
        block.parameters["stiffness"] = -5.0
    with pytest.raises(TypeError, match="cannot be changed"):
        block.inputs.update(position="b.x")


def test_numbers_of_numpy_are_kept_as_plain_numbers():
    block = Block("b", "table_reference", parameters={"times": np.arange(3), "points": np.float32(1.0) * np.ones(3)})
    assert block.parameters == {"times": (0.0, 1.0, 2.0), "points": (1.0, 1.0, 1.0)}
    assert hash(block) == hash(block.with_numbers({}))


@pytest.mark.parametrize("time", [0.0, -1.0, math.nan, "1 s"])
def test_an_impossible_delay_is_refused(time):
    with pytest.raises(ModelError) as error:
        Delay("d", "a.x", time)
    assert [flaw.path for flaw in error.value.flaws] == ["time"]


def test_a_delay_of_too_many_samples_is_told():
    message = flaws_of("b", "sample_and_hold", inputs={"value": "a"}, period=1e-9, delay=0.01)
    assert "1e+07 periods, at most 10000 samples can wait" in message["delay"]
    assert Block("b", "sample_and_hold", inputs={"value": "a"}, period=1e-6, delay=0.01).delay == 0.01
