"""robodyn compare: how far are two runs apart?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.targets import load_run


@app.command("compare")
def compare_runs(
    first: Annotated[str, typer.Argument(help="A run file.")],
    second: Annotated[str, typer.Argument(help="Another run file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the largest difference of each signal over the time both runs cover."""
    from robodyn.computation.results import compare

    try:
        found = compare(load_run(first), load_run(second))
    except ValueError as error:
        raise fail(error) from error
    if as_json:
        extra = {"only_in_first": list(found.only_in_first), "only_in_second": list(found.only_in_second)}
        print_json({"differences": [asdict(row) for row in found], **extra})
        return
    output.print(f"{'signal':<36} {'largest':>12} {'at':>10} {'rms':>12}  unit")
    for row in sorted(found, key=lambda row: -(row.max_abs / row.scale if row.scale else row.max_abs)):
        numbers = f"{row.max_abs:12.4e} {row.at_time:10.4f} {row.rms:12.4e}"
        output.print(f"{row.name:<36} {numbers}  {row.unit}")
    for name, only in ((first, found.only_in_first), (second, found.only_in_second)):
        if only:
            output.print(f"only in {name}: {', '.join(only)}")
