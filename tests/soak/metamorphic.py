"""Do random machines do the same where they are described or run in another way?

make soak                                                    500 machines, each in all ways
python tests/soak/metamorphic.py --first 7 --count 1 --relation scale      one of them again
"""

import argparse
import sys
import time
import traceback
from collections import Counter

from support.metamorphic import RELATIONS, NotComparable, compare_twin
from support.random_machines import random_scenario


def main() -> int:
    """1 where any twin differs, else 0."""
    wanted = read_arguments()
    compared: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    failed, end = 0, time.monotonic() + wanted.seconds
    for seed in range(wanted.first, wanted.first + wanted.count):
        if time.monotonic() > end:
            break
        scenario = random_scenario(seed, wanted.largest)
        for relation in wanted.relation or RELATIONS:
            try:
                difference = compare_twin(scenario, relation)
            except NotComparable:
                left_out[relation] += 1
                continue
            except Exception:  # noqa: BLE001 - whatever it is, it is what this program looks for
                difference = traceback.format_exc()
            compared[relation] += 1
            if difference:
                failed += 1
                print(f"seed {seed}, {relation}: {difference}", flush=True)
    for relation in wanted.relation or RELATIONS:
        print(f"{relation:8} {compared[relation]} compared, {left_out[relation]} not comparable")
    print(f"{failed} twins differ")
    return int(failed > 0)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="how many machines")
    parser.add_argument("--first", type=int, default=0, help="seed of the first; the others follow")
    parser.add_argument("--seconds", type=float, default=7200.0, help="after which no other machine is begun")
    parser.add_argument("--largest", type=int, default=3, help="most bodies of a machine")
    parser.add_argument("--relation", action="append", choices=RELATIONS, help="only this one")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
