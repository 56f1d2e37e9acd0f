"""Narrow zones, thin walls and grazing events, a thousand of each: is any passed over?

    python tests/soak/crossings.py [--count 1000] [--seed 1]

Where the motion is a polynomial, the error of a step is zero and steps grow over whatever lies in them. Places, widths
and speeds are drawn at random over orders of magnitude. What must happen is known in
closed form. The exit code is 1 where something was passed over.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator

import numpy as np

import robodyn as rd
from robodyn.base.symbolic import logical_and, sqrt, where

DURATION = 10.0
Case = tuple[dict[str, float], Callable[[rd.Run], bool]]


def coasting(
    *blocks: rd.Block,
    events: tuple[rd.Event, ...] = (),
    contacts: tuple[rd.RigidContact, ...] = (),
    falls: bool = False,
) -> rd.Scenario:
    """A mass that moves along x, and falls or not along z, with what is said."""
    bodies = (rd.Body("cart"), rd.Body("ball", mass=1.0))
    joints = (
        rd.Joint("x", "prismatic", rd.GROUND, "cart", axis=(1, 0, 0)),
        rd.Joint("z", "prismatic", "cart", "ball", axis=(0, 0, 1)),
    )
    points = (rd.Point("middle", "ball"), rd.Point("wall", rd.GROUND, (5.0, 0.0, 0.0)))
    mechanism = rd.Mechanism("coasting", bodies, joints, points, gravity=(0.0, 0.0, -9.81 if falls else 0.0))
    machine = rd.Machine("coasting", mechanism, blocks, contacts=contacts, tunable=("*",))
    start = {"x.velocity": 1.0, "z.velocity": 0.0}
    return rd.Scenario("coasting", machine, DURATION, start, events)


def zones(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A brake that acts between two places: v2^2 = v1^2 - 2 a width, or it stops in the zone."""
    for _ in range(count):
        width, speed = 10 ** random.uniform(-5, 0), 10 ** random.uniform(-0.5, 1)
        part = random.uniform(0.1, 0.9)
        force = part * speed**2 / (2 * width)
        left = speed * math.sqrt(1 - part)
        # It is left again before the end.
        begin = random.uniform(0.05, 0.8) * speed * (DURATION - 2 * width / (speed + left))
        yield (
            {"zone.begin": begin, "zone.end": begin + width, "zone.force": force, "x.velocity": speed},
            # Edges are known no better than the tolerance of places: 20 um of a zone of 30.
            lambda run, left=left: abs(run.final["x.velocity"] / left - 1) < 1e-3,
        )


def zone_scenario() -> rd.Scenario:
    """A zone with a force against the motion."""

    def zone(x, *, begin, end, force):
        return {"force": where(logical_and(x > begin, x < end), -force, 0.0)}

    parameters = {"begin": 1.0, "end": 1.1, "force": 1.0}
    return coasting(rd.Block("zone", zone, on="x", inputs={"x": "x.position"}, parameters=parameters))


def grazes(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A thrown ball passes a point at a distance just below a level: the event fires once."""
    for _ in range(count):
        speed, at = 10 ** random.uniform(-1, 1), random.uniform(0.5, 9.0)
        level = 10 ** random.uniform(-3, 0)
        rise = random.uniform(-5.0, 50.0)
        place = np.array([speed * at, rise * at - 9.81 * at**2 / 2])
        velocity = np.array([speed, rise - 9.81 * at])
        normal = np.array([-velocity[1], velocity[0]]) / np.hypot(*velocity)
        # From nearly a hit through the middle to nearly a miss.
        point = place + normal * level * (1 - 10 ** random.uniform(-6, 0))
        yield (
            {
                "near.a": float(point[0]),
                "near.b": float(point[1]),
                "near.level": level,
                "x.velocity": speed,
                "z.velocity": rise,
            },
            lambda run: len(run.events) >= 1,
        )


def graze_scenario() -> rd.Scenario:
    """An event at a distance from a point."""

    def guard(x, z, a, b, level):
        return sqrt((x - a) ** 2 + (z - b) ** 2) - level

    inputs = {"x": "x.position", "z": "z.position"}
    near = rd.Event("near", guard, inputs, {"a": 0.0, "b": 0.0, "level": 1.0}, "falling")
    return coasting(events=(near,), falls=True)


def walls(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A ball flies against a thin wall: it comes back with half its speed."""
    for _ in range(count):
        speed, thickness = 10 ** random.uniform(-0.5, 1.5), 10 ** random.uniform(-5, -1)
        place = random.uniform(0.05, 0.9) * speed * DURATION + thickness
        yield (
            {"wall.origin.x": place, "hit.against.size.x": thickness, "x.velocity": speed},
            lambda run, speed=speed: abs(run.final["x.velocity"] / speed + 0.5) < 1e-6,
        )


def wall_scenario() -> rd.Scenario:
    """A rigid contact of a point with a box."""
    hit = rd.RigidContact("hit", rd.Ball("middle", 0.0), rd.Box("wall", (0.01, 0.4, 0.4)), restitution=0.5)
    return coasting(contacts=(hit,))


KINDS = {"zones": (zone_scenario, zones), "walls": (wall_scenario, walls), "grazes": (graze_scenario, grazes)}


def passed_over(kind: str, count: int, seed: int) -> list[str]:
    """What was passed over, or not proven without a word, of so many of a kind."""
    make, draw = KINDS[kind]
    scenario, found = make(), []
    for number, (values, holds) in enumerate(draw(np.random.default_rng(seed), count)):
        named = {f"initial.{name}" if name[1] == "." else name: value for name, value in values.items()}
        run = rd.simulate(scenario.with_numbers(named))
        if not run.outcome.ok or not holds(run):
            found.append(f"{kind} {number}: {values}: {run.outcome.sentence}")
    return found


def main() -> int:
    """All kinds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    missed = 0
    for kind in KINDS:
        found = passed_over(kind, options.count, options.seed)
        missed += len(found)
        print(f"{kind}: {len(found)} of {options.count} passed over", *found[:5], sep="\n  ", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
