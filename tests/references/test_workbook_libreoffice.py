"""Workbooks recalculated by LibreOffice give the numbers of the native run.

Tolerance: both compute the same steps in double precision, but LibreOffice rounds where machine code fuses, and takes
numbers for equal that differ by less than about 3e-15 of their size. Over these runs that grows to some 1e-11.
"""

import shutil
import subprocess
from dataclasses import replace
from functools import partial

import casadi as ca
import numpy as np
import openpyxl
import pytest

from robodyn import Block, Event, Solver, assemble, simulate
from robodyn.computation.native import compile_kernels
from robodyn.computation.native.formulas import SPREADSHEET, WrittenTerm, as_number, compose, write_number
from robodyn.computation.native.program import BINARY, UNARY
from robodyn.description.catalog import pendulum, scara_ptp
from robodyn.exchange.workbook import write_workbook
from robodyn_studies.catalog.scara_avoid import scara_avoid_sampled

TOLERANCE = 1e-9
SOFFICE = shutil.which("soffice") or shutil.which("libreoffice")
pytestmark = pytest.mark.skipif(
    SOFFICE is None,
    reason="LIBREOFFICE IS MISSING, NO WORKBOOK IS RECALCULATED: run `make system-packages` as root, "
    "or apt-get install libreoffice-calc-nogui",
)


def read_run(book):
    """Column name -> values."""
    _, names, _, *rows = book["run"].iter_rows(values_only=True)
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def assert_same_numbers(table, run, step):
    """Every recorded signal equals its column, to the tolerance of its size (at least 1); the largest error."""
    times = np.array(table["t"], float)
    # The last sample at each row's time: the right limit where a sampled block has just run.
    at = np.searchsorted(run.time, times + 1e-3 * step) - 1
    assert np.allclose(run.time[at], times, rtol=0, atol=1e-9 * step + 1e-12)
    largest = 0.0
    for name in run.names:
        expected = run[name].values[at]
        error = np.abs(np.array(table[name], float) - expected) / np.maximum(1.0, np.abs(expected))
        assert error.max() <= TOLERANCE, f"{name}: off by {error.max():.2e} in row {error.argmax()}"
        largest = max(largest, float(error.max()))
    return largest


def hold_position(position, last):
    """Remembers the last two samples."""
    return {"last_next": position, "velocity": position - last, "sampled": position}


def push(velocity, sampled, *, gain):
    return {"command": -gain * sampled - 3.0 * velocity}


def with_blocks(*blocks):
    return replace(pendulum(), machine=replace(pendulum().machine, blocks=blocks))


def sampled_blocks():
    """Blocks with an offset and a delay."""
    inputs = {"velocity": "meter.velocity", "sampled": "meter.sampled"}
    return with_blocks(
        Block("meter", hold_position, "hinge", memory={"last": 0.1}, period=0.004, offset=0.002),
        Block("control", push, inputs=inputs, parameters={"gain": 4.0}, period=0.006, delay=0.008),
        Block("motor", lambda command: {"torque": command}, "hinge", {"command": "control.command"}),
    )


def references():
    """One that jumps, and one by a table."""
    path = {"times": (0.0, 0.1, 0.25, 0.4), "points": (0.0, 1.0, -0.5, 0.2)}
    gains = {"proportional": 30.0, "derivative": 3.0}
    return with_blocks(
        Block("goal", "step_reference", parameters={"before": 0.2, "after": 1.0, "at": 0.07}, unit="rad"),
        Block("path", "spline_reference", parameters=path, unit="rad"),
        Block("sum", lambda a, b: {"target": a + b}, inputs={"a": "goal.value", "b": "path.position"}),
        Block("control", "pd_control", "hinge", {"target": "sum.target"}, gains, unit="rad"),
        Block("motor", lambda command: {"torque": command}, "hinge", {"command": "control.command"}),
    )


def bending_between_rows(duration=10.0):
    """A trapezoid that bends between rows, and a spline that does so twice within one step."""
    path = {"target": 1.0, "speed": 2.0, "top_acceleration": 12.0, "begin": 0.0343}
    other = {"times": (0.0, 0.1412, 0.1461, 0.31), "points": (0.0, 0.3, -0.1, 0.2)}
    gains = {"proportional": 30.0, "derivative": 3.0}
    inputs = {"a": "path.position", "b": "other.position"}
    scenario = with_blocks(
        Block("path", "trapezoid_reference", parameters=path, unit="rad"),
        Block("other", "spline_reference", parameters=other, unit="rad"),
        Block("sum", lambda a, b: {"target": a + b}, inputs=inputs),
        Block("control", "pd_control", "hinge", {"target": "sum.target"}, gains, unit="rad"),
        Block("motor", lambda command: {"torque": command}, "hinge", {"command": "control.command"}),
    )
    return replace(scenario, duration=duration)


def with_events():
    bottom = Event("bottom", lambda position: position, {"position": "hinge.position"})
    turned = Event(
        "turned", lambda velocity: velocity, {"velocity": "hinge.velocity"}, direction="rising", terminal=True
    )
    return replace(pendulum(), events=(bottom, turned))


