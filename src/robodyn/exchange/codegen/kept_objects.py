"""Object cache: must a C file be compiled, or was the same file compiled before, the same way?

The engine and what surrounds it are the same files in every export; only the model's own differ. An object is known by
the compiler and its version, the command, the file's text and that of all headers it includes by name.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from robodyn.computation.native.cache import key_of, load, save

INCLUDED = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def keep_object(command: Sequence[str], source: Path, made: Path, compile_it: Callable[[], None]) -> None:
    """Put the object of a source file in its place: the one that is kept, or else a new one, which is kept then."""
    # What comes before `-c` is the compiler with its flags.
    compiler = tuple(command[: command.index("-c")])
    key = key_of(["C object", _version(compiler), *command, *_read_all(source, made.parents[1])])
    kept = load(key)
    if kept is not None:
        made.write_bytes(kept)
        return
    compile_it()
    save(key, made.read_bytes())


def _read_all(source: Path, top: Path) -> list[str]:
    """The texts of a file and of all headers that it includes, from beside it or from the top folder, each once."""
    texts: dict[Path, str] = {}
    waiting = [source]
    while waiting:
        path = waiting.pop(0)
        if path not in texts:
            texts[path] = path.read_text(encoding="utf-8")
            # One that is nowhere stops the compiler, and nothing is kept.
            places = [place / name for name in INCLUDED.findall(texts[path]) for place in (path.parent, top)]
            waiting += [place for place in places if place.is_file()]
    return list(texts.values())


@cache
def _version(compiler: tuple[str, ...]) -> str:
    done = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    return done.stdout
