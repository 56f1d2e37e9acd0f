"""Is a file that was there never lost, whatever happens while it is written anew?"""

import os
import re
import resource
from pathlib import Path

import pytest
from typer.testing import CliRunner

from robodyn.base.atomic import replacing, write_file
from robodyn.cli import app

SOURCES = Path(__file__).parents[2] / "src" / "robodyn"
PLAIN = re.compile(r"\.write_(?:text|bytes)\(|open\([^)]*[\"'][wa]b?[\"']")
# Files of folders that are thrown away or made for nobody else, drafts, and locks.
FREE = {"computation/engine/building.py", "computation/native/cache.py", "exchange/fmi/writing.py"}
FREE |= {"exchange/codegen/compilers.py", "exchange/codegen/c_folder.py"}
FREE |= {"analysis/sweeps/folder.py", "presentation/studio/source.py"}


@pytest.fixture
def full_disk():
    """No file can grow beyond a few bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_is_as_before_where_the_disk_is_full(tmp_path, full_disk):
    mine = tmp_path / "mine.toml"
    mine.write_text("duration = 1")
    with pytest.raises(OSError, match="File too large"):
        write_file(mine, "much more than there is room for\n" * 10)
    assert mine.read_text() == "duration = 1"
    assert os.listdir(tmp_path) == ["mine.toml"]


def test_exported_and_imported_scenarios_leave_a_file_as_it_was_where_the_disk_is_full(tmp_path, full_disk):
    mine = tmp_path / "mine.toml"
    mine.write_text("duration = 1")
    done = CliRunner().invoke(app, ["export", "pendulum", "--to", "toml", "--out", str(mine)])
    assert done.exit_code == 2
    assert "cannot be written" in done.output
    assert mine.read_text() == "duration = 1"


def test_a_link_stays_a_link_and_permissions_stay(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_file(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_what_is_no_file_is_written_to_as_it_is(tmp_path):
    write_file("/dev/null", "nothing")
    assert not Path("/dev/null").is_file()
    with pytest.raises(IsADirectoryError), replacing(tmp_path) as draft:
        draft.write_text("a folder")


def test_every_file_for_a_user_is_replaced_as_a_whole():
    plain = set()
    for path in SOURCES.rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        if any(PLAIN.search(line) and "draft" not in line for line in lines):
            plain.add(path.relative_to(SOURCES).as_posix())
    assert plain == FREE
