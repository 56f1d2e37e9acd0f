"""Mutation score of the engine in C: how many small faults in its sources do the tests see?

    make coverage MUTANTS=500
    python tests/soak/engine_mutants.py --count 500 [--seed 1] [--seconds 600] [--again] [--file proof.c] [TESTS ...]

A mutant is one small edit at one place of one file. All mutants stand in an order that the seed gives, and the first
`--count` of them are tried. What is known is kept in build/mutants: called again, the program goes on where its
`--seconds` had ended; `--again` tries those once more that no test has seen, with `--checked` in engines that check
every access to memory: for these the sanitisers' runtimes must be loaded before Python, see the Makefile.

Mutants that no test can see, or that are no fault, stand in engine_mutants.toml with the reason; they are not tried.

To try hundreds, the tests are imported and collected once. In a fork of this process, an engine that notes each basic
block tells which tests reach which line and how long they take. Then for each mutant its file alone is compiled. Where
the object is that of the file without the fault, there is none: the mutant is equivalent. Else the tests that reach its
line run in another fork, the cheapest first, until one fails.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import hashlib
import json
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from engine import BUILD, FOLDER, IGNORED, ROOT, compile_engine, compile_file, link_engine

from robodyn.computation.engine.binding import functions, load_library

TESTS = [
    "unit/engine",
    "unit/simulation",
    "unit/cosimulation",
    "unit/perturbation",
    "unit/gym",
    "convergence",
    "systems",
]
PLACE = BUILD / "mutants"
EXPLAINED = Path(__file__).with_suffix(".toml")
"""Lists of mutants by the reason why none of them is a fault that a test could see."""
LOG = PLACE / "log.jsonl"
"""A line of JSON for each mutant that was tried."""
PATIENCE, LEAST_PATIENCE = 3.0, 3.0
"""A mutant hangs where its tests take so many times as long, and so many seconds [s] of processor time more."""
MEMORY = 8 * 2**30
ALIVE = ("survived", "unreached")
CHECKING = ("-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
NOTING = """
__attribute__((visibility("default"))) unsigned char reached[1 << 22];
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
void __sanitizer_cov_trace_pc(void) {
  unsigned long place = (unsigned long)((const char *)__builtin_return_address(0) - __ehdr_start);
  if (place < sizeof reached) reached[place] = 1;
}
"""
"""Called at the start of each basic block."""
EDITS = [
    (r"(?<![<>=!+\-*/])<(?![<=])", "<="),
    (r"(?<![<>=!\-])>(?![>=])", ">="),
    (r"<=", "<"),
    (r">=", ">"),
    (r"==", "!="),
    (r"!=", "=="),
    (r"&&", "||"),
    (r"\|\|", "&&"),
    (r"(?<=[\w\])] )\+(?= [\w(])", "-"),
    (r"(?<=[\w\])] )-(?= [\w(])", "+"),
    (r"(?<=[\w\])] )\*(?= [\w(])", "/"),
    (r"\+\+", "--"),
    (r"\b0\.5\b", "0.25"),
    (r"\b1\.0\b", "2.0"),
    (r"\breturn 0;", "return 1;"),
    (r"\breturn 1;", "return 0;"),
    (r"\bif \(", "if (!"),
    (r"\bleast\(", "largest("),
    (r"\blargest\(", "least("),
]
"""Small faults: one of these at one place makes a mutant."""


@dataclass(frozen=True)
class Mutant:
    """A line of a file (counted from 0) and what it becomes."""

    file: str
    line: int
    edited: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line + 1}: {self.edited.strip()}"

    @property
    def name(self) -> str:
        """As in the lists of those that are explained: without its line, which others move."""
        return f"{self.file}: {self.edited.strip()}"

    def rank(self, seed: int) -> bytes:
        """Its place in the order of a seed, which stays where other lines change."""
        return hashlib.sha256(f"{seed} {self.file} {self.edited}".encode()).digest()

    @property
    def key(self) -> str:
        """Names the mutant and the file that it is of, so that nothing is taken from a file that has changed since."""
        return f"{digest_of(FOLDER / self.file)} {self}"


@cache
def digest_of(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def find_mutants() -> Iterator[Mutant]:
    """All mutants; comments, directives and constants of one line aside."""
    for source in sorted(FOLDER.glob("*.c")):
        inside = False
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(keepends=True)):
            code = line.split("/*")[0]
            inside = (inside or "/*" in line) and "*/" not in line.rpartition("/*")[2]
            if inside or line.startswith(("#", "/*", "   ")) and not line.startswith("    "):
                continue
            for pattern, replacement in EDITS:
                for match in re.finditer(pattern, code):
                    edited = code[: match.start()] + replacement + code[match.end() :]
                    if pattern.startswith(r"\bif"):
                        edited = negate(code, match.end())
                    if edited and edited != code:
                        yield Mutant(source.name, number, edited + line[len(code) :])


def negate(code: str, begin: int) -> str:
    """A line whose condition is turned round; nothing where it goes on in the next line."""
    depth = 1
    for k in range(begin, len(code)):
        depth += {"(": 1, ")": -1}.get(code[k], 0)
        if depth == 0:
            return f"{code[:begin]}!({code[begin:k]}){code[k:]}"
    return ""


@dataclass
class Reach:
    """What tests do in the engine as it is.

    Attributes:
        seconds: processor time of each test that passes, by its name.
        tests: the tests that reach a block which begins in a line of a file.
        blocks: the lines of each file in which blocks begin, in order.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    blocks: dict[str, list[int]] = field(default_factory=dict)

    def choose(self, mutant: Mutant, most: float) -> list[str]:
        """The tests for a mutant, the cheapest first, for some seconds: those that reach the block of its line."""
        begun = [line for line in self.blocks.get(mutant.file, ()) if line <= mutant.line + 1]
        names = self.tests.get((mutant.file, begun[-1]), set()) if begun else set()
        chosen, total = [], 0.0
        for name in sorted(names, key=lambda name: self.seconds[name]):
            total += self.seconds[name]
            if total > most and chosen:
                break
            chosen.append(name)
        return chosen


