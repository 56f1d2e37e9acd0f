"""What does a measurement say, and how is it printed?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

HEADINGS = ("measurement", "ours", "rival", "ratio", "goal", "met")


@dataclass(frozen=True)
class Row:
    """One measurement, beside a rival or alone.

    Args:
        ours, rival: medians in `unit`; rival None where the goal is a limit on ours.
        ratio: median over the repetitions of ours / rival, each pair measured one right after the other.
        goal: largest ratio wanted, or largest value of ours without a rival; None for information only.
        accuracy: what was checked before or with the timing, in words and numbers.
        holds: False where what the goal asks for beside the time is not so.
    """

    name: str
    ours: float
    unit: str
    accuracy: str
    rival: float | None = None
    rival_name: str = ""
    ratio: float | None = None
    goal: float | None = None
    holds: bool = True

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
            "-" if self.ratio is None else f"{self.ratio:.3g} (1/{1 / self.ratio:.3g})",
            "-" if self.goal is None else f"<= {self.goal:g}{unit}",
            {None: "-", True: "yes", False: "NO"}[self.met],
        )


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
    """All that one benchmark measured."""

    rows: tuple[Row, ...] = ()
    tables: tuple[Table, ...] = field(default=())


def show(findings: Findings) -> str:
    """The findings as text: the rows with their accuracy checks below, then the tables."""
    parts = []
    if findings.rows:
        parts.append(align(HEADINGS, [row.cells() for row in findings.rows]))
        parts += [f"  {row.name}: {row.accuracy}" for row in findings.rows]
    for table in findings.tables:
        parts += ["", table.title, align(table.columns, table.cells())]
    return "\n".join(parts)


def align(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Lines under headings, every column as wide as its widest cell."""
    widths = [max(len(line[k]) for line in [headings, *lines]) for k in range(len(headings))]
    rule = ["-" * width for width in widths]
    padded = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in [headings, rule, *lines]
    ]
    return "\n".join("  ".join(line).rstrip() for line in padded)
