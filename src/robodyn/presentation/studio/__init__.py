"""The studio: a local web app in which a scenario's numbers are moved and the machine answers at once."""

from .server import StudioServer
from .source import Source

__all__ = ["Source", "StudioServer"]
