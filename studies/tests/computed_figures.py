"""Figures of a study, computed once: its tests stand in one file, and a file runs in one process."""

import re
from functools import cache
from pathlib import Path

from robodyn.presentation.studies import Kind, fill_numbers
from robodyn_studies import STUDIES

DOCS = Path(__file__).parents[2] / "docs"
MARK = re.compile(r"([\d.]+)<!-- (> )?(?:(\d+) )?(\w+) -->")
"""A number of a page, and the figure it is, rounded, or is a bound of (>), perhaps times a factor."""


def figures_of(study, without=()):
    """name -> figure; without: headings left to tests of their own."""
    return _compute(study, tuple(without))


@cache
def _compute(study, without):
    figures = list(STUDIES[study].figures([part for part in STUDIES[study].parts() if part not in without]))
    found = {figure.name: figure for figure in figures}
    assert len(found) == len(figures)
    return found


def flawed_figures(study, without=()):
    """Names of figures that are out, do not say why they are what they are, or claim a publication that is none."""
    found, chosen = figures_of(study, without), STUDIES[study]
    if not without:
        # Numbers in texts are those of figures.
        texts = [chosen.headline.ours, chosen.about, *(picture.caption for picture in chosen.pictures())]
        assert "not computed" not in fill_numbers("\n".join(texts), found.values())
    return [name for name, figure in found.items() if figure.ok is False or not figure.reason or _overclaims(figure)]


def _overclaims(figure):
    """Results and inputs stand in a publication; what is wide says why, which figures see to when they are made."""
    own = not figure.source or figure.source.startswith(("own", "closed form", "this project"))
    return own if figure.kind is not Kind.CHECK else figure.published is not None


def wrong_numbers(study, page):
    """Numbers of a page that its marks say to be figures of a study, and that are not."""
    figures, wrong = figures_of(study), []
    marks = MARK.findall((DOCS / page).read_text(encoding="utf-8"))
    for shown, bound, factor, name in marks:
        value = float(factor or 1) * figures[name].value if name in figures else float("nan")
        last_digit = 10.0 ** -len(shown.partition(".")[2])
        # A bound is no more than some tens of what it bounds. A rounded number is off by half of its last digit, and by
        # a little more where encoders round: on another processor a count flips at another instant.
        right = value < float(shown) < 50 * value if bound else abs(value - float(shown)) <= 0.8 * last_digit
        if not right:
            wrong.append(f"{name}: {shown} on the page, {value:g}")
    assert marks, f"{page} has no marks"
    return wrong
