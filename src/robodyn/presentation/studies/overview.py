"""Overview of studies: what do all of them together prove? Headlines, counts, gaps, and what was fitted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from robodyn.base import write_file

from .figure import VERDICTS
from .page import FIGURES, describe_kinds

TITLE = "What the studies prove"
TOLD = ("**What comes out", "**What differs")
"""Beginnings of the paragraphs about a study that stand here too."""


def write_overview(folder: str | Path) -> Path:
    """Write `index.md` from the figures of all studies whose pages stand in a folder; returns its path."""
    folder = Path(folder)
    studies = {path.parent.name: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(f"*/{FIGURES}"))}
    kinds = "Every figure of every study is one of three kinds. " + describe_kinds()
    lines = [f"# {TITLE}", "", *_headlines(studies), "## In numbers", "", kinds, "", *_counts(studies)]
    for name, study in studies.items():
        lines += _study(name, study)
    path = folder / "index.md"
    write_file(path, "\n".join(lines) + "\n")
    return path


def _headlines(studies: Mapping[str, Any]) -> list[str]:
    """The headline of each publication beside the result here, with its picture."""
    lines: list[str] = []
    for name, study in studies.items():
        headline = study.get("headline")
        if headline is None:
            continue
        lines += [
            f"## {study['title']}",
            "",
            f"Published: *{headline['sentence']}*",
            "",
            f"Here: {headline['ours']}",
            "",
        ]
        if headline["picture"]:
            lines += [f"![{headline['caption']}]({name}/{headline['picture']})", "", f"*{headline['caption']}*", ""]
        lines += [f"[All of it]({name}.md), from: {study['source']}.", ""]
    return lines


def _counts(studies: Mapping[str, Any]) -> list[str]:
    """A row for each study and one for all, a column for each kind."""
    lines = ["| study | " + " | ".join(f"{kind}s" for kind in VERDICTS) + " |", "| --- " * (1 + len(VERDICTS)) + "|"]
    rows = {f"[{study['title']}]({name}.md)": study["figures"] for name, study in studies.items()}
    rows["all"] = [figure for figures in rows.values() for figure in figures]
    return [*lines, *(f"| {name} | {_count_kinds(figures)} |" for name, figures in rows.items()), ""]


def _count_kinds(figures: Sequence[Mapping[str, Any]]) -> str:
    """`12 reproduced, 1 different | 3 given | 40 hold`."""
    cells = []
    for kind, words in VERDICTS.items():
        counts = Counter(figure["verdict"] for figure in figures if figure["kind"] == kind)
        cells.append(", ".join(f"{counts[word]} {word}" for word in words.values() if counts[word]) or "-")
    return " | ".join(cells)


def _study(name: str, study: Mapping[str, Any]) -> list[str]:
    """Agreements and differences in the study's own words, figures that it could not show, and fitted ones."""
    figures = study["figures"]
    open_ones = [f for f in figures if f["verdict"] in ("different", "not reproducible", "NOT REPRODUCED")]
    fitted = {f["fitted"]: [g["name"] for g in figures if g["fitted"] == f["fitted"]] for f in figures if f["fitted"]}
    lines = [f"## What differs: {study['title']}", "", f"Source: {study['source']}. [Its page]({name}.md).", ""]
    paragraphs = (paragraph for paragraph in study["about"].split("\n\n") if paragraph.startswith(TOLD))
    lines += [line for paragraph in paragraphs for line in (paragraph, "")]
    if open_ones:
        lines += ["Published, and different or not shown here:", ""]
        lines += [f"- `{f['name']}`: {_beside(f)}{f['reason']}" for f in open_ones] + [""]
    if fitted:
        lines += ["Fitted to an answer:", ""]
        lines += [f"- {what}, to {', '.join(f'`{name}`' for name in names)}" for what, names in fitted.items()] + [""]
    return lines


def _beside(figure: Mapping[str, Any]) -> str:
    if figure["published"] is None or figure["value"] is None:
        return ""
    ours = f"{figure['value']:.4g} {figure['unit']}".rstrip()
    return f"printed {figure['published']:.4g}, ours {ours}; "
