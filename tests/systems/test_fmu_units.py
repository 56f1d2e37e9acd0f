"""Can units by another implementer be subsystems, in both versions of the interface?"""

import textwrap
import zipfile

import pytest

from robodyn.base.errors import ModelError
from robodyn.computation.cosimulation import CosimSettings, SignalConnection, cosimulate

pytest.importorskip("fmpy")
from robodyn.exchange.fmi import FmuUnit

UNIT = '''
from {package} import {base}, {real}, {version}Causality, {version}Variability


class Mass{number}({base}):
    """A mass on a rail, moved exactly under a force that is held over the step."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.time, self.mass, self.force, self.position, self.velocity = 0.0, 2.0, 0.0, 0.0, 0.0
        causality = {version}Causality
        {time}
        tunable = {version}Variability.tunable
        self.register_variable({real}("mass", causality=causality.parameter, variability=tunable))
        self.register_variable({real}("force", causality=causality.input))
        self.register_variable({real}("position", causality=causality.output))
        self.register_variable({real}("velocity", causality=causality.output))

    def do_step(self, current_time, step_size):
        if self.force > 100:
            return False
        acceleration = self.force / self.mass
        self.position += (self.velocity + 0.5 * acceleration * step_size) * step_size
        self.velocity += acceleration * step_size
        return True
'''
TIME = (
    'self.register_variable(Float64("time", causality=causality.independent, variability=Fmi3Variability.continuous))'
)
WORDS = {
    2: {"package": "pythonfmu", "base": "Fmi2Slave", "real": "Real", "version": "Fmi2", "time": "", "number": 2},
    3: {"package": "pythonfmu3", "base": "Fmi3Slave", "real": "Float64", "version": "Fmi3", "time": TIME, "number": 3},
}


@pytest.fixture(params=[2, 3])
def mass(request, tmp_path):
    """A unit made by PythonFMU or PythonFMU3."""
    words = WORDS[request.param]
    builder = pytest.importorskip(f"{words['package']}.builder")
    script = tmp_path / f"mass{request.param}.py"
    script.write_text(textwrap.dedent(UNIT).format(**words))
    return builder.FmuBuilder.build_FMU(script, dest=tmp_path)


def test_a_foreign_unit_is_written_advanced_and_read(mass):
    with FmuUnit(mass, "mass", parameters={"mass": 4.0}) as unit:
        assert (unit.inputs, set(unit.outputs)) == (("force",), {"position", "velocity"})
        unit.write({"force": (2.0,)})
        unit.start(0.0)
        assert unit.advance(0.0, 1.0) is None
        assert unit.read() == {"position": 0.25, "velocity": 0.5}
        unit.write({"force": (0.0,)})
        assert unit.advance(1.0, 1.0) is None
        assert unit.read() == {"position": 0.75, "velocity": 0.5}


def test_a_foreign_unit_that_fails_gives_an_outcome_with_a_sentence(mass):
    with FmuUnit(mass, "mass") as unit:
        unit.write({"force": (1000.0,)})
        unit.start(0.0)
        outcome = unit.advance(0.0, 1.0)
    assert outcome is not None
    assert "unit 'mass'" in outcome.sentence


def test_unknown_parameters_and_missing_derivatives_are_refused(mass):
    with pytest.raises(ModelError, match=r"parameters\.mas: is not a parameter of the unit \(did you mean 'mass'"):
        FmuUnit(mass, parameters={"mas": 1.0})
    with FmuUnit(mass) as unit, pytest.raises(ModelError, match="no directional derivatives"):
        unit.derivatives(["position"], ["force"])


def test_only_units_that_say_so_change_the_length_of_their_steps(mass):
    with FmuUnit(mass, "mass") as unit:
        unit.start(0.0)
        assert unit.advance(0.0, 0.1) is None
        outcome = unit.advance(0.1, 0.05)
        assert (outcome is None) == unit.variable_step
        assert outcome is None or "must all be as long as the first, 0.1 s" in outcome.sentence
        adapted = CosimSettings(0.1, tolerance=1e-3)
        with pytest.raises(ModelError) as error:
            cosimulate(
                [unit],
                [],
                signal_connections=[SignalConnection("mass.position", "mass.force")],
                settings=adapted,
                duration=1.0,
            )
    assert ("takes steps of one length only" in str(error.value)) == (outcome is not None)


def test_what_is_no_unit_is_told_with_the_reason(mass, tmp_path):
    broken = tmp_path / "broken.fmu"
    broken.write_text("no archive")
    with pytest.raises(ModelError, match=r"broken\.fmu: is not a valid unit: File is not a zip file"):
        FmuUnit(broken)
    with zipfile.ZipFile(mass) as whole, zipfile.ZipFile(broken, "w") as rest:
        for name in whole.namelist():
            if not name.startswith("binaries/"):
                rest.writestr(name, whole.read(name))
    with pytest.raises(ModelError, match="has no binary for this platform, .*: none at all"):
        FmuUnit(broken)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ModelError, match="there is no such file"):
        FmuUnit(tmp_path / "none.fmu")
