"""Is a run laid out as formulas a spreadsheet takes, and refused with its reason where that cannot be?"""

import re
from dataclasses import replace

import openpyxl
import pytest
from support.machines import cart

from robodyn import Block, Delay, Event, ModelError, Solver, assemble, simulate
from robodyn.base import symbolic as sym
from robodyn.description.catalog import pendulum, scara_ptp
from robodyn.exchange.workbook import make_plan, write_workbook
from robodyn.exchange.workbook.plan import EXCEL_FORMULA, LARGEST_WORKBOOK

EULER, HEUN = Solver("euler", step=1e-3), Solver("heun", step=1e-3)


@pytest.fixture(scope="module")
def scara():
    return assemble(scara_ptp())


def with_block(block, **changes):
    """The pendulum with one more block."""
    scenario = pendulum()
    return replace(scenario, machine=replace(scenario.machine, blocks=(block,), **changes))


def hold(position):
    return {"held": position}


def refusal(scenario, solver=EULER, rows=10):
    with pytest.raises(ModelError) as caught:
        make_plan(assemble(scenario), solver, rows)
    return {flaw.path: f"{flaw.what} ({flaw.remedy})" for flaw in caught.value.flaws}


def nesting(text):
    depth = deepest = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        deepest = max(deepest, depth)
    return deepest


@pytest.mark.parametrize("solver", [EULER, HEUN], ids=lambda s: s.method)
def test_every_cell_of_the_run_is_a_formula_within_the_limits_of_excel(scara, solver):
    plan = make_plan(scara, solver, 10)
    for column, (first, later) in zip(plan.columns.columns, plan.lines, strict=True):
        assert later.startswith("=")
        assert first.startswith("=") or column.name == "step"
        assert len(later) < EXCEL_FORMULA
        assert nesting(later) < 64


def test_states_come_first_and_every_signal_has_a_column(scara):
    names = [column.name for column in make_plan(scara, EULER, 10).columns.columns]
    assert names[:2] == ["step", "t"]
    assert names[2:12] == [state.name for state in scara.states]
    assert set(scara.signal_names) <= set(names)
    assert len(names) == len(set(names))


def test_formulas_read_only_their_own_row_the_row_before_and_names(scara):
    plan = make_plan(scara, HEUN, 10)
    known = {entry.name for entries in plan.parameters.sections.values() for entry in entries}
    letters = set(plan.columns.letters.values())
    for _, later in plan.lines:
        for letter in re.findall(r"\b([A-Z]+)\{[rp]\}", later):
            assert letter in letters
        bare = re.sub(r"[A-Z]+\{[rp]\}|\"\w*\"|[A-Z0-9]+\(|(?<!\w)[\d.]+(E[+-]?\d+)?", " ", later)
        assert set(re.findall(r"[A-Za-z_]\w*", bare)) <= known


def test_what_depends_on_parameters_alone_is_computed_once(scara):
    plan = make_plan(scara, EULER, 10)
    derived = {entry.name: entry.value for entry in plan.parameters.sections["Derived from the numbers above"]}
    assert "=shoulder_motor_torque_constant*shoulder_motor_gear" in derived.values()
    assert not any("motor_gear" in later for _, later in plan.lines)


def test_a_shared_function_is_computed_in_one_column(scara):
    plan = make_plan(scara, EULER, 10)
    assert sum(later.count("SIN(") for _, later in plan.lines) == 2


def test_a_start_at_rest_is_found_for_the_numbers_as_they_are_and_that_is_said():
    spring = Block("spring", "spring", on="rail", parameters={"stiffness": 100.0})
    scenario = cart(spring, gravity=9.81, initialisation="at_rest")
    found = {e.label: e for e in make_plan(assemble(scenario), HEUN).parameters.sections["Start values"]}
    assert found["rail.position"].value == pytest.approx(simulate(scenario)["rail.position"].values[0], rel=1e-12)
    assert found["rail.position"].value != 0
    assert "does not follow" in found["rail.position"].remark


def test_rows_follow_from_the_duration():
    assert make_plan(assemble(pendulum(duration=3.0)), Solver("euler", step=0.1)).n_rows == 31


def test_the_file_has_its_sheets_names_and_charts(tmp_path, scara):
    write_workbook(scara, tmp_path / "scara.xlsx", EULER, rows=5)
    book = openpyxl.load_workbook(tmp_path / "scara.xlsx")
    assert book.sheetnames == ["parameters", "run", "equations", "charts"]
    sheet = book["parameters"]
    for number in scara.parameters:
        target = book.defined_names[number.name.replace(".", "_")].attr_text
        assert sheet[target.split("!")[1].replace("$", "")].value == number.value
    assert len(book["charts"]._charts) == len({state.unit for state in scara.states})
    assert book["run"].max_row == 3 + 5


