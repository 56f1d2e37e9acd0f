"""robodyn info: which versions, which caches?"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from robodyn.cli.application import app, output, print_json

PACKAGES = ("robodyn", "numpy", "casadi", "llvmlite", "matplotlib", "pyarrow", "xarray", "netCDF4")


@app.command("info")
def show_info(
    clear: Annotated[bool, typer.Option("--clear", help="Empty the cache.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print versions and the cache of native code, or empty it."""
    from robodyn.computation.native import upkeep
    from robodyn.computation.native.cache import cache_folder

    folder = cache_folder()
    if clear:
        facts = {"cache": str(folder), **_count("freed", upkeep.clear(folder))}
    else:
        versions = {package: _version(package) for package in PACKAGES}
        system = {"python": platform.python_version(), "platform": platform.platform()}
        facts = {**system, **versions, "cache": str(folder), **_count("cache", upkeep.list_files(folder))}
    if as_json:
        print_json(facts)
        return
    for key, value in facts.items():
        output.print(f"{key:<12} {value}")


def _count(what: str, sizes: Mapping[Path, int]) -> dict[str, Any]:
    return {f"{what}_files": len(sizes), f"{what}_bytes": sum(sizes.values())}


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
