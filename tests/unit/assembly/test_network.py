"""Do signals connect as described, and are impossible connections reported?"""

from pathlib import Path

import numpy as np
import pytest
from support.machines import cart, signals_only

import robodyn
from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.description.model import GROUND, Block, Body, Joint, Machine, Mechanism, Scenario


def gain(value, factor):
    return {"output": factor * value}


def block(name: str, source: str, **fields) -> Block:
    return Block(name, gain, inputs={"value": source}, parameters={"factor": 2.0}, **fields)


def test_an_algebraic_loop_is_an_error_that_lists_its_cycle():
    with pytest.raises(ModelError) as caught:
        assemble(signals_only(block("a", "c.output"), block("b", "a.output"), block("c", "b.output")))
    loop = next(flaw for flaw in caught.value.flaws if "algebraic loop" in flaw.what)
    assert all(name in loop.what for name in ("a.output", "b.output", "c.output"))


def test_a_loop_through_the_mechanism_is_found():
    force = Block("kick", lambda acceleration: {"force": -3 * acceleration}, on="rail")
    with pytest.raises(ModelError, match=r"algebraic loop: .*rail\.acceleration"):
        assemble(cart(force))


def test_a_state_breaks_a_loop():
    lag = Block("lag", "low_pass", inputs={"value": "a.output"}, parameters={"time_constant": 0.1})
    system = assemble(signals_only(block("a", "lag.output"), lag))
    assert [state.name for state in system.states] == ["lag.filtered"]


def test_an_output_that_ignores_an_input_makes_no_false_loop():
    def two_way(forward, backward):
        return {"there": 2 * forward, "back": 3 * backward}

    one = Block("one", two_way, inputs={"forward": "time", "backward": "two.back"})
    two = Block("two", two_way, inputs={"forward": "one.there", "backward": "time"})
    assert "one.back" in assemble(signals_only(one, two)).signal_names


def test_an_unknown_signal_is_told_with_the_nearest_name():
    with pytest.raises(ModelError) as caught:
        assemble(cart(block("a", "rail.velocty"), block("b", "rail.positon")))
    text = str(caught.value)
    assert "blocks.a.inputs.value" in text
    assert "did you mean 'rail.velocity'?" in text
    assert "did you mean 'rail.position'?" in text


def test_a_law_that_branches_on_a_symbol_is_told_with_a_remedy():
    def branches(velocity):
        return {"force": 1.0 if velocity > 0 else -1.0}

    with pytest.raises(ModelError, match=r"blocks\.bad: law 'branches' cannot be traced.*where"):
        assemble(cart(Block("bad", branches, on="rail")))


def test_a_law_in_a_folder_whose_name_begins_like_the_package_is_no_law_of_the_package():
    own = {}
    place = Path(robodyn.__file__).parent.with_name("robodyn_own") / "laws.py"
    exec(compile("def refuses(velocity):\n    raise ValueError('no such velocity')", place, "exec"), own)
    with pytest.raises(ModelError, match=r"law 'refuses' cannot be traced \(laws\.py, line 2\): ValueError: no such"):
        assemble(cart(Block("bad", own["refuses"], on="rail")))


def test_all_problems_are_told_at_once():
    with pytest.raises(ModelError) as caught:
        assemble(cart(block("a", "nothing.here"), block("b", "nor.here"), initial={"rail.posit": 1.0}))
    assert len(caught.value.flaws) == 3


def test_a_start_value_of_an_unknown_state_is_told():
    with pytest.raises(ModelError, match=r"initial\.rail\.positio: .*'rail\.position'"):
        assemble(cart(initial={"rail.positio": 1.0}))


def test_a_state_without_a_rate_is_told():
    bad = Block("bad", lambda level: {"output": level}, states={"level": 0.0})
    with pytest.raises(ModelError, match="level_dot"):
        assemble(signals_only(bad))


def test_vectors_of_signals_and_parameters_reach_the_law():
    def weighted(values, weights):
        return {"sum": values[0] * weights[0] + values[1] * weights[1], "parts": values}

    pair = Block("pair", weighted, inputs={"values": ("rail.position", "time")}, parameters={"weights": (2.0, 5.0)})
    system = assemble(cart(pair))
    assert {"pair.sum", "pair.parts.0", "pair.parts.1"} <= set(system.signal_names)
    assert {"pair.weights.0", "pair.weights.1"} <= {number.name for number in system.parameters}


