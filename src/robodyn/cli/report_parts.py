"""robodyn report --with: which analyses go into the page of a scenario?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.base.errors import Flaw, ModelError
from robodyn.cli.application import fail

if TYPE_CHECKING:
    from robodyn.computation.assembly import System
    from robodyn.presentation.reporting.displays import Display

PARTS = ("loops", "modes", "sweep", "budget", "sheet")


def read_parts(text: str) -> list[str]:
    """Names with commas between them; all wrong ones are reported."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    remedy = f"choose among {', '.join(PARTS)}"
    flaws = [Flaw(f"--with {part}", "is unknown", remedy) for part in parts if part not in PARTS]
    if flaws:
        raise ModelError(flaws)
    return parts


def refuse_idle(parts: list[str], vary: list[str], random: list[str]) -> None:
    """Refuse numbers that are varied where no part of the page varies them."""
    for option, given, users in (("vary", vary, ("sweep",)), ("random", random, ("sweep", "sheet"))):
        if given and not set(users) & set(parts):
            raise fail(f"--{option}: has no effect without --with {' or '.join(users)}")


def analyse(system: System, parts: list[str], vary: list[str], random: list[str]) -> list[dict[str, Any]]:
    """Each part as a section of the page.

    Args:
        vary, random: what a sweep varies, and what differs from cycle to cycle on a sheet.
    """
    from robodyn.presentation.reporting import to_section

    makers = {"loops": _loops, "modes": _modes, "budget": _budget}
    drawn = {"sweep": _sweep, "sheet": _sheet}
    found = [
        drawn[part](system, *_read_varied(system, vary, random)) if part in drawn else makers[part](system)
        for part in parts
    ]
    return [to_section(display) for display in found]


def _read_varied(system: System, vary: list[str], random: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    from robodyn.base.errors import FlawList
    from robodyn.cli.sweep import read_varied

    flaws = FlawList()
    name = system.scenario.name
    found = read_varied(flaws, system, name, vary, [], random)
    flaws.raise_if_any(f"report of '{name}'")
    return found


def read_note_file(path: Path) -> dict[str, Any]:
    """A text as a section of the page."""
    from robodyn.presentation.pages import read_note

    try:
        return read_note(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise fail(f"--note {path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise fail(f"--note {path}: is no text in UTF-8") from error


def _loops(system: System) -> Display:
    from robodyn.analysis.linear.loop_table import loop_table
    from robodyn.presentation.reporting.shown import show_loops

    return show_loops(loop_table(system))


def _modes(system: System) -> Display:
    from robodyn.analysis.linear.modes import find_modes
    from robodyn.presentation.reporting.shown import show_modes

    try:
        return show_modes(find_modes(system, at="equilibrium"))
    except ModelError:
        found = show_modes(find_modes(system, at="start"))
        return replace(found, sentences=("about the start, since no equilibrium was found", *found.sentences))


def _budget(system: System) -> Display:
    from robodyn.analysis.budget.split import split_deviation
    from robodyn.presentation.reporting.shown import show_budget

    return show_budget(split_deviation(system))


def _sheet(system: System, vary: dict[str, Any], random: dict[str, Any]) -> Display:
    from robodyn.analysis.accuracy.sheet import make_sheet
    from robodyn.presentation.reporting.shown import show_sheet

    return show_sheet(make_sheet(system, random))


def _sweep(system: System, vary: dict[str, Any], random: dict[str, Any]) -> Display:
    from robodyn.analysis.sweeps.plan import plan_sweep
    from robodyn.analysis.sweeps.runner import run_sweep
    from robodyn.presentation.reporting.shown import show_sweep

    if not vary and not random:
        raise fail("--with sweep: say what is varied: --vary NAME=FIRST:LAST:COUNT or --random NAME=scale:0.9:1.1")
    return show_sweep(run_sweep(plan_sweep(system, vary=vary, random=random)))
