"""Which scenario or run does the user mean?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.cli.application import fail
from robodyn.errors import Flaw, ModelError, nearest

if TYPE_CHECKING:
    from robodyn.model import Chain, Number, Scenario
    from robodyn.results import Run
    from robodyn.studies import Study


def load_scenario(what: str) -> Scenario | Chain:
    """A scenario of the catalogue by name, or read from a TOML file."""
    if what.endswith(".fmu"):
        raise fail(f"{what} is a unit, not a scenario: `run` takes it, and `cosim` in a file")
    if what.endswith(".toml") or Path(what).is_file():
        from robodyn.files import read_scenario

        return read_scenario(what)
    from robodyn.catalog import SCENARIOS, find_scenario

    if what not in SCENARIOS:
        remedy = f"{nearest(what, SCENARIOS)}; a file must end in .toml"
        raise ModelError([Flaw("", f"there is no scenario '{what}'", remedy)])
    return find_scenario(what)


def load_single(what: str) -> Scenario:
    """One scenario, not a chain of them."""
    phases = phases_of(load_scenario(what))
    if len(phases) > 1:
        raise fail(f"{what} is a chain of {len(phases)} phases: name one scenario")
    return phases[0]


def load_study(name: str) -> Study:
    """A study by name."""
    from robodyn.studies import STUDIES

    if name not in STUDIES:
        raise ModelError([Flaw("", f"there is no study '{name}'", nearest(name, STUDIES))])
    return STUDIES[name]


def phases_of(what: Scenario | Chain) -> tuple[Scenario, ...]:
    """The scenarios of a chain, or the one scenario."""
    from robodyn.model import Chain

    return what.phases if isinstance(what, Chain) else (what,)


def load_run(path: str) -> Run:
    """A run from its file."""
    from robodyn.results import RunFileError, load

    try:
        return load(path)
    except FileNotFoundError as error:
        raise fail(f"there is no run file '{path}'") from error
    except RunFileError as error:
        raise fail(error) from error
    except OSError as error:
        raise fail(f"{path}: cannot be read: {error.strerror}") from error


def written_units(source: str, known: Mapping[str, Number]) -> dict[str, str]:
    """Units other than of SI that a scenario's file gives its numbers in; none for one of the catalogue."""
    if not Path(source).is_file():
        return {}
    from robodyn.files.written_units import find_written_units

    return find_written_units(source, known)


def read_settings(pairs: list[str], what: Scenario | Chain, source: str) -> dict[str, float]:
    """Numbers given as key=value, with units where wished (`initial.elbow.position="30 deg"`).

    Args:
        source: name or file of the scenario; a number that the file gives in degrees must have a unit here too.
    """
    from robodyn.files.units import UnitError, read_quantity

    known = what.numbers()
    starts = {f"initial.{name}": unit for name, unit in phases_of(what)[0].state_units().items()}
    written = written_units(source, known) if pairs else {}
    settings: dict[str, float] = {}
    flaws = []
    for pair in pairs:
        key, equals, text = pair.partition("=")
        try:
            if not equals or not key:
                raise UnitError("must be written as key=value")
            key = key.strip()
            if key not in known and not key.startswith("initial."):
                raise UnitError(f"there is no number '{key}' ({nearest(key, known)})")
            unit = starts.get(key) or (known[key].unit if key in known else "")
            settings[key] = read_quantity(text, unit, written.get(key, ""))
        except UnitError as error:
            flaws.append(Flaw(f"--set {pair}", str(error)))
    if flaws:
        raise ModelError(flaws)
    return settings


def read_pairs(pairs: list[str]) -> dict[str, str]:
    """Texts given as key=value, for who knows what they mean."""
    split = [(pair, *pair.partition("=")) for pair in pairs]
    bad = [pair for pair, key, equals, _ in split if not equals or not key.strip()]
    flaws = [Flaw(f"--set {pair}", "must be written as key=value") for pair in bad]
    if flaws:
        raise ModelError(flaws)
    return {key.strip(): text.strip() for _, key, _, text in split}
