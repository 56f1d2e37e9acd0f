"""The studio: its command, and the commands that it calls itself, each in a process of its own."""

from __future__ import annotations

import inspect
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from robodyn.base import Flaw, ModelError, listen, refuse
from robodyn.presentation.reporting.displays import Display, display

from .application import BadInput, UsageError, app, fail, load_command
from .command import COLLECTED, RETURNED, Paths, Texts, command, read_docstring
from .look import serve_until_interrupted
from .targets import EDITED, load_scenario, load_single, require_file

if TYPE_CHECKING:
    from robodyn.presentation.studio import StudioServer

CALLED = {
    "budget": "Budget",
    "sensitivity": "Sensitivity",
    "loops": "Loops",
    "modes": "Modes",
    "sheet": "Sheet",
    "circle": "Circle",
    "tune": "Tune",
    "sweep": "Sweep",
    "fit": "Fit",
}
"""Commands that the studio calls, and how it names them."""
HIDDEN = ("scenario", "setting", "out", "plot", "html", "state", "workers", "on", "resume", "along", "as_json")
"""Commands that the studio has by itself, or that write files."""


@command("studio", page=False, json=False)
def studio(scenario: str | None = None, port: int | None = None, browser: bool = True) -> None:
    """Move a scenario's numbers and see the machine answer: 3-D, plots, its file; Ctrl-C ends.

    scenario (SCENARIO): Name in the catalogue, a TOML file, or a robot file; without one, a start page.
    port: Port of the loopback address; default: that of the last time, or any free one.
    browser: Open the studio in the browser.
    """
    # A misspelt name is reported here; a file with mistakes is what the studio's editor is for.
    if scenario is not None:
        require_file(scenario) if scenario.endswith(".toml") else load_scenario(scenario)
    with _start_studio(scenario, port) as server:
        serve_until_interrupted(server, browser)


def _start_studio(scenario: str | None, port: int | None) -> StudioServer:
    """The server; unless a port is asked for, at this scenario's last address, where open pages look for it."""
    try:
        import tomlkit  # noqa: F401

        from robodyn.presentation.studio import JobTable, StudioServer
    except ImportError as error:
        raise fail(f"the studio needs {error.name}: pip install 'robodyn[studio]'") from error
    from robodyn.presentation.studio.server import keep_address, last_address

    if port is not None and not 0 <= port < 1 << 16:
        raise fail(f"--port {port}: must be from 0 to 65535")
    last = last_address(scenario or "")
    token = last.token if last else None
    tried = [port] if port is not None else [last.port, 0] if last else [0]
    jobs = JobTable(("-m", "robodyn.cli.studio"), list_commands())
    for one in tried:
        try:
            server = StudioServer(scenario, jobs, one, token)
            keep_address(scenario or "", server.port, server.token)
            return server
        except OSError as error:
            if one == tried[-1]:
                raise fail(f"--port {one}: is not available ({error.strerror}): choose another one") from error
    raise AssertionError("one port at least was tried")


# Commands within the studio: the forms that call them are made from their signatures, as their options are.


def list_commands() -> list[dict[str, Any]]:
    """The commands that the studio calls: name, title, what it does, and its fields."""
    rows = []
    for name, title in CALLED.items():
        load_command(name)
        function = RETURNED[name]
        about, texts = read_docstring(function)
        fields = []
        for one in inspect.signature(function).parameters.values():
            if one.name in HIDDEN or one.annotation == "Texts" and one.name == "runs":
                continue
            called, text = texts[one.name]
            required = one.default is inspect.Parameter.empty
            default = "" if required or one.default in (None, ()) else one.default
            label = called if called.startswith("--") else one.name
            fields.append({"name": one.name, "label": label.strip("-"), "about": text, "default": default})
            fields[-1] |= {"required": required}
        rows.append({"name": name, "title": title, "about": about, "fields": fields})
    return rows


def call_command(name: str, spec: dict[str, Any], options: dict[str, Any], tell: Any) -> tuple[Any, Display]:
    """A command's result for a scenario as an editor holds it, and its display."""
    if name not in CALLED:
        refuse("", f"there is no command '{name}' in the studio")
    scenario = spec["source"]
    if Path(scenario).is_file():
        # Files that are named are seen from the scenario's folder.
        os.chdir(Path(scenario).parent)
        scenario = Path(scenario).name
    if spec["text"] is not None:
        scenario = scenario if Path(scenario).suffix == ".toml" else f"{Path(scenario).stem}.toml"
        EDITED[scenario] = spec["text"]
    load_command(name)
    function = RETURNED[name]
    own = inspect.signature(function).parameters
    with listen(tell), tempfile.TemporaryDirectory() as folder:
        arguments = [scenario]
        if "scenario" not in own:
            # It reads runs: the present one is made for it.
            from robodyn.computation.results import save
            from robodyn.computation.simulation import simulate

            arguments = [str(Path(folder) / "now.run")]
            save(simulate(load_single(scenario, _settings(spec))), arguments[0])
        else:
            arguments += [f"--set={setting}" for setting in _settings(spec)]
        if name in ("budget", "sweep"):
            arguments.append(f"--out={Path(folder) / 'out'}")
        if "plot" in own and own["plot"].default is True:
            arguments.append("--no-plot")
        for key, value in options.items():
            arguments += _arguments(own, name, key, value)
        results: list[Any] = []
        COLLECTED.set(results)
        try:
            called = typer.main.get_command(app).get_command(None, name)  # type: ignore[attr-defined]
            called.invoke(called.make_context(name, arguments))
        except BadInput as error:
            raise ModelError(error.flaws) from error
        except UsageError as error:
            raise ModelError([Flaw("", error.format_message())]) from error
        finally:
            COLLECTED.set(None)
            EDITED.clear()
        # Files of a budget are written by the command line alone.
        result = results[0].budget if name == "budget" else results[0]
        return result, display(result)


def _settings(spec: dict[str, Any]) -> list[str]:
    """Numbers that are not written into the text yet, or of a scenario without a text."""
    return [f"{name}={value!r}" for name, value in spec["values"].items()]


def _arguments(own: Any, command: str, key: str, value: Any) -> list[str]:
    """A field's value as arguments; several values of one option have semicolons between them."""
    if key not in own or value in ("", None) or key in HIDDEN:
        return []
    called, _ = read_docstring(RETURNED[command])[1][key]
    name = called if called.startswith("--") else f"--{key.replace('_', '-')}"
    one = own[key]
    if isinstance(one.default, bool):
        return [name] if value is True else [f"--no-{name[2:]}"] if one.default else []
    several = one.default == () or one.annotation in ("Texts", "Paths", Texts, Paths)
    texts = [part.strip() for part in str(value).split(";") if part.strip()] if several else [str(value)]
    if one.default is inspect.Parameter.empty and not called.startswith("--"):
        return texts
    return [f"{name}={text}" for text in texts]


if __name__ == "__main__":
    from robodyn.presentation.studio.work import answer_job

    answer_job(call_command)
