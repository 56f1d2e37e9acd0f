"""In which order do tests run? The longest first, so that no worker waits for them at the end."""

LONGEST = ("identities/test_random_machines", "unit/analysis/test_fit", "test_docs")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONGEST))
