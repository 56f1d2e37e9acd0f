"""Operation counts of Uicker-Kahn as published: how much arithmetic when no product is kept for another use?"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from robodyn_studies.operation_counts import OperationCount, count_operations


def literal_uicker_kahn(n: int) -> OperationCount:
    """Operations of Uicker-Kahn for a chain of n joints when each coefficient is computed by its own formula.

        D_ijk = sum_p trace(U_pjk J_p U_pi^T),  U_pjk = T_j Q_j (pose of k in j) Q_k (pose of p in k)

    Full 4 x 4 matrices without known zeros, no use of symmetry; only poses and first derivatives are kept.
    """
    A, Q, J = ([ca.SX.sym(f"{name}{k}", 4, 4) for k in range(n)] for name in "AQJ")
    v, a, g = ca.SX.sym("v", n), ca.SX.sym("a", n), ca.SX.sym("g", 4)
    first, second = _literal_derivatives(A, Q)
    torques = []
    for i in range(n):
        tau = sum(ca.mtimes([g.T, first[p, i], J[p][:, 3]]) for p in range(i, n))
        for j in range(n):
            tau += a[j] * sum(ca.dot(first[p, j] @ J[p], first[p, i]) for p in range(max(i, j), n))
            for k in range(n):
                beyond = range(max(i, j, k), n)
                tau += v[j] * v[k] * sum(ca.dot(second(p, j, k) @ J[p], first[p, i]) for p in beyond)
        torques.append(tau)

    return count_operations(ca.Function("literal", [v, a, g, *A, *Q, *J], [ca.vertcat(*torques)]))


def _literal_derivatives(
    A: list[ca.SX], Q: list[ca.SX]
) -> tuple[dict[tuple[int, int], ca.SX], Callable[[int, int, int], ca.SX]]:
    """U_pi, kept, and U_pjk, multiplied out anew at each call."""
    n = len(A)
    poses = {(k - 1, k): A[k] for k in range(n)}
    for end in range(n):
        poses |= {(j, end): poses[j, end - 1] @ A[end] for j in range(-1, end - 1)}
    tails = {(k, p): Q[k] @ poses[k, p] if k < p else Q[k] for p in range(n) for k in range(p + 1)}
    first = {(p, i): poses[-1, i] @ tail for (i, p), tail in tails.items()}
    heads = [poses[-1, j] @ Q[j] for j in range(n)]

    def second(p: int, j: int, k: int) -> ca.SX:
        j, k = min(j, k), max(j, k)
        return heads[j] @ (poses[j, k] @ tails[k, p] if j < k else tails[k, p])

    return first, second
