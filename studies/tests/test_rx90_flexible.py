"""Does the RX90B with flexible links weigh and sag as it must, and do both of its simulations agree?"""

import numpy as np
import pytest

from robodyn import Machine, Recording, Scenario, Solver, assemble, simulate
from robodyn.computation.perturbation import Perturbed
from robodyn.computation.simulation import compile_system
from robodyn.description.catalog.six_axis import ARM, FLANGE
from robodyn_studies.catalog import rx90_flexible_mechanism, rx90_mechanism, rx90_weld
from robodyn_studies.catalog import rx90_parameters as rx
from robodyn_studies.catalog.rx90_links import resting_modes
from robodyn_studies.rx90_runs import SEEN

STEP = 0.25e-3
# The study's: native code that it has compiled is found again.
RECORDING = Recording(rate=1000.0, signals=SEEN)


def at_start(system, column, changes=()):
    """A column of a system at the scenario's start, some states changed."""
    x = [dict(changes).get(info.name, info.start) for info in system.states]
    memory = [info.start for info in system.memory]
    return np.array(system.function(column)(0.0, x, [], memory, [n.value for n in system.parameters])).squeeze()


def apart(one, other):
    """Largest distance of the tips [m]."""
    names = [f"tool.position.{axis}" for axis in "xyz"]
    return np.max(np.linalg.norm([one[name].values - other[name].values for name in names], axis=0))


@pytest.fixture(scope="module")
def short():
    """The first 0.9 s: at rest, the ramp, a piece at full speed; encoders that don't round."""
    perfect = {f"axis{k}.encoder.resolution": 0.0 for k in rx.AXES}
    return rx90_weld(flexible=True).with_numbers({**perfect, "duration": 0.9})


@pytest.fixture(scope="module")
def runs(short):
    """The non-linear run by steps of 0.25 ms, of half and of a quarter of it."""
    compiled = compile_system(assemble(short), Solver("rosw2", step=STEP), signals=SEEN)
    return [simulate(compiled, Solver("rosw2", step=STEP / n), recording=RECORDING) for n in (1, 2, 4)]


def test_undeformed_the_flexible_arm_has_the_mass_matrix_of_the_rigid_one():
    start = {f"{joint}.position": 0.3 * k - 1.0 for k, joint in enumerate(rx.JOINTS)}
    matrices = []
    for mechanism in (rx90_mechanism(), rx90_flexible_mechanism()):
        system = assemble(Scenario("arm", Machine("arm", mechanism), 1.0, start))
        matrices.append(at_start(system, system.mass_matrix)[:6, :6])
    # The same sums in another order.
    np.testing.assert_allclose(matrices[1], matrices[0], rtol=1e-12, atol=1e-12)


def test_a_stretched_forearm_sags_as_its_tube_bends_and_shears():
    """A cantilever with a force and a moment at its end and its own weight.

    F L^3 / 3 E I + M L^2 / 2 E I + q L^4 / 8 E I + (F L + q L^2 / 2) / G A_s
    """
    angles = dict(zip(rx.JOINTS, (0.0, 0.0, -np.pi / 2, 0.0, 0.0, 0.0), strict=True))
    mechanism = rx90_flexible_mechanism()
    bodies = [mechanism.body(name) for name in ("link5", "link6", "head")]
    # Where they are beyond the wrist, along the stretched arm: y of link 5, z of link 6 and of the head on its flange.
    ways = (bodies[0].com[1], bodies[1].com[2], FLANGE + bodies[2].com[2])
    F = 9.81 * sum(body.mass for body in bodies)
    M = 9.81 * sum(body.mass * way for body, way in zip(bodies, ways, strict=True))
    outer, inner = rx.FOREARM_TUBE[0], rx.FOREARM_TUBE[0] - rx.FOREARM_TUBE[1]
    area, second = np.pi * (outer**2 - inner**2), np.pi / 4 * (outer**4 - inner**4)
    EI, GA = rx.ALUMINIUM["young"] * second, 0.5 * rx.ALUMINIUM["shear"] * area
    q = 9.81 * rx.ALUMINIUM["density"] * area
    sag = (F * ARM / 3 + M / 2 + q * ARM**2 / 8) * ARM**2 / EI + (F + q * ARM / 2) * ARM / GA

    modes, forearm = resting_modes(mechanism, angles), mechanism.body("link4")
    eta = [modes[f"{mode.name}.position"] for mode in forearm.modes]
    # The forearm's x axis points down. Static motions of the tip are kept exactly, whatever loads them.
    assert (eta @ np.array(forearm.node("tip").shift))[0] == pytest.approx(sag, rel=1e-9)


def test_the_robot_begins_bent_and_at_rest():
    """Start values come from statics of their own, the accelerations from the assembled dynamics."""
    system = assemble(rx90_weld(flexible=True))
    moving = slice(system.n_q, 2 * system.n_q)
    bent = at_start(system, system.expressions.rhs)[moving]
    unbent = {info.name: 0.0 for info in system.states if ".mode" in info.name}
    straight = at_start(system, system.expressions.rhs, unbent)[moving]
    # Statics are of first order in deflections of 1e-4 of the arm's length.
    assert np.max(np.abs(bent)) < 1e-3 * np.max(np.abs(straight))


def test_both_simulations_of_flexible_links_agree(short, runs):
    near = Perturbed(short, points=80, solver=Solver("rosw2", step=STEP), signals=SEEN).simulate(recording=RECORDING)
    # Second order in bends and twists of 1e-4 rad at a tip 1 m away, and pieces of 11 ms.
    assert 0 < apart(runs[0], near) < 0.2e-6


def test_steps_of_a_quarter_millisecond_converge_with_flexible_links(runs):
    coarse, fine = apart(runs[0], runs[1]), apart(runs[1], runs[2])
    # A tenth of a micrometre, by a method of order 2.
    assert coarse < 0.2e-6
    assert 3.0 < coarse / fine < 6.0
