"""FMU archive: what is in the file, and can it be run here? What is wrong is reported with the remedy."""

from __future__ import annotations

import os
import re
import shutil
import weakref
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from robodyn.base import Flaw, ModelError, refuse
from robodyn.base.untrusted import DAMAGE, MEGABYTE, Unreadable, check_sizes

from .fmpy_adapter import CoSimulation, Instance, ModelExchange

DESCRIPTION = "modelDescription.xml"
MOST_UNPACKED, MOST_DESCRIBED = 1024 * MEGABYTE, 64 * MEGABYTE
"""Bytes of all files of a unit, and of its description, this project's own choice."""
IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
DAMAGED = "the file is damaged, or no FMU: copy or export it again"


class Archive:
    """An unpacked unit; its folder goes when nobody holds it any more.

    Attributes:
        description: by FMPy; root: of its XML file; flaws: what is wrong with it.
        exchange: whether another solver moves it, as it must where the unit has none of its own.
        capabilities: of the kind of unit that is used.
    """

    def __init__(self, path: str | Path, *, exchange: bool = False) -> None:
        import fmpy

        self.path = Path(path)
        self.description, self.flaws = read_description(path)
        self.exchange = exchange or self.description.coSimulation is None
        self.capabilities = self.description.modelExchange if self.exchange else self.description.coSimulation
        self.version = 2 if str(self.description.fmiVersion).startswith("2.") else 3
        try:
            folder = fmpy.extract(str(path))
        except Exception as error:  # FMPy raises Exception itself
            raise ModelError([Flaw(str(path), f"cannot be unpacked: {error}", DAMAGED)]) from error
        self.folder = Path(folder)
        self.remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        try:
            self.root = ElementTree.parse(self.folder / DESCRIPTION).getroot()
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            refuse(str(path), f"{DESCRIPTION} cannot be read: {error}", DAMAGED)
        self._check_binary()

    @property
    def can_differentiate(self) -> bool:
        """Whether the unit says it has directional derivatives; FMPy reads only the word of version 2."""
        unit = self.root.find("ModelExchange" if self.exchange else "CoSimulation")
        words = ("providesDirectionalDerivative", "providesDirectionalDerivatives")
        return unit is not None and any(unit.get(word) in ("true", "1") for word in words)

    def _check_binary(self) -> None:
        from fmpy import platform, platform_tuple, sharedLibraryExtension

        if not IDENTIFIER.fullmatch(str(self.capabilities.modelIdentifier)):
            what = f"modelIdentifier {self.capabilities.modelIdentifier!r} is not a library name"
            refuse(str(self.path), what, DAMAGED)
        here = platform if self.version == 2 else platform_tuple
        name = f"{self.capabilities.modelIdentifier}{sharedLibraryExtension}"
        if (self.folder / "binaries" / here / name).is_file():
            return
        folders = sorted(folder.name for folder in (self.folder / "binaries").glob("*") if folder.is_dir())
        if here in folders:
            flaw = Flaw(str(self.path), f"binaries/{here}/{name} is missing in it", DAMAGED)
        else:
            message = f"only for {', '.join(folders)}" if folders else "none at all"
            what = f"has no binary for this platform, {here}: {message}"
            sources = any((self.folder / "sources").glob("*"))
            remedy = "compile its sources" if sources else "run it there"
            flaw = Flaw(str(self.path), what, f"export it for {here}, or {remedy}")
        raise ModelError([flaw])

    def instantiate(self, name: str) -> Instance:
        """An instance of the unit.

        Raises:
            ModelError: where its binary cannot be loaded, or the unit refuses.
        """
        settings = {
            "guid": self.description.guid,
            "unzipDirectory": str(self.folder),
            "modelIdentifier": self.capabilities.modelIdentifier,
            "instanceName": name,
        }
        # FMPy stays in the library's folder where it cannot be loaded.
        place = os.getcwd()
        try:
            if self.exchange:
                instance: Instance = ModelExchange(settings, self.version, self.description)
            else:
                event_mode = self.version == 3 and bool(self.capabilities.hasEventMode)
                instance = CoSimulation(settings, self.version, event_mode=event_mode)
        except Exception as error:  # FMPy raises Exception itself
            remedy = "it is for another kind of machine, or needs libraries that are not installed here"
            raise ModelError([Flaw(name, f"the unit's binary cannot be loaded: {error}", remedy)]) from error
        finally:
            os.chdir(place)
        try:
            instance.instantiate()
        except Exception as error:
            reason = "; ".join(instance.messages) or str(error)
            remedy = (
                "its binary and its modelDescription.xml may not belong together (the token, or guid, differs), or "
                "something that it needs is not installed: export it again, or ask its maker"
            )
            raise ModelError([Flaw(name, f"the unit refuses to be instantiated: {reason}", remedy)]) from error
        return instance


def read_description(path: str | Path) -> tuple[Any, list[str]]:
    """The unit's description of itself, and what is wrong with it; unknown kinds and versions are refused."""
    if not Path(path).is_file():
        refuse(str(path), "there is no such file")
    try:
        # Sizes that the archive declares, before any of it is unpacked; its description is XML without entities.
        with zipfile.ZipFile(Path(path)) as archive:
            check_sizes(archive.infolist(), MOST_UNPACKED)
            check_sizes([archive.getinfo(DESCRIPTION)], MOST_DESCRIBED)
            if b"<!DOCTYPE" in archive.read(DESCRIPTION):
                raise Unreadable(f"its {DESCRIPTION} has a document type of its own")
        description, flaws = _read_leniently(str(path))
    except DAMAGE as error:
        refuse(str(path), f"is not a valid unit: {error}", DAMAGED)
    except Exception as error:  # FMPy raises Exception itself
        raise ModelError([Flaw(str(path), f"is not a valid unit: {error}")]) from error
    if not str(description.fmiVersion).startswith(("2.", "3.")):
        refuse(str(path), f"has version {description.fmiVersion}", "2.0 and 3.0 are known")
    if description.coSimulation is None and description.modelExchange is None:
        remedy = "export it for co-simulation or model exchange"
        refuse(str(path), "is a unit for scheduled execution only", remedy)
    return description, flaws


def _read_leniently(path: str) -> tuple[Any, list[str]]:
    """A description and what is wrong with it: many units that run well break rules which only a checker sees."""
    from fmpy import read_model_description
    from fmpy.model_description import ValidationError

    try:
        return read_model_description(path), []
    except ValidationError as error:
        return read_model_description(path, validate=False), [str(problem) for problem in error.problems]
