"""Elevator cable beside its wall: where does it strike, and how hard? What the control is there to prevent.

The study prints neither the wall's distance nor how hard it is: both are this project's own choice.
"""

from __future__ import annotations

import dataclasses

from robodyn.description.model import Ball, Contact, Plane, Point, Scenario
from robodyn_studies.catalog.cable import STANDARD, Cable
from robodyn_studies.catalog.cable_control import CONTROL, cable_sway

GAP = 0.10
"""From the cable's end, held by a bracket, to the surface of the wall [m]."""
HARDNESS = {"stiffness": 2e3, "dissipation": 1.0}
"""Of a cable's side on concrete: force [N/m per m of it] by overlap, Hunt and Crossley's loss [s/m]."""


def near_wall(cable: Cable) -> range:
    """Numbers of the links that can reach the wall: those of the bend and of the leg at the wall."""
    return range(cable.link_at((cable.lowest - cable.reach) / cable.length), cable.links + 1)


def with_wall(scenario: Scenario, cable: Cable = STANDARD, gap: float = GAP) -> Scenario:
    """The same beside a wall of the hoistway, which the middles of the links near it may touch: `touch25` and so on."""
    machine = scenario.machine
    assert machine.mechanism is not None
    wall = Point("wall", "hoistway", (cable.across + gap, 0.0, 0.0))
    mechanism = dataclasses.replace(machine.mechanism, points=(*machine.mechanism.points, wall))
    contacts = tuple(_touch(k, float(cable.pitches[k - 1])) for k in near_wall(cable))
    recording = scenario.recording
    return dataclasses.replace(
        scenario,
        name=f"{scenario.name}-wall",
        machine=dataclasses.replace(machine, mechanism=mechanism, contacts=contacts),
        recording=dataclasses.replace(recording, signals=(*recording.signals, "touch*.gap", "touch*.force.normal")),
        title=f"{scenario.title}, beside a wall",
    )


def _touch(k: int, pitch: float) -> Contact:
    """A link's middle against the wall, as stiff as its length."""
    parameters = HARDNESS | {"stiffness": HARDNESS["stiffness"] * pitch}
    against = Plane("wall", normal=(-1.0, 0.0, 0.0))
    return Contact(f"touch{k}", Ball(f"middle{k}", 0.0), against, law="hunt_crossley", parameters=parameters)


def cable_controlled_wall(duration: float = 360.0) -> Scenario:
    """The cable in the earthquake beside the wall, calmed by the car from 50 s on."""
    return with_wall(cable_sway(control=CONTROL, duration=duration))
