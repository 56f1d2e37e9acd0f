"""Is a damaged cache of the engine ignored and made anew?"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from robodyn.catalog import pendulum
from robodyn.engine.caching import engine_folder
from robodyn.simulation import simulate

RUN = """
from robodyn import simulate
from robodyn.catalog import pendulum
print(simulate(pendulum(duration=0.1)).outcome.ok)
"""


def test_cut_files_of_the_engine_are_compiled_again(tmp_path):
    simulate(pendulum(duration=0.1))
    folder = engine_folder()
    assert folder is not None
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    files = sorted(Path(copy).rglob("*.nbc"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:100])
    environment = os.environ | {"ROBODYN_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr
    assert all(file.stat().st_size > 100 for file in copy.rglob("*.nbc"))
