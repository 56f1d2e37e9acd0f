"""Which variables does a unit show, under which references? They stand in one row, as the runtime numbers them."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from robodyn.codegen.model import Model

PARAMETER, INPUT, OUTPUT, INDEPENDENT = "parameter", "input", "output", "independent"
START = "start value{found}; set between steps, the state goes on from there"
FOUND = {
    "equilibrium": ", found at rest",
    "assembled": ", found where all constraints are met",
}
"""What start values are that other parameters move along, unless one of them is set."""


@dataclass(frozen=True)
class Variable:
    """A scalar: how it may be used, and what it is before the start.

    Attributes:
        depends: references of the inputs and states that it is computed from; None where it is not computed.
    """

    name: str
    reference: int
    causality: str
    variability: str
    unit: str = ""
    start: float | None = None
    description: str = ""
    depends: tuple[int, ...] | None = None

    @property
    def initial(self) -> str | None:
        """How the value at the start comes about."""
        return {PARAMETER: "exact", OUTPUT: "calculated"}.get(self.causality)


def list_variables(model: Model) -> tuple[Variable, ...]:
    """Time, parameters, start values, inputs, outputs; parameters that must stay as they are are left out."""
    system = model.system
    time = [Variable("time", 0, INDEPENDENT, "continuous", "s")]
    parameters = [
        Variable(_name_number(model, number.name), 1 + k, *_use(model, number.name), number.unit, number.value)
        for k, number in enumerate(system.parameters)
        if number.name not in model.fixed
    ]
    first = 1 + len(system.parameters)
    about = START.format(found=FOUND.get(system.scenario.start, ""))
    initial = [
        Variable(f"initial.{s.name}", first + k, PARAMETER, "tunable", s.unit, float(model.start.x[k]), about)
        for k, s in enumerate(system.states)
    ]
    first += len(system.states)
    inputs = _list_inputs(model, first)
    outputs = _list_outputs(model, first, first + len(inputs))
    return (*time, *parameters, *initial, *inputs, *outputs)


def _name_number(model: Model, number: str) -> str:
    """A number that has the name of an output is told apart from it."""
    return f"parameter.{number}" if any(info.name == number for info in model.outputs) else number


def _use(model: Model, number: str) -> tuple[str, str]:
    """Causality and variability of one of the system's numbers."""
    if number in model.numbers:
        return INPUT, "continuous"
    return PARAMETER, "fixed" if number in model.at_start else "tunable"


def _list_inputs(model: Model, first: int) -> list[Variable]:
    memory = {info.name: info for info in model.system.memory}
    starts = dict(zip(memory, model.start.m, strict=True))
    return [
        Variable(name, first + k, INPUT, "continuous", memory[name].unit, float(starts[name]))
        for k, name in enumerate(model.inputs)
    ]


def _list_outputs(model: Model, first_input: int, first: int) -> list[Variable]:
    kinds = {"continuous": "continuous", "held": "discrete"}
    depends = _find_dependences(model, first_input, first)
    return [
        Variable(
            info.name,
            first + k,
            OUTPUT,
            # What follows an input moves with it, whatever moves it in the scenario.
            "continuous" if any(reference < first for reference in depends[k]) else kinds[info.kind],
            info.unit,
            depends=depends[k],
        )
        for k, info in enumerate(model.outputs)
    ]


def _find_dependences(model: Model, first_input: int, first_output: int) -> list[tuple[int, ...]]:
    """References of the inputs and states that each output is computed from."""
    system = model.system
    states = {place: first_output + k for k, place in enumerate(model.output_states) if place >= 0}
    numbers = [k for k, number in enumerate(system.parameters) if number.name in model.numbers]
    known = [states[k] for k in range(len(system.states))] + [first_input + k for k in range(len(model.inputs))]
    known += [1 + k for k in numbers]
    columns = [system.symbols["x"], *(system.symbols["m"][k] for k in model.input_places)]
    columns += [system.symbols["p"][k] for k in numbers]
    names = system.signal_names
    outputs = [system.expressions["outputs"][names.index(info.name)] for info in model.outputs]
    found: list[set[int]] = [set() for _ in outputs]
    if outputs and known:
        pattern = ca.jacobian_sparsity(ca.vertcat(*outputs), ca.vertcat(*columns))
        for row, column in zip(*pattern.get_triplet(), strict=True):
            found[row].add(known[column])
    return [tuple(sorted(references)) for references in found]
