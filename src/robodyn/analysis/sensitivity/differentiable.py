"""Differentiable simulation for JAX and PyTorch: a whole run as a function of parameters with its exact derivative.

    y = run(p),   dy = (dy/dp) dp

y are signals at given times, dy/dp the forward sensitivities of the run itself, through events, sticking and samples;
nothing is traced or unrolled by the other package, which needs only be installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.base import Array, Flaw, FlawList, ModelError, frozen, refuse
from robodyn.description.model import Scenario, Solver

from .system import sensitivity_name
from .variation import Variation, prepare_variation


@frozen(eq=False)
class RunFunction:
    """A run as a function: parameters (n,) -> signals at times, (n_times, n_signals).

    Attributes:
        start: values of the parameters as the scenario has them.
    """

    variation: Variation
    parameters: tuple[str, ...]
    signals: tuple[str, ...]
    times: Array

    @property
    def start(self) -> Array:
        """Values of the parameters as the scenario has them."""
        return np.array([number.value for number in self.variation.numbers])

    def __call__(self, values: Any) -> Array:
        """y(p)."""
        return self.with_jacobian(values)[0]

    def with_jacobian(self, values: Any) -> tuple[Array, Array]:
        """y(p) and dy/dp, (n_times, n_signals, n)."""
        parameters = dict(zip(self.parameters, np.asarray(values, float).ravel().tolist(), strict=True))
        run = self.variation.attempt(parameters, self.times)
        if isinstance(run, str):
            refuse("", run, source="run as a function")
        y = np.column_stack([run[name].values for name in self.signals])
        slopes = [[run[sensitivity_name(s, p)].values for s in self.signals] for p in self.parameters]
        return y, np.array(slopes).transpose(2, 1, 0)

    def to_torch(self) -> Any:
        """The function for PyTorch: tensor (n,) -> tensor (n_times, n_signals), in double precision."""
        torch = _import("torch")
        function = self

        class Simulated(torch.autograd.Function):  # type: ignore[misc, name-defined, unused-ignore]
            @staticmethod
            def forward(ctx: Any, values: Any) -> Any:
                y, jacobian = function.with_jacobian(values.detach().cpu().double().numpy())
                ctx.save_for_backward(torch.as_tensor(jacobian, dtype=torch.float64))
                ctx.kind = values.dtype
                return torch.as_tensor(y, dtype=torch.float64)

            @staticmethod
            def backward(ctx: Any, grown: Any) -> Any:
                (jacobian,) = ctx.saved_tensors
                return torch.einsum("tsp,ts->p", jacobian, grown.double()).to(ctx.kind)

        return Simulated.apply

    def to_jax(self) -> Any:
        """The function for JAX: array (n,) -> array (n_times, n_signals); forward and reverse mode, within jit too.

        In double precision only if JAX is set to it: `jax.config.update("jax_enable_x64", True)`.
        """
        jax = _import("jax")
        jnp = jax.numpy
        shape, count = (self.times.size, len(self.signals)), len(self.parameters)

        def kind() -> Any:
            return jnp.result_type(float)

        def simulate(values: Any) -> Any:
            found = jax.ShapeDtypeStruct(shape, kind())
            return jax.pure_callback(lambda p: self(p).astype(found.dtype), found, values)

        def tangent(primals: Any, tangents: Any) -> Any:
            parts = jax.ShapeDtypeStruct(shape, kind()), jax.ShapeDtypeStruct((*shape, count), kind())

            def both(p: Any) -> Any:
                return tuple(part.astype(kind()) for part in self.with_jacobian(p))

            y, jacobian = jax.pure_callback(both, parts, *primals)
            return y, jnp.einsum("tsp,p->ts", jacobian, tangents[0])

        simulated = jax.custom_jvp(simulate)
        simulated.defjvp(tangent)
        return simulated


def run_function(
    scenario: Scenario,
    parameters: Sequence[str],
    signals: Sequence[str],
    times: Sequence[float] | Array,
    solver: Solver | None = None,
) -> RunFunction:
    """A scenario's run as a function of some of its numbers.

    Args:
        parameters: tunable numbers, also `initial.<state>`; signals: names; times: [s], increasing, within the run.

    Raises:
        ModelError: unknown names, or no exact derivatives, and why.
    """
    grid, flaws = np.asarray(times, float), FlawList()
    if (
        grid.ndim != 1
        or not grid.size
        or np.any(np.diff(grid) <= 0)
        or not 0 <= grid[0] <= grid[-1] <= scenario.duration
    ):
        flaws.add("times", f"must increase within 0 to {scenario.duration:g} s")
    if not parameters:
        flaws.add("parameters", "names no number")
    flaws.raise_if_any("run as a function")
    variation = prepare_variation(scenario, tuple(parameters), tuple(signals), solver)
    if not variation.exact:
        refuse("parameters", f"have no exact derivative: {variation.reason}", source="run as a function")
    return RunFunction(variation, tuple(parameters), tuple(signals), grid)


def _import(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        remedy = f"pip install 'robodyn[{name}]'"
        raise ModelError([Flaw("", f"this needs the package {name}", remedy)]) from error
