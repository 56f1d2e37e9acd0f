"""Do flexible bodies on joints move as closed forms, published tables and another program say?"""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import eigh

from robodyn import Solver
from robodyn.base import symbolic as sym
from robodyn.computation.assembly import assemble
from robodyn.computation.simulation import find_equilibrium, simulate
from robodyn.description.model import Body, ConstraintFunction, Joint, Load, Machine, Mechanism, Point, Scenario
from robodyn.description.structures import Reduction, Section, beam

SECTION = Section(7.0e10, 2.7e10, 2700.0, 1.0e-3, 1.0e-9, 1.0e-9, 1.7e-9)
LENGTH = 2.0
TIME = np.sqrt(2.7 * LENGTH**4 / 70.0)
"""Unit of time in which the frequencies of any slender beam are the same numbers [s]."""


def mechanism(body, kind="revolute", points=(), gravity=(0.0, 0.0, 0.0)):
    return Mechanism("beam", (body,), (Joint("hub", kind, "ground", body.name),), points, gravity)


def accelerations_by_position(scenario, names):
    """d a / d q of the named coordinates at the start."""
    system = assemble(scenario)
    start = [state.start for state in system.states]
    jacobian = system.function(ca.jacobian(system.expressions.rhs, system.symbols.x))
    J = np.array(jacobian(0, start, [], [], [number.value for number in system.parameters]))
    order = {state.name: k for k, state in enumerate(system.states)}
    rows, columns = ([order[f"{name}.{what}"] for name in names] for what in ("velocity", "position"))
    return J[np.ix_(rows, columns)]


def lowest(scenario, names):
    return np.sqrt(np.min(np.linalg.eigvals(-accelerations_by_position(scenario, names)).real)) * TIME


def test_free_beam_has_free_free_frequencies(proof):
    body = beam("arm", LENGTH, SECTION, Reduction(modes=4, directions=("y", "rz")))
    carts = (Joint("up", "prismatic", "ground", "cart", axis=(0, 1, 0)), Joint("turn", "revolute", "cart", "arm"))
    machine = Machine("m", Mechanism("m", (Body("cart"), body), carts, gravity=(0, 0, 0)))
    system = assemble(Scenario("free", machine, 1.0))
    x = np.zeros(len(system.states))
    M = np.array(system.function(system.mass_matrix)(0, x, [], [], []))
    K = -np.array(ca.evalf(ca.densify(ca.jacobian(system.expressions.applied, system.q))))

    found = np.sqrt(np.maximum(eigh(K, M, eigvals_only=True), 0.0)) * TIME

    # Two rigid motions, then (4.730, 7.853)^2; clamped modes stand in for free ones.
    np.testing.assert_allclose(found[:2], 0.0, atol=1e-4)
    what, source = "first bending frequency of a free beam (4.730^2)", "Euler-Bernoulli"
    proof(what, kind="closed form", source=source, ours=found[2], reference=22.3733, within=1e-3, relative=True)
    assert found[3] == pytest.approx(61.6728, rel=1e-2)


def test_beam_sags_under_its_own_weight_by_the_closed_form(proof):
    body = beam("arm", LENGTH, SECTION, Reduction(modes=4, directions=("y", "rz")))
    system = assemble(Scenario("sag", Machine("m", mechanism(body, "fixed", gravity=(0, -9.81, 0))), 1.0))

    eta = find_equilibrium(system).x[: system.n_q]

    # w L^4 / 8 E I; fixed-interface modes carry what the tip's motion does not.
    sag = np.array(body.node("tip").shift)[:, 1] @ eta
    exact = -2.7 * 9.81 * LENGTH**4 / (8 * 70.0)
    what = "sag of a clamped beam under its weight"
    proof(what, kind="closed form", source="w L^4 / 8 E I", ours=sag, reference=exact, within=1e-4, relative=True)


# Wright, Smith, Thresher and Wang (1982): flap frequencies of a rotating uniform beam, by its speed in the same unit.
ROTATING = {0.0: 3.5160, 2.0: 4.1373, 6.0: 7.3604, 10.0: 11.2023}


@pytest.mark.parametrize("speed", ROTATING)
def test_rotating_beam_is_stiffened_as_published(speed, proof):
    body = beam("arm", LENGTH, SECTION, Reduction(modes=3, directions=("z", "ry"), stiffening=True), elements=12)
    scenario = Scenario("turn", Machine("m", mechanism(body)), 1.0, {"hub.velocity": speed / TIME})

    found = lowest(scenario, [mode.name for mode in body.modes])

    what, source = "flap frequency of a rotating beam, four speeds", "Wright, Smith, Thresher, Wang (1982)"
    proof(what, kind="published", source=source, ours=found, reference=ROTATING[speed], within=1e-3, relative=True)


def test_beam_under_its_buckling_load_loses_its_stiffness():
    body = beam("arm", LENGTH, SECTION, Reduction(modes=3, directions=("z", "ry"), stiffening=True), elements=12)
    tip = Point("tip", "arm", (LENGTH, 0, 0))
    names = [mode.name for mode in body.modes]

    def stiffness(part):
        load = Load("push", "tip", (-part * np.pi**2 * 70.0 / (4 * LENGTH**2), 0, 0))
        machine = Machine("m", mechanism(body, "fixed", (tip,)), loads=(load,))
        return np.linalg.det(-accelerations_by_position(Scenario("push", machine, 1.0), names))

    # Euler's load of a column clamped at one end: the determinant changes its sign there.
    assert stiffness(0.999) > 0 > stiffness(1.001)


