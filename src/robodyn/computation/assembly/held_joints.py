"""Joints at rest: which sets of friction elements hold a joint, so that its speed can be exactly zero?"""

from __future__ import annotations

from itertools import combinations

import numpy as np

LARGEST_SEARCH = 10
"""Number of elements up to which all their combinations are looked at for joints they hold together."""

HeldBy = tuple[tuple[tuple[int, ...], ...], ...]


def find_held_joints(G: np.ndarray, always: np.ndarray | None = None) -> HeldBy:
    """For each joint the smallest sets of rows of G in whose span its own axis lies: held, they hold the joint.

    Args:
        always: gradients of constraints, which hold in any case and leave the joints at rest.
    """
    k, n = G.shape
    always = np.zeros((0, n)) if always is None else always
    # Rows of unit length: which of them are in m and which in rad has no say in their span.
    G, always = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300) for rows in (G, always))
    sizes = range(1, k + 1) if k <= LARGEST_SEARCH else (1, 2, 3, k)
    found: list[list[tuple[int, ...]]] = [[] for _ in range(n)]
    for size in sizes:
        for group in combinations(range(k), size):
            # pinv(R) R projects on the span of the rows: the joint's own axis lies in it where the entry is 1.
            rows = np.vstack([always, G[list(group)]])
            reached = np.linalg.pinv(rows, rcond=1e-9) @ rows
            for j in range(n):
                # Only sets without a smaller one inside are kept.
                new = not any(set(smaller) <= set(group) for smaller in found[j])
                if new and reached[j, j] > 1 - 1e-9:
                    found[j].append(group)
    return tuple(tuple(groups) for groups in found)
