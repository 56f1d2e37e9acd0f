"""Does the cache stay small, keep what is used, and can it be emptied?"""

import os
import time

import pytest

from robodyn.computation.native import cache, cache_folder
from robodyn.computation.native.cache import DAY, LONGEST_UNUSED, SIZE

CODE = bytes(100_000)


@pytest.fixture(autouse=True)
def at_every_file(monkeypatch):
    """The folder is looked after whenever a file is added; otherwise a process does so at its first one."""
    monkeypatch.setattr(cache, "BETWEEN_PRUNES", 1)


def _key(number):
    return f"{number:064x}"


def _save(number, days_ago=0.0):
    """A kernel of a tenth of a megabyte, last used some days ago."""
    cache.save(_key(number), CODE)
    path = cache_folder() / "kernels" / f"{_key(number)}.bin"
    used = time.time() - days_ago * DAY
    os.utime(path, (used, used))
    return path


def _is_kept(number):
    return cache.load(_key(number)) is not None


def test_what_was_used_longest_ago_makes_room(monkeypatch):
    for number in range(5):
        _save(number, days_ago=10 - number)
    monkeypatch.setenv(SIZE, "0.35")
    _save(5)
    assert [_is_kept(number) for number in range(6)] == [False, False, False, True, True, True]


def test_what_was_not_used_for_long_goes():
    _save(0, days_ago=LONGEST_UNUSED / DAY + 1)
    _save(1, days_ago=LONGEST_UNUSED / DAY - 1)
    _save(2)
    assert [_is_kept(number) for number in range(3)] == [False, True, True]


def test_use_refreshes_the_age_at_most_once_a_day():
    old, recent = _save(0, days_ago=2), _save(1, days_ago=0.5)
    before = recent.stat().st_mtime
    assert _is_kept(0)
    assert _is_kept(1)
    assert time.time() - old.stat().st_mtime < DAY / 2
    assert recent.stat().st_mtime == before


def test_unfinished_files_go_a_day_after_their_writer():
    folder = _save(0).parent
    left, busy = folder / "left.part", folder / "busy.part"
    for path, age in ((left, 2 * DAY), (busy, 60)):
        path.write_bytes(CODE)
        os.utime(path, (time.time() - age, time.time() - age))
    _save(1)
    assert not left.exists()
    assert busy.exists()


def test_a_size_that_is_no_number_is_told_and_the_default_taken(monkeypatch):
    monkeypatch.setenv(SIZE, "plenty")
    with pytest.warns(UserWarning, match=f"{SIZE}.*plenty"):
        _save(0)
    assert _is_kept(0)


def test_files_that_another_process_removes_meanwhile_are_no_error(monkeypatch):
    _save(0, days_ago=1)
    remove = os.unlink

    def come_second(path):
        remove(path)
        remove(path)

    monkeypatch.setattr(os, "unlink", come_second)
    monkeypatch.setenv(SIZE, "0.15")
    _save(1)
    assert [_is_kept(0), _is_kept(1)] == [False, True]


def test_clearing_removes_what_is_ours_and_nothing_else(tmp_path):
    _save(0)
    folder = cache_folder()
    engine = folder / "engine-1" / "deep" / "code"
    engine.parent.mkdir(parents=True)
    engine.write_bytes(CODE)
    diary, elsewhere = folder / "diary.txt", tmp_path / "elsewhere"
    diary.write_text("mine")
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("mine too")
    (folder / "engine-2").symlink_to(elsewhere)

    assert set(cache.list_files(folder)) == {folder / "kernels" / f"{_key(0)}.bin", engine}
    freed = cache.clear_files(folder)
    assert sum(freed.values()) > 2 * len(CODE)
    assert cache.list_files(folder) == {}
    assert diary.exists()
    assert (elsewhere / "precious").exists()
    _save(0)
    assert _is_kept(0)


def test_a_process_looks_after_the_folder_when_it_adds_its_first_file_and_then_seldom(monkeypatch):
    pruned = []
    monkeypatch.setattr(cache, "BETWEEN_PRUNES", 3)
    monkeypatch.setattr(cache, "_SAVES", {cache.KERNELS: iter(range(100))})
    monkeypatch.setattr(cache, "prune", lambda folder, share: pruned.append(folder))
    for number in range(7):
        _save(number)
    assert len(pruned) == 3
