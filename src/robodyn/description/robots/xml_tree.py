"""XML of robot files: which elements and attributes does one hold, each with its line?

Nothing is fetched or expanded: a file with a document type or entities of its own is refused. Every element and
attribute carries its fate, which makes the balance sheet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from robodyn.base.errors import FlawList
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

    def drop(self, reason: str) -> None:
        """Everything of the element that is in no column yet is not used."""
        for element in self.walk():
            for key in ("", *element.attributes):
                element.fates.setdefault(key, (UNUSED, reason))

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
        raise ValueError(f"'{word[:80]}' is no finite number")
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
