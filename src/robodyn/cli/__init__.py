"""The command `robodyn`."""

from robodyn.cli import check, compare, export, info, list, run, show  # noqa: F401  (each registers its command)
from robodyn.cli.application import app, main

__all__ = ["app", "main"]
