"""At which frequencies does a machine swing? A double pendulum, linearised about its rest by exact derivatives.

For two equal point masses on equal strings, w^2 = (2 -+ sqrt(2)) g / l.
"""

import math

import robodyn as rd
from robodyn.analysis import find_modes
from robodyn.presentation.reporting import plot_modes

LENGTH, GRAVITY = 0.8, 9.81


def describe_pendulum() -> rd.Scenario:
    """Two point masses, one below the other, at rest."""
    bodies = [rd.Body(name, mass=1.0, com=(0, 0, -LENGTH)) for name in ("upper", "lower")]
    joints = (
        rd.Joint("first", "revolute", rd.GROUND, "upper", axis=(0, 1, 0)),
        rd.Joint("second", "revolute", "upper", "lower", origin=(0, 0, -LENGTH), axis=(0, 1, 0)),
    )
    points = (rd.Point("middle", "upper", (0, 0, -LENGTH)), rd.Point("end", "lower", (0, 0, -LENGTH)))
    mechanism = rd.Mechanism("pendulum", bodies, joints, points, gravity=(0, 0, -GRAVITY))
    return rd.Scenario("double-pendulum", rd.Machine("pendulum", mechanism), 1.0)


def main() -> dict[str, float]:
    """Both frequencies [Hz]."""
    modes = find_modes(rd.assemble(describe_pendulum()))
    slow, fast = sorted(mode.frequency for mode in modes.modes if mode.frequency > 0)
    return {"slow": slow, "fast": fast}


def draw(path: str) -> None:
    """Shapes of both modes."""
    plot_modes(find_modes(rd.assemble(describe_pendulum())), path)


if __name__ == "__main__":
    for sign, (name, frequency) in zip((-1, 1), main().items(), strict=True):
        exact = math.sqrt((2 + sign * math.sqrt(2)) * GRAVITY / LENGTH) / (2 * math.pi)
        print(f"{name}: {frequency:.9f} Hz, exactly {exact:.9f} Hz")
