"""Does every scenario of the studies run, is it data, and can it be changed and drawn?"""

import pytest
from support.catalogue import (
    assert_is_data,
    assert_is_drawn,
    assert_numbers_change_alone,
    assert_runs,
    assert_usable_and_runs,
    recorded,
)

from robodyn.description.catalog import list_scenarios
from robodyn.description.model import describe
from robodyn.presentation.pages.machine import read_machine
from robodyn_studies.catalog import SCENARIOS
from robodyn_studies.catalog import rx90_parameters as rx
from robodyn_studies.catalog.rx90 import weld_reference
from robodyn_studies.catalog.space_arm import BODIES, split_boom

# The one that imitates a spreadsheet takes explicit Euler steps of 0.4 ms, which lose and gain energy; the one that
# stands still moves by microradians, and its friction's work on them is found to some percent by steps of 0.25 ms; the
# arm without its payload has little energy, at the solver's tolerance of 1e-5.
ALLOWED = {"scara-avoid-sampled": 0.05, "rx90-hold": 0.2, "space-case-arm-rigid": 2e-5}
# Other motions of machines whose bodies and blocks are all in scenarios of other names, which are checked.
MOTIONS = {
    *("epaas-rig-retract", "epaas-step-l1", "epaas-step-l2", "epaas-step-l3", "epaas-step-l4"),
    *("rx90-weld-stiction", "delta-fall", "delta-rods-pick", "cable-hang"),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_machine_is_usable_by_the_command_line_and_runs_to_its_end(name, monkeypatch):
    scenario, allowed = SCENARIOS[name](), ALLOWED.get(name, 1e-5)
    # The cable sways for six minutes, which its study does in full.
    if name in MOTIONS:
        assert_runs(scenario, allowed, longest=10.0)
    else:
        assert_usable_and_runs(name, scenario, monkeypatch, allowed, longest=10.0)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_is_data(name):
    assert_is_data(SCENARIOS[name])


@pytest.mark.parametrize("name", SCENARIOS)
def test_changing_one_number_changes_that_number_alone(name):
    assert_numbers_change_alone(SCENARIOS[name]())


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_machine_can_be_drawn(name):
    assert_is_drawn(SCENARIOS[name]())


def test_what_scenarios_share_is_what_is_made_anew():
    """Plans and reduced booms are made once a process: the same as made again."""
    plan = (rx.WELD_SPEED, rx.WELD_SPEED / rx.WELD_RAMP)
    boom = next(body for body in BODIES if body.name == "upper_boom")
    assert describe(weld_reference(*plan)) == describe(weld_reference.__wrapped__(*plan))
    assert describe(split_boom(boom).tube) == describe(split_boom.__wrapped__(boom).tube)


def test_every_scenario_is_found():
    assert set(SCENARIOS) <= set(list_scenarios())


def test_surfaces_that_touch_are_told_once_on_their_points():
    scenario = SCENARIOS["space-case-rigid"]()
    run = recorded(scenario, [f"{joint.name}.position" for joint in scenario.machine.mechanism.axes])
    machine, _ = read_machine(run)
    # Point A is a ball without a radius.
    assert machine["surfaces"] == [{"kind": "plane", "point": "wall", "normal": [0, -1, 0]}]
