"""modelDescription.xml: variables, units, values, structure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import casadi as ca

from robodyn.base import frozen
from robodyn.base.units import BASE, known_unit
from robodyn.exchange.codegen.model import ExportedModel

# --------------------------------------------------------------------------------------------------
# Unit definitions of FMI: what is a unit of measure in base units, as model descriptions want it?


def add_units(parent: Element, units: Iterable[str]) -> None:
    """The element of all units that variables have, with their base units where these are known."""
    names = sorted(set(units) - {""})
    if not names:
        return
    definitions = SubElement(parent, "UnitDefinitions")
    for name in names:
        unit = SubElement(definitions, "Unit", name=name)
        measure = known_unit(name)
        if measure is not None and all(power.denominator == 1 for power in measure.dimension.values()):
            exponents = {base: str(measure.dimension[base]) for base in BASE if base in measure.dimension}
            SubElement(unit, "BaseUnit", exponents | ({"factor": repr(measure.factor)} if measure.factor != 1 else {}))


# --------------------------------------------------------------------------------------------------
# Variables of an exported FMU: which does it show, under which value references? One row, numbered by the runtime.


PARAMETER, INPUT, OUTPUT, INDEPENDENT, LOCAL = "parameter", "input", "output", "independent", "local"
START = "start value{found}; set between steps, the state goes on from there"
FOUND = {
    "at_rest": ", found at rest",
    "assembled": ", found where all constraints are met",
}
"""Remarks on start values that other parameters move along, unless one of them is set."""


@frozen
class FmuVariable:
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


def list_variables(model: ExportedModel) -> tuple[FmuVariable, ...]:
    """Time, parameters, start values, inputs, outputs, with model exchange rates of states and event indicators;
    parameters that must stay as they are are left out."""
    system, states = model.system, model.system.states
    memory = {info.name: info for info in system.memory}
    starts = dict(zip(memory, model.start.m.tolist(), strict=True))
    # References: one row, time first, numbered by the runtime.
    first_state = 1 + len(system.parameters)
    first_input = first_state + len(states)
    first_output = first_input + len(model.inputs)
    first_rate = first_output + len(model.outputs)

    variables = [FmuVariable("time", 0, INDEPENDENT, "continuous", "s")]
    outputs = {info.name for info in model.outputs}
    for k, number in enumerate(system.parameters, start=1):
        if number.name not in model.fixed:
            use = PARAMETER, "fixed" if number.name in model.at_start else "tunable"
            use = (INPUT, "continuous") if number.name in model.numbers else use
            # A number that has the name of an output gets another name.
            name = f"parameter.{number.name}" if number.name in outputs else number.name
            variables.append(FmuVariable(name, k, *use, number.unit, number.value))
    about = START.format(found=FOUND.get(system.scenario.initialisation, ""))
    for k, (state, start) in enumerate(zip(states, model.start.x.tolist(), strict=True), start=first_state):
        variables.append(FmuVariable(f"initial.{state.name}", k, PARAMETER, "tunable", state.unit, start, about))
    for k, name in enumerate(model.inputs, start=first_input):
        variables.append(FmuVariable(name, k, INPUT, "continuous", memory[name].unit, starts[name]))

    # What is computed depends on states, which are outputs, and on inputs.
    references = {place: first_output + k for k, place in enumerate(model.output_states) if place >= 0}
    numbers = [k for k, number in enumerate(system.parameters) if number.name in model.numbers]
    sources = [references[k] for k in range(len(states))] + [*range(first_input, first_output)]
    sources += [1 + k for k in numbers]
    by = ca.vertcat(
        system.symbols.x,
        *(system.symbols.m[k] for k in model.input_places),
        *(system.symbols.p[k] for k in numbers),
    )
    computed = [system.signal_expressions[info.name] for info in model.outputs]
    computed += ca.vertsplit(system.expressions.rhs) if model.exchange and states else []
    depends: list[set[int]] = [set() for _ in computed]
    if computed and sources:
        for row, place in zip(*ca.jacobian_sparsity(ca.vertcat(*computed), by).get_triplet(), strict=True):
            depends[row].add(sources[place])

    kinds = {"continuous": "continuous", "held": "discrete"}
    for k, (info, place) in enumerate(zip(model.outputs, model.output_states, strict=True)):
        # What follows an input moves with it, whatever moves it in the scenario.
        follows = any(reference < first_output for reference in depends[k])
        kind = "continuous" if follows else kinds[info.kind]
        # A state's magnitude; 1 where its error does not count here.
        nominal = None
        if place >= 0:
            nominal = states[place].nominal if math.isfinite(states[place].nominal) else 1.0
        own = FmuVariable(info.name, first_output + k, OUTPUT, kind, info.unit, nominal=nominal)
        variables.append(replace(own, depends=tuple(sorted(depends[k]))))
    if not model.exchange:
        return tuple(variables)

    # What another integrator reads: rates of all states, then guards and limits.
    for k, (state, by_rate) in enumerate(zip(states, depends[len(model.outputs) :], strict=True)):
        unit = f"{state.unit}/s" if state.unit else "1/s"
        rate = FmuVariable(f"der({state.name})", first_rate + k, LOCAL, "continuous", unit, rate_of=references[k])
        variables.append(replace(rate, depends=tuple(sorted(by_rate))))
    limited = [states[k].name for k in system.limited]
    names = [guard.name for guard in model.guards]
    names += [f"{name}.{side}_limit" for side in ("upper", "lower") for name in limited]
    for k, name in enumerate(names, start=first_rate + len(states)):
        variables.append(FmuVariable(f"event({name})", k, LOCAL, "continuous", indicates=True))
    return tuple(variables)


# --------------------------------------------------------------------------------------------------
# modelStructure: what is computed from what? Outputs, state derivatives and event indicators of an FMU.


UNKNOWNS = {
    2: ("Outputs", "Derivatives", "InitialUnknowns"),
    3: ("Output", "ContinuousStateDerivative", "InitialUnknown"),
}


def add_structure(root: Element, variables: Sequence[FmuVariable], places: Mapping[int, int], fmi: int) -> None:
    """Outputs and rates, which are unknown before the start too, and event indicators.

    Args:
        places: by which a variable is named: its number in version 2, its reference in version 3.
    """
    structure = SubElement(root, "ModelStructure")
    outputs = [variable for variable in variables if variable.causality == OUTPUT]
    rates = [variable for variable in variables if variable.rate_of is not None]
    key = "index" if fmi == 2 else "valueReference"
    for name, unknowns in zip(UNKNOWNS[fmi], (outputs, rates, [*outputs, *rates]), strict=True):
        # Version 2 has a list of each kind, version 3 an element of each kind.
        parent = SubElement(structure, name) if fmi == 2 and unknowns else structure
        for variable in unknowns:
            entry = SubElement(parent, "Unknown" if fmi == 2 else name, {key: str(places[variable.reference])})
            if not name.startswith("Initial"):
                depends = [str(places[reference]) for reference in variable.depends or ()]
                entry.set("dependencies", " ".join(depends))
    for variable in variables:
        if variable.indicates:
            SubElement(structure, "EventIndicator", valueReference=str(variable.reference))


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
"""Abilities of a unit by the version of the interface: of all kinds, and of one."""
KINDS = {"cs": ("CoSimulation",), "me": ("ModelExchange",), "both": ("ModelExchange", "CoSimulation")}


@frozen
class UnitHeader:
    """The head of a unit's description, besides its model.

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