def spin(hub, time):
    rising = 6.0 / 15.0 * (time * time / 2 + (15.0 / (2 * np.pi)) ** 2 * (sym.cos(2 * np.pi * time / 15.0) - 1))
    return hub - sym.where(time < 15.0, rising, 6.0 * (time - 7.5))


def test_beam_that_is_spun_up_bends_back_and_straightens_again(proof):
    """The manoeuvre of Kane, Ryan and Banerjee (1987), with a beam of this project's choice.

    Numbers by `python -m benchmarks.flexible_arm 16 5e-5`: another formulation without floating frame or modes.
    """
    section = Section(6.8952e10, 2.6e10, 2766.67, 7.2968e-5, 8.2181e-9, 8.2181e-9, 1.6e-8)
    body = beam("arm", 8.0, section, Reduction(modes=2, directions=("y", "rz"), stiffening=True), elements=16)
    hub = ConstraintFunction("drive", of=("hub",), function=spin, count=1)
    machine = Machine("m", mechanism(body, points=(Point("tip", "arm", (8, 0, 0)),)), constraints=(hub,))
    solver = Solver("dopri5", rtol=1e-6, atol=1e-8)
    run = simulate(Scenario("spin", machine, 20.0, solver=solver))

    def bent(time):
        x, y, psi = (run[name](time) for name in ("tip.position.x", "tip.position.y", "hub.position"))
        return y * np.cos(psi) - x * np.sin(psi)

    # Deflections of a tenth of the length are at the edge of a second-order theory: a quarter of a percent of it.
    published = {4.0: -0.47510, 6.0: -0.72700, 8.0: -0.67853, 10.0: -0.43735}
    what, source = "tip of a beam of 8 m that is spun up (Kane, Ryan, Banerjee)", "Exudyn, absolute nodal coordinates"
    ours, theirs = [bent(time) for time in published], list(published.values())
    proof(what, kind="program", source=source, ours=ours, reference=theirs, within=0.02 * 0.25, unit="m")
    assert np.min(bent(np.linspace(0, 20, 2001))) == pytest.approx(-0.75062, abs=0.002)
    # Then it swings about its straight position, by Exudyn's 7.6 mm.
    assert np.max(np.abs(bent(np.linspace(15, 20, 501)))) == pytest.approx(0.0076, abs=0.001)


# By `python -m benchmarks.flexible_arm 16 5e-5`, elements a link and step: elbow x, y, tip x, y [m].
FALLING = {
    0.25: (0.9334626, -0.3586692, 1.9314680, -0.2955509),
    0.5: (0.4781850, -0.8782441, 1.3741450, -1.3223714),
    0.75: (0.0785314, -0.9969100, -0.3853289, -1.8828080),
    1.0: (-0.8820406, -0.4711753, -1.5178750, -1.2429975),
}


def falling_arm(stiffening):
    section = Section.rectangle(0.006, 0.040, 7.0e10, 2.7e10, 2700.0)
    how = Reduction(modes=2, directions=("y", "rz"), stiffening=stiffening)
    bodies = (beam("upper", 1.0, section, how), beam("lower", 1.0, section, how), Body("payload", 0.2))
    joints = (
        Joint("shoulder", "revolute", "ground", "upper"),
        Joint("elbow", "revolute", "upper", "lower", (1, 0, 0)),
        Joint("grip", "fixed", "lower", "payload", (1, 0, 0)),
    )
    points = (Point("middle", "upper", (1, 0, 0)), Point("tip", "lower", (1, 0, 0)))
    arm = Mechanism("arm", bodies, joints, points, (0, -9.81, 0))
    return Scenario("arm", Machine("arm", arm), 1.0, solver=Solver("dopri5", rtol=1e-7, atol=1e-9))


def test_falling_two_link_arm_moves_as_in_another_program_and_keeps_its_energy(proof):
    run = simulate(falling_arm(stiffening=True))

    names = [f"{point}.position.{axis}" for point in ("middle", "tip") for axis in "xy"]
    found = [[float(run[name](time)) for name in names] for time in FALLING]

    # Links of 1 m that bend by a centimetre: two modes and second order are good for some hundredths of a millimetre.
    what, source = "elbow and tip of a falling flexible two-link arm", "Exudyn, 16 elements a link, steps of 50 us"
    theirs = list(FALLING.values())
    proof(what, kind="program", source=source, ours=found, reference=theirs, within=3e-5, unit="m")
    # Joules kept, of 12 J that fall; the solver's tolerance.
    np.testing.assert_allclose(run["energy.balance"].values, 0.0, atol=1e-5)


def test_without_foreshortening_the_falling_arm_is_off_by_a_fraction_of_a_millimetre():
    run = simulate(falling_arm(stiffening=False))
    off = abs(float(run["tip.position.x"](1.0)) - FALLING[1.0][2])

    assert 1e-4 < off < 1e-3
