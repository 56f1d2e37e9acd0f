"""Study: what is one? A name, what it is about, its published values, its pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from robodyn.base import frozen

from .figure import Kind, PublishedValue


@frozen
class Picture:
    """A picture or HTML page of a study: a file name, what it shows, and the function that draws it to a path.

    Attributes:
        beside: the study's own figure that it stands beside, and what that shows: "Figure 8: deviation, measured too".
    """

    name: str
    caption: str
    draw: Callable[[Path], None]
    beside: str = ""


@frozen
class Headline:
    """The sentence that the authors of a study would look for first, what comes out here, and the picture of it.

    Attributes:
        sentence: theirs, in a few words. ours: with names of figures in braces, see `fill_numbers`.
        picture: name of the one that shows it.
    """

    sentence: str
    ours: str
    picture: str


def fill_numbers(text: str, figures: Iterable[PublishedValue]) -> str:
    """A text with the values of figures in the places of their names in braces, `{pendulum_speed}`.

    `{reproduced}` and `{published}` are how many of the published results come out, and how many there are; a figure
    that was not computed is said to be so.
    """
    figures = list(figures)
    results = [figure for figure in figures if figure.kind is Kind.RESULT]
    values = {f.name: "no value" if f.value is None else f"{f.value:.3g}" for f in figures}
    values |= {
        "published": str(len(results)),
        "reproduced": str(sum(figure.ok is True and not figure.is_wide for figure in results)),
    }
    return re.sub(r"\{([\w.-]+)\}", lambda mark: values.get(mark[1], f"({mark[1]}: not computed)"), text)


@frozen
class Study:
    """A published study and how it is reproduced.

    Attributes:
        about: paragraphs for its page: what the study shows; **From what.** it is repeated here; **What comes out.**;
            **What differs and why.** Names of figures stand in braces, as in captions: see `fill_numbers`.
        source: where it was published.
        scenarios: names in the catalogue that belong to it.
        parts: heading -> what computes the figures under it, one by one (each may take a while), in the order of the
            study's argument.
        pictures: the pictures, drawn when asked; pages: HTML pages, such as replays, written when asked.
        headline: what its authors would look for first, for the overview.
    """

    name: str
    title: str
    about: str
    source: str
    scenarios: tuple[str, ...]
    parts: Callable[[], Mapping[str, Callable[[], Iterator[PublishedValue]]]]
    pictures: Callable[[], tuple[Picture, ...]]
    pages: Callable[[], tuple[Picture, ...]] = tuple
    headline: Headline | None = None

    def figures(self, parts: Collection[str] | None = None) -> Iterator[PublishedValue]:
        """Its figures under the given headings; all of them by default."""
        for part, compute in self.parts().items():
            if parts is None or part in parts:
                for figure in compute():
                    yield replace(figure, part=part)
