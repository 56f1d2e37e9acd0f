"""Random mixed complementarity problems, and a referee that knows nothing of pivoting."""

import ctypes
from dataclasses import dataclass, fields
from itertools import product

import numpy as np

from robodyn.computation.engine.binding import load_library

NO_BOUND = 1e300
COMPLIANCE, SLACK = 1e-7, 1e-9
KINDS = ("independent", "dependent", "impact", "rebound", "sliding")


@dataclass
class Problem:
    """Vectors in the order of the engine, then rows K (k, n) and columns W (n, k)."""

    b: np.ndarray
    compliance: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    below: np.ndarray
    above: np.ndarray
    coefficient: np.ndarray
    partner: np.ndarray
    allowed: np.ndarray
    tolerance: np.ndarray
    initial: np.ndarray
    K: np.ndarray
    W: np.ndarray

    def solve(self) -> tuple[int, np.ndarray]:
        """How many rows the engine finds no mode for, and the modes."""
        k, n = self.K.shape
        vectors = [getattr(self, one.name) for one in fields(self)[:-2]]
        data = np.concatenate([*vectors, self.K.ravel(), self.W.T.ravel()]).astype(float)
        work, modes = np.zeros(2 * k * k + 12 * k), np.zeros(k)
        function = load_library().solve_complementarity
        function.restype, function.argtypes = ctypes.c_int64, [ctypes.c_int64] * 2 + [ctypes.c_void_p] * 3
        return function(k, n, data.ctypes.data, work.ctypes.data, modes.ctypes.data), modes

    @property
    def scale(self) -> float:
        return 1 + float(np.max(np.abs(self.b)))

    def forces(self, modes: np.ndarray) -> np.ndarray:
        """Forces of given modes: dense linear algebra, dependent rows regularised and refined."""
        A, idle = self.K @ self.W, self.idle(modes)
        held = [i for i in range(len(A)) if modes[i] == 0 and not idle[i]]
        # f = E lam + given: what slides beside a force that holds is a part of it.
        E, given = np.eye(len(A))[:, held], np.zeros(len(A))
        for i in range(len(A)):
            if idle[i] or modes[i] == 0:
                continue
            if self.partner[i] >= 0:
                E[i, held.index(int(self.partner[i]))] = -modes[i] * self.coefficient[i]
            else:
                given[i] = self.below[i] if modes[i] > 0 else self.above[i]
        S, lam = A[held] @ E, np.zeros(len(held))
        # A wedge takes many corrections: what presses on both its sides moves it little.
        before = np.inf
        for _ in range(400 if held else 0):
            left = -(self.b + A @ given)[held] - S @ lam
            if not 1e-3 * SLACK < np.max(np.abs(left)) < 0.99 * before:
                break
            before = np.max(np.abs(left))
            lam += np.linalg.solve(S + np.diag(self.compliance[held]), left)
        return E @ lam + given

    def idle(self, modes: np.ndarray) -> np.ndarray:
        """Friction whose contact does not push."""
        return np.array([p >= 0 and modes[int(p)] != 0 for p in self.partner])

    def contradiction(self, modes: np.ndarray) -> float:
        """The largest motion by which given modes contradict themselves, beside the largest motion."""
        if np.any((modes == -1) & (self.upper >= NO_BOUND)):
            return np.inf  # What only pushes does not move on into what it touches.
        try:
            f = self.forces(modes)
        except np.linalg.LinAlgError:
            return np.inf
        A = self.K @ self.W
        w, idle, worst = self.b + A @ f, self.idle(modes), 0.0
        own = np.abs(np.diag(A) + self.compliance)
        for i in np.flatnonzero(~idle):
            if modes[i] == 0:
                p = int(self.partner[i])
                limits = (-self.coefficient[i] * f[p], self.coefficient[i] * f[p]) if p >= 0 else self._limits(i)
                worst = max(worst, abs(w[i]), (limits[0] - f[i]) * own[i], (f[i] - limits[1]) * own[i])
            elif self.allowed[i]:
                worst = max(worst, -modes[i] * w[i])
        return worst / self.scale

    def _limits(self, i: int) -> tuple[float, float]:
        """Those of a contact without the slack that counts as no force."""
        return (0.0 if self.upper[i] >= NO_BOUND else self.lower[i]), self.upper[i]

    def is_solvable(self) -> bool:
        """Whether any modes do not contradict themselves, by trying all of them."""
        choices = [(0, 1) if upper >= NO_BOUND else (0, 1, -1) for upper in self.upper]
        tried = (np.array(modes, float) for modes in product(*choices))
        # The mode of friction that is idle makes no difference.
        return any(self.contradiction(modes) < 1e-7 for modes in tried if not modes[self.idle(modes)].any())


