"""Which scenario or run does the user mean?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.cli.application import fail
from robodyn.errors import Flaw, ModelError, nearest

if TYPE_CHECKING:
    from robodyn.model import Scenario
    from robodyn.results import Run


def load_scenario(what: str) -> Scenario:
    """A scenario of the catalogue by name, or read from a TOML file."""
    if what.endswith(".toml") or Path(what).is_file():
        from robodyn.files import read_scenario

        return read_scenario(what)
    from robodyn.catalog import SCENARIOS, find_scenario

    if what not in SCENARIOS:
        remedy = f"{nearest(what, SCENARIOS)}, or give a file ending in .toml"
        raise ModelError([Flaw("", f"there is no scenario '{what}'", remedy)])
    return find_scenario(what)


def load_run(path: str) -> Run:
    """A run from its file."""
    from robodyn.results import RunFileError, load

    try:
        return load(path)
    except FileNotFoundError as error:
        raise fail(f"there is no run file '{path}'") from error
    except (RunFileError, OSError) as error:
        raise fail(f"{path}: {error}") from error


def read_settings(pairs: list[str]) -> dict[str, float]:
    """Numbers given as key=value, with units where wished (`elbow.position="30 deg"`)."""
    from robodyn.files.units import UnitError, read_quantity

    settings: dict[str, float] = {}
    flaws = []
    for pair in pairs:
        key, equals, text = pair.partition("=")
        try:
            if not equals or not key:
                raise UnitError("must be written as key=value")
            settings[key.strip()] = read_quantity(text)
        except UnitError as error:
            flaws.append(Flaw(f"--set {pair}", str(error)))
    if flaws:
        raise ModelError(flaws)
    return settings
