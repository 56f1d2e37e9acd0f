"""The engine's library carries the digest of its sources, and is made with what compiler there is."""

import ctypes
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from robodyn.computation.engine import building
from robodyn.computation.engine.building import BuildError, build_library, find_compiler, is_made_from, source_digest

ROOT = Path(__file__).parents[3]
needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")


@pytest.fixture
def sources(tmp_path):
    """A folder with the smallest engine."""
    folder = tmp_path / "sources"
    folder.mkdir()
    shutil.copy(building.FOLDER / building.LAST, folder)
    (folder / "sums.h").write_text("#define TERMS 2\n")
    return folder


@pytest.fixture
def no_compiler(tmp_path, monkeypatch):
    """A system without a compiler."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(building, "find_spec", lambda name: None)


@pytest.mark.parametrize("change", ["sums.h", "new.c"])
def test_the_digest_follows_the_sources(sources, change):
    before = source_digest(sources)
    (sources / "notes.txt").write_text("no source")
    assert source_digest(sources) == before
    (sources / change).write_text("#define TERMS 3\n")
    assert source_digest(sources) != before


def test_the_digest_follows_the_flags(sources, monkeypatch):
    before = source_digest(sources)
    monkeypatch.setattr(building, "FLAGS", (*building.FLAGS, "-O1"))
    assert source_digest(sources) != before


@needs_compiler
def test_a_cut_library_is_known_by_its_missing_mark(sources, tmp_path):
    library = tmp_path / "made" / building.LIBRARY
    library.parent.mkdir()
    digest = build_library(library, sources)
    assert [path.name for path in library.parent.iterdir()] == [building.LIBRARY]
    assert is_made_from(library, digest)
    library.write_bytes(library.read_bytes().partition(building.MARK)[0])
    assert not is_made_from(library, digest)


@needs_compiler
def test_errors_of_the_compiler_are_told_and_leave_the_library_as_it_was(sources, tmp_path, capfd):
    library = tmp_path / building.LIBRARY
    digest = build_library(library, sources)
    (sources / "wrong.c").write_text("#error nothing works\n")
    with pytest.raises(BuildError, match="nothing works"):
        build_library(library, sources)
    assert "nothing works" in capfd.readouterr().err
    assert is_made_from(library, digest)


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_the_remedy_is_named():
    with pytest.raises(BuildError, match=r"no C compiler .*pip install 'robodyn\[cross\]'"):
        find_compiler()


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_that_of_the_wheel_is_taken(monkeypatch):
    monkeypatch.setattr(building, "find_spec", lambda name: name == "ziglang" or None)
    assert find_compiler()[:4] == [sys.executable, "-m", "ziglang", "cc"]


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no command there")
@pytest.mark.usefixtures("no_compiler")
def test_a_compiler_that_only_says_it_is_missing_counts_as_none(tmp_path):
    fake = tmp_path / "cc"
    fake.write_text("#!/bin/sh\necho no developer tools were found >&2\nexit 1\n")
    fake.chmod(0o755)
    assert building.find_own_compiler() is None


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel, and what its build says on stderr, the compiler's warnings among it."""
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys, hatchling.build; hatchling.build.build_wheel(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", build, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel, done.stderr.decode()


@needs_compiler
def test_the_whole_engine_compiles_without_a_warning(built, tmp_path):
    wheel, said = built
    with zipfile.ZipFile(wheel) as archive:
        library = archive.extract(f"robodyn/computation/engine/{building.LIBRARY}", tmp_path)
    loaded = ctypes.CDLL(library)
    loaded.engine_digest.restype = ctypes.c_char_p
    assert loaded.engine_digest().decode() == source_digest()
    assert is_made_from(Path(library), source_digest())
    assert said == ""


@needs_compiler
def test_a_wheel_holds_the_library_and_its_sources_for_one_platform(built):
    wheel, _ = built
    tag, platform = wheel.stem.partition("py3-none-")[1:]
    assert tag
    assert platform != "any"
    with zipfile.ZipFile(wheel) as archive:
        names = [name.removeprefix("robodyn/computation/engine/") for name in archive.namelist()]
    assert names.count(building.LIBRARY) == 1
    assert {path.name for path in building.FOLDER.glob("*.[ch]")} <= set(names)


def test_a_source_distribution_holds_the_sources_and_no_library(tmp_path):
    build = "import sys, hatchling.build; hatchling.build.build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    engine = building.FOLDER.relative_to(ROOT).as_posix()
    assert {f"{engine}/{path.name}" for path in building.FOLDER.glob("*.[ch]")} | {"hatch_build.py"} <= names
    assert not any(name.startswith(f"{engine}/_engine") for name in names)
