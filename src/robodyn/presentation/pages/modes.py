"""Mode page: how do the modes of a machine become a page on which they vibrate?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.computation.results import Run

from .contents import describe_run
from .mesh_store import BUDGET, MeshStore
from .page import SCRIPTS, assemble_page, write_page

if TYPE_CHECKING:
    from robodyn.analysis.linear.modes import Mode
    from robodyn.analysis.linear.vibration import Vibration

_SCRIPTS = (*SCRIPTS[:-1], "modes.js")
_LEADING = 3
# What the page shows of a run: it moves, and all else is said of the modes.
_SHOWN = ("label", "machine", "machine_note", "events", "rows", "kept", "time", "signals")


def write_modes(vibration: Vibration, path: str | Path) -> Path:
    """Write the page of a machine's modes to a file, all or nothing; see `make_modes_page`."""
    return write_page(make_modes_page(vibration), path)


def make_modes_page(vibration: Vibration) -> str:
    """The page as text: a table of all modes, and the machine swinging in the chosen one over its rest position."""
    meshes = MeshStore()
    rest = _describe(vibration.rest, "at rest", meshes) | {"backdrop": True}
    if rest["machine"] is None:
        raise ValueError(rest["machine_note"])
    runs = [
        _describe(run, f"{mode.frequency:.4g} Hz", meshes) | {"caption": _caption(mode, vibration.period)}
        for mode, run in zip(vibration.modes, vibration.runs, strict=True)
    ]
    drawn = {id(mode): k + 1 for k, mode in enumerate(vibration.modes)}
    table = [_row(mode) | {"run": drawn.get(id(mode))} for mode in vibration.found]
    name, notes = vibration.rest.provenance.scenario, list(vibration.found.model.notes)
    data = {"runs": [rest, *runs], "modes": table, "notes": notes, "period": vibration.period}
    return assemble_page("modes.html", _SCRIPTS, f"Modes of {name}", data | meshes.encode(BUDGET))


def _describe(run: Run, label: str, meshes: MeshStore) -> dict[str, Any]:
    message = describe_run(run, label, meshes)
    return {key: message[key] for key in _SHOWN}


def _row(mode: Mode) -> dict[str, Any]:
    shares = {name: share for name, share in mode.participation.items() if name in mode.dominant(_LEADING)}
    states = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
    numbers = (mode.frequency, mode.damping, mode.time_constant)
    return {"frequency": numbers[0], "damping": numbers[1], "constant": numbers[2], "states": states}


def _caption(mode: Mode, period: float) -> str:
    shown = f"drawn in {period:g} s and as large as it is well seen, without its damping"
    return f"{mode.frequency:.4g} Hz, damping ratio {mode.damping:.3g}; a period is {shown}"