def describe_unit(model: ExportedModel, variables: Sequence[FmuVariable], unit: UnitHeader) -> bytes:
    """The model description of a unit."""
    scenario, second = model.system.scenario, unit.fmi == 2
    try:
        tool = f"robodyn {version('robodyn')}"
    except PackageNotFoundError:
        tool = "robodyn (not installed)"
    head = {"fmiVersion": f"{unit.fmi}.0", "guid" if second else "instantiationToken": unit.token}
    head["modelName"] = scenario.name
    if scenario.title:
        head["description"] = scenario.title
    head |= {"generationTool": tool, "variableNamingConvention": "flat"}
    n_indicators = sum(variable.indicates for variable in variables)
    if second and n_indicators:
        # Event indicators are only counted in this version.
        head["numberOfEventIndicators"] = str(n_indicators)
        variables = [variable for variable in variables if not variable.indicates]
    root = Element("fmiModelDescription", head)
    # An element for each of the uses that can be made of the unit.
    for kind in KINDS[unit.kind]:
        abilities = dict.fromkeys((*COMMON[unit.fmi], *ABILITIES[kind][unit.fmi]), "true")
        use = SubElement(root, kind, {"modelIdentifier": unit.identifier, **abilities})
        if second:
            _add_files(SubElement(use, "SourceFiles"), "File", unit.sources)
    add_units(root, (variable.unit for variable in variables))
    SubElement(SubElement(root, "LogCategories"), "Category", name="logStatusError")
    experiment = {"startTime": "0", "stopTime": repr(float(scenario.duration))}
    if model.solver.adaptive:
        experiment["tolerance"] = repr(model.solver.rtol)
    SubElement(root, "DefaultExperiment", experiment)
    listed = SubElement(root, "ModelVariables")
    places = {variable.reference: k + 1 if second else variable.reference for k, variable in enumerate(variables)}
    for variable in variables:
        attributes = {"name": variable.name, "valueReference": str(variable.reference)}
        if variable.description:
            attributes["description"] = variable.description
        attributes |= {"causality": variable.causality, "variability": variable.variability}
        if variable.causality in (OUTPUT, LOCAL):
            attributes["initial"] = "calculated"
        value = {"unit": variable.unit} if variable.unit else {}
        value |= {
            key: repr(float(number))
            for key, number in (("nominal", variable.nominal), ("start", variable.start))
            if number is not None
        }
        # Of a rate: where its state stands; of a state: that events may change it.
        if variable.rate_of is not None:
            value["derivative"] = str(places[variable.rate_of])
        elif model.exchange and variable.nominal is not None:
            value["reinit"] = "true"
        if second:
            SubElement(SubElement(listed, "ScalarVariable", attributes), "Real", value)
        else:
            SubElement(listed, "Float64", attributes | value)
    add_structure(root, variables, places, unit.fmi)
    return _xml(root)


def write_build_description(identifier: str, sources: Sequence[str]) -> bytes:
    """How to compile the sources of a unit of version 3."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    _add_files(SubElement(configuration, "SourceFileSet", language="C99"), "SourceFile", sources)
    return _xml(root)


def _add_files(parent: Element, tag: str, names: Sequence[str]) -> None:
    for name in names:
        SubElement(parent, tag, name=name)


def _xml(root: Element) -> bytes:
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="utf-8") + b"\n"
