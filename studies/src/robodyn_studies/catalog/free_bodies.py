"""Floating body: one that moves freely, by three slides, then three hinges, with massless frames between."""

from __future__ import annotations

from robodyn import GROUND, Body, Joint

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def hang_freely(body: Body, turns: str = "xyz") -> tuple[list[Body], list[Joint]]:
    """The body with its frames, and the joints `<body>.x`, ... `<body>.turn_z`.

    Args:
        turns: order of the hinges' axes; the middle one must stay away from 90 deg, where the two others are parallel.
    """
    axes = [*AXES, *turns]
    names = [f"{body.name}.{axis}" for axis in AXES] + [f"{body.name}.turn_{axis}" for axis in turns]
    kinds = ["prismatic"] * 3 + ["revolute"] * 3
    frames = [f"{name}.frame" for name in names[:-1]]
    chain = zip(names, kinds, [GROUND, *frames], [*frames, body.name], axes, strict=True)
    joints = [Joint(name, kind, parent, child, axis=AXES[axis]) for name, kind, parent, child, axis in chain]
    return [*(Body(frame) for frame in frames), body], joints
