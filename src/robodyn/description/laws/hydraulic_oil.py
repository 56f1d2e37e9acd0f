"""Hydraulic oil: how much room does it take under a pressure, how stiff is it, how does it pass an edge?

Symbols: pressures p above the atmosphere's, p_a; E bulk modulus of oil without air; x part of the volume that is free
air at atmospheric pressure; n exponent of its compression (1 slow, 1.4 fast).
"""

from __future__ import annotations

from robodyn.base import symbolic as sym

ATMOSPHERE = 101_325.0
# Below this drop an orifice's flow turns laminar: Q ~ dp instead of Q ~ sqrt(dp) [Pa].
TRANSITION_PRESSURE = 1e3
# Least absolute pressure that is computed with [Pa]: air then fills 100,000 times its volume.
VACUUM = 1.0


def orifice_flow(pressure_drop):
    """Flow through a sharp edge for a unit coefficient: `sign(dp) sqrt(|dp|)`, smooth through zero.

    dp / (dp^2 + p0^2)^(1/4), less than 3e-7 beside the root for drops above 1 MPa
    """
    return pressure_drop / sym.sqrt(sym.sqrt(pressure_drop**2 + TRANSITION_PRESSURE**2))


def _parts(pressure, bulk_modulus, air, polytropic):
    """Room of the oil and of its air, by the room that both have at atmospheric pressure."""
    absolute = sym.maximum(pressure + ATMOSPHERE, VACUUM)
    return (1 - air) * sym.exp(-pressure / bulk_modulus), air * (ATMOSPHERE / absolute) ** (1 / polytropic), absolute


def specific_volume(pressure, *, bulk_modulus, air=0.0, polytropic=1.4):
    """Room of oil with air, by that at atmospheric pressure: `(1 - x) exp(-p/E) + x (p_a / (p_a + p))^(1/n)`."""
    oil, gas, _ = _parts(pressure, bulk_modulus, air, polytropic)
    return oil + gas


def gas_share(pressure, *, bulk_modulus, air=0.0, polytropic=1.4):
    """Part of the room that is gas: near 1 where the oil has cavitated."""
    oil, gas, _ = _parts(pressure, bulk_modulus, air, polytropic)
    return gas / (oil + gas)


def effective_bulk_modulus(pressure, *, bulk_modulus, air=0.0, polytropic=1.4):
    """Stiffness of oil with air, `-v dp/dv` of its specific volume v: E without air, gas near a vacuum."""
    oil, gas, absolute = _parts(pressure, bulk_modulus, air, polytropic)
    return (oil + gas) / (oil / bulk_modulus + gas / (polytropic * absolute))
