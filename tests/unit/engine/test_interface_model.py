"""A reduced interface model is what its formulas say, whatever the sizes, and a unit takes one on as they say.

Terms of the equations are random numbers: no mechanism hides that a column was taken for another.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.kernels import kernel

from robodyn.computation.cosimulation import InterfaceMotion, model_from_mobility
from robodyn.computation.cosimulation.reduced import TAKES, PortTerms, flatten_motion
from robodyn.computation.engine.binding import EngineStructure, functions
from robodyn.description.model import Interface

INTERFACES = {
    1: Interface("port", "model", on="joint"),
    2: Interface("port", "model", point="tip", rows=("x", "z")),
    3: Interface("port", "model", point="tip"),
    6: Interface("port", "model", point="tip", rotates=True),
}
"""By their rows k."""


class Terms:
    """M, c, f, A_i, A_i' v, A_c, A_c' v, which constraints hold, N and motion, of n velocities and k rows.

    Args:
        held: for each constraint whether it holds.
        extra: coordinates more than velocities, as quaternions have.
    """

    def __init__(self, n, k, held=(), extra=0, seed=3):
        draw = np.random.default_rng(seed).normal
        root = draw(size=(n, n))
        self.M, self.c, self.f = root @ root.T + n * np.eye(n), draw(size=n), draw(size=n)
        self.A_i, self.drift_i = draw(size=(k, n)), draw(size=k)
        self.A_c, self.drift_c = draw(size=(len(held), n)), draw(size=len(held))
        self.held = np.array(held, bool)
        self.N = draw(size=(n + extra, n))
        rotation = Rotation.from_rotvec(draw(size=3)).as_matrix() if k == 6 else None
        self.motion = InterfaceMotion(draw(size=min(k, 3)), draw(size=k), rotation)
        self.n, self.k = n, k

    def flat(self):
        matrices = [self.M, self.c, self.f, self.A_i, self.drift_i, self.A_c, self.drift_c, self.held, self.N]
        return np.concatenate([*(np.ravel(part, "F") for part in matrices), flatten_motion(self.motion)])

    def port(self):
        port = PortTerms(INTERFACES[self.k], {}, (len(self.N), self.n, len(self.held)), length=0.3)
        port.arrays["term_values"][:] = self.flat()
        return port

    def mobility_and_acceleration(self):
        """From the equations as they stand: M v' + c = f + A_i^T l + A_c^T l_c with A_c v' + A_c' v = 0, for l = 0."""
        A_c, n, m = self.A_c[self.held], self.n, int(self.held.sum())
        whole = np.block([[self.M, -A_c.T], [A_c, np.zeros((m, m))]])
        right = np.column_stack([np.append(self.f - self.c, -self.drift_c[self.held]), np.zeros((n + m, self.k))])
        right[:n, 1:] = self.A_i.T
        rates = np.linalg.solve(whole, right)[:n]
        return self.A_i @ rates[:, 1:], self.A_i @ rates[:, 0] + self.drift_i

    def nearest_change(self, inertia, wanted):
        """The change of v with A_i dv = wanted, A_c dv = 0 and the least kinetic energy, an inertia attached."""
        G = np.vstack([self.A_i, self.A_c[self.held]])
        W = np.linalg.solve(self.M + self.A_i.T @ inertia @ self.A_i, G.T)
        return W @ np.linalg.solve(G @ W, np.append(wanted, np.zeros(len(G) - self.k)))


SIZES = [(1, 1, ()), (4, 1, (1,)), (5, 2, ()), (5, 3, (0, 1)), (8, 6, (1, 0)), (9, 6, (0, 1, 1))]


