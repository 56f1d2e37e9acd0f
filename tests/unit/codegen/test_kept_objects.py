"""Is a C file compiled again where anything of it has changed, and only there?"""

import shutil

import pytest

from robodyn.base.errors import ModelError
from robodyn.exchange.codegen import compilers
from robodyn.exchange.codegen.compilers import compile_program

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")

FILES = {
    "main.c": '#include "parts/twice.h"\nint main(void) { return twice(4); }\n',
    "parts/twice.c": '#include "twice.h"\n  #  include "factor.h"\nint twice(int x) { return FACTOR * x; }\n',
    "parts/twice.h": "int twice(int x);\n",
    "factor.h": "#define FACTOR 2\n",
}


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Callable (folder, changed files, flags) -> what was compiled, and what the program returns."""
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "cache"))
    calls = []
    really = compilers._call
    monkeypatch.setattr(compilers, "_call", lambda command, *rest: (calls.append(command), really(command, *rest)))

    def make(name, changes=(), flags=()):
        folder = tmp_path / name
        for file, text in (FILES | dict(changes)).items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        calls.clear()
        program = compile_program(folder, ["main.c", "parts/twice.c"], flags)
        compiled = sorted(command[command.index("-c") + 1] for command in calls if "-c" in command)
        return compiled, compilers.subprocess.run([program], check=False).returncode

    return make


def test_a_file_is_compiled_once_wherever_it_lies(build):
    assert build("first") == (["../main.c", "../parts/twice.c"], 8)
    assert build("second") == ([], 8)


def test_a_changed_header_is_compiled_even_one_that_is_included_by_another_file_s_folder(build):
    build("first")
    assert build("second", {"factor.h": "#define FACTOR 3\n"}) == (["../parts/twice.c"], 12)


def test_a_changed_text_and_other_flags_are_compiled(build):
    build("first")
    assert build("second", {"main.c": FILES["main.c"].replace("4", "5")}) == (["../main.c"], 10)
    assert build("third", flags=("-DOTHER",))[0] == ["../main.c", "../parts/twice.c"]


def test_what_does_not_compile_is_not_kept(build):
    for name in ("first", "second"):
        with pytest.raises(ModelError, match="compiling for .* failed"):
            build(name, {"main.c": '#include "nowhere.h"\n'})
