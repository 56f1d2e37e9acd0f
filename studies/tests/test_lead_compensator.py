"""Does a lead compensator move the pole of a mode as far as it was designed to?"""

import numpy as np
import pytest

from robodyn import ModelError
from robodyn.analysis import LinearModel
from robodyn_studies.lead_compensator import design_lead

OMEGA, ZETA = 3.0, 0.01


def vibration(zero: float, sign: float = 1.0) -> LinearModel:
    """One mode, sign (s + zero) / (s^2 + 2 zeta omega s + omega^2)."""
    A = np.array([[0.0, 1.0], [-(OMEGA**2), -2 * ZETA * OMEGA]])
    return LinearModel(A, np.array([[0.0], [1.0]]), sign * np.array([[zero, 1.0]]))


def design(model, damping):
    return design_lead(model, "u1", "y1", frequency=OMEGA / (2 * np.pi), damping=damping)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_compensator_turns_the_phase_of_the_response_back(sign):
    lead = design(vibration(OMEGA, sign), 0.02)
    # At the mode the response lags by 45 deg, but for its damping; a pole at the mode leads by as much.
    assert lead.pole == pytest.approx(OMEGA, rel=0.03)
    assert np.sign(lead.gain) == sign
    assert lead.stable


def test_a_small_increase_of_damping_is_met_the_better_the_smaller_it_is():
    misses = [abs(design(vibration(2 * OMEGA), wanted).damped - wanted) / (wanted - ZETA) for wanted in (0.012, 0.014)]
    # A first-order design: its relative error is proportional to the increase.
    assert misses[0] < 0.6 * misses[1] < 0.02


def test_the_closed_loop_has_the_damping_that_is_told():
    model, lead = vibration(OMEGA), design(vibration(OMEGA), 0.1)
    # Characteristic polynomial of 1 + C G, by hand: (s + p)(s^2 + 2 zeta w s + w^2) + K s (s + w).
    mode = np.polymul([1.0, lead.pole], [1.0, 2 * ZETA * OMEGA, OMEGA**2])
    roots = np.roots(np.polyadd(mode, lead.gain * np.array([1.0, OMEGA, 0.0])))
    pole = roots[np.argmax(roots.imag)]
    assert lead.damped == pytest.approx(-pole.real / abs(pole), rel=1e-9)
    assert lead.damping == pytest.approx(ZETA)
    assert model.order == 2


@pytest.mark.parametrize(("zero", "damping", "message"), [(1e4, 0.02, "phase"), (OMEGA, 0.005, "between")])
def test_what_cannot_be_designed_is_refused(zero, damping, message):
    with pytest.raises(ModelError, match=message):
        design(vibration(zero), damping)
