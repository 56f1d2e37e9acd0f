"""Robot files at hand: our own, which have everything once, and those of the package example-robot-data."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from xml.dom import minidom

import pytest

OWN = Path(__file__).parent / "robots"
OWN_FILES = [OWN / name for name in ("arm.urdf", "floating.urdf", "arm.xml", "crane.sdf")]
EMPTY = "ur3.urdf"
"""A file of the package without any link."""


def example_robots(*endings):
    """All robot files of the package with these endings, but for the empty one; none where there is no package."""
    try:
        files = distribution("example-robot-data").files or []
    except PackageNotFoundError:
        return []
    found = [
        Path(str(file.locate())) for file in files if Path(str(file)).suffix in endings and "/robots/" in str(file)
    ]
    return sorted(path.resolve() for path in found if path.name != EMPTY)


def example_robot(name):
    """The file of that name; the test is skipped where there is no package."""
    files = example_robots(Path(name).suffix)
    return next(path for path in files if path.name == name) if files else pytest.skip("needs example-robot-data")


def walk_xml(path):
    """Every element and attribute of a file, as another parser sees them: tag, or tag@attribute, and the value."""
    waiting = [minidom.parse(str(path)).documentElement]
    while waiting:
        element = waiting.pop()
        yield element.tagName, None
        yield from ((f"{element.tagName}@{key}", value) for key, value in element.attributes.items())
        waiting += [child for child in element.childNodes if child.nodeType == child.ELEMENT_NODE]
