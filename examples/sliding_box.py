"""When does a box slide down a slope? Dry friction of a rigid contact holds it up to a slope of atan(mu), exactly.

Beyond it the box slides with a = g (sin(slope) - mu cos(slope)).
"""

import math

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

FRICTION, GRAVITY = 0.5, 9.81


def describe_box(slope: float) -> rd.Scenario:
    """A box that may slide and lift off, at rest on a plane; gravity is tilted instead of the plane."""
    joints = (
        rd.Joint("along", "prismatic", rd.GROUND, "carrier", axis=(1, 0, 0)),
        rd.Joint("up", "prismatic", "carrier", "box", axis=(0, 0, 1)),
    )
    points = (rd.Point("sole", "box"), rd.Point("plane", rd.GROUND))
    pull = (GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope))
    mechanism = rd.Mechanism("box", (rd.Body("carrier"), rd.Body("box", 2.0)), joints, points, gravity=pull)
    dry = {"friction": "dry_friction", "friction_parameters": {"coefficient": FRICTION}}
    rest = rd.RigidContact("rest", rd.Ball("sole"), rd.Plane("plane"), **dry)
    return rd.Scenario("sliding-box", rd.Machine("box", mechanism, contacts=(rest,)), 1.0)


def main() -> dict[float, float]:
    """How far the box slides in a second [m], by the slope [deg]."""
    slopes = (20, 26, 27, 35)
    return {slope: rd.simulate(describe_box(math.radians(slope))).final["along.position"] for slope in slopes}


def draw(path: str) -> None:
    """Just below and above the angle of friction, 26.565 degrees, and well above."""
    runs = [rd.simulate(describe_box(math.radians(slope))) for slope in (26, 27, 35)]
    plot_signals(runs, ["along.position", "along.velocity"], path, labels=["26 deg", "27 deg", "35 deg"])


if __name__ == "__main__":
    for slope, distance in main().items():
        print(f"{slope} deg: {distance:.9f} m")
