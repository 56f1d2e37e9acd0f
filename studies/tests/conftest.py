"""In which order do tests run? The files with whole studies first, so that no worker waits for them at the end."""

import gc

from robodyn_studies import STUDIES

# Traced graphs are hundreds of thousands of objects without cycles: looking for cycles less often saves a tenth.
gc.set_threshold(100_000, 20, 100)

LONGEST = tuple(f"test_{name}.py" for name in STUDIES) + ("test_cable", "test_catalogue")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONGEST))
