"""Settings of solver and recording refuse what has no meaning."""

import pytest

from robodyn.description.model import Solver


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("method", "rk5"),
        ("step", 0.0),
        ("step", -1.0),
        ("rtol", 0.0),
        ("atol", float("nan")),
        ("max_step", 0.0),
        ("min_step", -1.0),
        ("max_steps", -1),
        ("max_wall_time", float("inf")),
    ],
)
def test_a_setting_without_meaning_is_refused_by_name(field, value):
    with pytest.raises(ValueError, match=field):
        Solver(**{field: value})


def test_each_method_knows_its_kind():
    assert set(Solver.names()) >= {
        "euler",
        "heun",
        "rk4",
        "symplectic_euler",
        "heun_euler",
        "dopri5",
        "rodas4",
        "trbdf2",
    }
    assert Solver("dopri5").adaptive
    assert Solver("dopri5").order == 5
    assert not Solver("rk4").adaptive
    assert [name for name in Solver.names() if Solver(name).stiff] == ["rodas4", "rodas4p", "trbdf2"]
