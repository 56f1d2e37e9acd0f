"""Kinematic tree: which links hang on which, by which joints?

A tree is a description without state; the mechanics in this package are functions of a tree and of q, v, a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from itertools import accumulate

import numpy as np

from robodyn.base import frozen
from robodyn.base import symbolic as sym
from robodyn.base.spatial import Inertia, Moments, Pose, Scalar, Vector, as_vector

from .flexible import Elasticity, Node
from .joints import KINDS, Column, motion, subspace

GROUND = -1
"""Index of the parent of links that hang on the ground."""


@frozen(eq=False)
class Link:
    """One moving link with the joint that carries it.

    Args:
        kind: kind of the joint, a key of `joints.KINDS`.
        parent: index of the parent link, -1 for the ground.
        frame: pose of the joint frame in the parent link's frame; the link frame is this moved by q.
        axis: unit vector in the joint frame, and the same in the link frame; None for kinds without an axis.
        inertia: of the link, in the link frame.
        pitch: of a screw, how far it advances per angle [m/rad].
        armature: rotor inertia seen by each rate of the joint [kg m^2 or kg].
        elasticity: of a link that deforms; `inertia` is then that at rest.
        node: makes the link, of kind "fixed", a place of its parent that moves as the parent deforms; its frame is
            then the node's, and `frame` must be the identity.
    """

    name: str
    joint: str
    kind: str
    parent: int
    frame: Pose
    axis: Vector | None
    inertia: Inertia
    armature: Scalar = 0.0
    pitch: Scalar = 0.0
    elasticity: Elasticity | None = None
    node: Node | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"joint {self.joint!r}: unknown kind {self.kind!r}, known are {', '.join(KINDS)}")
        if KINDS[self.kind].has_axis:
            object.__setattr__(self, "axis", _checked_axis(self.joint, self.axis))
        elif self.axis is not None:
            raise ValueError(f"joint {self.joint!r}: kind {self.kind!r} has no axis, give None")

    @property
    def subspace(self) -> tuple[Column, ...]:
        """Columns (angular, linear) of the joint's motion subspace, in link axes."""
        return subspace(self.kind, self.axis, self.pitch)

    @property
    def n_modes(self) -> int:
        """Number of modal coordinates."""
        return self.elasticity.n if self.elasticity else 0


