"""Are linear models those of closed forms and of small changes of simulated runs, and are their notes true?"""

import numpy as np
import pytest
from scipy.linalg import expm
from support.machines import cart, signals_only

from robodyn import Solver, assemble, simulate
from robodyn.analysis.linear.linearisation import linearise
from robodyn.base.errors import ModelError
from robodyn.base.symbolic import sqrt, table
from robodyn.description.catalog import double_pendulum, pendulum, two_link_loop
from robodyn.description.model import Block, Delay, Load, Recording

TIGHT = Solver("dopri5", rtol=1e-11, atol=1e-13)
MASS, STIFFNESS, DAMPING = 2.0, 50.0, 3.0
HANGING = {"shoulder.position": 0.0, "elbow.position": 0.0}


def spring_cart(**fields):
    spring = Block("spring", "spring", on="rail", parameters={"stiffness": STIFFNESS, "damping": DAMPING})
    return cart(spring, mass=MASS, **fields)


def late_decay(gain=2.0, time=0.4):
    """x' = u - gain x(t - time)."""
    block = Block(
        "decay",
        lambda x, past, *, gain, push: {"x_dot": push - gain * past},
        inputs={"past": "late.output"},
        states={"x": 1.0},
        parameters={"gain": gain, "push": 0.0},
    )
    return signals_only(block, delays=(Delay("late", "decay.x", time),), duration=1.0)


def test_a_mass_on_a_spring_has_the_textbook_matrices():
    load = Load("push", "nose", (0.0, 0.0, 0.0))
    model = linearise(
        assemble(spring_cart(loads=(load,))),
        inputs=["push.force.x", "spring.rest"],
        outputs=["rail.acceleration", "rail.position"],
    )
    np.testing.assert_allclose(model.A, [[0, 1], [-STIFFNESS / MASS, -DAMPING / MASS]], rtol=1e-14)
    np.testing.assert_allclose(model.B, [[0, 0], [1 / MASS, STIFFNESS / MASS]], rtol=1e-14)
    np.testing.assert_allclose(model.C, [model.A[1], [1, 0]])
    np.testing.assert_allclose(model.D, [model.B[1], [0, 0]])
    assert [(v.name, v.unit) for v in model.inputs] == [("push.force.x", "N"), ("spring.rest", "m")]
    assert [(v.name, v.unit) for v in model.states] == [("rail.position", "m"), ("rail.velocity", "m/s")]
    assert model.notes == ()


def test_the_equilibrium_is_the_operating_point_by_default():
    model = linearise(assemble(spring_cart(gravity=9.81)), outputs=["spring.force"])
    assert model.states[0].value == pytest.approx(MASS * 9.81 / STIFFNESS, rel=1e-9)
    assert model.outputs[0].value == pytest.approx(-MASS * 9.81, rel=1e-9)


def test_changed_parameters_count():
    model = linearise(assemble(spring_cart()), parameters={"spring.stiffness": 8.0})
    assert model.A[1, 0] == pytest.approx(-4.0)


def test_an_inverted_pendulum_falls_with_the_rate_it_swings_when_hanging():
    scenario = pendulum(length=2.0)
    system = assemble(scenario)
    hanging, standing = (linearise(system, {"hinge.position": angle}).A for angle in (0.0, np.pi))
    assert hanging[1, 0] == pytest.approx(scenario.machine.mechanism.gravity[2] / 2.0, rel=1e-12)
    assert standing[1, 0] == pytest.approx(-hanging[1, 0], rel=1e-12)


def test_small_changes_of_the_start_grow_as_the_linear_model_says():
    """Central differences of simulated runs against e^(A T), for every state of a double pendulum."""
    scenario, size, end = double_pendulum(duration=0.7), 1e-3, 0.7
    expected = expm(linearise(assemble(scenario), HANGING).A * end)
    names = ("shoulder.position", "elbow.position", "shoulder.velocity", "elbow.velocity")
    for k, name in enumerate(names):
        ends = []
        for sign in (1, -1):
            start = {f"initial.{other}": 0.0 for other in names} | {f"initial.{name}": sign * size}
            ends.append(simulate(scenario.with_numbers(start), TIGHT).end)
        found = [(ends[0][other] - ends[1][other]) / (2 * size) for other in names]
        # The motion is odd in its start, so cubic: size^2 times a factor of tens.
        np.testing.assert_allclose(found, expected[:, k], atol=1e-4)


def test_small_changes_of_an_input_move_a_delayed_loop_as_the_exact_response_says():
    """A sine of the linear model against a simulated sine, in the steady state of delayed feedback."""
    omega = 3.0
    model = linearise(assemble(late_decay()), {"decay.x": 0.0}, inputs=["decay.push"], outputs=["decay.x"])
    gain = model.frequency_response(omega)[0, 0]
    shake = Block("shake", "sine_reference", parameters={"amplitude": 1.0, "frequency": omega / (2 * np.pi)})
    driven = Block(
        "decay",
        lambda x, past, push: {"x_dot": push - 2.0 * past},
        inputs={"past": "late.output", "push": "shake.value"},
        states={"x": 0.0},
    )
    late = Delay("late", "decay.x", 0.4)
    run = simulate(signals_only(shake, driven, delays=(late,), duration=40.0), TIGHT)
    times = np.linspace(36.0, 40.0, 200)
    # Transients decay with the slowest pole, about -0.9 / s at the worst: e^(-30).
    np.testing.assert_allclose(run["decay.x"](times), np.imag(gain * np.exp(1j * omega * times)), atol=1e-8)


