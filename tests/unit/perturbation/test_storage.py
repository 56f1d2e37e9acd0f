"""Is a nominal motion read back as it was written, and a wrong file refused?"""

from dataclasses import replace

import numpy as np
import pytest
from support.followers import two_link

from robodyn import ModelError, assemble
from robodyn.computation.perturbation import Perturbed, compute_nominal, load_nominal, save_nominal, simulate_perturbed
from robodyn.computation.perturbation.nominal import ARRAYS


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
        ({"upper_arm.mass": 9.0}, r"nominal: is of another machine or another reference"),
    ],
)
def test_the_motion_of_another_machine_duration_or_payload_is_refused(scenario, nominal, change, message):
    with pytest.raises(ModelError, match=message):
        Perturbed(scenario.with_numbers(change), nominal=nominal)


def test_the_motion_along_another_reference_is_refused(scenario, nominal):
    block = next(block for block in scenario.machine.blocks if block.name == "elbow.reference")
    other = replace(block, parameters=dict(block.parameters) | {"points": (0.0, -1.0, -0.5)})
    blocks = tuple(other if part is block else part for part in scenario.machine.blocks)
    with pytest.raises(ModelError, match="another reference"):
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
