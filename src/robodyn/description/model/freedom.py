"""Degrees of freedom: which elementary motions is a joint made of, and what are their states called?

A joint is a chain of elementary motions. Those along or about an axis are used like joints of their own, under their
own names: `base.x` of a free joint, `fork.second` of a universal one.
"""

from __future__ import annotations

from robodyn.base.records import dataclass
from robodyn.description.model.numbers import XYZ, Floats

QUATERNION = ("w", "x", "y", "z")


@dataclass(frozen=True)
class Freedom:
    """An elementary motion.

    Attributes:
        kind: "revolute", "prismatic", "screw" or "ball"; a mode of a flexible body is one of the first two.
        axis: of a joint's, but for a ball.
    """

    name: str
    kind: str
    axis: Floats | None = None

    @property
    def is_single(self) -> bool:
        """Whether it has one position, whose rate is its velocity."""
        return self.kind != "ball"

    @property
    def rotates(self) -> bool:
        """Whether its position is an angle."""
        return self.kind != "prismatic"

    @property
    def positions(self) -> dict[str, str]:
        """Names and units of its positions, the states q."""
        if self.kind == "ball":
            return {f"{self.name}.orientation.{part}": "" for part in QUATERNION}
        return {f"{self.name}.position": self.unit}

    @property
    def origin(self) -> dict[str, float]:
        """Its positions where it has not moved."""
        return {name: float(name.endswith(".w")) for name in self.positions}

    @property
    def velocities(self) -> dict[str, str]:
        """Names and units of its velocities, the states v."""
        return self._rates("velocity", "/s")

    @property
    def states(self) -> dict[str, str]:
        """Names and units of its positions and velocities."""
        return self.positions | self.velocities

    @property
    def accelerations(self) -> dict[str, str]:
        """Names and units of the rates of its velocities."""
        return self._rates("acceleration", "/s^2")

    @property
    def forces(self) -> dict[str, str]:
        """Names and units of the forces or torques on it."""
        name, unit = ("torque", "N m") if self.rotates else ("force", "N")
        if self.kind == "ball":
            return {f"{self.name}.{name}.{axis}": unit for axis in XYZ}
        return {f"{self.name}.{name}": unit}

    @property
    def unit(self) -> str:
        """Of its position."""
        return "rad" if self.rotates else "m"

    def _rates(self, quantity: str, suffix: str) -> dict[str, str]:
        if self.kind == "ball":
            return {f"{self.name}.angular_{quantity}.{axis}": f"rad{suffix}" for axis in XYZ}
        return {f"{self.name}.{quantity}": self.unit + suffix}
