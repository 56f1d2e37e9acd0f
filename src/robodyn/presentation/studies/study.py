"""Study: what is one? A name, what it is about, its published values, its pictures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from robodyn.presentation.studies.figure import PublishedValue


@dataclass(frozen=True)
class Picture:
    """A picture or HTML page of a study: a file name, what it shows, and the function that draws it to a path.

    Attributes:
        beside: the study's own figure that it stands beside, and what that shows: "Figure 8: deviation, measured too".
    """

    name: str
    caption: str
    draw: Callable[[Path], None]
    beside: str = ""


@dataclass(frozen=True)
class Study:
    """A published study and how it is reproduced.

    Attributes:
        about: paragraphs for its page: what the study shows; **From what.** it is repeated here; **What comes out.**;
            **What differs and why.**; source: where it was published.
        scenarios: names in the catalogue that belong to it.
        parts: heading -> what computes the figures under it, one by one (each may take a while), in the order of the
            study's argument.
        pictures: the pictures, drawn when asked; pages: HTML pages, such as replays, written when asked.
    """

    name: str
    title: str
    about: str
    source: str
    scenarios: tuple[str, ...]
    parts: Callable[[], Mapping[str, Callable[[], Iterator[PublishedValue]]]]
    pictures: Callable[[], tuple[Picture, ...]]
    pages: Callable[[], tuple[Picture, ...]] = tuple

    def figures(self, parts: Collection[str] | None = None) -> Iterator[PublishedValue]:
        """Its figures under the given headings; all of them by default."""
        for part, compute in self.parts().items():
            if parts is None or part in parts:
                for figure in compute():
                    yield replace(figure, part=part)
