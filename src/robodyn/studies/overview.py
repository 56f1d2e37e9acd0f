"""Overview of studies: what do all of them together prove? Counts by kind, what did not come out, what was fitted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robodyn.studies.figure import VERDICTS
from robodyn.studies.page import FIGURES, describe_kinds

TITLE = "What the studies prove"


def write_overview(folder: str | Path) -> Path:
    """Write `index.md` from the figures of all studies whose pages stand in a folder; returns its path."""
    folder = Path(folder)
    found = {path.parent.name: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(f"*/{FIGURES}"))}
    lines = [f"# {TITLE}", "", "Every figure of every study is one of three kinds. " + describe_kinds(), ""]
    lines += _counts(found)
    for name, study in found.items():
        lines += _study(name, study)
    path = folder / "index.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _counts(found: Mapping[str, Any]) -> list[str]:
    """A row for each study and kind."""
    lines = ["| study | kind | figures | of them |", "| --- | --- | --- | --- |"]
    for name, study in found.items():
        for kind, words in VERDICTS.items():
            counts = Counter(figure["verdict"] for figure in study["figures"] if figure["kind"] == kind)
            verdicts = ", ".join(f"{counts[word]} {word}" for word in words.values() if counts[word])
            if verdicts:
                lines.append(f"| [{study['title']}]({name}.md) | {kind} | {counts.total()} | {verdicts} |")
    return [*lines, ""]


def _study(name: str, study: Mapping[str, Any]) -> list[str]:
    """What a study could not show, and what was fitted."""
    figures = study["figures"]
    open_ones = [f for f in figures if f["verdict"] in ("not reproducible", "NOT REPRODUCED")]
    fitted = {f["fitted"]: [g["name"] for g in figures if g["fitted"] == f["fitted"]] for f in figures if f["fitted"]}
    lines = [f"## {study['title']}", "", f"Source: {study['source']}. [All figures]({name}.md).", ""]
    if open_ones:
        lines += ["Published and not shown here:", ""]
        lines += [f"- `{f['name']}`: {_beside(f)}{f['reason']}" for f in open_ones] + [""]
    if fitted:
        lines += ["Fitted to an answer:", ""]
        lines += [f"- {what}, to {', '.join(f'`{name}`' for name in names)}" for what, names in fitted.items()] + [""]
    return lines


def _beside(figure: Mapping[str, Any]) -> str:
    if figure["published"] is None or figure["value"] is None:
        return ""
    return f"printed {figure['published']:.4g}, ours {figure['value']:.4g} {figure['unit']}; "
