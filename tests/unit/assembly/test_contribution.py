"""Are contributions merged in order, and does what a part adds depend on nothing but what it is given?"""

import casadi as ca
import numpy as np
from support.machines import cart

from robodyn.computation.assembly import assemble
from robodyn.computation.assembly.blocks import trace_blocks
from robodyn.computation.assembly.contribution import (
    Contribution,
    Deferred,
    declare_memory,
    declare_state,
    merge,
    start_context,
)
from robodyn.computation.assembly.declarations import MemoryInfo, StateInfo
from robodyn.computation.assembly.events import trace_events
from robodyn.computation.assembly.motion import trace_kinematics
from robodyn.description.model import Block, Event


def action(name, target, value):
    return Contribution(actions={name: {target: Deferred(ca.SX(value), {})}}, warnings=(f"{target} {value}",))


def test_what_came_last_holds_and_actions_of_one_name_are_united():
    first, second = action("start", "a", 1), action("start", "b", 2)
    merged = merge((first, action("other", "a", 3), second, action("start", "a", 4)))
    assert list(merged.actions) == ["start", "other"]
    assert {name: float(new.expression) for name, new in merged.actions["start"].items()} == {"a": 4, "b": 2}
    assert merged.warnings == ("a 1", "a 3", "b 2", "a 4")
    assert list(first.actions["start"]) == ["a"]


def test_it_does_not_matter_how_parts_are_grouped():
    state, memory = declare_state(StateInfo("x", "m", 1.0)), declare_memory(MemoryInfo("m", "", 0.0, hidden=True))
    parts = (state, action("go", "x", 1), memory, action("go", "m", 2))
    left, right = (parts[0] + parts[1]) + (parts[2] + parts[3]), parts[0] + (parts[1] + (parts[2] + parts[3]))
    assert left == right == merge(parts)
    assert left.targets == ["x", "m"]
    assert list(left.signals) == ["x"]


def amplify(value, factor):
    return {"output": factor * value}


DRIVEN = (
    Block("gain", amplify, inputs={"value": "lag.output"}, parameters={"factor": 3.0}),
    Block("lag", "low_pass", inputs={"value": "rail.velocity"}, parameters={"time_constant": 0.1}),
    Block("push", lambda command: {"force": -command}, on="rail", inputs={"command": "gain.output"}),
)


def test_parts_add_the_same_each_time_they_are_traced():
    scenario = cart(*DRIVEN, events=(Event("far", lambda x: x - 1, inputs={"x": "rail.position"}),))
    context = start_context(scenario)
    _, joints = trace_kinematics(context, scenario.machine.mechanism)
    once, twice = trace_blocks(context, joints), trace_blocks(context, joints)
    assert list(once.signals) == list(twice.signals)
    assert once.forces == twice.forces == (("rail", "push.force"),)
    assert [info.name for info in once.states] == ["lag.filtered"]
    known = joints + once
    first, again = ([guard for guard, _ in trace_events(context, known).guards] for _ in range(2))
    assert first == again
    assert [guard.name for guard in first] == ["far"]


def test_blocks_read_one_another_in_any_order():
    def rates(blocks):
        system = assemble(cart(*blocks))
        x = {info.name: 0.1 + k for k, info in enumerate(sorted(system.states, key=lambda info: info.name))}
        column = [x[info.name] for info in system.states]
        values = system.function(system.expressions.rhs)(0, column, [], [], [n.value for n in system.parameters])
        return dict(zip((info.name for info in system.states), np.array(values).ravel(), strict=True))

    assert rates(DRIVEN) == rates(DRIVEN[::-1])
