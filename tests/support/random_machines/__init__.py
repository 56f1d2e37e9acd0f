"""Random machines with all that a scenario may hold, the same for the same seed."""

from support.random_machines.scenarios import random_scenario

__all__ = ["random_scenario"]
