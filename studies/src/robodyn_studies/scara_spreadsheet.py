"""SCARA study, spreadsheet against native: does a spreadsheet program compute what the engine computes?

Workbooks of tasks b and c, one row a step, are recalculated by LibreOffice and compared with native runs of the same
method and step, cell by cell.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Scenario, Solver
from robodyn.exchange.workbook import write_workbook
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.scara_runs import METHODS, OWN, PAPER, POSITIONS, TASKS, largest_difference, motion

SHEETS = {
    "b": ("b", 2.9),
    "c": ("c, sampled", 2.6),
    "b_printed": ("b, output limited", 2.9),
    "c_printed": ("c, sampled, output limited", 2.6),
    "c_printed_targets": ("c, as printed", 2.6),
}
"""Task -> scenario, and how long it is compared [s]; printed: with the motor of the paper's sheet, whose current is
limited where it is used."""
COMPARED_STEPS = (1e-3, 2e-3)
CHOSEN = "heun_euler"
"""Method whose steps follow from their error, as the paper proposes; its first one is given."""
TOLERANCE = 1e-3
CASES = (
    *((task, method, step) for task in ("b", "c") for method in METHODS for step in COMPARED_STEPS),
    *(("b_printed", "euler", step) for step in COMPARED_STEPS),
    ("c_printed", "euler", COMPARED_STEPS[1]),
    ("c_printed_targets", "euler", COMPARED_STEPS[0]),
    ("b", CHOSEN, COMPARED_STEPS[0]),
)
ROUNDING = 1e-9
"""What counts as the same number [rad or m]."""
MISSING = "LibreOffice, which recalculates the workbooks, is not installed here"


def _scenario(task: str, step: float) -> Scenario:
    """A task whose rows go on when it has arrived."""
    name, duration = SHEETS[task]
    scenario = TASKS[name](step)
    if not isinstance(scenario, Scenario):
        raise TypeError(f"{name} is a sequence of scenarios")
    return replace(scenario, duration=duration, events=())


def _solver(method: str, step: float) -> Solver:
    if method == CHOSEN:
        return Solver(method, step=step, rtol=TOLERANCE, atol=0.01 * TOLERANCE)
    return Solver(method, step=step)


def find_program() -> str | None:
    """Where LibreOffice is installed, if it is."""
    return shutil.which("soffice") or shutil.which("libreoffice")


def recalculate(books: Sequence[Path], folder: Path) -> None:
    """Write the workbooks anew with the values that LibreOffice computes, into a folder."""
    program = find_program()
    if program is None:
        raise FileNotFoundError(MISSING)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [program, "--headless", profile, "--convert-to", "xlsx", "--outdir", str(folder), *map(str, books)]
    subprocess.run(command, capture_output=True, check=True)


@cache
def spreadsheet_runs() -> dict[tuple[str, str, float], tuple[Run, Run]]:
    """Task, method and step -> the native run and the spreadsheet's, positions only."""
    with tempfile.TemporaryDirectory() as name:
        books = {case: Path(name, f"{case[0]}-{case[1]}-{case[2]:g}.xlsx") for case in CASES}
        for (task, method, step), path in books.items():
            write_workbook(_scenario(task, step), path, _solver(method, step))
        done = Path(name, "done")
        recalculate(list(books.values()), done)
        return {case: _both(case, done / path.name) for case, path in books.items()}


def _both(case: tuple[str, str, float], path: Path) -> tuple[Run, Run]:
    import openpyxl

    task, method, step = case
    native = simulate(_scenario(task, step), _solver(method, step))
    sheet = openpyxl.load_workbook(path, data_only=True, read_only=True)["run"]
    _, names, _, *rows = sheet.iter_rows(values_only=True)
    table = np.array([[row[names.index(name)] for name in ("t", *POSITIONS)] for row in rows], float)
    # A row whose step is tried again in the next one, shorter, has the same time.
    table = table[np.diff(table[:, 0], prepend=-1.0) > 0]
    infos = tuple(replace(native.infos[native.names.index(name)], rate=None) for name in POSITIONS)
    return native, replace(native, time=table[:, 0], values=table[:, 1:], infos=infos, knots=None, probes=None)


def spreadsheet_figures() -> Iterator[PublishedValue]:
    """Largest difference of any joint, for each task, method and step."""
    try:
        runs = spreadsheet_runs()
    except FileNotFoundError:
        yield PublishedValue("spreadsheet_against_native", None, None, "rad", None, MISSING, PAPER, Kind.RESULT)
        return
    yield from _chosen_figures(runs["b", CHOSEN, COMPARED_STEPS[0]][1])
    for (task, method, step), (native, sheet) in runs.items():
        if method == CHOSEN:
            continue
        apart = max(float(np.abs(sheet[name].values - native[name](sheet.time)).max()) for name in POSITIONS)
        name = f"{task}_spreadsheet_against_native_{method}_{step:g}"
        if task.endswith("printed") and step > 1e-3:
            reason = (
                "beyond the critical step rounding alone parts a spreadsheet and us by so much, with the motor of the "
                "printed sheet: it can, as the paper suspects. The paper compares with another motor too, MATLAB's"
            )
            yield above(name, apart, 1e-3, "rad", reason, f"{PAPER}, figures 4 and 6")
        elif step < 2e-3:
            reason = "the same steps in the same precision: the paper's coincide to the eye"
            yield below(name, apart, ROUNDING, "rad", reason, f"{PAPER}, figures 3 and 5", Kind.RESULT)
        else:
            reason = (
                "the paper's EXCEL and MATLAB differ significantly at 2 ms, and it suspects rounding. The equations of "
                "its text, currents limited where they are integrated, agree to 1e-5 in a spreadsheet and here"
            )
            yield PublishedValue(name, None, apart, "rad", None, reason, OWN, Kind.CHECK)


def _chosen_figures(sheet: Run) -> Iterator[PublishedValue]:
    """Steps chosen by the difference of Euler's and Heun's, in a spreadsheet."""
    where = f"{PAPER}, section 4.3"
    best = motion("b")
    error = largest_difference(sheet, best)
    reason = (
        "Euler's and Heun's step as a pair that controls its own length, as the paper proposes, in a spreadsheet: the "
        "converged motion to the eye, half a percent of 2 rad"
    )
    yield below("b_chosen_steps_spreadsheet", error, 0.01, "rad", reason, where, Kind.RESULT)
    rows = float(np.count_nonzero(sheet.time < best.time[-1]))
    reason = (
        "rows to the end at a tolerance of 1e-3, as many as steps of 1 ms take. The paper hopes for fewer: beyond "
        "1.03 ms both methods break, so that the error keeps the steps there"
    )
    yield PublishedValue("b_chosen_steps_rows", None, rows, "rows", None, reason, where)
