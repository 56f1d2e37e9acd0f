"""Is a damaged cache of the engine ignored and made anew?"""

import pytest

from robodyn.engine import caching, record
from robodyn.engine.integrate import ENTRY


def tiny(run):
    return 42


@pytest.fixture
def compile_anew(tmp_path, monkeypatch):
    """Compiles an engine of one small part into an empty folder, as a new process would."""
    monkeypatch.setattr(record, "UNITS", {"unit_tiny": tiny})
    for module in (caching, record):
        monkeypatch.setattr(module, "engine_folder", lambda: tmp_path)
    return record.compile_units.__wrapped__


def test_cut_files_of_the_engine_are_compiled_again(compile_anew, tmp_path):
    assert compile_anew()["unit_tiny"].cache_hits == 0
    assert compile_anew()["unit_tiny"].cache_hits == 1
    files = sorted(tmp_path.rglob("*.nbc"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:100])
    part = compile_anew()["unit_tiny"]
    assert part.cache_hits == 0
    assert ENTRY(part.address)(None) == 42
    assert all(file.stat().st_size > 100 for file in tmp_path.rglob("*.nbc"))
