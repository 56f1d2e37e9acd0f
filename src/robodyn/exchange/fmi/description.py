"""modelDescription.xml: what does an FMU say about itself, in both versions of FMI?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from robodyn.exchange.codegen.model import Model
from robodyn.exchange.fmi.structure import add_structure_2, add_structure_3
from robodyn.exchange.fmi.units import add_units
from robodyn.exchange.fmi.variables import INDEPENDENT, PARAMETER, Variable

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
