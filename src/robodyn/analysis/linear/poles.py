"""Poles and zeros: which motions has a linear model, which cancel or are hidden, and what is left?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag, eig, matrix_balance, qr, schur, solve_sylvester
from scipy.optimize import linear_sum_assignment

from robodyn.base import Array, frozen, refuse

from .linear_model import LinearModel, Variable

# --------------------------------------------------------------------------------------------------
# Poles: where are those of a linear model with delays, exactly, and which states take part in them?
#
# A delay makes the characteristic equation transcendental,
#
#     det P(s) = 0,  P(s) = [[s I - A, -E], [-F, e^(s tau) - H]],
#
# with infinitely many roots. Pade approximations of the delays find the slow ones roughly; Newton's method on
# P(s) z = 0, here as nonlinear inverse iteration (Ruhe 1973), makes each of them exact:
#
#     P(s) u = P'(s) z,  s <- s - (c^T z) / (c^T u),  z <- u / |u|.


PADE_ORDER = 8
# A Pade pole that Newton's method moves by more than this share of its magnitude does not stand for the root it finds.
# One on the way farther than that has left for another root.
NEAR, FAR = 0.02, 0.2
MOST_STEPS = 30
HIGHEST_ORDER = 60
# Of the fastest pole: what is slower is zero but for rounding, and its vectors are any of a whole space.
AT_ZERO = 1e-8
# Part of the terms of an entry of `A z - s z` that may be left, and of the largest entry of z that is only rounding.
POLISHED, NOTHING = 1e-6, 1e-10


@frozen(eq=False)
class Root:
    """A pole s with P(s) right = 0 and left^T P(s) = 0, over the states and then the delayed signals.

    Attributes:
        shares: part of each state and delay in the pole, `left_k P'_kk right_k`, their sum being 1 (complex).
    """

    pole: complex
    right: Array
    left: Array
    shares: Array


def find_poles(model: LinearModel, order: int = PADE_ORDER) -> tuple[Root, ...]:
    """All poles of a model without delays; of one with delays those that Pade of this order resolves.

    The order is raised where the model's own oscillations turn far within a delay: Pade of order n is good for a phase
    of about n rad.

    Raises:
        ModelError: for an order below 1 where there are delays.
    """
    pencil = Pencil(model)
    if model.delays:
        finite = _approximate(model, order)
        values, left, right = eig(finite.A, left=True, right=True)
        poles, places, vectors = pencil.refine(values, (finite.C @ right).T)
        others = pencil.left_vectors(poles, (left.conj().T @ finite.B)[places])
    else:
        poles, left, right = eig(model.A, left=True, right=True)
        vectors, others = right.T, left.conj().T
        for k in np.flatnonzero(np.abs(poles) > AT_ZERO * np.max(np.abs(poles), initial=0.0)):
            vectors[k] = _polish(model.A, poles[k], vectors[k])
            others[k] = _polish(model.A.T, poles[k], others[k])
    roots = map(pencil.root, poles, vectors, others)
    return tuple(sorted(roots, key=lambda root: (abs(root.pole), -root.pole.imag)))


def find_pole_values(model: LinearModel, order: int = PADE_ORDER) -> Array:
    """The poles of `find_poles` alone [rad/s], without their vectors."""
    if not model.delays:
        return sort_roots(np.linalg.eigvals(model.A).astype(complex))
    return sort_roots(_refine_upper(Pencil(model), *_upper_pade(model, order)))


def count_growing_poles(model: LinearModel, tolerance: float) -> int:
    """How many poles grow by more than this part of the fastest one's magnitude, and of 1 rad/s.

    Of a model with delays only those Pade poles are refined that can stand for such a one, unless it then depends on
    the fastest pole's magnitude.
    """

    def above(poles: Array, fastest: float) -> int:
        return int(np.sum(poles.real > tolerance * max(1.0, fastest)))

    if not model.delays:
        poles = np.linalg.eigvals(model.A)
        return above(poles, np.abs(poles).max(initial=0.0))
    pencil, (start, vectors) = Pencil(model), _upper_pade(model, PADE_ORDER)
    reach = NEAR * np.abs(start) + pencil.rounding
    may_grow = start.real + reach > 0
    poles = _refine_upper(pencil, start[may_grow], vectors[may_grow])
    least, most = np.abs(poles).max(initial=0.0), float(np.max(np.abs(start) + reach, initial=0.0))
    if above(poles, least) != above(poles, most):
        poles = _refine_upper(pencil, start, vectors)
        most = np.abs(poles).max(initial=0.0)
    return above(poles, most)


def _upper_pade(model: LinearModel, order: int) -> tuple[Array, Array]:
    """Pade poles and right vectors as rows; of conjugates the upper one stands for both."""
    finite = _approximate(model, order)
    values, right = eig(finite.A)
    upper = values.imag >= 0
    return values[upper], (finite.C @ right).T[upper]


def _refine_upper(pencil: Pencil, start: Array, vectors: Array) -> Array:
    """Poles, with the conjugates of those that Pade poles above the real axis stand for."""
    poles, places, _ = pencil.refine(start, vectors)
    return np.concatenate([poles, poles[start[places].imag > 0].conj()])


def _approximate(model: LinearModel, order: int) -> LinearModel:
    """The Pade model, its inputs and outputs being all states and delayed signals of the model itself."""
    if order < 1:
        what = f"must be at least 1 for a model with delays, is {order}"
        refuse("pade", what, "its poles are found by approximating the delays")
    whole = np.eye(model.order + len(model.delays))
    x, d = whole[:, : model.order], whole[:, model.order :]
    probe = LinearModel(model.A, x.T, x, 0 * whole, model.E, model.F, d.T, model.H, d, delays=model.delays)
    # The order at which the fastest oscillation of the model without delayed feedback is resolved.
    fastest = float(np.max(np.abs(np.linalg.eigvals(model.A).imag), initial=0.0))
    return probe.with_pade(max(order, int(min(np.ceil(fastest * np.max(model.delay_times)), HIGHEST_ORDER))))


def _polish(A: Array, s: complex, z: Array) -> Array:
    """An eigenvector with its small entries right, by inverse iteration in the model's own units.

    LAPACK balances the matrix first. A state on which nothing depends but for rounding, such as the position of a
    joint that gravity does not load, is scaled out of all proportion then, and its entry comes out at random.
    """
    product, terms = A @ z, np.abs(A) @ np.abs(z) + np.abs(s * z)
    # Entries that are nothing but rounding, as they are and as the others make them, need not be right.
    counts = np.maximum(np.abs(z), np.abs(product / s)) > NOTHING * np.max(np.abs(z))
    if np.all(np.abs(product - s * z)[counts] <= POLISHED * terms[counts]):
        return z
    # The pole is known to rounding, so that one step suffices.
    z = _solve(A - s * np.eye(len(A)), z)
    return z / np.linalg.norm(z)


class Pencil:
    """P(s) of a model, its rows and columns scaled to entries of like size: T^-1 P(s) T, T diagonal."""

    def __init__(self, model: LinearModel) -> None:
        self.model = model
        _, (self.scale, _) = matrix_balance(np.abs(model.coupling), permute=False, separate=True)
        self.size = float(np.linalg.norm(model.coupling * self.scale / self.scale[:, None]))
        self.rounding = 1e-7 * self.size

    def matrix(self, s: Array) -> Array:
        """P(s), (k, n, n) for k values of s; scales are powers of 2, so that nothing is rounded."""
        return self.model.pencil(s) * self.scale / self.scale[:, None]

    def slope(self, s: Array) -> Array:
        """Diagonal of P'(s), (k, n): 1 for states, tau e^(s tau) for delays."""
        times = self.model.delay_times
        return np.concatenate([np.ones((s.size, self.model.order)), times * np.exp(s[:, None] * times)], axis=1)

    def root(self, pole: complex, right: Array, left: Array) -> Root:
        """Vectors in the model's own units and the share of each entry."""
        products = left * self.slope(np.array([pole]))[0] * right
        total = products.sum()
        shares = products / total if total != 0 else np.full(products.size, np.nan, complex)
        return Root(complex(pole), right, left, shares)

    def refine(self, start: Array, right: Array) -> tuple[Array, Array, Array]:
        """Newton's method from Pade poles, (k,), and their vectors, (k, n): roots, of which Pade poles, and vectors.

        Where it finds no root near by there is none.
        """
        s, z = self._iterate(start, right / self.scale)
        # Whether a root is the one a Pade pole stands for; poles at zero are known to half the
        # digits at worst.
        places = np.flatnonzero(np.abs(s - start) <= NEAR * np.abs(start) + self.rounding)
        places = places[self._are_roots(s[places], z[places])]
        return s[places], places, z[places] * self.scale

    def left_vectors(self, s: Array, left: Array) -> Array:
        """Left vectors of roots by inverse iteration."""
        y, P = left * self.scale, self.matrix(s).swapaxes(1, 2)
        for _ in range(2):
            y = _solve(P, self.slope(s) * y)
            y = y / np.linalg.norm(y, axis=1, keepdims=True)
        return y / self.scale

    def _iterate(self, start: Array, vectors: Array) -> tuple[Array, Array]:
        """Newton's method; it ends early where it leaves the neighbourhood, since such a root is not kept."""
        s, z, rounding = start.astype(complex), vectors.astype(complex), 4 * np.finfo(float).eps
        going = np.arange(s.size)
        for _ in range(MOST_STEPS):
            at, before = s[going], z[going]
            u = _solve(self.matrix(at), self.slope(at) * before)
            largest = np.argmax(np.abs(u), axis=1)[:, None]
            step = (np.take_along_axis(before, largest, 1) / np.take_along_axis(u, largest, 1))[:, 0]
            s[going], z[going] = at - step, u / np.linalg.norm(u, axis=1, keepdims=True)
            moving = np.abs(step) > rounding * np.maximum(np.abs(s[going]), 1e-6 * self.size)
            near = np.abs(s[going] - start[going]) <= FAR * np.abs(start[going]) + 1e-3 * self.size
            going = going[moving & near]
            if not going.size:
                break
        return s, z

    def _are_roots(self, s: Array, z: Array) -> Array:
        """Whether P(s) is singular to what rounding leaves of it; a double root is found to half the digits only.

        Its least singular value is at most |P z| / |z|, which is all that most roots need.
        """
        P = self.matrix(s)
        allowed = 1e-9 * np.linalg.norm(P, axis=(1, 2))
        singular = np.linalg.norm((P @ z[:, :, None])[:, :, 0], axis=1) <= allowed
        doubtful = ~singular
        singular[doubtful] = np.linalg.svd(P[doubtful], compute_uv=False)[:, -1] <= allowed[doubtful]
        return singular


