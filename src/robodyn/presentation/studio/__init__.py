"""The studio: a local web app in which a scenario's numbers are moved and the machine answers at once."""

from robodyn.base import imported_names

from .server import StudioServer
from .session import JobTable

__all__ = imported_names(__name__)
