"""Inline page: how is a run replayed inside a notebook? The report page in a frame of its own."""

from __future__ import annotations

from html import escape
from typing import Any

from robodyn.computation.results import Run

from .page import make_page


class InlinePage:
    """A page that notebooks show; `page` is its text."""

    def __init__(self, page: str, height: int) -> None:
        self.page, self.height = page, height

    def __repr__(self) -> str:
        return f"<page of {len(self.page) / 1e6:.1f} MB, for a notebook>"

    def _repr_html_(self) -> str:
        # The frame may run the page's own script, and is a stranger to the notebook around it.
        how = f'sandbox="allow-scripts allow-downloads" width="100%" height="{self.height}" style="border:0"'
        return f'<iframe {how} srcdoc="{escape(self.page)}"></iframe>'


def show_run(run: Run, *, height: int = 760, **options: Any) -> InlinePage:
    """`run.show()`: plots and 3-D replay in place; options as of `make_page`."""
    return InlinePage(make_page(run, **options), height)
