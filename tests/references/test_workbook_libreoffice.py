"""Workbooks recalculated by LibreOffice give the numbers of the native run.

Tolerance: both compute the same steps in double precision, but LibreOffice rounds where machine code fuses, and takes
numbers for equal that differ by less than about 3e-15 of their size. Over these runs that grows to some 1e-11.
"""

import shutil
import subprocess
from dataclasses import replace

import casadi as ca
import numpy as np
import openpyxl
import pytest

from robodyn import Block, Event, Solver, assemble, simulate
from robodyn.catalog import pendulum, scara_avoid_sampled, scara_ptp
from robodyn.native import compile_kernels
from robodyn.native.formulas import SPREADSHEET, Term, as_number, compose, write_number
from robodyn.native.program import BINARY, UNARY
from robodyn.workbook import write_workbook

TOLERANCE = 1e-9
SOFFICE = shutil.which("soffice") or shutil.which("libreoffice")
pytestmark = pytest.mark.skipif(
    SOFFICE is None,
    reason="LIBREOFFICE IS MISSING, NO WORKBOOK IS RECALCULATED: run `make system-packages` as root, "
    "or apt-get install libreoffice-calc-nogui",
)


@pytest.fixture
def recalculate(tmp_path):
    """Callable file -> workbook of values as LibreOffice computes them."""

    def run(path):
        profile = f"-env:UserInstallation=file://{tmp_path}/profile"
        command = [SOFFICE, "--headless", profile, "--convert-to", "xlsx", "--outdir", tmp_path / "done", path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (tmp_path / "done" / path.name).exists(), done.stdout + done.stderr
        return openpyxl.load_workbook(tmp_path / "done" / path.name, data_only=True, read_only=True)

    return run


def read_run(book):
    """Column name -> values."""
    _, names, _, *rows = book["run"].iter_rows(values_only=True)
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def assert_same_numbers(table, run, step):
    """Every recorded signal equals its column, to the tolerance of its size (at least 1)."""
    times = np.array(table["t"], float)
    # The last sample at each row's time: the right limit where a sampled block has just run.
    at = np.searchsorted(run.time, times + step / 2) - 1
    assert np.allclose(run.time[at], times, rtol=0, atol=1e-9 * step + 1e-12)
    for name in run.names:
        expected = run[name].values[at]
        error = np.abs(np.array(table[name], float) - expected) / np.maximum(1.0, np.abs(expected))
        assert error.max() <= TOLERANCE, f"{name}: off by {error.max():.2e} in row {error.argmax()}"


def check(scenario, solver, rows, recalculate, tmp_path):
    path = tmp_path / "workbook.xlsx"
    write_workbook(scenario, path, solver, rows=rows)
    table = read_run(recalculate(path))
    assert len(table["t"]) == rows
    run = simulate(replace(scenario, duration=(rows - 1) * solver.step), solver)
    assert_same_numbers(table, run, solver.step)
    return table, run


@pytest.mark.parametrize("method", ["euler", "heun"])
@pytest.mark.parametrize(("make", "step"), [(pendulum, 0.01), (scara_ptp, 1e-3)], ids=["pendulum", "scara-ptp"])
def test_300_rows_are_the_native_run(make, step, method, recalculate, tmp_path):
    check(make(), Solver(method, step=step), 300, recalculate, tmp_path)


@pytest.mark.parametrize("method", ["euler", "heun"])
def test_collision_avoidance_by_samples_is_the_native_run(method, recalculate, tmp_path):
    step = 1e-3
    scenario = scara_avoid_sampled(step=step)
    # Long enough for the arm to stop before the obstacle and to go on above it.
    rows = round(1.45 / step)
    table, _ = check(scenario, Solver(method, step=step), rows, recalculate, tmp_path)
    assert np.count_nonzero(np.diff(np.array(table["steering.mode"], float))) == 2


def test_changed_cells_are_a_changed_run(recalculate, tmp_path):
    path = tmp_path / "workbook.xlsx"
    write_workbook(pendulum(), path, Solver("heun", step=0.01), rows=60)
    book = openpyxl.load_workbook(path)
    for name, value in {"h": 0.02, "gravity_z": -3.7, "bob_mass": 2.5, "start_hinge_position": 0.5}.items():
        cell = book.defined_names[name].attr_text.split("!")[1].replace("$", "")
        book["parameters"][cell].value = value
    book.save(path)
    changed = {"gravity.z": -3.7, "bob.mass": 2.5, "initial.hinge.position": 0.5, "duration": 59 * 0.02}
    run = simulate(pendulum().with_numbers(changed), Solver("heun", step=0.02))
    assert_same_numbers(read_run(recalculate(path)), run, 0.02)


def hold_position(position, last):
    """Remembers the last two samples."""
    return {"last_next": position, "velocity": position - last, "sampled": position}


def push(velocity, sampled, *, gain):
    return {"command": -gain * sampled - 3.0 * velocity}


def test_sampled_blocks_with_offset_and_delay_run_at_their_rows(recalculate, tmp_path):
    inputs = {"velocity": "meter.velocity", "sampled": "meter.sampled"}
    blocks = (
        Block("meter", hold_position, "hinge", memory={"last": 0.1}, period=0.004, offset=0.002),
        Block("control", push, inputs=inputs, parameters={"gain": 4.0}, period=0.006, delay=0.008),
        Block("motor", lambda command: {"torque": command}, "hinge", {"command": "control.command"}),
    )
    scenario = pendulum()
    scenario = replace(scenario, machine=replace(scenario.machine, blocks=blocks))
    for method in ("euler", "heun"):
        check(scenario, Solver(method, step=0.002), 60, recalculate, tmp_path)


def test_references_that_jump_and_tables_are_those_of_the_native_run(recalculate, tmp_path):
    path = {"times": (0.0, 0.1, 0.25, 0.4), "points": (0.0, 1.0, -0.5, 0.2)}
    gains = {"proportional": 30.0, "derivative": 3.0}
    blocks = (
        Block("goal", "step_reference", parameters={"before": 0.2, "after": 1.0, "at": 0.07}, unit="rad"),
        Block("path", "spline_reference", parameters=path, unit="rad"),
        Block("sum", lambda a, b: {"target": a + b}, inputs={"a": "goal.value", "b": "path.position"}),
        Block("control", "pd_control", "hinge", {"target": "sum.target"}, gains, unit="rad"),
        Block("motor", lambda command: {"torque": command}, "hinge", {"command": "control.command"}),
    )
    scenario = pendulum()
    scenario = replace(scenario, machine=replace(scenario.machine, blocks=blocks))
    check(scenario, Solver("heun", step=0.01), 60, recalculate, tmp_path)


def test_events_are_marked_in_the_first_row_behind_them(recalculate, tmp_path):
    bottom = Event("bottom", lambda position: position, {"position": "hinge.position"})
    turned = Event(
        "turned", lambda velocity: velocity, {"velocity": "hinge.velocity"}, direction="rising", terminal=True
    )
    scenario = replace(pendulum(), events=(bottom, turned))
    path, solver = tmp_path / "workbook.xlsx", Solver("euler", step=0.01)
    write_workbook(scenario, path, solver, rows=400)
    table = read_run(recalculate(path))
    run = simulate(scenario, solver)
    marked = {name: [k for k, said in enumerate(table[f"event {name}"]) if said] for name in ("bottom", "turned")}
    assert [event.name for event in run.events] == ["bottom", "turned"]
    for event in run.events:
        assert marked[event.name][0] == int(np.ceil(event.time / 0.01))
    assert table["event turned"][marked["turned"][0]] == "end"
    # The rows go on after the end.
    assert len(marked["bottom"]) > 1


SAMPLES = (-2.5, -1.0, -0.3, 0.0, 1e-9, 0.4, 1.0, 3.0)
DOMAINS = {
    "sqrt": lambda x: x >= 0,
    "log": lambda x: x > 0,
    "log1p": lambda x: x > -1,
    "asin": lambda x: abs(x) <= 1,
    "acos": lambda x: abs(x) <= 1,
    "acosh": lambda x: x >= 1,
    "atanh": lambda x: abs(x) < 1,
    "inv": lambda x: x != 0,
    "div": lambda x, y: y != 0,
    # A remainder of a quotient of a billion is a matter of rounding.
    "fmod": lambda x, y: abs(y) > 1e-6,
    "pow": lambda x, y: x > 0,
}
OPERATIONS = [op for op in (*UNARY, *BINARY) if op in SPREADSHEET.forms]


def arguments_of(op):
    allowed = DOMAINS.get(op, lambda *_: True)
    if op in UNARY:
        return [(x,) for x in SAMPLES if allowed(x)]
    return [(x, y) for x in SAMPLES for y in SAMPLES if allowed(x, y)]


def native_value(op, values):
    symbols = [ca.SX.sym(f"x{k}") for k in range(len(values[0]))]
    make = ca.SX.unary if len(symbols) == 1 else ca.SX.binary
    function = ca.Function("f", symbols, [make(getattr(ca, "OP_" + op.upper()), *symbols)])
    kernel = compile_kernels({"f": function}).kernels["f"]
    return [float(kernel(*numbers)[0]) for numbers in values]


def test_every_operation_means_the_same_in_a_cell(recalculate, tmp_path):
    book = openpyxl.Workbook()
    cases = [(op, numbers) for op in OPERATIONS for numbers in arguments_of(op)]
    for op, numbers in cases:
        term = compose(SPREADSHEET, (op,), [write_number(number) for number in numbers])
        book.active.append([f"={as_number(SPREADSHEET, term).text}"])
    book.save(tmp_path / "operations.xlsx")
    computed = [row[0] for row in recalculate(tmp_path / "operations.xlsx").active.iter_rows(values_only=True)]
    expected = [value for op in OPERATIONS for value in native_value(op, arguments_of(op))]
    for (op, numbers), ours, theirs in zip(cases, computed, expected, strict=True):
        # Relative: results near 0 of log1p and expm1 keep their digits too; a remainder has the error of its dividend.
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-15 if op == "fmod" else 1e-30), f"{op}{numbers}"


