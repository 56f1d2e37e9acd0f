"""Is a scenario that was made ready before run without a trace, to the same bits, but never when anything changed?"""

import json
import os
import pickle
from dataclasses import fields, replace
from functools import partial, wraps
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from robodyn.cli import app
from robodyn.computation.assembly import System, assemble
from robodyn.computation.assembly.system import PLAIN, TRACED
from robodyn.computation.native.cache import SIZE
from robodyn.computation.native.machine import LEVEL
from robodyn.computation.results import load
from robodyn.computation.simulation import compile_system, simulate, system_cache
from robodyn.computation.simulation.system_cache import compile_scenario, keep
from robodyn.description.catalog import cartesian_pendulum, find_scenario, pendulum, scara_ptp, two_link_loop
from robodyn.description.laws.friction import viscous_friction
from robodyn.description.model import Block, Solver

CART = """
duration = "0.2 s"
[bodies.carriage]
mass = "2 kg"
[joints.rail]
kind = "prismatic"
parent = "ground"
child = "carriage"
axis = [1, 0, 0]
speed_limit = "0.1 m/s"
[blocks.rub]
law = "viscous_friction"
on = "rail"
parameters = { viscous = "3 N s/m" }
[blocks.push]
{push}
on = "rail"
[initial]
rail.velocity = "0.05 m/s"
"""
PUSH = 'law = "constant_force"\nparameters = { value = "1 N" }'


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


@pytest.fixture
def traced(monkeypatch):
    """Scenarios that have been traced, by name."""
    from robodyn.computation.assembly import assembler

    names, start = [], assembler.start_context

    def note(scenario):
        names.append(scenario.name)
        return start(scenario)

    monkeypatch.setattr(assembler, "start_context", note)
    return names


