"""Building of the engine: how do its C sources become a shared library, and from which sources is a library?

The standard library only, and nothing of robodyn: the build of a wheel loads this file by its path. Called as a script
it makes a library that checks itself: `building.py build/engine.so address undefined`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).parent
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
LIBRARY = f"_engine{SUFFIX}"
MARK = b"robodyn engine "
"""Stands in a library before the digest of its sources."""
LAST = "engine_digest.c"
"""Linked last, so that the mark stands behind all else that a loader reads."""

WINDOWS = sys.platform == "win32"
MACOS = "11.0"
"""The oldest macOS that libraries made there run on."""
# No flag for the processor at hand and no contraction: the same results on every machine of a kind.
FLAGS = (
    *("-std=c99", "-O3", "-g0", "-fvisibility=hidden", "-fno-math-errno", "-ffp-contract=off", "-Wall", "-Wextra"),
    *(() if WINDOWS else ("-fPIC",)),
    *((f"-mmacosx-version-min={MACOS}",) if sys.platform == "darwin" else ()),
)
MATHEMATICS = () if WINDOWS else ("-lm",)
CHECKING = ("-O1", "-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=undefined")
PROBE = "#include <math.h>\ndouble probe(double x) { return sin(x); }\n"


class BuildError(Exception):
    """The library cannot be made: why, and what helps."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what} ({remedy})")
        self.what, self.remedy = what, remedy


def source_digest(folder: Path = FOLDER) -> str:
    """SHA-256 of everything a library is made from: names and content of sources and headers, and the flags."""
    digest = hashlib.sha256(" ".join(FLAGS).encode())
    for name in sorted(name for name in os.listdir(folder) if name.endswith((".c", ".h"))):
        with open(os.path.join(folder, name), "rb", buffering=0) as file:
            content = file.read()
        digest.update(f"\n{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def is_made_from(library: Path, digest: str) -> bool:
    """Whether a library is whole and from the sources of a digest, found without running any of it."""
    try:
        return MARK + digest.encode() in library.read_bytes()
    except OSError:
        return False


def find_compiler() -> list[str]:
    """The command that compiles for this machine: what CC names, cc, gcc, clang, else the one of the wheel `ziglang`.

    Raises:
        BuildError: where there is none that works.
    """
    if compiler := find_own_compiler():
        return compiler
    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc", "-target", zig_target()]
    named = os.environ.get("CC")
    what = f"the C compiler '{named}' does not work" if named else "there is no C compiler to make the engine with"
    raise BuildError(what, "install cc, gcc or clang, or pip install 'robodyn[cross]'")


def find_own_compiler() -> list[str] | None:
    """The compiler of this system, if there is one that works; none if CC asks for `ziglang`."""
    named = os.environ.get("CC")
    if named == "ziglang":
        return None
    commands = [shlex.split(named, posix=not WINDOWS)] if named else [["cc"], ["gcc"], ["clang"]]
    return next((command for command in commands if _works(command)), None)


def _works(command: Sequence[str]) -> bool:
    """A command alone is not enough: macOS has one that only offers to install a compiler, others lack a C library."""
    if not command or shutil.which(command[0]) is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "probe.c").write_text(PROBE)
        probe = [*command, *FLAGS, "-w", "-shared", "probe.c", "-o", f"probe{SUFFIX}", *MATHEMATICS]
        return subprocess.run(probe, cwd=folder, capture_output=True, check=False).returncode == 0


def zig_target() -> str:
    """This machine as zig calls it, with the oldest system that wheels are made for."""
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    linux = "linux-gnu.2.17" if platform.libc_ver()[0] == "glibc" else "linux-musl"
    system = {"win32": "windows-gnu", "darwin": f"macos.{MACOS}"}.get(sys.platform, linux)
    return f"{machine}-{system}"


def build_library(library: Path, folder: Path = FOLDER, sanitize: Sequence[str] = ()) -> str:
    """Make a shared library of all C files in a folder; gives the digest of what it was made from.

    It appears under its name only when complete (written aside, then renamed), so processes may write at the same time.

    Args:
        sanitize: names of sanitisers: address, undefined, thread.

    Raises:
        BuildError: without a compiler, or where the sources have errors.
        OSError: where the library's folder cannot be written.
    """
    # Taken before compiling: a library must not claim to be made from sources edited meanwhile.
    digest = source_digest(folder)
    flags = [*FLAGS, "-DENGINE_LIBRARY", f'-DENGINE_DIGEST="{digest}"']
    if sanitize:
        flags += [*CHECKING, f"-fsanitize={','.join(sanitize)}"]
    sources = sorted((path.name for path in folder.glob("*.c")), key=lambda name: (name == LAST, name))
    with tempfile.TemporaryDirectory(prefix="_engine-", dir=library.parent) as place:
        compiler = [*find_compiler(), *flags]
        commands = [[*compiler, "-c", name, "-o", os.path.join(place, f"{name}.o")] for name in sources]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda command: _call(command, folder), commands))
        objects = [f"{name}.o" for name in sources]
        _call([*compiler, "-shared", *objects, "-o", library.name, *MATHEMATICS], Path(place))
        fresh = Path(place, library.name)
        fresh.chmod(0o755)
        os.replace(fresh, library)
    return digest


def _call(command: Sequence[str], place: Path) -> None:
    """Run a compiler and pass on what it says."""
    process = subprocess.run(command, cwd=place, stderr=subprocess.PIPE, text=True, check=False)
    sys.stderr.write(process.stderr)
    if process.returncode != 0:
        lines = process.stderr.strip().splitlines() or ["no message"]
        first = next((line for line in lines if "error" in line), lines[0])
        raise BuildError(f"compiling the engine failed: {first}", "all the compiler says stands above")


if __name__ == "__main__":
    target = Path(sys.argv[1]).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    build_library(target, sanitize=sys.argv[2:])