@pytest.mark.parametrize(("n", "k", "held"), SIZES)
def test_a_reduced_model_is_the_solution_of_the_whole_equations(n, k, held):
    terms = Terms(n, k, held)
    port = terms.port()
    functions().interface_reduce(port.address)
    mobility, acceleration = terms.mobility_and_acceleration()
    model = port.taken
    # Condition numbers below 1e4 on doubles.
    np.testing.assert_allclose(model.mobility, mobility, atol=1e-11)
    np.testing.assert_allclose(model.inertia, np.linalg.inv(mobility), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.acceleration, acceleration, atol=1e-10)
    np.testing.assert_allclose(model.mobility @ (model.effective_force - model.inertial_force), acceleration, atol=1e-9)
    # Without forces f what accelerates is -c and the drifts: that part is z.
    terms.f = np.zeros(n)
    unforced = terms.mobility_and_acceleration()[1]
    np.testing.assert_allclose(model.mobility @ model.inertial_force, -unforced, atol=1e-9)
    # Rotations are compared with displacements in units of a length.
    scale = np.diag([1.0] * min(k, 3) + [0.3] * (k - min(k, 3)))
    eigenvalues = np.linalg.eigvalsh(scale @ mobility @ scale)
    assert model.condition == pytest.approx(eigenvalues[-1] / eigenvalues[0], rel=1e-9)


def test_without_an_independent_motion_there_is_no_inertia():
    terms = Terms(4, 3)
    terms.A_i[2] = terms.A_i[0] + terms.A_i[1]
    port = terms.port()
    functions().interface_reduce(port.address)
    assert port.condition == np.inf
    assert np.all(np.isnan(port.taken.inertia))
    # What it does without a force is still known.
    np.testing.assert_allclose(port.taken.acceleration, terms.mobility_and_acceleration()[1], atol=1e-11)


@pytest.mark.parametrize("M", [-1.0, 0.0, np.nan])
def test_a_mass_matrix_that_is_none_gives_no_model(M):
    terms = Terms(1, 1)
    terms.M = np.array([[M]])
    port = terms.port()
    functions().interface_reduce(port.address)
    assert port.condition == np.inf
    assert np.isnan(port.taken.mobility[0, 0])


