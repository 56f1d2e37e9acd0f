"""Server of the studio: how do browsers of this computer reach it, and nobody else?

It listens on the loopback address only. A page elsewhere could still send requests there: so every address carries a
token that only the user is given, the Host must be this address (a foreign name that leads here is refused), and a
connection must come from the studio's own page (Origin).
"""

from __future__ import annotations

import hmac
import logging
import secrets
import socket
import threading
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve
from websockets.typing import Origin

from .model import ModelStore
from .page import studio_page
from .session import Session
from .source import Source

LOOPBACK = "127.0.0.1"
MOST_BYTES = 8 * 1024 * 1024
"""Of a request: a TOML file fits into it."""
REFUSED = {
    HTTPStatus.FORBIDDEN: "The address needs the token that the studio has printed, and this computer's own name.",
    HTTPStatus.NOT_FOUND: "There is nothing here.",
}


class StudioServer:
    """Serves the studio of one scenario; raises OSError where the port is taken.

    Args:
        port: 0 for any that is free.
        token: what an address must carry; a new one by default.
    """

    def __init__(self, source: Source, port: int = 0, token: str | None = None) -> None:
        self.models, self.token = ModelStore(source), token or secrets.token_urlsafe(24)
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
        asked = urlsplit(request.path)
        token = parse_qs(asked.query).get("token", [""])[0]
        known = hmac.compare_digest(token.encode(), self.token.encode())
        if request.headers.get("Host") not in self.hosts or not known:
            return _refuse(HTTPStatus.FORBIDDEN)
        if asked.path == "/":
            return _send_page()
        return None if asked.path == "/studio" else _refuse(HTTPStatus.NOT_FOUND)

    def _converse(self, connection: ServerConnection) -> None:
        lock = threading.Lock()

        def send(message: str | bytes) -> None:
            # Whoever has gone needs no answer.
            try:
                with lock:
                    connection.send(message)
            except ConnectionClosed:
                pass

        session = Session(self.models, send)
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
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # A port that was just left is free again at once; one in use is not.
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((LOOPBACK, port))
        found.listen()
    except OSError:
        found.close()
        raise
    return found


def _send_page() -> Response:
    page, policy = studio_page()
    return _respond(HTTPStatus.OK, page, "text/html; charset=utf-8", {"Content-Security-Policy": policy})


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