def find_blocks(library: Path) -> dict[int, tuple[str, int]]:
    """File and line of each place to which a call at the start of a block returns."""
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(library)], capture_output=True, text=True, check=True
    ).stdout
    calls = re.findall(r"^ *([0-9a-f]+):\s+call.*__sanitizer_cov_trace_pc.*\n *([0-9a-f]+):", listing, re.MULTILINE)
    places = "\n".join(call for call, _ in calls)
    lines = subprocess.run(
        ["addr2line", "-s", "-e", str(library)], input=places, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    blocks = {}
    for (_, after), place in zip(calls, lines, strict=True):
        file, _, line = place.split(" ")[0].rpartition(":")
        if line.isdigit() and int(line) > 0:
            blocks[int(after, 16)] = (file, int(line))
    return blocks


class Trials:
    """Plugin of pytest: in place of one run of the tests, one fork for each mutant."""

    def __init__(self, wanted: argparse.Namespace) -> None:
        self.wanted = wanted
        self.end = time.monotonic() + wanted.seconds
        self.flags = ("-O1", *CHECKING) if wanted.checked else ("-O1",)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        reach = self.measure()
        if reach is None:
            self.say("the tests are not all measured yet: call again")
            return True
        failing = len(self.items) - len(reach.seconds)
        self.say(f"{len(reach.seconds)} tests, {sum(reach.seconds.values()):.0f} s; {failing} skipped or failing")
        wanted = [one for one in find_mutants() if not self.wanted.file or one.file in self.wanted.file]
        wanted = [one for one in wanted if not self.wanted.only or any(text in one.name for text in self.wanted.only)]
        sample = sorted(wanted, key=lambda mutant: mutant.rank(self.wanted.seed))[: self.wanted.count]
        known = read_log()
        objects = compile_engine(FOLDER, PLACE / "objects", PLACE / "whole.so", *self.flags)
        explained = {name for names in tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).values() for name in names}
        for mutant in sample:
            if mutant.name in explained:
                known[mutant.key] = {"kind": "explained", "seconds": 0.0}
                continue
            alive = known.get(mutant.key, {}).get("kind") in ALIVE
            if mutant.key in known and not (alive and self.wanted.again):
                continue
            if time.monotonic() > self.end:
                break
            begun = time.monotonic()
            kind, by = self.try_mutant(mutant, reach, objects)
            entry = {"key": mutant.key, "kind": kind, "by": by, "seconds": round(time.monotonic() - begun, 2)}
            known[mutant.key] = entry
            with LOG.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
        self.summarise(sample, known)
        return True

    def summarise(self, sample: list[Mutant], known: dict[str, dict[str, Any]]) -> None:
        tried = [mutant for mutant in sample if mutant.key in known]
        kinds = Counter(known[mutant.key]["kind"] for mutant in tried)
        for mutant in sorted(tried, key=str):
            if (kind := known[mutant.key]["kind"]) in ALIVE:
                self.say(f"{kind}: {mutant}")
        faults = sum(kinds.values()) - kinds["not compiled"] - kinds["equivalent"]
        seen = faults - kinds["explained"] - sum(kinds[kind] for kind in ALIVE)
        took = sum(known[mutant.key]["seconds"] for mutant in tried)
        self.say(f"{len(tried)} of {len(sample)} mutants tried in {took:.0f} s: {dict(kinds)}")
        share, with_explained = (100 * count / max(faults, 1) for count in (seen, seen + kinds["explained"]))
        self.say(f"{seen} of {faults} faults seen, {share:.1f} %; or explained: {with_explained:.1f} %")

    def measure(self) -> Reach | None:
        """Which tests reach which lines, and how long they take; nothing where the time ends before that is known.

        Of each file with tests it is measured once, in a fork with an engine that notes its blocks.
        """
        sources = sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.h")])
        place = PLACE / f"reach-{digest_of(*sources)}"
        library = place / "noting.so"
        if not library.exists():
            flags = ("-O0", "-g", "-fsanitize-coverage=trace-pc")
            compile_engine(FOLDER, place, library, *flags, extra=NOTING)
        blocks = find_blocks(library)
        files: dict[Path, list[pytest.Item]] = {}
        for item in self.items.values():
            name = item.path.relative_to(ROOT).as_posix().replace("/", "-")
            files.setdefault(place / f"{name}-{digest_of(item.path)}.pickle", []).append(item)
        child = os.fork()
        if child == 0:
            use_engine(library)
            for file, items in files.items():
                if not file.exists() and time.monotonic() < self.end:
                    file.write_bytes(pickle.dumps(note_blocks(library, blocks, items)))
            os._exit(0)
        os.waitpid(child, 0)
        if not all(file.exists() for file in files):
            return None

        reach = Reach()
        for source, line in sorted(set(blocks.values())):
            reach.blocks.setdefault(source, []).append(line)
        for file in files:
            for name, (seconds, places) in pickle.loads(file.read_bytes()).items():
                reach.seconds[name] = seconds
                for block in places:
                    reach.tests.setdefault(block, set()).add(name)
        if not reach.tests:
            raise RuntimeError("no test reaches the engine: nothing can be said of any mutant")
        return reach

    def try_mutant(self, mutant: Mutant, reach: Reach, objects: dict[str, Path]) -> tuple[str, str]:
        """What became of a mutant, and the test that saw it."""
        chosen = reach.choose(mutant, self.wanted.most)
        if not chosen:
            return "unreached", ""
        folder = PLACE / "mutant"
        folder.mkdir(exist_ok=True)
        text = (FOLDER / mutant.file).read_text(encoding="utf-8").splitlines(keepends=True)
        text[mutant.line] = mutant.edited
        (folder / mutant.file).write_text("".join(text), encoding="utf-8")
        try:
            changed = compile_file(folder / mutant.file, folder, *self.flags)
            if changed.read_bytes() == objects[changed.stem].read_bytes():
                return "equivalent", ""
            link_engine([*(objects | {changed.stem: changed}).values()], folder / "engine.so", *self.flags)
        except subprocess.CalledProcessError:
            return "not compiled", ""
        seen_by, allowed = folder / "seen", LEAST_PATIENCE + PATIENCE * sum(reach.seconds[name] for name in chosen)
        seen_by.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            # What a mutant that crashes has to say is of no interest.
            faulthandler.disable()
            use_engine(folder / "engine.so")
            resource.setrlimit(resource.RLIMIT_CPU, (int(allowed), int(allowed) + 1))
            if not self.wanted.checked:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            for name, following in zip(chosen, [*chosen[1:], None], strict=True):
                seen_by.write_text(name, encoding="utf-8")
                if not passes(self.items[name], self.items[following] if following else None, skipped=True):
                    os._exit(1)
            os._exit(0)
        status = wait_for(child, 10 * allowed)
        if status == 0:
            return "survived", ""
        by = seen_by.read_text(encoding="utf-8") if seen_by.exists() else ""
        if not os.WIFSIGNALED(status):
            return "seen", by
        return ("hung" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "crashed"), by

    def say(self, line: str) -> None:
        os.write(self.wanted.output, f"{line}\n".encode())


