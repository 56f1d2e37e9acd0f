"""Local web server: how is a page shown to the browsers of this computer, and to no other?"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOOPBACK = "127.0.0.1"


class PageServer(ThreadingHTTPServer):
    """Serves one page at a free port of the loopback address; `serve_forever` until interrupted."""

    daemon_threads = True

    def __init__(self, page: str) -> None:
        super().__init__((LOOPBACK, 0), _Handler)
        self.page = page.encode()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that is closed while a page is on its way is no fault; all else is reported."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """Where the page is, for a browser."""
        return f"http://{LOOPBACK}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    """Answers requests for the page itself."""

    server: PageServer
    server_version, sys_version = "robodyn", ""

    def do_GET(self) -> None:
        # A foreign name that leads to this address is how a web site would read what is served here.
        known = [f"{host}:{self.server.server_port}" for host in (LOOPBACK, "localhost")]
        if self.headers.get("Host") not in known:
            self.send_error(403, "Only the loopback address is served")
        elif self.path.partition("?")[0] != "/":
            self.send_error(404)
        else:
            self._send_page()

    def _send_page(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.server.page)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(self.server.page)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are no news."""
