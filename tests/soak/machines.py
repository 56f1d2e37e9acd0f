"""Does what must hold for any machine hold for many random ones?

    make soak                                      5,000 machines, for two hours at most
    python tests/soak/machines.py --first 7 --count 1     one of them again

Each machine that fails is reported with its seed and what does not hold; see `support.random_machines.examination`.
"""

import argparse
import signal
import sys
import time
import traceback
from collections import Counter
from typing import Any

from support.random_machines import random_scenario
from support.random_machines.examination import Finding, examine
from support.second_engine import NotForThis, compare_engines

LONGEST = 120
"""Seconds of computing that one machine may take; a busy computer may take longer."""


def main() -> int:
    """1 where any machine failed, else 0."""
    wanted = read_arguments()
    findings: list[Finding] = []
    end = time.monotonic() + wanted.seconds
    for seed in range(wanted.first, wanted.first + wanted.count):
        if time.monotonic() > end:
            break
        findings.append(try_machine(seed, wanted.largest))
        for failure in findings[-1].failures:
            print(f"seed {seed}: {failure}", flush=True)
        if findings[-1].refused:
            print(f"seed {seed} refused: {findings[-1].refused}", flush=True)
    summarise(findings)
    return int(any(finding.failures for finding in findings))


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000, help="how many machines")
    parser.add_argument("--first", type=int, default=0, help="seed of the first; the others follow")
    parser.add_argument("--seconds", type=float, default=7200.0, help="after which no other machine is begun")
    parser.add_argument("--largest", type=int, default=6, help="most bodies of a machine")
    return parser.parse_args()


def try_machine(seed: int, largest: int) -> Finding:
    """One machine; an error or a hang in it is a finding too."""
    signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        scenario = random_scenario(seed, largest)
        finding = examine(scenario)
        return finding if finding.refused else judge_by_second_engine(scenario, finding)
    except Exception:  # noqa: BLE001 - whatever it is, it is what this program looks for
        return Finding(f"s{seed}", failures=[traceback.format_exc()])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def judge_by_second_engine(scenario: Any, finding: Finding) -> Finding:
    """Whether an engine of plain Python finds the same motion, where it has one."""
    try:
        difference = compare_engines(scenario, finding.compiled)
    except NotForThis:
        return finding
    finally:
        finding.compiled = None
    finding.outcomes.append("seen by both engines")
    finding.failures += [f"the second engine: {difference}"] if difference else []
    return finding


def too_long(*_: object) -> None:
    raise TimeoutError(f"takes more than {LONGEST} s")


def summarise(findings: list[Finding]) -> None:
    """How many there were, how they ended, and how much was really compared."""
    failed, refused = (sum(bool(getattr(finding, what)) for finding in findings) for what in ("failures", "refused"))
    singular = sum(finding.singular for finding in findings)
    print(f"{len(findings)} machines: {failed} failed, {refused} refused, {singular} in singular positions")
    shares = [share for finding in findings for share in finding.compared]
    whole, partly = sum(share == 1 for share in shares), sum(0 < share < 1 for share in shares)
    print(f"{len(shares)} pairs of runs: {whole} compared over all of their time, {partly} over part of it")
    outcomes = Counter(outcome for finding in findings for outcome in finding.outcomes)
    print("outcomes:", ", ".join(f"{kind} {number}" for kind, number in outcomes.most_common()))


if __name__ == "__main__":
    sys.exit(main())
