"""Which browsers do the tests of pages share?"""

import pytest
from support.browser import open_browser


@pytest.fixture(scope="package")
def browser(tmp_path_factory):
    """A browser that does not draw in space."""
    with open_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="package")
def artist(tmp_path_factory):
    """A browser that draws in space, which takes its time."""
    with open_browser(tmp_path_factory.mktemp("artist"), webgl=True) as browser:
        yield browser
