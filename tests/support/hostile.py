"""Every reader of files with good files to spoil: what reads it, how it is edited, by what it may refuse."""

import io
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from support.guarded import run_all_guarded, run_guarded
from support.mutants import edit_archive, edit_bytes, edit_csv, edit_json, edit_toml, edit_xml, make_mutant, pack

from robodyn import ModelError, Solver
from robodyn.computation.results import RunFileError

ROOT = Path(__file__).parents[2]
LINK = """
duration = 0.1
[bodies.link.modal]
file = "{file}"
{own}
[joints.hinge]
kind = "revolute"
parent = "ground"
child = "link"
axis = [0, 1, 0]
"""
MODAL = {
    "mass": [0.4, 0.4], "position": [[0.3, 0, 0], [0.6, 0, 0]], "shift": [[[0, 0, 0.3]], [[0, 0, 1]]],
    "stiffness": [900], "nodes": {"tip": {"position": [0.6, 0, 0], "shift": [[0, 0, 1]], "turn": [[0, -2.4, 0]]}},
}  # fmt: skip
TABLE = "name,mass,x,y,z,mode1.x,mode1.y,mode1.z\n,0.4,0.3,0,0,0,0,0.3\ntip,0.4,0.6,0,0,0,0,1\n"
MOST_CONSTRAINTS = 30
MEASURED = "time [s],hinge.position [deg],hinge.velocity\n0,0,0\n0.1,1.5,0.2\n0.2,,nan\n0.3,4,0.1\n"


@dataclass(frozen=True)
class Reader:
    """What reads files of a kind: `read(path)` refuses with one of `allowed`."""

    ending: str
    read: Callable[[Path], Any]
    edit: Callable[[bytes, Any], bytes]
    good: Callable[[], list[bytes]]
    allowed: tuple[type[Exception], ...] = (ModelError,)


def try_mutant(kind, number, seeds, folder):
    """What becomes of one mutant of a good file, and the mutant."""
    data, work = _spoil(kind, number, seeds, folder)
    return *run_guarded(work, READERS[kind].allowed), data


def try_mutants(kind, all_seeds, folder):
    """What becomes of mutants of the good files in turn."""
    works = [_spoil(kind, number, seeds, folder)[1] for number, seeds in enumerate(all_seeds)]
    return run_all_guarded(works, READERS[kind].allowed)


def _spoil(kind, number, seeds, folder):
    """A mutant of a good file, written, and what reads it."""
    reader = READERS[kind]
    files = good_files(kind)
    data = make_mutant(files[number % len(files)], reader.edit, seeds)
    path = folder / f"mutant{number}{reader.ending}"
    path.write_bytes(data)
    return data, lambda: reader.read(path)


@cache
def good_files(kind):
    """The good files of a kind; one is read here, so that processes made later have loaded what reads it."""
    reader = READERS[kind]
    files = reader.good()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"good{reader.ending}"
        path.write_bytes(files[0])
        reader.read(path)
    return files


def read_and_run(path):
    """A scenario as the command line takes it: read, assembled, checked, and run for a moment."""
    from dataclasses import replace

    from robodyn.analysis.checked_run import find_loop_warnings
    from robodyn.computation.assembly import assemble
    from robodyn.computation.simulation import simulate

    scenario = read_from_file(path)
    find_loop_warnings([assemble(scenario)])
    run = simulate(scenario, replace(scenario.solver, max_wall_time=1.0))
    values = run.values[np.isfinite(run.time)]
    if run.outcome.ok and not np.isfinite(values).all():
        raise ArithmeticError(f"signals are not finite after a run that {run.outcome.sentence}")


def read_from_file(path):
    from robodyn.description.files import read_scenario

    return read_scenario(path)


def _scenarios():
    texts = [path.read_text() for path in sorted((ROOT / "examples").glob("*.toml"))]
    for page in sorted((ROOT / "docs").glob("*.md")):
        texts += re.findall(r"^```toml file=.*?\n(.*?)^```", page.read_text(), re.S | re.M)
    # Those of a co-simulation are read by another reader.
    return [text.encode() for text in texts if "duration" in text and "[units" not in text and "[parts" not in text]


def read_modal(path):
    scenario = path.with_suffix(".toml")
    own = "stiffness = [900]" if path.suffix == ".csv" else ""
    scenario.write_text(LINK.format(file=path.name, own=own))
    read_from_file(scenario)


def _modal_arrays():
    arrays = {key: np.array(value, float) for key, value in MODAL.items() if key != "nodes"}
    arrays |= {f"nodes.tip.{key}": np.array(value, float) for key, value in MODAL["nodes"]["tip"].items()}
    return [pack({f"{name}.npy": _array_bytes(array) for name, array in arrays.items()})]


