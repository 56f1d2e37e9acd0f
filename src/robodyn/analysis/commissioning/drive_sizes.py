"""Drives of dressed robots: choices, and the axis with its hidden causes that they make."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from robodyn.base import FlawList, frozen, nearest, refuse
from robodyn.description.laws.drives import REFERENCE
from robodyn.description.model import Block, ElasticGear, FormulaSignal, Joint
from robodyn.description.model.description import Description
from robodyn.description.model.fields import choice, flag, quantity, text

from .library import (
    BALL_SCREW,
    IMPERFECTIONS,
    MODELS,
    SIZED,
    DriveNumbers,
    NamedDrive,
    SizedDrive,
    Sourced,
    find_drive,
    load_toml,
    mount_drive,
    optional,
    read_fields,
    rules_of,
    size_family,
)

# --------------------------------------------------------------------------------------------------
# Choices of a dressing: which drives, which friction, which control, for all joints or for one?


FRICTIONS = ("none", "coulomb", "stribeck", "lugre", "dahl", "elasto-plastic", "stick", *MODELS)
NO_ERRORS, TYPICAL = "none", "typical"
CAUSES = tuple(rule.key for rule in rules_of(IMPERFECTIONS))
CASCADE, COMPUTED_TORQUE = "cascade", "computed-torque"
SCHEMES = (CASCADE, COMPUTED_TORQUE)
ALL = "all"


class Drive(DriveNumbers, kw_only=True):
    """The drive of a joint; a number that is not given comes from the library of drives or from a rule."""

    NOUN = "drive"

    name: str | None = text(default=None, doc="of a drive of the library; without one a size of the family")
    family: str = choice(SIZED, default="strain-wave", doc="of drives")
    friction: str = choice(FRICTIONS, default="lugre", doc="law of its friction; m1 to m6 as identified of that drive")
    elastic: bool | None = flag(default=None, doc="whether the gear twists")
    effort: float | None = optional("{F}", "largest torque or force")
    ratio: float | None = optional("rad/{x}", "of the gear")
    damping: float | None = optional("{F} s/{x}", "of the gear", zero=True)
    gap: float | None = optional("{x}", "total backlash of the gear", zero=True)
    static: float | None = optional("{F}", "friction that breaks away", zero=True)
    # Hidden causes: none unless they are given, or all that a rule of thumb knows.
    errors: str = choice((NO_ERRORS, TYPICAL), default=NO_ERRORS, doc="hidden causes that are not given")
    cogging: float | None = optional("N m", "amplitude, on the motor's shaft", zero=True)
    cogging_order: float | None = optional("", "periods in a turn of the motor")
    ripple: float | None = optional("", "amplitude by the torque", zero=True)
    ripple_order: float | None = optional("", "periods in a turn of the motor")
    saturation: float | None = optional("{F}", "torque that is never reached")
    loss_back: float | None = optional("", "loss while the load drives the motor", zero=True)
    iron_hysteresis: float | None = optional("{F}", "drag torque of the iron", zero=True)
    iron_eddy: float | None = optional("{F} s/{x}", "drag by speed", zero=True)
    uneven_friction: float | None = optional("{F}", "friction once a turn", zero=True)
    transmission_order: float | None = optional("", "periods in a turn of the motor; 2")
    eccentricity: float | None = optional("{x}", "of the encoder", zero=True)
    interpolation: float | None = optional("{x}", "error within a line", zero=True)
    lines: float | None = optional("", "of the encoder in a turn of the motor; 1024")
    pitch_error: float | None = optional("m", "of a screw, once a turn", zero=True)
    pitch_slope: float | None = quantity(default=None, doc="of a screw, error by way")
    current_offset: float | None = quantity("A", default=None, doc="of the measurement of the current")
    current_noise: float | None = optional("A", "of that, standard deviation", zero=True)
    dead_time: float | None = optional("s", "of the inverter, at 20 kHz", zero=True)
    supply_resistance: float | None = optional("ohm", "by which the supply sags")
    heat: bool = flag(default=False, doc="whether the motor warms up, derates and trips")

    def numbers_given(self) -> dict[str, Sourced]:
        """Numbers that are given here instead of the library's."""
        others = ("name", "family", "friction", "elastic", "effort", "gap", "errors", "heat")
        found = {key: getattr(self, key) for key in self.KINDS if key not in others}
        return {key: Sourced(value, "given") for key, value in found.items() if value is not None}

    def check(self, flaws: FlawList) -> None:
        if self.elastic is False:
            for key in ("stiffness", "damping", "gap"):
                if self.stated(key):
                    flaws.add(key, "has no effect on a rigid gear", "leave it out, or set elastic = true")
        if self.friction == "none" and (useless := self.stated("coulomb", "static", "viscous")):
            flaws.add(next(iter(useless)), 'has no effect with friction = "none"', "leave it out")
        if self.name is not None and self.stated("family"):
            flaws.add("family", f"is that of '{self.name}'", "leave it out")
        if self.friction in MODELS and self.name is None:
            flaws.add("friction", f"{self.friction} is the friction law of a library drive", 'name it: name = "MX-64"')
        if self.cogging is not None and self.cogging_order is None and self.errors == NO_ERRORS:
            flaws.add("cogging_order", "is missing", "periods in a turn: least common multiple of slots and poles")

    def size(self, joint: Joint, library: Mapping[str, NamedDrive] | None = None) -> SizedDrive | str:
        """The drive of a joint, or why there is none."""
        given, typical = self.numbers_given(), self.errors == TYPICAL
        if self.name is not None:
            drive = find_drive(self.name, library, f"drives.{joint.name}.name")
            if (drive.actuator.family == BALL_SCREW) == joint.rotates:
                return f"'{drive.name}' does not fit a {joint.kind} joint"
            if self.friction in MODELS:
                models = drive.friction_models()
                if self.friction not in models:
                    known = ", ".join(models) or "none"
                    return f"of '{drive.name}' friction {self.friction} is not identified, but {known}"
                drive = _as_identified(drive, self.friction)
            sized = mount_drive(drive, joint, self.effort or drive["peak_torque"], given, typical)
        elif (effort := self.effort or joint.effort_limit) is None:
            return "has no effort limit to choose a drive by"
        else:
            family = self.family if joint.rotates or self.stated("family") else BALL_SCREW
            sized = size_family(family, joint, effort, given, typical)
        sized = replace(sized, elastic=self.elastic is not False)
        lacking = [key for key in ELECTRIC if key not in sized.numbers]
        if lacking and {"dead_time", "supply_resistance"} & sized.numbers.keys():
            return f'has no {" and no ".join(lacking)}: give them, take errors = "typical" or a drive by its name'
        return replace(sized, numbers={key: sized.numbers[key] for key in self._used(sized) if key in sized.numbers})

    def _used(self, sized: SizedDrive) -> list[str]:
        """Numbers that the axis is made of."""
        keys = ["ratio", "rotor_inertia", "torque_constant", "stiffness", "damping", "loss", "coulomb", "static",
                "viscous", "counts", "peak_torque", "transmission_order", "lines"]  # fmt: skip
        keys += [key for key in ("iron_hysteresis", "iron_eddy") if self.stated(key)]
        keys += [key for key in CAUSES if self.errors == TYPICAL or self.stated(key)]
        if self.heat:
            keys += HEAT
        if self.heat or {"dead_time", "supply_resistance", "voltage"} & {*keys} or self.stated("voltage"):
            keys += ELECTRIC
        if self.friction in MODELS:
            keys += SERVO
        if self.name is not None:
            keys.append("play")
        return list(dict.fromkeys(keys))


