"""Do signals by formula reach blocks, events and measures, and follow their machine when it is renamed?"""

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis.jumps import find_staircases


def slide(**fields):
    mechanism = rd.Mechanism(
        "slide", [rd.Body("car", mass=2.0)], [rd.Joint("x", "prismatic", "ground", "car", axis=(1, 0, 0))]
    )
    return rd.Machine("slide", mechanism, **fields)


def scenario(machine, **fields):
    return rd.Scenario("s", machine, 1.0, {f"{machine.mechanism.joints[0].name}.velocity": 1.0}, **fields)


def test_a_formula_is_read_by_blocks_delays_events_and_other_formulas():
    machine = slide(
        signals=[
            rd.FormulaSignal("late_square", "late.output^2"),
            rd.FormulaSignal("square", "scale * x.position^2", None, {"scale": 2.0}, {"scale": "1"}),
            rd.FormulaSignal("root", "sqrt(square / 2)"),
        ],
        blocks=[rd.Block("brake", lambda value: -value, on="x", inputs={"value": "root"})],
        delays=[rd.Delay("late", "root", 0.1, before=0.0)],
    )
    event = rd.Event("passed", lambda signal: signal - 0.5, {"signal": "square"}, terminal=True)
    run = rd.simulate(scenario(machine, events=[event]), rd.Solver("dopri5", rtol=1e-10, atol=1e-10))
    # x'' = -x/2 from rest at x = 0 with speed 1.
    omega = np.sqrt(0.5)
    assert run.events[0].time == pytest.approx(np.arcsin(0.5 * omega) / omega, rel=1e-8)
    np.testing.assert_allclose(run["square"].values, 2 * run["x.position"].values ** 2, rtol=1e-14)
    assert run["late_square"].final == pytest.approx((np.sin(omega * (run.time[-1] - 0.1)) / omega) ** 2, rel=1e-6)
    assert {info.name: info.unit for info in run.infos}["square"] == "m^2"
    faster = rd.simulate(scenario(machine, events=[event]).with_numbers({"square.scale": 8.0}))
    assert faster.events[0].time < run.events[0].time


def test_a_formula_of_held_signals_is_held():
    sample = rd.Block("sample", "amplifier", inputs={"value": "x.position"}, parameters={"gain": 1.0}, period=0.1)
    machine = slide(blocks=[sample], signals=[rd.FormulaSignal("twice", "2 * sample.output")])
    run = rd.simulate(scenario(machine))
    assert run["twice"].kind == "held"


def test_a_formula_moves_with_its_machine():
    machine = slide(signals=[rd.FormulaSignal("square", "where(time > 0, x.position^2, 0)")])
    both = rd.combine("both", {"left": machine, "right": machine})
    assert [signal.name for signal in both.signals] == ["left.square", "right.square"]
    run = rd.simulate(rd.Scenario("s", both, 1.0, {"left.x.velocity": 1.0}))
    assert run["left.square"].final == pytest.approx(1.0)
    assert run["right.square"].final == 0


def test_steps_in_a_formula_are_told():
    machine = slide(signals=[rd.FormulaSignal("counts", "floor(x.position / step)", parameters={"step": 0.1})])
    assert [jump.block for jump in find_staircases(scenario(machine))] == ["counts"]


@pytest.mark.parametrize(
    ("signals", "complaint"),
    [
        ([("r", "x.position + x.velocity")], r"signals.r.formula: '\+' combines m and m/s"),
        ([("r", "x.posn")], "there is no signal 'x.posn'.*'x' has .*x.position"),
        ([("r", "x.position", "s")], "signals.r.unit: is 's', but the formula is in m"),
        ([("a", "b + 1"), ("b", "a + 1")], "algebraic loop"),
        ([("x", "time")], "2 parts have this name"),
        ([("x.velocity", "time")], "there is a signal 'x.velocity' already"),
    ],
)
def test_a_formula_that_does_not_fit_is_refused(signals, complaint):
    with pytest.raises(rd.ModelError, match=complaint):
        rd.assemble(scenario(slide(signals=[rd.FormulaSignal(*fields) for fields in signals])))
