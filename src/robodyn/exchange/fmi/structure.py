"""modelStructure: what is computed from what? Outputs, state derivatives and event indicators of an FMU."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from robodyn.exchange.fmi.variables import OUTPUT, Variable


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
