"""Server of the studio: how do browsers of this computer reach it, and nobody else?

It listens on the loopback address only. A page elsewhere could still send requests there: so every address carries a
token that only the user is given, the Host must be this address (a foreign name that leads here is refused), and a
connection must come from the studio's own page (Origin).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import json
import logging
import secrets
import socket
import threading
from dataclasses import asdict
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve
from websockets.typing import Origin

from robodyn.base import frozen
from robodyn.computation.native import cache_folder
from robodyn.computation.native.cache import open_private
from robodyn.presentation.pages.page import SCRIPTS, read_style, read_template, wrap_scripts
from robodyn.presentation.reporting.displays import policy_of

from .session import JobTable, Library, Session
from .source import write_private

# Page of the studio: markup, style and script in one answer, without anything of the scenario in it.
#
# Names, titles and messages come later as data, and are put in as text. The policy lets the browser run this script and
# talk to this server, nothing else.

OWN = (
    "connection.js",
    "runs.js",
    "history.js",
    "toml.js",
    "completion.js",
    "editor.js",
    "jobs.js",
    "tabs.js",
    "start.js",
    "studio.js",
)


@functools.cache
def studio_page() -> tuple[bytes, str]:
    """The page and its content security policy."""
    script = wrap_scripts([*map(read_template, (*SCRIPTS[:-1], "numbers.js")), *map(_read, OWN)])
    style = read_style() + _read("studio.css")
    page = _read("studio.html").replace("{{style}}", style).replace("{{script}}", script)
    rules = ("connect-src 'self'", "frame-ancestors 'none'")
    return page.encode(), policy_of(style, script, *rules, images="data: blob:")


def _read(name: str) -> str:
    return (files(__package__) / "template" / name).read_text(encoding="utf-8")


# Address of a studio: where was it the last time? Pages that are still open find it there after a restart.
#
# Kept in a file that only the user can read, as it holds the token.


@frozen
class Address:
    """Port and token of a studio."""

    port: int
    token: str


def last_address(scenario: str) -> Address | None:
    """The address of this scenario's studio; None where there was none, or where others could have written it."""
    try:
        with open_private(_file(scenario)) as file:
            address = json.load(file)
        return Address(int(address["port"]), str(address["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_address(scenario: str, port: int, token: str) -> None:
    """Keep it for the next time; where that is not possible, the next time has another one."""
    with contextlib.suppress(OSError):
        write_private(_file(scenario), json.dumps(asdict(Address(port, token))))


def _file(scenario: str) -> Path:
    path = Path(scenario)
    place = str(path.resolve()) if path.suffix else scenario
    return cache_folder() / "studio" / f"{hashlib.sha256(place.encode()).hexdigest()[:32]}.json"


LOOPBACK = "127.0.0.1"
MOST_BYTES = 8 * 1024 * 1024
"""Of a request: a TOML file fits into it."""
REFUSED = {
    HTTPStatus.FORBIDDEN: "This address needs the token that the studio printed, and the name of this computer.",
    HTTPStatus.NOT_FOUND: "There is nothing here.",
}


class StudioServer:
    """Serves the studio; raises OSError where the port is taken.

    Args:
        name: scenario that is open at first; without one, a browser begins with the start page.
        jobs: what runs in processes of their own.
        port: 0 for any that is free.
        token: what an address must carry; a new one by default.
    """

    def __init__(self, name: str | None, jobs: JobTable, port: int = 0, token: str | None = None) -> None:
        self.name, self.library = name, Library(jobs)
        self.token = token or secrets.token_urlsafe(24)
        self.sessions: set[Session] = set()
        self.socket = _listen(port)
        self.port = int(self.socket.getsockname()[1])
        hosts = [f"{host}:{self.port}" for host in (LOOPBACK, "localhost")]
        self.hosts = frozenset(hosts)
        quiet = logging.getLogger("robodyn.presentation.pages")
        quiet.addHandler(logging.NullHandler())
        quiet.propagate = False
        self.server = serve(
            self._converse,
            sock=self.socket,
            origins=[Origin(f"http://{host}") for host in hosts],
            process_request=self._answer,
            # Frames stay on this computer: packing them would only take time.
            compression=None,
            # Work may hold the interpreter's lock for longer than a ping is waited for.
            ping_interval=None,
            max_size=MOST_BYTES,
            server_header=None,
            logger=quiet,
        )

    @property
    def address(self) -> str:
        """For a browser, with the token."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"

    def serve_forever(self) -> None:
        """Serve until `close`, or an interrupt."""
        self.server.serve_forever()

    def close(self) -> None:
        """End all sessions with what they have under way, then the server."""
        for session in list(self.sessions):
            session.close()
        self.server.shutdown()

    def __enter__(self) -> StudioServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The page, or a refusal; None lets a conversation begin."""
        url = urlsplit(request.path)
        token = parse_qs(url.query).get("token", [""])[0]
        authorised = hmac.compare_digest(token.encode(), self.token.encode())
        if request.headers.get("Host") not in self.hosts or not authorised:
            return _refuse(HTTPStatus.FORBIDDEN)
        if url.path == "/":
            page, policy = studio_page()
            return _respond(HTTPStatus.OK, page, "text/html; charset=utf-8", {"Content-Security-Policy": policy})
        return None if url.path == "/studio" else _refuse(HTTPStatus.NOT_FOUND)

    def _converse(self, connection: ServerConnection) -> None:
        lock = threading.Lock()

        def send(message: str | bytes) -> None:
            # Whoever has gone needs no answer.
            try:
                with lock:
                    connection.send(message)
            except ConnectionClosed:
                pass

        session = Session(self.library, self.name, send)
        self.sessions.add(session)
        try:
            for message in connection:
                session.handle(message if isinstance(message, str) else "")
        except ConnectionClosed:
            pass  # the browser was closed, or lost
        finally:
            session.close()
            self.sessions.discard(session)


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # A port that was just left is free again at once; one in use is not.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def _refuse(status: HTTPStatus) -> Response:
    return _respond(status, REFUSED[status].encode(), "text/plain; charset=utf-8", {})


def _respond(status: HTTPStatus, body: bytes, kind: str, more: dict[str, str]) -> Response:
    fields: dict[str, Any] = {
        "Content-Type": kind,
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        "Connection": "close",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(status.value, status.phrase, Headers(fields | more), body)