@frozen(eq=False)
class Tree:
    """Links, each after its parent, in a gravity field [m/s^2, world axes, (3,)].

    q and v hold the coordinates of all joints, then the modal coordinates of the links that deform.
    """

    links: tuple[Link, ...]
    gravity: Vector = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", tuple(self.links))
        object.__setattr__(self, "gravity", as_vector(self.gravity))
        for index, link in enumerate(self.links):
            if not GROUND <= link.parent < index:
                raise ValueError(f"link {link.name!r}: parent must be -1 or below {index}, is {link.parent}")
            if link.node:
                self._check_node(link)

    def _check_node(self, link: Link) -> None:
        if link.kind != "fixed" or link.parent == GROUND or not self.links[link.parent].elasticity:
            raise ValueError(f"link {link.name!r}: a node is fixed to a link that deforms")
        if np.any(link.frame.p) or np.any(link.frame.R - np.eye(3)):
            raise ValueError(f"link {link.name!r}: a node stands in its own frame, which must be the identity")

    @cached_property
    def q_slices(self) -> tuple[slice, ...]:
        """Where each link's joint coordinates stand in q."""
        return _consecutive([KINDS[link.kind].n_q for link in self.links])

    @cached_property
    def v_slices(self) -> tuple[slice, ...]:
        """Where each link's joint rates stand in v."""
        return _consecutive([KINDS[link.kind].n_v for link in self.links])

    @property
    def n_q(self) -> int:
        """Number of joint coordinates."""
        return self.n_joint_coordinates + sum(link.n_modes for link in self.links)

    @property
    def n_v(self) -> int:
        """Number of degrees of freedom."""
        return self.n_joint_rates + sum(link.n_modes for link in self.links)

    @cached_property
    def n_joint_coordinates(self) -> int:
        """Number of coordinates without those of modes."""
        return sum(KINDS[link.kind].n_q for link in self.links)

    @cached_property
    def n_joint_rates(self) -> int:
        """Number of degrees of freedom without modes."""
        return sum(KINDS[link.kind].n_v for link in self.links)

    @property
    def is_flexible(self) -> bool:
        """Whether any link deforms."""
        return any(link.elasticity for link in self.links)

    @cached_property
    def modes(self) -> tuple[range, ...]:
        """Where each link's modal rates stand in v; none for a rigid link."""
        parts = _consecutive([link.n_modes for link in self.links])

        return tuple(range(self.n_joint_rates + part.start, self.n_joint_rates + part.stop) for part in parts)

    def deformations(self, q: Sequence[Scalar]) -> list[list[Scalar]]:
        """Each link's own modal coordinates in q."""
        _check_length("q", q, self.n_q)
        # Quaternions make q longer than v: modes, one number each in both, stand further back in q.
        shift = self.n_joint_coordinates - self.n_joint_rates

        return [[q[k + shift] for k in part] for part in self.modes]

    def mode_rates(self, v: Sequence[Scalar], name: str = "v") -> list[list[Scalar]]:
        """Each link's own modal rates in v, or in any column as long."""
        self.check_rates(name, v)

        return [[v[k] for k in part] for part in self.modes]

    def path(self, link: int) -> list[int]:
        """Links from the given one down to the ground, itself first; none for the ground (-1)."""
        self.check_link(link)
        links = []
        while link != GROUND:
            links.append(link)
            link = self.links[link].parent

        return links

    def split_coordinates(self, q: Sequence[Scalar]) -> list[Sequence[Scalar]]:
        """Each joint's own part of q, (n_q,)."""
        _check_length("q", q, self.n_q)

        return [q[part] for part in self.q_slices]

    def split_rates(self, v: Sequence[Scalar], name: str = "v") -> list[Sequence[Scalar]]:
        """Each joint's own part of v, or of any column as long and named so: a, tau, (n_v,)."""
        self.check_rates(name, v)

        return [v[part] for part in self.v_slices]

    def check_link(self, link: int) -> None:
        """Raise ValueError unless the index is that of a link, or -1 for the ground."""
        if not GROUND <= link < len(self.links):
            raise ValueError(f"no link {link}: the tree has links 0 to {len(self.links) - 1}")

    def check_rates(self, name: str, values: Sequence[Scalar]) -> None:
        """Raise ValueError unless there is one value for each degree of freedom."""
        _check_length(name, values, self.n_v)

    def joint_poses(self, q: Sequence[Scalar]) -> list[Pose]:
        """Pose of each link in its parent's frame."""
        # A joint's frame, then its motion; a node is where the modes of its body have taken it.
        parts, eta = self.split_coordinates(q), self.deformations(q)

        return [
            link.node.pose(eta[link.parent])
            if link.node
            else link.frame @ motion(link.kind, link.axis, link.pitch, part)
            for link, part in zip(self.links, parts, strict=True)
        ]

    def columns(self, link: int) -> list[tuple[int, Column]]:
        """Index in v and motion column of each of a joint's rates."""
        return list(enumerate(self.links[link].subspace, start=self.v_slices[link].start))

    def all_columns(self, q: Sequence[Scalar]) -> list[list[tuple[int, Column]]]:
        """The columns of every link, with those of nodes: the rates that move a link relative to its parent."""
        eta = self.deformations(q)

        return [
            list(zip(self.modes[link.parent], link.node.columns(eta[link.parent]), strict=True))
            if link.node
            else self.columns(index)
            for index, link in enumerate(self.links)
        ]


def deformed_moments(tree: Tree, q: Sequence[Scalar]) -> list[Moments]:
    """Moments of each link about its own origin, as it is deformed."""
    moments = []
    for link, eta in zip(tree.links, tree.deformations(q), strict=True):
        # Rigid moments at rest, and to second order what bending adds.
        rest = link.inertia.about_origin()
        moments.append(link.elasticity.deform(rest, eta) if link.elasticity else rest)

    return moments


def _checked_axis(joint: str, axis: Vector) -> Vector:
    axis = np.asarray(axis, dtype=float)
    if axis.shape != (3,) or not abs(np.linalg.norm(axis) - 1.0) < 1e-9:
        raise ValueError(f"joint {joint!r}: axis must be a unit vector, is {axis.tolist()}")

    return axis


def _consecutive(sizes: Sequence[int]) -> tuple[slice, ...]:
    ends = accumulate(sizes)

    return tuple(slice(end - size, end) for end, size in zip(ends, sizes, strict=True))


def _check_length(name: str, values: Sequence[Scalar], needed: int) -> None:
    count = sym.length(values)
    if count != needed:
        raise ValueError(f"{name} has {count} entries, the tree needs {needed}")
