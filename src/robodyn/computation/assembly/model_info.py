"""Record of a controller's model: what is known of it beside its law, which axes and task, and where does it start?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robodyn.computation.assembly.model_functions import ModelFunctions
from robodyn.computation.assembly.model_scales import Scales
from robodyn.description.model.task import TaskRows


@dataclass(frozen=True, eq=False)
class ModelInfo:
    """The model that a block's law has got.

    Attributes:
        positions, velocities: states of its joints, with their start values; determined: whether constraints and
            axes leave nothing free.
    """

    block: str
    axes: tuple[str, ...]
    rows: TaskRows
    functions: ModelFunctions
    scales: Scales
    positions: Mapping[str, float]
    velocities: Mapping[str, float]
    determined: bool
