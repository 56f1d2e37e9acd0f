"""EPAAS study, published tables: what did it print? Its tables as numbers, its own simulation first.

Order of the actuators as there: L1, L2, L3, L4, vane motor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Step(NamedTuple):
    """A step response: first peak [ms], oscillation time [ms], overshoot [%]."""

    peak_time: float
    oscillation_time: float
    overshoot: float


# Table 8.2.3 1, start-up position, gripper vertical [kg m^2].
JOINT_INERTIA = (
    (0.214180, -0.000102, -0.000219, -0.000223, 0.002474),
    (-0.000102, 0.297523, 0.062126, -0.008105, 0.000336),
    (-0.000219, 0.062126, 0.076586, 0.008015, -0.000224),
    (-0.000223, -0.008105, 0.008015, 0.006667, -0.000224),
    (0.002474, 0.000336, -0.000224, -0.000224, 0.001118),
)
# Table 8.2.3 2 [kg, with the vane kg m and kg m^2].
ACTUATOR_INERTIA = (
    (1.347150, -0.045180, 2.140560, 0.317589, -0.003173),
    (-0.045180, 0.225879, -0.074280, -0.225879, 0.035173),
    (2.140560, -0.074280, 21.804420, -0.146145, -0.001097),
    (0.317589, -0.225879, -0.146145, 13.808524, -0.035115),
    (-0.003173, 0.035173, -0.001097, -0.035115, 0.214180),
)
# Table 8.2.3 3 [%].
JOINT_COUPLING = (1, 21, 82, 171, 225)
ACTUATOR_COUPLING = {"l4": 3, "l3": 10, "l1": 161, "l2": 107}

# Table 8.2.2 1: least and greatest effective mass along the workspace's boundary [kg; vane kg m^2]; of L2 the least.
MASSES: dict[bool, dict[str, tuple[float, ...]]] = {
    False: {"joint1": (0.18, 0.33), "l3": (19, 38), "l4": (14, 38), "l1": (1.3, 2.7), "l2": (0.2,)},
    True: {"joint1": (0.19, 1.3), "l3": (48, 96), "l4": (64, 111), "l1": (33, 68)},
}

# Tables 8.2.4 1 and 2: state in whole degrees, then forces by origin and by role.
POSITION = (44, 81, 274, 12, 5)
MOTIONS = {
    "normal": ((138, -25, 34, 0, -10), (24, 11, -190, 172, 179)),
    "fast": ((688, -123, 170, -2, -48), (600, 284, -4758, 4289, 4474)),
}
ORIGINS = ("inertial", "coupling", "centripetal", "coriolis", "gravity", "total")
TORQUES_BY_ORIGIN = {
    "normal": (
        (0.101, 0.008, 0.000, 0.232, 0.000, 0.343),
        (0.061, -0.252, 0.501, -0.041, 3.417, 3.687),
        (-0.271, 0.045, -0.143, 0.000, 2.378, 2.008),
        (0.020, -0.037, -0.099, 0.006, 0.116, 0.007),
        (0.003, 0.002, 0.004, 0.003, -0.003, 0.010),
    ),
    "fast": (
        (2.539, 0.212, 0.006, 5.810, 0.000, 8.567),
        (1.548, -6.305, 12.533, -1.014, 3.417, 10.178),
        (-6.786, 1.119, -3.568, 0.003, 2.378, -6.854),
        (0.499, -0.922, -2.474, 0.159, 0.116, -2.622),
        (0.087, 0.041, 0.110, 0.077, -0.003, 0.313),
    ),
}
# The inertial ones are those of the tables by origin.
TORQUE_ROLES = ("external", "viscous")
TORQUES_BY_ROLE = {
    "normal": (
        (0.009, 0.233),
        (3.665, -0.039),
        (2.278, 0.000),
        (-0.013, 0.000),
        (0.006, 0.000),
    ),
    # The external torque of joint 4 is printed without its minus; the table's own total has it.
    "fast": (
        (0.213, 5.816),
        (9.614, -0.984),
        (-0.068, 0.000),
        (-3.120, 0.000),
        (0.225, 0.000),
    ),
}
FORCE_ROLES = ("inertial", "external", "speed_squared", "viscous", "total")
FORCES_BY_ROLE = {
    "normal": (
        (-0.013, 0.113, 0.001, 0.000, 0.100),
        (-0.000, 0.138, 0.000, 0.000, 0.138),
        (-0.688, -16.108, 0.198, 0.000, -16.598),
        (-3.050, 31.104, 0.030, 0.000, 28.084),
        (0.102, 0.009, 0.000, 0.233, 0.343),
    ),
    "fast": (
        (-0.325, -37.710, 0.013, 0.001, -38.021),
        (-0.000, 4.445, 0.000, 0.000, 4.445),
        (-17.195, -156.146, 4.958, 0.000, -168.384),
        (-76.251, 11.407, 0.749, 0.010, -64.085),
        (2.539, 0.213, 0.000, 5.816, 8.567),
    ),
}

# Tables 7.1.2 1 and 2: direction and mass [kg] -> simulated, measured.
RIG_STEPS: Mapping[tuple[str, float], tuple[Step, Step]] = {
    ("extend", 2.7): (Step(12.5, 11.5, 18), Step(12.4, 12.4, 22)),
    ("extend", 5.1): (Step(14.5, 16.0, 40), Step(15.3, 16.6, 29)),
    ("retract", 2.7): (Step(13.0, 12.0, 6), Step(13.8, 11.7, 12)),
    ("retract", 5.1): (Step(15.0, 15.5, 18), Step(16.0, 16.0, 24)),
}
# Tables 7.2.3 1 to 5: axis -> simulated, measured; the vane's share of its level at 100 ms, by time [ms].
ROBOT_STEPS: Mapping[str, tuple[Step, Step]] = {
    "l3": (Step(26, 32, 51), Step(37, 44, 22)),
    "l4": (Step(21, 26, 32), Step(32, 39, 12)),
    "l1": (Step(11, 23, 65), Step(12, 39, 31)),
    "l2": (Step(10, 14, 71), Step(7.5, 6, 23)),
}
VANE_SHARES: Mapping[int, tuple[float, float]] = {25: (37, 48), 50: (62, 78), 75: (88, 93), 100: (100, 100)}


class Varied(NamedTuple):
    """One table of 8.1 1 to 9: relative change, and each quantity with less and with more of the parameter."""

    change: float
    peak_time: tuple[float, float]
    oscillation_time: tuple[float, float]
    overshoot: tuple[float, float]


ESTIMATED = Step(14.5, 16.0, 42)
"""With the estimated parameters, as each of these tables has it."""
VARIATIONS: Mapping[str, Varied] = {
    "piston.control.gain": Varied(0.10, (15.0, 14.5), (15.0, 17.0), (29, 56)),
    "piston.measured.time": Varied(0.25, (14.5, 15.0), (16.0, 16.0), (40, 44)),
    "piston.late.time": Varied(0.25, (14.0, 15.5), (16.0, 16.0), (37, 47)),
    "piston.valve.natural_frequency": Varied(0.25, (15.0, 14.5), (16.5, 16.0), (47, 40)),
    "piston.valve.damping": Varied(0.25, (14.0, 15.5), (16.0, 16.0), (40, 44)),
    "piston.friction.viscous": Varied(0.25, (14.5, 15.0), (16.0, 15.5), (46, 39)),
    "piston.actuator.leakage": Varied(0.25, (14.5, 15.0), (16.0, 15.5), (44, 41)),
    "piston.actuator.oil_compliance": Varied(0.25, (13.5, 15.5), (13.5, 18.5), (31, 48)),
    "load.mass": Varied(0.25, (13.5, 15.5), (13.5, 18.5), (29, 50)),
}

# Chapter 6: mass [kg], resonance [Hz], relative damping of the cylinder.
RESONANCES = ((2.7, 79.9, 0.238), (4.1, 70.0, 0.198), (5.1, 63.0, 0.187), (7.5, 53.3, 0.196), (9.0, 50.9, 0.201))
