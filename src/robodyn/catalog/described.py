"""Scenarios of the catalogue that are files, as a user writes them: a rover, a quadrotor and an arm on a slope."""

from __future__ import annotations

from pathlib import Path

from robodyn.files import read_scenario
from robodyn.model import Scenario

FILES = Path(__file__).parent / "files"


def rover() -> Scenario:
    """A rover on two driven wheels that roll without slipping: it drives an S under sampled velocity loops."""
    return read_scenario(FILES / "rover.toml")


def quadrotor() -> Scenario:
    """A quadrotor rises to 1 m and levels itself: a floating base on the thrusts of four propellers."""
    return read_scenario(FILES / "quadrotor.toml")


def arm_on_slope() -> Scenario:
    """A box on a slope, held by dry friction that truly sticks while a sticking arm on it swings."""
    return read_scenario(FILES / "arm_on_slope.toml")
