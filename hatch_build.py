"""How does the engine's library come into a wheel? It is compiled while the wheel is built.

Where there is no compiler, the wheel `ziglang`, which brings one, is required for the build.
"""

from __future__ import annotations

import platform
import runpy
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ENGINE = Path(__file__).parent / "src" / "robodyn" / "computation" / "engine"
# Loaded by its path: the package itself cannot be imported yet.
building = SimpleNamespace(**runpy.run_path(str(ENGINE / "building.py")))


class EngineHook(BuildHookInterface):
    """Compiles the engine: for an editable install beside its sources, else into the wheel."""

    def dependencies(self) -> list[str]:
        compiler = building.find_own_compiler()
        return [] if compiler else self.metadata.core.optional_dependencies["cross"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            building.build_library(ENGINE / building.LIBRARY)
            return
        self.place = tempfile.TemporaryDirectory()
        library = Path(self.place.name, building.LIBRARY)
        building.build_library(library)
        build_data["force_include"][str(library)] = f"robodyn/computation/engine/{library.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.place.cleanup()


def platform_tag() -> str:
    """The platforms the library runs on: zig's is made for an old Linux, that of the system's compiler for this one."""
    if sys.platform == "darwin":
        return f"macosx_{building.MACOS.replace('.', '_')}_{platform.machine()}"
    target = building.zig_target()
    if building.find_own_compiler() is None and target.endswith("linux-gnu.2.17"):
        return f"manylinux_2_17_{target.partition('-')[0]}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
