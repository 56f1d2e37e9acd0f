"""C compilers and platforms: which one makes the binary of a model, for which platforms, and which files anew?

A compiler of the system makes binaries for the machine it runs on. The wheel `ziglang` brings a C compiler that makes
binaries for every platform on any of them. The engine and what surrounds it are the same files in every export; only
the model's own differ. An object is known by the compiler and its version, the command, the file's text and that of all
headers it includes by name: the same is not compiled twice.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from robodyn.base import FlawList, frozen, nearest, refuse
from robodyn.computation.engine.building import find_own_compiler
from robodyn.computation.native.cache import key_of, load, save

INCLUDED = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


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
    process = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    return process.stdout


FLAGS = ("-std=c99", "-O1", "-g0", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-w")
"""Higher levels of optimisation take up to twice as long and make straight-line code no faster."""
MODULE_FLAGS = (
    *("-std=c99", "-Os", "-g0", "-ffp-contract=off", "-fno-math-errno", "-w"),
    *("-mbulk-memory", "-mnontrapping-fptoint", "-isystem", "../library"),
)
MODULE_LINKING = ("--no-entry", "--allow-undefined", "--strip-all", "--stack-first", "-z", "stack-size=1048576")


@frozen
class Platform:
    """Where binaries lie in units of version 2 and 3, how zig calls the platform, and how libraries end there."""

    folders: tuple[str, str]
    target: str
    suffix: str

    def folder(self, fmi: int) -> str:
        """The folder of binaries in a version of the interface."""
        return f"binaries/{self.folders[fmi - 2]}"


PLATFORMS = {
    "linux64": Platform(("linux64", "x86_64-linux"), "x86_64-linux-gnu.2.17", ".so"),
    "linux-arm64": Platform(("aarch64-linux", "aarch64-linux"), "aarch64-linux-gnu.2.17", ".so"),
    "win64": Platform(("win64", "x86_64-windows"), "x86_64-windows-gnu", ".dll"),
    "darwin64": Platform(("darwin64", "x86_64-darwin"), "x86_64-macos", ".dylib"),
    "darwin-arm64": Platform(("aarch64-darwin", "aarch64-darwin"), "aarch64-macos", ".dylib"),
}


def host_platform() -> str:
    """The name of the platform this runs on."""
    system = {"Linux": "linux", "Windows": "win", "Darwin": "darwin"}.get(platform.system(), platform.system())
    arm = platform.machine().lower() in ("arm64", "aarch64")
    return f"{system}-arm64" if arm else f"{system}64"


def choose_platforms(names: Iterable[str]) -> tuple[str, ...]:
    """The platforms asked for, by default the one this runs on; `all` are all that can be made here."""
    names = tuple(dict.fromkeys(names)) or (host_platform(),)
    if "all" in names:
        return tuple(PLATFORMS)
    flaws = FlawList()
    for name in names:
        if name not in PLATFORMS:
            flaws.add("platform", f"'{name}' is unknown", nearest(name, ["all", *PLATFORMS]))
    flaws.raise_if_any()
    return names


def find_compiler(name: str) -> list[str]:
    """The command that compiles for a platform.

    Raises:
        ModelError: where there is no such compiler here.
    """
    compiler = find_own_compiler() if name == host_platform() else None
    if compiler:
        return compiler
    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc", "-target", PLATFORMS[name].target]
    what = f"there is no C compiler for {name} here"
    refuse("platform", what, "pip install 'robodyn[cross]' brings one for all platforms")


def compile_library(name: str, folder: Path, sources: Sequence[str], library: str) -> bytes:
    """The shared library of C files in a folder for a platform; several files are compiled at a time.

    Args:
        library: its name, which some platforms write into it: where it was made leaves no trace in it.
    """
    compiler = [*find_compiler(name), *FLAGS]
    # Without symbols for debuggers a Windows library has no time of its making in it either.
    options = ["-s"] if name == "win64" else ["-lm"]
    options += [f"-Wl,-install_name,@rpath/{library}"] if name.startswith("darwin") else []
    return _build(name, folder, sources, library, compiler, [*compiler, "-shared"], options).read_bytes()


def compile_program(folder: Path, sources: Sequence[str], flags: Sequence[str] = ()) -> Path:
    """The program of C files in a folder, for the machine this runs on."""
    name = host_platform()
    compiler = [*find_compiler(name), *FLAGS, "-I..", *flags]
    program = "program.exe" if name.startswith("win") else "program"
    return _build(name, folder, sources, program, compiler, compiler, ["-lm"])


def check_module_compiler() -> None:
    """Refuse where nothing compiles for WebAssembly."""
    if not find_spec("ziglang"):
        what = "there is no compiler for WebAssembly here"
        refuse("wasm", what, "pip install 'robodyn[cross]' brings one")


def compile_module(folder: Path, sources: Sequence[str], exports: Sequence[str], module: str) -> bytes:
    """The WebAssembly module of C files in a folder; its C library is in the folder `library`."""
    check_module_compiler()
    zig = [sys.executable, "-m", "ziglang"]
    # The objects that are kept are known by all that they are made of: by these headers too.
    headers = "".join(path.read_text(encoding="utf-8") for path in sorted((folder / "library").glob("*.h")))
    stamp = f"-DLIBRARY={hashlib.sha256(headers.encode()).hexdigest()[:16]}"
    compiler = [*zig, "cc", "-target", "wasm32-freestanding", *MODULE_FLAGS, "-I..", stamp]
    exported = [f"--export={name}" for name in exports]
    linker = [*zig, "wasm-ld", *MODULE_LINKING]
    return _build("wasm", folder, sources, module, compiler, linker, exported).read_bytes()


def _build(
    name: str,
    folder: Path,
    sources: Sequence[str],
    product: str,
    compiler: Sequence[str],
    linker: Sequence[str],
    options: Sequence[str],
) -> Path:
    """Link the objects of files in a folder; several are compiled at a time, and what is kept is not compiled again."""
    place = folder / name
    place.mkdir(exist_ok=True)
    objects = [f"{Path(source).stem}.o" for source in sources]

    def make(source: str, made: str) -> None:
        command = [*compiler, "-c", f"../{source}", "-o", made]
        key = key_of(["C object", _version(tuple(compiler)), *command, *_read_all(folder / source, folder)])
        cached = load(key)
        if cached is not None:
            (place / made).write_bytes(cached)
        else:
            _call(command, name, place)
            save(key, (place / made).read_bytes())

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(make, sources, objects))
    _call([*linker, *objects, "-o", product, *options], name, place)
    return place / product


def _call(command: list[str], name: str, place: Path) -> None:
    """Run a compiler; its messages are the error."""
    process = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place)
    if process.returncode != 0:
        first = (process.stderr.strip() or "no message").splitlines()[0]
        refuse("platform", f"compiling for {name} failed: {first}", f"by {' '.join(command[:4])}")
