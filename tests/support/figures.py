"""Figures of a study, computed once: its tests stand in one file, and a file runs in one process."""

from functools import lru_cache

from robodyn.studies import STUDIES


@lru_cache
def figures_of(study):
    """name -> figure."""
    figures = list(STUDIES[study].figures())
    found = {figure.name: figure for figure in figures}
    assert len(found) == len(figures)
    return found


def flawed_figures(study):
    """Names of figures that are out, or do not say why they are what they are."""
    return [name for name, figure in figures_of(study).items() if figure.ok is False or not figure.reason]