def _solve(matrix: Array, right: Array) -> Array:
    """Solution, also of a stack; an exactly singular matrix is moved by rounding: only the direction counts then."""
    try:
        return np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        if matrix.ndim > 2:
            return np.array([_solve(*pair) for pair in zip(matrix, right, strict=True)])
        regular = matrix + np.finfo(float).eps * np.linalg.norm(matrix) * np.eye(len(matrix))
        return np.linalg.solve(regular, right)


# --------------------------------------------------------------------------------------------------
# Invariant and transmission zeros: at which s do outputs not answer to some input, and which poles do they cancel?
#
#     [A - s I  B]
#     [C        D]   loses rank
#
# These are the invariant zeros: transmission zeros, and where inputs are as many as outputs also the poles that inputs
# do not reach or outputs do not see (those of the transfer matrix alone: `find_zeros(find_minimal(model))`).
# Emami-Naeini and Van Dooren (1982): zeros at infinity and what makes the pencil not square are taken off by orthogonal
# steps; eigenvalues of what is left are finite.


RANK = 1e-9
"""Part of the largest entry of the system matrix below which a row is zero."""
SAME = 1e-4
"""Distance of a pole and a zero that cancel, by their magnitude: a double pole is known to half its digits."""

Matrices = tuple[Array, Array, Array, Array]


