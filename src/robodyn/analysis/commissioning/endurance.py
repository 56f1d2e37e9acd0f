"""Thermal endurance: how long can a drive hold, until it trips or for ever, and how does that depend on the load?

The laws are those of a simulation, `motor_heat` and `thermal_protection`, under a constant torque:

    tau = n kT share(Th) i,   trip where Tw or Th reaches its limit
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.integrate import solve_ivp

from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
from robodyn.base import Array, Displayed, FlawList, bisect, frozen, report_progress
from robodyn.computation.simulation import simulate
from robodyn.description.laws.drives import REFERENCE, motor_heat
from robodyn.description.model import Block, Scenario

from .library import ZERO, NamedDrive

LOADS = 24
"""Points of a curve."""
LASTING = 12.0
"""Time constants of the housing after which a drive is as warm as it gets."""
COLDEST = 73.15
"""The lowest temperature at which resistances still follow the law [K]."""
HEAT = ("resistance", "winding_resistance", "housing_resistance", "winding_time", "housing_time")


@frozen
class HeatPath:
    """How one drive warms up: numbers of `motor_heat`, torque per current at 25 deg C, limits [K] and start [K]."""

    name: str
    numbers: Mapping[str, float]
    torque_per_current: float
    winding_limit: float
    housing_limit: float = math.inf
    ambient: float = REFERENCE
    start: float = REFERENCE

    def check(self, flaws: FlawList) -> None:
        """A drive that is too hot before it begins has no endurance, and the laws of copper end far below frost."""
        temperatures = {"ambient": self.ambient} | ({"start": self.start} if self.start != self.ambient else {})
        for key, value in temperatures.items():
            if not value >= COLDEST:
                flaws.add(key, f"must be {COLDEST - ZERO:.0f} deg C or more, is {value - ZERO:.3g} deg C")
            for part, limit in (("winding", self.winding_limit), ("housing", self.housing_limit)):
                if value >= limit:
                    what = f"{self.name} trips at {limit - ZERO:.3g} deg C of its {part}, is {value - ZERO:.3g} deg C"
                    flaws.add(key, what, "start cooler, or raise the limit if the drive tolerates more")

    def hold(self, torque: float) -> Holding:
        """Heat the drive by a constant torque until it trips or is as warm as it gets."""

        def rates(_: float, x: Array) -> list[float]:
            # The current that the torque takes of magnets as warm as they are.
            found = motor_heat(0.0, *x, ambient=self.ambient, **self.numbers)
            current = torque / (self.torque_per_current * found["torque_share"])
            found = motor_heat(current, *x, ambient=self.ambient, **self.numbers)
            return [found["winding_dot"], found["housing_dot"]]

        limits = {"winding": self.winding_limit, "housing": self.housing_limit}
        events = [_passes(k, min(limit, 1e4)) for k, limit in enumerate(limits.values())]
        lasting = LASTING * max(self.numbers["housing_time"], self.numbers["winding_time"])
        options = {"rtol": 1e-8, "atol": 1e-6, "events": events, "max_step": lasting / 50}
        found = solve_ivp(rates, (0.0, lasting), [self.start, self.start], "LSODA", **options)
        winding, housing = found.y[:, -1]
        for part, times in zip(limits, found.t_events, strict=True):
            if len(times):
                return Holding(torque, float(times[0]), part, float(winding), float(housing))
        return Holding(torque, math.inf, "", float(winding), float(housing))

    def continuous_torque(self) -> float:
        """The largest torque that it holds for ever."""
        low, high = 0.0, self.torque_per_current
        while math.isinf(self.hold(high).time):
            low, high = high, 2 * high
        return bisect(lambda torque: math.isfinite(self.hold(torque).time), low, high, 30)[0]


def _passes(k: int, limit: float):  # type: ignore[no-untyped-def]
    def event(_: float, x: Array) -> float:
        return float(x[k] - limit)

    event.terminal = True  # type: ignore[attr-defined]
    return event


@frozen
class Holding:
    """How it goes under a constant torque.

    Attributes:
        time: until it trips [s], inf where it never does; part: winding or housing, empty where it never does.
        winding, housing: temperatures [K] at the trip, or as warm as they get.
    """

    torque: float
    time: float
    part: str
    winding: float
    housing: float


@frozen(eq=False)
class HeldDrive:
    """One drive: what it holds, for how long, and its curve.

    Attributes:
        load: what it is asked for; continuous: torque that it holds for ever; curve: of times over loads.
    """

    name: str
    load: Holding
    continuous: float
    curve: tuple[Holding, ...]
    estimated: tuple[str, ...] = ()


@frozen(eq=False)
class Endurance(Displayed):
    """How long drives hold."""

    JSON = """
    name
    drives
    """
    name: str
    drives: tuple[HeldDrive, ...]

    @property
    def time(self) -> float:
        """Until the first drive trips [s]."""
        return min(held.load.time for held in self.drives)


def path_of(drive: NamedDrive, ambient: float = REFERENCE, start: float = REFERENCE) -> HeatPath:
    """The heat of a drive of the library."""
    numbers = {key: drive[key] for key in HEAT}
    per_current = drive["ratio"] * drive["torque_constant"]
    limit = drive.get("housing_limit") or math.inf
    return HeatPath(drive.name, numbers, per_current, drive["winding_limit"], limit, ambient, start)


@report_progress("warming up")
def endurance_of(
    drives: Sequence[NamedDrive],
    torque: float | None = None,
    ambient: float = REFERENCE,
    start: float | None = None,
) -> Endurance:
    """How long drives of the library hold a torque, and over the load up to their peak.

    Args:
        torque: at the output [N m or N]; rated torque of each by default. ambient, start: temperatures [K].
    """
    flaws = FlawList()
    flaws.add_unless_positive(torque=torque)
    start = ambient if start is None else start
    paths = [path_of(drive, ambient, start) for drive in drives]
    for path, drive in zip(paths, drives, strict=True):
        path.check(flaws)
        if torque is not None and torque > drive["peak_torque"]:
            flaws.add("torque", f"is {torque:g}, {drive.name} gives {drive['peak_torque']:g} at most", "ask for less")
    flaws.raise_if_any("endurance")
    held = []
    for drive, path in zip(drives, paths, strict=True):
        guessed = tuple(key for key in (*HEAT, "winding_limit") if drive.numbers[key].estimated)
        load = drive["rated_torque"] if torque is None else torque
        held.append(_hold(path, load, drive["peak_torque"], guessed))
    return Endurance(", ".join(drive.name for drive in drives), tuple(held))


def _hold(path: HeatPath, load: float, peak: float, guessed: tuple[str, ...] = ()) -> HeldDrive:
    continuous = path.continuous_torque()
    # From just above what it holds for ever to its peak; to twice that where its peak is no more.
    top = peak / continuous if peak > 1.05 * continuous else 2.0
    curve = tuple(path.hold(continuous * share) for share in np.geomspace(1.01, top, LOADS))
    return HeldDrive(path.name, path.hold(load), continuous, curve, guessed)


def _standing(scenario: Scenario, joints: Sequence[str]) -> list[float]:
    """Torques of the drives that hold a robot: those of its rest, or of its weight where it does not start at rest."""
    if scenario.initialisation == "at_rest":
        run = simulate(scenario.replaced(duration=min(scenario.duration, 1e-3)))
        return [abs(float(run[f"{joint}.motor.torque"].values[0])) for joint in joints]
    dynamics = MachineDynamics(scenario.machine)
    places = {name: q for name, q in scenario.initial.items() if name.endswith(".position")}
    forces = dynamics.holding_forces(dynamics.positions_at(places), joints)
    return [abs(float(force)) for force in forces]


def _peak(blocks: Mapping[str, Block], joint: str) -> float:
    """The largest torque that the joint's controller asks for, 0 where it has no limit."""
    for name, key in ((f"{joint}.velocity_loop", "limit"), (f"{joint}.limit", "upper")):
        if name in blocks and math.isfinite(limit := float(blocks[name].parameters[key])):
            return limit
    return 0.0


