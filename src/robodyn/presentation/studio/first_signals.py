"""First signals: what is plotted of a run before anybody has chosen? What it should keep small, then how it moves."""

from robodyn.computation.results import Run
from robodyn.presentation.pages.contents import choose_signals

ERRORS = ("deviation.", "error", "following_error")
MOST_OF_A_UNIT, MOST_UNITS = 4, 3


def choose_first(run: Run) -> list[str]:
    """Deviations and errors first, then positions and velocities: a few of a unit, in few units."""
    units = {info.name: info.unit for info in run.infos}
    errors = [name for name in units if name.startswith(ERRORS)]
    told = {units[name] for name in errors}
    groups: dict[str, list[str]] = {}
    for name in (*errors, *(name for name in choose_signals([run]) if units[name] not in told)):
        groups.setdefault(units[name], []).append(name)
    return [name for group in list(groups.values())[:MOST_UNITS] for name in group[:MOST_OF_A_UNIT]]
