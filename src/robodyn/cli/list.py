"""robodyn list: what can be run?"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.application import app, output, print_json

if TYPE_CHECKING:
    from robodyn.base.extensions import Extension
    from robodyn.description.catalog import Maker


@app.command("list")
def list_scenarios(
    options: Annotated[bool, typer.Option(help="Print what each takes as NAME:option=value,...")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the scenarios of the catalogue, each with the package that brings it."""
    from robodyn.description import catalog

    known = catalog.list_scenarios().items()
    rows: list[dict[str, Any]] = []
    for name, found in known:
        taken = {option: kind.__name__ for option, kind in catalog.options_of(found.thing).items()}
        row = {"name": name, "title": catalog.title_of(found.thing), "package": found.package, "options": taken}
        rows.append(row)
    if as_json:
        print_json([row | {"duration": _duration(name, found)} for row, (name, found) in zip(rows, known, strict=True)])
        return
    names, packages = (max(len(str(row[key])) for row in rows) for key in ("name", "package"))
    for row in rows:
        output.print(f"{row['name']:<{names}} {row['package']:<{packages}} {row['title']}")
        if options and row["options"]:
            output.print(f"{'':<{names}} options: {', '.join(row['options'])}")


def _duration(name: str, found: Extension[Maker]) -> float | None:
    """How long a scenario lasts [s], as it is made; None, with a warning, where it cannot be."""
    from robodyn.description import catalog

    try:
        return catalog.make_scenario(name, found).duration
    except Exception as error:  # noqa: BLE001 - one that cannot be made must not hide the others
        warnings.warn(str(error), stacklevel=1)
        return None
