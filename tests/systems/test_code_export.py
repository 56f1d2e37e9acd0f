"""Is a scenario written as C or WebAssembly the same run: rows, events, outcome, parameters, inputs?"""

import dataclasses
import shutil
import subprocess
from importlib.util import find_spec

import numpy as np
import pytest
from support.machines import cart

from robodyn.base.errors import ModelError
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import find_scenario
from robodyn.description.model import Block, Event, Recording, Solver
from robodyn.exchange.codegen import c_folder, write_c, write_wasm
from robodyn.exchange.codegen.comparison import compare_run
from robodyn.exchange.codegen.compilers import compile_program

compiled = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")

in_node = pytest.mark.skipif(
    not (find_spec("ziglang") and shutil.which("node")),
    reason="*** NO WEBASSEMBLY IS TESTED: ziglang or node is missing ***",
)

STEPS = """
import { readFile } from "node:fs/promises";
import { load } from "./simulation.mjs";
const model = await load(readFile("simulation.wasm"));
const a = model.start({ "push.value": 4 }), b = model.start({ "cart.mass": 6, "rail.position": 0.25 });
a.advance(0.5); b.advance(1);
a.set("push.value", -4);
console.log(a.get("rail.acceleration"));
a.advance(1);
console.log(a.get("rail.position"));
console.log(b.get("rail.position"));
console.log(model.run({ "cart.mass": 6 }).signal("rail.position").at(-1));
try { a.set("push.valu", 1); } catch (error) { console.log(error.message); }
a.free(); b.free();
"""

TWO_CARTS = """
#include "simulation.h"
#include <stdio.h>
int main(void) {
  Simulation *a = simulation_new(SIMULATION_STEPPED), *b = simulation_new(SIMULATION_STEPPED);
  int push = simulation_find(SIMULATION_INPUTS, "push.value");
  int mass = simulation_find(SIMULATION_PARAMETERS, "cart.mass");
  int place = simulation_find(SIMULATION_STATES, "rail.position"), ok;
  simulation_set(a, SIMULATION_INPUTS, push, 4.0);
  simulation_set(b, SIMULATION_PARAMETERS, mass, 6.0);
  simulation_set(b, SIMULATION_STATES, place, 0.25);
  ok = simulation_begin(a) && simulation_begin(b);
  ok = ok && simulation_advance(a, 0.5) && simulation_advance(b, 1.0);
  simulation_set(a, SIMULATION_INPUTS, push, -4.0);
  printf("%.17g ", simulation_get(a, SIMULATION_OUTPUTS, simulation_find(SIMULATION_OUTPUTS, "rail.acceleration")));
  ok = ok && simulation_advance(a, 1.0) && !simulation_advance(a, 0.9);
  printf("%.17g ", simulation_get(a, SIMULATION_STATES, place));
  printf("%.17g %d\\n", simulation_get(b, SIMULATION_STATES, place), ok);
  simulation_free(a);
  simulation_free(b);
  return 0;
}
"""

MOVED_STOP = """
#include "simulation.h"
#include <stdio.h>
int main(void) {
  Simulation *a = simulation_new(SIMULATION_STEPPED);
  int begun = simulation_begin(a) && simulation_advance(a, 0.5), ok;
  ok = simulation_set(a, SIMULATION_PARAMETERS, simulation_find(SIMULATION_PARAMETERS, "stop.place"), -1.0);
  simulation_get(a, SIMULATION_OUTPUTS, 0);
  printf("%d %d %d", begun, ok, simulation_advance(a, 1.0));
  printf(" %g\\n", simulation_time(a));
  simulation_free(a);
  return 0;
}
"""


def stop_at(position, *, place):
    return position - place


def pushed_cart():
    source = Block("push", "constant_reference", parameters={"constant": 3.0})
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "push.value"})
    return cart(source, drive, tunable=("cart.mass",), solver=Solver("rk4", step=0.01))


def assembled():
    """Start values that are looked for."""
    return dataclasses.replace(find_scenario("four-bar"), initialisation="assembled", duration=0.5)


def build(folder):
    """The program of an exported folder."""
    return compile_program(folder, [str(path.relative_to(folder)) for path in folder.rglob("*.c")])


@compiled
@pytest.mark.parametrize("name", ["scara-ptp", "bouncing-ball", "two-link-loop", assembled])
def test_the_program_gives_the_run_to_the_last_bit(name, tmp_path):
    made = write_c(find_scenario(name) if isinstance(name, str) else name(), tmp_path)
    assert made.agreement.equal


@compiled
@pytest.mark.parametrize("recording", [{"rate": 7.0}, {"times": (0.5, 0.5, 0.9)}, {"refine": 3}])
def test_rows_are_kept_as_asked_for(recording, tmp_path):
    scenario = dataclasses.replace(find_scenario("pendulum"), duration=1.05, recording=Recording(**recording))
    assert write_c(scenario, tmp_path).agreement.equal


