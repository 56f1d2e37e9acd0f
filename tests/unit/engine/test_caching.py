"""The compiled engine is kept under a digest of its sources, or not at all when that is impossible."""

import os
import subprocess
import sys
from pathlib import Path

import numba

from robodyn.engine import caching
from robodyn.engine.record import compile_units
from robodyn.engine.workspace import UNITS


def test_the_digest_follows_the_sources(tmp_path, monkeypatch):
    (tmp_path / "part.py").write_text("a = 1")
    monkeypatch.setattr(caching, "__file__", str(tmp_path / "caching.py"))
    before = caching.engine_digest()
    assert caching.engine_digest() == before
    (tmp_path / "part.py").write_text("a = 2")
    assert caching.engine_digest() != before


def test_a_folder_that_cannot_be_made_means_no_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "file" / "below"))
    assert caching.engine_folder.__wrapped__() is None


def test_every_part_has_an_entry_and_numbas_setting_is_left_alone():
    before = numba.config.CACHE_DIR
    parts = compile_units()
    assert set(parts) == {f"unit_{name}" for name in UNITS}
    assert all(part.address for part in parts.values())
    assert before == numba.config.CACHE_DIR


def test_a_second_process_loads_every_part_from_the_cache():
    compile_units()
    source = Path(caching.__file__).parents[2]
    script = (
        "from robodyn.engine import integrate\nfrom robodyn.engine.record import compile_units\n"
        "raise SystemExit(sum(part.cache_hits == 0 for part in compile_units().values()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(source)}
    assert subprocess.run([sys.executable, "-c", script], env=environment, check=False).returncode == 0
