"""Do all robots at hand have the dynamics that Pinocchio and MuJoCo find, and do they leave as they came?

    python tests/soak/robots.py                     those of example-robot-data
    python tests/soak/robots.py FILE.xml ...        MJCF and URDF files of any origin
    python tests/soak/robots.py --back [FILE ...]   each written in its own format and read back, SDF too

Mass matrix, bias, gravity and Jacobians at 100 random states, limits; of MJCF a swing of one second, without losses.
Written and read back: mass matrix and bias; what is written as MJCF also against MuJoCo.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from support.mujoco_robots import MujocoPair
from support.pinocchio_robots import PinocchioPair
from support.robot_files import example_robots

import robodyn as rd
from robodyn import ModelError
from robodyn.analysis.mechanics.machine_dynamics import compare_mechanics
from robodyn.base.untrusted import Unreadable

NEAR, SWING, SAME = 1e-9, 1e-6, 1e-12
FORMATS = {".urdf": "urdf", ".sdf": "sdf", ".xml": "mjcf"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--search", type=Path, action="append", default=[])
    parser.add_argument("--back", action="store_true")
    wanted = parser.parse_args()
    files = wanted.files or example_robots(*(FORMATS if wanted.back else (".urdf",)))
    attempt = try_back if wanted.back else try_one
    failed = [path for path in files if not attempt(path, wanted)]
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


def try_back(path, wanted):
    """Whether a robot that is written and read back is the same; what a format cannot hold is told."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / path.name
        try:
            robot = rd.import_robot(path, keep_massless=True, search=wanted.search)
            out.write_text(rd.export_robot(robot.scenario(), out, FORMATS[path.suffix]).text, encoding="utf-8")
            again = rd.read_robot(out, keep_massless=True, search=[Path(out.anchor)])
            apart = compare_mechanics(robot.machine, again)
            there = 0.0
            if path.suffix == ".xml":
                pair, rng = MujocoPair(out, [Path(out.anchor)]), np.random.default_rng(1)
                there = max(max(pair.compare(rng)[:2]) for _ in range(3))
        except (ModelError, Unreadable) as error:
            print(f"{path.name}: {str(error).splitlines()[-1].strip()[:150]}", flush=True)
            return True
    print(
        f"{path.parent.name}/{path.name}: back {apart:.1e}, there {there:.1e}, {time.monotonic() - begin:.1f} s",
        flush=True,
    )
    return apart <= SAME and there <= NEAR


if __name__ == "__main__":
    main()
