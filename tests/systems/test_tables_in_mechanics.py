"""Are measured curves understood where a mechanism is put together: as linkages, relations and prescribed motions?"""

import casadi as ca
import numpy as np
import pytest
from support.constrained import four_bar
from support.machines import cart, signals_only

from robodyn import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    FunctionCoordinate,
    Joint,
    Machine,
    Mechanism,
    ModelError,
    PrescribedMotion,
    Scenario,
    Solver,
    simulate,
)
from robodyn.base import symbolic as sym
from robodyn.base.symbolic.tables import spell_out

XS, YS = (-2.0, -1.0, 0.0, 1.0, 2.0), (0.5, 0.2, 0.1, 0.2, 0.5)


def test_a_function_with_tables_is_spelled_out_for_casadi():
    x = ca.SX.sym("x")
    function = ca.Function("f", [x], [sym.table(x, XS, YS) + sym.sin(x), sym.hold_table(2 * x, XS, YS)])
    spelled = spell_out(function)
    for at in (-3.0, -2.0, -0.7, 0.0, 0.3, 1.0, 2.5):
        smooth, held = spelled(at)
        assert float(smooth) == pytest.approx(np.interp(at, XS, YS) + np.sin(at), abs=1e-15)
        assert float(held) == sym.hold_table(2 * at, XS, YS)


def cam(start: float) -> Scenario:
    """A swinging body whose angle lifts a follower by a measured cam, with a stroke of 0.05 to 0.18 m."""
    lift = FunctionCoordinate("cam", ("swing",), lambda angle: sym.table(angle, XS, YS), range=(0.05, 0.18))
    body = Body("arm", 1.0, (0.3, 0, 0), (0.01, 0.01, 0.01))
    mechanism = Mechanism("cam", (body,), (Joint("swing", "revolute", GROUND, "arm", axis=(0, 1, 0)),))
    spring = Block("spring", "spring", on="cam", parameters={"stiffness": 1.0})
    return Scenario("cam", Machine("cam", mechanism, (spring,), (lift,)), 0.5, {"swing.position": start})


def test_the_stroke_of_a_measured_cam_is_known_at_the_start_and_where_it_ends(capfd):
    run = simulate(cam(0.3))
    assert "'cam' left its range" in run.outcome.sentence
    assert "0.18 is at its upper end" in run.outcome.sentence
    with pytest.raises(ModelError, match=r"start position 0\.29 is out of reach"):
        simulate(cam(1.3))
    assert capfd.readouterr().out == ""


def test_minimal_coordinates_follow_a_prescribed_spline():
    times, points = (0.0, 0.5, 1.0), (-1.0, 0.0, 0.5)
    message = PrescribedMotion("drive", "crank", "ref.position", "ref.velocity", "ref.acceleration")
    reference = Block("ref", "spline_reference", parameters={"times": times, "points": points})
    fine = Solver("dopri5", rtol=1e-9, atol=1e-9)
    guess = {"crank.position": -1.0, "knee.position": 0.5, "rocker.position": -1.5}
    extras = {"blocks": (reference,), "constraints": (message,), "initial": guess}
    run, other = (simulate(four_bar(ConstraintMethod(way), fine, **extras)) for way in ("minimal", "projection"))
    assert run.outcome.ok
    assert float(run["rocker.position"](1.0)) == pytest.approx(float(other["rocker.position"](1.0)), abs=1e-7)
    assert float(run["crank.position"](1.0)) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(("opening", "speed"), [(0.0, 0.2), (0.25, 1.7), (-1.0, -1.4)])
def test_a_signal_that_a_law_makes_constant_is_looked_up_like_any_other(opening, speed):
    values = {"openings": (-0.1, 0.0, 0.3, 0.5), "speeds": (-1.4, 0.2, 2.0, 3.0), "oil_compliance": 0.04}
    actuator = Block("oil", "hydraulic_actuator", on="rail", inputs={"opening": "own.value"}, parameters=values)
    own = Block("own", lambda time: {"value": opening})
    run = simulate(cart(actuator, own, duration=0.01))
    np.testing.assert_allclose(run["oil.no_load_speed"].values, speed, rtol=1e-14)


def test_a_look_up_of_what_becomes_a_number_in_the_network_gives_the_tables_own_value():
    """A product with 0, a difference of the same: CasADi makes numbers of these."""
    heights = (1e16, 0.1, 0.3, 0.7)
    flat = Block("flat", lambda time: {"value": 0.0})
    clocks = [Block(name, lambda time: {"value": time}) for name in ("clock", "other")]
    inputs = {"zero": "flat.value", "a": "clock.value", "b": "other.value"}
    look = Block(
        "look", lambda zero, a, b: {"value": sym.hold_table(2.0 + a - b + zero * a, range(4), heights)}, None, inputs
    )
    assert set(simulate(signals_only(flat, *clocks, look, duration=0.01))["look.value"].values) == {0.3}
