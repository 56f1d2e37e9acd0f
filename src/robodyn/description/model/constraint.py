"""Constraints: which equations between its coordinates must a mechanism keep? Loops, rods, couplings, given motions.

A constraint is one or more equations h(q, t) = 0. The forces that keep them are signals, which `equations` names, one
an equation; and an event may set
`<name>.active` to 0 (it breaks) or to 1 (it holds again).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from robodyn.base import FlawList

from .description import Description
from .fields import (
    IDENTITY,
    Y_AXIS,
    Z_AXIS,
    choice,
    flag,
    part_name,
    plain_function,
    quantity,
    reference,
    references,
    rotation_matrix,
    target,
    texts,
    unit_vector,
    weights,
    whole_number,
)
from .kinds import WORLD
from .numbers import Floats, Rows, as_floats

if TYPE_CHECKING:
    from collections.abc import Collection

    from robodyn.base.spatial import Pose

LOOP_JOINTS = {
    "spherical": ("force.x", "force.y", "force.z"),
    "universal": ("force.x", "force.y", "force.z", "torque.0"),
    "revolute": ("force.x", "force.y", "force.z", "torque.0", "torque.1"),
    "prismatic": ("force.0", "force.1", "torque.0", "torque.1", "torque.2"),
    "fixed": ("force.x", "force.y", "force.z", "torque.0", "torque.1", "torque.2"),
}
"""Kinds of loop joints, and the forces that keep each of their equations."""
USED = {
    "spherical": (),
    "universal": ("axis", "second_axis"),
    "revolute": ("axis", "second_axis"),
    "prismatic": ("axis", "rotation"),
    "fixed": ("rotation",),
}
"""Axes and rotations that a kind of loop joint has a use for."""
ACTIVE = "whether it holds at the start; events set `NAME.active`"


def check_ends(flaws: FlawList, part: Any, start: str, end: str) -> None:
    """Two points are two."""
    first = getattr(part, start)
    if first == getattr(part, end):
        flaws.add(end, f"is the same point as {start} ('{first}')", "name two different points")


class LoopJoint(Description):
    """A joint that closes a loop between two points of two bodies.

        spherical: the points coincide (3 equations)
        universal: and the two axes are perpendicular to each other (4)
        revolute: and the two axes are parallel (5)
        prismatic: the second point slides along the axis, nothing rotates (5)
        fixed: the points coincide and nothing rotates (6)

    Its forces act on the first body, in world axes, and with the opposite sign on the second; torques belong to single
    equations.
    """

    NOUN, MARKS = "constraint", ("loop_joint",)

    name: str = part_name()
    first: str = reference("point", key="loop_joint[0]", doc="two points between which a joint closes a loop")
    second: str = reference("point", key="loop_joint[1]")
    kind: str = choice(LOOP_JOINTS, default="spherical", doc="what holds between them")
    axis: Floats = unit_vector(default=Z_AXIS, frame="first", doc="in the frame of the first point's body")
    second_axis: Any = unit_vector(default=None, frame="second", doc="in that of the second's", absent="as `axis`")
    rotation: Rows = rotation_matrix(default=IDENTITY, doc="of the second body in the first, where nothing rotates")
    active: bool = flag(default=True, doc=ACTIVE)

    def check(self, flaws: FlawList) -> None:
        check_ends(flaws, self, "first", "second")
        defaults: dict[str, Any] = {"axis": Z_AXIS, "second_axis": self.axis, "rotation": IDENTITY}
        for field, default in defaults.items():
            value = getattr(self, field)
            idle = field not in USED.get(str(self.kind), defaults)
            if idle and value is not None and not np.array_equal(value, default):
                flaws.add(field, f"has no effect on a {self.kind} loop joint")
        self.set_fields(second_axis=self.axis if self.second_axis is None else self.second_axis)

    def moved(self, place: Pose, grounded: Collection[str]) -> Self:
        """Axes and rotations that are given in the ground's own frame turn with it."""
        axes = {"axis": self.first, "second_axis": self.second}
        changed: dict[str, Any] = {
            field: as_floats(place.R @ getattr(self, field))
            for field, point in axes.items()
            if field in USED[self.kind] and point in grounded
        }
        if "rotation" in USED[self.kind]:
            R = np.array(self.rotation)
            R = place.R @ R if self.first in grounded else R
            changed |= {"rotation": as_floats(R @ place.R.T if self.second in grounded else R)}
            changed |= {"second_axis": None}
        return self.replaced(**changed)

    @property
    def equations(self) -> tuple[str, ...]:
        """Names of its forces, one an equation."""
        return LOOP_JOINTS[self.kind]


class Rod(Description):
    """A rigid massless rod between two points: `|p_end - p_start| = length`. Its `tension` is a signal."""

    NOUN, MARKS = "constraint", ("rod",)
    equations = ("tension",)

    name: str = part_name()
    start: str = reference("point", key="rod[0]", doc="two points at a distance")
    end: str = reference("point", key="rod[1]")
    length: float = quantity("m", positive=True, doc="the distance")
    active: bool = flag(default=True, doc=ACTIVE)

    def check(self, flaws: FlawList) -> None:
        check_ends(flaws, self, "start", "end")


