"""Do all robots at hand have the dynamics that Pinocchio and MuJoCo find?

    python tests/soak/robots.py                     those of example-robot-data
    python tests/soak/robots.py FILE.xml ...        MJCF and URDF files of any origin

Mass matrix, bias, gravity and Jacobians at 100 random states, limits; of MJCF a swing of one second, without losses.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from support.mujoco_robots import MujocoPair
from support.pinocchio_robots import PinocchioPair
from support.robot_files import example_robots

from robodyn import ModelError
from robodyn.base.untrusted import Unreadable

NEAR, SWING = 1e-9, 1e-6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--search", type=Path, action="append", default=[])
    wanted = parser.parse_args()
    failed = [path for path in wanted.files or example_robots(".urdf") if not try_one(path, wanted)]
    print(f"{len(failed)} differ" + "".join(f"\n  {path}" for path in failed))
    raise SystemExit(bool(failed))


def try_one(path, wanted):
    """Whether a robot is as its referee says; one that cannot be read is told."""
    begin = time.monotonic()
    try:
        pair = MujocoPair(path, wanted.search) if path.suffix == ".xml" else PinocchioPair(path)
    except (ModelError, Unreadable) as error:
        print(f"{path.name}: {str(error).splitlines()[-1].strip()[:150]}", flush=True)
        return True
    rng = np.random.default_rng(1)
    worst = np.max([pair.compare(rng) for _ in range(wanted.states)], axis=0)
    wrong = pair.wrong_limits()
    swing = pair.compare_swing() if path.suffix == ".xml" else 0.0
    shown = " ".join(f"{value:.1e}" for value in worst)
    what = f"{len(pair.dynamics.velocities)} degrees of freedom, {shown}, limits {wrong or 'alike'}, swing {swing:.1e}"
    print(f"{path.parent.name}/{path.name}: {what}, {time.monotonic() - begin:.1f} s", flush=True)
    return worst.max() <= NEAR and not wrong and swing <= SWING


if __name__ == "__main__":
    main()
