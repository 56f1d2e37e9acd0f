"""Does what must hold for any machine hold for random ones? See `support.random_machines.examination`."""

from dataclasses import replace

import pytest
from support.random_machines import random_scenario
from support.random_machines.examination import examine
from support.random_machines.wiring import HIDDEN_CAUSES, all_laws

from robodyn import ConstraintMethod, ModelError, Solver, simulate

LARGE = 20
"""Machines with lower seeds have up to three bodies, the others up to two."""
BATCHES = {"large": [*range(6), *range(20, 26)], "small": range(32, 44)}
"""Seeds; `make soak` examines as many as one likes."""


LATER = ("rotor", "drag", "sampled_pid", "back_calculation_pid", "incremental_pid", "chirp_reference", "noise")
LATER += ("sampled_low_pass", "sampled_notch", "sampled_lead", "disturbance_observer", "reversal_feed_forward")
LATER += ("zv_shaper", "zvd_shaper", "actuator_feed_forward", "walking_leg")
"""Laws that came after the seeds that found something."""


NEWER = ("warm_friction", "valve_edge", "four_way_valve", "laminar_gap", "relief_valve", "hydraulic_pump")
NEWER += HIDDEN_CAUSES
"""Laws that came after the later ones."""


def machine(seed):
    return random_scenario(seed, largest=3 if seed < LARGE else 2)


@pytest.mark.parametrize("batch", BATCHES)
def test_two_methods_and_two_constraint_methods_agree_and_energy_is_kept(batch):
    findings = [examine(machine(seed)) for seed in BATCHES[batch]]
    assert [f"{finding.name}: {failure}" for finding in findings for failure in finding.failures] == []
    assert [f"{finding.name}: {finding.refused}" for finding in findings if finding.refused] == []
    # Most pairs of runs are compared over all of their time: errors grow little in most machines.
    shares = [share for finding in findings for share in finding.compared]
    assert len(shares) >= len(BATCHES[batch])
    assert sum(share == 1 for share in shares) >= 0.7 * len(shares)


@pytest.mark.parametrize("seed", [70235, 200239, 200431])
def test_what_was_found_once_stays_mended(seed):
    """A clutch on a combination of moving joints slips by the force that it was found to hold with; friction on a joint
    that a constraint held is decided anew once that lets go."""
    assert examine(random_scenario(seed, largest=6, without=(*LATER, *NEWER))).failures == []


def test_a_locked_machine_that_shakes_by_rounding_raises_no_alarm():
    """Friction on a joint that a loop locks has nothing to hold: it rubs with full force at 1e-13 rad/s."""
    assert examine(random_scenario(3100776, largest=6, without=NEWER)).failures == []


def test_every_law_takes_part():
    scenarios = [machine(seed) for seed in range(240)]
    blocks = {block.law for scenario in scenarios for block in scenario.machine.blocks}
    contacts = {law for s in scenarios for contact in s.machine.contacts for _, law, _ in contact.laws.values()}
    # Random machines have no wheels: `systems/test_tyres.py` examines the laws of their rims.
    assert {law.name for law in all_laws() if not law.rolls} - blocks - contacts == set()


def test_the_same_seed_gives_the_same_machine():
    first, second = (machine(7) for _ in range(2))
    assert first.numbers() == second.numbers()
    assert [block.inputs for block in first.machine.blocks] == [block.inputs for block in second.machine.blocks]


def test_an_assembly_meets_all_equations_or_is_refused():
    """A loop joint and a rod lock two joints; in another assembly only some of their equations are met.

    Index 3 leaves out what follows from others near the start values, and finds that one.
    """
    scenario = random_scenario(20120, without=(*LATER, *NEWER))
    assert simulate(scenario)["constraints.position_error"](0.0) < 1e-9
    solver = Solver("generalised_alpha", step=1e-3)
    with pytest.raises(ModelError, match="of equations that seem to follow from the others"):
        simulate(replace(scenario, constraint_method=ConstraintMethod("index3"), solver=solver))
