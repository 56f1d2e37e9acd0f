"""Variables of an exported FMU: which does it show, under which value references? One row, numbered by the runtime."""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi as ca

from robodyn.exchange.codegen.model import Model

PARAMETER, INPUT, OUTPUT, INDEPENDENT, LOCAL = "parameter", "input", "output", "independent", "local"
START = "start value{found}; set between steps, the state goes on from there"
FOUND = {
    "at_rest": ", found at rest",
    "assembled": ", found where all constraints are met",
}
"""What start values are that other parameters move along, unless one of them is set."""


@dataclass(frozen=True)
class Variable:
    """A scalar: how it may be used, and what it is before the start.

    Attributes:
        depends: references of the inputs and states that it is computed from; None where it is not computed.
        nominal: typical magnitude, of states. rate_of: reference of the state whose rate it is, by time.
        indicates: whether its change of sign is an event.
    """

    name: str
    reference: int
    causality: str
    variability: str
    unit: str = ""
    start: float | None = None
    description: str = ""
    depends: tuple[int, ...] | None = None
    nominal: float | None = None
    rate_of: int | None = None
    indicates: bool = False

    @property
    def initial(self) -> str | None:
        """How the value at the start comes about."""
        return {PARAMETER: "exact", OUTPUT: "calculated", LOCAL: "calculated"}.get(self.causality)


def list_variables(model: Model) -> tuple[Variable, ...]:
    """Time, parameters, start values, inputs, outputs, with model exchange rates of states and event indicators;
    parameters that must stay as they are are left out."""
    system = model.system
    time = [Variable("time", 0, INDEPENDENT, "continuous", "s")]
    parameters = [
        Variable(_name_number(model, number.name), 1 + k, *_use(model, number.name), number.unit, number.value)
        for k, number in enumerate(system.parameters)
        if number.name not in model.fixed
    ]
    first = 1 + len(system.parameters)
    about = START.format(found=FOUND.get(system.scenario.initialisation, ""))
    initial = [
        Variable(f"initial.{s.name}", first + k, PARAMETER, "tunable", s.unit, float(model.start.x[k]), about)
        for k, s in enumerate(system.states)
    ]
    first += len(system.states)
    inputs = _list_inputs(model, first)
    outputs = _list_outputs(model, first, first + len(inputs))
    carried = _list_carried(model, first, first + len(inputs)) if model.exchange else []
    return (*time, *parameters, *initial, *inputs, *outputs, *carried)


def _name_number(model: Model, number: str) -> str:
    """A number that has the name of an output gets another name."""
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
    names = model.system.signal_names
    column = [model.system.expressions.outputs[names.index(info.name)] for info in model.outputs]
    depends = _find_dependences(model, column, first_input, first)
    return [
        Variable(
            info.name,
            first + k,
            OUTPUT,
            # What follows an input moves with it, whatever moves it in the scenario.
            "continuous" if any(reference < first for reference in depends[k]) else kinds[info.kind],
            info.unit,
            depends=depends[k],
            nominal=_find_nominal(model, model.output_states[k]),
        )
        for k, info in enumerate(model.outputs)
    ]


def _find_nominal(model: Model, place: int) -> float | None:
    """A state's magnitude; 1 where its error does not count here."""
    nominal = model.system.states[place].nominal
    return None if place < 0 else nominal if math.isfinite(nominal) else 1.0


def _list_carried(model: Model, first_input: int, first_output: int) -> list[Variable]:
    """What another integrator reads: rates of all states, then guards and limits."""
    system, first = model.system, first_output + len(model.outputs)
    rates = [system.expressions.rhs[k] for k in range(len(system.states))]
    depends = _find_dependences(model, rates, first_input, first_output)
    found = [
        Variable(
            f"der({state.name})",
            first + k,
            LOCAL,
            "continuous",
            f"{state.unit}/s" if state.unit else "1/s",
            depends=depends[k],
            rate_of=first_output + model.output_states.index(k),
        )
        for k, state in enumerate(system.states)
    ]
    limited = [system.states[k].name for k in system.limited]
    names = [guard.name for guard in model.guards]
    names += [f"{name}.{side}_limit" for side in ("upper", "lower") for name in limited]
    first += len(found)
    events = [Variable(f"event({n})", first + k, LOCAL, "continuous", indicates=True) for k, n in enumerate(names)]
    return found + events


def _find_dependences(model: Model, column: list[ca.SX], first_input: int, first_output: int) -> list[tuple[int, ...]]:
    """References of the inputs and states that each entry of a column is computed from."""
    system = model.system
    states = {place: first_output + k for k, place in enumerate(model.output_states) if place >= 0}
    numbers = [k for k, number in enumerate(system.parameters) if number.name in model.numbers]
    known = [states[k] for k in range(len(system.states))] + [first_input + k for k in range(len(model.inputs))]
    known += [1 + k for k in numbers]
    by = [system.symbols.x, *(system.symbols.m[k] for k in model.input_places)]
    by += [system.symbols.p[k] for k in numbers]
    found: list[set[int]] = [set() for _ in column]
    if column and known:
        pattern = ca.jacobian_sparsity(ca.vertcat(*column), ca.vertcat(*by))
        for row, place in zip(*pattern.get_triplet(), strict=True):
            found[row].add(known[place])
    return [tuple(sorted(references)) for references in found]
