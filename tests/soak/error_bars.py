"""Do the error bars of `--certify` hold? Random machines, certified, beside a solution that is far more accurate.

    python tests/soak/error_bars.py --count 1000        coverage and width, as in docs/certificate.md

For each state of a machine whose motion can be predicted: its error bar, and the largest difference from a solution
with tolerances a hundred thousand times tighter. A bar covers where the difference is no larger, rounding aside.
"""

import argparse
import sys
import time

import numpy as np
from support.random_machines import random_scenario

from robodyn import ModelError, Recording, Solver, assemble, simulate

BUDGET = {"max_steps": 200_000, "max_wall_time": 60.0}
EXACT = Solver("dopri5", rtol=1e-11, atol=1e-12, **BUDGET)
SAMPLES = 40
LEAST_COVERED, WIDEST = 0.98, 2.0
"""Part of the bars that must cover, and how many times as wide as the true error their median may be."""
ROUNDING = 1e-11
"""Part of a state's size that no solution knows."""


def judge(seed: int, largest: int) -> list[tuple[str, float, float]]:
    """Of each state its name, error bar and true error, as parts of its size; nothing where there is no prediction."""
    scenario = random_scenario(seed, largest)
    recording = Recording(times=tuple((np.arange(SAMPLES) + 0.377) / SAMPLES * scenario.duration))
    try:
        system = assemble(scenario)
        run = simulate(system, Solver("auto", **BUDGET), recording=recording, certify=True)
        truth = simulate(system, EXACT, recording=recording)
    except ModelError:
        return []
    predicted = run.errors is not None and run.errors.agree and run.errors.lost is None
    if not (predicted and run.outcome.ok and truth.outcome.ok and len(run.time) == len(truth.time)):
        return []
    found = []
    for state in system.states:
        if not np.isfinite(state.nominal) or state.name not in run:
            continue
        values = truth[state.name].values
        size = max(float(np.max(np.abs(values), initial=0.0)), 0.1 * state.nominal)
        error = float(np.max(np.abs(run[state.name].values - values), initial=0.0))
        found.append((state.name, run.errors[state.name].error / size, error / size))
    return found


def main() -> int:
    """1 where too few bars cover or half of them are too wide, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="how many machines")
    parser.add_argument("--first", type=int, default=0, help="seed of the first; the others follow")
    parser.add_argument("--seconds", type=float, default=7200.0, help="after which no other machine is begun")
    parser.add_argument("--largest", type=int, default=3, help="most bodies of a machine")
    wanted = parser.parse_args()
    bars, errors, machines = [], [], 0
    end = time.monotonic() + wanted.seconds
    tried = 0
    for seed in range(wanted.first, wanted.first + wanted.count):
        if time.monotonic() > end:
            break
        tried += 1
        found = judge(seed, wanted.largest)
        machines += bool(found)
        for name, bar, error in found:
            bars.append(bar)
            errors.append(error)
            if error > 2 * bar + ROUNDING:
                print(f"seed {seed}: {name} is off by {error:.2g} of its size, its bar is {bar:.2g}", flush=True)
    bar, error = np.array(bars), np.array(errors)
    covered = float(np.mean(error <= bar + ROUNDING))
    print(f"{tried} machines, {machines} with a motion that can be predicted, {len(bar)} error bars")
    print(f"{100 * covered:.2f} % cover")
    seen = error > ROUNDING
    widths = np.percentile(bar[seen] / error[seen], [5, 50, 95])
    print(f"width, bar by true error: median {widths[1]:.3g}, 5 to 95 %: {widths[0]:.3g} to {widths[2]:.3g}")
    return int(covered < LEAST_COVERED or widths[1] > WIDEST)


if __name__ == "__main__":
    sys.exit(main())
