"""Mechanisms of the test set for initial value problem solvers, whose end values are printed to 16 digits.

Andrews' squeezing mechanism (problem II-10, IFToMM benchmark A03), from bodies, joints, loop joints and a spring; the
printed values are by PSIDE with tolerance 1e-14. The van der Pol equation is in tests/convergence/test_stiff.py.
"""

import pytest

from robodyn import simulate

catalog = pytest.importorskip("robodyn_studies.catalog")
ANGLES = {
    "beta": 15.81077119629904,
    "theta": -15.75637105984298,
    "gamma": 0.04082224013073101,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "omega": 0.5347301163226948,
    "epsilon": 1.048080741042263,
}
SPEEDS = {
    "beta": 1139.920302151208,
    "theta": -1424.379294994111,
    "gamma": 11.03291221937134,
    "phi": 19.29337464421385,
    "delta": 0.5735699284790808,
    "omega": -19.29337464421385,
    "epsilon": 0.3231791658026955,
}
SOURCE = "Test Set for IVP Solvers 2.4, andrews"


def test_andrews_squeezing_mechanism_ends_at_the_published_values(proof):
    final = simulate(catalog.andrews()).final
    # Asked for is 1e-7 of turns of up to 16 rad, and as much of speeds of up to 1400 rad/s.
    quantities = (("position", ANGLES, "rad", 1e-7), ("velocity", SPEEDS, "rad/s", 1e-4))
    for quantity, printed, unit, within in quantities:
        ours = [final[f"{angle}.{quantity}"] for angle in printed]
        known = {"ours": ours, "reference": list(printed.values()), "unit": unit, "within": within}
        what = f"{quantity} of Andrews' squeezing mechanism at 0.03 s, seven bodies, three loops"
        proof(what, kind="published", source=SOURCE, **known)
