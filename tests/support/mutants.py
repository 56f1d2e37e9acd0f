"""Files that are wrong somewhere: good ones of every kind, and edits that spoil them, each determined by its seed.

A mutant is a good file and some seeds; the same seeds make the same mutant, and fewer of them a smaller one.
"""

import csv
import datetime
import hashlib
import io
import json
import random
import re
import struct
import tomllib
import zipfile

SCALES = (-300, -30, -12, -6, -3, -1, 1, 3, 6, 12, 30, 300)
QUANTITY = re.compile(r"\s*([-+.\d]+)(\D.*)")
HOSTILE = (
    0, -0.0, -1, 1, 2, 5e-324, 1e-300, 1e-12, 1e-9, 1e9, 1e15, 1e30, 1e150, 1e300, -1.7e308, 2**31, 2**63, -(2**63),
    10**400, 16**5000, float("inf"), float("-inf"), float("nan"), True, False, "", " ", "x", "90 deg", "1e300 m",
    "1e400", "inf", "-1 mm", "nan", "1 furlong", "a.b.c", "../../etc", "\x00", "é" * 300, "9" * 5000, [], {}, [[]],
    [0, 0, 0], [1e200, 1e-200, 0], [[[1]]], {"a": {"b": {}}}, {"": 1}, datetime.date(2000, 1, 1),
)  # fmt: skip
"""Values that have no business where they are put."""


def make_mutant(seed_file, edit, seeds):
    """The good file after one edit for each seed."""
    for seed in seeds:
        seed_file = edit(seed_file, random.Random(seed))
    return seed_file


def _copy(value):
    if isinstance(value, dict):
        return {key: _copy(entry) for key, entry in value.items()}
    return [_copy(entry) for entry in value] if isinstance(value, list) else value


def _places(tree, depth=0):
    """All (container, key) of a tree of tables and lists."""
    if depth > 200:
        return
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in entries:
        yield tree, key
        yield from _places(value, depth + 1)


def edit_tree(tree, rng):
    """One edit somewhere in nested tables and lists of plain values."""
    tree = _copy(tree)
    places = list(_places(tree))
    if not places:
        return rng.choice(HOSTILE)
    box, key = rng.choice(places)
    value = box[key]
    match rng.randrange(12):
        case 0 | 1:
            box[key] = _copy(rng.choice(HOSTILE))
        case 2 | 3 | 4 | 10 | 11:
            box, key = rng.choice([place for place in places if _is_quantity(place[0][place[1]])] or [(box, key)])
            box[key] = _scaled(box[key], rng)
        case 5:
            del box[key]
        case 6:
            other, there = rng.choice(places)
            box[key] = _copy(other[there])
        case 7:
            box[key] = [value] if rng.random() < 0.5 else {"a": value}
        case 8:
            _repeat(box, key, rng)
        case 9:
            for _ in range(rng.choice((3, 70, 400))):
                value = [value] if rng.random() < 0.5 else {"a": value}
            box[key] = value
    return tree


def _is_quantity(value):
    """Whether a value is a number, or text that begins with one."""
    if isinstance(value, str):
        return QUANTITY.fullmatch(value) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


def _scaled(value, rng):
    """A number times a power of ten, also one with a unit."""
    power = rng.choice(SCALES)
    if not _is_quantity(value):
        return rng.choice(HOSTILE)
    if isinstance(value, str):
        number, unit = QUANTITY.fullmatch(value).groups()
        return f"{number}e{power}{unit}"
    return value * 10.0**power


def _repeat(box, key, rng):
    """The same entry often, under other names."""
    count = rng.choice((1, 3, 30, 300))
    if isinstance(box, dict):
        box |= {f"{key}{k}": _copy(box[key]) for k in range(count)}
    else:
        box.extend(_copy(box[key]) for _ in range(count))


def edit_bytes(data, rng):
    """One edit of bytes, whatever they mean."""
    data = bytearray(data)
    at = rng.randrange(len(data) + 1)
    length = rng.choice((1, 1, 2, 8, 100))
    match rng.randrange(6):
        case 0:
            data[at : at + length] = rng.randbytes(length)
        case 1:
            del data[at : at + length]
        case 2:
            data[at:at] = rng.randbytes(length)
        case 3:
            data = data[:at]
        case 4:
            data[at:at] = data[at : at + length] * rng.choice((2, 10, 1000))
        case 5:
            value = rng.choice((0, 1, 2**31 - 1, 2**32 - 1, 2**16 - 1))
            data[at : at + 4] = struct.pack("<I", value)
    return bytes(data)


