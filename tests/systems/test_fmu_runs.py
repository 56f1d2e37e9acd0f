"""Does a single unit run into a run like any other, by whomever it was made?"""

import math
import os
import re
import shutil
import textwrap
import zipfile

import numpy as np
import pytest
from support.c_units import build_unit

from robodyn.base.errors import ModelError
from robodyn.computation.results import compare, load, save
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import find_scenario
from robodyn.exchange.fmi import FmuUnit, simulate_fmu, write_fmu

COUNTER = """
from pythonfmu import Boolean, DefaultExperiment, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real


class Counter(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.by, self.count, self.up, self.odd, self.rate = 1, 0, True, False, 0.0
        self.default_experiment = DefaultExperiment(start_time=0.0, stop_time=2.0, step_size=0.5)
        cause, vary = Fmi2Causality, Fmi2Variability
        self.register_variable(Integer("by", causality=cause.parameter, variability=vary.tunable))
        self.register_variable(Boolean("up", causality=cause.input))
        self.register_variable(Integer("count", causality=cause.output))
        self.register_variable(Boolean("odd", causality=cause.output))
        self.register_variable(Real("rate", causality=cause.output))

    def do_step(self, current_time, step_size):
        self.count += self.by if self.up else -self.by
        self.odd = bool(self.count % 2)
        self.rate = self.count / (current_time + step_size)
        return True
"""
TABLE = """
import numpy as np
from pythonfmu3 import Dimension, Fmi3Causality, Fmi3Slave, Fmi3Variability, Float64, Int32


class Table(Fmi3Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.time, self.y, self.k = 0.0, np.zeros((2, 3)), 1
        cause, vary = Fmi3Causality, Fmi3Variability
        continuous, discrete = vary.continuous, vary.discrete
        size = [Dimension(start="2"), Dimension(start="3")]
        self.register_variable(Float64("time", causality=cause.independent, variability=continuous))
        self.register_variable(Int32("k", causality=cause.input, variability=discrete))
        self.register_variable(Float64("y", causality=cause.output, variability=continuous, dimensions=size))

    def do_step(self, current_time, step_size):
        self.y = self.k * np.arange(6.0).reshape(2, 3)
        return True
"""
DECAY = """
from pythonfmu3 import Fmi3Causality, Fmi3Initial, Fmi3SlaveBase, Fmi3Variability, Float64, ModelExchange


class Decay(Fmi3SlaveBase, ModelExchange):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.time, self.k, self.x, self.derx = 0.0, 1.0, 1.0, 0.0
        cause, continuous = Fmi3Causality, Fmi3Variability.continuous
        self.register_variable(Float64("time", causality=cause.independent, variability=continuous))
        exact = {"start": 1, "initial": Fmi3Initial.exact}
        self.register_variable(Float64("x", causality=cause.output, variability=continuous, **exact))
        self.register_variable(Float64("derx", causality=cause.local, variability=continuous, derivative=1))
        self.register_variable(Float64("k", causality=cause.parameter, variability=Fmi3Variability.fixed))

    def get_continuous_state_derivatives(self):
        self.derx = -self.k * self.x
        return [self.derx]
"""


def build_python(package, name, text, folder):
    builder = pytest.importorskip(f"{package}.builder")
    script = folder / f"{name}.py"
    script.write_text(textwrap.dedent(text))
    return builder.FmuBuilder.build_FMU(script, dest=folder)


@pytest.fixture(scope="module")
def ball(tmp_path_factory):
    return build_unit("ball", tmp_path_factory.mktemp("ball"))


def repack(path, target, rename=lambda name: name, change=lambda name, data: data):
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(target, "w") as made:
        for name in whole.namelist():
            if rename(name):
                made.writestr(rename(name), change(name, whole.read(name)))
    return target


def test_a_run_is_a_run_like_any_other(ball, tmp_path):
    run = simulate_fmu(ball, parameters={"restitution": 0.5, "gust": 1})
    assert run.provenance.scenario == "ball"
    assert run.provenance.parameters["restitution"] == {"value": 0.5, "unit": ""}
    assert run.provenance.parameters["gust"]["value"] == 1.0
    assert run["height"].unit == "m"
    kept = load(save(run, tmp_path / "ball.run"))
    assert all(row.max_abs == 0 for row in compare(run, kept))
    assert kept.events == run.events
    again = simulate_fmu(ball, parameters={"restitution": 0.5, "gust": 1})
    assert again.provenance.digest == run.provenance.digest
    np.testing.assert_array_equal(again.values, run.values)


def test_the_units_own_experiment_is_the_default(ball):
    run = simulate_fmu(ball, parameters={"period": 100.0, "height": 50.0})
    np.testing.assert_allclose(run.time, np.arange(16) * 0.1, atol=1e-15)
    run = simulate_fmu(ball, parameters={"period": 100.0, "height": 50.0}, duration=0.25, step=0.1)
    np.testing.assert_allclose(run.time, [0.0, 0.1, 0.2, 0.25], atol=1e-15)
    assert len(simulate_fmu(ball, duration=0.01, step=1.0).time) == 2


def test_signals_are_chosen_by_patterns(ball):
    assert simulate_fmu(ball, signals=["s*", "wind"]).names == ("speed", "wind")
    with pytest.raises(
        ModelError, match=r"signal spede: is not a variable of the unit that moves \(did you mean 'speed'"
    ):
        simulate_fmu(ball, signals=["spede"])


