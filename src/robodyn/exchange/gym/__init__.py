"""Reinforcement learning: a scenario as episodes of plain arrays, and as environments of Gymnasium (extra
`gymnasium`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base import load_when_used

if TYPE_CHECKING:
    from .environments import ScenarioEnv, ScenarioVectorEnv
    from .episodes import Episodes, Step, Task

# Plain arrays need no Gymnasium.
__getattr__, __dir__, __all__ = load_when_used(__name__)
