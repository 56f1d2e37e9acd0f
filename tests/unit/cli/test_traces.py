"""How often does a command trace its scenario? Once, where it needs one model of it; others are named here."""

import pytest

from robodyn.computation.assembly import assembler

COMMANDS = {
    "check lift.toml": 1,
    "run lift.toml": 1,
    "run lift.toml --certify": 1,
    "run lift.toml --set carriage.mass=4 --signal *.position --rate 100": 1,
    "run scara-phases": 3,  # as many machines as phases
    "run scara-phases --certify": 3,
    "modes double-pendulum": 1,
    "loops lift.toml": 1,
    "bode lift.toml": 1,
    "step lift.toml --target position_loop.velocity_command --answer rail.velocity": 1,
    "sensitivity lift.toml --of following_error --parameters carriage.mass,friction.coulomb": 1,
    "sweep lift.toml --vary carriage.mass=1:4:2 --measure rms:following_error --no-plot": 1,
    "sweep lift.toml --random friction.coulomb=scale:0.9:1.1 --runs 2 --keep rail.position --no-plot": 1,
    "tune lift.toml --minimise rms:following_error --free position_loop.pro* --points 101 --subject-to margin>=6": 1,
    "report lift.toml --with loops,modes --out report.html": 1,
    "fit lift.toml lift.csv --free carriage.mass": 1,
    "identify lift.toml out/lift.run": 2,  # and the bare mechanism, its masses as inputs
    "validate lift.toml lift.csv": 3,  # and the same, and the scenario driven by what was measured
    "export lift.toml --to fmu --out lift.fmu": 1,
    "export pendulum --to xlsx --solver heun --step 0.01 --rows 5": 1,
    "perturb line.toml": 2,  # and its linear mechanics
}


@pytest.fixture
def traced(monkeypatch):
    """Names of scenarios in the order in which they are traced."""
    names, start = [], assembler.start_context

    def note(scenario):
        names.append(scenario.name)
        return start(scenario)

    monkeypatch.setattr(assembler, "start_context", note)
    return names


LINE = """
duration = "0.3 s"
[bodies.link]
mass = "1 kg"
com = ["0.2 m", 0, 0]
inertia = ["0.02 kg m^2", "0.02 kg m^2", "0.02 kg m^2"]
[joints.hinge]
kind = "revolute"
parent = "ground"
child = "link"
axis = [0, 1, 0]
[blocks.path]
law = "sine_reference"
parameters = { amplitude = "0.1 rad", frequency = "1 Hz", phase = 0, offset = 0 }
[blocks.drive]
law = "pd_control"
on = "hinge"
inputs = { target = "path.value" }
parameters = { proportional = "50 N m/rad", derivative = "5 N m s/rad" }
[nominal]
hinge = "path.value"
"""


@pytest.mark.parametrize(("command", "count"), COMMANDS.items(), ids=COMMANDS)
def test_a_command_traces_its_scenario_once(command, count, invoke, traced, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "line.toml").write_text(LINE)
    assert invoke("new", "lift", "--kind", "cart").exit_code == 0
    if "lift.csv" in command or "lift.run" in command:
        assert invoke("run", "lift.toml").exit_code == 0
        assert invoke("export", "out/lift.run", "--to", "csv", "--out", "lift.csv").exit_code == 0
        traced.clear()
    done = invoke(*command.split())
    assert done.exit_code == 0, done.output
    assert len(traced) == count, traced