def test_units_follow_the_coordinate_a_block_acts_on():
    system = assemble(cart(Block("brake", "viscous_friction", on="rail", parameters={"viscous": 1.0})))
    units = {info.name: info.unit for info in system.signals}
    assert units["brake.torque"] == "N"
    assert units["rail.velocity"] == "m/s"


def test_a_block_placed_on_a_joint_without_effect_is_refused():
    idle = Block("idle", lambda time: {"value": time}, on="rail")
    with pytest.raises(ModelError, match=r"blocks\.idle\.on: has no effect"):
        assemble(cart(idle))


def test_a_law_that_uses_math_on_symbols_is_told():
    import math

    bad = Block("bad", lambda velocity: {"force": -math.tanh(velocity)}, on="rail")
    with pytest.raises(ModelError, match=r"blocks\.bad: .*loses its arguments.*robodyn\.symbolic"):
        assemble(cart(bad))


def test_a_law_may_use_numpy_without_a_warning(recwarn):
    assemble(cart(Block("drag", lambda velocity: {"force": -np.tanh(velocity)}, on="rail")))
    assert not recwarn.list


def test_signals_of_another_unit_than_a_law_expects_are_warned_about():
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "pd.command"})
    gains = {"proportional": 1.0, "derivative": 1.0}
    volts, newtons = (
        assemble(cart(Block("pd", "pd_control", "rail", {"target": "time"}, gains, unit=unit), drive))
        for unit in ("V", "N")
    )
    assert any("pd.command" in text and "is in V, not N" in text for text in volts.warnings)
    assert not any("pd.command" in text for text in newtons.warnings)
    assert all("'time' is in s, not m" in text for text in newtons.warnings)


def test_units_reach_blocks_declared_before_their_inputs():
    later = Block("goal", "constant_reference", parameters={"constant": 1.0}, unit="A")
    early = Block("lag", "low_pass", inputs={"value": "goal.value"}, parameters={"time_constant": 1.0})
    units = {info.name: info.unit for info in assemble(signals_only(early, later)).signals}
    assert units["lag.output"] == "A"
    assert units["lag.filtered_dot"] == "A/s"


def test_a_mechanism_that_cannot_move_is_refused():
    bodies, joints = (Body("post", 1.0),), (Joint("bolt", "fixed", GROUND, "post"),)
    with pytest.raises(ModelError, match="none of them moves"):
        assemble(Scenario("still", Machine("still", Mechanism("still", bodies, joints)), 1.0))


def test_a_long_chain_of_signals_may_be_declared_in_any_order():
    chain = [block("b0", "time"), *(block(f"b{k}", f"b{k - 1}.output") for k in range(1, 1200))]
    system = assemble(signals_only(*reversed(chain)))
    assert len(system.signals) == 1200


@pytest.mark.parametrize("native", [True, False])
def test_a_sampled_output_named_like_its_memory_is_told(native):
    def law(command):
        return {"command": command, "command_next": command + 1}

    hold = {"hold": {"command": 0.0}}
    bad = Block("bad", law, memory={"command": 0.0}, period=0.1, native=native, **hold)
    with pytest.raises(ModelError, match=r"blocks\.bad: returns 'command', which is the name of its memory"):
        assemble(signals_only(bad))


def test_a_law_of_angles_on_something_that_slides_is_warned_about():
    """Plates give a torque: on a slide it would be taken for a force."""
    press = Block("press", "constant_reference", parameters={"constant": 100.0}, unit="N")
    plates = Block("plates", "clutch", "rail", {"normal": "press.value"}, {"friction": 0.3, "radius": 0.1})
    found = [text for text in assemble(cart(press, plates)).warnings if text.startswith("blocks.plates")]
    assert found == [
        f"blocks.plates: 'rail' has its {what}" for what in ("velocity in m/s, not rad/s", "torque in N, not N m")
    ]


@pytest.mark.parametrize("begin", [0.0, -48.0])
def test_a_state_that_must_be_positive_begins_above_zero(begin):
    """A supply whose capacitor is empty would give its power by an infinite current."""
    load = Block("load", "constant_reference", parameters={"constant": 100.0}, unit="W")
    numbers = {"source_voltage": 48.0, "resistance": 0.2, "capacitance": 1e-3}
    supply = Block("supply", "sagging_supply", None, {"power": "load.value"}, numbers)
    with pytest.raises(ModelError, match=rf"initial\.supply\.voltage: must be positive, is {begin:g}"):
        assemble(cart(load, supply.replaced(states={"voltage": begin})))
    assemble(cart(load, supply.replaced(states={"voltage": 48.0})))
