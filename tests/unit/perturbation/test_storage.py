"""Is a nominal motion read back as it was written, and a wrong file refused?"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.io import loadmat
from support.followers import two_link

from robodyn import ModelError, Recording, assemble, simulate
from robodyn.computation.perturbation import (
    Perturbed,
    compute_nominal,
    load_nominal,
    save_linear_model,
    save_nominal,
    simulate_perturbed,
)
from robodyn.computation.perturbation.nominal import ARRAYS
from robodyn.exchange.codegen.model import prepare_model


@pytest.fixture(scope="module")
def scenario():
    return two_link(50.0, tunable=("forearm.mass",))


@pytest.fixture(scope="module")
def nominal(scenario):
    return compute_nominal(assemble(scenario), 30)


def test_every_array_and_name_comes_back(nominal, tmp_path):
    read = load_nominal(save_nominal(nominal, tmp_path / "motion.npz"))
    assert all(np.array_equal(getattr(read, name), getattr(nominal, name)) for name in ARRAYS)
    names = ("points", "joints", "signals", "curved", "parameters", "digest")
    assert all(getattr(read, name) == getattr(nominal, name) for name in names)
    assert [path.name for path in tmp_path.iterdir()] == ["motion.npz"]


def test_a_run_from_a_file_is_the_run_without_it(scenario, nominal, tmp_path):
    read = load_nominal(save_nominal(nominal, tmp_path / "motion.npz"))
    first, second = simulate_perturbed(scenario, read), simulate_perturbed(scenario, points=30)
    assert np.array_equal(first.values, second.values)


def test_other_gains_may_use_the_file(scenario, nominal):
    run = simulate_perturbed(scenario, nominal, parameters={"elbow.control.damping": 200.0})
    assert run.outcome.ok


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"forearm.mass": 9.0}, r"nominal.forearm.mass: was computed for 6, is 9 here"),
        ({"duration": 1.1}, r"lasts 1.2 s, the scenario 1.1 s"),
        ({"upper_arm.mass": 9.0}, r"nominal: belongs to another machine or reference"),
    ],
)
def test_the_motion_of_another_machine_duration_or_payload_is_refused(scenario, nominal, change, message):
    with pytest.raises(ModelError, match=message):
        Perturbed(scenario.with_numbers(change), nominal=nominal)


def test_the_motion_along_another_reference_is_refused(scenario, nominal):
    block = next(block for block in scenario.machine.blocks if block.name == "elbow.reference")
    other = replace(block, parameters=dict(block.parameters) | {"points": (0.0, -1.0, -0.5)})
    blocks = tuple(other if part is block else part for part in scenario.machine.blocks)
    with pytest.raises(ModelError, match="another machine or reference"):
        Perturbed(replace(scenario, machine=replace(scenario.machine, blocks=blocks)), nominal=nominal)


def test_damaged_and_foreign_files_are_refused(nominal, tmp_path):
    path = save_nominal(nominal, tmp_path / "motion.npz")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match="not the file of a nominal motion, or damaged"):
        load_nominal(path)
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    with pytest.raises(ModelError, match="damaged"):
        load_nominal(path)
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ModelError, match="not the file of a nominal motion"):
        load_nominal(tmp_path / "other.npz")
    with pytest.raises(ModelError, match="cannot be read"):
        load_nominal(tmp_path / "missing.npz")


def miss_of_linear_model(scenario, path):
    """Largest deviation of the non-linear run from its reference, and how far the file, read by scipy alone, is from
    its accelerations, x_dot = x0_dot + A (x - x0) + B (u - u0), and from its outputs, y = y0 + C (x - x0)."""
    file = loadmat(save_linear_model(compute_nominal(assemble(scenario), 200), path), squeeze_me=True)
    # Rows at the file's own times, breaks apart: nothing is read between them.
    once = [k for k, time in enumerate(file["t"]) if np.count_nonzero(file["t"] == time) == 1]
    at = {name: file[name][..., once] for name in ("A", "B", "C", "x0", "u0", "y0")}
    run = simulate(scenario, recording=Recording(times=tuple(file["t"][once])))
    u, x, y = (np.array([run[name].values for name in file[key]]) for key in ("inputs", "states", "outputs"))
    velocities = [name.replace("velocity", "acceleration") for name in file["states"][2:]]
    nominal = [run[name.replace("velocity", "reference.acceleration")].values for name in file["states"][2:]]
    a = np.array(nominal) + (multiply(at["A"], x - at["x0"]) + multiply(at["B"], u - at["u0"]))[2:]
    missed = np.max(np.abs(a - [run[name].values for name in velocities]))
    away = np.max(np.abs(y - at["y0"] - multiply(at["C"], x - at["x0"])))
    return np.max(np.abs(x - at["x0"])), missed, away


def multiply(matrices, columns):
    return np.einsum("ijk,jk->ik", matrices, columns)


def test_error_of_the_linear_model_in_the_file_is_of_second_order_in_the_deviation(tmp_path):
    soft = two_link()
    gains = [f"{joint}.control.{gain}" for joint in ("shoulder", "elbow") for gain in ("stiffness", "damping")]
    stiff = soft.with_numbers({name: 8.0 * soft.numbers()[name].value for name in gains})
    large, small = (miss_of_linear_model(each, tmp_path / "model.mat") for each in (soft, stiff))
    smaller = small[0] / large[0]
    assert smaller < 0.2
    assert small[1] < smaller**2 * large[1]
    assert small[2] < smaller**2 * large[2]


def test_numbers_of_the_nominal_motion_are_fixed_in_exported_code(scenario):
    near = Perturbed(scenario, points=30)
    model, _ = prepare_model(near, None, {}, plain=True)
    assert "forearm.mass" in model.fixed
    assert "elbow.control.damping" not in model.fixed
    assert np.array_equal(model.system.data, near.system.data)
    with pytest.raises(ModelError, match="inputs: come from outside"):
        prepare_model(near, None, {"elbow.control.torque": 0.0}, plain=True)