def eigenvalues_known(values, seed=0):
    """A symmetric matrix of given eigenvalues."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))[0]
    return Q @ np.diag(values) @ Q.T


@pytest.mark.parametrize("values", [(2.0, 2.0, 2.0), (1.0, 1e3, 1e6), (1e-3, 1.0, 1.0), (5.0, 1.0, 1e7)])
def test_condition_numbers_are_those_of_given_eigenvalues(values):
    terms = Terms(3, 3)
    terms.M, terms.A_i = np.linalg.inv(eigenvalues_known(values)), np.eye(3)
    terms.M = (terms.M + terms.M.T) / 2
    port = terms.port()
    functions().interface_reduce(port.address)
    # Rounding of two inversions at a condition number of 1e7.
    assert port.condition == pytest.approx(max(values) / min(values), rel=1e-8)


class Receiver:
    """A unit whose states are changed, with a port of its own and the model of the other side.

    Values are [what stands at other places, matrix, course, rotation, clock], places of the port reversed, so that an
    order that happens to be the usual one is not taken for granted.
    """

    def __init__(self, terms, takes_rigidly=True, evaluate=None):
        k, n_q = terms.k, len(terms.N)
        self.terms, self.k, self.n_q = terms, k, n_q
        self.triangle = k * (k + 1) // 2
        n_values = 1 + self.triangle + 3 * k + 9 + 1
        self.values = np.full(n_values, -77.0)
        places = np.arange(1, n_values, dtype=np.int64)[::-1].copy()
        self.matrix, self.course, self.turned, (self.clock,) = np.split(
            places, np.cumsum([self.triangle, 3 * k, 9])
        )  # fmt: skip
        n_far = min(k, 3) + k + 3
        self.x = np.random.default_rng(5).normal(size=n_q + terms.n + n_far)
        self.before = self.x.copy()
        self.states = n_q + terms.n + np.arange(n_far, dtype=np.int64)[::-1].copy()
        run = EngineStructure("Run", x=self.x, t=0.25, d=np.zeros(1), m=np.zeros(1))
        self.unit = EngineStructure(
            "CoupledUnit",
            run=run,
            values=self.values,
            n_values=n_values,
            port_p=np.zeros(n_values),
            clock=int(self.clock),
            span=-1,
        )
        self.port = terms.port()
        self.port.set(
            takes=TAKES[takes_rigidly],
            matrix=self.matrix,
            course=self.course,
            states=self.states,
            terms=kernel(evaluate or self.evaluate),
        )
        if k == 6:
            self.port.set(turned=self.turned)

    def evaluate(self, t, x, d, m, p, out):
        for i, value in enumerate(self.terms.flat()):
            out[i] = value

    def attach(self, sender, wanted, steps=1):
        if wanted is not None:
            self.port.set_goal(wanted)
        functions().unit_attach(self.unit.address, self.port.address, sender.address, 0.25, steps)


def sending_side(k, courses=3, seed=11):
    """A port whose model and polynomials of the acceleration are random."""
    draw = np.random.default_rng(seed).normal
    factor = draw(size=(k, k))
    rotation = Rotation.from_rotvec(draw(size=3)).as_matrix() if k == 6 else None
    motion = InterfaceMotion(draw(size=min(k, 3)), draw(size=k), rotation)
    model = model_from_mobility(factor @ factor.T + np.eye(k), draw(size=k), motion)
    port = PortTerms(INTERFACES[k], {})
    port.put(model, draw(size=(courses - 1, k)))
    return port, model


@pytest.mark.parametrize("courses", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_a_rigid_side_is_told_inertia_and_force(k, courses):
    receiver, (sender, model) = Receiver(Terms(7, k)), sending_side(k, courses)
    receiver.attach(sender, None)
    np.testing.assert_array_equal(receiver.values[receiver.matrix], model.inertia[np.tril_indices(k)])
    force = np.zeros((3, k))
    force[0] = model.effective_force - model.inertial_force
    force[1:courses] = sender.course @ model.inertia.T
    np.testing.assert_allclose(receiver.values[receiver.course].reshape(3, k), force, rtol=1e-13)
    assert receiver.values[receiver.clock] == 0.25
    # Nothing else, and no state.
    assert receiver.values[0] == -77.0
    np.testing.assert_array_equal(receiver.x, receiver.before)
    assert receiver.unit.fields.moved == 0


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_a_side_behind_a_stiffness_is_told_mobility_acceleration_and_where_the_far_side_is(k):
    receiver, (sender, model) = Receiver(Terms(7, k), takes_rigidly=False), sending_side(k)
    receiver.port.set(rotates=int(k == 6))
    receiver.attach(sender, model.motion)
    np.testing.assert_array_equal(receiver.values[receiver.matrix], model.mobility[np.tril_indices(k)])
    courses = receiver.values[receiver.course].reshape(3, k)
    np.testing.assert_array_equal(courses, np.vstack([model.acceleration, sender.course]))
    expected = receiver.before.copy()
    expected[receiver.states[: min(k, 3) + k]] = np.concatenate([model.motion.position, model.motion.velocity])
    if k == 6:
        # Turns count from this exchange on, from where the far side is now.
        expected[receiver.states[9:]] = 0.0
        np.testing.assert_array_equal(receiver.values[receiver.turned], model.motion.rotation.ravel())
    np.testing.assert_array_equal(receiver.x, expected)
    assert receiver.unit.fields.moved == 1


@pytest.mark.parametrize("gives", [0, 1])
@pytest.mark.parametrize(("n", "k", "held"), SIZES)
def test_a_rigid_side_takes_a_motion_on_by_the_change_nearest_in_kinetic_energy(n, k, held, gives):
    terms = Terms(n, k, held, extra=1)
    receiver, (sender, model) = Receiver(terms), sending_side(k)
    receiver.port.set(gives=gives)
    if gives:
        # Its own model was taken before, and its factors are used again.
        functions().unit_reduce(receiver.unit.address, receiver.port.address)
    own, wanted = terms.motion, model.motion
    receiver.attach(sender, wanted)
    between = wanted.position - own.position
    if k == 6:
        turn = (Rotation.from_matrix(wanted.rotation) * Rotation.from_matrix(own.rotation).inv()).as_rotvec()
        between = np.append(between, turn)
    expected = receiver.before.copy()
    n_q = receiver.n_q
    expected[:n_q] += terms.N @ terms.nearest_change(model.inertia, between)
    expected[n_q : n_q + n] += terms.nearest_change(model.inertia, wanted.velocity - own.velocity)
    # Condition numbers of some thousand on doubles.
    np.testing.assert_allclose(receiver.x, expected, rtol=1e-9, atol=1e-10)
    assert receiver.unit.fields.moved == 1


@pytest.mark.parametrize("steps", [1, 2, 3, 9])
def test_an_interface_is_closed_by_newtons_steps(steps):
    """A crank whose interface stands at sin q: each step is (goal - sin q) / cos q, the speed that of the last one."""
    terms = Terms(1, 1)
    terms.N, visited = np.eye(1), []

    def evaluate(t, x, d, m, p, out):
        visited.append(x[0])
        terms.A_i[0, 0] = np.cos(x[0])
        terms.motion = InterfaceMotion(np.array([np.sin(x[0])]), np.array([np.cos(x[0]) * x[1]]))
        for i, value in enumerate(terms.flat()):
            out[i] = value

    receiver, (sender, _) = Receiver(terms, evaluate=evaluate), sending_side(1)
    receiver.x[:2] = 0.2, 0.7
    receiver.attach(sender, InterfaceMotion(np.array([0.6]), np.array([1.5])), steps)
    q, iterates = 0.2, [0.2]
    for _ in range(steps):
        q += (0.6 - np.sin(q)) / np.cos(q)
        iterates.append(q)
    assert receiver.x[0] == pytest.approx(iterates[-1], abs=1e-12)
    np.testing.assert_allclose(visited, iterates[: len(visited)], atol=1e-12)
    # The fourth step closes a gap of 0.4 to less than 1e-12: that is seen, and nothing done after it.
    assert len(visited) == min(steps, 5)
    assert receiver.x[1] == pytest.approx(0.7 + (1.5 - np.cos(visited[-1]) * 0.7) / np.cos(visited[-1]), rel=1e-12)


def test_quaternions_have_their_length_again_after_a_move():
    terms = Terms(5, 3, extra=2)
    receiver, (sender, model) = Receiver(terms), sending_side(3)
    spheres = np.array([[0, 4], [5, 7]], np.int64)
    receiver.unit.set(spheres=spheres, n_spheres=2)
    receiver.attach(sender, model.motion)
    moved = receiver.before[:7] + terms.N @ terms.nearest_change(
        model.inertia, model.motion.position - terms.motion.position
    )
    for first, end in spheres:
        moved[first:end] /= np.linalg.norm(moved[first:end])
    np.testing.assert_allclose(receiver.x[:7], moved, rtol=1e-9)


@pytest.mark.parametrize("rank", [1, 3, 5])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_inverse_on_what_is_independent_is_that_of_singular_values(rank, sign):
    values = np.zeros(5)
    values[:rank] = sign * np.array([3.0, 1.0, 0.3, 0.1, 0.02])[:rank]
    S = eigenvalues_known(values, rank)
    S = (S + S.T) / 2
    inverse, work = np.zeros((5, 5)), np.zeros(55)
    functions().invert_symmetric(S.ctypes.data, 5, inverse.ctypes.data, work.ctypes.data)
    np.testing.assert_allclose(inverse, np.linalg.pinv(S, rcond=1e-10), atol=1e-11 / 0.02)