def _array_bytes(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _saved(save, value):
    with tempfile.TemporaryDirectory() as folder:
        return [save(value, Path(folder) / "file").read_bytes()]


def _runs():
    from robodyn.computation.results import save
    from robodyn.computation.simulation import simulate
    from robodyn.description.catalog import find_scenario

    return _saved(save, simulate(find_scenario("pendulum")))


def read_run(path):
    from robodyn.computation.results import load

    load(path).summary()


def _nominals():
    from robodyn.computation.assembly import assemble
    from robodyn.computation.perturbation import compute_nominal, save_nominal
    from robodyn.description.catalog import find_scenario

    return _saved(save_nominal, compute_nominal(assemble(find_scenario("two-link-loop")), 8))


def read_nominal(path):
    from robodyn.computation.perturbation import load_nominal

    load_nominal(path)


def read_measurement(path):
    from robodyn.analysis.measurement.measured import read_measured

    read_measured(path)


def _arrays():
    file = io.BytesIO()
    np.savez(file, time=np.arange(3.0), q=np.ones((3, 2)))
    return [file.getvalue()]


def _columns():
    import pyarrow
    import pyarrow.parquet

    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"time": [0.0, 1.0, 2.0], "height [mm]": [1.0, 2.0, 4.0]}), file)
    return [file.getvalue()]


def read_column(path):
    from robodyn.description.files import read_reference

    read_reference(path, "height", "cubic")(0.5)


def _units():
    units = Path(__file__).parent / "units"
    places = ("binaries/linux64", "binaries/x86_64-linux")
    found = []
    for description in sorted(units.glob("*.xml")):
        binaries = {f"{place}/{description.stem}.so": b"no program" for place in places}
        found.append(pack({"modelDescription.xml": description.read_bytes(), **binaries}))
    return found


def read_unit(path):
    """All of a unit but its program."""
    from robodyn.exchange.fmi.archive import Archive
    from robodyn.exchange.fmi.simulation import plan_experiment
    from robodyn.exchange.fmi.unit_variables import find_bad_starts, find_ignored, list_signals, read_variables

    archive = Archive(path)
    variables = read_variables(archive.description, archive.root, {})
    list_signals(variables, "unit")
    list(find_bad_starts(variables))
    list(find_ignored(archive.description))
    plan_experiment(path, None, None)


def _robots(*names):
    files = [(ROOT / "tests/support/robots" / name).read_text() for name in names]
    # What a file includes stands in its place: a mutant is alone in its folder.
    inner = (ROOT / "tests/support/robots/arm_defaults.xml").read_text()
    inner = inner.replace("<mujocoinclude>", "").replace("</mujocoinclude>", "")
    return [file.replace('<include file="arm_defaults.xml"/>', inner).encode() for file in files]


def read_robot(path):
    """A robot file as the command line takes it: read, accounted for, and run for a moment."""
    from dataclasses import replace

    from robodyn.computation.simulation import simulate
    from robodyn.description.robots import import_robot

    robot = import_robot(path)
    robot.sheet.text()
    # Assembling takes minutes where a line of a constraint stands there hundreds of times.
    if robot.machine.mechanism.freedoms and len(robot.machine.constraints) < MOST_CONSTRAINTS:
        simulate(replace(robot.scenario(0.01), solver=Solver(max_wall_time=1.0)))


READERS = {
    "scenario": Reader(".toml", read_and_run, edit_toml, _scenarios),
    "modal-json": Reader(".json", read_modal, edit_json, lambda: [json.dumps(MODAL).encode()]),
    "modal-npz": Reader(".npz", read_modal, edit_archive, _modal_arrays),
    "modal-csv": Reader(".csv", read_modal, edit_csv, lambda: [TABLE.encode()]),
    "run": Reader(".run", read_run, edit_archive, _runs, (RunFileError,)),
    "nominal": Reader(".npz", read_nominal, edit_archive, _nominals),
    "measured": Reader(".csv", read_measurement, edit_csv, lambda: [MEASURED.encode()]),
    "arrays": Reader(".npz", read_measurement, edit_archive, _arrays),
    "reference": Reader(".parquet", read_column, edit_bytes, _columns),
    "unit": Reader(".fmu", read_unit, edit_archive, _units),
    "urdf": Reader(".urdf", read_robot, edit_xml, lambda: _robots("arm.urdf", "floating.urdf")),
    "sdf": Reader(".sdf", read_robot, edit_xml, lambda: _robots("crane.sdf")),
    "mjcf": Reader(".xml", read_robot, edit_xml, lambda: _robots("arm.xml")),
}
