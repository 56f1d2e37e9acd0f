"""robodyn info: which versions, which caches?"""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from robodyn.cli.application import app, output, print_json

PACKAGES = ("robodyn", "numpy", "casadi", "llvmlite", "matplotlib", "pyarrow", "xarray", "netCDF4")


@app.command("info")
def show_info(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print versions and the cache of native code."""
    from robodyn.native.cache import cache_folder

    folder = cache_folder()
    files = [path for path in Path(folder).rglob("*") if path.is_file()] if folder else []
    facts = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{package: _version(package) for package in PACKAGES},
        "cache": str(folder),
        "cache_files": len(files),
        "cache_bytes": sum(path.stat().st_size for path in files),
    }
    if as_json:
        print_json(facts)
        return
    for key, value in facts.items():
        output.print(f"{key:<12} {value}", markup=False)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
