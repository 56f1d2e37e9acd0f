"""Do two sides that are one body agree as bodies do, and is none asked for what it cannot do?"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn.base.errors import ModelError
from robodyn.computation.cosimulation import (
    Connection,
    CosimSettings,
    InterfaceMotion,
    ScenarioUnit,
    cosimulate,
    model_from_mobility,
)
from robodyn.computation.cosimulation.reduced import JOININGS, PortTerms, turn_between
from robodyn.computation.engine.binding import EngineStructure, functions
from robodyn.description.catalog import oscillator_sides
from robodyn.description.model import Interface

GENERATOR = np.random.default_rng(7)


def side(rank=6):
    """A reduced model with a mobility of some rank, a little away from the origin."""
    factor = GENERATOR.normal(size=(6, rank))
    rotation = Rotation.from_rotvec(1e-3 * GENERATOR.normal(size=3)).as_matrix()
    motion = InterfaceMotion(1e-3 * GENERATOR.normal(size=3), GENERATOR.normal(size=6), rotation)
    return model_from_mobility(factor @ factor.T, np.zeros(6), motion)


def join_motions(first, second, how):
    """The common motion that the engine finds for two sides."""
    ports = [PortTerms(Interface("port", "model", point="tip", rotates=True), {}) for _ in range(2)]
    for port, model in zip(ports, (first, second), strict=True):
        port.put(model)
    ports[0].fields.moves = 1
    pair = EngineStructure("Pair", first=ports[0], second=ports[1], join=JOININGS.index(how))
    functions().interface_join(pair.address, ports[0].fields.wanted)
    return ports[0].goal


def test_sides_joined_by_inertia_keep_their_momentum():
    first, second = side(), side()
    joined = join_motions(first, second, "inertia")

    momentum = first.inertia @ first.motion.velocity + second.inertia @ second.motion.velocity
    np.testing.assert_allclose((first.inertia + second.inertia) @ joined.velocity, momentum, rtol=1e-9)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_singular_side_is_asked_only_for_what_it_can_do(swapped):
    free, singular = side(), side(rank=5)
    lacking = np.linalg.svd(singular.mobility)[0][:, -1]
    pair = (singular, free) if swapped else (free, singular)
    joined = join_motions(*pair, "inertia")

    moved = np.concatenate(
        [joined.position - singular.motion.position, turn_between(singular.motion.rotation, joined.rotation)]
    )
    assert lacking @ (joined.velocity - singular.motion.velocity) == pytest.approx(0.0, abs=1e-10)
    # Turns by rotation vectors of 1e-3 add up to their squares.
    assert lacking @ moved == pytest.approx(0.0, abs=1e-5 if not swapped else 1e-12)


def test_halfway_is_as_far_from_both():
    first, second = side(), side()
    joined = join_motions(first, second, "mean")

    np.testing.assert_allclose(joined.velocity, (first.motion.velocity + second.motion.velocity) / 2)
    turns = [turn_between(model.motion.rotation, joined.rotation) for model in (first, second)]
    np.testing.assert_allclose(turns[0], -turns[1], atol=1e-12)


def test_a_joining_without_effect_is_told():
    units = [ScenarioUnit(part, name=name) for part, name in zip(oscillator_sides("model-model"), "ab", strict=True)]
    with pytest.raises(ModelError, match="has no effect"):
        cosimulate(units, [Connection("a.port", "b.port", join="mean")], settings=CosimSettings(0.01))