ELECTRIC = ["resistance", "inductance", "voltage", "peak_current"]
HEAT = ["winding_resistance", "housing_resistance", "winding_time", "housing_time", "winding_limit", "resistance"]
SERVO = ["stribeck", "motor_loss", "load_loss", "motor_stribeck", "load_stribeck", "motor_square", "load_square",
         "stribeck_velocity", "exponent"]  # fmt: skip


def _as_identified(drive: NamedDrive, model: str) -> NamedDrive:
    """The drive with the friction of a model, and the torque constant and inertia that were identified with it."""
    found, ratio = dict(drive.friction_models()[model]), drive["ratio"]
    source = f"identified as {model.upper()} of {drive.actuator.friction}, github.com/Rhoban/bam"
    found |= {"torque_constant": found.pop("kt") / ratio, "rotor_inertia": found.pop("armature") / ratio**2}
    if "R" in found:
        found["resistance"] = found.pop("R")
    return replace(drive, numbers={**drive.numbers, **{key: Sourced(value, source) for key, value in found.items()}})


class Control(Description, kw_only=True):
    """How joints are controlled, on the motors' encoders, and the margins that the loops are to keep."""

    NOUN = "control"

    scheme: str = choice(
        SCHEMES, default=CASCADE, doc="P position loop over PI velocity loop, or the robot's own model"
    )
    position_rate: float = quantity("Hz", positive=True, default=1000.0, doc="of the position loop of a cascade")
    velocity_rate: float = quantity("Hz", positive=True, default=4000.0, doc="of the fastest loop and the encoder")
    current_lag: float = quantity("s", positive=True, default=0.5e-3, doc="time constant of the closed current loop")
    delay: float = quantity("s", non_negative=True, default=0.0, doc="from the fastest loop's sample to its effect")
    phase_margin: float = quantity("rad", positive=True, default=math.radians(45.0), doc="least, of every loop")
    gain_margin: float = quantity(positive=True, default=2.0, doc="least factor on the gains that is still stable")

    def check(self, flaws: FlawList) -> None:
        if flaws.found:
            return
        computed = self.scheme == COMPUTED_TORQUE
        if computed and self.stated("position_rate"):
            flaws.add("position_rate", "has no effect on computed torque", "leave it out; velocity_rate is its rate")
        ratio = 1.0 if computed else self.velocity_rate / self.position_rate
        if ratio < 1 or abs(ratio - round(ratio)) > 1e-9:
            what = f"must be a whole multiple of position_rate, is {ratio:g} of it"
            flaws.add("velocity_rate", what, "such as 4000 Hz and 1000 Hz")
        if self.phase_margin >= math.radians(75.0):
            flaws.add("phase_margin", f"must be below 75 deg, is {math.degrees(self.phase_margin):.3g} deg")
        if self.gain_margin <= 1.0:
            flaws.add("gain_margin", f"must be above 1, is {self.gain_margin:g}")


