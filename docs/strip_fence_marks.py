"""How do marked code blocks look on the site? A mkdocs hook makes "python run" and its like plain "python"."""

import re
from typing import Any

MARKED_FENCE = re.compile(r"^(```\w+)[ ]+\S.*$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page without the words behind a fence's language, which only the documentation's tests read."""
    return MARKED_FENCE.sub(r"\1", markdown)