def test_units_of_version_2_by_others_have_integers_and_booleans(tmp_path):
    path = build_python("pythonfmu", "counter", COUNTER, tmp_path)
    run = simulate_fmu(path, parameters={"by": "3"})
    assert run["count"].values.tolist() == [0.0, 3.0, 6.0, 9.0, 12.0]
    assert run["odd"].values.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    # What is wrong with its description, a Boolean that moves continuously, is no reason not to run it.
    assert any("'up'" in sentence or '"up"' in sentence for sentence in run.warnings)
    assert simulate_fmu(path, parameters={"up": False})["count"].final == -4.0
    with pytest.raises(ModelError, match="must be true or false"):
        simulate_fmu(path, parameters={"up": 3})


def test_units_of_version_3_by_others_have_arrays(tmp_path):
    path = build_python("pythonfmu3", "table", TABLE, tmp_path)
    with FmuUnit(path) as unit:
        unit.write({"k": (3.0,)})
        unit.start(0.0)
        assert unit.advance(0.0, 0.1) is None
        found = unit.read()
    assert found == {f"y[{i},{j}]": 3.0 * (3 * (i - 1) + j - 1) for i in (1, 2) for j in (1, 2, 3)}


def test_model_exchange_units_by_others_are_integrated(tmp_path):
    path = build_python("pythonfmu3", "decay", DECAY, tmp_path)
    run = simulate_fmu(path, duration=2.0, step=0.5, parameters={"k": 1.5})
    # Ten times the default tolerance.
    np.testing.assert_allclose(run["x"].values, np.exp(-1.5 * run.time), atol=1e-7)
    rough = simulate_fmu(path, duration=2.0, step=2.0, tolerance=1e-3)
    assert 1e-7 < abs(rough["x"].final - math.exp(-2.0)) < 1e-2


@pytest.mark.parametrize(
    ("name", "end", "message"),
    [
        ("Ending", "return current_time < 0.9", "unit 'Ending' ended the run: in the step from 1 s"),
        ("Broken", "return True if current_time < 0.9 else 1 / 0", "unit 'Broken' cannot go on from 1 s: .*fatal"),
    ],
)
def test_a_unit_that_goes_on_no_more_keeps_its_run(tmp_path, name, end, message):
    text = COUNTER.replace("return True", end).replace("Counter", name)
    run = simulate_fmu(build_python("pythonfmu", name.lower(), text, tmp_path))
    assert re.search(message, run.outcome.sentence, re.DOTALL), run.outcome.sentence
    assert run.time.tolist() == [0.0, 0.5, 1.0]
    assert run["count"].final == 2.0


def test_units_that_cannot_be_run_here_are_told_with_the_remedy(ball, tmp_path):
    target = tmp_path / "other.fmu"
    repack(ball, target, lambda name: name.replace("x86_64-linux", "x86_64-windows").replace("aarch64", "x86"))
    with pytest.raises(ModelError, match=r"no binary for this platform, .*: only for x86.* \(export it for .*-linux"):
        FmuUnit(target)
    repack(ball, target, lambda name: name.replace("ball.so", "bell.so"))
    with pytest.raises(ModelError, match=r"binaries/.*/ball\.so is missing in it \(the file is damaged"):
        FmuUnit(target)
    repack(ball, target, lambda name: name.replace("modelDescription", "description"))
    with pytest.raises(ModelError, match=r"is not a valid unit: .*modelDescription\.xml.*export it again"):
        FmuUnit(target)


def test_a_binary_that_cannot_be_loaded_leaves_the_working_folder_as_it_was(ball, tmp_path):
    target = tmp_path / "other.fmu"
    repack(ball, target, change=lambda name, data: b"nonsense" if name.endswith(".so") else data)
    place = os.getcwd()
    with pytest.raises(ModelError, match="binary cannot be loaded: .*another kind of machine"):
        FmuUnit(target)
    assert os.getcwd() == place


def test_a_wrong_token_is_told_with_the_remedy(ball, tmp_path):
    target = tmp_path / "other.fmu"
    repack(ball, target, change=lambda name, data: data.replace(b"{ball}", b"{bell}") if "xml" in name else data)
    with pytest.raises(ModelError, match=r"refuses to be instantiated: .*the token, or guid, differs"):
        FmuUnit(target)


def test_a_file_that_is_cut_off_or_damaged_is_told(ball, tmp_path):
    data = ball.read_bytes()
    (tmp_path / "short.fmu").write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelError, match="is not a valid unit: File is not a zip file .*copy or export it again"):
        FmuUnit(tmp_path / "short.fmu")
    middle = len(data) // 2
    (tmp_path / "damaged.fmu").write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    with pytest.raises(ModelError, match="cannot be unpacked: Bad CRC.*copy or export it again"):
        FmuUnit(tmp_path / "damaged.fmu")


def test_durations_and_steps_that_do_not_fit_are_refused(ball, tmp_path):
    with pytest.raises(ModelError, match="duration: must be a positive number"):
        simulate_fmu(ball, duration=-1.0)
    target = tmp_path / "stiff.fmu"
    word = b'canHandleVariableCommunicationStepSize="true"'
    repack(ball, target, change=lambda name, data: data.replace(word, word.replace(b"true", b"false")))
    with pytest.raises(ModelError, match=r"0.25 s is not a whole number of steps of 0.1 s .*one length only"):
        simulate_fmu(target, duration=0.25)
    repack(ball, target, change=lambda name, data: data.replace(b' stopTime="1.5"', b""))
    with pytest.raises(ModelError, match="duration: is missing"):
        simulate_fmu(target)


def test_units_made_here_tell_their_events_too(tmp_path):
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler here")
    scenario = find_scenario("bouncing-ball")
    run = simulate_fmu(write_fmu(scenario, tmp_path / "ball.fmu", fmi=3).path, step=0.1)
    impacts = [event.time for event in simulate(scenario).events if event.name == "bounce.hits"]
    # Later flights are shorter than what they are known to: errors of the impacts before add up.
    assert [event.time for event in run.events][:10] == pytest.approx(impacts[:10], abs=1e-9)
