"""The library is from the sources beside it: compiled anew when they change, never a foreign one."""

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from robodyn.base.errors import ModelError
from robodyn.computation.engine import binding, building

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The smallest engine as the package's, and an empty cache."""
    folder = tmp_path / "engine"
    folder.mkdir()
    shutil.copy(building.FOLDER / building.LAST, folder)
    monkeypatch.setattr(binding, "FOLDER", folder)
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ROBODYN_ENGINE", raising=False)
    return folder


def load():
    """The library as a new process loads it."""
    return binding.load_library.__wrapped__()


def digest_of(loaded):
    return loaded.engine_digest().decode()


def change(folder):
    (folder / "more.c").write_text("double more(void);\ndouble more(void) { return 1.0; }\n")


def no_compiler(monkeypatch):
    monkeypatch.setenv("CC", "none")
    monkeypatch.setattr(building, "find_spec", lambda name: None)


def refuse_folder(monkeypatch, folder):
    """A package folder that cannot be written, for every user."""
    monkeypatch.setattr(binding.os, "access", lambda path, mode: Path(path) != folder)


def test_it_is_compiled_once(folder, capfd):
    assert digest_of(load()) == building.source_digest(folder)
    assert capfd.readouterr().err == "robodyn: compiling the engine\n"
    load()
    assert capfd.readouterr().err == ""


def test_it_is_compiled_again_after_a_change(folder, capfd):
    building.build_library(folder / building.LIBRARY, folder)
    change(folder)
    loaded = load()
    assert digest_of(loaded) == building.source_digest(folder)
    assert loaded._name == str(folder / building.LIBRARY)
    assert capfd.readouterr().err == "robodyn: compiling the engine\n"


def test_a_change_while_the_library_is_loaded_gives_a_new_one(folder):
    before = digest_of(load())
    change(folder)
    assert digest_of(load()) == building.source_digest(folder) != before


def test_several_at_once_all_get_it(folder):
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(lambda _: load(), range(4)))
    assert {digest_of(one) for one in loaded} == {building.source_digest(folder)}
    assert not list(folder.glob("_engine-*"))


@pytest.mark.parametrize("content", [b"", b"no library", "foreign", "cut"])
def test_a_foreign_or_damaged_library_is_not_loaded(folder, content):
    path = folder / building.LIBRARY
    good = building.source_digest(folder)
    building.build_library(path, folder)
    if content == "cut":
        content = path.read_bytes()[:2000]
    elif content == "foreign":
        content = path.read_bytes().replace(good.encode(), b"0" * len(good))
    path.write_bytes(content)
    assert digest_of(load()) == good


def test_a_file_that_only_bears_the_mark_is_replaced(folder):
    good = building.source_digest(folder)
    (folder / building.LIBRARY).write_bytes(building.MARK + good.encode())
    assert digest_of(load()) == good


def test_a_folder_that_cannot_be_written_leaves_the_cache(folder, monkeypatch, capfd):
    refuse_folder(monkeypatch, folder)
    assert Path(load()._name).parent == binding.cache_folder() / "engine"
    assert not (folder / building.LIBRARY).exists()
    capfd.readouterr()
    load()
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no such owner there")
def test_a_kept_library_that_others_can_write_is_not_loaded(folder, monkeypatch, capfd):
    refuse_folder(monkeypatch, folder)
    kept = Path(load()._name)
    kept.chmod(0o777)
    capfd.readouterr()
    load()
    assert "compiling" in capfd.readouterr().err
    assert kept.stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no such owner there")
def test_a_cache_that_others_can_write_is_refused(folder, monkeypatch):
    refuse_folder(monkeypatch, folder)
    kept = binding.cache_folder() / "engine"
    kept.mkdir(parents=True)
    kept.chmod(0o777)
    with pytest.raises(ModelError, match="others can write to it .*ROBODYN_CACHE"):
        load()


def test_without_a_compiler_an_unchanged_engine_loads_and_a_changed_one_names_the_remedy(folder, monkeypatch):
    load()
    no_compiler(monkeypatch)
    load()
    change(folder)
    with pytest.raises(ModelError, match=r"engine: the C compiler 'none' .*pip install 'robodyn\[cross\]'"):
        load()


def test_another_library_can_be_named_if_it_is_from_the_same_sources(folder, tmp_path, monkeypatch):
    other = tmp_path / f"other{building.SUFFIX}"
    building.build_library(other, folder)
    monkeypatch.setenv("ROBODYN_ENGINE", str(other))
    assert load()._name == str(other)
    change(folder)
    with pytest.raises(ModelError, match="ROBODYN_ENGINE: .*build it again"):
        load()


@pytest.mark.skipif(sys.platform != "linux", reason="the runtime of sanitisers is elsewhere")
def test_a_library_that_checks_itself_is_from_the_same_sources(folder, tmp_path):
    other = tmp_path / "checked.so"
    building.build_library(other, folder, sanitize=("undefined",))
    assert building.is_made_from(other, building.source_digest(folder))