# Name -> scenario, method, step [s], rows.
NATIVE = {
    "pendulum-euler": (pendulum, "euler", 0.01, 300),
    "pendulum-heun": (pendulum, "heun", 0.01, 300),
    "scara-euler": (scara_ptp, "euler", 1e-3, 300),
    "scara-heun": (scara_ptp, "heun", 1e-3, 300),
    # Long enough for the arm to stop before the obstacle and to go on above it.
    "avoidance-heun": (partial(scara_avoid_sampled, step=1e-3), "heun", 1e-3, 1450),
    "sampled-euler": (sampled_blocks, "euler", 0.002, 60),
    "sampled-heun": (sampled_blocks, "heun", 0.002, 60),
    "references-heun": (references, "heun", 0.01, 60),
    "bends-euler": (bending_between_rows, "euler", 0.01, 66),
    "bends-heun": (bending_between_rows, "heun", 0.01, 66),
}


def write_native(name, path):
    make, method, step, rows = NATIVE[name]
    write_workbook(make(), path, Solver(method, step=step), rows=rows)


ADAPTIVE = {
    # Name -> scenario, tolerances, rows; the currents of the robot begin with rejected steps and have limits.
    "pendulum-adaptive": (pendulum, 1e-4, 1e-6, 150),
    "scara-adaptive": (scara_ptp, 1e-3, 1e-5, 300),
    "bends-adaptive": (partial(bending_between_rows, 0.6), 1e-4, 1e-6, 1000),
}


def write_adaptive(name, path):
    make, rtol, atol, rows = ADAPTIVE[name]
    write_workbook(make(), path, Solver("heun_euler", rtol=rtol, atol=atol), rows=rows)


def write_changed(path):
    write_workbook(pendulum(), path, Solver("heun", step=0.01), rows=60)
    book = openpyxl.load_workbook(path)
    for name, value in {"h": 0.02, "gravity_z": -3.7, "bob_mass": 2.5, "start_hinge_position": 0.5}.items():
        cell = book.defined_names[name].attr_text.split("!")[1].replace("$", "")
        book["parameters"][cell].value = value
    book.save(path)


def write_events(path):
    write_workbook(with_events(), path, Solver("euler", step=0.01), rows=400)


@pytest.fixture(scope="module")
def recalculated(tmp_path_factory):
    """Callable name -> workbook of values as LibreOffice computes them; it takes a second to start, and reads all."""
    folder = tmp_path_factory.mktemp("workbooks")
    books = {name: partial(write_native, name) for name in NATIVE}
    books |= {name: partial(write_adaptive, name) for name in ADAPTIVE}
    books |= {"changed": write_changed, "events": write_events, "operations": write_operations, "tables": write_tables}
    paths = {name: folder / f"{name}.xlsx" for name in books}
    for name, write in books.items():
        write(paths[name])
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [SOFFICE, "--headless", profile, "--convert-to", "xlsx", "--outdir", folder / "done", *paths.values()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)

    def read(name):
        path = folder / "done" / paths[name].name
        assert path.exists(), done.stdout + done.stderr
        return openpyxl.load_workbook(path, data_only=True, read_only=True)

    return read


@pytest.mark.parametrize("name", NATIVE)
def test_all_rows_are_the_native_run(name, recalculated, proof):
    make, method, step, rows = NATIVE[name]
    table = read_run(recalculated(name))
    assert len(table["t"]) == rows
    run = simulate(replace(make(), duration=(rows - 1) * step), Solver(method, step=step))
    apart = assert_same_numbers(table, run, step)
    what, source = "runs by the formulas of exported workbooks", "LibreOffice Calc"
    proof(what, kind="program", source=source, deviation=apart, within=TOLERANCE, relative=True)
    if name.startswith("avoidance"):
        assert np.count_nonzero(np.diff(np.array(table["steering.mode"], float))) == 2


def adaptive_rows(make, rtol, atol, rows):
    """Times and states of Heun's method with Euler's as its error, a row a try, from the traced rates alone."""
    system = assemble(make())
    expressions = {"rates": system.expressions.rhs, "limits": system.expressions.limits}
    kernels = compile_kernels({name: system.function(column) for name, column in expressions.items()}).kernels
    numbers = np.array([number.value for number in system.parameters])
    scale, limited = np.array([state.nominal for state in system.states]), list(system.limited)
    t, h, x = 0.0, 1e-3, np.array([state.start for state in system.states])

    def call(name, time, states):
        return np.array(kernels[name](np.array([time]), states, np.zeros(0), np.zeros(0), numbers))

    lower, upper = np.split(call("limits", t, x), 2)
    found = []
    for _ in range(rows):
        found.append((t, *x))
        slope = call("rates", t, x)
        euler = x + h * slope
        euler[limited] = np.clip(euler[limited], lower, upper)
        end_slope = call("rates", t + h, euler)
        heun = x + h * (slope + end_slope) / 2
        heun[limited] = np.clip(heun[limited], lower, upper)
        allowed = atol * scale + rtol * np.maximum(np.abs(x), np.abs(heun))
        error = np.sqrt(np.mean((h * (end_slope - slope) / 2 / allowed) ** 2))
        t, x, h = (t + h, heun, h) if error <= 1 else (t, x, h)
        h *= min(5.0, max(0.2, 0.9 / np.sqrt(max(error, 1e-10))))
    return [state.name for state in system.states], np.array(found)


