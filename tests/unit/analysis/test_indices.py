"""Are variance-based indices those of a closed form?"""

from dataclasses import replace

import pytest

import robodyn as rd
from robodyn.analysis.sweeps.indices import find_indices
from robodyn.analysis.sweeps.variation import Distribution
from robodyn.description.catalog import pendulum

pytest.importorskip("SALib")


@pytest.fixture(scope="module")
def system():
    """A signal (1 + a) b + c of three parameters, whose variances are known."""

    @rd.law
    def product(angle, *, a, b, c):
        return {"y": (1 + a) * b + c + 0.0 * angle}

    scenario = replace(pendulum(), duration=0.01, solver=rd.Solver("rk4", step=0.01))
    block = rd.Block("made", product, inputs={"angle": "hinge.position"}, parameters={"a": 0.0, "b": 0.0, "c": 0.0})
    return rd.assemble(replace(scenario, machine=replace(scenario.machine, blocks=(block,))))


def test_indices_are_those_of_a_product_and_a_sum(system):
    """y = (1 + a) b + c with a, b, c of mean 0: variances are b: 1, ab: 4, c: 1 (of deviations 2, 1, 1)."""
    given = {
        "made.a": Distribution("normal", (0.0, 2.0)),
        "made.b": Distribution("normal", (0.0, 1.0)),
        "made.c": Distribution("normal", (0.0, 1.0)),
    }
    found, table = find_indices(system, given, ["final:made.y"], points=256)
    assert len(table) == 256 * 5
    exact = {"made.a": (0.0, 4 / 6), "made.b": (1 / 6, 5 / 6), "made.c": (1 / 6, 1 / 6)}
    for one in found["final:made.y"]:
        first, total = exact[one.name]
        # One and a half times half the interval of 95 %: 99.7 %.
        assert abs(one.first - first) <= 1.5 * one.first_interval
        assert abs(one.total - total) <= 1.5 * one.total_interval
        assert one.total_interval < 0.5
    assert found["final:made.y"][0].name == "made.b"


def test_what_cannot_be_is_refused(system):
    with pytest.raises(rd.ModelError, match="power of 2") as refused:
        find_indices(system, {"made.d": Distribution("normal", (0.0, 1.0))}, ["final:made.y"], points=100)
    assert "no such number" in str(refused.value)
