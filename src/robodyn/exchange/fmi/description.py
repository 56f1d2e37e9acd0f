"""modelDescription.xml: variables, units, values, structure."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import casadi as ca

from robodyn.base.units import BASE, UnitError, known_unit
from robodyn.description.files.units import is_quantity, read_quantity, split_quantity
from robodyn.exchange.codegen.model import Model
from robodyn.exchange.fmi.unit_variables import REALS, UnitVariable, Value

# --------------------------------------------------------------------------------------------------
# Unit definitions of FMI: what is a unit of measure in base units, as model descriptions want it?


def add_units(parent: Element, units: Iterable[str]) -> None:
    """The element of all units that variables have, with their base units where these are known."""
    wanted = sorted(set(units) - {""})
    if not wanted:
        return
    definitions = SubElement(parent, "UnitDefinitions")
    for name in wanted:
        unit = SubElement(definitions, "Unit", name=name)
        known = known_unit(name)
        if known is not None and all(power.denominator == 1 for power in known.dimension.values()):
            exponents = {base: str(known.dimension[base]) for base in BASE if base in known.dimension}
            SubElement(unit, "BaseUnit", exponents | ({"factor": repr(known.factor)} if known.factor != 1 else {}))


# --------------------------------------------------------------------------------------------------
# Typed values of FMI: which value does a variable take? What it does not take is refused, never clipped.


FLAGS: dict[Any, bool] = {"false": False, "0": False, 0: False, "true": True, "1": True, 1: True}


class ValueRefused(ValueError):
    """A value that a variable does not take; the sentence says what it takes."""


def read_value(variable: UnitVariable, given: Any) -> Value:
    """A number or text as the interface wants it: float, int or bool."""
    if variable.kind == "Boolean":
        return _read_flag(given)
    if variable.items:
        return _read_item(variable, given)
    if variable.kind not in REALS:
        return _in_range(variable, _read_whole(variable, given), given)
    if isinstance(given, str):
        return _in_range(variable, _read_real(variable, given.strip()), given)
    if not _is_number(given):
        raise ValueRefused(f"must be a number, is {_told(given)}")
    return _in_range(variable, float(given), given)


def _is_number(given: Any) -> bool:
    return isinstance(given, numbers.Real) and not isinstance(given, bool)


def _in_range(variable: UnitVariable, value: Any, given: Any) -> Any:
    low, high = variable.low, variable.high
    if variable.kind in REALS and math.isinf(low) and math.isinf(high):
        return value
    if not low <= value <= high:
        bounds = (f"at least {low}" if low > -math.inf else "", f"at most {high}" if high < math.inf else "")
        whole = "" if variable.kind in REALS else "a whole number "
        raise ValueRefused(f"must be {whole}{' and '.join(filter(None, bounds))}, is {_told(given)}")
    return value


def _read_real(variable: UnitVariable, text: str) -> float:
    """A number with a unit of measure, in the one that the variable is measured in, which need not be of SI."""
    number, unit = split_quantity(text) if is_quantity(text) else ("", "")
    if number and unit in ("", variable.unit):
        return float(number)
    if number and not variable.unit:
        raise ValueRefused(f'"{text}" has a unit of measure, and the variable none: give a plain number')
    own = known_unit(variable.unit)
    si, factor = (own.name or "1", own.factor) if own else (variable.unit, 1.0)
    try:
        return read_quantity(text, si) / factor
    except UnitError as error:
        raise ValueRefused(str(error)) from error


def _read_whole(variable: UnitVariable, given: Any) -> int:
    """Integers of 64 bits are not all floats: text and whole numbers are kept as they are."""
    try:
        if isinstance(given, str):
            return int(given)
        if _is_number(given) and given == int(given):
            return int(given)
    except (ValueError, OverflowError):
        pass
    raise ValueRefused(f"must be a whole number from {variable.low} to {variable.high}, is {_told(given)}")


def _read_flag(given: Any) -> bool:
    key = given.strip().lower() if isinstance(given, str) else given
    if isinstance(key, Hashable) and key in FLAGS:
        return FLAGS[key]
    raise ValueRefused(f"must be true or false (1 or 0), is {_told(given)}")


def _read_item(variable: UnitVariable, given: Any) -> int:
    """An item of an enumeration, by name or number."""
    allowed = {name: k for name, k in variable.items.items() if variable.low <= k <= variable.high}
    if isinstance(given, str) and given.strip() in allowed:
        return allowed[given.strip()]
    message = ", ".join(f"{name} ({k})" for name, k in allowed.items())
    try:
        number = _read_whole(variable, given)
    except ValueRefused:
        number = None
    if number is None or number not in allowed.values():
        raise ValueRefused(f"must be one of {message}, is {_told(given)}")
    return number


def _told(given: Any) -> str:
    return f'"{given}"' if isinstance(given, str) else f"{given}"


# --------------------------------------------------------------------------------------------------
# Variables of an exported FMU: which does it show, under which value references? One row, numbered by the runtime.


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


# --------------------------------------------------------------------------------------------------
# modelStructure: what is computed from what? Outputs, state derivatives and event indicators of an FMU.


def add_structure_2(root: Element, variables: Sequence[Variable]) -> None:
    """By the places of the variables; outputs and rates are unknown before the start."""
    index = {variable.reference: str(k + 1) for k, variable in enumerate(variables)}
    structure = SubElement(root, "ModelStructure")
    lists = {"Outputs": _outputs(variables), "Derivatives": _rates(variables)}
    lists["InitialUnknowns"] = [*lists["Outputs"], *lists["Derivatives"]]
    for name, unknowns in lists.items():
        entries = SubElement(structure, name) if unknowns else structure
        for variable in unknowns:
            message = {"index": index[variable.reference]}
            if name != "InitialUnknowns":
                message["dependencies"] = " ".join(index[reference] for reference in variable.depends or ())
            SubElement(entries, "Unknown", message)


def add_structure_3(root: Element, variables: Sequence[Variable]) -> None:
    """By the references of the variables."""
    structure = SubElement(root, "ModelStructure")
    outputs, rates = _outputs(variables), _rates(variables)
    for name, unknowns in {"Output": outputs, "ContinuousStateDerivative": rates}.items():
        for variable in unknowns:
            depends = " ".join(map(str, variable.depends or ()))
            SubElement(structure, name, valueReference=str(variable.reference), dependencies=depends)
    for variable in (*outputs, *rates):
        SubElement(structure, "InitialUnknown", valueReference=str(variable.reference))
    for variable in variables:
        if variable.indicates:
            SubElement(structure, "EventIndicator", valueReference=str(variable.reference))


def _outputs(variables: Sequence[Variable]) -> list[Variable]:
    return [variable for variable in variables if variable.causality == OUTPUT]


def _rates(variables: Sequence[Variable]) -> list[Variable]:
    return [variable for variable in variables if variable.rate_of is not None]


# --------------------------------------------------------------------------------------------------
# modelDescription.xml: what does an FMU say about itself, in both versions of FMI?


COMMON = {
    2: (
        *("canNotUseMemoryManagementFunctions", "canGetAndSetFMUstate", "canSerializeFMUstate"),
        "providesDirectionalDerivative",
    ),
    3: ("canGetAndSetFMUState", "canSerializeFMUState", "providesDirectionalDerivatives"),
}
ABILITIES = {
    "ModelExchange": {2: (), 3: ("needsCompletedIntegratorStep",)},
    "CoSimulation": {
        2: ("canHandleVariableCommunicationStepSize",),
        3: ("canHandleVariableCommunicationStepSize", "mightReturnEarlyFromDoStep", "hasEventMode"),
    },
}
"""What a unit can do, by the version of the interface: of all kinds, and of one."""
KINDS = {"cs": ("CoSimulation",), "me": ("ModelExchange",), "both": ("ModelExchange", "CoSimulation")}


@dataclass(frozen=True)
class Unit:
    """What is reported of a unit besides its model.

    Attributes:
        fmi: version of the interface, 2 or 3. kind: one of `KINDS`.
        identifier: name of the binary, a C identifier. token: must agree with the binary's.
        sources: names of the C files.
    """

    fmi: int
    kind: str
    identifier: str
    token: str
    sources: tuple[str, ...]


def describe_unit(model: Model, variables: Sequence[Variable], unit: Unit) -> bytes:
    """The model description of a unit."""
    root = _describe_2(model, variables, unit) if unit.fmi == 2 else _describe_3(model, variables, unit)
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="utf-8") + b"\n"


def write_build_description(identifier: str, sources: Sequence[str]) -> bytes:
    """How to compile the sources of a unit of version 3."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    files = SubElement(configuration, "SourceFileSet", language="C99")
    for name in sources:
        SubElement(files, "SourceFile", name=name)
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="utf-8") + b"\n"


