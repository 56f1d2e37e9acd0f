"""Command line: the program `robodyn`."""

from robodyn.cli.application import app, main

__all__ = ["app", "main"]
