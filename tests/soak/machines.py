"""Examine many random machines: python tests/soak/machines.py [count] [first seed] [seconds] [largest]."""

from __future__ import annotations

import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from support.random_machines import random_scenario
from support.random_machines.examination import Finding, examine

LONGEST = 60
"""Seconds that one machine may take."""


def main(count: int = 5000, first: int = 0, seconds: int = 7200, largest: int = 6) -> int:
    """Number of machines that failed.

    Args:
        seconds: after which no other machine is begun; largest: number of bodies.
    """
    outcomes: Counter[str] = Counter()
    findings: list[Finding] = []
    end = time.monotonic() + seconds
    for seed in range(first, first + count):
        if time.monotonic() > end:
            break
        finding = _examine(seed, largest)
        findings.append(finding)
        outcomes.update(finding.outcomes)
        for failure in finding.failures:
            print(f"seed {seed}: {failure}", flush=True)
        if finding.refused:
            print(f"seed {seed} refused: {finding.refused}", flush=True)
    failed = sum(bool(finding.failures) for finding in findings)
    shares = [share for finding in findings for share in finding.compared]
    whole, partly = sum(share == 1 for share in shares), sum(0 < share < 1 for share in shares)
    print(f"{len(findings)} machines, {failed} failed, {sum(bool(f.refused) for f in findings)} refused")
    print(f"{len(shares)} pairs of runs: {whole} compared over all of their time, {partly} over part of it")
    print("outcomes:", ", ".join(f"{kind} {number}" for kind, number in outcomes.most_common()))
    return failed


def _examine(seed: int, largest: int) -> Finding:
    """One machine; an error or a hang in it is a finding too."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LONGEST)
    try:
        return examine(random_scenario(seed, largest))
    except Exception:  # noqa: BLE001 - whatever it is, it is what this program looks for
        return Finding(f"s{seed}", failures=[traceback.format_exc()])
    finally:
        signal.alarm(0)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"takes more than {LONGEST} s")


if __name__ == "__main__":
    sys.exit(min(main(*[int(text) for text in sys.argv[1:]]), 1))
