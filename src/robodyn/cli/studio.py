"""robodyn studio: move a scenario's numbers in the browser and see the machine answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.cli.application import app, fail
from robodyn.cli.targets import load_scenario, require_file
from robodyn.cli.view import serve_until_interrupted

if TYPE_CHECKING:
    from robodyn.presentation.studio import StudioServer


@app.command("studio")
def studio(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, a TOML file, or a robot file.")],
    port: Annotated[
        int | None, typer.Option(help="Port of the loopback address; default: that of the last time, or any free one.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the studio in the browser.")] = True,
) -> None:
    """Move a scenario's numbers and see the machine answer: 3-D, plots, its file; Ctrl-C ends."""
    # A misspelt name is told here; a file with mistakes is what the studio's editor is for.
    if not scenario.endswith(".toml"):
        load_scenario(scenario)
    else:
        require_file(scenario)
    with _serve(scenario, port) as server:
        serve_until_interrupted(server, browser)


def _serve(scenario: str, port: int | None) -> StudioServer:
    """The server; unless a port is asked for, at this scenario's last address, where open pages look for it."""
    try:
        from robodyn.presentation.studio import Source, StudioServer
    except ImportError as error:
        raise fail(f"the studio needs {error.name}: pip install 'robodyn[studio]'") from error
    from robodyn.presentation.studio.address import keep_address, last_address

    if port is not None and not 0 <= port < 1 << 16:
        raise fail(f"--port {port}: must be from 0 to 65535")
    last = last_address(scenario)
    token = last.token if last else None
    tried = [port] if port is not None else [last.port, 0] if last else [0]
    for one in tried:
        try:
            server = StudioServer(Source(scenario), one, token)
            keep_address(scenario, server.port, server.token)
            return server
        except OSError as error:
            if one == tried[-1]:
                raise fail(f"--port {one}: cannot be listened on ({error.strerror}): choose another one") from error
    raise AssertionError("one port at least was tried")
