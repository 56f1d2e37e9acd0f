"""Linear oscillator: two masses on springs, coupled by a third; the benchmark of co-simulation, whole and cut in two.

Numbers of the benchmark published by Gonzalez and others (cosim-benchmarks, linear oscillator).
"""

from __future__ import annotations

from typing import Any

from robodyn.base import frozen
from robodyn.base.errors import refuse_word
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    Interface,
    Joint,
    LinearCombination,
    Machine,
    Mechanism,
    Recording,
    Scenario,
    Solver,
)

COUPLINGS = {
    "force-displacement": ("motion", "force"),
    "displacement-displacement": ("motion", "motion"),
    "model-force": ("model", "force"),
    "model-model": ("model", "model"),
}
"""Quantities that the first and the second mass take from each other, by the name of the coupling."""
PORT = "port"
ALONG = (1.0, 0.0, 0.0)
SOLVER = Solver("dopri5", rtol=1e-10, atol=1e-10)


@frozen
class Oscillator:
    """Numbers of the benchmark: ground - first - coupling - second - ground.

    Attributes:
        masses: [kg]; stiffness: of the first, the coupling and the second spring [N/m]; damping: likewise [N s/m].
        velocities: at the start, from rest positions [m/s]; duration: [s].
    """

    masses: tuple[float, float] = (1.0, 1.0)
    stiffness: tuple[float, float, float] = (10.0, 100.0, 1000.0)
    damping: tuple[float, float, float] = (0.0, 0.0, 0.0)
    velocities: tuple[float, float] = (100.0, -100.0)
    duration: float = 10.0


def oscillator(numbers: Oscillator | None = None) -> Scenario:
    """Both masses of a two-mass oscillator in one mechanism: the monolithic reference of a co-simulation."""
    numbers = numbers or Oscillator()
    names = ("first", "second")
    bodies = [Body(f"{name}_mass", mass) for name, mass in zip(names, numbers.masses, strict=True)]
    joints = [Joint(name, "prismatic", GROUND, f"{name}_mass", axis=ALONG) for name in names]
    springs = [_spring(numbers, 0, "first"), _spring(numbers, 1, "stretch"), _spring(numbers, 2, "second")]
    machine = Machine(
        "oscillator",
        Mechanism("oscillator", tuple(bodies), tuple(joints), gravity=(0.0, 0.0, 0.0)),
        blocks=tuple(springs),
        coordinates=(LinearCombination("stretch", {"first": -1.0, "second": 1.0}),),
    )
    initial = {f"{name}.velocity": v for name, v in zip(names, numbers.velocities, strict=True)}
    return _scenario("oscillator", machine, numbers, initial, "Two masses coupled by a spring")


def oscillator_side(side: int, takes: str | None = None, numbers: Oscillator | None = None) -> Scenario:
    """One mass of a two-mass oscillator with its own spring, for co-simulation.

    Args:
        takes: what its interface `port` takes from the other side; None leaves the interface out.
    """
    numbers = numbers or Oscillator()
    name = ("first", "second")[side]
    mechanism = Mechanism(
        name,
        (Body("mass", numbers.masses[side]),),
        (Joint("slide", "prismatic", GROUND, "mass", axis=ALONG),),
        gravity=(0.0, 0.0, 0.0),
    )
    elastic: dict[str, Any] = {"stiffness": numbers.stiffness[1], "damping": numbers.damping[1]}
    elastic = {} if takes == "force" else elastic
    interfaces = (Interface(PORT, takes, on="slide", **elastic),) if takes else ()
    spring = _spring(numbers, 2 * side, "slide", "spring")
    machine = Machine(f"oscillator-{name}", mechanism, blocks=(spring,), interfaces=interfaces)
    initial = {"slide.velocity": numbers.velocities[side]}
    return _scenario(f"oscillator-{name}", machine, numbers, initial, f"The {name} of two masses, cut from the other")


def oscillator_sides(coupling: str, numbers: Oscillator | None = None) -> tuple[Scenario, Scenario]:
    """Both sides of the cut, ready to be coupled in one of the ways of `COUPLINGS`."""
    refuse_word("coupling", coupling, COUPLINGS, "oscillator")
    first, second = COUPLINGS[coupling]
    return oscillator_side(0, first, numbers), oscillator_side(1, second, numbers)


def _spring(numbers: Oscillator, k: int, on: str, name: str | None = None) -> Block:
    values = {"stiffness": numbers.stiffness[k], "damping": numbers.damping[k]}
    return Block(name or f"{on}_spring", "spring", on=on, parameters=values)


def _scenario(name: str, machine: Machine, numbers: Oscillator, initial: dict[str, float], title: str) -> Scenario:
    return Scenario(
        name, machine, numbers.duration, initial, recording=Recording(rate=100.0), solver=SOLVER, title=title
    )
