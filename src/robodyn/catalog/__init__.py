"""Ready machines and scenarios, built only from descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from robodyn.catalog.pendulums import double_pendulum, pendulum
from robodyn.catalog.scara import scara_mechanism, scara_ptp
from robodyn.catalog.six_axis import six_axis_mechanism, swinging_arm
from robodyn.catalog.two_link import two_link_loop, two_link_mechanism
from robodyn.errors import Flaw, ModelError, nearest
from robodyn.model import Scenario

SCENARIOS: Mapping[str, Callable[[], Scenario]] = {
    "pendulum": pendulum,
    "double-pendulum": double_pendulum,
    "swinging-arm": swinging_arm,
    "scara-ptp": scara_ptp,
    "two-link-loop": two_link_loop,
}


def find_scenario(name: str) -> Scenario:
    """A scenario of the catalogue by name."""
    if name not in SCENARIOS:
        raise ModelError([Flaw("", f"there is no scenario '{name}'", nearest(name, SCENARIOS))], "catalogue")
    return SCENARIOS[name]()


__all__ = [
    "SCENARIOS",
    "double_pendulum",
    "find_scenario",
    "pendulum",
    "scara_mechanism",
    "scara_ptp",
    "six_axis_mechanism",
    "swinging_arm",
    "two_link_loop",
    "two_link_mechanism",
]
