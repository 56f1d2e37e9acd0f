"""XML of robot files: which elements and attributes does one hold, each with its line?

Nothing is fetched or expanded: a file with a document type or entities of its own is refused. Every element and
attribute carries its fate, which makes the balance sheet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from robodyn.base import FlawList, frozen
from robodyn.base.untrusted import MEGABYTE, Unreadable, read_bytes

MOST_BYTES, MOST_ELEMENTS, MOST_NESTED = 32 * MEGABYTE, 200_000, 64
"""Of a robot file, this project's own choice."""
READ, CONVERTED, CHOICE, UNUSED = "read", "converted", "choice", "not used"
COLUMNS = (READ, CONVERTED, CHOICE, UNUSED)


@dataclass(eq=False)
class XmlElement:
    """An element of a file.

    Attributes:
        fates: column and note of the element itself, under "", and of its attributes by name.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    parent: XmlElement | None = None
    children: list[XmlElement] = field(default_factory=list)
    text: str = ""
    fates: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.parent is not None:
            self.parent.children.append(self)

    def walk(self) -> Iterator[XmlElement]:
        """The element and all below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def path(self) -> str:
        """Tags down to the element, with the names of those that have one."""
        own = f"{self.tag}[{self.attributes['name']}]" if "name" in self.attributes else self.tag
        return own if self.parent is None else f"{self.parent.path}/{own}"

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"line {self.line}: {self.path}"

    def mark(self, column: str, note: str = "", *keys: str) -> None:
        """Put the element, or attributes that it has, into a column of the balance sheet; the last word counts."""
        self.fates |= {key: (column, note) for key in keys or ("",) if not key or key in self.attributes}

    def take(self, key: str, column: str = READ, note: str = "") -> str | None:
        """The value of an attribute, None where it is not there; the element is read too."""
        self.fates.setdefault("", (READ, ""))
        self.mark(column, note, key)
        return self.attributes.get(key)

    def drop(self, reason: str, column: str = UNUSED) -> None:
        """Everything of the element that is in no column yet is not used, or in another one."""
        for element in self.walk():
            for key in ("", *element.attributes):
                element.fates.setdefault(key, (column, reason))

    def all(self, tag: str) -> list[XmlElement]:
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str) -> XmlElement | None:
        """The first child of a tag, which is read; others are not used."""
        matches = self.all(tag)
        for other in matches[1:]:
            other.drop(f"the first <{tag}> of <{self.tag}> counts")
        if matches:
            matches[0].fates.setdefault("", (READ, ""))
        return matches[0] if matches else None


def load_xml(path: Path) -> XmlElement:
    """The root element of a file.

    Raises:
        Unreadable, OSError: for what is no XML, too large, nested too deep, or has a document type.
    """
    return parse_xml(read_bytes(path, MOST_BYTES))


def parse_xml(data: bytes | str) -> XmlElement:
    """The root element of a text, see `load_xml`."""
    builder = _Builder()
    try:
        builder.parser.Parse(data, True)
    except Unreadable:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise Unreadable(f"is not XML: {error}") from error
    assert builder.root is not None
    return builder.root


def xml_text(root: XmlElement, without: Sequence[XmlElement]) -> str:
    """The text of a file's own elements and attributes, those that are included left out, each in its line."""
    lines: dict[int, list[str]] = {}
    waiting: list[XmlElement | str] = [root]
    line = 1
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            lines.setdefault(line, []).append(part)
        elif not any(part is one for one in without):
            line = part.line
            said = "".join(f" {key}={quoteattr(value)}" for key, value in part.attributes.items())
            lines.setdefault(line, []).append(f"<{part.tag}{said}>")
            inner = [] if part.tag == "include" else part.children
            waiting += [f"</{part.tag}>", *reversed(inner)]
    return "\n".join("".join(lines.get(k, [])) for k in range(1, line + 1))