class Wheel(Description):
    """A wheel that rolls on a plane without slipping: where it touches, its rim is at rest.

    Two of its three equations are of velocities alone (non-holonomic): along and across the way it rolls; the third
    keeps it on the plane. It may lean, but not lie flat. Its forces act on the wheel.
    """

    NOUN, MARKS = "constraint", ("wheel",)
    equations = ("force.along", "force.across", "force.normal")

    name: str = part_name()
    center: str = reference("point", key="wheel", doc="point in the middle of a wheel, on its body")
    radius: float = quantity("m", positive=True, doc="of the wheel")
    axis: Floats = unit_vector(default=Y_AXIS, doc="of the wheel, in its body's frame")
    normal: Floats = unit_vector(default=Z_AXIS, frame=WORLD, doc="of the plane, in world axes")
    height: float = quantity("m", default=0.0, doc="of the plane along its normal")
    active: bool = flag(default=True, doc=ACTIVE)


class LinearConstraint(Description):
    """A linear relation of joints and coordinates: `sum c_i s_i = offset` (gears without play, parallel guides)."""

    NOUN, MARKS = "constraint", ("of",)
    equations = ("force",)

    name: str = part_name()
    of: Mapping[str, float] = weights("joint or coordinate", doc="table of joints and coordinates with their weights")
    offset: float = quantity(written="{x}", default=0.0, doc="what the weighted sum is")
    active: bool = flag(default=True, doc=ACTIVE)


class PrescribedMotion(Description):
    """A joint or coordinate whose motion is given: `s = position`, with its rates given too.

    Rates of a number are 0 where they are not given; those of a signal (of a reference, or of a controller's model)
    must be.
    """

    NOUN, MARKS = "constraint", ("prescribed",)
    equations = ("force",)

    name: str = part_name()
    of: str = reference("joint or coordinate", key="prescribed", doc="a joint or coordinate whose motion is given")
    position: Any = target(written="{x}", doc="a signal or a number")
    velocity: Any = target(written="{x}/s", default=None, doc="its rate", absent="0; required for a signal")
    acceleration: Any = target(
        written="{x}/s^2", default=None, doc="the rate of that", absent="0; required for a signal"
    )
    active: bool = flag(default=True, doc=ACTIVE)

    def check(self, flaws: FlawList) -> None:
        for field, rate in (("position", "velocity"), ("velocity", "acceleration")):
            value = getattr(self, field)
            if isinstance(value, str) and getattr(self, rate) is None:
                # A signal without its rate would be followed late.
                remedy = f"name the signal of its {rate}, or give 0 where it stands still or steps"
                flaws.add(rate, f"is not given, but {field} is the signal '{value}'", remedy)
            self.set_fields(**{rate: 0.0 if getattr(self, rate) is None else getattr(self, rate)})


class ConstraintFunction(Description):
    """Any equations h = 0 between joints and coordinates, as a plain function; its derivatives are exact.

    The function takes the positions of what it is of, in order, and the time where it has an argument `time`; it
    returns one value or a tuple.
    """

    NOUN, MARKS = "constraint", ("of", "function")

    name: str = part_name()
    of: tuple[str, ...] = references("joint or coordinate", doc="list of joints and coordinates")
    function: Callable[..., Any] = plain_function(doc='of their positions, that is to be 0: `"my_laws.py:function"`')
    count: int = whole_number(least=1, default=1, doc="how many values it returns")
    active: bool = flag(default=True, doc=ACTIVE)

    @property
    def equations(self) -> tuple[str, ...]:
        """Names of its forces, one an equation."""
        return ("force",) if self.count == 1 else tuple(f"force.{k}" for k in range(self.count))


Constraint = LoopJoint | Rod | Wheel | LinearConstraint | PrescribedMotion | ConstraintFunction
CONSTRAINTS = (LoopJoint, Rod, Wheel, LinearConstraint, PrescribedMotion, ConstraintFunction)

TREATMENTS = ("baumgarte", "projection", "index3", "minimal")


class ConstraintMethod(Description):
    """How constraints are kept while a mechanism moves.

    baumgarte: h'' + 2 p h' + p^2 h = 0 instead of h = 0; errors decay with the pole p
    projection: h'' = 0, and after each step positions and velocities are put back on the constraints
    index3: h = 0 itself is an equation of every step; the solver's method must be one that has it there
        (generalised_alpha, or rattle in momenta)
    minimal: independent joints move by themselves, the dependent ones follow from h = 0 and h' = 0 wherever the
        motion is evaluated; unless they are named, others take their place on the way; where none do, the run ends
    """

    NOUN = "constraint_method"

    method: str = choice(TREATMENTS, default="baumgarte", doc="how constraints are kept")
    pole: float | None = quantity(
        "1/s", positive=True, default=None, doc="rate at which errors decay", absent="from size and duration"
    )
    independent: tuple[str, ...] | None = texts(
        "joint", default=None, doc='with `"minimal"`: the independent joints', absent="chosen again during the run"
    )

    def check(self, flaws: FlawList) -> None:
        if self.pole is not None and self.method == "projection":
            flaws.add("pole", f"has no effect on the method '{self.method}'", "it applies to baumgarte")
        if self.independent is not None and self.method != "minimal":
            flaws.add("independent", f"has no effect on the method '{self.method}'", "it applies to minimal")
