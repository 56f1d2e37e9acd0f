"""Preparation of an export: which model leaves as code, and with which run is it compared?"""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.assembly import assemble
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.run_functions import compile_system
from robodyn.computation.simulation.starting import find_start
from robodyn.description.model import Scenario, ScenarioSequence, Solver
from robodyn.exchange.codegen.model import Model, build_model, check_parts


def prepare_model(
    scenario: Scenario | ScenarioSequence, solver: Solver | None, inputs: Mapping[str, float | None], *, plain: bool
) -> tuple[Model, CompiledSystem]:
    """The model of a whole run, and the simulation of the same rounding.

    Raises:
        ModelError: with every reason why it cannot be exported.
    """
    if isinstance(scenario, ScenarioSequence):
        what = "is a sequence of scenarios, whose phases end at events"
        raise ModelError([Flaw("scenario", what, "export one of its phases")])
    _check_inputs(scenario, inputs)
    signals = {name: value or 0.0 for name, value in inputs.items()}
    system = assemble(scenario, inputs=signals)
    solver = solver or scenario.solver
    check_parts(system, solver)
    compiled = compile_system(system, solver, plain=plain)
    start = find_start(compiled, compiled.parameter_values({}))
    return build_model(system, solver, tuple(signals), (), start, whole_run=True, plain=plain), compiled


def _check_inputs(scenario: Scenario, inputs: Mapping[str, float | None]) -> None:
    """Numbers need not be declared: they are parameters, if they are tunable."""
    flaws, numbers = FlawList(), scenario.numbers()
    for name in inputs:
        if name in numbers:
            flaws.add(f"inputs.{name}", "is a number", "declare it tunable: a parameter can be set at any time")
    flaws.raise_if_any(f"code of '{scenario.name}'")