def test_a_delay_is_kept_with_its_name_and_time():
    model = linearise(assemble(late_decay(gain=2.5, time=0.3)), "start", outputs=["late.output"])
    assert model.A == 0.0
    assert model.E == -2.5
    assert model.F == 1.0
    assert model.K == 1.0
    assert [(delay.name, delay.time) for delay in model.delays] == [("late.output", 0.3)]
    assert model.point.d == 1.0


def test_tables_are_differentiated_in_native_code():
    curve = lambda x, *, push: {"x_dot": push - table(x, (-1.0, 0.0, 1.0), (-3.0, 0.0, 1.0))}  # noqa: E731
    system = assemble(signals_only(Block("flow", curve, states={"x": 0.5}, parameters={"push": 0.0})))
    assert pytest.approx(-1.0) == linearise(system, {"flow.x": 0.5}).A
    assert pytest.approx(-3.0) == linearise(system, {"flow.x": -0.5}).A


def test_the_corner_of_a_table_is_told():
    curve = lambda x: {"x_dot": -table(x, (-1.0, 0.0, 1.0), (-3.0, 0.0, 1.0))}  # noqa: E731
    system = assemble(signals_only(Block("flow", curve, states={"x": 0.0})))
    assert any("flow.x = 0" in note for note in linearise(system, "start").notes)
    assert linearise(system, {"flow.x": 0.3}).notes == ("not at rest: flow.x",)


def test_smooth_curves_have_no_kink():
    square = lambda x: {"x_dot": -x * x}  # noqa: E731
    assert linearise(assemble(signals_only(Block("flow", square, states={"x": 0.0}))), "start").notes == ()


def test_a_point_on_the_way_of_a_run_is_taken_from_its_signals():
    system = assemble(double_pendulum(duration=0.5))
    run = simulate(system, TIGHT)
    on_the_way, end = linearise(system, (run, 0.3)), linearise(system, run)
    assert on_the_way.states[0].value == pytest.approx(run["shoulder.position"](0.3))
    assert end.states[0].value == run.end["shoulder.position"]
    assert end.point.t == 0.5
    assert "not at rest" in end.notes[0]


def test_another_models_point_is_taken_with_other_parameters():
    system = assemble(spring_cart(gravity=9.81))
    hanging = linearise(system)
    stiffer = linearise(system, hanging.point, parameters={"spring.stiffness": 4 * STIFFNESS})
    assert stiffer.states == hanging.states
    assert stiffer.A[1, 0] == 4 * hanging.A[1, 0]
    with pytest.raises(ModelError, match="has 3 values of x, the system 4"):
        linearise(assemble(double_pendulum()), hanging.point)


def test_sampled_blocks_are_held_and_told():
    model = linearise(assemble(two_link_loop()), "start")
    assert model.notes[0].startswith("outputs of sampled blocks are held: shoulder.position_loop")


def test_friction_that_sticks_is_left_out_or_holds():
    friction = Block("brake", "stick_friction", on="rail", parameters={"coulomb": 5.0, "viscous": 3.0})
    system = assemble(cart(friction, mass=MASS))
    free = linearise(system, "start")
    assert free.A[1, 1] == pytest.approx(-3.0 / MASS)
    assert free.notes == ("sticking dry friction is left out: brake",)
    held = linearise(system, {"brake.direction": 0.0})
    assert not held.A[1].any()
    assert held.notes == ("friction holds it at rest: brake",)


def test_an_input_without_effect_is_told():
    step = Block("step", "step_reference", parameters={"after": 1.0, "before": 0.0, "at": 0.5})
    pull = Block("pull", "torque_source", on="rail", inputs={"command": "step.value"})
    model = linearise(assemble(cart(step, pull)), "start", inputs=["step.after", "step.before"])
    np.testing.assert_allclose(model.B, [[0, 0], [0, 0.5]])
    assert model.notes == ("without effect at this operating point: step.after",)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"inputs": ["spring.stifness"]}, "did you mean 'spring.stiffness'"),
        ({"inputs": ["cart.mass"]}, "is a constant of the system"),
        ({"outputs": ["rail.positon"]}, "did you mean 'rail.position'"),
        ({"outputs": ["energy.balance"]}, "integrates along the motion"),
        ({"outputs": ["rail.position", "rail.position"]}, "is named twice"),
        ({"at": "rest"}, "must be 'equilibrium'"),
        ({"at": {"rail.positon": 1.0}}, "did you mean 'rail.position'"),
        ({"at": {"rail.position": np.nan}}, "must be a finite number"),
        ({"parameters": {"cart.mass": 3.0}}, "is not tunable"),
        ({"parameters": {"spring.stiffness": -3.0}}, "stiffness"),
    ],
)
def test_what_cannot_be_linearised_is_told(options, complaint):
    with pytest.raises(ModelError, match=complaint):
        linearise(assemble(spring_cart()), **options)


def test_a_derivative_that_is_no_number_is_refused_by_name():
    root = Block("root", lambda x: {"x_dot": -sqrt(x)}, states={"x": 0.0})
    with pytest.raises(ModelError, match=r"rate of root\.x: its derivative by root\.x is -?inf"):
        linearise(assemble(signals_only(root)), "start")


def test_a_run_that_did_not_record_the_states_is_refused():
    scenario = spring_cart()
    run = simulate(scenario, TIGHT, recording=Recording(signals=("energy.*",)))
    with pytest.raises(ModelError, match=r"has not recorded rail\.position"):
        linearise(assemble(scenario), (run, 0.5))
    with pytest.raises(ModelError, match=r"no end value of shoulder\.position"):
        linearise(assemble(double_pendulum()), run)
