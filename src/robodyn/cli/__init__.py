"""The command `robodyn`."""

# Each module registers its command.
from robodyn.cli import check, compare, export, info, list, modes, plot, report, reproduce, run, show, view  # noqa: F401
from robodyn.cli.application import app, main

__all__ = ["app", "main"]
