"""A run file gives back the same run, and a damaged or foreign file is refused with a sentence."""

import json
import zipfile

import numpy as np
import pytest

from robodyn.computation.results import RunFileError, identical, load, save
from robodyn.computation.results.archive import ZipWriter
from robodyn.computation.results.store import to_record


@pytest.fixture
def stored(run, tmp_path):
    return save(run, tmp_path / "bounce.run")


def test_a_loaded_run_equals_the_saved_one_bit_for_bit(run, stored):
    loaded = load(stored)
    assert identical(loaded, run)
    assert json.dumps(to_record(loaded)) == json.dumps(to_record(run))
    assert loaded.statistics == run.statistics
    assert loaded.provenance == run.provenance


def test_a_run_without_rows_is_stored_too(make_run, tmp_path):
    empty = make_run(time=np.empty(0), values=np.empty((0, 4)))
    assert identical(load(save(empty, tmp_path / "empty.run")), empty)


def test_a_run_in_column_order_is_stored_too(make_run, run, tmp_path):
    turned = make_run(values=np.asfortranarray(run.values))
    assert identical(load(save(turned, tmp_path / "turned.run")), run)


def test_equal_runs_give_equal_files(run, stored, tmp_path):
    assert save(run, tmp_path / "again.run").read_bytes() == stored.read_bytes()


def test_a_file_cut_off_anywhere_is_refused(stored):
    data = stored.read_bytes()
    for length in range(0, len(data), 7):
        stored.write_bytes(data[:length])
        with pytest.raises(RunFileError, match=r"bounce\.run"):
            load(stored)


def test_a_file_with_any_byte_changed_is_refused_or_read_as_the_same_run(run, stored):
    data = stored.read_bytes()
    refused = 0
    for place in range(0, len(data), 3):
        stored.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        try:
            assert identical(load(stored), run)
        except RunFileError:
            refused += 1
    # Dates, flags and the like in the archive's own headers may change without harm; most bytes may not.
    assert refused > 0.7 * len(data) / 3


def test_contents_replaced_inside_a_sound_archive_are_refused(stored, tmp_path):
    forged = tmp_path / "forged.run"
    with zipfile.ZipFile(stored) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"bounce", b"bounds"))
    with pytest.raises(RunFileError, match="checksums"):
        load(forged)


@pytest.mark.parametrize("data", [b"", b"time,x\n0,1\n", b"PK\x03\x04"])
def test_a_foreign_file_is_refused(tmp_path, data):
    path = tmp_path / "foreign.run"
    path.write_bytes(data)
    with pytest.raises(RunFileError, match="not a run file"):
        load(path)


@pytest.mark.parametrize("head", ["[]", '{"format": "other"}', "{"])
def test_another_kind_of_archive_is_refused(tmp_path, head):
    path = tmp_path / "foreign.run"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("run.json", head)
    with pytest.raises(RunFileError, match="not a run file"):
        load(path)


def test_a_newer_format_is_refused_by_its_number(tmp_path):
    path = tmp_path / "newer.run"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("run.json", '{"format": "robodyn-run", "version": 99}')
    with pytest.raises(RunFileError, match="run format 99"):
        load(path)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(run, stored, monkeypatch):
    before = stored.read_bytes()

    def fail(*_args):
        raise OSError("disk full")

    monkeypatch.setattr(ZipWriter, "finish", fail)
    with pytest.raises(OSError, match="disk full"):
        save(run, stored)
    assert stored.read_bytes() == before
    assert list(stored.parent.iterdir()) == [stored]


def test_missing_folders_are_made(run, tmp_path):
    assert identical(load(save(run, tmp_path / "a" / "b" / "bounce.run")), run)
