"""Live report: what does a page know of the model that it simulates by itself?"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Protocol

from robodyn.computation.results import Run

from .machine import read_geometry
from .mesh_store import MeshStore

Plain = dict[str, Any]


class AnySlider(Protocol):
    """A number that may be changed, its slider's ends, and which numbers are allowed."""

    name: str
    value: float
    unit: str
    ends: tuple[float, float]
    sign: str


class Live(Protocol):
    """A model as WebAssembly; see `robodyn.exchange.codegen.LiveModel`."""

    module: bytes
    loader: str
    sliders: Sequence[AnySlider]
    digest: int


class _Asked(dict[str, Any]):
    """Numbers that remember which of them were looked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return default


def describe_live(live: Live, run: Run) -> Plain:
    """The module and its sliders as plain values; `drawn` are those by which the drawing would change, and does not."""
    asked = _Asked()
    read_geometry(run.provenance.description, asked, MeshStore())
    keys = ("name", "value", "unit", "ends", "sign")
    sliders = [
        {key: getattr(slider, key) for key in keys} | {"drawn": slider.name in asked.names} for slider in live.sliders
    ]
    return {"module": base64.b64encode(live.module).decode("ascii"), "sliders": sliders, "digest": live.digest}
