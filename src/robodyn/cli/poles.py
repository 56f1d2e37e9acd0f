"""robodyn poles: poles and zeros between inputs and outputs, which of them cancel, and a model of lower order."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.errors import nearest
from robodyn.cli.answers import draw
from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.loops import tell_notes
from robodyn.cli.targets import load_single, refuse_other, split_names

if TYPE_CHECKING:
    import numpy as np

    from robodyn.analysis.linear.balanced import Truncation

PLACES = ("equilibrium", "start")


@app.command("poles")
def show_poles(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    input: Annotated[list[str], typer.Option(help="Numbers that are varied, or patterns of them.")],
    output_signal: Annotated[list[str], typer.Option("--output", help="Signals that follow them, or patterns.")],
    order: Annotated[
        int | None, typer.Option(help="Order of the truncated model; default: what has an effect.")
    ] = None,
    at: Annotated[str, typer.Option(help="Where to linearise: equilibrium or start.")] = "equilibrium",
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw poles and zeros into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Poles and invariant zeros of a linearised scenario, and what balanced (Hankel) truncation leaves of it."""
    from robodyn.analysis.linear.balanced import truncate
    from robodyn.analysis.linear.linearisation import linearise
    from robodyn.analysis.linear.subspaces import find_hidden_poles
    from robodyn.analysis.linear.zeros import find_cancelled_pairs, find_zeros
    from robodyn.computation.assembly import assemble

    refuse_other("--at", at, PLACES)
    system = assemble(load_single(scenario, setting))
    numbers = _choose("--input", input, [number.name for number in system.parameters])
    signals = _choose("--output", output_signal, system.signal_names)
    model = linearise(system, at, numbers, signals)
    hidden, pairs = find_hidden_poles(model), find_cancelled_pairs(model)
    reduced = truncate(model, order)
    draw("--plot", plot, lambda reporting, path: reporting.plot_pole_zeros(model, path))
    roots: dict[str, Sequence[complex] | np.ndarray] = {
        "poles": model.poles(),
        "zeros": find_zeros(model),
        "cancelled": [pair.pole for pair in pairs],
        "uncontrollable": hidden.uncontrollable,
        "unobservable": hidden.unobservable,
    }
    if as_json:
        found = {name: [[root.real, root.imag] for root in values] for name, values in roots.items()}
        print_json({"notes": list(model.notes), "inputs": numbers, "outputs": signals, **found, **_plain(reduced)})
        return
    tell_notes(model.notes)
    output.print(f"{len(numbers)} inputs, {len(signals)} outputs, rad/s")
    for name, values in roots.items():
        output.print(f"{len(values):>3} {name:<15} {_listed(values)}")
    kept = f"order {reduced.model.order} of {model.order}, {reduced.unstable} of it not stable"
    output.print(f"truncated: {kept}; error at any frequency at most {reduced.error_bound:.3g}")
    output.print(f"its poles           {_listed(reduced.model.poles())}")


def _choose(option: str, patterns: list[str], names: Sequence[str]) -> list[str]:
    """Names that fit the patterns, in the order of the patterns."""
    chosen: dict[str, None] = {}
    for pattern in split_names(patterns):
        matches = [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            raise fail(f"{option} {pattern}: there is none ({nearest(pattern, names)})")
        chosen |= dict.fromkeys(matches)
    return list(chosen)


def _listed(values: Sequence[complex] | np.ndarray) -> str:
    """Roots once each with how often they occur, of pairs the upper one: `-5 (x12)  -1.99 +- 1.136j`."""
    texts: dict[str, int] = {}
    for root in sorted(values, key=lambda root: (abs(root), -root.imag)):
        real, imaginary = float(f"{root.real:.4g}"), float(f"{root.imag:.4g}")
        # What rounding leaves beside the axis is none of a pair.
        alone = abs(imaginary) <= 1e-4 * abs(root)
        if alone or imaginary > 0:
            text = f"{real:.4g}" if alone else f"{real:.4g} +- {imaginary:.4g}j"
            texts[text] = texts.get(text, 0) + 1
    return "  ".join(text if count == 1 else f"{text} (x{count})" for text, count in texts.items()) or "-"


def _plain(reduced: Truncation) -> dict[str, Any]:
    return {
        "order": reduced.model.order,
        "hankel_values": reduced.hankel_values.tolist(),
        "error_bound": reduced.error_bound,
        "reduced_poles": [[root.real, root.imag] for root in reduced.model.poles()],
    }
