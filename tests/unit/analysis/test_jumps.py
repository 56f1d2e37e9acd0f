"""Are blocks that jump found and named, and do slopes through them say what changes of parameters do?"""

import dataclasses

import numpy as np
import pytest
from support.machines import cart

from robodyn import Solver
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.jumps import Jump, find_block_jumps
from robodyn.analysis.linear.linearisation import linearise
from robodyn.analysis.linear.sampling import linearise_sampled
from robodyn.analysis.sensitivity.ranking import rank_parameters
from robodyn.analysis.sensitivity.system import sensitivity_name
from robodyn.analysis.sensitivity.variation import prepare_variation
from robodyn.base import symbolic as sym
from robodyn.computation.assembly import assemble
from robodyn.computation.simulation import simulate
from robodyn.description.model import Block, Recording

SOLVER = Solver("dopri5", rtol=1e-8, atol=1e-10)


def servo(measure, *, period=None, gain=400.0, wanted=0.1, **parameters):
    """A cart led to a place by a spring and a damper in software, which see the place through a sensor."""

    def control(place, velocity, *, gain, wanted):
        return {"force": gain * (wanted - place) - 20.0 * velocity}

    read = {"value": "rail.position"} if measure == "quantised" else {"u": "rail.position"}
    sensor = Block("sensor", measure, inputs=read, parameters=parameters, period=period)
    output = "sensor.measured"
    inputs = {"place": output, "velocity": "rail.velocity"}
    loop = Block("control", control, on="rail", inputs=inputs, parameters={"gain": gain, "wanted": wanted})
    drag = Block("drag", "viscous_friction", on="rail", parameters={"viscous": 3.0})
    return cart(sensor, loop, drag, duration=1.0, solver=SOLVER, tunable=("cart.mass",))


def rounded(u, *, step):
    return {"measured": step * sym.ceil(u / step - 0.5)}


def turned(u):
    """An angle in -pi .. pi: it climbs all the way and falls back once a turn."""
    return {"measured": u - 2 * np.pi * sym.floor(u / (2 * np.pi) + 0.5)}


def saturated(u, *, most):
    return {"measured": sym.clip(u, -most, most)}


def switched(u, *, most):
    return {"measured": most * sym.sign(u)}


def rooted(u):
    """Written with sign() and where(), without a jump."""
    return {"measured": sym.sign(u) * sym.sqrt(sym.absolute(u)) + sym.where(u > 0.3, u - 0.3, 0.0)}


def looked_up(u):
    """A table, which only bends, behind a quantiser."""
    return {"measured": sym.table(sym.floor(u / 1e-3) * 1e-3, np.array([-1.0, 0.0, 1.0]), np.array([-2.0, 0.0, 1.0]))}


def looked_up_and_switched(u):
    rise = sym.table(u, np.array([-1.0, 0.0, 1.0]), np.array([-2.0, 0.0, 1.0]))
    return {"measured": sym.where(u > 0.2, rise + 1.0, rise)}


@pytest.mark.parametrize(
    ("law", "parameters", "found"),
    [
        ("quantised", {"resolution": 1e-3}, [Jump("sensor", ("floor",), True)]),
        ("quantised", {"resolution": 0.0}, []),
        (rounded, {"step": 1e-3}, [Jump("sensor", ("ceil",), True)]),
        (turned, {}, [Jump("sensor", ("floor",), False)]),
        (saturated, {"most": 5.0}, []),
        (looked_up, {}, [Jump("sensor", ("floor",), True)]),
        (looked_up_and_switched, {}, [Jump("sensor", ("where",), False)]),
        (rooted, {}, []),
        (switched, {"most": 5.0}, [Jump("sensor", ("sign",), False)]),
    ],
)
def test_what_jumps_is_found_with_its_block_and_what_only_bends_is_not(law, parameters, found):
    assert list(find_block_jumps(servo(law, **parameters))) == found


@pytest.mark.parametrize("period", [None, 0.01], ids=["continuous", "sampled"])
@pytest.mark.parametrize(("law", "key"), [("quantised", "resolution"), (rounded, "step")])
def test_slopes_through_a_quantiser_are_those_of_its_mean(law, key, period):
    fine, signals = servo(law, period=period, **{key: 1e-4}), ("rail.position", "rail.velocity")
    names = ("cart.mass", "control.gain", "initial.rail.velocity")
    variation = prepare_variation(fine, names, signals)
    assert variation.exact
    function = "floor" if law == "quantised" else "ceil"
    assert variation.notes == (f"{function}() in 'sensor': taken with the mean slope over its steps",)
    ideal = prepare_variation(servo(lambda u: {"measured": u}, period=period), names, signals)
    kept = Recording(times=tuple(np.linspace(0.0, 1.0, 101)))
    stepped, smooth = variation.run({}, kept), ideal.run({}, kept)
    for signal in signals:
        for name in names:
            slopes = smooth[sensitivity_name(signal, name)].values
            # The motions differ by the steps, 1e-4 of 0.1.
            np.testing.assert_allclose(
                stepped[sensitivity_name(signal, name)].values, slopes, atol=2e-2 * np.abs(slopes).max()
            )


