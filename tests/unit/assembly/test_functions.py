import casadi as ca

from robodyn.computation.assembly import assemble
from robodyn.computation.assembly.system import INPUTS, Expressions
from robodyn.description.catalog import bouncing_ball, scara_ptp

x, y = ca.SX.sym("x"), ca.SX.sym("y")


def test_all_columns_have_a_name_of_their_own():
    system = assemble(scara_ptp())
    own = system.expressions
    assert own.columns()["rhs"] is own.rhs
    assert len(own.columns()) == 12 + len(own.arguments) + len(own.updates) + len(own.actions)
    assert own.projection is None
    assert "projection" not in own.columns()


def test_every_column_reads_only_the_five_inputs():
    for scenario in (scara_ptp(), bouncing_ball()):
        system = assemble(scenario)
        assert system.symbols._fields == INPUTS
        for name, column in system.expressions.columns().items():
            assert system.function(column, name).size1_out(0) == column.numel()


def test_columns_are_replaced_by_name_wherever_they_stand():
    own = Expressions(rhs=x, projection=x, updates={"task:a": x}, actions={"action:b": x})
    fresh = {"rhs": y, "task:a": ca.sin(y), "action:b": ca.cos(y)}
    new = own.with_columns(fresh)
    assert new.rhs is fresh["rhs"]
    assert new.updates["task:a"] is fresh["task:a"]
    assert new.actions["action:b"] is fresh["action:b"]
    assert new.projection is own.projection


def test_a_change_of_symbols_reaches_every_column():
    own = Expressions(rhs=x, projection=x, arguments={"inputs:c": x}, actions={"action:b": x})
    new = own.in_terms_of(lambda column: ca.substitute(column, x, y))
    assert {str(column) for column in new.columns().values() if column.numel()} == {"y"}