def edit_toml(data, rng):
    """An edit of what a TOML file says, or where it says nothing, of its bytes."""
    try:
        if rng.random() < 0.9:
            return write_toml(edit_tree(tomllib.loads(data.decode()), rng)).encode()
    except (ValueError, RecursionError):
        pass
    return edit_bytes(data, rng)


def write_toml(tree):
    """A table as TOML, each key on a line of its own."""
    if not isinstance(tree, dict):
        return _value(tree)
    return "".join(f"{json.dumps(str(key))} = {_value(value)}\n" for key, value in tree.items())


def _value(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_value(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return hex(value) if value.bit_length() > 64 and value > 0 else str(value)
    return json.dumps(value) if isinstance(value, str) else str(value)


def edit_json(data, rng):
    try:
        if rng.random() < 0.9:
            return json.dumps(edit_tree(json.loads(data), rng), default=str).encode()
    except (ValueError, RecursionError):
        pass
    return edit_bytes(data, rng)


def edit_csv(data, rng):
    """A cell, a row, a column or bytes of a table of text."""
    lines = data.decode(errors="replace").replace("\0", "").splitlines()
    rows = [line.split(",") for line in lines]
    if not any(rows) or rng.random() < 0.3:
        return edit_bytes(data, rng)
    row = rng.choice([row for row in rows if row])
    match rng.randrange(4):
        case 0 | 1:
            row[rng.randrange(len(row))] = str(rng.choice([v for v in HOSTILE if v != 16**5000]))
        case 2:
            row.extend(row[:1] * rng.choice((1, 5, 2000)))
        case 3:
            rows.extend([list(row)] * rng.choice((1, 10, 1000)))
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def edit_xml(data, rng):
    """An attribute, an element or bytes of a description."""
    text = data.decode(errors="replace")
    values = list(re.finditer(r'"([^"]*)"', text))
    if not values or rng.random() < 0.2:
        return edit_bytes(data, rng)
    found = rng.choice(values)
    if rng.random() < 0.1:
        text = re.sub(r"<(?=\w)", '<!DOCTYPE a [<!ENTITY b "bbbb">]>\n<', text, count=1)
    if rng.random() < 0.2:
        lines = text.splitlines(keepends=True)
        k = rng.randrange(len(lines))
        lines[k : k + 1] = lines[k : k + 1] * rng.choice((0, 2, 500))
        return "".join(lines).encode()
    new = str(rng.choice([v for v in HOSTILE if v != 16**5000])).replace('"', "").replace("<", "").replace("&", "")
    return (text[: found.start(1)] + new + text[found.end(1) :]).encode()


def edit_array(data, rng):
    """The header of an .npy member, its numbers or its bytes."""
    changes = ((b"'shape': (", b"'shape': (9999999999,"), (b"<f8", b"|O"), (b"<f8", b"<f4"), (b"<f8", b"<U9"))
    if rng.random() < 0.5:
        return data.replace(*rng.choice(changes), 1)
    if rng.random() < 0.5 and len(data) > 136:
        at = 128 + 8 * rng.randrange((len(data) - 128) // 8)
        number = rng.choice([v for v in HOSTILE if isinstance(v, float)])
        return data[:at] + struct.pack("<d", number) + data[at + 8 :]
    return edit_bytes(data, rng)


def edit_archive(data, rng):
    """A member of a zip archive by its kind, the archive's own tables, or its bytes; checksums are made right."""
    if rng.random() < 0.35:
        return edit_bytes(data, rng)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # noqa: BLE001  an edit before has made it no archive
        return edit_bytes(data, rng)
    if not members:
        return edit_bytes(data, rng)
    name = rng.choice(sorted(members))
    match rng.randrange(8):
        case 0:
            del members[name]
        case 1:
            members[rng.choice(("a", "../a", "/a", "a\\b", "x" * 5000))] = members[name]
        case 2:
            members[name] = bytes(rng.choice((0, 1, 1000, 3_000_000)))
        case _:
            members[name] = _edit_member(name, members[name], rng)
    return pack(members, zipfile.ZIP_DEFLATED if rng.random() < 0.3 else zipfile.ZIP_STORED)


def _edit_member(name, data, rng):
    for ending, edit in ((".json", edit_json), (".npy", edit_array), (".xml", edit_xml)):
        if name.endswith(ending):
            return edit(data, rng)
    return edit_bytes(data, rng)


def pack(members, how=zipfile.ZIP_STORED):
    """A zip archive; the checksums of a run are those of its members."""
    if "checksums.json" in members:
        sums = {name: hashlib.sha256(data).hexdigest() for name, data in members.items() if name != "checksums.json"}
        members = members | {"checksums.json": json.dumps(sums).encode()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", how) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, how)
    return packed.getvalue()
