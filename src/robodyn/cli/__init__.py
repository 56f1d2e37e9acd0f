"""The command `robodyn`."""

# Each module registers its command.
from robodyn.cli import (  # noqa: F401
    budget,
    check,
    compare,
    cosim,
    export,
    fit,
    info,
    list,
    loops,
    modes,
    perturb,
    plot,
    report,
    reproduce,
    run,
    sensitivity,
    show,
    sweep,
    view,
)
from robodyn.cli.application import app, main

__all__ = ["app", "main"]
