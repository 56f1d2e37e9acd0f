"""Is machine code found again, and only if it is whole?"""

import multiprocessing
import os
import shutil
import tempfile
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from support.kernels import compile_sine as _compile
from support.kernels import compile_together

from robodyn.base.symbolic.tables import gather, locate
from robodyn.computation.native import Options, cache_folder, compile_kernels, kernel
from robodyn.computation.native.cache import _temporary_folder
from robodyn.computation.native.machine import LEVEL


def _files():
    return [path for path in cache_folder().rglob("*") if path.is_file()]


EXPECTED = float(np.sin(2.0) * 2.5)


def test_second_compilation_is_read_from_disk():
    assert _compile() == (EXPECTED, 1)
    assert len(_files()) == 1
    assert _compile() == (EXPECTED, 0)


def test_kept_code_spares_reading_and_writing_programs(monkeypatch):
    _compile()
    monkeypatch.setattr("robodyn.computation.native.compiling.read_program", None)
    assert _compile() == (EXPECTED, 0)


def test_a_change_of_the_sources_makes_new_code(monkeypatch):
    _compile()
    monkeypatch.setattr("robodyn.computation.native.kernel._makers", lambda: ("other sources",))
    assert _compile() == (EXPECTED, 1)


def test_every_source_of_the_code_generator_is_in_the_key(monkeypatch, tmp_path):
    """A letter more in any module that reads, arranges or emits programs makes another key."""
    copies = [Path(shutil.copytree(folder, tmp_path / folder.name)) for folder in kernel.SOURCES]
    files = [file for folder in copies for file in folder.glob("*.py")]
    assert {"emit.py", "fusion.py", "reading.py", "tables.py", "elementary.py"} <= {file.name for file in files}
    x = ca.SX.sym("x")
    functions = {"f": ca.Function("f", [x], [ca.sin(x)])}

    def key():
        kernel._makers.cache_clear()
        return kernel.make_key(functions, [])

    before = key()
    monkeypatch.setattr(kernel, "SOURCES", copies)
    keys = {key()}
    assert keys == {before}
    for file in files:
        with file.open("a") as source:
            source.write("#")
        keys.add(key())
    assert len(keys) == 1 + len(files)
    kernel._makers.cache_clear()


@pytest.mark.parametrize(
    "settings",
    [
        {"quick": True},
        {"options": Options(plain=True)},
        {"options": Options(inexact=("f",))},
        {"parameter_input": 0},
        {"parameter_input": 1},
    ],
)
def test_other_settings_make_other_code(settings, monkeypatch):
    monkeypatch.delenv(LEVEL, raising=False)
    x, p = ca.SX.sym("x"), ca.SX.sym("p")
    functions = {"f": ca.Function("f", [x, p], [ca.sin(x) * ca.exp(p)])}
    compile_kernels(functions)
    module = compile_kernels(functions, **settings)
    assert len(_files()) == 2
    again = compile_kernels(functions, **settings, on_compile=pytest.fail)
    assert (again.n_parameters, again.n_prelude) == (module.n_parameters, module.n_prelude)
    given = [np.array([2.0]), np.array([0.5])]
    if settings.get("parameter_input") is not None:
        given[settings["parameter_input"]] = again.prepare(given[settings["parameter_input"]])
    assert again.kernels["f"](*given)[0] == pytest.approx(np.sin(2.0) * np.exp(0.5), rel=1e-12)


def test_another_table_is_other_code():
    x = ca.SX.sym("x")
    for values in ([1.0, 2.0], [3.0, 4.0], [1.0, 2.0]):
        traced = gather(np.array(values), locate(np.array([0.0, 1.0]), x))
        module = compile_kernels({"f": ca.Function("f", [x], [traced])})
        assert module.kernels["f"](1.5)[0] == values[1]
    assert len(_files()) == 2


def test_another_function_is_compiled():
    _compile()
    assert _compile(3.0) == (float(np.sin(2.0) * 3.0), 1)


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: data[:20]])
def test_truncated_file_is_compiled_again_and_mended(damage):
    _compile()
    (file,) = _files()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert _compile() == (EXPECTED, 1)
    assert _compile() == (EXPECTED, 0)


@pytest.mark.parametrize("place", [0, 30, -1, 0.5])
def test_file_with_one_wrong_byte_is_compiled_again_and_mended(place):
    _compile()
    (file,) = _files()
    data = bytearray(file.read_bytes())
    data[int(place * len(data)) if isinstance(place, float) else place] ^= 1
    file.write_bytes(data)
    assert _compile() == (EXPECTED, 1)
    assert _compile() == (EXPECTED, 0)


@pytest.mark.filterwarnings("ignore:compiled code cannot be kept")
def test_folder_that_cannot_be_written_only_costs_the_compilation(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("ROBODYN_CACHE", str(blocked / "cache"))
    assert _compile() == (EXPECTED, 1)
    assert _compile() == (EXPECTED, 1)


def test_cache_can_be_left_out():
    x = ca.SX.sym("x")
    compile_kernels({"f": ca.Function("f", [x], [x + 1])}, cache=False)
    assert not cache_folder().exists()


def test_two_processes_may_compile_the_same_at_once():
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(2), context.Queue()
    # Of a module that other processes find: how they would find this one depends on how the tests were started.
    processes = [context.Process(target=compile_together, args=(barrier, results)) for _ in range(2)]
    for process in processes:
        process.start()
    values = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert values == [EXPECTED, EXPECTED]
    assert len(_files()) == 1
    assert _compile() == (EXPECTED, 0)


def test_folder_is_the_users_cache_or_a_private_temporary_one(tmp_path, monkeypatch):
    monkeypatch.delenv("ROBODYN_CACHE")
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "user"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert tmp_path in cache_folder().parents

    (tmp_path / "file").write_text("not a folder")
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    _temporary_folder.cache_clear()
    folder = cache_folder()
    _temporary_folder.cache_clear()
    assert folder.parent == Path(tmp_path)
    if os.name == "posix":
        assert folder.stat().st_mode & 0o777 == 0o700
