"""Which browsers and runs do the tests of pages share?"""

import pytest
from support.browser import open_browser

from robodyn import simulate
from robodyn.description.catalog import scara_ptp


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


@pytest.fixture(scope="package")
def scara():
    return simulate(scara_ptp())


@pytest.fixture(scope="package")
def weak():
    """The same motion with a weaker shoulder."""
    return simulate(scara_ptp().with_numbers({"shoulder.control.limit": 30.0}))
