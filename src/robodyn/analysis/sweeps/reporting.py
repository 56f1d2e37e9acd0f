"""Summary of a sweep: what did it find, in words?"""

from __future__ import annotations

import numpy as np

from robodyn.analysis.sweeps.table import SweepTable

HEADINGS = ("lowest", "5 %", "50 %", "95 %", "highest")


def describe_sweep(table: SweepTable) -> str:
    """Percentiles of every measure, where on the grid it is lowest and highest, which runs were not carried through."""
    width = max([len("measure"), *map(len, table.measures)])
    lines = [f"{table.scenario}: {_describe_runs(table)}"]
    lines.append(f"{'measure':<{width}} " + " ".join(f"{heading:>11}" for heading in HEADINGS) + "  unit")
    for name in table.measures:
        numbers = " ".join(f"{value:>11.5g}" for value in table.percentiles(name))
        lines.append(f"{name:<{width}} {numbers}  {table.units[name]}".rstrip())
    for name, values in table.measures.items():
        if table.axes and np.isfinite(values).any():
            ends = (("lowest", np.nanargmin(values)), ("highest", np.nanargmax(values)))
            lines += [f"{name} {word} in run {run}: {_describe_place(table, int(run))}" for word, run in ends]
    return "\n".join(lines)


def _describe_runs(table: SweepTable) -> str:
    message = f"{len(table)} runs, {int((table.done | table.suspect).sum())} of them carried through"
    if np.isfinite(table.rate):
        message += f"\n{table.simulated:.5g} s simulated in {table.elapsed:.3g} s: "
        message += f"{table.rate:.4g} robots x seconds per second"
    for kind, count in table.failures.items():
        first = table.outcomes.index(kind)
        message += f"\n{count} {kind.replace('_', ' ')}, run {first}: {table.sentences[first]}"
    return message


def _describe_place(table: SweepTable, run: int) -> str:
    """Where on the grid a run is, and that it is suspect."""
    place = ", ".join(f"{axis.label} = {axis.places[axis.index[run]]:.5g} {axis.unit}".rstrip() for axis in table.axes)
    return f"{place} (suspect)" if table.suspect[run] else place