@frozen
class CancelledPair:
    """A pole and a zero at the same place [rad/s]."""

    pole: complex
    zero: complex


def find_zeros(model: LinearModel) -> Array:
    """Invariant zeros [rad/s], complex, by magnitude; none where inputs or outputs are missing."""
    scaled = scale_states(model)
    if not scaled.B.size or not scaled.C.size:
        return np.zeros(0, complex)
    # Units of inputs and outputs do not move zeros; like sizes make the decisions on rank: columns of [B; D] and rows
    # of [C, D] get size 1, zero ones stay as they are.
    B, D = scaled.B, scaled.D
    columns = np.linalg.norm(np.vstack([B, D]), axis=0)
    columns = np.where(columns > 0, columns, 1.0)
    B, D = B / columns, D / columns
    rows = np.linalg.norm(np.hstack([scaled.C, D]), axis=1)
    rows = np.where(rows > 0, rows, 1.0)
    C, D = scaled.C / rows[:, None], D / rows[:, None]
    limit = RANK * max(np.abs(part).max(initial=0.0) for part in (scaled.A, B, C, D))
    A, B, C, D = _reduce((scaled.A, B, C, D), limit)
    A, B, C, D = _transpose(_reduce(_transpose((A, B, C, D)), limit))
    # Zeros of a system whose D is square and regular: those of A - s E on the kernel of [C, D].
    n = len(A)
    if n == 0:
        return np.zeros(0, complex)
    if not len(D):
        return sort_roots(np.linalg.eigvals(A))
    # [C, D] W = [0, R]: the first n columns of W are the states and inputs that outputs do not see.
    W = np.flip(qr(np.flip(np.hstack([C, D]), axis=1).T)[0], axis=1)
    W = np.flip(W, axis=0)[:, : n + B.shape[1] - len(D)]
    numerator, denominator = np.hstack([A, B]) @ W, W[:n]
    return sort_roots(eig(numerator, denominator, right=False))