def read_log() -> dict[str, dict[str, Any]]:
    """The last entry of each mutant, by its key."""
    lines = LOG.read_text(encoding="utf-8").splitlines() if LOG.exists() else []
    return {entry["key"]: entry for entry in map(json.loads, lines)}


def note_blocks(
    library: Path, blocks: dict[int, tuple[str, int]], items: list[pytest.Item]
) -> dict[str, tuple[float, set[tuple[str, int]]]]:
    """Processor time of each test that passes, and the blocks that it reaches."""
    noted = (ctypes.c_ubyte * (1 << 22)).in_dll(ctypes.CDLL(str(library)), "reached")
    found = {}
    for item, following in zip(items, [*items[1:], None], strict=True):
        ctypes.memset(noted, 0, len(noted))
        begun = time.process_time()
        if not passes(item, following, skipped=False):
            continue
        hit = bytes(noted)
        reached = {block for place, block in blocks.items() if hit[place]}
        found[item.nodeid] = (time.process_time() - begun, reached)
    return found


def use_engine(path: Path) -> None:
    """Have this process use another engine than the one that may have been loaded when tests were collected."""
    os.environ["ROBODYN_ENGINE"] = str(path)
    load_library.cache_clear()
    functions.cache_clear()


def passes(item: Any, following: Any, skipped: bool) -> bool:
    """Whether a test passes; whether one that is skipped does, is said."""
    reports = runtestprotocol(item, log=False, nextitem=following)
    return not any(report.failed for report in reports) and (skipped or not any(report.skipped for report in reports))


