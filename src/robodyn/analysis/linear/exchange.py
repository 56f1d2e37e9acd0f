"""Exchange with python-control: how do linear models go there and come from there?"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.analysis.linear.linear_model import LinearModel, Variable
from robodyn.analysis.linear.margins import find_output
from robodyn.analysis.linear.sampling import SampledModel, lift
from robodyn.base.errors import Flaw, ModelError


def to_control(model: LinearModel, pade: int | None = None) -> Any:
    """A `control.StateSpace` with the model's names, dots as underscores: `elbow.position` is `elbow_position` there.

    Args:
        pade: order of the approximation of each delay; needed where there are delays.
    """
    if model.delays and pade is None:
        what = f"the model has {len(model.delays)} delays, which python-control's state space has not"
        raise ModelError([Flaw("pade", what, "give the order of their Pade approximations")], "linear model")
    control = import_control()
    finite = model if pade is None else model.with_pade(pade)
    names = {
        part: [variable.name.replace(".", "_") for variable in getattr(finite, part)]
        for part in ("states", "inputs", "outputs")
    }
    return control.StateSpace(finite.A, finite.B, finite.C, finite.D, remove_useless_states=False, **names)


def loop_to_control(model: SampledModel, signal: str, output: str | None = None) -> Any:
    """A discrete `control.StateSpace` of a sampled loop cut at a held signal, with a sample time of a cycle.

    Without an output it is the gain once round the loop, its sign turned: `control.margin` and `control.feedback` take
    it as it is. With one it is how the output follows the signal, as `respond_held` says. Where the signal is written
    several times in a cycle of all ticks there are as many inputs and outputs, one for each writing or tick (lifting).
    """
    control = import_control()
    lifted = lift(model, [signal])
    settings = {"dt": lifted.turn_time, "remove_useless_states": False}
    if output is None:
        return control.StateSpace(lifted.M, lifted.B, -lifted.C, -lifted.D, **settings)
    rows = slice(find_output(model, output), None, len(model.outputs))
    return control.StateSpace(lifted.M, lifted.B, lifted.P[rows], lifted.Q[rows], **settings)


def from_control(system: Any) -> LinearModel:
    """A linear model without delays from a continuous system of python-control (transfer functions are realised)."""
    control = import_control()
    if system.isdtime(strict=True):
        what = f"is sampled every {system.dt} s, a LinearModel is continuous"
        raise ModelError([Flaw("system", what, "give the continuous system")], "linear model")
    found = control.ss(system)
    labels = (found.state_labels, found.input_labels, found.output_labels)
    states, inputs, outputs = (tuple(Variable(name) for name in names) for names in labels)
    A, B, C, D = (np.array(matrix) for matrix in (found.A, found.B, found.C, found.D))
    return LinearModel(A, B, C, D, states=states, inputs=inputs, outputs=outputs)


def import_control() -> Any:
    """The package, or how to get it."""
    try:
        import control
    except ImportError as error:
        remedy = "pip install 'robodyn[control]'"
        raise ModelError([Flaw("", "exchange with python-control needs the package control", remedy)]) from error
    return control