def _transpose(pencil: Matrices) -> Matrices:
    A, B, C, D = pencil
    return A.T, C.T, B.T, D.T


def _reduce(pencil: Matrices, limit: float) -> Matrices:
    """A pencil of the same finite zeros with a D of full row rank.

    Rows of D are compressed; outputs [C~] without D~ hold states at zero, which leaves fewer states and turns the rates
    of those held into outputs. Repeated until no output is without D~.
    """
    A, B, C, D = pencil
    while len(A):
        U, rank = _compress_rows(D, limit)
        C, D = U.T @ C, U.T @ D
        held = C[rank:]
        V, n_held = _compress_rows(held.T, limit)
        if n_held == 0:
            return A, B, C[:rank], D[:rank]
        # States in the new axes: the first n_held are zero on the zeros' motions, the rest are free.
        A, B, C = V.T @ A @ V, V.T @ B, C @ V
        C, D = np.vstack([C[:rank], A[:n_held]])[:, n_held:], np.vstack([D[:rank], B[:n_held]])
        A, B = A[n_held:, n_held:], B[n_held:]
    return A, B, C, D


def _compress_rows(matrix: Array, limit: float) -> tuple[Array, int]:
    """Orthogonal U whose first columns span the matrix' columns: U^T matrix has zero rows below its rank."""
    if not matrix.size:
        return np.eye(len(matrix)), 0
    U, sizes, _ = np.linalg.svd(matrix)
    return U, int(np.sum(sizes > limit))


def find_cancelled_pairs(model: LinearModel) -> tuple[CancelledPair, ...]:
    """Poles that a zero hides, each with its zero, by magnitude."""
    scaled, zeros = scale_states(model), find_zeros(model)
    poles = sort_roots(np.linalg.eigvals(scaled.A))
    size = np.maximum(np.abs(poles[:, None]), np.abs(zeros[None, :]))
    distance = np.abs(poles[:, None] - zeros[None, :]) / np.maximum(size, np.finfo(float).tiny)
    pairs = zip(*linear_sum_assignment(np.where(distance <= SAME, distance, 10.0)), strict=True)
    return tuple(CancelledPair(complex(poles[i]), complex(zeros[j])) for i, j in pairs if distance[i, j] <= SAME)


# --------------------------------------------------------------------------------------------------
# Controllability and observability: which motions of a linear model can inputs reach and outputs see?
#
# The staircase: directions that inputs move at once, those that these move, and so on, each round orthogonal to the
# rounds before (Rosenbrock 1970; Van Dooren 1981). The rest is not controllable; the transpose gives the observable.


REACHED = 1e-9
"""Part of the largest coupling below which a direction is not moved: rounding, a few digits above."""


def find_minimal(model: LinearModel) -> LinearModel:
    """The model with the same transfer matrix and the fewest states: what is reached and seen."""
    scaled = scale_states(model)
    reached = span_reached(scaled.A, scaled.B)
    observable = project(scaled, reached, reached)
    basis = span_reached(observable.A.T, observable.C.T)
    return project(observable, basis, basis)


@frozen(eq=False)
class HiddenPoles:
    """Poles [rad/s] that the transfer matrix does not have.

    Attributes:
        uncontrollable: those that no input reaches; unobservable: those that no output sees. A pole may be both.
    """

    uncontrollable: Array
    unobservable: Array


