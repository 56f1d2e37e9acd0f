"""C files of an exported model: generated ones, the engine's, and the unit's around it."""

from __future__ import annotations

import hashlib
import uuid
from importlib.resources import files

from robodyn.exchange.codegen.model import Model
from robodyn.exchange.codegen.source import write_functions, write_header, write_tables

COUPLED = ("coupling.h", "coupled.h", "coupling.c", "coupled_motion.c", "extrapolation.c", "interface_model.c")
NOT_EXPORTED = ("engine_digest.c", "lanes.h", "lanes.c", "convoy.c", "march.c", "slices.c", "between.c", *COUPLED)
"""What names the sources of an installed library, what carries out several runs at once or couples them: of no use
elsewhere."""


def generate_files(model: Model) -> tuple[dict[str, str], str]:
    """The C of a model by the names of its files; and a token, the same for the same code: a binary and a description
    that do not belong together are found out."""
    written = write_functions(model) | {"model.c": write_tables(model)}
    texts = "\0".join([*written.values(), write_header(model, "")])
    token = f"{{{uuid.UUID(bytes=hashlib.sha256(texts.encode()).digest()[:16])}}}"
    return written | {"model.h": write_header(model, token)}, token


def engine_files() -> dict[str, str]:
    """The engine, as it runs here."""
    return _read("robodyn.computation.engine", "")


def unit_files() -> dict[str, str]:
    """An exported model at work: parameters and inputs from outside, start values that are looked for."""
    return _read("robodyn.exchange.codegen", "runtime")


def _read(package: str, folder: str) -> dict[str, str]:
    found = sorted((files(package) / folder).iterdir(), key=lambda entry: entry.name)
    return {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in found
        if entry.name.endswith((".c", ".h")) and entry.name not in NOT_EXPORTED
    }
