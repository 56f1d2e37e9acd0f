"""What is a study? A name, what it is about, its figures, its pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from robodyn.studies.figure import Figure


@dataclass(frozen=True)
class Picture:
    """A picture or HTML page of a study: a file name, what it shows, and the function that draws it to a path."""

    name: str
    caption: str
    draw: Callable[[Path], None]


@dataclass(frozen=True)
class Study:
    """A published study and how it is reproduced.

    Attributes:
        about: what it is, a paragraph for its page; source: where it was published.
        scenarios: names in the catalogue that belong to it.
        figures: computes the figures one by one (each may take a while).
        pictures: the pictures, drawn when asked; pages: HTML pages, such as replays, written when asked.
    """

    name: str
    title: str
    about: str
    source: str
    scenarios: tuple[str, ...]
    figures: Callable[[], Iterator[Figure]]
    pictures: Callable[[], tuple[Picture, ...]]
    pages: Callable[[], tuple[Picture, ...]] = tuple
