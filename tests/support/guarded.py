"""Work that may fail in any way, in a process of its own: time and memory are limited, and what it raised is told."""

import faulthandler
import os
import resource
import selectors
import signal
import time
import traceback
import warnings
from pathlib import Path

LONGEST, LARGEST = 10.0, 1 << 30
"""Seconds of computing and bytes of one piece of work."""
PATIENCE = 6
"""How many times that long a busy machine may take."""


def run_guarded(work, allowed=(), seconds=LONGEST, memory=LARGEST):
    """What became of `work()`: "done", "refused" with its message, or "FAILED" with its cause.

    Args:
        allowed: exceptions by which bad input may be refused.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _be_child(work, allowed, seconds, memory, writing)
    os.close(writing)
    told = _read_all(reading, time.monotonic() + PATIENCE * seconds)
    if told is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if told is None:
        return "FAILED", f"slept for {PATIENCE * seconds:g} s"
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return "FAILED", f"took more than {seconds:g} s"
    if os.WIFSIGNALED(status):
        return "FAILED", f"died of {signal.Signals(os.WTERMSIG(status)).name}"
    word, _, text = told.partition("\n")
    return word, text


def _be_child(work, allowed, seconds, memory, writing):
    said = "FAILED\nleft without a word"
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        warnings.simplefilter("ignore")
        faulthandler.disable()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        said = _tell(work, allowed)
    except BaseException as error:  # noqa: BLE001  whatever it is, it is told
        said = f"FAILED\n{type(error).__name__} outside the work: {error}"
    finally:
        os.write(writing, said.encode(errors="replace")[:60_000])
        os._exit(0)


def _tell(work, allowed):
    try:
        work()
    except allowed as error:
        return f"refused\n{error}" if str(error).strip() else "FAILED\nrefused without a word"
    except BaseException as error:  # noqa: BLE001  whatever it is, it is told
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if "robodyn" in frame.filename]
        place = f"{own[-1].filename.rpartition('robodyn/')[2]}:{own[-1].name}" if own else "?"
        return f"FAILED\n{type(error).__name__} in {place}: {str(error)[:300]}"
    return "done\n"


def _read_all(reading, until):
    """Everything that comes through a pipe; None where its end does not come in time."""
    parts = []
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        while selector.select(max(0.0, until - time.monotonic())):
            part = os.read(reading, 65_536)
            if not part:
                os.close(reading)
                return b"".join(parts).decode(errors="replace")
            parts.append(part)
    os.close(reading)
    return None
