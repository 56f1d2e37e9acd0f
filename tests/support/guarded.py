"""Work that may fail in any way, in a process of its own: limited time and memory; what it raised is reported."""

import faulthandler
import os
import resource
import selectors
import signal
import traceback
import warnings
from math import ceil
from pathlib import Path

import robodyn

PACKAGE = Path(robodyn.__file__).parent
LONGEST, LARGEST = 10.0, 1 << 30
"""Seconds of computing and bytes of one piece of work."""
END = "\0"
"""Of an answer."""
PATIENCE = 6
"""How many times that long nothing may happen: what a busy machine does not let compute is not asleep."""


def run_guarded(work, allowed=(), seconds=LONGEST, memory=LARGEST):
    """What became of `work()`: "done", "refused" with its message, or "FAILED" with its cause.

    Args:
        allowed: exceptions by which bad input may be refused.
    """
    return _guard([work], allowed, seconds, memory)[-1]


def run_all_guarded(works, allowed=()):
    """The same of several: of all in one process, and each in its own only where that one failed."""
    found = _guard(works, allowed, LONGEST, LARGEST)
    whole = len(found) == len(works) and all(word != "FAILED" for word, _ in found)
    return found if whole else [run_guarded(work, allowed) for work in works]


def _guard(works, allowed, seconds, memory):
    """What became of each, in one process; one answer alone where that did not end by itself."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _be_child(works, allowed, seconds, memory, writing)
    os.close(writing)
    message = _read_all(reading, child, PATIENCE * seconds)
    if message is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if message is None:
        return [("FAILED", f"slept for {PATIENCE * seconds:g} s")]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return [("FAILED", f"took more than {seconds:g} s")]
    if os.WIFSIGNALED(status):
        return [("FAILED", f"died of {signal.Signals(os.WTERMSIG(status)).name}")]
    return [said.partition("\n")[::2] for said in message.split(END)[:-1]]


def _be_child(works, allowed, seconds, memory, writing):
    said = "FAILED\nleft without a word"
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), ceil(seconds) + 1))
        warnings.simplefilter("ignore")
        faulthandler.disable()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        for work in works[:-1]:
            _tell(writing, _report(work, allowed))
        said = _report(works[-1], allowed)
    except BaseException as error:  # noqa: BLE001  whatever it is, it is reported
        said = f"FAILED\n{type(error).__name__} outside the work: {error}"
    finally:
        _tell(writing, said)
        os._exit(0)


def _tell(writing, said):
    os.write(writing, said.replace(END, "").encode(errors="replace")[:60_000] + END.encode())


def _report(work, allowed):
    try:
        work()
    except allowed as error:
        return f"refused\n{error}" if str(error).strip() else "FAILED\nrefused without a word"
    except BaseException as error:  # noqa: BLE001  whatever it is, it is reported
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
        place = f"{Path(own[-1].filename).relative_to(PACKAGE).as_posix()}:{own[-1].name}" if own else "?"
        return f"FAILED\n{type(error).__name__} in {place}: {str(error)[:300]}"
    return "done\n"


def _read_all(reading, child, patience):
    """Everything that comes through a pipe; None where its end does not come and the child sleeps."""
    parts, before = [], None
    with os.fdopen(reading, "rb", buffering=0) as pipe, selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if selector.select(patience):
                part = pipe.read(65_536)
                if not part:
                    return b"".join(parts).decode(errors="replace")
                parts.append(part)
                continue
            state, computed = _look_at(child)
            if state != "R" and computed == before:
                return None
            before = computed


def _look_at(process):
    """Whether a process runs (R), and how long it has computed, in ticks of the system's clock."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[11]) + int(fields[12])
