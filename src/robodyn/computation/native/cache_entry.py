"""Cache entries: what of compiled kernels is kept on disk, and under which key?

The key is made of the traced functions as they are given, before a program is read from them or LLVM text written:
where code is kept, all of that is spared.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterable, Mapping
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robodyn.base.records import dataclass
from robodyn.computation.native import cache
from robodyn.computation.native.machine import circumstances

if TYPE_CHECKING:
    import casadi as ca

Sizes = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Code:
    """Object files of kernels k0, k1, ..., and what those who call them must know.

    Attributes:
        sizes: of inputs and outputs of each; reads_rows: whether each reads the table of a run.
        n_parameters, n_prelude, width, deciding, kinds, n_conditions, omitted, work, entries: as of `KernelModule`;
            with a prelude, it is the last kernel. others: names of kernels before it that are none of the functions.
    """

    machine: tuple[bytes, ...]
    sizes: tuple[Sizes, ...]
    reads_rows: tuple[bool, ...]
    n_parameters: int = 0
    n_prelude: int = 0
    width: int = 0
    deciding: tuple[int, ...] = ()
    others: tuple[str, ...] = ()
    kinds: tuple[int, ...] = ()
    n_conditions: int = 0
    omitted: int = 0
    work: int = 0
    entries: tuple[int, ...] = ()


def make_key(functions: Mapping[str, ca.Function], settings: Iterable[object]) -> str:
    """Name of the code of functions, whatever it depends on; tables are named in the functions by their content."""
    traced = [text for name, function in functions.items() for text in (name, function.serialize())]
    return cache.key_of([*traced, *map(repr, settings), *circumstances(), *_makers()])


@functools.cache
def _makers() -> tuple[str, ...]:
    """What makes the code: the sources of this package, and Python and numpy, whose arrays it reads."""
    package = Path(__file__).parents[2]
    folders = [package / "computation" / "native", package / "base" / "symbolic"]
    sources = [path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.glob("*.py"))]
    # Where there are none to compare, what this process makes is not taken for what another one made.
    return (cache.key_of(sources or [os.urandom(16).hex()]), sys.version, np.__version__)


def load(key: str) -> Code | None:
    """The code kept under a key."""
    content = cache.load(key)
    if content is None:
        return None
    # A line of facts, then the object files.
    head, _, files = content.partition(b"\n")
    facts = json.loads(head)
    ends = [0, *accumulate(facts.pop("lengths"))]
    machine = tuple(files[begin:end] for begin, end in pairwise(ends))
    sizes = tuple((tuple(inputs), tuple(outputs)) for inputs, outputs in facts.pop("sizes"))
    facts = {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
    return Code(machine, sizes, **facts)


def save(key: str, code: Code) -> None:
    """Keep code, where the disk allows it."""
    facts = {name: value for name, value in code.__dict__.items() if name != "machine"}
    facts["lengths"] = [len(part) for part in code.machine]
    cache.save(key, json.dumps(facts).encode() + b"\n" + b"".join(code.machine))
