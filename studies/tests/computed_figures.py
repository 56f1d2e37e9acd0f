"""Figures of a study, computed once: its tests stand in one file, and a file runs in one process."""

from functools import cache

from robodyn.studies import Kind
from robodyn_studies import STUDIES


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
    found = figures_of(study, without)
    return [name for name, figure in found.items() if figure.ok is False or not figure.reason or _overclaims(figure)]


def _overclaims(figure):
    """Results and inputs stand in a publication; what is wide says why, which figures see to when they are made."""
    own = not figure.source or figure.source.startswith(("own", "closed form", "this project"))
    return own if figure.kind is not Kind.CHECK else figure.published is not None