class _Builder:
    """Makes elements of what the parser calls out."""

    def __init__(self) -> None:
        self.root: XmlElement | None = None
        self.open: list[XmlElement] = []
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.read_text
        self.parser.StartDoctypeDeclHandler = self.refuse

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise Unreadable(f"has more than {MOST_ELEMENTS} elements")
        if len(self.open) >= MOST_NESTED:
            raise Unreadable(f"is nested more than {MOST_NESTED} deep in line {self.parser.CurrentLineNumber}")
        parent = self.open[-1] if self.open else None
        self.open.append(XmlElement(tag, attributes, self.parser.CurrentLineNumber, parent))
        self.root = self.root or self.open[-1]

    def end(self, tag: str) -> None:
        self.open.pop()

    def read_text(self, text: str) -> None:
        self.open[-1].text += text

    def refuse(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise Unreadable(f"has a document type in line {line}: entities are not expanded, and nothing is fetched")


def read_floats(text: str, count: int | None) -> list[float]:
    """Numbers of a text, as many as asked for; ValueError with what is wrong."""
    words = text.replace(",", " ").split()
    if count is not None and len(words) != count:
        raise ValueError(f"must be {count} numbers, is '{text.strip()[:80]}'" if count > 1 else "must be a number")
    return [_float(word) for word in words]


def _float(word: str) -> float:
    try:
        value = float(word) if "_" not in word else float("nan")
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise ValueError(f"'{word[:80]}' is not a finite number")
    return value


def floats_of(
    element: XmlElement | None, key: str, count: int, default: tuple[float, ...], flaws: FlawList, note: str = ""
) -> list[float]:
    """Numbers of an attribute; its default where it is not there or wrong, which is noted."""
    text = None if element is None else element.take(key, CONVERTED if note else READ, note)
    if element is None or text is None:
        return list(default)
    try:
        return read_floats(text, count)
    except ValueError as error:
        flaws.add(f"{element.place}@{key}", str(error))
        return list(default)


# --------------------------------------------------------------------------------------------------
# Balance sheet of a robot file: what became of each element and attribute? Each is in exactly one column.


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


@frozen
class BalanceEntry:
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


@frozen
class BalanceSheet:
    """All elements and attributes of a file, in its order."""

    JSON = """
    source
    counts = totals
    entries
    """
    source: str
    entries: tuple[BalanceEntry, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many entries each column has."""
        totals = Counter(entry.column for entry in self.entries)
        return {column: totals[column] for column in COLUMNS}

    def of(self, column: str) -> tuple[BalanceEntry, ...]:
        """Entries of one column."""
        return tuple(entry for entry in self.entries if entry.column == column)

    @property
    def choices(self) -> tuple[str, ...]:
        """A sentence for each choice that was made."""
        lines = (f"line {entry.line}: " if entry.line else "" for entry in self.of(CHOICE))
        return tuple(f"{line}{e.path}: {e.note}" for line, e in zip(lines, self.of(CHOICE), strict=True))

    @property
    def not_drawn(self) -> tuple[str, ...]:
        """A sentence for each reason why shapes are not drawn, with their number."""
        notes = Counter(entry.note for entry in self.entries if NOT_DRAWN in entry.note and "@" not in entry.kind)
        return tuple(f"{count} x {note}" for note, count in notes.items())

    @property
    def totals(self) -> dict[str, int]:
        """How many entries there are, and each column has."""
        return {"entries": len(self.entries), **self.counts}

    @property
    def lost(self) -> tuple[str, ...]:
        """A sentence for each kind of part or field that is not used; what belongs to such a part is not told apart."""
        unused = self.of(UNUSED)
        whole = {entry.path for entry in unused if "@" not in entry.path}
        tops = (entry for entry in unused if not any(path in whole for path in _owners(entry.path)))
        return tuple(line.strip() for line in _grouped(tuple(tops), alike=True))

    def text(self) -> str:
        """The sheet for a terminal: the columns with their sums, alike entries together."""
        counts = self.counts
        lines = [f"{self.source}: {len(self.entries)} elements and attributes"]
        lines += [f"  {counts[column]:>6}  {TITLES[column]}" for column in COLUMNS]
        for column in COLUMNS[1:]:
            lines += ["", f"{TITLES[column]}:"] if counts[column] else []
            lines += [f"  {line}" for line in _grouped(self.of(column), alike=column != CHOICE)]
        return "\n".join(lines)


def _owners(path: str) -> Iterator[str]:
    """Paths of the parts that a part or field belongs to."""
    if "@" in path:
        path = path.partition("@")[0]
        yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _place(entry: BalanceEntry) -> str:
    """Where an entry stands: in a line of a file, or in a machine, which has none."""
    return f"in line {entry.line}" if entry.line else entry.path


def _grouped(entries: tuple[BalanceEntry, ...], alike: bool) -> Iterator[str]:
    """Entries of one note in one line, with their number and the first one's line."""
    groups: dict[tuple[str, str], list[BalanceEntry]] = {}
    for entry in entries:
        what = entry.kind if alike else f"line {entry.line} {entry.path}" if entry.line else entry.path
        groups.setdefault((what, entry.note), []).append(entry)
    for (what, note), group in groups.items():
        if alike:
            yield f"{len(group):>5} x {what}: {note} (first {_place(group[0])})"
        else:
            yield f"{what} {group[0].value}: {note}".replace(" : ", ": ")


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


def _entries(element: XmlElement) -> Iterator[BalanceEntry]:
    path, kind = element.path, f"{element.parent.tag}/{element.tag}" if element.parent else element.tag
    yield BalanceEntry(element.line, path, kind, " ".join(element.text.split())[:LONGEST], *element.fates[""])
    for key, value in element.attributes.items():
        yield BalanceEntry(element.line, f"{path}@{key}", f"{kind}@{key}", value[:LONGEST], *element.fates[key])
