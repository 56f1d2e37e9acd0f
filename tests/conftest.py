"""In which order do tests run? The longest first, so that no worker waits for them at the end."""

import gc

LONGEST = ("identities/test_random_machines", "unit/analysis/test_fit", "test_docs")

# Traced graphs are hundreds of thousands of objects without cycles: looking for cycles less often saves a tenth.
gc.set_threshold(100_000, 20, 100)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONGEST))
