"""In which order do tests run? The longest first, so that no worker waits for them at the end."""

import functools
import gc

import hypothesis.internal.conjecture.providers
import typer.testing
from support import verification
from support.verification import proof  # noqa: F401

LONGEST = ("identities/test_random_machines", "unit/analysis/test_fit", "test_docs", "contracts/test_benchmarks")

# No test asserts a time: a machine may be busy.
hypothesis.settings.register_profile("any speed", deadline=None)
hypothesis.settings.load_profile("any speed")

# Random values come from strategies alone: to look for more in the sources of 500 modules takes 3 s in each process.
hypothesis.internal.conjecture.providers._get_local_constants = hypothesis.internal.constants_ast.Constants

# Traced graphs are hundreds of thousands of objects without cycles: looking for cycles less often saves a tenth.
gc.set_threshold(100_000, 20, 100)

# The command line is made once and not for each command called: three dozen commands with all their options take 80 ms.
typer.testing._get_command = functools.cache(typer.testing._get_command)


pytest_addoption = verification.add_option


def pytest_terminal_summary(terminalreporter, config):
    verification.write_page(terminalreporter, config)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONGEST))


def pytest_sessionfinish():
    # pytest looks for cycles several times at its end, among all that tests have traced: that took seconds.
    gc.freeze()
