"""Published studies: which can be reproduced, what did they publish, what do we get?

They come from other packages, by entry points of the group `robodyn.studies`; ours from robodyn-studies.
"""

from __future__ import annotations

from robodyn.base import Extension, Flaw, ModelError, collect, nearest, refuse

from .figure import Kind, PublishedValue, above, below, count_verdicts, describe_counts
from .overview import write_overview
from .page import write_page
from .study import Headline, Picture, Study, fill_numbers

GROUP = "robodyn.studies"
INSTALL = "pip install ./studies in a copy of the sources of robodyn"
"""How the published studies are had."""


def list_studies() -> dict[str, Extension[Study]]:
    """All studies by name, each with the package that brings it."""
    return collect(GROUP, {}, lambda thing: isinstance(thing, Study), "a Study")


def find_study(name: str) -> Study:
    """A study by name."""
    studies = list_studies()
    if name not in studies:
        remedy = nearest(name, studies) if studies else f"no studies are installed: {INSTALL}"
        refuse("", f"there is no study '{name}'", remedy)
    return studies[name].thing


__all__ = [
    "INSTALL",
    "Headline",
    "Kind",
    "PublishedValue",
    "Picture",
    "Study",
    "above",
    "below",
    "count_verdicts",
    "describe_counts",
    "fill_numbers",
    "find_study",
    "list_studies",
    "write_overview",
    "write_page",
]
