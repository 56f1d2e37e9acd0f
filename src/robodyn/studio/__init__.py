"""Report pages: self-contained HTML files with summary, interactive plots and 3-D replay of runs, and swinging modes."""

from .modes import make_modes_page, write_modes
from .page import make_page, write_report
from .server import PageServer

__all__ = ["PageServer", "make_modes_page", "make_page", "write_modes", "write_report"]
