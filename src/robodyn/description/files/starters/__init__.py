"""Starters: small commented scenarios that a new file begins with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from robodyn.base import Flaw, ModelError, parse_toml, refuse, refuse_word

KINDS = ("arm", "cart", "drive")


def starter_titles() -> dict[str, str]:
    """The title of each kind of starter."""
    return {kind: str(parse_toml(_text(kind))["title"]) for kind in KINDS}


def write_starter(path: Path, kind: str) -> Path:
    """Write a small scenario to begin with; a file that already exists is never overwritten."""
    refuse_word("--kind", kind, KINDS)
    path = path if path.suffix == ".toml" else path.with_name(f"{path.name}.toml")
    text = _text(kind).replace("{file}", path.name).replace("{name}", path.stem)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        refuse("", "already exists", "choose another name", source=str(path))
    except OSError as error:
        refuse("", f"cannot be written: {error.strerror}", source=str(path))
    return path


def _text(kind: str) -> str:
    return files(__package__).joinpath(f"{kind}.toml").read_text(encoding="utf-8")