def read_drives(given: str | Path | Drive | Mapping[str, Any], joints: Iterable[str]) -> dict[str, Drive]:
    """The drive of each joint, from a family's name, one drive, a TOML file, or tables by joint and under "all"."""
    joints = list(joints)
    if isinstance(given, Drive):
        return dict.fromkeys(joints, given)
    tables = _tables(given, SIZED, "family")
    flaws = FlawList()
    flaws.add_unknown(tables, [*joints, ALL], "there is no such joint to dress", "drives")
    common, made = tables.get(ALL, {}), {}
    for joint in joints:
        own = tables.get(joint, {})
        # A drive of its own is of its own family.
        shared = {key: value for key, value in common.items() if not (key == "family" and "name" in own)}
        made[joint] = read_fields(flaws, Drive, {**shared, **own}, f"drives.{joint}")
    flaws.raise_if_any("drives")
    return {name: drive for name, drive in made.items() if drive is not None}


def read_control(given: str | Path | Control | Mapping[str, Any]) -> Control:
    """The control, from a scheme's name, a table, or a TOML file."""
    if isinstance(given, Control):
        return given
    flaws = FlawList()
    tables = _tables(given, SCHEMES, "scheme") if not isinstance(given, Mapping) else {ALL: given}
    for name in tables:
        if name != ALL:
            flaws.add(f"control.{name}", "is not a table of control", f"give one table, [{ALL}]")
    made = read_fields(flaws, Control, tables.get(ALL, {}), "control")
    flaws.raise_if_any("control")
    assert made is not None
    return made


