"""Are networks of ONNX files as laws what onnx's own evaluator makes of them: in Python, native code and exports?"""

import shutil

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import robodyn as rd
from robodyn.computation.engine.pack import lanes_are_there
from robodyn.exchange.codegen import write_c

RNG = np.random.default_rng(7)
EXACT = {"rtol": 0.0, "atol": 1e-13}
"""Both sides compute in double precision, of numbers of about 1."""


def weights(name, *shape):
    return numpy_helper.from_array(RNG.normal(size=shape) / np.sqrt(shape[-1]), name)


def places(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape)


def save(folder, nodes, inputs, outputs, constants, name="drive.onnx", opset=17, domain=""):
    graph = helper.make_graph(nodes, "drive", inputs, outputs, constants)
    versions = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    model = helper.make_model(graph, opset_imports=versions, ir_version=9)
    onnx.checker.check_model(model)
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return path


def save_perceptron(folder, activation="Softsign", name="drive.onnx"):
    """Six features, two layers of 8, as ANYmal's actuator networks are."""
    node = helper.make_node
    # Attributes are single precision: one that is exact in it.
    slope = {"alpha": 0.25} if activation == "LeakyRelu" else {}
    nodes = [
        node("Gemm", ["x", "W1", "b1"], ["a1"], transB=1),
        node(activation, ["a1"], ["h1"], **slope),
        node("MatMul", ["h1", "W2"], ["a2"]),
        node("Add", ["a2", "b2"], ["s2"]),
        node(activation, ["s2"], ["h2"], **slope),
        node("Gemm", ["h2", "W3"], ["torque"], alpha=0.5),
    ]
    constants = [weights("W1", 8, 6), weights("b1", 8), weights("W2", 8, 8), weights("b2", 8), weights("W3", 8, 1)]
    return save(folder, nodes, [value("x", "batch", 6)], [value("torque", "batch", 1)], constants, name)


def save_recurrent(folder, kind, layers=2, size=4, **attributes):
    """Layers of a recurrent network and a linear one behind, as PyTorch exports them with their states as inputs."""
    node = helper.make_node
    gates = {"LSTM": 4, "GRU": 3}[kind]
    states = ["h", "c"][: 2 if kind == "LSTM" else 1]
    constants, nodes, sequence = [weights("V", 1, size), weights("v", 1)], [], "x"
    constants += [places("first", 0), places("axis", 0), places("shape", 1, size)]
    pieces = {state: [] for state in states}
    for layer in range(layers):
        W, R, B = (f"{letter}{layer}" for letter in "WRB")
        width = 2 if layer == 0 else size
        constants += [weights(W, 1, gates * size, width), weights(R, 1, gates * size, size)]
        constants += [weights(B, 1, 2 * gates * size), places(f"at{layer}", layer), places(f"to{layer}", layer + 1)]
        for state in states:
            nodes.append(node("Slice", [state, f"at{layer}", f"to{layer}", "axis"], [f"{state}{layer}"]))
            pieces[state].append(f"{state}_out{layer}")
        given = [sequence, W, R, B, "", *(f"{state}{layer}" for state in states)]
        made = [f"y{layer}", *(f"{state}_out{layer}" for state in states)]
        nodes.append(node(kind, given, made, hidden_size=size, **attributes))
        nodes.append(node("Squeeze", [f"y{layer}", "one"], [f"s{layer}"]))
        sequence = f"s{layer}"
    constants.append(places("one", 1))
    nodes.append(node("Reshape", [sequence, "shape"], ["last"]))
    nodes.append(node("Gemm", ["last", "V", "v"], ["torque"], transB=1))
    nodes += [node("Concat", pieces[state], [f"{state}_out"], axis=0) for state in states]
    inputs = [value("x", 1, 1, 2), *(value(state, layers, 1, size) for state in states)]
    outputs = [value("torque", 1, 1), *(value(f"{state}_out", layers, 1, size) for state in states)]
    return save(folder, nodes, inputs, outputs, constants, f"{kind.lower()}.onnx")


@pytest.mark.parametrize("activation", ["Softsign", "Elu", "Relu", "LeakyRelu", "Tanh", "Sigmoid", "Softplus", "Abs"])
def test_a_perceptron_is_that_of_the_reference_evaluator(tmp_path, activation):
    path = save_perceptron(tmp_path, activation)
    features = ("error", "error@1", "error@3", "velocity", "velocity@1", "velocity@2")
    scales = (1.0, 2.0, 3.0, 0.1, 0.2, 0.3)
    law = rd.read_network(path, features=features, scales=scales, output_scale=20.0)
    evaluator = ReferenceEvaluator(str(path))
    errors, velocities = 3.0 * RNG.normal(size=(2, 12))
    memory = dict.fromkeys(law.law_info.memory, 0.0)
    for k in range(12):
        found = law(error=errors[k], velocity=velocities[k], **memory)
        memory = {name: found[f"{name}_next"] for name in memory}
        history = [errors[k], errors[k - 1], errors[k - 3], *(velocities[k - age] for age in range(3))]
        if k >= 3:
            (expected,) = evaluator.run(None, {"x": np.array([history]) * scales})
            np.testing.assert_allclose(found["torque"], 20.0 * expected[0, 0], **EXACT)


