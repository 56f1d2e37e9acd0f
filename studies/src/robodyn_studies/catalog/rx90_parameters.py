"""RX90B parameters: geometry, drives, friction, controller, each with its origin.

Printed by the study: the controller's rates and structure, the seven places of friction, the coupling of axes 5 and 6,
the kind of path, and no other number. Published by the robot's maker: the arms' lengths, ranges and top speeds of the
joints. All the others here are THIS PROJECT'S CHOICE: inertias and friction scaled from a published measurement-based
set of the smaller TX40 (length x 2, mass x 3.2, friction x 2.5), gears, motors and spring of a plausible size, gains
designed in docs/rx90.md.
"""

from __future__ import annotations

from dataclasses import dataclass

AXES = tuple(range(1, 7))
JOINTS = tuple(f"joint{k}" for k in AXES)
MOTORS = tuple(f"motor{k}" for k in AXES)


@dataclass(frozen=True)
class Axis:
    """One axis; the motor's numbers are on its own shaft.

    Attributes:
        gear: motor turns per joint turn; rotor: inertia [kg m^2]; torque_constant: [N m/A].
        load: inertia of the arm on the motor's shaft on the path of the weld [kg m^2]: of gains and feedforward.
        current_limit: [A].
        stiffness: of the gear, joint side [N m/rad]; damping: [N m s/rad].
    """

    gear: float
    rotor: float
    torque_constant: float
    load: float
    current_limit: float
    stiffness: float
    damping: float

    @property
    def inertia(self) -> float:
        """All that the motor feels [kg m^2]."""
        return self.rotor + self.load


@dataclass(frozen=True)
class Friction:
    """LuGre friction at one place, joint side [N m, rad].

    Attributes:
        coulomb: mean of both directions; static: as a multiple of it; viscous: [N m s/rad].
        stribeck_velocity: [rad/s]; exponent: of the Stribeck curve; stiffness, damping: of the bristles.
    """

    coulomb: float
    static: float
    viscous: float
    stribeck_velocity: float
    exponent: float
    stiffness: float
    damping: float


DRIVES = (
    Axis(128.0, 1.8e-4, 0.40, 8.5e-4, 10.0, 8.0e5, 300.0),
    Axis(128.0, 2.4e-4, 0.40, 6.5e-4, 10.0, 8.0e5, 300.0),
    Axis(102.0, 6.4e-5, 0.30, 2.7e-4, 8.0, 3.0e5, 80.0),
    Axis(70.0, 5.5e-5, 0.25, 2.8e-5, 6.0, 1.0e5, 10.0),
    Axis(75.0, 5.2e-5, 0.25, 3.9e-5, 6.0, 1.0e5, 10.0),
    Axis(46.0, 4.3e-5, 0.20, 4.5e-6, 5.0, 6.0e4, 3.0),
)
FRICTIONS = {
    "joint1": Friction(17.5, 1.14, 19.8, 0.025, 2.09, 1e6, 30.0),
    "joint2": Friction(19.6, 1.44, 14.2, 0.05, 2.78, 1e6, 30.0),
    "joint3": Friction(15.5, 1.15, 5.0, 0.05, 2.72, 1e6, 30.0),
    "joint4": Friction(6.0, 1.04, 2.8, 0.05, 1.60, 4e5, 30.0),
    "joint5": Friction(8.5, 1.10, 4.0, 0.05, 2.0, 4e5, 15.0),
    "joint6": Friction(4.6, 1.10, 1.7, 0.05, 2.0, 2e5, 15.0),
    "wrist": Friction(4.0, 1.10, 2.0, 0.05, 2.0, 2e5, 15.0),
}
# Levels forth and back are this share above and below their mean.
ASYMMETRY = 0.05

# Bristles that give way by tenths of a microradian before they slide, as the study says of its robot, are stiffer by:
STIFF = 100.0

# Joint ranges and top speeds [degrees, degrees/s]: published by the maker; joint 3 turns the other way here.
RANGES = ((-160, 160), (-47, 227), (-232.5, 52.5), (-270, 270), (-115, 105), (-270, 270))
SPEEDS = (236, 200, 286, 401, 320, 580)

# Welding head on the flange: mass [kg], centre of mass beyond the flange [m], inertia about it, tip beyond the flange.
HEAD_MASS, HEAD_COM, HEAD_TIP = 4.0, 0.10, 0.150
HEAD_INERTIA = (0.016, 0.016, 0.005)
# Balance spring: zero free length, k [N/m], from SPRING_HEIGHT above the shoulder to SPRING_ARM along the upper arm.
SPRING_STIFFNESS, SPRING_HEIGHT, SPRING_ARM = 5.4e3, 0.35, 0.08

# Tubes that bend, twist and stretch within the upper arm and the forearm: outer radius and wall [m]; aluminium: Young's
# and shear modulus [Pa], density [kg/m^3]; damping ratio of each mode. The rest of these links is rigid, at the joint.
UPPER_ARM_TUBE, FOREARM_TUBE = (0.060, 0.005), (0.045, 0.004)
ALUMINIUM = {"young": 7.0e10, "shear": 2.7e10, "density": 2700.0}
LINK_DAMPING = 0.015

# Armature circuits: resistance [ohm] and inductance [H], one size for all axes; supply [V].
RESISTANCE, INDUCTANCE, VOLTAGE_LIMIT = 2.0, 8e-3, 300.0
# Sampling [s] of slow and fast loops, and the time from a slow sample to the fast loop's knowing of it.
SLOW, FAST, COMPUTATION = 1e-3, 0.25e-3, 0.25e-3
# Counts of an encoder on one turn of a motor.
COUNTS = 2**18
# Crossover frequency [Hz] of the current loops, and of the velocity loops with the rotor alone.
CURRENT_CROSSOVER, VELOCITY_CROSSOVER = 500.0, 200.0
# By how much the position loop is slower than the velocity loop with all inertia, and its integral than itself.
POSITION_RATIO, INTEGRAL_RATIO = 2.5, 5.0
# The feedforward's sign function is full from this joint speed on [rad/s].
SMOOTHING = 2e-3

# The weld: along y at x [m], the wrist's centre below the shoulder [m], length [m], speed [m/s], ramps [s], rests [s].
WELD_X, WELD_DEPTH, WELD_LENGTH = 0.60, 0.20, 1.20
WELD_SPEED, WELD_RAMP, WELD_REST = 0.2, 0.25, 0.3
