"""Self-contained HTML pages: reports of runs with plots and a 3-D replay, machines with sliders, modes that swing."""

from .modes import make_modes_page, write_modes
from .notes import read_note
from .page import make_page, write_report
from .server import PageServer
from .view import make_view, write_view

__all__ = [
    "PageServer",
    "make_modes_page",
    "make_page",
    "make_view",
    "read_note",
    "write_modes",
    "write_report",
    "write_view",
]
