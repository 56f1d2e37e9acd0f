"""robodyn guide: how is this program driven?"""

from __future__ import annotations

from robodyn.cli.application import app, output
from robodyn.cli.commands import read_guide


@app.command("guide")
def print_guide() -> None:
    """Print a short tour of all commands, each with an example that runs; made for assistants too."""
    output.print(read_guide().rstrip())
