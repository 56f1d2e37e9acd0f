"""In which order do tests run, and which of them in one process?

The files with whole studies come first, so that no worker waits for them at the end. A file whose tests look at runs of
a study is run with it: what both need is simulated once.
"""

import gc

import pytest

# Traced graphs are hundreds of thousands of objects without cycles: looking for cycles less often saves a tenth.
gc.set_threshold(100_000, 20, 100)

WITH = {
    "test_delta_control.py": "test_constraints.py",
    "test_epaas_scenarios.py": "test_epaas.py",
    "test_rx90_scenarios.py": "test_rx90.py",
}
LONGEST = ("test_constraints.py", "test_rx90.py", "test_catalogue.py", "test_epaas.py", "test_cosimulation.py")


def group_of(nodeid):
    """The file whose process a test runs in."""
    folder, _, file = nodeid.split("::", 1)[0].rpartition("/")
    return f"{folder}/{WITH.get(file, file)}"


def pytest_collection_modifyitems(items):
    ranks = {name: k for k, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(group_of(item.nodeid).rpartition("/")[2], len(ranks)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadFileScheduling

    class StudyScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    return StudyScheduling(config, log)
