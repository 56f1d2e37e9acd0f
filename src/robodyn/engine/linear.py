"""How are the dense linear systems of implicit methods solved?

A matrix is stored by columns: A[j * n + i] is row i of column j, so that the innermost loops run through
memory in order.
"""

from robodyn.engine.caching import compiled, inlined


@compiled
def factorise(A, pivots, n):
    """Overwrite A by its factors L (unit diagonal) and U, P A = L U, with partial pivoting; False when
    singular. The diagonal of U is stored inverted: many solutions follow, and multiplying is cheaper."""
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[k * n + i]) > abs(A[k * n + best]):
                best = i
        pivots[k] = best
        if not abs(A[k * n + best]) > 0.0:
            return False
        if best != k:
            for j in range(n):
                A[j * n + k], A[j * n + best] = A[j * n + best], A[j * n + k]
        eliminate(A, n, k)
    return True


@inlined
def eliminate(A, n, k):
    """One step of the elimination: the column of L and the update of the columns to its right."""
    inverse = 1.0 / A[k * n + k]
    A[k * n + k] = inverse
    for i in range(k + 1, n):
        A[k * n + i] *= inverse
    for j in range(k + 1, n):
        factor = A[j * n + k]
        if factor != 0.0:
            for i in range(k + 1, n):
                A[j * n + i] -= A[k * n + i] * factor


@compiled
def solve_factorised(A, pivots, n, b):
    """Solve L U x = P b, x in place of b."""
    for k in range(n):
        best = pivots[k]
        b[k], b[best] = b[best], b[k]
    for j in range(n):
        factor = b[j]
        if factor != 0.0:
            for i in range(j + 1, n):
                b[i] -= A[j * n + i] * factor
    for j in range(n - 1, -1, -1):
        b[j] *= A[j * n + j]
        factor = b[j]
        for i in range(j):
            b[i] -= A[j * n + i] * factor