def command(*arguments):
    """A command as it is given in a shell: what it printed, and its run."""
    done = CliRunner().invoke(app, ["run", *map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    return told, load(told["file"])


def same_bits(one, other):
    assert one.values.tobytes() == other.values.tobytes()
    assert one.time.tobytes() == other.time.tobytes()
    assert one.infos == other.infos
    assert one.outcome == other.outcome
    assert one.warnings == other.warnings
    assert one.certificate == other.certificate
    assert one.events == other.events
    assert one.found == other.found
    assert replace(one.provenance, created="") == replace(other.provenance, created="")
    timeless = [replace(run.statistics, wall_time=0.0) for run in (one, other)]
    assert timeless[0] == timeless[1]


SCENARIOS = {
    "sampled loops": ("two-link-loop", "--duration", "0.1"),
    "events": ("scara-ptp",),
    "a sequence": ("scara-phases",),
    "constraints that are closed at the start": ("four-bar", "--duration", "0.2"),
    "a stiff method from the middle on": ("oscillator-first",),
    "sticking and rigid contact": ("arm-on-slope", "--duration", "0.1"),
    "wheels": ("rover", "--duration", "0.2"),
    "a controller with a model": ("quadruped", "--duration", "0.02"),
}


@pytest.mark.parametrize("arguments", SCENARIOS.values(), ids=SCENARIOS)
def test_the_second_run_traces_nothing_and_gives_the_same_bits(arguments, traced):
    first = command(*arguments)
    assert len(traced) == len(set(traced)) > 0
    traced.clear()
    second = command(*arguments)
    assert traced == []
    same_bits(first[1], second[1])
    timed = ("statistics",)
    assert {k: v for k, v in first[0].items() if k not in timed} == {
        k: v for k, v in second[0].items() if k not in timed
    }


def test_a_process_of_its_own_finds_what_another_one_kept(start_command, traced):
    first = start_command("run", "two-link-loop", "--duration", "0.1", "--out", "first")
    second = start_command("run", "two-link-loop", "--duration", "0.1", "--out", "second")
    # Without CasADi nothing can be traced.
    assert ("CasADi was loaded" in first, "CasADi was loaded" in second) == (True, False)
    same_bits(load(Path("first/two-link-loop.run")), load(Path("second/two-link-loop.run")))


@pytest.fixture
def start_command(tmp_path):
    """A command in a process of its own, which says whether it has loaded CasADi."""
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from robodyn.cli import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print('CasADi was loaded' if 'casadi' in sys.modules else '')"
    )

    def run(*arguments):
        done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_kept_system_is_traced_where_its_expressions_are_asked_for(traced):
    scenario = two_link_loop()
    keep(compile_scenario(scenario, scenario.solver, ("*",)))
    compiled = compile_scenario(scenario, scenario.solver, ("*",))
    assert traced == [scenario.name]
    fresh = assemble(scenario, signals=("*",))
    traced.clear()
    assert (compiled.system.n_q, compiled.system.depends_on_time) == (fresh.n_q, fresh.depends_on_time)
    assert traced == []
    values = [np.zeros(column.numel()) + 0.1 for column in fresh.symbols]
    kept, new = (system.function(system.expressions.rhs)(*values) for system in (compiled.system, fresh))
    assert np.array_equal(np.array(kept), np.array(new))
    assert compiled.system.symbols.x.numel() == len(fresh.states)
    assert traced == [scenario.name]
    assert compiled.system.without_friction.friction == 0.0
    assert traced == [scenario.name]


def test_with_other_numbers_recordings_and_rates_a_kept_system_runs_as_a_new_one():
    scenario = replace(two_link_loop(), duration=0.05)
    keep(compile_scenario(scenario, scenario.solver, ("*",)))
    changes = {"elbow.friction.viscous": 0.3}
    kept = simulate(compile_scenario(scenario, scenario.solver, ("*",)), parameters=changes)
    new = simulate(compile_system(assemble(scenario), signals=("*",)), parameters=changes)
    assert kept.values.tobytes() == new.values.tobytes()


def write(text, name="cart.toml", push=PUSH):
    Path(name).write_text(text.replace("{push}", push))
    return name


def end(arguments=("cart.toml",)):
    return command(*arguments)[1].end["rail.velocity"]


def test_an_edited_number_counts():
    write(CART)
    before = end()
    assert end() == before
    write(CART.replace("2 kg", "4 kg"))
    assert end() != before
    write(CART)
    assert end() == before


LAW = """
{imported}
def mine(velocity, gain={default}):
    return {expression}
"""
EDITS = {
    "a constant": ({"expression": "2.0 - velocity"}, {"expression": "3.0 - velocity"}),
    "a default": (
        {"expression": "gain - velocity", "default": "2.0"},
        {"expression": "gain - velocity", "default": "3.0"},
    ),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_law_of_a_file_counts(edit, cache):
    write(CART, push='law = "mine.py:mine"')
    ends = []
    for words in (*edit, edit[0]):
        Path("mine.py").write_text(LAW.format(**({"imported": "", "default": "0.0"} | words)))
        ends.append(end())
    assert ends[0] == ends[2] != ends[1]


@pytest.mark.parametrize("changed", ["a module", "the environment", "a file"])
def test_what_a_law_reads_from_elsewhere_counts(changed, monkeypatch, tmp_path):
    sources = {
        "a module": "from constants_of_mine import GAIN",
        "the environment": "import os\nGAIN = float(os.environ['MY_GAIN'])",
        "a file": "GAIN = float(open('gain.txt').read())",
    }
    Path("mine.py").write_text(LAW.format(imported=sources[changed], default="0.0", expression="GAIN - velocity"))
    write(CART, push='law = "mine.py:mine"')
    monkeypatch.syspath_prepend(str(tmp_path))
    ends = []
    for gain in ("2.0", "3.0", "2.0"):
        import sys

        sys.modules.pop("constants_of_mine", None)
        (tmp_path / "constants_of_mine.py").write_text(f"GAIN = {gain}  # {len(ends) * 'again'}\n")
        monkeypatch.setenv("MY_GAIN", gain)
        Path("gain.txt").write_text(gain)
        ends.append(end())
    assert ends[0] == ends[2] != ends[1]


def test_an_edited_table_counts():
    write(CART, push='law = "file_reference"\nfile = "push.csv"\ncolumn = "force"\nacts = { value = "rail" }')
    ends = []
    for force in (1.0, 2.0, 1.0):
        Path("push.csv").write_text(f"time [s],force [N]\n0,{force}\n1,{force}\n")
        ends.append(end())
    assert ends[0] == ends[2] != ends[1]


def test_an_edited_robot_file_counts():
    urdf = '<robot name="a"><link name="base"/><link name="arm"><inertial><mass value="{m}"/><origin xyz="1 0 0"/>'
    urdf += (
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">'
    )
    urdf += '<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>'
    Path("swing.toml").write_text('duration = "0.1 s"\nrobot = "a.urdf"\n')
    ends = []
    for mass in (1.0, 2.0, 1.0):
        Path("a.urdf").write_text(urdf.format(m=mass))
        ends.append(command("swing.toml")[1].end["j.velocity"])
    assert ends[0] == ends[2] != ends[1]


def pushed(law, **parameters):
    """The pendulum with a law on its joint."""
    scenario = pendulum()
    block = Block("push", law, scenario.machine.mechanism.joints[0].name, parameters=parameters)
    return replace(scenario, machine=replace(scenario.machine, blocks=(block,)))


def test_functions_that_are_not_the_packages_own_are_never_kept(traced, cache):
    gain = [2.0]

    def closure(velocity):
        return gain[0] - velocity

    def default(velocity, factor=gain[0]):
        return factor - velocity

    class Law:
        def __init__(self, gain):
            self.gain = gain

        def __call__(self, velocity):
            return self.gain - velocity

    @wraps(viscous_friction)
    def wrapped(velocity, *, viscous):
        return -gain[0] * viscous * velocity

    scenarios = [pushed(law) for law in (closure, default, Law(2.0), lambda velocity: -velocity, partial(closure))]
    for scenario in (*scenarios, pushed(wrapped, viscous=1.0)):
        for _ in range(2):
            traced.clear()
            keep(compile_scenario(scenario, scenario.solver, ("*",)))
            assert traced == [scenario.name]
    own = pushed(viscous_friction, viscous=1.0)
    for _ in range(2):
        keep(compile_scenario(own, own.solver, ("*",)))
    assert traced == [scenario.name, own.name]


CHANGES = {
    "the sources": lambda m: m.setattr(system_cache, "_sources", lambda: ("other",)),
    "a version": lambda m: m.setattr(system_cache, "package_versions", lambda: {"casadi": "0"}),
    "the processor": lambda m: m.setattr(system_cache, "circumstances", lambda: ("other",)),
    "the optimisation": lambda m: m.setenv(LEVEL, "2" if os.environ.get(LEVEL) != "2" else "1"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_made_by_other_code_is_made_anew(change, traced, monkeypatch):
    scenario = pendulum()
    keep(compile_scenario(scenario, scenario.solver, ("*",)))
    change(monkeypatch)
    compile_scenario(scenario, scenario.solver, ("*",))
    assert traced == [scenario.name, scenario.name]


def test_an_edited_source_file_changes_the_name(tmp_path, monkeypatch):
    monkeypatch.setattr(system_cache, "OWN", ("kept_package",))
    (tmp_path / "kept_package").mkdir()
    file = tmp_path / "kept_package" / "__init__.py"
    file.write_text("GAIN = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import kept_package  # noqa: F401

    find = system_cache._sources.__wrapped__
    before, state = find(), file.stat()
    assert find() == before
    file.write_text("GAIN = 2\n")
    # Even where the time of the last change is put back.
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert find() != before


def test_another_solver_or_signal_is_another_system(traced):
    scenario = pendulum()
    keep(compile_scenario(scenario, scenario.solver, ("*",)))
    compile_scenario(scenario, Solver("rk4", step=1e-3), ("*",))
    compile_scenario(scenario, scenario.solver, ("*.position",))
    assert len(traced) == 3


@pytest.mark.parametrize("damage", ["cut", "other", "code gone", "not ours"])
def test_a_damaged_entry_is_made_anew(damage, traced, cache):
    scenario = pendulum()
    compiled = compile_scenario(scenario, scenario.solver, ("*",))
    keep(compiled)
    codes, (entry,) = list((cache / "kernels").iterdir()), (cache / "systems").iterdir()
    if damage == "cut":
        entry.write_bytes(entry.read_bytes()[:-1])
    elif damage == "other":
        entry.write_bytes(codes[0].read_bytes())
    elif damage == "code gone":
        for code in codes:
            code.unlink()
    else:
        entry.chmod(0o666)
    again = compile_scenario(scenario, scenario.solver, ("*",))
    assert len(traced) == 2
    assert simulate(again).values.tobytes() == simulate(compiled).values.tobytes()


def test_without_room_nothing_is_kept(traced, monkeypatch, cache):
    monkeypatch.setenv(SIZE, "0")
    monkeypatch.setattr("robodyn.computation.native.cache.BETWEEN_PRUNES", 1)
    scenario = pendulum()
    for _ in range(2):
        keep(compile_scenario(scenario, scenario.solver, ("*",)))
    assert len(traced) == 2
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_old_systems_give_way_to_new_ones_and_code_stays(monkeypatch, cache):
    monkeypatch.setattr("robodyn.computation.native.cache.BETWEEN_PRUNES", 1)
    scenarios = [replace(pendulum(), duration=1.0 + k) for k in range(4)]
    keep(compile_scenario(scenarios[0], scenarios[0].solver, ("*",)))
    (code,), (entry,) = (list((cache / kind).iterdir()) for kind in ("kernels", "systems"))
    # Room for two systems in their tenth of it.
    monkeypatch.setenv(SIZE, str(2.5 * entry.stat().st_size / 1e5))
    for k, scenario in enumerate(scenarios):
        keep(compile_scenario(scenario, scenario.solver, ("*",)))
        for path in (cache / "systems").iterdir():
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 10 * (k + 1)))
    assert len(list((cache / "systems").iterdir())) == 2
    assert list((cache / "kernels").iterdir()) == [code]


def test_a_system_that_is_no_longer_its_scenarios_cannot_be_pickled():
    system = assemble(cartesian_pendulum())
    with pytest.raises(TypeError, match="not as its scenario describes"):
        pickle.dumps(replace(system, warnings=("changed",)))


def test_reactions_that_were_asked_for_are_there_again(traced):
    arguments = ("scara-ptp", "--signal", "*.reaction.*", "--signal", "elbow.position", "--duration", "0.1")
    first = command(*arguments)[1]
    traced.clear()
    second = command(*arguments)[1]
    assert traced == []
    assert any("reaction" in name for name in first.names)
    same_bits(first, second)


def test_certified_runs_of_kept_systems_are_those_of_new_ones(traced):
    first = command("scara-ptp", "--certify", "--duration", "0.2")
    traced.clear()
    second = command("scara-ptp", "--certify", "--duration", "0.2")
    assert traced == ["scara-ptp"]
    assert first[0]["errors"] == second[0]["errors"]


def test_every_finding_is_kept_with_the_system(traced):
    write(CART.replace("0.1 m/s", "0.01 m/s").replace('rail.velocity = "0.05 m/s"', ""), push=PUSH)
    scenario = find_scenario("two-link-loop")
    first = compile_scenario(scenario, scenario.solver, ("*",))
    first.system.recall("a question", lambda: "an answer")
    keep(first)
    again = compile_scenario(scenario, scenario.solver, ("*",))
    assert again.system.recall("a question", lambda: "another one") == "an answer"
    again.system.recall("one more", lambda: 1)
    keep(again)
    assert compile_scenario(scenario, scenario.solver, ("*",)).system.findings.keys() == {"a question", "one more"}
    assert len(traced) == 1


def test_a_scenario_made_twice_has_one_name():
    names = {system_cache._name(scenario, scenario.solver, ("*",)) for scenario in (scara_ptp(), scara_ptp())}
    used = scara_ptp()
    assemble(used)
    assert {system_cache._name(used, used.solver, ("*",))} == names != {""}


def test_every_part_of_a_system_is_kept_or_traced_again():
    parts = {field.name for field in fields(System)}
    assert parts - {*PLAIN, *TRACED} == {"resolve"}
    # What a run asks of it beside its parts is found when it is kept, not by a trace.
    derived = {"findings", "n_q", "n_v", "n_quadratures", "depends_on_time", "delay_depth", "delay_passage"}
    assert set(PLAIN) - parts == derived
