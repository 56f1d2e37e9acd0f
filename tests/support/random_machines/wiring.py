"""How are laws put together at random? Each gets a place, inputs of fitting units and parameters.

All of it is read off the laws' own declarations: a law that is added to `laws` takes part by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from support.random_machines.parameters import DURATION, draw_parameters, scale_of

from robodyn.base import symbolic as sym
from robodyn.computation.assembly.units import BlockUnits
from robodyn.description.laws import Argument, LawInfo, arguments_of, info_of, known_laws
from robodyn.description.model import Block, Delay
from robodyn.description.model.block import FORCE_NAMES, ON_INPUTS
from robodyn.description.model.contact import FRICTION_INPUTS, NORMAL_INPUTS, TRAVEL

PERIODS = (0.002, 0.004, 0.005, 0.01)
DELAYS = (0.003, 0.01, 0.04)
DEEPEST = 3
"""Laws that feed each other, one behind the other."""
OF_WANTED_MOTION = ("reversal_feed_forward",)
"""Laws that push with the sign of a wanted motion: fed by a joint at rest they would push with the sign of rounding."""

OF_LISTS = ("orientation_reference", "multisine_reference")
"""Laws of unit quaternions, and of as many numbers as one likes: random ones do not fit."""

OF_CIRCUITS = ("piston_chamber", "oil_volume", "gas_accumulator", "hydraulic_line", "sagging_supply")
"""Oil under pressure, and a supply: fed at random by what it feeds, its pressure is infinite, or its voltage 0, after
finite time."""
HIDDEN_CAUSES = (
    *("cogging_torque", "torque_ripple", "saturation_loss", "dead_time_error", "inverter", "motor_heat"),
    *("heat_loss_of_torque", "thermal_protection", "derated", "transmission_error", "transmission_reaction"),
    *("elasto_plastic_friction", "two_way_gear_loss", "uneven_friction", "servo_friction", "position_error"),
    "thermal_friction",
)
"""Laws that came after the seeds of some tests were chosen by the machines that they give."""


def pulse(time, *, height, begin, width):
    """A force for a short time."""
    return {"force": sym.where(sym.logical_and(time >= begin, time < begin + width), height, 0.0)}


def cubic(position, velocity, *, stiffness, loss):
    """A hardening spring with drag."""
    return {"force": -stiffness * position**3 - loss * velocity * sym.absolute(velocity)}


def counted(value, count):
    """A law called in Python: every second sample counts."""
    return {"output": float(value) * (int(count) % 2), "count_next": float(count) + 1.0}


class Law:
    """A law of the package and what it needs."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.info: LawInfo = info_of(function)
        own = {*self.info.states, *self.info.memory, *self.info.located.values()}
        own |= {"direction"} if self.info.sticks else set()
        self.arguments = [argument for argument in arguments_of(function) if argument.name not in own]
        self.names = {argument.name for argument in self.arguments}
        self.outputs = (*_outputs(function), *self.info.states)
        self.touches = set(NORMAL_INPUTS) <= self.names
        # What takes its travel is for the rims of wheels.
        self.rolls = TRAVEL in self.names
        self.rubs = set(FRICTION_INPUTS) <= self.names and not self.rolls
        self.acts = not (self.touches or self.rubs or self.rolls) and bool({*FORCE_NAMES} & {*self.outputs})
        needed = {argument.name for argument in self.arguments if not argument.has_default}
        self.placed = self.acts or self.info.sticks or bool({*ON_INPUTS} & needed)

    @property
    def parameters(self) -> list[Argument]:
        return [argument for argument in self.arguments if argument.keyword_only and argument.name != "period"]

    @property
    def inputs(self) -> list[str]:
        """Arguments that signals are connected to."""
        given = {"time", *(ON_INPUTS if self.placed else ())}
        return [a.name for a in self.arguments if not a.keyword_only and a.name not in given]

    @property
    def works_on(self) -> str:
        """Unit of the coordinate it works on, where the law says so."""
        message = {self.info.units.get("position"), self.info.units.get("velocity")}
        return "m" if message & {"m", "m/s"} else "rad" if message & {"rad", "rad/s"} else ""


