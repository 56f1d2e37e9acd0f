"""The studio: a local web app in which a scenario's numbers are moved and the machine answers at once."""

from .server import StudioServer
from .session import JobTable

__all__ = ["JobTable", "StudioServer"]
