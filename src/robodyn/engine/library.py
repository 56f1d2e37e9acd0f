"""Shared library of the engine (provisional)."""

import ctypes
import subprocess
from functools import cache
from pathlib import Path


@cache
def load_library() -> ctypes.CDLL:
    """The engine."""
    here = Path(__file__).parent
    target = here / "_engine.so"
    sources = sorted(here.glob("*.c"))
    newest = max(p.stat().st_mtime for p in (*sources, *here.glob("*.h")))
    if not target.exists() or target.stat().st_mtime < newest:
        flags = "-std=c99 -O2 -fPIC -shared -fvisibility=hidden -DENGINE_LIBRARY -fno-math-errno -ffp-contract=off"
        subprocess.run(["gcc", *flags.split(), *map(str, sources), "-o", str(target), "-lm"], check=True)
    return ctypes.CDLL(str(target))
