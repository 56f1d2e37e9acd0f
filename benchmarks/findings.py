"""Findings: what does a benchmark say, what does it assert, and how is both printed?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

HEADINGS = ("measurement", "ours", "rival", "ratio", "goal", "met")


class Disagreement(Exception):
    """Two contenders do not compute the same thing, so that their times must not be compared."""


def largest_difference(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> float:
    """Largest |a - b| over the pairs, relative to the largest |b| of each pair."""
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in pairs)


def require_agreement(what: str, difference: float, tolerance: float, unit: str = "relative") -> str:
    """A sentence on the agreement, or Disagreement."""
    if not difference <= tolerance:
        raise Disagreement(f"{what} differ by {difference:.2g} {unit}, allowed are {tolerance:.0e}")
    return f"{what} agree to {difference:.1e} {unit} ({tolerance:.0e} required)"


def require(what: str, so: bool) -> str:
    """The sentence, or Disagreement where it is not so: of what is equal or not, without a measure between."""
    if not so:
        raise Disagreement(f"it is not so that {what}")
    return what


def find_rival(name: str) -> Any:
    """The module of another program, or None where it is not installed: ours is measured and checked without it.

    A module that is missing inside ours or inside the other program is an error like any other.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


@dataclass(frozen=True)
class Row:
    """One measurement, beside a rival or alone.

    Args:
        ours, rival: medians in `unit`; rival None where there is none, or where it is not installed.
        ratio: median over the repetitions of ours / rival, each pair measured one right after the other.
        goal: largest ratio wanted, or largest value of ours without a rival; None for information only.
        note: what else was seen, in words and numbers.
        holds: False where what the goal asks for beside the time is not so.
        spread: the least and the largest of the ratios.
    """

    name: str
    ours: float
    unit: str
    note: str = ""
    rival: float | None = None
    rival_name: str = ""
    ratio: float | None = None
    goal: float | None = None
    holds: bool = True
    spread: tuple[float, float] | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if self.goal is None:
            return None
        return self.holds and (self.ours if self.ratio is None else self.ratio) <= self.goal

    def as_json(self) -> dict[str, Any]:
        return {**self.__dict__, "met": self.met}

    def cells(self) -> tuple[str, ...]:
        """The row as text: times with their unit, the rival with its name."""
        unit = "" if self.ratio is not None else f" {self.unit}"
        return (
            self.name,
            f"{self.ours:.4g} {self.unit}",
            "-" if self.rival is None else f"{self.rival:.4g} {self.unit} ({self.rival_name})",
            self._describe_ratio(),
            "-" if self.goal is None else f"<= {self.goal:g}{unit}",
            {None: "-", True: "yes", False: "NO"}[self.met],
        )

    def _describe_ratio(self) -> str:
        """As a fraction where ours is the faster one, with the least and the largest."""
        if self.ratio is None:
            return "-"
        spread = f" ({' to '.join(map(_as_fraction, self.spread))})" if self.spread else ""
        return _as_fraction(self.ratio) + spread


def _as_fraction(ratio: float) -> str:
    return f"1/{1 / ratio:.3g}" if ratio < 1.0 else f"{ratio:.3g}"


@dataclass(frozen=True)
class Table:
    """Measurements without a goal, as columns of their own."""

    title: str
    columns: tuple[str, ...]
    lines: tuple[tuple[Any, ...], ...]

    def as_json(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def cells(self) -> list[tuple[str, ...]]:
        return [tuple(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in line) for line in self.lines]


@dataclass(frozen=True)
class Findings:
    """All that one benchmark found.

    Args:
        agreements: what was asserted before times were compared, at least one sentence.
        missing: rivals that are not installed.
    """

    rows: tuple[Row, ...] = ()
    tables: tuple[Table, ...] = ()
    agreements: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


BLOCK = re.compile(r"(<!-- numbers of (?P<name>[\w.]+) -->\n).*?(<!-- end of these numbers -->)", re.DOTALL)


def write_between(page: Path, name: str, text: str) -> None:
    """Write what a benchmark makes into a page, in the place of what stands between the marks of that name."""
    write_blocks(page, {name: text})


def write_blocks(page: Path, texts: Mapping[str, str]) -> None:
    """The same of several."""
    old = page.read_text(encoding="utf-8")

    def fill(block: re.Match[str]) -> str:
        text = texts.get(block["name"])
        return block[0] if text is None else f"{block[1]}\n{text}\n\n{block[3]}"

    page.write_text(BLOCK.sub(fill, old), encoding="utf-8")


def read_blocks(page: Path) -> dict[str, str]:
    """What stands between the marks of a page now, by name."""
    blocks = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return {block["name"]: block[0].partition("\n")[2].rpartition("\n")[0].strip() for block in blocks}


def as_markdown(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table of a page."""
    return "\n".join(map(as_line, [headings, ["---"] * len(headings), *lines]))


def as_line(cells: Sequence[str]) -> str:
    """A line of such a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def describe_details(findings: Findings) -> str:
    """What a page says of one benchmark below the table of all rows: tables, remarks on rows, what was asserted."""
    titles = [table.title[0].upper() + table.title[1:] for table in findings.tables]
    tables = [as_markdown(table.columns, table.cells()) for table in findings.tables]
    parts = [f"{title}:\n\n{table}" for title, table in zip(titles, tables, strict=True)]
    remarks = [f"- {row.name}: {row.note}" for row in findings.rows if row.note]
    checked = [f"- checked: {sentence}" for sentence in findings.agreements]
    return "\n\n".join([*parts, "\n".join(remarks + checked)])


def show(findings: Findings) -> str:
    """The findings as text: rows with their notes, tables, and what was asserted."""
    parts = []
    if findings.rows:
        parts.append(align(HEADINGS, [row.cells() for row in findings.rows]))
        parts += [f"  {row.name}: {row.note}" for row in findings.rows if row.note]
    for table in findings.tables:
        parts += ["", table.title, align(table.columns, table.cells())]
    return "\n".join([*parts, show_agreements(findings)])


def show_agreements(findings: Findings) -> str:
    """What was asserted, and what could not be for want of a rival: no times."""
    lines = [f"  {sentence}" for sentence in findings.agreements]
    lines += [f"  without {name}, which is not installed: pip install 'robodyn[bench]'" for name in findings.missing]
    return "\n".join(lines)


def align(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Lines under headings, every column as wide as its widest cell."""
    widths = [max(len(line[k]) for line in [headings, *lines]) for k in range(len(headings))]
    rule = ["-" * width for width in widths]
    padded = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in [headings, rule, *lines]
    ]
    return "\n".join("  ".join(line).rstrip() for line in padded)
