"""Self-contained HTML pages: reports of runs with plots and a 3-D replay, machines with sliders, modes that swing."""

from robodyn.base import imported_names

from .contents import read_note
from .page import PageServer, make_modes_page, make_page, make_view, write_modes, write_report, write_view

__all__ = imported_names(__name__)
