"""Measured inputs: a scenario in which recorded signals take the place of computed ones.

Whatever reads such a signal reads the recording: blocks, formulas, delays, loads, prescribed motions, events, the
nominal motion. A force that a block puts on a joint is the recorded force. What computed it before, such as a
controller, goes on computing and has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.computation.results import Run
from robodyn.description.laws.recorded import RecordedReference
from robodyn.description.model import Block, PrescribedMotion, Scenario
from robodyn.description.model.description import Description

SOURCE = "measured"
FORCES = ("torque", "force")


def drive_by_data(scenario: Scenario, data: Run, signals: Sequence[str]) -> Scenario:
    """The scenario driven by these signals of the data: held ones held, others in straight lines between samples, or
    as a cubic spline where a motion is prescribed by them."""
    machine = scenario.machine
    _check(scenario, data, signals)
    sources = {signal: f"{SOURCE}.{signal}.value" for signal in signals}

    def rename(to: str, name: str) -> str:
        return sources.get(name, name) if to == "signal" else name

    # A prescribed motion needs rates that belong to its position: those of the spline, unless they are measured too.
    prescribed = set[str]()
    constraints = list[Description]()
    for constraint in machine.constraints:
        if isinstance(constraint, PrescribedMotion) and constraint.position in sources:
            prescribed.add(constraint.position)
            rates = {"velocity": "rate", "acceleration": "acceleration"}
            own = {key: f"{SOURCE}.{constraint.position}.{rate}" for key, rate in rates.items()}
            own = {key: name for key, name in own.items() if getattr(constraint, key) not in sources}
            constraint = constraint.replaced(**own)
        constraints.append(constraint)

    blocks = list(machine.blocks)
    for signal in signals:
        owner, _, output = signal.rpartition(".")
        recorded = _recorded(data, signal)
        if signal in prescribed:
            recorded = replace(recorded, interpolation="cubic")
        for i, block in enumerate(blocks):
            if block.name == owner and block.on and output in FORCES:
                blocks[i] = Block(owner, "torque_source", block.on, {"command": sources[signal]})
        blocks.append(Block(f"{SOURCE}.{signal}", recorded))

    # State controllers are designed for what they read, and read nothing of this: see `_check`.
    fresh = machine.replaced(blocks=tuple(blocks), constraints=tuple(constraints), controllers=())
    driven = scenario.replaced(machine=fresh).renamed(rename)
    return driven.replaced(machine=driven.machine.replaced(controllers=machine.controllers))


def _check(scenario: Scenario, data: Run, signals: Sequence[str]) -> None:
    machine, flaws = scenario.machine, FlawList()
    owners = {block.name for block in machine.blocks}
    read = {name for _, to, name in scenario.references() if to == "signal"}
    designed = {name: one.name for one in machine.controllers for name in (*one.measured, *one.applied)}
    held = {c.position: c.name for c in machine.constraints if isinstance(c, PrescribedMotion)}
    for signal in signals:
        owner, _, output = signal.rpartition(".")
        if signal not in data:
            flaws.add(signal, "is not in the data", nearest(signal, data.names))
        elif owner not in owners:
            flaws.add(signal, "is not computed by a block", nearest(owner, owners))
        elif np.isnan(data[signal].values).any():
            row = int(np.flatnonzero(np.isnan(data[signal].values))[0])
            flaws.add(
                signal, f"is missing at row {row + 1}", "an input is needed at all times: fill it in, or resample"
            )
        elif signal in designed:
            what = f"is read by the controller '{designed[signal]}', which is designed for the computed one"
            flaws.add(signal, what, "put blocks in its place, or leave the signal computed")
        elif signal in held and data[signal].kind == "held":
            flaws.add(signal, f"is held: the prescribed motion '{held[signal]}' would jump", "leave `held` out")
        # A measured signal that nothing reads, and that is no force, would drive nothing.
        forces = [b.on for b in machine.blocks if b.name == owner and b.on and output in FORCES]
        if not forces and signal not in read and signal in data and owner in owners:
            flaws.add(signal, "is read by nothing: it would drive nothing", "name the force, or what the drive reads")
    flaws.raise_if_any("measured inputs")


def _recorded(data: Run, signal: str) -> RecordedReference:
    own = data[signal]
    rising = np.concatenate([np.diff(own.time) > 0, [True]])
    how = "held" if own.kind == "held" else "linear"
    times, points = (tuple(part[rising].tolist()) for part in (own.time, own.values))
    return RecordedReference(times, points, how, unit=own.unit or None, source=signal)
