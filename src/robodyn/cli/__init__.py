"""Command line: the program `robodyn`."""

from .application import app, main

__all__ = ["app", "main"]