def _outputs(function: Callable[..., Any]) -> list[str]:
    """Names of what a law returns, found by calling it with numbers."""
    tables = [key for key, rule in info_of(function).checks.items() if "increasing" in rule or "as many" in rule]
    # A default is allowed, which 1 may not be.
    values = {a.name: (1.0, 2.0) if a.name in tables else 1.0 for a in arguments_of(function) if not a.has_default}
    result = function(**values)
    return [key for key in result if not key.endswith(("_dot", "_next"))]


@cache
def all_laws() -> tuple[Law, ...]:
    """All but those made from a model of the machine, see `test_control_models.py` of `identities` and `unit`."""
    plain = {name: law for name, law in known_laws().items() if "model" not in {a.name for a in arguments_of(law)}}
    return tuple(Law(name, function) for name, function in plain.items() if name not in (*OF_LISTS, *OF_CIRCUITS))


class Wiring:
    """Blocks and delays of a machine under construction.

    Attributes:
        places: joints and coordinates -> unit; signals: all that may be connected -> unit.
    """

    def __init__(self, rng: np.random.Generator, places: dict[str, str], without: tuple[str, ...] = ()) -> None:
        self.rng = rng
        self.laws = tuple(law for law in all_laws() if law.name not in without)
        self.places = places
        self.signals = {f"{name}.position": unit for name, unit in places.items()}
        self.signals |= {f"{name}.velocity": f"{unit}/s" for name, unit in places.items()}
        self.blocks: list[Block] = []
        self.delays: list[Delay] = []

    def add(self, law: Law, unit: str = "", depth: int = 0) -> Block | None:
        """A block of this law, and what feeds it; None where the machine has no place for it.

        Args:
            unit: its own.
        """
        rng, fitting = self.rng, [p for p, u in self.places.items() if law.works_on in ("", u)]
        if law.placed and not fitting:
            return None
        on = str(rng.choice(fitting)) if law.placed else None
        own = unit if any("{u}" in u for u in law.info.units.values()) else ""
        kind = unit or str(rng.choice(["rad", "m"]))
        coordinate = self.places[on] if on else "m" if kind.startswith("m") else "rad"
        units = BlockUnits(coordinate, own)
        fields: dict[str, Any] = {"on": on} if on else {}
        if not on and not own and any("{x}" in u for u in law.info.units.values()):
            fields["unit"] = coordinate
        if own:
            fields["unit"] = own
        fields["inputs"] = {key: self._input(law, key, units, depth) for key in law.inputs}
        fields["parameters"] = draw_parameters(rng, law.parameters, law.info, units)
        return self._keep(Block(f"k{len(self.blocks)}", law.name, **fields, **self._timing(law)), law, units)

    def _input(self, law: Law, key: str, units: BlockUnits, depth: int) -> str:
        unit = units.fill(law.info.units.get(key, ""))
        return f"{self._reference(unit).name}.value" if law.name in OF_WANTED_MOTION else self.source(unit, depth)

    def _timing(self, law: Law) -> dict[str, Any]:
        """A sample rate for laws with memory, and for one in five of those that may have one."""
        continuous = law.info.states or law.info.sticks or law.info.located or law.info.breaks
        if not law.info.memory and (continuous or self.rng.random() < 0.8):
            return {}
        period = float(self.rng.choice(PERIODS))
        timing = {"period": period}
        timing |= {"offset": period / 2} if self.rng.random() < 0.2 else {}
        timing |= {"delay": period * float(self.rng.choice([0.5, 1.0, 2.0]))} if self.rng.random() < 0.3 else {}
        return timing

    def _keep(self, block: Block, law: Law, units: BlockUnits) -> Block:
        self.blocks.append(block)
        # A force that holds depends on all others at once: what reads it must not act in turn.
        known = () if law.info.sticks else law.outputs
        self.signals |= {f"{block.name}.{key}": units.fill(law.info.units.get(key, "")) for key in known}
        return block

    def source(self, unit: str, depth: int = 0) -> str:
        """A signal of this unit: one that is there, or a new law's; perhaps delayed."""
        there = [name for name, other in self.signals.items() if other == unit and unit]
        if there and self.rng.random() < 0.4:
            return self._delayed(str(self.rng.choice(there)), unit)
        giving = self._giving(unit) if depth < DEEPEST else []
        if giving and self.rng.random() < 0.6:
            law, output = giving[int(self.rng.integers(len(giving)))]
            block = self.add(law, unit, depth + 1)
            if block is not None and self.signals[f"{block.name}.{output}"] == unit:
                return self._delayed(f"{block.name}.{output}", unit)
        return f"{self._reference(unit).name}.value"

    def _giving(self, unit: str) -> list[tuple[Law, str]]:
        """Laws with an output that has this unit, or may have it."""
        found = [(law, key, law.info.units.get(key, "")) for law in self.laws for key in law.outputs]
        free = {"{u}", "{x}", "{F}", "{x}/s", "{x}/s^2"}
        usable = [(law, key, given) for law, key, given in found if not (_touching(law) or law.info.sticks)]
        return [(law, key) for law, key, given in usable if given == unit or given in free]

    def _reference(self, unit: str) -> Block:
        """A sine or a table of values as large as this unit's scale."""
        name, scale = f"k{len(self.blocks)}", scale_of(unit)
        if self.rng.random() < 0.6:
            values = {"amplitude": scale * self.rng.uniform(0.2, 1.0), "frequency": self.rng.uniform(1.0, 15.0)}
            block = Block(name, "sine_reference", parameters=values, unit=unit or None)
        else:
            times = tuple(np.cumsum(self.rng.uniform(0.1, 1.0, 4)) * DURATION / 4)
            points = tuple(scale * self.rng.uniform(-1.0, 1.0, 4))
            block = Block(name, "table_reference", parameters={"times": times, "points": points}, unit=unit or None)
        self.blocks.append(block)
        self.signals[f"{name}.value"] = unit
        return block

    def _delayed(self, signal: str, unit: str) -> str:
        """The signal, or one time in eight the same later."""
        sampled = any(block.sampled and signal.startswith(f"{block.name}.") for block in self.blocks)
        if sampled or self.rng.random() > 0.125:
            return signal
        name = f"d{len(self.delays)}"
        self.delays.append(Delay(name, signal, float(self.rng.choice(DELAYS))))
        self.signals[f"{name}.output"] = unit
        return f"{name}.output"

    def use(self, block: Block, law: Law) -> None:
        """Let one output of a block that moves nothing drive something."""
        output = f"{block.name}.{self.rng.choice(law.outputs)}"
        on = str(self.rng.choice(list(self.places)))
        force = {"rad": "N m", "m": "N"}[self.places[on]]
        gain = scale_of(force) / scale_of(self.signals[output])
        name = f"k{len(self.blocks)}"
        values, limit = {"gain": gain}, {"torque_limit": 3.0 * scale_of(force)}
        self.blocks.append(Block(name, "amplifier", inputs={"value": output}, parameters=values, unit=force))
        self.blocks.append(Block(f"{name}_drive", "torque_source", on, {"command": f"{name}.output"}, limit))

    def add_own(self) -> None:
        """A law that a user wrote: a pulse, a spring, or one called in Python."""
        on, name = str(self.rng.choice(list(self.places))), f"own{len(self.blocks)}"
        force, kind = scale_of({"rad": "N m", "m": "N"}[self.places[on]]), self.rng.integers(3)
        if kind == 0:
            times = {"begin": self.rng.uniform(0.0, 0.5) * DURATION, "width": self.rng.uniform(0.02, 0.4) * DURATION}
            self.blocks.append(Block(name, pulse, on, parameters={"height": force * self.rng.uniform(-3, 3), **times}))
        elif kind == 1:
            sizes = {"stiffness": force * self.rng.uniform(0.1, 30.0), "loss": force * self.rng.uniform(0.0, 0.1)}
            self.blocks.append(Block(name, cubic, on, parameters=sizes))
        else:
            sampled = {"period": float(self.rng.choice(PERIODS)), "native": False, "hold": {"output": 0.0}}
            block = Block(name, counted, inputs={"value": f"{on}.position"}, memory={"count": 0.0}, **sampled)
            self.blocks.append(block)
            command = {"command": f"{name}.output"}
            self.blocks.append(Block(f"{name}_drive", "torque_source", on, command, {"torque_limit": 2.0 * force}))


def _touching(law: Law) -> bool:
    return law.touches or law.rubs or law.rolls