def test_a_fit_through_a_quantiser_finds_the_numbers_and_says_how():
    true = servo("quantised", period=0.005, resolution=2e-4)
    data = simulate(true, recording=Recording(times=tuple(np.linspace(0.0, 1.0, 201)), signals=("rail.position",)))
    data = dataclasses.replace(data, values=data.values + 1e-5 * np.random.default_rng(0).standard_normal((201, 1)))
    fit = fit_parameters(
        true.with_numbers({"drag.viscous": 8.0, "cart.mass": 3.0}), data, ("drag.viscous", "cart.mass")
    )
    truth = true.numbers()
    # The steps are 0.2 % of the way; without a slope through them the cart would not be led at all.
    assert fit.values["cart.mass"] == pytest.approx(truth["cart.mass"].value, rel=5e-3)
    assert fit.values["drag.viscous"] == pytest.approx(3.0, rel=2e-2)
    assert fit.jacobian == "exact; floor() in 'sensor': taken with the mean slope over its steps"


def test_slopes_of_what_leaps_are_left_for_finite_changes():
    chattering = servo(switched, period=0.01, most=0.2, gain=50.0)
    table = rank_parameters(chattering, {"end": lambda run: run["rail.position"].final}, ["control.wanted"])
    assert "sign() in 'sensor': may jump" in table.reason
    assert table.rows[0].slope is None
    assert table.rows[0].finite_per_percent is not None


def limited(limit):
    """A cart led by a PID whose integral stops where its output is limited."""
    goal = Block("goal", "constant_reference", parameters={"constant": 0.5})
    inputs = {"target": "goal.value", "position": "rail.position", "velocity": "rail.velocity"}
    gains = {"proportional": 80.0, "integral": 150.0, "derivative": 12.0, "limit": limit}
    pid = Block("pid", "pid_control", inputs=inputs, parameters=gains)
    push = Block("push", lambda u: {"force": u}, on="rail", inputs={"u": "pid.command"})
    return cart(goal, pid, push, duration=2.0, solver=SOLVER, tunable=("cart.mass",))


def test_an_integral_that_stops_at_a_limit_is_fitted_by_finite_changes():
    """Where the integral goes on again moves with the mass: the rate jumps there, and exact slopes miss 70 %."""
    true = limited(5.0)
    data = simulate(true, recording=Recording(times=tuple(np.linspace(0.0, 2.0, 101)), signals=("rail.position",)))
    fit = fit_parameters(true.with_numbers({"cart.mass": 2.5}), data, ["cart.mass"])
    assert fit.values["cart.mass"] == pytest.approx(2.0, rel=1e-4)
    assert fit.jacobian.startswith(
        "central differences: where() in 'pid': may jump, which slopes do not see, and finite"
    )
    assert fit_parameters(limited(1e3), data, ["cart.mass"]).jacobian.startswith("exact; where() in 'pid': may jump")


def test_a_jump_that_is_not_met_leaves_slopes_exact_and_is_told():
    away = servo(lambda u, *, edge: {"measured": u + sym.where(u > edge, 1.0, 0.0)}, edge=50.0)
    variation = prepare_variation(away, ["control.gain"], ["rail.position"])
    assert variation.exact
    (note,) = variation.notes
    assert note.startswith("where() in 'sensor': may jump, which slopes do not see; here finite changes agree")


def test_an_angle_that_is_turned_back_keeps_its_slope():
    names, signals = ["control.gain"], ["rail.position"]
    kept = Recording(times=tuple(np.linspace(0.0, 1.0, 21)))
    found, plain = (
        prepare_variation(servo(law), names, signals).run({}, kept) for law in (turned, lambda u: {"measured": u})
    )
    name = sensitivity_name("rail.position", "control.gain")
    np.testing.assert_allclose(found[name].values, plain[name].values, rtol=1e-6, atol=1e-12)


def test_beside_an_angle_that_is_turned_back_a_quantiser_is_left_for_finite_changes():
    both = servo("quantised", period=0.01, resolution=1e-3)
    machine = both.machine
    extra = Block("turned", turned, inputs={"u": "rail.position"})
    both = dataclasses.replace(both, machine=dataclasses.replace(machine, blocks=(*machine.blocks, extra)))
    variation = prepare_variation(both, ["control.gain"], ["rail.position"])
    assert not variation.exact
    assert "floor() in 'sensor', 'turned': may jump" in variation.reason


def test_linear_models_take_staircases_with_their_mean_slope_and_say_so():
    point = {"rail.position": 0.0371, "rail.velocity": 0.0}
    model = linearise(assemble(servo("quantised", resolution=1e-3)), point)
    ideal = linearise(assemble(servo("quantised", resolution=0.0)), point)
    np.testing.assert_allclose(model.A, ideal.A, rtol=1e-12, atol=1e-12)
    assert "floor() in 'sensor': taken with the mean slope over its steps" in model.notes
    sampled = linearise_sampled(servo(rounded, period=0.01, step=1e-3), point)
    plain = linearise_sampled(servo(lambda u: {"measured": u}, period=0.01), point)
    np.testing.assert_allclose(sorted(abs(sampled.poles())), sorted(abs(plain.poles())), rtol=1e-9)
    assert "ceil() in 'sensor': taken with the mean slope over its steps" in sampled.notes
