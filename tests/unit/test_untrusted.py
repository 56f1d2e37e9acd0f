"""Is every size that a file declares checked before it is believed?"""

import io
import json
import struct
import zipfile

import numpy as np
import pytest

from robodyn.base.untrusted import (
    MOST_NESTED,
    Unreadable,
    check_sizes,
    parse_json,
    parse_toml,
    read_archive,
    read_array,
    read_bytes,
    read_text,
)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def zipped(how=zipfile.ZIP_STORED, **members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def test_a_file_of_no_end_or_too_large_is_refused(tmp_path):
    with pytest.raises(Unreadable, match="is not a file"):
        read_bytes(tmp_path)
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(2**40)  # holds nothing, and says that it has a terabyte
    with pytest.raises(Unreadable, match="1,048,576 MB, at most 1 are read"):
        read_bytes(path, 2**20)
    path.write_bytes(b"caf\xe9")
    with pytest.raises(Unreadable, match="not UTF-8 text: .* at byte 3"):
        read_text(path, 100)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "nested more than"),
        ("a = " + "[" * (MOST_NESTED + 1) + "]" * (MOST_NESTED + 1), "nested more than"),
        ("[" + ".".join("a" * 100) + "]", "nested more than"),
        (".".join("a" * 30_000) + " = 1", "key of more than"),
        ("[t]\nn = 0x" + "f" * 300, "t.n: has a whole number that is too large"),
        ("n = " + "9" * 5000, "is not TOML"),
        ("a = ", "is not TOML"),
    ],
)
def test_toml_that_would_take_its_reader_down_is_refused(text, what):
    with pytest.raises(Unreadable, match=what):
        parse_toml(text)


def test_nesting_up_to_the_bound_is_read():
    deep = "[" * (MOST_NESTED - 1) + "1" + "]" * (MOST_NESTED - 1)
    assert parse_toml(f"a = {deep}")["a"] == parse_json(deep) == json.loads(deep)


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "9" * 5000, "[" * 100 + "]" * 100])
def test_json_that_would_take_its_reader_down_is_refused(text):
    with pytest.raises(Unreadable, match="not JSON|nested"):
        parse_json(text)


def test_an_archive_that_unpacks_to_more_than_allowed_is_refused_unread():
    bomb = zipped(zipfile.ZIP_DEFLATED, zeros=bytes(10**7))
    assert len(bomb) < 10**5
    with pytest.raises(Unreadable, match="unpacks to 9.5 MB, at most 0.095 are read"):
        read_archive(bomb, 10**5)
    assert read_archive(bomb, 10**7)["zeros"] == bytes(10**7)


def test_an_archive_that_lies_about_a_size_is_refused():
    data = bytearray(zipped(zipfile.ZIP_DEFLATED, zeros=bytes(10**6)))
    at = data.rindex(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<I", 100)
    with pytest.raises(Unreadable, match="damaged"):
        read_archive(bytes(data), 10**5)


def test_two_members_of_one_name_are_refused():
    with pytest.raises(Unreadable, match="two members"):
        check_sizes([zipfile.ZipInfo("a"), zipfile.ZipInfo("a")], 10)


ARRAYS = [np.arange(6.0).reshape(2, 3), np.zeros((0, 4)), np.float64(3.0), np.eye(3, dtype=">i4")]


@pytest.mark.parametrize("array", ARRAYS)
def test_arrays_come_back_as_they_were(array):
    for form in (array, array.copy("F")):
        found = read_array(npy(form))
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)
        assert found.flags.writeable


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"(6,)", b"(9,)"),
        lambda data: data.replace(b"(6,), }       ", b"(99999999999,), }"),
        lambda data: data.replace(b"<f8", b"|O8"),
        lambda data: data.replace(b"<f8", b"<U2"),
        lambda data: data.replace(b"(6,)", b"(((("),
        lambda data: data.replace(b"'descr'", b"'descr"),
        lambda data: data[:20],
        lambda data: data[:-1],
        lambda data: b"",
    ],
)
def test_an_array_whose_header_declares_what_is_not_there_is_refused(change):
    data = npy(np.arange(6.0))
    assert change(data) != data
    with pytest.raises(Unreadable, match="does not hold an array of numbers"):
        read_array(change(data))
