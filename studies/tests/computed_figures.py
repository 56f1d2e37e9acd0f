"""Figures of a study, computed once: its tests stand in one file, and a file runs in one process."""

from functools import cache

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
    """Names of figures that are out, or do not say why they are what they are."""
    found = figures_of(study, without)
    return [name for name, figure in found.items() if figure.ok is False or not figure.reason]
