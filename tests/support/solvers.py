"""Solvers of any kind from one set of settings."""

from robodyn.description.model import Solver
from robodyn.description.model.solver import ADAPTIVE_ONLY, is_adaptive


def any_solver(method: str, **settings: object) -> Solver:
    """A solver with those of the settings that count for its method: fixed-step ones have no step control."""
    dropped = () if is_adaptive(method) else ADAPTIVE_ONLY
    return Solver(method, **{key: value for key, value in settings.items() if key not in dropped})
