"""Published studies of robots, reproduced with robodyn: published values beside ours, pictures, a page each."""

from __future__ import annotations

from typing import Any

__all__ = ["STUDIES"]


def __getattr__(name: str) -> Any:
    """The studies are loaded where they are asked for: a list of the catalogue's scenarios is made without them."""
    if name == "STUDIES":
        from robodyn_studies.studies import STUDIES

        return STUDIES
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