def _head(model: Model, versioned: Mapping[str, str]) -> Element:
    scenario = model.system.scenario
    about = {"description": scenario.title} if scenario.title else {}
    tool = {"generationTool": f"robodyn {_version()}", "variableNamingConvention": "flat"}
    return Element("fmiModelDescription", {**versioned, "modelName": scenario.name, **about, **tool})


def _version() -> str:
    try:
        return version("robodyn")
    except PackageNotFoundError:
        return "(not installed)"


def _add_experiment(root: Element, model: Model) -> None:
    settings = {"startTime": "0", "stopTime": repr(float(model.system.scenario.duration))}
    if model.solver.adaptive:
        settings["tolerance"] = repr(model.solver.rtol)
    SubElement(root, "DefaultExperiment", settings)


def _add_kinds(root: Element, unit: Unit) -> list[Element]:
    """An element for each of the uses that can be made of the unit."""
    return [
        SubElement(
            root,
            kind,
            {
                "modelIdentifier": unit.identifier,
                **dict.fromkeys((*COMMON[unit.fmi], *ABILITIES[kind][unit.fmi]), "true"),
            },
        )
        for kind in KINDS[unit.kind]
    ]


def _describe_2(model: Model, variables: Sequence[Variable], unit: Unit) -> Element:
    # Event indicators are only counted in this version.
    n_indicators = sum(variable.indicates for variable in variables)
    variables = [variable for variable in variables if not variable.indicates]
    counted = {"numberOfEventIndicators": str(n_indicators)} if n_indicators else {}
    root = _head(model, {"fmiVersion": "2.0", "guid": unit.token})
    root.attrib.update(counted)
    for kind in _add_kinds(root, unit):
        files = SubElement(kind, "SourceFiles")
        for name in unit.sources:
            SubElement(files, "File", name=name)
    add_units(root, (variable.unit for variable in variables))
    SubElement(SubElement(root, "LogCategories"), "Category", name="logStatusError")
    _add_experiment(root, model)
    listed = SubElement(root, "ModelVariables")
    places = {variable.reference: k + 1 for k, variable in enumerate(variables)}
    for variable in variables:
        entry = SubElement(listed, "ScalarVariable", _attributes(variable))
        SubElement(entry, "Real", _value(variable) | _describe_rate(variable, model, places))
    add_structure_2(root, variables)
    return root


