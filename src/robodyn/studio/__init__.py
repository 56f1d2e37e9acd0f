"""Report pages: one self-contained HTML file with summary, interactive plots and a 3-D replay of runs."""

from .page import make_page, write_report
from .server import PageServer

__all__ = ["PageServer", "make_page", "write_report"]
