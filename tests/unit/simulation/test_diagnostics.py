"""Do runs whose numbers are doubtful say so?"""

import re

import pytest

from robodyn import GROUND, Joint, Machine, Mechanism, Scenario, simulate
from robodyn.description.catalog import find_scenario
from robodyn.description.structures import Reduction, Section, beam

SLOPE = 1.3765
"""Turn of a cantilever's tip over its deflection, in its first vibration, of a beam of unit length."""


@pytest.mark.parametrize("deflection", [0.3, 0.5])
def test_a_beam_bent_beyond_linear_deformations_is_told_with_its_turn(deflection):
    section = Section.rod(0.01, 7e10, 2.7e10, 2700)
    mast = beam("mast", 1.0, section, Reduction(modes=2, directions=("y", "rz")))
    mechanism = Mechanism("mast", (mast,), (Joint("foot", "fixed", GROUND, "mast"),), gravity=(0, 0, 0))
    run = simulate(Scenario("mast", Machine("mast", mechanism), 1e-3, {"mast.mode1.position": deflection}))

    turn = SLOPE * deflection
    message = [float(number) for text in run.warnings for number in re.findall(r"'mast' is bent by ([\d.]+) rad", text)]
    # Three digits are printed.
    assert message == ([pytest.approx(turn, rel=2e-3)] if turn > 0.5 else [])


def test_a_run_that_waits_for_an_event_in_vain_says_so():
    """The tool cannot rise above the obstacle: the arm stands before it until the end."""
    low = find_scenario("scara-avoid").with_numbers({"lift.target.constant": 0.1})
    (sentence,) = (one for one in simulate(low).warnings if "in vain" in one)
    assert "'arrived'" in sentence
    assert not [one for one in simulate(find_scenario("scara-avoid")).warnings if "in vain" in one]
