"""Study page: how does a study read in the documentation? Text, pictures and the table of its values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from robodyn.base import to_plain, write_file
from robodyn.description.catalog import find_scenario

from .figure import UNTOLD, Kind, PublishedValue, describe_counts
from .study import Picture, Study, fill_numbers


def write_page(study: Study, figures: Sequence[PublishedValue], folder: str | Path) -> Path:
    """Write `<study>.md`, and its pictures, pages and figures in `<study>/`; returns the page's path."""
    folder = Path(folder)
    images = folder / study.name
    images.mkdir(parents=True, exist_ok=True)
    for picture in study.pictures():
        picture.draw(images / f"{picture.name}.png")
    for page in study.pages():
        page.draw(images / f"{page.name}.html")
    path = folder / f"{study.name}.md"
    about = fill_numbers(study.about, figures)
    shown = [replace(picture, caption=fill_numbers(picture.caption, figures)) for picture in study.pictures()]
    lines = [f"# {study.title}", "", f"Source: {study.source}.", "", about, ""]
    lines += [*_counts(figures), *_results(figures), *_pictures(study, shown)]
    if links := [f"- [{page.caption}]({study.name}/{page.name}.html)" for page in study.pages()]:
        lines += ["## In motion", "", *links, ""]
    lines += _commands(study)
    lines += _table(figures)
    write_file(path, "\n".join(lines) + "\n")
    contents = {"title": study.title, "source": study.source, "about": about, "figures": to_plain(list(figures))}
    if study.headline is not None:
        captions = {picture.name: picture.caption for picture in shown}
        name = study.headline.picture
        contents["headline"] = {
            "sentence": study.headline.sentence,
            "ours": fill_numbers(study.headline.ours, figures),
            "picture": f"{name}.png" if name in captions else "",
            "caption": captions.get(name, ""),
        }
    write_file(images / FIGURES, json.dumps(contents, indent=1))
    return path


def _commands(study: Study) -> list[str]:
    lines = ["## How to run it", "", "```console"]
    lines += [f"robodyn reproduce {study.name}", f"robodyn plot {study.name} --out out/{study.name}"]
    lines += [f"robodyn run {name}" for name in study.scenarios]
    lines += ["```", "", "| scenario | what it is |", "| --- | --- |"]
    lines += [f"| `{name}` | {find_scenario(name).title} |" for name in study.scenarios]
    return [*lines, "", f"This page is written by `robodyn reproduce {study.name} --page FOLDER`.", ""]


READ_AT_ONCE = 45
"""Printed results that a reader looks through in a minute; of more, those that do not come out are shown first."""
FIGURES = "figures.json"
"""File of a study's figures beside its pictures, of which `write_overview` makes a page of all studies."""
KINDS = {
    Kind.RESULT: "stands in the study and follows here from the physics: it could fail; it is called "
    "different where ours deviates for a known reason, not reproducible where the data to compute it are missing",
    Kind.INPUT: "was given to the model, or parameters were fitted to it, so agreement proves nothing",
    Kind.CHECK: "is an identity, a closed form, a convergence or a second program of our own",
}


def describe_kinds() -> str:
    """The proof that each kind of figure gives, in words."""
    return " ".join(f"*{str(kind).capitalize()}*: {what}." for kind, what in KINDS.items())


def _counts(figures: Sequence[PublishedValue]) -> list[str]:
    """How many figures of each kind, and what was fitted to which of them."""
    lines = ["## In numbers", "", *(f"- {line}" for line in describe_counts(figures)), ""]
    lines += [describe_kinds(), ""]
    fitted = [figure for figure in figures if figure.fitted]
    if fitted:
        lines += ["Parameters that were fitted to a published result, which then proves nothing:", ""]
        lines += ["| answer | printed | ours | fitted to it |", "| --- | --- | --- | --- |"]
        lines += [
            _line([f"`{figure.name}`", figure.expectation, f"{_number(figure.value)} {figure.unit}", figure.fitted])
            for figure in fitted
        ]
        lines += [""]
    return lines


def _results(figures: Sequence[PublishedValue]) -> list[str]:
    """Printed results of the study beside those that come out: a reader looks for these first."""
    rows = [figure for figure in figures if figure.kind is Kind.RESULT]
    if not rows:
        return []
    lines = ["## What the study printed, and what comes out", ""]
    if len(rows) > READ_AT_ONCE:
        exact, wide = (sum(bool(row.ok) and row.is_wide is apart for row in rows) for apart in (False, True))
        beside = f", {wide} more are {UNTOLD}: their tolerances are as wide as they are" if wide else ""
        lines += [f"{exact} of {len(rows)} printed results are reproduced{beside}; see all figures below.", ""]
        lines += ["These are not:", ""]
        rows = [row for row in rows if not row.ok]
    columns = ["figure", "expected", "ours", "unit", "verdict", "why so"]
    lines += [_line(columns), _line(["---"] * len(columns))]
    return [*lines, *(_line([COLUMNS[name](row) for name in columns]) for row in rows), ""]


def _pictures(study: Study, shown: Sequence[Picture]) -> list[str]:
    """Those that stand beside the study's own figures, then the others."""
    own, more = [p for p in shown if p.beside], [p for p in shown if not p.beside]
    lines = ["## Its figures, redrawn", ""] if own else []
    for picture in own:
        figure, _, what = picture.beside.partition(": ")
        lines += [f"### {figure}", "", f"The study's: {what}. Ours: {picture.caption}.", ""]
        lines += [f"![{picture.caption}]({study.name}/{picture.name}.png)", ""]
    lines += ["## Beyond its figures" if own else "## Pictures", ""] if more else []
    for picture in more:
        lines += [f"![{picture.caption}]({study.name}/{picture.name}.png)", "", f"*{picture.caption}*", ""]
    return lines


def _table(figures: Sequence[PublishedValue]) -> list[str]:
    """The figures part by part; what was measured has a column where anything was."""
    lines = ["## All figures", ""]
    for part in dict.fromkeys(figure.part for figure in figures):
        rows = [figure for figure in figures if figure.part == part]
        columns = [name for name in COLUMNS if name != "measured" or any(row.measured is not None for row in rows)]
        lines += [f"### {part}", ""] if part else []
        lines += [_line(columns), _line(["---"] * len(columns))]
        lines += [_line([COLUMNS[name](row) for name in columns]) for row in rows] + [""]
    return lines[:-1]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


COLUMNS: Mapping[str, Callable[[PublishedValue], str]] = {
    "figure": lambda figure: f"`{figure.name}`",
    "kind": lambda figure: figure.kind,
    "expected": lambda figure: figure.expectation,
    "ours": lambda figure: _number(figure.value),
    "measured": lambda figure: _number(figure.measured),
    "unit": lambda figure: figure.unit,
    "verdict": lambda figure: figure.verdict,
    "why so": lambda figure: "; ".join(filter(None, (figure.reason, figure.wide))),
    "source": lambda figure: figure.source,
}
"""Heading -> cell of a figure."""
