"""How do tests use a real browser? Chromium without a window, told what to do by the WebDriver protocol (W3C)."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
import warnings
from contextlib import contextmanager

import pytest

MISSING = "THE REPORT PAGE IS NOT TESTED, a browser is missing: apt-get install chromium chromium-driver"
QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-prefers-reduced-motion",
)
# WebGL without a graphics card: it takes a tenth of a second of both cores a picture.
WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Right": "\ue014", "Left": "\ue012", "End": "\ue010", "Home": "\ue011", "Tab": "\ue004"}
PATIENCE = 60
PIXELS = """
    const canvas = document.querySelector(arguments[0]);
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const flat = copy.getContext('2d');
    flat.drawImage(canvas, 0, 0);
    const {data} = flat.getImageData(0, 0, canvas.width, canvas.height);"""
"""The pixels of a canvas, whatever draws on it, as `data` of a script."""


class BrowserError(RuntimeError):
    """The browser refused a command."""


class Browser:
    """One window of Chromium; `errors` and `requests` tell what happened in it since they were last asked for."""

    def __init__(self, driver, options):
        self.driver = driver
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.driver + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise BrowserError(json.load(error)["value"]["message"]) from error

    def _report(self, path, body=None):
        return self._call("GET" if body is None else "POST", f"/session/{self.session}/{path}", body)

    def open(self, address):
        """Load a page and wait until its script has drawn it."""
        self._report("url", {"url": str(address)})
        self.wait("document.documentElement.dataset.ready === 'true'")

    def leave(self):
        """Show nothing."""
        self._report("url", {"url": "about:blank"})

    def run(self, script, *arguments):
        return self._report("execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, condition):
        """Wait until an expression is true; AssertionError if it never is."""
        until = time.monotonic() + PATIENCE
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < until, f"never true: {condition}"
            time.sleep(0.02)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        # In the middle of the window nothing that stays in place covers it.
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        found = self._report("element", {"using": "css selector", "value": selector})
        self._report(f"element/{found[ELEMENT]}/click", {})

    def type(self, selector, text):
        found = self._report("element", {"using": "css selector", "value": selector})
        self._report(f"element/{found[ELEMENT]}/value", {"text": text})

    def press(self, *keys):
        """Press keys one after the other, wherever the focus is."""
        strokes = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self._report("actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def point(self, selector, *steps):
        """Mouse work over an element: (share of width, share of height) moves there, "down" and "up" press."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        box = self.run("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", selector)
        acts = [_act(step, box) for step in steps]
        self._report("actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": acts}]})

    def turn_wheel(self, selector, amount):
        box = self.run("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", selector)
        place = {"x": round(box["x"] + box["width"] / 2), "y": round(box["y"] + box["height"] / 2)}
        act = {"type": "scroll", **place, "deltaX": 0, "deltaY": amount}
        self._report("actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [act]}]})

    def picture(self, selector):
        """The pixels of a canvas, as text that can be compared."""
        return self.run("return document.querySelector(arguments[0]).toDataURL()", selector)

    def colours(self, selector):
        """How many different colours a canvas shows."""
        return self.run(f"{PIXELS} return new Set(new Uint32Array(data.buffer)).size;", selector)

    def errors(self):
        entries = self._report("se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Addresses asked for; what a page brings along (data:) and the browser's own pages (chrome:) left out."""
        message = (json.loads(entry["message"])["message"] for entry in self._report("se/log", {"type": "performance"}))
        sent = [
            event["params"]["request"]["url"] for event in message if event["method"] == "Network.requestWillBeSent"
        ]
        return [address for address in sent if not address.startswith(("data:", "chrome"))]

    @contextmanager
    def sized(self, width, height):
        """A page has so many pixels for itself, without the frame of the browser."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._develop("Emulation.setDeviceMetricsOverride", **size)
        try:
            yield self
        finally:
            self._develop("Emulation.clearDeviceMetricsOverride")

    def _develop(self, command, **parameters):
        """Send a command of Chromium's own protocol, for what WebDriver does not know."""
        self._report("goog/cdp/execute", {"cmd": command, "params": parameters})

    def close(self):
        self._call("DELETE", f"/session/{self.session}")


def _act(step, box):
    if step in ("down", "up"):
        return {"type": "pointerDown" if step == "down" else "pointerUp", "button": 0}
    x, y = box["x"] + step[0] * box["width"], box["y"] + step[1] * box["height"]
    return {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 20}


@contextmanager
def open_browser(folder, webgl=False, **options):
    """A browser with a fresh profile in the folder, which draws in space or not; the test is skipped, loudly, where
    there is none."""
    program, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not (program and driver):
        warnings.warn(MISSING, stacklevel=2)
        pytest.skip(MISSING)
    options = {
        "binary": program,
        "args": [
            *QUIET,
            *(WEBGL if webgl else ("--disable-gpu", "--disable-3d-apis")),
            f"--user-data-dir={folder}",
            "--window-size=1000,620",
            "about:blank",
        ],
    } | options
    port = _free_port()
    process = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_ready(address)
        browser = Browser(address, options)
        try:
            yield browser
        finally:
            browser.close()
    finally:
        process.terminate()
        process.wait(PATIENCE)


def show_pages(browser, write):
    """Yields a callable that writes a page and gives the browser with it; no page may complain or ask for anything but
    itself.

    Args:
        write: callable number of the page, further arguments -> its path.
    """
    opened = []

    def open_page(*arguments, **options):
        path = write(len(opened), *arguments, **options)
        if not opened:
            # What was open before, perhaps a page that looks for its server, has ended.
            browser.leave()
            browser.errors(), browser.requests()
        browser.open(path.as_uri())
        opened.append(path.as_uri())
        return browser

    yield open_page
    assert browser.errors() == []
    assert browser.requests() == opened


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_ready(address):
    until = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(f"{address}/status", timeout=5) as answer:
                if json.load(answer)["value"]["ready"]:
                    return
        except OSError:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)
