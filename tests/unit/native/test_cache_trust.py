"""Is machine code loaded only where nobody else can have put it?"""

import os
import warnings

import pytest

from robodyn.computation.native import cache, cache_folder

KEY, CODE = "1" * 64, b"machine code"


@pytest.fixture
def kept():
    """A file of the cache."""
    assert cache.save(KEY, CODE)
    assert cache.load(KEY) == CODE
    return cache_folder() / "kernels" / f"{KEY}.bin"


@pytest.fixture
def message():
    """Sentences the user is warned by, in a process that has not yet told any."""
    cache._report_unusable.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield lambda: [str(warning.message) for warning in caught]
    cache._report_unusable.cache_clear()


needs_owners = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners here")


@needs_owners
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused_and_made_again(kept, mode):
    kept.chmod(mode)
    assert cache.load(KEY) is None
    assert cache.save(KEY, CODE)
    assert cache.load(KEY) == CODE
    assert kept.stat().st_mode & 0o022 == 0


@needs_owners
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_can_write_is_refused_until_it_is_closed_to_them(kept, mode):
    kept.parent.chmod(mode)
    assert cache.load(KEY) is None
    assert cache.save("2" * 64, CODE)
    assert kept.parent.stat().st_mode & 0o022 == 0
    assert cache.load(KEY) == CODE


@needs_owners
def test_what_belongs_to_another_user_is_neither_loaded_nor_added_to(kept, monkeypatch, message):
    someone = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: someone)
    assert cache.load(KEY) is None
    assert not cache.save("2" * 64, CODE)
    assert "belongs to another user" in message()[0]


@needs_owners
@pytest.mark.skipif(os.name == "posix" and os.getuid() != 0, reason="only root gives files away")
def test_another_users_file_in_an_own_folder_is_refused_and_made_again(kept):
    os.chown(kept, 12345, -1)
    assert cache.load(KEY) is None
    assert cache.save(KEY, CODE)
    assert cache.load(KEY) == CODE


@needs_owners
def test_links_are_not_followed_and_are_replaced(kept, tmp_path, message):
    elsewhere = kept.rename(tmp_path / "elsewhere")
    kept.symlink_to(elsewhere)
    assert cache.load(KEY) is None
    assert cache.save(KEY, CODE)
    assert not kept.is_symlink()
    assert cache.load(KEY) == CODE

    folder = kept.parent.rename(tmp_path / "other")
    kept.parent.symlink_to(folder)
    assert cache.load(KEY) is None
    assert not cache.save(KEY, CODE)


@needs_owners
def test_what_is_no_file_is_refused_without_waiting_for_it(kept):
    kept.unlink()
    os.mkfifo(kept)
    assert cache.load(KEY) is None
    kept.unlink()
    kept.mkdir()
    assert cache.load(KEY) is None


def test_a_whole_file_under_another_key_is_refused(kept):
    other = "2" * 64
    kept.rename(kept.with_name(f"{other}.bin"))
    assert cache.load(other) is None


def test_a_folder_that_cannot_be_written_is_told_once(tmp_path, monkeypatch, message):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "file"))
    assert not cache.save(KEY, CODE)
    assert not cache.save("2" * 64, CODE)
    (sentence,) = message()
    assert str(tmp_path / "file") in sentence
    assert "ROBODYN_CACHE" in sentence


@needs_owners
def test_another_users_default_folder_is_left_for_a_private_one(tmp_path, monkeypatch):
    monkeypatch.delenv("ROBODYN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    mine, someone = cache_folder(), os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: someone)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    cache._temporary_folder.cache_clear()
    assert cache_folder() != mine
    cache._temporary_folder.cache_clear()