def make_problem(generator: np.random.Generator, kind: str, sticks: int, contacts: int, joints: int) -> Problem:
    """Friction that sticks and contacts on a random mechanism.

    Args:
        kind: see KINDS. Dependent rows repeat or combine others or are near a dead centre. At an impact all contacts
            have friction that may stick; where they rebound, too, contacts that are opposed to each other may leave no
            solution. Sliding contacts have friction in a given direction, which may do so as well (Painleve).
    """
    root = generator.normal(size=(joints, joints))
    solve = root @ root.T + 0.05 * np.eye(joints)
    frictional = contacts if kind in ("impact", "rebound") else 0
    K = generator.normal(size=(sticks + contacts + frictional, joints))
    if kind == "dependent" or generator.random() < 0.3:
        _make_dependent(generator, K, sticks)
    D = K.copy()
    if kind == "sliding":
        D[sticks:] += (
            generator.choice([-1, 1], (contacts, 1))
            * generator.uniform(0, 1.5, (contacts, 1))
            * (generator.normal(size=(contacts, joints)))
        )
    W = solve @ D.T
    b = K @ generator.normal(size=joints) * generator.choice([0.1, 1.0, 10.0])
    if kind == "rebound":
        b[sticks : sticks + contacts] *= 1.5
    own = np.abs(np.sum(K * W.T, axis=1))
    compliance = _weigh(own, sticks, contacts)
    slack = SLACK * max(1.0, float(np.max(np.abs(b))))
    sliding = generator.uniform(0.1, 3.0, (sticks, 2)) * generator.choice([0.01, 1.0, 10.0])
    if sticks and generator.random() < 0.2:
        sliding[generator.integers(sticks), generator.integers(2)] = 0.0
    holding = sliding * generator.choice([1.0, 1.4])
    zero, normals = np.zeros(frictional), slice(sticks, sticks + contacts)
    return Problem(
        b=b,
        compliance=compliance,
        lower=np.concatenate([-holding[:, 0], slack / (own + compliance)[normals], zero]),
        upper=np.concatenate([holding[:, 1], np.full(contacts, NO_BOUND), zero]),
        below=np.concatenate([-sliding[:, 0], np.zeros(contacts), zero]),
        above=np.concatenate([sliding[:, 1], np.zeros(contacts), zero]),
        coefficient=np.concatenate([np.zeros(sticks + contacts), generator.uniform(0.0, 2.0, frictional)]),
        partner=np.concatenate([-np.ones(sticks + contacts), sticks + np.arange(frictional)]),
        allowed=np.ones(len(K)),
        tolerance=np.concatenate([np.maximum(SLACK * holding.sum(1) * own[:sticks], slack), np.full(len(K), slack)])[
            : len(K)
        ],
        initial=np.concatenate([np.zeros(sticks), np.where(b[normals] < -slack, 0.0, 1.0), zero]),
        K=K,
        W=W,
    )


def _make_dependent(generator: np.random.Generator, K: np.ndarray, sticks: int) -> None:
    for i in range(len(K)):
        chance = generator.random()
        if chance < 0.25:
            K[i] = K[generator.integers(len(K))] * generator.choice([1.0, -1.0, 2.0])
        elif chance < 0.4:
            K[i] = generator.normal(size=len(K)) @ K
    for i in range(sticks):
        K[i] *= 10.0 ** generator.uniform(-4, -1) if generator.random() < 0.2 else 1.0


def _weigh(own: np.ndarray, sticks: int, contacts: int) -> np.ndarray:
    """Compliance: of friction that sticks a part of its own mobility, of contacts and their friction of the mean."""
    groups = np.split(own, [sticks, sticks + contacts])
    means = [np.full(len(group), np.mean(group)) for group in groups[1:] if len(group)]
    return COMPLIANCE * np.concatenate([groups[0], *means])
