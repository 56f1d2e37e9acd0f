"""What does a unit say about itself? The text of its modelDescription.xml, in both versions of the interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from robodyn.codegen.model import Model
from robodyn.fmi.units import add_units
from robodyn.fmi.variables import INDEPENDENT, OUTPUT, PARAMETER, Variable

ABILITIES_2 = (
    *("canHandleVariableCommunicationStepSize", "canNotUseMemoryManagementFunctions", "canGetAndSetFMUstate"),
    *("canSerializeFMUstate", "providesDirectionalDerivative"),
)
ABILITIES_3 = (
    *("canGetAndSetFMUState", "canSerializeFMUState", "providesDirectionalDerivatives"),
    *("canHandleVariableCommunicationStepSize", "hasEventMode"),
)


def describe_unit(
    model: Model, variables: Sequence[Variable], fmi: int, identifier: str, token: str, sources: Sequence[str]
) -> bytes:
    """The model description of a co-simulation unit.

    Args:
        fmi: version of the interface, 2 or 3.
        identifier: name of the binary, a C identifier. token: must agree with the binary's.
        sources: names of the C files.
    """
    root = _describe_2(model, variables, identifier, token, sources)
    if fmi == 3:
        root = _describe_3(model, variables, identifier, token)
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


def _describe_2(
    model: Model, variables: Sequence[Variable], identifier: str, token: str, sources: Sequence[str]
) -> Element:
    root = _head(model, {"fmiVersion": "2.0", "guid": token})
    unit = SubElement(root, "CoSimulation", {"modelIdentifier": identifier, **dict.fromkeys(ABILITIES_2, "true")})
    files = SubElement(unit, "SourceFiles")
    for name in sources:
        SubElement(files, "File", name=name)
    add_units(root, (variable.unit for variable in variables))
    SubElement(SubElement(root, "LogCategories"), "Category", name="logStatusError")
    _add_experiment(root, model)
    listed = SubElement(root, "ModelVariables")
    for variable in variables:
        entry = SubElement(listed, "ScalarVariable", _attributes(variable))
        SubElement(entry, "Real", _value(variable))
    _add_structure_2(root, variables)
    return root


def _add_structure_2(root: Element, variables: Sequence[Variable]) -> None:
    """Outputs, with the places of what they are computed from; all of them are unknown before the start."""
    index = {variable.reference: str(k + 1) for k, variable in enumerate(variables)}
    structure = SubElement(root, "ModelStructure")
    outputs = [variable for variable in variables if variable.causality == OUTPUT]
    if not outputs:
        return
    known, unknown = SubElement(structure, "Outputs"), SubElement(structure, "InitialUnknowns")
    for variable in outputs:
        depends = " ".join(index[reference] for reference in variable.depends or ())
        SubElement(known, "Unknown", index=index[variable.reference], dependencies=depends)
        SubElement(unknown, "Unknown", index=index[variable.reference])


def _describe_3(model: Model, variables: Sequence[Variable], identifier: str, token: str) -> Element:
    root = _head(model, {"fmiVersion": "3.0", "instantiationToken": token})
    SubElement(root, "CoSimulation", {"modelIdentifier": identifier, **dict.fromkeys(ABILITIES_3, "true")})
    add_units(root, (variable.unit for variable in variables))
    SubElement(SubElement(root, "LogCategories"), "Category", name="logStatusError")
    _add_experiment(root, model)
    listed = SubElement(root, "ModelVariables")
    for variable in variables:
        SubElement(listed, "Float64", _attributes(variable) | _value(variable))
    structure = SubElement(root, "ModelStructure")
    outputs = [variable for variable in variables if variable.causality == OUTPUT]
    for variable in outputs:
        depends = " ".join(map(str, variable.depends or ()))
        SubElement(structure, "Output", valueReference=str(variable.reference), dependencies=depends)
    for variable in outputs:
        SubElement(structure, "InitialUnknown", valueReference=str(variable.reference))
    return root


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
    if variable.start is not None and variable.causality != INDEPENDENT:
        said["start"] = repr(float(variable.start))
    return said