def wait_for(child: int, seconds: float) -> int:
    """The status of a process, which is ended after some time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", default=[f"tests/{name}" for name in TESTS])
    parser.add_argument("--count", type=int, default=500, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="of the order of mutants")
    parser.add_argument("--file", action="append", help="mutants of this file alone, such as proof.c")
    parser.add_argument("--only", action="append", help="mutants with this text in them, `FILE: LINE` as it is edited")
    parser.add_argument("--seconds", type=float, default=7200.0, help="after which no other mutant is begun")
    parser.add_argument("--most", type=float, default=10.0, help="seconds of the tests that a mutant is tried with")
    parser.add_argument("--again", action="store_true", help="try those once more that no test has seen")
    parser.add_argument("--checked", action="store_true", help="in engines that check every access to memory")
    wanted = parser.parse_intermixed_args()
    if wanted.count < 1:
        print(f"0 mutants of {len(list(find_mutants()))} tried")
        return 0
    # Runtimes that are loaded already are none of the compiler's business.
    os.environ.pop("LD_PRELOAD", None)
    os.environ.setdefault("ROBODYN_OPTIMISATION", "0")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.chdir(ROOT)
    wanted.output = os.dup(1)
    return int(pytest.main(["-q", "-n0", "-p", "no:cacheprovider", *IGNORED, *wanted.tests], [Trials(wanted)]))


if __name__ == "__main__":
    sys.exit(main())