def test_tables_are_looked_up_like_the_native_ones(recalculate, tmp_path):
    knots = (-1.0, 0.0, 0.5, 2.0)
    book = openpyxl.Workbook()
    for k, knot in enumerate(knots, start=1):
        book.active[f"A{k}"] = knot
    points = (-5.0, -1.0, -0.2, 0.0, 0.49, 0.5, 1.9, 2.0, 7.0)
    for k, x in enumerate(points, start=1):
        index = compose(SPREADSHEET, ("locate", 0, 0), [Term(repr(x))], "$A$1:$A$4")
        value = compose(SPREADSHEET, ("gather", 0, 0), [index], "$A$1:$A$4")
        book.active[f"B{k}"], book.active[f"C{k}"] = f"={index.text}", f"={value.text}"
    book.save(tmp_path / "tables.xlsx")
    rows = list(recalculate(tmp_path / "tables.xlsx").active.iter_rows(values_only=True))
    for x, (_, index, value) in zip(points, rows, strict=True):
        assert index == max(0, sum(knot <= x for knot in knots) - 1)
        assert value == knots[index]


def test_assembled_systems_are_taken_too(tmp_path):
    plan = write_workbook(assemble(pendulum()), tmp_path / "p.xlsx", Solver("euler", step=0.1), rows=3)
    assert plan.n_formulas == 3 * len(plan.columns.columns)
