"""Studios in tests: how is one served, and how do tests move what it shows?"""

import os
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

from robodyn.cli.studio import list_commands
from robodyn.computation.native import cache_folder
from robodyn.presentation.studio import JobTable, StudioServer, source

# What tests open is not put into the user's list of recent files, unless a test has a cache of its own.
STATE = tempfile.TemporaryDirectory(prefix="robodyn-studio-")
source._studio_folder = lambda: (cache_folder() if "ROBODYN_CACHE" in os.environ else Path(STATE.name)) / "studio"

JOBS = JobTable(("-m", "robodyn.cli.studio"), list_commands())

CART = """
title = "A cart on a rail"
duration = 0.5
initial = { "rail.position" = 0.1 }

[bodies.carriage]
mass = 2

[joints.rail]
kind = "prismatic"
parent = "ground"
child = "carriage"
axis = [1, 0, 0]

[blocks.friction]
law = "viscous_friction"
on = "rail"
parameters = { viscous = 4 }

[blocks.spring]
law = "spring"
on = "rail"
parameters = { stiffness = 500 }
"""


@contextmanager
def serving(name, **options):
    """A studio that is served by a thread."""
    with StudioServer(None if name is None else str(name), JOBS, **options) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server


def move(page, name, value):
    """Drag a number's slider to a value, wherever it is, and let it go; waits for the run and for the text."""
    before = page.run("return document.documentElement.dataset.written ?? ''")
    drag(page, name, value)
    page.wait(f"(document.documentElement.dataset.written ?? '') !== '{before}'")


def drag(page, name, value):
    page.run(
        """const search = document.querySelector('#number-search');
        search.value = arguments[0];
        search.dispatchEvent(new Event('input'));
        const slider = document.querySelector(`.number[data-number='${arguments[0]}'] input[type=range]`);
        [slider.min, slider.max] = [Math.min(slider.min, arguments[1]), Math.max(slider.max, arguments[1])];
        slider.value = arguments[1];
        slider.dispatchEvent(new Event('input'));
        slider.dispatchEvent(new Event('change'));""",
        name,
        value,
    )


def write(page, text):
    """Put a text into the editor, as if it were typed."""
    page.run(
        """const area = document.querySelector('#text');
        area.value = arguments[0];
        area.dispatchEvent(new Event('input'));""",
        text,
    )


def strike(page, selector, key, **held):
    """Strike a key on an element, with others held down."""
    page.run(
        """const element = document.querySelector(arguments[0]);
        element.focus();
        element.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[1], bubbles: true, ...arguments[2]}));""",
        selector,
        key,
        held,
    )
