"""How are the dense linear systems of implicit methods solved?

A matrix is stored by columns: A[j, i] is row i of column j, so that the innermost loops run through memory in order.
"""

from robodyn.engine.caching import compiled


@compiled
def factorise(A, pivots):
    """Overwrite A by its factors L (unit diagonal) and U, P A = L U, with partial pivoting; False when singular."""
    n = A.shape[0]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[k, i]) > abs(A[k, best]):
                best = i
        pivots[k] = best
        if not abs(A[k, best]) > 0.0:
            return False
        if best != k:
            for j in range(n):
                A[j, k], A[j, best] = A[j, best], A[j, k]
        eliminate(A, k)
    return True


@compiled
def eliminate(A, k):
    """One step of the elimination: the column of L and the update of the columns to its right."""
    n = A.shape[0]
    inverse = 1.0 / A[k, k]
    for i in range(k + 1, n):
        A[k, i] *= inverse
    for j in range(k + 1, n):
        factor = A[j, k]
        if factor != 0.0:
            for i in range(k + 1, n):
                A[j, i] -= A[k, i] * factor


@compiled
def solve_factorised(A, pivots, x, target):
    """Solve L U x = P b in place; b stands in a row of x."""
    n = A.shape[0]
    for k in range(n):
        best = pivots[k]
        x[target, k], x[target, best] = x[target, best], x[target, k]
    for j in range(n):
        factor = x[target, j]
        if factor != 0.0:
            for i in range(j + 1, n):
                x[target, i] -= A[j, i] * factor
    for j in range(n - 1, -1, -1):
        x[target, j] /= A[j, j]
        factor = x[target, j]
        for i in range(j):
            x[target, i] -= A[j, i] * factor
