"""Rotors and drag: which forces does the air exert on a propeller, and on what moves through it?"""

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law


@law(
    speed="rad/s",
    thrust="N",
    drag_torque="N m",
    thrust_factor="N s^2/rad^2",
    drag_factor="N m s^2/rad^2",
    checks={"drag_factor": "non-negative"},
)
def rotor(speed, *, thrust_factor, drag_factor=0.0):
    """A propeller in still air: thrust `T = k w |w|` along its axis and drag torque `Q = -c w |w|` about it.

    Both act on the body that carries it; two `Load` with `times` put them there. They change sign with the speed.

    Args:
        speed: about the axis, right-handed.
        thrust_factor: k, negative for a propeller that thrusts along its axis when it spins left-handed.
    """
    square = speed * sym.absolute(speed)
    return {"thrust": thrust_factor * square, "drag_torque": -drag_factor * square}


@law(velocity="{x}/s", force="{F}", factor="{F} s^2/{x}^2", checks={"factor": "non-negative"}, passive=True)
def drag(velocity, *, factor):
    """Quadratic drag along a joint or coordinate: `F = -c s_dot |s_dot|`."""
    return {"force": -factor * velocity * sym.absolute(velocity)}