def find_hidden_poles(model: LinearModel) -> HiddenPoles:
    """Poles that inputs do not reach, and poles that outputs do not see, by magnitude."""
    scaled, hidden = scale_states(model), []
    for A, B in ((scaled.A, scaled.B), (scaled.A.T, scaled.C.T)):
        # Eigenvalues of A on what the invariant subspace of reached states leaves.
        basis = span_reached(A, B)
        rest = np.linalg.svd(basis, full_matrices=True)[0][:, basis.shape[1] :]
        hidden.append(sort_roots(np.linalg.eigvals(rest.T @ A @ rest)))
    return HiddenPoles(*hidden)


def sort_roots(values: Array) -> Array:
    """Roots by magnitude, of conjugates the upper one first."""
    return values[np.lexsort((-values.imag, np.abs(values)))]


def span_reached(A: Array, B: Array) -> Array:
    """Orthonormal basis of what inputs reach: of [B, A B, A^2 B, ...], (n, n_reached).

    Inputs count by direction, whatever their units.
    """
    sizes = np.linalg.norm(B, axis=0)
    basis = np.zeros((len(A), 0))
    fresh = _new_directions(basis, B[:, sizes > 0] / sizes[sizes > 0])
    coupling = max(float(np.linalg.norm(A, 2)), np.finfo(float).tiny)
    while fresh.shape[1]:
        basis = np.hstack([basis, fresh])
        fresh = _new_directions(basis, A @ fresh / coupling)
    return basis


def _new_directions(basis: Array, columns: Array) -> Array:
    """Orthonormal basis of what columns add to a basis, by singular values."""
    for _ in range(2):
        columns = columns - basis @ (basis.T @ columns)
    U, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    U = U[:, sizes > REACHED]
    return U - basis @ (basis.T @ U)


def scale_states(model: LinearModel) -> LinearModel:
    """The model without delays, states in units in which rows and columns of A are of like size."""
    # Refuse a model with delays, which has infinitely many states.
    if model.delays:
        what = f"the model has {len(model.delays)} delays, and with them infinitely many states"
        refuse("model", what, "replace them: model.with_pade(order)", "linear model")
    _, (scale, _) = matrix_balance(model.A, permute=False, separate=True)
    return replace(
        model,
        A=model.A * scale / scale[:, None],
        B=model.B / scale[:, None],
        C=model.C * scale,
        states=_numbered(model.order),
    )


def project(model: LinearModel, right: Array, left: Array) -> LinearModel:
    """The model in fewer states z, x = right z: A -> left^T A right, and so on."""
    return replace(
        model,
        A=left.T @ model.A @ right,
        B=left.T @ model.B,
        C=model.C @ right,
        states=_numbered(right.shape[1]),
    )


def _numbered(count: int) -> tuple[Variable, ...]:
    return tuple(Variable(f"x{k + 1}") for k in range(count))


# --------------------------------------------------------------------------------------------------
# Balanced truncation (Hankel): which states of a linear model matter least between its inputs and outputs?
#
#     A P + P A^T + B B^T = 0,   A^T Q + Q A + C^T C = 0,   sigma_i^2 = eigenvalues of P Q
#
# Poles that are not stable have no such P and Q: they are split off first, kept as they are, and put back (ordered
# Schur form, then a Sylvester equation). P and Q are found as products L L^T, so that a state that inputs do not reach
# has a sigma of rounding size, not of its square root. Square-root method: Tombs and Postlethwaite (1987).


MARGIN = 1e-8
"""Poles this far or further left of the axis, by part of the largest pole, are stable."""
NEGLIGIBLE = 1e-9
"""Part of the largest Hankel singular value below which a state has no effect."""


@frozen(eq=False)
class Split:
    """A model as a sum of two: stable poles, and all others; direct effects stay with the stable part."""

    stable: LinearModel
    others: LinearModel


@frozen(eq=False)
class Truncation:
    """A model of lower order.

    Attributes:
        model: poles that are not stable come first.
        hankel_values: of the stable part of the full model, largest first, in outputs' units over inputs'.
        kept: how many stable states are left; unstable: how many states were not for choice.
    """

    model: LinearModel
    hankel_values: Array
    kept: int
    unstable: int

    @property
    def error_bound(self) -> float:
        """Greatest error of the transfer matrix at any frequency: `2 sum of the sigma left out` (Glover 1984)."""
        return 2 * float(self.hankel_values[self.kept :].sum())