def drive_tables(given: str | Path, names: Mapping[str, str], common: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Tables by joint from a family's name or a TOML file, drives by joint, and what is common to all joints."""
    tables = {joint: dict(table) for joint, table in _tables(given, SIZED, "family").items()}
    tables[ALL] = {**tables.get(ALL, {}), **common}
    for joint, name in names.items():
        tables[joint] = tables.get(joint, {}) | {"name": name}
        if joint == ALL:
            tables[joint].pop("family", None)
    return tables


def _tables(given: str | Path | Mapping[str, Any], words: tuple[str, ...], key: str) -> dict[str, Mapping[str, Any]]:
    """Tables by joint, and under "all"."""
    if isinstance(given, (str, Path)):
        if str(given) in words:
            return {ALL: {key: str(given)}}
        path = Path(given)
        if not path.is_file():
            what = f"'{given}' is neither one of {', '.join(words)} nor a file"
            refuse(key, what, nearest(str(given), words))
        given = load_toml(path)
    bad = [name for name, table in given.items() if not isinstance(table, Mapping | Drive)]
    if bad:
        what = f"{', '.join(bad)}: must be tables by joint, or [{ALL}]"
        refuse(key, what, f'such as [{ALL}] with {key} = "{words[0]}"')
    return {name: table.stated() if isinstance(table, Drive) else table for name, table in given.items()}


# --------------------------------------------------------------------------------------------------
# Drive train and cascade of one joint: which blocks move it, brake it, measure it and control it?
#
#     reference -> position loop -> velocity loop -> current -> motor -> gear -> joint
#                       ^---------------^------- encoder on the motor
#
# In joint units on both sides of the gear; an elastic one stands between the joint and its drive.


STRIBECK_SHARE, SMOOTHING_SHARE = 0.01, 0.002
"""Speeds of the Stribeck bump and of smoothed friction, in top speeds of the joint: rules of thumb."""
PRESLIDING = 100.0
"""Encoder counts that bristles bend before they slip, which gives their stiffness: a rule of thumb."""
TOP_SPEED = {"rad": 3.0, "m": 1.0}
"""Of a joint without a speed limit."""
LINES, WAVES, RIPPLES, PWM = 1024.0, 2.0, 24.0, 20e3
"""Periods in a turn of the motor: encoder lines, error of a strain-wave gear, torque ripple; frequency of inverters."""
SMOOTHING_CURRENT = 0.01
"""Ripple of the current over which its sign smears, by the peak current."""
DERATING, SUPPLY, SUPPLY_TIME = 0.2, "supply", 1e-3
"""Share of the warming below the trip in which torque is derated; the shared supply and its time constant [s]."""


@frozen
class Gains:
    """The gains of a cascade: position [1/s], proportional [N m s/rad or N s/m] and integral [N m/rad or N/m] of the
    velocity."""

    position: float
    proportional: float
    integral: float


@frozen
class DriveAxis:
    """A joint to be dressed."""

    joint: Joint
    drive: Drive
    sized: SizedDrive
    control: Control

    @property
    def name(self) -> str:
        return self.joint.name

    def without_causes(self) -> DriveAxis:
        """The axis as its controller's designer knows it: no hidden causes, no heat."""
        numbers = {key: number for key, number in self.sized.numbers.items() if key not in CAUSES}
        drive = self.drive.replaced(heat=False, voltage=None)
        return replace(self, drive=drive, sized=replace(self.sized, numbers=numbers))

    @property
    def unit(self) -> str:
        """Of its position."""
        return self.joint.unit

    @property
    def effort_unit(self) -> str:
        """Of what its drive gives."""
        return self.joint.effort_unit

    @property
    def top_speed(self) -> float:
        """The joint's speed limit, or a common one."""
        return self.joint.speed_limit or TOP_SPEED[self.unit]

    @property
    def resolution(self) -> float:
        """The resolution of the encoder, in joint units: a count over the ratio."""
        return 2 * math.pi / (self.sized["counts"] * self.sized["ratio"])

    @property
    def torque_constant(self) -> float:
        """On the joint's side: n kT."""
        return self.sized["ratio"] * self.sized["torque_constant"]

    @property
    def gear(self) -> ElasticGear | None:
        """The elastic gear, None for a rigid one."""
        if not self.sized.elastic:
            return None
        gap = self.sized.get("play") if self.drive.gap is None else self.drive.gap
        return ElasticGear(f"{self.name}_drive", self.sized["stiffness"], self.sized["damping"], gap)

    @property
    def driven(self) -> str:
        """The part that its motor turns: the drive of an elastic gear, else the joint."""
        return self.gear.drive if self.gear is not None else self.name

    def bare_joint(self) -> Joint:
        """The joint with its rotor; friction comes as a block."""
        return self.joint.replaced(
            armature=self.sized.armature, friction=None, damping=None, effort_limit=self.sized.effort
        )

    def blocks(self, start: float, gains: Gains) -> tuple[Block, ...]:
        """All blocks of the joint under a cascade, standing at a position."""
        return (
            *self._reference(start),
            *self._cascade(gains),
            *self._train(f"{self.name}.velocity_loop.torque_command"),
        )

    def commanded_blocks(self, start: float, torque: str) -> tuple[Block, ...]:
        """The blocks of the joint where a signal commands its torque; it is limited to the drive's."""
        bounds = {"lower": -self.sized.effort, "upper": self.sized.effort}
        limit = Block(f"{self.name}.limit", "saturation", None, {"value": torque}, bounds, unit=self.effort_unit)
        return (*self._reference(start), limit, *self._train(f"{self.name}.limit.output"))

    def _train(self, torque: str) -> tuple[Block, ...]:
        """Motor, friction, gear and hidden causes under a commanded torque."""
        heat = tuple(self._heat(torque))
        torque = f"{self.name}.derating.output" if heat else torque
        return (*heat, *self._motor(torque), *self._friction(), *self._loss(), *self._torque_errors())

    def _reference(self, start: float) -> tuple[Block, ...]:
        name, speed, fast = self.name, self.top_speed, 1 / self.control.velocity_rate
        limits = {"target": start, "start": start, "speed": 0.5 * speed}
        limits |= {"top_acceleration": 2.0 * speed, "top_jerk": 20.0 * speed}
        measured = {"resolution": self.resolution, "period": fast}
        errors = tuple(self._scale_errors())
        seen = f"{errors[-1].name}.output" if errors else f"{name}.position"
        return (
            *errors,
            Block(f"{name}.reference", "s_curve_reference", None, {}, limits, unit=self.unit),
            Block(f"{name}.encoder", "sampled_encoder", None, {"value": seen}, measured, period=fast),
        )

    def _cascade(self, gains: Gains) -> tuple[Block, ...]:
        name, slow, fast = self.name, 1 / self.control.position_rate, 1 / self.control.velocity_rate
        targets = {
            "target": f"{name}.reference.position",
            "position": f"{name}.encoder.measured",
            "feed_forward": f"{name}.reference.velocity",
        }
        rates = {
            "velocity_command": f"{name}.position_loop.velocity_command",
            "velocity": f"{name}.encoder.measured_rate",
        }
        outer = {"proportional": gains.position}
        inner = {"proportional": gains.proportional, "integral": gains.integral, "period": fast}
        inner |= {"limit": self.sized.effort}
        delay = self.control.delay
        return (
            Block(f"{name}.position_loop", "position_loop", None, targets, outer, period=slow),
            Block(f"{name}.velocity_loop", "sampled_velocity_loop", None, rates, inner, period=fast, delay=delay),
        )

    def _motor(self, torque: str) -> tuple[Block, ...]:
        """Current loop and motor: what measures the current wrongly, what the voltage does not reach."""
        name, command, parts = self.name, {"value": torque}, []
        offset, noise = self.sized.get("current_offset"), self.sized.get("current_noise")
        if offset or noise:
            # A seed of each joint's own, the same in every session.
            numbers = {"mean": offset, "deviation": noise, "seed": 1.0 + sum(ord(letter) for letter in name)}
            period = 1 / self.control.velocity_rate
            parts.append(Block(f"{name}.current_error", "noise", None, {}, numbers, period=period, unit="A"))
            command["error"] = f"{name}.current_error.value"
        parts.append(Block(f"{name}.current", "amplifier", None, command, {"gain": 1 / self.torque_constant}, unit="A"))
        wanted = f"{name}.current.output"
        # An inverter's voltage is limited: to a number, or to the signal of a supply that sags.
        sags = bool(self.sized.get("supply_resistance"))
        if self.drive.voltage is not None or sags:
            voltage = f"{SUPPLY}.voltage" if sags else self.sized["voltage"]
            seen = {"value": wanted, "velocity": f"{name}.velocity", "voltage": voltage}
            numbers = {"resistance": self.sized["resistance"], "torque_constant": self.torque_constant}
            wanted = f"{name}.inverter.output"
            parts.append(Block(f"{name}.inverter", "inverter", None, seen, numbers))
        numbers = {"torque_constant": self.torque_constant, "time_constant": self.control.current_lag}
        return (*parts, Block(f"{name}.motor", "current_lag", name, {"current_command": wanted}, numbers))

    def _heat(self, torque: str) -> Iterator[Block]:
        """Winding and housing, what warm magnets take, and the firmware that derates and trips."""
        if not self.drive.heat:
            return
        name, sized = self.name, self.sized
        keys = ("resistance", "winding_resistance", "housing_resistance", "winding_time", "housing_time")
        current, load = {"current": f"{name}.motor.current"}, f"{name}.motor.torque"
        yield Block(f"{name}.heat", "motor_heat", None, current, {key: sized[key] for key in keys})
        share = {"load": load, "torque_share": f"{name}.heat.torque_share"}
        yield Block(f"{name}.warm_magnets", "heat_loss_of_torque", name, share)
        trip = sized["winding_limit"]
        limits = {"derate": trip - DERATING * (trip - REFERENCE), "trip": trip}
        period = 1 / self.control.position_rate
        seen = {"temperature": f"{name}.heat.winding"}
        yield Block(f"{name}.protection", "thermal_protection", None, seen, limits, period=period)
        allowed = {"value": torque, "share": f"{name}.protection.share"}
        yield Block(f"{name}.derating", "derated", None, allowed, unit=self.effort_unit)

    def _friction(self) -> tuple[Block, ...]:
        kind, sized = self.drive.friction, self.sized
        if kind == "none":
            return ()
        numbers = {key: sized[key] for key in ("coulomb", "static", "viscous")}
        smooth = {"smoothing_velocity": SMOOTHING_SHARE * self.top_speed}
        bump = {"stribeck_velocity": STRIBECK_SHARE * self.top_speed}
        # Stiffness and damping of bristles: bent by some counts at the static level, damped by the rotor.
        stiffness = sized["static"] / (PRESLIDING * self.resolution)
        bristles = bump | {"stiffness": stiffness, "damping": math.sqrt(stiffness * sized.armature)}
        inputs = {}
        match kind:
            case "coulomb":
                law, numbers = "coulomb_friction", {key: numbers[key] for key in ("coulomb", "viscous")} | smooth
            case "stribeck":
                law, numbers = "stribeck_friction", numbers | smooth | bump
            case "stick":
                law = "stick_friction"
            case "elasto-plastic":
                law, numbers = "elasto_plastic_friction", numbers | bristles
            case "dahl":
                law, numbers = "lugre_friction", numbers | bristles | {"static": numbers["coulomb"], "damping": 0.0}
            case "lugre":
                law, numbers = "lugre_friction", numbers | bristles
            case _:
                law, inputs = "servo_friction", {"motor": f"{self.name}.motor.torque", "load": self.load}
                numbers = {key: sized[key] for key in ("coulomb", "viscous", *SERVO) if key in sized.numbers}
        return (Block(f"{self.name}.friction", law, self.name, inputs, numbers),)

    @property
    def load(self) -> str:
        """Signal of the torque that the gear exerts on the joint."""
        return f"{self.name}_drive.gear.force" if self.sized.elastic else f"{self.name}.motor.torque"

    def _loss(self) -> tuple[Block, ...]:
        # What was identified with the load has the loss of the gear in it.
        if not self.sized["loss"] or self.drive.friction in MODELS:
            return ()
        numbers = {"load_loss": self.sized["loss"], "smoothing_velocity": SMOOTHING_SHARE * self.top_speed}
        back = self.sized.get("loss_back")
        law = "two_way_gear_loss" if back else "gear_loss"
        numbers |= {"load_loss_back": back} if back else {}
        return (Block(f"{self.name}.gear_loss", law, self.name, {"load": self.load}, numbers),)

    # Hidden causes.

    def _scale_errors(self) -> Iterator[Block]:
        """Errors of the encoder, in joint units, one block after the other."""
        name, sized, ratio = self.name, self.sized, self.sized["ratio"]
        lines = sized.get("lines") or LINES
        waves = {
            "eccentricity": (sized.get("eccentricity"), ratio, 0.0),
            "interpolation": (sized.get("interpolation"), lines * ratio, 0.0),
            "pitch_error": (sized.get("pitch_error"), ratio, sized.get("pitch_slope")),
        }
        if not sized.elastic:
            # In front of a rigid gear its error is one of the encoder.
            order = (sized.get("transmission_order") or WAVES) * ratio
            waves["transmission_error"] = (sized.get("transmission_error"), order, 0.0)
        seen = f"{name}.position"
        for key, (amplitude, order, slope) in waves.items():
            if amplitude or slope:
                numbers = {"amplitude": amplitude, "order": order} | ({"slope": slope} if slope else {})
                yield Block(f"{name}.{key}", "position_error", None, {"value": seen}, numbers, unit=self.unit)
                seen = f"{name}.{key}.output"

    def _torque_errors(self) -> Iterator[Block]:
        """Torques that nobody asked for, each as a block of its own."""
        name, sized, ratio = self.name, self.sized, self.sized["ratio"]
        load = {"load": f"{name}.motor.torque"}
        smooth = {"smoothing_velocity": SMOOTHING_SHARE * self.top_speed}
        if cogging := sized.get("cogging"):
            numbers = {"amplitude": cogging * ratio, "order": sized["cogging_order"] * ratio}
            yield Block(f"{name}.cogging", "cogging_torque", name, parameters=numbers)
        if ripple := sized.get("ripple"):
            numbers = {"share": ripple, "order": (sized.get("ripple_order") or RIPPLES) * ratio}
            yield Block(f"{name}.ripple", "torque_ripple", name, load, numbers)
        if level := sized.get("saturation"):
            yield Block(f"{name}.saturation", "saturation_loss", name, load, {"level": level})
        hysteresis, eddy = sized.get("iron_hysteresis"), sized.get("iron_eddy")
        if hysteresis or eddy:
            numbers = {"coulomb": hysteresis, "viscous": eddy} | smooth
            yield Block(f"{name}.iron_loss", "coulomb_friction", name, parameters=numbers)
        if uneven := sized.get("uneven_friction"):
            numbers = {"amplitude": uneven, "order": 1.0 if self.joint.rotates else ratio} | smooth
            yield Block(f"{name}.uneven_friction", "uneven_friction", name, parameters=numbers)
        if sized.elastic and (error := sized.get("transmission_error")):
            yield from self._transmission_error(error)
        if dead_time := sized.get("dead_time"):
            numbers = {key: sized[key] for key in ("voltage", "resistance", "inductance")}
            numbers |= {"dead_time": dead_time, "frequency": PWM, "torque_constant": self.torque_constant}
            numbers |= {"time_constant": self.control.current_lag}
            numbers |= {"smoothing_current": SMOOTHING_CURRENT * sized["peak_current"]}
            current = {"current": f"{name}.motor.current"}
            yield Block(f"{name}.dead_time", "dead_time_error", name, current, numbers)

    def initial_causes(self, torque: float) -> dict[str, float]:
        """Start values of hidden causes where the drive holds a torque: cold, its dead time compensated."""
        initial: dict[str, float] = {}
        if self.drive.heat:
            initial |= dict.fromkeys((f"{self.name}.heat.winding", f"{self.name}.heat.housing"), REFERENCE)
        if dead_time := self.sized.get("dead_time"):
            turned = math.tanh(torque / self.torque_constant / (SMOOTHING_CURRENT * self.sized["peak_current"]))
            lost = -self.sized["voltage"] * dead_time * PWM * turned
            initial |= dict.fromkeys((f"{self.name}.dead_time.lagged", f"{self.name}.dead_time.settled"), lost)
        return initial

    def _transmission_error(self, amplitude: float) -> Iterator[Block]:
        """Force on the twist of an elastic gear, and what the motor feels of it."""
        name, gear = self.name, self.gear
        assert gear is not None
        wave = {
            "amplitude": amplitude,
            "order": (self.sized.get("transmission_order") or WAVES) * self.sized["ratio"],
        }
        motor = {"motor": f"{gear.drive}.position", "motor_velocity": f"{gear.drive}.velocity"}
        numbers = wave | {"stiffness": gear.stiffness, "damping": gear.damping}
        yield Block(f"{name}.transmission_error", "transmission_error", gear.twist, motor, numbers)
        forces = {"gear_force": f"{gear.drive}.gear.force", "error_force": f"{name}.transmission_error.force"}
        yield Block(f"{name}.transmission_reaction", "transmission_reaction", name, forces, wave)


def supply_of(axes: Iterable[DriveAxis]) -> tuple[tuple[Block, ...], tuple[FormulaSignal, ...], dict[str, float]]:
    """The supply that all drives with a sagging one share, the power they draw, and the voltage it starts with."""
    fed = [axis for axis in axes if axis.sized.get("supply_resistance")]
    if not fed:
        return (), (), {}
    # Cables of all drives in parallel; the capacitor settles within a tenth of a millisecond to some.
    voltage = min(axis.sized["voltage"] for axis in fed)
    resistance = 1 / sum(1 / axis.sized["supply_resistance"] for axis in fed)
    numbers = {"source_voltage": voltage, "resistance": resistance, "capacitance": SUPPLY_TIME / resistance}
    power = FormulaSignal(f"{SUPPLY}_power", " + ".join(f"{axis.name}.inverter.power" for axis in fed))
    block = Block(SUPPLY, "sagging_supply", None, {"power": power.name}, numbers)
    return (block,), (power,), {f"{SUPPLY}.voltage": voltage}
