"""Frequency response (Bode): how strongly and how late does an output follow a sinusoidal input?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn.analysis.linear.linear_model import LinearModel, Variable, find_places
from robodyn.base.errors import Flaw, ModelError

# Points of a chosen grid, and the part of a decade it goes beyond the slowest and fastest pole.
GRID_POINTS, GRID_MARGIN = 1200, 1.0
# Poles slower than this part of the fastest one count as integrators and do not widen a grid.
SLOWEST = 1e-6
# The response at a pole that is damped less is too high to be drawn.
LEAST_DAMPING = 1e-4


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """The response of one output to one input.

    Attributes:
        frequency: [Hz], (n,), increasing; values: complex, (n,), in the output's unit over the input's.
    """

    JSON = """
    frequency: [Hz]
    magnitude_db = decibel
    phase_deg = phase
    """
    input: Variable
    output: Variable
    frequency: np.ndarray
    values: np.ndarray

    @property
    def magnitude(self) -> np.ndarray:
        """|y / u|."""
        return np.abs(self.values)

    @property
    def decibel(self) -> np.ndarray:
        """20 log10 of the magnitude."""
        return 20 * np.log10(np.maximum(self.magnitude, np.finfo(float).tiny))

    @property
    def phase(self) -> np.ndarray:
        """Angle of y / u [deg], without jumps of 360 deg between neighbouring frequencies."""
        return np.degrees(np.unwrap(np.angle(self.values)))

    @property
    def unit(self) -> str:
        """Unit of the magnitude; empty where output and input have the same."""
        if self.output.unit == self.input.unit:
            return ""
        over = f"({self.input.unit})" if set(" /") & set(self.input.unit) else self.input.unit
        return f"{self.output.unit or '1'}/{over}" if over else self.output.unit


def respond(
    model: LinearModel, input: str | None = None, output: str | None = None, frequency: ArrayLike | None = None
) -> FrequencyResponse:
    """The exact response of one output to one input, delays included.

    Args:
        input, output: names; the only one where there is one.
        frequency: [Hz], increasing; by default a grid around the model's poles.
    """
    column, row = (
        choose_variable(input, model.inputs, "input", "frequency response"),
        choose_variable(output, model.outputs, "output", "frequency response"),
    )
    grid = choose_frequencies([model]) if frequency is None else np.atleast_1d(np.asarray(frequency, float))
    if grid.ndim != 1 or not grid.size or np.any(grid < 0) or np.any(np.diff(grid) <= 0) or not np.isfinite(grid).all():
        raise ModelError([Flaw("frequency", "must be increasing numbers of at least 0 Hz")], "frequency response")
    channel = model.choose([model.inputs[column].name], [model.outputs[row].name])
    values = channel.frequency_response(2 * np.pi * grid)[:, 0, 0]
    return FrequencyResponse(model.inputs[column], model.outputs[row], grid, values)


def choose_frequencies(models: Sequence[LinearModel], count: int = GRID_POINTS) -> np.ndarray:
    """Frequencies [Hz] that show the poles of all models, evenly spaced in decades; damped peaks are hit."""
    poles = np.concatenate([model.poles() for model in models])
    sizes = np.abs(poles) / (2 * np.pi)
    fastest = sizes.max(initial=0.0)
    if fastest == 0:
        return np.logspace(-2, 2, count)
    slowest = sizes[sizes > SLOWEST * fastest].min()
    grid = np.logspace(np.log10(slowest) - GRID_MARGIN, np.log10(fastest) + GRID_MARGIN, count)
    damped = poles[(poles.imag > 0) & (np.abs(poles.real) > LEAST_DAMPING * np.abs(poles))]
    return np.union1d(grid, damped.imag / (2 * np.pi))


def choose_variable(name: str | None, variables: tuple[Variable, ...], part: str, purpose: str) -> int:
    """Index of the input or output named, or of the only one."""
    if name is None and len(variables) != 1:
        known = ", ".join(variable.name for variable in variables) or "none"
        raise ModelError([Flaw(part, f"the model has {len(variables)}: {known}", "say which")], purpose)
    return 0 if name is None else find_places([name], variables, f"{part}s")[0]
