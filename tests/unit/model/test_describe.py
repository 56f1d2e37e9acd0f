"""Does a description as plain data say all that differs from the defaults, and is its digest its own?"""

import functools

from robodyn import Block, Body, Machine, Scenario, Solver
from robodyn.description.model import describe, digest


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
