"""How often does a ball bounce before it lies still? Impacts of a rigid contact, and a geometric series.

A ball that falls from h meets the floor after t1 = sqrt(2 h / g) and leaves with r times its speed. The k-th flight
takes 2 r^k t1, so that it would lie still at t1 (1 + r) / (1 - r); below `rest_speed` it stays.
"""

import math

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

HEIGHT, RADIUS, RESTITUTION, GRAVITY, REST_SPEED = 1.0, 0.05, 0.7, 9.81, 0.01


def describe_ball() -> rd.Scenario:
    """A ball above a floor, free to move up and down."""
    slide = rd.Joint("height", "prismatic", rd.GROUND, "ball", axis=(0, 0, 1))
    points = (rd.Point("middle", "ball"), rd.Point("floor", rd.GROUND))
    mechanism = rd.Mechanism("ball", (rd.Body("ball", mass=0.2),), (slide,), points, gravity=(0, 0, -GRAVITY))
    ball, floor = rd.Ball("middle", RADIUS), rd.Plane("floor")
    bounce = rd.RigidContact("bounce", ball, floor, restitution=RESTITUTION, rest_speed=REST_SPEED)
    start = {"height.position": HEIGHT + RADIUS}
    return rd.Scenario("bouncing-ball", rd.Machine("ball", mechanism, contacts=(bounce,)), 3.0, start)


def expected_times() -> list[float]:
    """Times of all impacts up to the one after which the ball stays [s]."""
    first = math.sqrt(2 * HEIGHT / GRAVITY)
    times, speed = [first], GRAVITY * first
    while speed > REST_SPEED:
        speed *= RESTITUTION
        times.append(times[-1] + 2 * speed / GRAVITY)
    return times


def main() -> dict[str, list[float] | float]:
    """Times of the impacts [s], and the force that carries the ball at the end [N]."""
    run = rd.simulate(describe_ball())
    hits = [event.time for event in run.events if event.name == "bounce.hits"]
    return {"hits": hits, "force": run["bounce.force.normal"].final}


def draw(path: str) -> None:
    """Height and speed: a jump at each impact."""
    plot_signals(rd.simulate(describe_ball()), ["height.position", "height.velocity"], path)


if __name__ == "__main__":
    found = main()
    print(f"{len(found['hits'])} impacts, the last at {found['hits'][-1]:.6f} s")
