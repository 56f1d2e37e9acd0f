"""Self-contained HTML pages: reports of runs with interactive plots and a 3-D replay, and modes that swing."""

from .modes import make_modes_page, write_modes
from .page import make_page, write_report
from .server import PageServer

__all__ = ["PageServer", "make_modes_page", "make_page", "write_modes", "write_report"]