@report_progress("warming up")
def robot_endurance(scenario: Scenario, ambient: float = REFERENCE, start: float | None = None) -> Endurance:
    """How long the drives of a dressed robot hold it where it starts, and over the load.

    Raises:
        ModelError: where no joint has a block of the law motor_heat, or it starts above a limit.
    """
    flaws = FlawList()
    blocks = {block.name: block for block in scenario.machine.blocks}
    heats = [block for block in blocks.values() if block.law_name == "motor_heat"]
    if not heats:
        remedy = "dress it with heat = true (robodyn dress --heat), or ask for a drive by its name"
        flaws.add("blocks", "none has the law motor_heat: nothing is known of what warms up", remedy)
    flaws.raise_if_any(f"endurance of '{scenario.name}'")
    start = ambient if start is None else start
    held, torques = [], _standing(scenario, [heat.name.removesuffix(".heat") for heat in heats])
    for heat, torque in zip(heats, torques, strict=True):
        joint = heat.name.removesuffix(".heat")
        motor = str(heat.inputs["current"]).rpartition(".")[0]
        limits = blocks.get(f"{joint}.protection")
        limit = limits.parameters["trip"] if limits else math.inf
        numbers = {key: float(heat.parameters[key]) for key in HEAT}
        per_current = float(blocks[motor].parameters["torque_constant"])
        path = HeatPath(joint, numbers, per_current, float(limit), math.inf, ambient, start)
        path.check(flaws)
        if not flaws.found:
            held.append(_hold(path, torque, _peak(blocks, joint)))
    flaws.raise_if_any(f"endurance of '{scenario.name}'")
    return Endurance(scenario.name, tuple(held))