@pytest.mark.parametrize(("kind", "attributes"), [("LSTM", {}), ("GRU", {}), ("GRU", {"linear_before_reset": 1})])
def test_the_states_of_recurrent_layers_are_those_of_the_reference_evaluator(tmp_path, kind, attributes):
    path = save_recurrent(tmp_path, kind, **attributes)
    states = ["h", "c"][: 2 if kind == "LSTM" else 1]
    law = rd.read_network(path, features=("error", "velocity"), recurrent={name: f"{name}_out" for name in states})
    evaluator = ReferenceEvaluator(str(path))
    memory, arrays = dict.fromkeys(law.law_info.memory, 0.0), {name: np.zeros((2, 1, 4)) for name in states}
    for error, velocity in RNG.normal(size=(20, 2)):
        found = law(error, velocity, **memory)
        memory = {name: found[f"{name}_next"] for name in memory}
        expected = evaluator.run(None, {"x": np.array([[[error, velocity]]]), **arrays})
        arrays = dict(zip(states, expected[1:], strict=True))
        np.testing.assert_allclose(found["torque"], expected[0][0, 0], **EXACT)
        np.testing.assert_allclose(list(memory.values()), np.concatenate([a.ravel() for a in arrays.values()]), **EXACT)


def test_inputs_and_outputs_of_several_entries_are_columns(tmp_path):
    nodes = [helper.make_node("Transpose", ["b"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["W", "t"], ["s"])]
    nodes += [helper.make_node("Mul", ["s", "a"], ["y"])]
    path = save(tmp_path, nodes, [value("a", 1), value("b", 1, 3)], [value("y", 2, 1)], [weights("W", 2, 3)])
    law = rd.read_network(path)
    (expected,) = ReferenceEvaluator(str(path)).run(None, {"a": np.array([2.0]), "b": np.array([[1.0, 2.0, 3.0]])})
    np.testing.assert_allclose(law(a=2.0, b=[1.0, 2.0, 3.0])["y"], expected.ravel(), **EXACT)


ARM = """
duration = "0.5 s"
[bodies.arm]
mass = 2.0
com = [0, 0, -0.3]
inertia = [0.02, 0.02, 0.001]
[joints.hip]
kind = "revolute"
parent = "ground"
child = "arm"
axis = [0, 1, 0]
armature = 0.05
damping = 0.4
[blocks.network]
law = "network"
period = "5 ms"
unit = "N m"
{network}
[blocks.motor]
law = "torque_source"
on = "hip"
inputs.command = "network.torque"
[initial]
hip.position = 0.4
"""
GRU = """file = "gru.onnx"
features = ["position", "velocity"]
output_scale = 8.0
recurrent = { h = "h_out" }
inputs = { position = "hip.position", velocity = "hip.velocity" }
"""


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """An arm under a recurrent network at samples, of a file, compiled."""
    folder = tmp_path_factory.mktemp("networks")
    save_recurrent(folder, "GRU")
    (folder / "arm.toml").write_text(ARM.format(network=GRU), encoding="utf-8")
    scenario = rd.read_scenario(folder / "arm.toml")
    return folder, scenario, rd.compile_system(rd.assemble(scenario), signals=("*",))


def test_in_native_code_its_torque_at_samples_is_that_of_the_reference_evaluator(arm):
    folder, _, system = arm
    run = rd.simulate(system)
    evaluator, h = ReferenceEvaluator(str(folder / "gru.onnx")), np.zeros((2, 1, 4))
    for time in np.arange(0.0, 0.5, 0.005):
        x = np.array([[[run["hip.position"](time), run["hip.velocity"](time)]]])
        expected, h = evaluator.run(None, {"x": x, "h": h})
        # Positions are read between the samples by the run's interpolation.
        assert abs(float(run["network.torque"](time + 0.0025)) - 8.0 * expected[0, 0]) < 1e-7


@pytest.mark.skipif(not lanes_are_there(), reason="this processor has no lanes")
def test_lanes_give_the_runs_one_by_one_to_the_last_bit(arm):
    values = {"hip.damping": np.linspace(0.2, 0.6, 5)}
    alone, together = (
        rd.simulate_many(arm[2], values, measures=["final:hip.position"], lanes=lanes, threads=1)
        for lanes in (False, True)
    )
    np.testing.assert_array_equal(alone.measures["final:hip.position"], together.measures["final:hip.position"])


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
def test_the_program_in_c_gives_the_run_to_the_last_bit(arm, tmp_path):
    assert write_c(arm[1], tmp_path).agreement.equal


def test_a_scenario_with_a_network_and_its_file_are_one(arm, tmp_path):
    folder, scenario, _ = arm
    rd.write_scenario(scenario, folder / "again.toml")
    again = rd.read_scenario(folder / "again.toml").replaced(name=scenario.name)
    assert again == scenario
    assert 'file = "gru.onnx"' in (folder / "again.toml").read_text()


@pytest.mark.parametrize(
    ("change", "place", "what"),
    [
        ({"features": ["position", "velocity", "q"]}, "features", "must be 2, as 'x' has entries, are 3"),
        ({"features": ["position", "2nd"]}, "features.1", "must be an argument"),
        ({"scales": [1.0]}, "scales", "must be as many as features, 2, are 1"),
        ({"recurrent": {"g": "h_out"}}, "recurrent.g", "is not an input of the network"),
        ({"recurrent": {"h": "hidden"}}, "recurrent.h.hidden", "is not an output of the network"),
        ({"recurrent": {}}, "features", "make the only input, the network has 2: x, h"),
        ({"outputs": ["a", "b"]}, "outputs", "must name 1 outputs (torque)"),
        ({"features": ["h_3", "velocity"]}, "features", "'h_3' is remembered under this name too"),
        ({"features": ["velocity_1", "velocity@1"]}, "features", "'velocity_1' is remembered under this name too"),
    ],
)
def test_keys_that_do_not_fit_the_network_are_named(arm, change, place, what):
    words = {"features": ["position", "velocity"], "recurrent": {"h": "h_out"}} | change
    with pytest.raises(rd.ModelError) as raised:
        rd.read_network(arm[0] / "gru.onnx", **words)
    assert any(flaw.path.endswith(place) and what in flaw.what for flaw in raised.value.flaws), raised.value


def test_files_that_are_no_network_or_hold_what_no_law_knows_are_refused(tmp_path):
    (tmp_path / "text.onnx").write_text("not a network")
    with pytest.raises(rd.ModelError, match="is not an ONNX file"):
        rd.read_network(tmp_path / "text.onnx")
    path = save(tmp_path, [helper.make_node("Sinh", ["a"], ["y"])], [value("a", 1)], [value("y", 1)], [])
    with pytest.raises(rd.ModelError, match="uses Sinh; a law knows Abs, Add"):
        rd.read_network(path)
    foreign = helper.make_node("Relu", ["a"], ["y"], domain="com.example")
    path = save(tmp_path, [foreign], [value("a", 1)], [value("y", 1)], [], domain="com.example")
    with pytest.raises(rd.ModelError, match="uses Relu; a law knows"):
        rd.read_network(path)
    path = save(tmp_path, [helper.make_node("Relu", ["a"], ["y"])], [value("a", 1)], [value("y", 1)], [], opset=6)
    with pytest.raises(rd.ModelError, match="has operations of version 6"):
        rd.read_network(path)
    path = save_recurrent(tmp_path, "LSTM", direction="reverse")
    with pytest.raises(rd.ModelError, match="direction of a recurrent layer"):
        rd.read_network(path, features=("a", "b"), recurrent={"h": "h_out", "c": "c_out"})
    product = helper.make_node("MatMul", ["a", "W"], ["y"])
    path = save(tmp_path, [product], [value("a", 1, 300)], [value("y", 1, 200)], [weights("W", 300, 200)])
    with pytest.raises(rd.ModelError, match="has 60000 weights, at most 50000 are compiled"):
        rd.read_network(path)


def test_a_file_that_is_not_there_is_named_in_the_scenario_s_file(tmp_path):
    (tmp_path / "arm.toml").write_text(ARM.format(network=GRU), encoding="utf-8")
    with pytest.raises(rd.ModelError, match=r"blocks.network.file: cannot be read"):
        rd.read_scenario(tmp_path / "arm.toml")


def test_a_network_that_acts_on_its_joint_gives_a_torque(tmp_path):
    save_perceptron(tmp_path)
    network = 'file = "drive.onnx"\nfeatures = ["position", "velocity", "position", "velocity", "position", "velocity"]'
    text = (
        ARM.format(network=network)
        .replace('period = "5 ms"\nunit = "N m"', 'on = "hip"')
        .partition("[blocks.motor]")[0]
    )
    (tmp_path / "arm.toml").write_text(text, encoding="utf-8")
    run = rd.simulate(rd.read_scenario(tmp_path / "arm.toml").replaced(duration=0.1))
    assert run["network.torque"].unit == "N m"
    assert not run.warnings
    assert abs(run.final["network.torque"]) > 0.01