def test_equations_are_text_that_names_what_they_read(tmp_path, scara):
    plan = make_plan(scara, EULER, 5)
    assert ("elbow.position'", "elbow.velocity") in {(e.left, e.right) for e in plan.equations["States"]}
    assert "-elbow.motor.current_limit <= elbow.motor.current <= elbow.motor.current_limit" in {
        e.right for e in plan.equations["Limits"]
    }
    write_workbook(scara, tmp_path / "scara.xlsx", EULER, rows=5)
    cells = [cell for line in openpyxl.load_workbook(tmp_path / "scara.xlsx")["equations"] for cell in line]
    assert not [cell.value for cell in cells if cell.data_type == "f"]


def test_chosen_steps_have_rows_for_what_the_native_run_tries():
    solver = Solver("heun_euler", rtol=1e-3)
    tried = simulate(pendulum(), solver).statistics
    plan = make_plan(assemble(pendulum()), solver)
    assert tried.steps + tried.rejected < plan.n_rows < 1.3 * (tried.steps + tried.rejected)
    assert [entry.value for entry in plan.parameters.sections["Step"][1:4]] == [1e-3, 1e-8, 10.0]


def test_chosen_steps_take_no_sampled_blocks_and_no_limits_of_steps():
    found = refusal(with_block(Block("reader", hold, "hinge", period=1e-3)), Solver("heun_euler", max_step=0.1))
    assert "sampled at whole rows (choose euler or heun)" in found["solver.method"]
    assert "leave it out" in found["solver.max_step"]


def test_other_methods_are_refused(scara):
    for method in ("dopri5", "rk4", "symplectic_euler"):
        with pytest.raises(ModelError, match="euler or heun"):
            make_plan(scara, Solver(method), 10)


def test_actions_are_refused():
    event = Event(
        "stop", lambda position: position, {"position": "hinge.position"}, action=lambda: {"hinge.velocity": 0.0}
    )
    assert "sampled block" in refusal(replace(pendulum(), events=(event,)))["events.stop.action"]


def test_python_blocks_are_refused():
    block = Block("reader", hold, "hinge", period=1e-3, hold={"held": 0.0}, native=False)
    assert "native" in refusal(with_block(block))["blocks.reader"]


def test_delays_are_refused():
    scenario = pendulum()
    machine = replace(scenario.machine, delays=(Delay("late", "hinge.position", 0.1),))
    assert "delays.late" in refusal(replace(scenario, machine=machine))


def test_sample_times_between_rows_are_refused():
    block = Block("reader", hold, "hinge", period=0.0025, offset=0.0005)
    found = refusal(with_block(block))
    assert "0.0005" in found["blocks.reader.period"]
    assert "blocks.reader.offset" in found


def test_references_that_jump_between_rows_get_rows_of_their_own():
    rows = {}
    for at in (0.0025, 0.00251):
        block = Block("goal", "step_reference", parameters={"after": 1.0, "at": at}, unit="rad")
        plan = make_plan(assemble(with_block(block)), Solver("heun", step=0.0025))
        rows[at] = plan.n_rows, ("h", 0) in plan.columns.letters
    # Steps of 2.5 ms to 10 s; from the bend on, 10 us later each, with the last one beyond the end.
    assert rows == {0.0025: (4001, False), 0.00251: (2 + 3999, True)}


def test_references_that_jump_between_rows_beside_sampled_blocks_are_refused():
    goal = Block("goal", "step_reference", parameters={"after": 1.0, "at": 0.00251}, unit="rad")
    reader = Block("reader", hold, "hinge", period=0.0025)
    scenario = with_block(goal)
    machine = replace(scenario.machine, blocks=(*scenario.machine.blocks, reader))
    with pytest.raises(ModelError, match="0.00251 s, between two rows, and blocks are sampled"):
        make_plan(assemble(replace(scenario, machine=machine)), Solver("heun", step=0.0025))


def test_an_operation_without_a_formula_is_refused_by_the_signal_that_needs_it():
    import casadi as ca

    def wrap(position):
        return {"wrapped": ca.remainder(position, 2.0)}

    assert "remainder" in refusal(with_block(Block("angle", wrap, "hinge")))["angle.wrapped"]


def test_too_many_rows_are_refused_with_both_numbers():
    assert "1,048,573" in refusal(pendulum(), rows=2_000_000)["rows"]
    found = refusal(scara_ptp(), rows=900_000)["rows"]
    assert "900,000 rows" in found
    assert f"{LARGEST_WORKBOOK:,}" in found
    assert "at least 2" in refusal(pendulum(), rows=1)["rows"]


def test_too_large_a_model_is_refused_with_both_numbers(monkeypatch):
    monkeypatch.setattr("robodyn.exchange.workbook.plan.EXCEL_COLUMNS", 40)
    found = refusal(scara_ptp())["model"]
    assert "columns" in found
    assert "holds 40" in found


def test_long_expressions_are_cut_into_helpers():
    def chain(position, *, gain):
        total = position
        for _ in range(400):
            total = sym.sin(total) * gain
        return {"value": total}

    plan = make_plan(assemble(with_block(Block("deep", chain, "hinge", parameters={"gain": 2.0}))), EULER, 3)
    assert max(nesting(later) for _, later in plan.lines) < 64
    assert max(len(later) for _, later in plan.lines) < EXCEL_FORMULA
