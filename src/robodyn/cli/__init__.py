"""The command `robodyn`."""

from robodyn.cli.application import app, main

__all__ = ["app", "main"]
