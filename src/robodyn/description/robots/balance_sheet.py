"""Balance sheet of a robot file: what became of each element and attribute? Each is in exactly one column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from robodyn.description.robots.xml_tree import CHOICE, COLUMNS, UNUSED, XmlElement

TITLES = {
    "read": "read as it is",
    "converted": "converted",
    "choice": "needs a choice",
    "not used": "not used",
}
NOT_DRAWN = "is not drawn: "
"""With the reason, the note of a shape that cannot be drawn."""
LONGEST = 80
"""Letters of a value that are shown."""


@dataclass(frozen=True)
class Entry:
    """One element, or one attribute, of a file.

    Attributes:
        path: of the element, with `@name` of the attribute; kind: the last two tags of it.
        value: of the attribute, or the element's text; note: formula, choice or reason.
    """

    line: int
    path: str
    kind: str
    value: str
    column: str
    note: str = ""


@dataclass(frozen=True)
class BalanceSheet:
    """All elements and attributes of a file, in its order."""

    JSON = """
    source
    counts = totals
    entries
    """
    source: str
    entries: tuple[Entry, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many entries each column has."""
        totals = Counter(entry.column for entry in self.entries)
        return {column: totals[column] for column in COLUMNS}

    def of(self, column: str) -> tuple[Entry, ...]:
        """Entries of one column."""
        return tuple(entry for entry in self.entries if entry.column == column)

    @property
    def choices(self) -> tuple[str, ...]:
        """A sentence for each choice that was made."""
        return tuple(f"line {entry.line}: {entry.path}: {entry.note}" for entry in self.of(CHOICE))

    @property
    def not_drawn(self) -> tuple[str, ...]:
        """A sentence for each reason why shapes are not drawn, with their number."""
        notes = Counter(entry.note for entry in self.entries if NOT_DRAWN in entry.note and "@" not in entry.kind)
        return tuple(f"{count} x {note}" for note, count in notes.items())

    @property
    def totals(self) -> dict[str, int]:
        """How many entries there are, and each column has."""
        return {"entries": len(self.entries), **self.counts}

    def text(self) -> str:
        """The sheet for a terminal: the columns with their sums, alike entries together."""
        counts = self.counts
        lines = [f"{self.source}: {len(self.entries)} elements and attributes"]
        lines += [f"  {counts[column]:>6}  {TITLES[column]}" for column in COLUMNS]
        for column in COLUMNS[1:]:
            lines += ["", f"{TITLES[column]}:"] if counts[column] else []
            lines += [f"  {line}" for line in _grouped(self.of(column), alike=column != CHOICE)]
        return "\n".join(lines)


def _grouped(entries: tuple[Entry, ...], alike: bool) -> Iterator[str]:
    """Entries of one note in one line, with their number and the first one's line."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        what = entry.kind if alike else f"{entry.line} {entry.path}"
        groups.setdefault((what, entry.note), []).append(entry)
    for (what, note), group in groups.items():
        if alike:
            yield f"{len(group):>5} x {what}: {note} (first in line {group[0].line})"
        else:
            yield f"line {what} {group[0].value}: {note}".replace(" : ", ": ")


def make_balance_sheet(root: XmlElement, source: str) -> BalanceSheet:
    """The balance sheet of a file that has been read; what nobody asked for is not used."""
    for element in root.walk():
        inside = f"in <{element.parent.tag}>" if element.parent else "at the top of a file"
        element.fates.setdefault("", (UNUSED, f"has no meaning to robodyn {inside}"))
        for key in element.attributes:
            # Attributes of what is not used are not either, for the same reason.
            own = element.fates[""] if element.fates[""][0] == UNUSED else (UNUSED, "has no meaning to robodyn")
            element.fates.setdefault(key, own)
    return BalanceSheet(source, tuple(entry for element in root.walk() for entry in _entries(element)))


def _entries(element: XmlElement) -> Iterator[Entry]:
    path, kind = element.path, f"{element.parent.tag}/{element.tag}" if element.parent else element.tag
    yield Entry(element.line, path, kind, " ".join(element.text.split())[:LONGEST], *element.fates[""])
    for key, value in element.attributes.items():
        yield Entry(element.line, f"{path}@{key}", f"{kind}@{key}", value[:LONGEST], *element.fates[key])
