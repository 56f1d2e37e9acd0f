"""Does any of many spoiled files end in a traceback, a hang or a flood of memory?

    make soak                    20,000 files
    make soak FILES=500 SEED=7   another time

Each file is read in a process of its own, with 10 s and 1 GB. Those that fail are kept, with as few edits as still
make them fail the same way, as build/soak/KIND-SEED.ENDING with what became of them beside it.
"""

import argparse
import random
import tempfile
from collections import Counter
from pathlib import Path

from support.hostile import READERS, good_files, try_mutant

EDITS = (1, 1, 1, 2, 2, 3)
"""How many there may be: most files have one thing wrong."""


def main():
    wanted = read_arguments()
    counted, failures = Counter(), {}
    try:
        for k in range(wanted.count):
            try_one(wanted, wanted.seed + k, counted, failures)
    except KeyboardInterrupt:
        print(f"interrupted after {counted.total()} files")
    summarise(counted, failures)
    raise SystemExit(bool(failures))


def try_one(wanted, seed, counted, failures):
    """Read one mutant; a new kind of failure is kept."""
    kind, number, seeds = choose_mutant(seed, wanted.kinds)
    with tempfile.TemporaryDirectory() as folder:
        word, message, data = try_mutant(kind, number, seeds, Path(folder))
        counted[kind, word] += 1
        name = f"{kind}: {first_words(message)}"
        if word == "FAILED" and name not in failures:
            data = minimise(kind, number, seeds, message, Path(folder)) or data
            failures[name] = keep(wanted.out, kind, seed, message, data)
            print(f"{kind} {seed}: {message.splitlines()[0]}", flush=True)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("build/soak"))
    parser.add_argument("--kinds", nargs="*", default=list(READERS), choices=list(READERS))
    return parser.parse_args()


def choose_mutant(seed, kinds):
    """Which reader, which of its good files, and the seeds of the edits: scenarios every other time."""
    rng = random.Random(seed)
    kind = "scenario" if "scenario" in kinds and rng.random() < 0.5 else rng.choice(kinds)
    number = rng.randrange(len(good_files(kind)))
    return kind, number, [rng.getrandbits(32) for _ in range(rng.choice(EDITS))]


def minimise(kind, number, seeds, message, folder):
    """The mutant without the edits that its failure does not need; None where it does not fail again."""
    found = None
    for seed in list(seeds):
        fewer = [other for other in seeds if other != seed]
        word, again, data = try_mutant(kind, number, fewer, folder)
        if word == "FAILED" and first_words(again) == first_words(message):
            seeds, found = fewer, data
    return found


def first_words(message):
    """What makes two failures the same: the error and its place."""
    return message.partition(": ")[0]


def keep(folder, kind, seed, message, data):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}-{seed}{READERS[kind].ending}"
    path.write_bytes(data)
    path.with_suffix(".txt").write_text(message + "\n")
    return path


def summarise(counted, failures):
    print(f"{'kind':12} {'done':>7} {'refused':>8} {'FAILED':>7}")
    for kind in sorted({kind for kind, _ in counted}):
        print(f"{kind:12} " + " ".join(f"{counted[kind, word]:7}" for word in ("done", "refused", "FAILED")))
    for what, path in failures.items():
        print(f"{path}: {what}")


if __name__ == "__main__":
    main()
