"""Do CasADi, python-control, JAX and PyTorch get the same motion and the same derivatives from a scenario?"""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.machines import cart

import robodyn as rd
from robodyn.analysis import linearise, make_plant_model, run_function
from robodyn.base.errors import ModelError
from robodyn.description.catalog import find_scenario
from robodyn.description.model import Block

TIGHT = rd.Solver("dopri5", rtol=1e-11, atol=1e-13)


def sticking_cart():
    """A sampled PD loop on a cart with dry friction: it sticks at every reversal."""
    reference = Block("reference", "sine_reference", unit="m", parameters={"amplitude": 0.05, "frequency": 1.0})
    control = Block(
        "control", "pd_control", on="rail", inputs={"target": "reference.value"},
        parameters={"proportional": 800.0, "derivative": 60.0}, period=5e-3, delay=2e-3,
    )  # fmt: skip
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "control.command"})
    friction = Block("friction", "stick_friction", on="rail", parameters={"coulomb": 6.0, "static": 8.0})
    return cart(reference, control, drive, friction, duration=1.2)


@pytest.fixture(scope="module")
def pushed():
    push = Block("push", "constant_force", on="rail", parameters={"value": 0.0})
    return cart(push, duration=1.0)


def test_the_rates_integrated_by_another_program_are_the_same_motion():
    scenario = find_scenario("double-pendulum").with_numbers({"duration": 1.0})
    system = rd.assemble(scenario)
    f = system.casadi("rates")
    assert f.name_in() == ["t", "x", "d", "m", "p"]
    start = [info.start for info in system.states]
    fixed = ([info.start for info in system.memory], [number.value for number in system.parameters])

    def rates(t, x):
        return np.array(f(t, x, [], *fixed)).ravel()

    theirs = solve_ivp(rates, (0, 1.0), start, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    ours = rd.simulate(system, TIGHT).final
    np.testing.assert_allclose(theirs[:4], [ours[info.name] for info in system.states[:4]], rtol=1e-8)
    model = linearise(system, "start")
    A = np.array(system.casadi("rates", "x")(0.0, start, [], *fixed))
    places = [[info.name for info in system.states].index(variable.name) for variable in model.states]
    np.testing.assert_allclose(A[np.ix_(places, places)], model.A, atol=1e-9)


def test_samples_outputs_and_guards_are_functions_too():
    system = rd.assemble(sticking_cart())
    start = [info.start for info in system.states]
    m, p = [info.start for info in system.memory], [number.value for number in system.parameters]
    given = (0.25, [0.01, 0.0, *start[2:]], [], m, p)
    y = dict(zip(system.signal_names, np.array(system.casadi("outputs")(*given)).ravel(), strict=True))
    assert y["reference.value"] == pytest.approx(0.05)
    after = np.array(system.casadi("update:control")(*given)).ravel()
    assert 800 * (0.05 - 0.01) in np.round(after, 9)
    assert system.casadi("guards").size1_out(0) == len(system.discrete.guards) > 0
    with pytest.raises(ModelError, match="did you mean 'rates'"):
        system.casadi("rate")
    with pytest.raises(ModelError, match="must be one of t, x, d, m, p"):
        system.casadi("rates", "q")


def test_an_optimal_control_problem_over_the_plant_has_its_closed_form(pushed):
    """Least effort of m x'' = u from rest to rest over 1 m in 1 s by n steps: integral u^2 = 12 m^2 / (1 - 1 / n^2)."""
    plant = make_plant_model(pushed, ["push.value"], ["rail.position"])
    assert [variable.name for variable in plant.states] == ["rail.position", "rail.velocity"]
    n = 10
    u, x, h = ca.MX.sym("u", n), ca.MX(plant.start), 1 / n
    for k in range(n):
        # A double integrator is met by Runge and Kutta's second order exactly.
        middle = x + h / 2 * plant.rates(0, x, u[k])
        x = x + h * plant.rates(0, middle, u[k])
    problem = {"x": u, "f": h * ca.sumsqr(u), "g": x}
    solver = ca.nlpsol("s", "ipopt", problem, {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    found = solver(x0=0, lbg=[1, 0], ubg=[1, 0])
    mass = pushed.numbers()["cart.mass"].value
    assert float(found["f"]) == pytest.approx(12 * mass**2 / (1 - 1 / n**2), rel=1e-6)


def test_python_control_simulates_and_linearises_the_same_plant(pushed):
    control = pytest.importorskip("control")
    plant = make_plant_model(pushed, ["push.value"], ["rail.position"]).to_control()
    time = np.linspace(0, 1, 11)
    answer = control.input_output_response(plant, time, np.ones(11), [0, 0])
    mass = pushed.numbers()["cart.mass"].value
    np.testing.assert_allclose(np.ravel(answer.outputs), time**2 / 2 / mass, atol=1e-4)
    linear = control.linearize(plant, [0, 0], [0])
    np.testing.assert_allclose(linear.A, [[0, 1], [0, 0]], atol=1e-6)
    with pytest.raises(ModelError, match="did you mean 'push.value'"):
        make_plant_model(pushed, ["push.valeu"])


@pytest.fixture(scope="module")
def simulated():
    names, signals = ("control.proportional", "friction.coulomb"), ("rail.position", "rail.velocity")
    return run_function(sticking_cart(), names, signals, np.linspace(0.05, 1.2, 47), TIGHT)


def test_the_jacobian_of_a_run_meets_differences_through_sticking_and_samples(simulated):
    p = simulated.start
    y, jacobian = simulated.with_jacobian(p)
    assert y.shape == (47, 2)
    for k, step in enumerate(1e-5 * np.diag(p)):
        differences = (simulated(p + step) - simulated(p - step)) / (2 * step[k])
        for signal in range(2):
            size = np.abs(jacobian[:, signal, k]).max()
            # Differences of second order, of runs to eleven digits.
            np.testing.assert_allclose(jacobian[:, signal, k], differences[:, signal], atol=1e-6 * size)
    with pytest.raises(ModelError, match="no exact derivative"):
        run_function(sticking_cart(), ["duration"], ["rail.position"], [0.1])
    with pytest.raises(ModelError, match="must increase within 0 to 1.2 s"):
        run_function(sticking_cart(), ["control.proportional"], ["rail.position"], [0.1, 5.0])


def test_pytorch_has_the_gradient_of_a_whole_run(simulated):
    torch = pytest.importorskip("torch")
    p = torch.tensor(simulated.start, requires_grad=True)
    (simulated.to_torch()(p) ** 2).sum().backward()
    y, jacobian = simulated.with_jacobian(simulated.start)
    np.testing.assert_allclose(p.grad.numpy(), np.einsum("tsp,ts->p", jacobian, 2 * y), rtol=1e-12)


def test_jax_has_the_gradient_of_a_whole_run_both_ways(simulated):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    run = simulated.to_jax()
    p = jax.numpy.asarray(simulated.start)
    y, jacobian = simulated.with_jacobian(simulated.start)
    gradient = jax.jit(jax.grad(lambda q: (run(q) ** 2).sum()))(p)
    np.testing.assert_allclose(gradient, np.einsum("tsp,ts->p", jacobian, 2 * y), rtol=1e-12)
    np.testing.assert_allclose(jax.jacfwd(run)(p), jacobian, rtol=1e-12)
