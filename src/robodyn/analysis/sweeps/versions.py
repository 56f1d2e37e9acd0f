"""Versions of a process: what decides the last bit of its results? Cheap to import: workers of clusters are asked."""

from __future__ import annotations

import platform
from importlib.metadata import version

from robodyn.computation.engine.building import source_digest

PACKAGES = ("robodyn", "numpy", "scipy", "casadi", "llvmlite")


def find_versions() -> dict[str, str]:
    """Packages, engine, interpreter and system by name."""
    return {package: version(package) for package in PACKAGES} | {
        "engine": source_digest()[:12],
        "Python": platform.python_version(),
        "system": " ".join([platform.system(), platform.machine(), *platform.libc_ver()]).strip(),
    }
