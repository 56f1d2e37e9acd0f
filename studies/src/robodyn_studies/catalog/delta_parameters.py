"""Parameters of the delta robot: lengths, masses, inertias and damping, and what follows from them alone."""

from __future__ import annotations

import math

from robodyn.base.errors import FlawList
from robodyn.description.model import ZERO, Description, Floats, check_finite, quantity, vector

GRAVITY = 9.81


class DeltaRobot(Description):
    """The numbers of a delta robot."""

    NOUN = "delta robot"

    base_radius: float = quantity("m", positive=True, doc="from the centre to the motors' axes")
    proximal_length: float = quantity("m", positive=True)
    distal_length: float = quantity("m", positive=True)
    platform_radius: float = quantity("m", positive=True, doc="from its centre to the rods' ends")
    proximal_com: float = quantity("m", positive=True, doc="from the motor's axis")
    distal_com: float = quantity("m", positive=True, doc="from the elbow")
    proximal_mass: float = quantity("kg", positive=True)
    distal_mass: float = quantity("kg", positive=True, doc="of both rods of an arm")
    platform_mass: float = quantity("kg", positive=True, doc="of the whole platform")
    proximal_inertia: float = quantity("kg m^2", positive=True, doc="about the centre of mass, with the rotor")
    distal_inertia: float = quantity("kg m^2", positive=True, doc="about the centre of mass, of both rods")
    damping: Floats = vector(
        "N m s/rad", non_negative=True, default=ZERO, doc="of the motor's angle and of the distal link's phi2 and phi3"
    )

    @property
    def offset(self) -> float:
        """Distance of an arm's motor from the axis on which its tip meets the others: `l0 - l3` [m]."""
        return self.base_radius - self.platform_radius

    def distal_angle(self, motor_angle: float) -> float:
        """phi2 [rad] where all motors stand at one angle, the arms outwards.

        l0 - l3 + l1 cos(phi1) + l2 cos(phi2) = 0
        """
        reach = self.offset + self.proximal_length * math.cos(motor_angle)
        if abs(reach) >= self.distal_length:
            flaws = FlawList()
            what = f"{motor_angle:g} rad puts the elbows {reach:g} m out, distal links have {self.distal_length:g} m"
            flaws.add("angle", what, "choose an angle at which they meet")
            flaws.raise_if_any("delta robot")
        return math.acos(-reach / self.distal_length)

    def holding_torque(self, motor_angle: float, payload: float = 0.0) -> float:
        """Torque of each motor [N m] that holds the robot where all motors stand at one angle; negative is upwards.

        By virtual work, with `phi2' = -l1 sin(phi1) / (l2 sin(phi2))` from the loop joint.
        """
        phi1, phi2 = motor_angle, self.distal_angle(motor_angle)
        third = (self.platform_mass + payload) / 3
        proximal = self.proximal_com * self.proximal_mass + self.proximal_length * (self.distal_mass + third)
        distal = self.distal_com * self.distal_mass + self.distal_length * third
        turned = -self.proximal_length * math.sin(phi1) / (self.distal_length * math.sin(phi2))
        return -GRAVITY * (proximal * math.cos(phi1) + distal * math.cos(phi2) * turned)


# This project's own choice: the study does not print its robot's values. Fitted so that the poles at horizontal
# proximal links and the angle at which the unstable one crosses zero are as published. The fit is not unique.
FITTED = DeltaRobot(
    base_radius=0.154,
    proximal_length=0.282,
    distal_length=0.418,
    platform_radius=0.060,
    proximal_com=0.113,
    distal_com=0.209,
    proximal_mass=0.68,
    distal_mass=0.247,
    platform_mass=0.568,
    proximal_inertia=0.0098,
    distal_inertia=0.0036,
    damping=(0.069, 0.089, 0.0376),
)
# Autonox24 RL5-1450-6kg as three axes, from published CAD data (Alikoc et al. 2023, repository delta-robot-public):
# the gear's inertia at the arm is part of the first inertia, two rods make a distal link, the elbow's pin is left out.
AUTONOX = DeltaRobot(
    base_radius=0.330,
    proximal_length=0.420,
    distal_length=1.055,
    platform_radius=0.125,
    proximal_com=0.2463,
    distal_com=0.5275,
    proximal_mass=3.696,
    distal_mass=1.05,
    platform_mass=2.916,
    proximal_inertia=0.0654 + 0.6262,
    distal_inertia=0.0860,
)


def check_payload(payload: float) -> None:
    """A load at the platform's centre [kg] cannot pull it up."""
    flaws = FlawList()
    if check_finite(flaws, "payload", payload) and payload < 0:
        flaws.add("payload", f"must not be negative, is {payload:g} kg")
    flaws.raise_if_any("delta robot")