def _describe_3(model: Model, variables: Sequence[Variable], unit: Unit) -> Element:
    root = _head(model, {"fmiVersion": "3.0", "instantiationToken": unit.token})
    _add_kinds(root, unit)
    add_units(root, (variable.unit for variable in variables))
    SubElement(SubElement(root, "LogCategories"), "Category", name="logStatusError")
    _add_experiment(root, model)
    listed = SubElement(root, "ModelVariables")
    places = {variable.reference: variable.reference for variable in variables}
    for variable in variables:
        message = _attributes(variable) | _value(variable) | _describe_rate(variable, model, places)
        SubElement(listed, "Float64", message)
    add_structure_3(root, variables)
    return root


def _describe_rate(variable: Variable, model: Model, places: Mapping[int, int]) -> dict[str, str]:
    """Of a rate: where its state stands; of a state: that events may change it."""
    if variable.rate_of is not None:
        return {"derivative": str(places[variable.rate_of])}
    return {"reinit": "true"} if model.exchange and variable.nominal is not None else {}


def _attributes(variable: Variable) -> dict[str, str]:
    said = {"name": variable.name, "valueReference": str(variable.reference)}
    if variable.description:
        said["description"] = variable.description
    said |= {"causality": variable.causality, "variability": variable.variability}
    if variable.initial and variable.causality != PARAMETER:
        said["initial"] = variable.initial
    return said


def _value(variable: Variable) -> dict[str, str]:
    said = {"unit": variable.unit} if variable.unit else {}
    if variable.nominal is not None:
        said["nominal"] = repr(float(variable.nominal))
    if variable.start is not None and variable.causality != INDEPENDENT:
        said["start"] = repr(float(variable.start))
    return said