@pytest.mark.parametrize("name", ["pendulum-adaptive", "scara-adaptive"])
def test_rows_are_tries_whose_steps_follow_from_their_error(name, recalculated):
    table = read_run(recalculated(name))
    names, expected = adaptive_rows(*ADAPTIVE[name])
    np.testing.assert_allclose(table["t"], expected[:, 0], rtol=0, atol=TOLERANCE)
    for state, values in zip(names, expected[:, 1:].T, strict=True):
        np.testing.assert_allclose(np.array(table[state], float), values, rtol=TOLERANCE, atol=TOLERANCE)
    assert (0 in table["accepted"]) == (name == "scara-adaptive")


def test_chosen_steps_end_at_bends_and_with_the_duration(recalculated):
    table = read_run(recalculated("bends-adaptive"))
    make, rtol, _, _ = ADAPTIVE["bends-adaptive"]
    times = np.array(table["t"], float)
    system = assemble(make())
    breaks = system.discrete.break_times({name: number.value for name, number in system.numbers.items()}, 0.0, 0.6)
    assert len(breaks) >= 5
    assert max(np.abs(times - bend).min() for bend in breaks) < 1e-12
    assert times[-1] == pytest.approx(0.6, abs=1e-15)
    assert times[-2] == times[-1]
    # The error that is controlled is Euler's; Heun's step, with which it goes on, is better, and the loop is damped.
    best = simulate(make(), Solver("dopri5", rtol=1e-10, atol=1e-12))
    apart = np.abs(np.array(table["hinge.position"], float) - best["hinge.position"](np.minimum(times, 0.6)))
    assert 0 < apart.max() < rtol


def test_changed_cells_are_a_changed_run(recalculated):
    changed = {"gravity.z": -3.7, "bob.mass": 2.5, "initial.hinge.position": 0.5, "duration": 59 * 0.02}
    run = simulate(pendulum().with_numbers(changed), Solver("heun", step=0.02))
    assert_same_numbers(read_run(recalculated("changed")), run, 0.02)


def test_events_are_marked_in_the_first_row_behind_them(recalculated):
    table = read_run(recalculated("events"))
    run = simulate(with_events(), Solver("euler", step=0.01))
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


def native_function(op):
    symbols = [ca.SX.sym(f"x{k}") for k in range(1 if op in UNARY else 2)]
    make = ca.SX.unary if op in UNARY else ca.SX.binary
    return ca.Function("f", symbols, [make(getattr(ca, "OP_" + op.upper()), *symbols)])


CASES = [(op, numbers) for op in OPERATIONS for numbers in arguments_of(op)]


def write_operations(path):
    book = openpyxl.Workbook()
    for op, numbers in CASES:
        term = compose(SPREADSHEET, (op,), [write_number(number) for number in numbers])
        book.active.append([f"={as_number(SPREADSHEET, term).text}"])
    book.save(path)


def test_every_operation_means_the_same_in_a_cell(recalculated):
    computed = [row[0] for row in recalculated("operations").active.iter_rows(values_only=True)]
    native = compile_kernels({op: native_function(op) for op in OPERATIONS}).kernels
    expected = [float(native[op](*numbers)[0]) for op, numbers in CASES]
    for (op, numbers), ours, theirs in zip(CASES, computed, expected, strict=True):
        # Relative: results near 0 of log1p and expm1 keep their digits too; a remainder has the error of its dividend.
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-15 if op == "fmod" else 1e-30), f"{op}{numbers}"


KNOTS = (-1.0, 0.0, 0.5, 2.0)
POINTS = (-5.0, -1.0, -0.2, 0.0, 0.49, 0.5, 1.9, 2.0, 7.0)


def write_tables(path):
    book = openpyxl.Workbook()
    for k, knot in enumerate(KNOTS, start=1):
        book.active[f"A{k}"] = knot
    for k, x in enumerate(POINTS, start=1):
        index = compose(SPREADSHEET, ("locate", 0, 0), [WrittenTerm(repr(x))], "$A$1:$A$4")
        value = compose(SPREADSHEET, ("gather", 0, 0), [index], "$A$1:$A$4")
        book.active[f"B{k}"], book.active[f"C{k}"] = f"={index.text}", f"={value.text}"
    book.save(path)


def test_tables_are_looked_up_like_the_native_ones(recalculated):
    rows = list(recalculated("tables").active.iter_rows(values_only=True))
    for x, (_, index, value) in zip(POINTS, rows, strict=True):
        assert index == max(0, sum(knot <= x for knot in KNOTS) - 1)
        assert value == KNOTS[index]


def test_assembled_systems_are_taken_too(tmp_path):
    plan = write_workbook(assemble(pendulum()), tmp_path / "p.xlsx", Solver("euler", step=0.1), rows=3)
    assert plan.n_formulas == 3 * len(plan.columns.columns)
