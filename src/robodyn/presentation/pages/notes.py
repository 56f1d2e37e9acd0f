"""Notes of a report: how does a text with a little Markdown become part of a page? As text: no markup in it is run."""

from __future__ import annotations

import re
from typing import Any

_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
_ITEM = re.compile(r"^[-*+]\s+(.*)$")
FENCE = "```"


def read_note(text: str) -> dict[str, Any]:
    """Headings, paragraphs, lists and code of a text; all else, emphasis and links too, stays as it is written."""
    blocks: list[dict[str, Any]] = []
    code: list[str] | None = None
    for line in text.splitlines():
        if line.startswith(FENCE):
            if code is not None:
                blocks.append({"kind": "code", "text": "\n".join(code)})
            code = [] if code is None else None
        elif code is not None:
            code.append(line)
        else:
            _add_line(blocks, line.rstrip())
    if code is not None:
        blocks.append({"kind": "code", "text": "\n".join(code)})
    return {"prose": [block for block in blocks if block["kind"] != "space"]}


def _add_line(blocks: list[dict[str, Any]], line: str) -> None:
    last: dict[str, Any] = blocks[-1] if blocks else {"kind": "space"}
    if not line:
        blocks.append({"kind": "space"})
    elif found := _HEADING.match(line):
        blocks.append({"kind": "heading" if len(found[1]) < 3 else "subheading", "text": found[2]})
    elif found := _ITEM.match(line):
        if last["kind"] == "list":
            last["items"].append(found[1])
        else:
            blocks.append({"kind": "list", "items": [found[1]]})
    elif last["kind"] == "paragraph":
        last["text"] += f" {line}"
    elif last["kind"] == "list":
        last["items"][-1] += f" {line.strip()}"
    else:
        blocks.append({"kind": "paragraph", "text": line})