def truncate(model: LinearModel, order: int | None = None) -> Truncation:
    """The model of lower order by balanced truncation of its stable part.

    Args:
        order: of the whole reduced model; by default all states that have an effect are left.
    """
    split = split_stable(model)
    # L of P = L L^T and of Q = L L^T, real, (n, 2 n).
    reach, see = factor_gramian(split.stable.A, split.stable.B), factor_gramian(split.stable.A.T, split.stable.C.T)
    U, sigma, Vh = np.linalg.svd(see.T @ reach)
    sigma = sigma[: split.stable.order]
    lowest = split.others.order
    if order is None:
        order_of_rest = 0
        if sigma.size:
            # The largest sigma, or what the model's inputs and outputs would make of a pole that they do reach and see,
            # |b| |c| / (2 |Re s|); it counts where the stable part is all hidden and its sigma are rounding errors.
            decay = np.abs(np.linalg.eigvals(split.stable.A).real).max()
            parts = (split.stable, split.others)
            size = max(np.linalg.norm(part.B) for part in parts) * max(np.linalg.norm(part.C) for part in parts)
            order_of_rest = int(np.sum(sigma > NEGLIGIBLE * max(float(sigma.max()), float(size / (2 * decay)))))
    else:
        order_of_rest, highest = order - lowest, lowest + int(np.sum(sigma > 0))
        if not lowest <= order <= highest:
            what = f"must be from {lowest} (the poles that are not stable) to {highest}, is {order}"
            refuse("order", what, source="balanced truncation")
    weights = 1 / np.sqrt(sigma[:order_of_rest])
    small = project(split.stable, reach @ Vh[:order_of_rest].T * weights, see @ U[:, :order_of_rest] * weights)
    notes = (*model.notes, f"balanced truncation of {model.order} states to {lowest + order_of_rest}")
    # Two models of the same inputs and outputs side by side: the sum of their transfer matrices.
    whole = replace(
        small,
        A=block_diag(split.others.A, small.A),
        B=np.vstack([split.others.B, small.B]),
        C=np.hstack([split.others.C, small.C]),
        D=split.others.D + small.D,
        states=(),
        notes=notes,
    )
    return Truncation(whole, sigma, order_of_rest, lowest)


def split_stable(model: LinearModel) -> Split:
    """The model as the sum of one with stable poles and one with all others, integrators included.

    [A11 A12; 0 A22] with A11 stable; X from A11 X - X A22 = -A12 makes the blocks independent.
    """
    scaled = scale_states(model)
    limit = -MARGIN * max(np.abs(np.linalg.eigvals(scaled.A)).max(initial=0.0), np.finfo(float).tiny)
    T, Z, n = schur(scaled.A, output="real", sort=lambda real, imaginary: real < limit)
    X = solve_sylvester(T[:n, :n], -T[n:, n:], -T[:n, n:]) if 0 < n < len(T) else np.zeros((n, len(T) - n))
    stable = project(scaled, Z[:, :n], Z[:, :n] - Z[:, n:] @ X.T)
    others = project(scaled, Z[:, :n] @ X + Z[:, n:], Z[:, n:])
    return Split(stable, replace(others, D=np.zeros_like(model.D)))


def factor_gramian(A: Array, B: Array) -> Array:
    """L of the P = L L^T that solves A P + P A^T + B B^T = 0, A stable, without forming P: (n, 2 n), real.

    In Schur form A = [A1 a; 0 alpha], B = [B1; b], L = [L1 l; 0 tau]:

        tau = |b| / sqrt(-2 Re alpha),  y = b^H / tau,  (A1 + conj(alpha)) l = -a tau - B1 y,  B1 <- B1 - l y^H

    and the same for what is left. Hammarling (1982), in complex numbers.
    """
    T, Z = schur(A, output="complex")
    inputs = Z.conj().T @ B.astype(complex)
    L = np.zeros_like(T)
    for k in reversed(range(len(T))):
        size = np.linalg.norm(inputs[k])
        if size == 0:
            continue
        L[k, k] = size / np.sqrt(-2 * T[k, k].real)
        y = inputs[k].conj() / L[k, k]
        shifted = T[:k, :k] + T[k, k].conj() * np.eye(k)
        L[:k, k] = np.linalg.solve(shifted, -T[:k, k] * L[k, k] - inputs[:k] @ y)
        inputs[:k] -= np.outer(L[:k, k], y.conj())
    # P is real: L L^H = (Re L)(Re L)^T + (Im L)(Im L)^T.
    L = Z @ L
    return np.hstack([L.real, L.imag])
