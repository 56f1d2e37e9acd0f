"""Scenarios of the catalogue that are files, as a user writes them: a rover, a quadrotor and an arm on a slope."""

from __future__ import annotations

from pathlib import Path

from robodyn.description.model import Scenario

FILES = Path(__file__).parent / "files"


def _read(name: str) -> Scenario:
    from robodyn.description.files import read_scenario

    return read_scenario(FILES / name)


def rover() -> Scenario:
    """A rover on two driven wheels that roll without slipping: it drives an S under sampled velocity loops."""
    return _read("rover.toml")


def quadrotor() -> Scenario:
    """A quadrotor rises to 1 m and levels itself: a floating base on the thrusts of four propellers."""
    return _read("quadrotor.toml")


def arm_on_slope() -> Scenario:
    """A box on a slope, held by dry friction that truly sticks while a sticking arm on it swings."""
    return _read("arm_on_slope.toml")