@compiled
def test_numbers_set_in_the_program_act_as_in_the_simulation(tmp_path):
    scenario = dataclasses.replace(find_scenario("pendulum"), duration=2.0)
    write_c(scenario, tmp_path)
    program = build(tmp_path)
    done = subprocess.run(
        [program, "bob.mass=3", "hinge.position=0.5", "--events", tmp_path / "events"], capture_output=True, text=True
    )
    changed = scenario.with_numbers({"bob.mass": 3.0, "initial.hinge.position": 0.5})
    rows = np.array([float(text) for line in done.stdout.splitlines()[1:] for text in line.split(",")])
    found = compare_run(simulate(changed), rows, (tmp_path / "events").read_text(), ok=done.returncode == 0)
    # Constants that are built into the simulation are computed from parameters here.
    assert found.ends
    assert found.error < 1e-12
    refused = subprocess.run([program, "bob.mas=3"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "no parameter, state or input of this name" in refused.stderr


@compiled
def test_two_simulations_step_side_by_side(tmp_path):
    made = write_c(pushed_cart(), tmp_path, inputs={"push.value": 3.0})
    assert made.inputs == ("push.value",)
    (tmp_path / "main.c").write_text(TWO_CARTS)
    message = subprocess.run([build(tmp_path)], capture_output=True, text=True, check=True).stdout.split()
    # 2 m/s^2 forth, then back; and 3 N on 6 kg from 0.25 m: constant accelerations are exact but for rounding.
    np.testing.assert_allclose([float(text) for text in message], [-2.0, 0.5, 0.5, 1.0], atol=1e-11)


@compiled
def test_a_parameter_that_makes_an_event_happen_does_so_though_outputs_are_read_before(tmp_path):
    stop = Event("stop", stop_at, {"position": "rail.position"}, {"place": 1e3}, terminal=True)
    write_c(dataclasses.replace(pushed_cart(), events=(stop,)), tmp_path)
    (tmp_path / "main.c").write_text(MOVED_STOP)
    message = subprocess.run([build(tmp_path)], capture_output=True, text=True, check=True).stdout.split()
    assert message == ["1", "1", "0", "0.5"]


@compiled
def test_a_run_that_fails_fails_alike(tmp_path):
    made = write_c(find_scenario("pendulum"), tmp_path, Solver("euler", step=1.0, max_steps=5))
    assert made.agreement.equal
    done = subprocess.run([build(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 3
    assert "all steps are used up at 5 s" in done.stderr


def test_without_a_compiler_it_is_written_unchecked(tmp_path, monkeypatch):
    def find_none(platform):
        raise ModelError([], platform)

    monkeypatch.setattr(c_folder, "find_compiler", find_none)
    made = write_c(find_scenario("pendulum"), tmp_path)
    assert made.agreement is None
    assert (tmp_path / "source" / "model.c").exists()


@pytest.mark.parametrize("write", [write_c, write_wasm])
def test_what_is_no_code_is_refused(write, tmp_path, monkeypatch):
    monkeypatch.setattr("robodyn.exchange.codegen.web.check_module_compiler", lambda: None)
    options = {"inputs": {"position": "rail.position"}, "hold": {"command": 0.0}, "period": 0.01, "native": False}
    law = Block("law", lambda position: {"command": -position}, **options)
    with pytest.raises(ModelError, match="its law is plain Python"):
        write(cart(law), tmp_path)
    with pytest.raises(ModelError, match="sequence of scenarios"):
        write(find_scenario("scara-phases"), tmp_path)
    with pytest.raises(ModelError, match="max_wall_time"):
        write(find_scenario("pendulum"), tmp_path, Solver(max_wall_time=1.0))
    with pytest.raises(ModelError, match="declare it tunable"):
        write(pushed_cart(), tmp_path, inputs={"cart.mass": None})
    assert not list(tmp_path.iterdir())


@in_node
def test_webassembly_is_set_stepped_and_read(tmp_path):
    write_wasm(pushed_cart(), tmp_path, inputs={"push.value": 3.0})
    (tmp_path / "step.mjs").write_text(STEPS)
    message = subprocess.run(["node", "step.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    *numbers, refused = message.splitlines()
    np.testing.assert_allclose([float(text) for text in numbers], [-2.0, 0.5, 0.5, 0.25], atol=1e-11)
    assert refused == "there is no 'push.valu' among parameters, states, inputs"


@in_node
def test_webassembly_runs_in_node(tmp_path):
    # An adaptive method, whose steps depend on rounding.
    made = write_wasm(find_scenario("scara-ptp"), tmp_path)
    assert made.agreement.equal


def test_without_a_compiler_for_webassembly_the_remedy_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("robodyn.exchange.codegen.compilers.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"robodyn\[cross\]"):
        write_wasm(find_scenario("pendulum"), tmp_path)
