"""Six-axis industrial arm of the size of a Staubli RX90, swinging freely.

Geometry: two arms of 0.45 m. Inertias: the published measurement-based set of the smaller TX40 scaled to this size
(length x 2, mass x 3.2), this project's choice; the real arm's values are not public.
"""

from __future__ import annotations

import math

from robodyn.description.files import DHRow, mechanism_from_dh
from robodyn.description.model import Body, Machine, Mechanism, Point, Scenario, Solver

ARM = 0.450
FLANGE = 0.085
LENGTH_SCALE, MASS_SCALE = 2.0, 3.2

# TX40 per link, in its modified DH frame: mass [kg], first moment [kg m], inertia about the frame's origin [kg m^2]
# (xx, yy, zz, xy, xz, yz).
TX40 = (
    (8.61, (0.0, 0.0, -0.4305), (0.424, 0.424, 0.352, 0.0, 0.0, 0.0)),
    (4.85, (0.392, -0.0072, 0.162), (0.0163, 0.0881, 0.0828, 7.85e-4, -0.0157, 3.24e-4)),
    (4.07, (0.0326, 0.0244, 0.265), (0.0223, 0.0224, 4.41e-3, -1.95e-4, -1.16e-3, -2.22e-3)),
    (3.62, (0.0145, -0.00724, -0.586), (0.109, 0.108, 4.07e-3, 2.9e-5, 1.35e-3, -1.17e-3)),
    (1.02, (0.0, -3.06e-3, -1.02e-3), (1.01e-3, 1.00e-3, 1.01e-3, 0.0, 0.0, -3.06e-6)),
    (0.20, (0.0, 0.0, 8.4e-3), (3.53e-3, 3.53e-3, 3.53e-4, 0.0, 0.0, 0.0)),
)
ROTOR_INERTIA = (2.95, 3.93, 0.67, 0.27, 0.29, 0.091)
ALPHA = (0.0, math.pi / 2, 0.0, -math.pi / 2, math.pi / 2, -math.pi / 2)


def six_axis_mechanism(rotors: bool = True) -> Mechanism:
    """The arm with modified Denavit-Hartenberg frames (Khalil's convention).

    Args:
        rotors: whether the joints carry the geared rotors' inertia.
    """
    lengths = ((0.0, 0.0), (0.0, 0.0), (ARM, 0.0), (0.0, ARM), (0.0, 0.0), (0.0, 0.0))
    rows = [
        DHRow(f"joint{k + 1}", a=a, alpha=ALPHA[k], d=d, armature=ROTOR_INERTIA[k] if rotors else 0.0)
        for k, (a, d) in enumerate(lengths)
    ]
    bodies = [_scaled_link(k) for k in range(6)]
    tool = Point("tool", "link6", (0.0, 0.0, FLANGE))
    return mechanism_from_dh("six-axis", rows, bodies, "modified", points=(tool,))


def _scaled_link(k: int) -> Body:
    mass, moment, inertia = TX40[k]
    com = tuple(LENGTH_SCALE * component / mass for component in moment)
    scaled = tuple(MASS_SCALE * LENGTH_SCALE**2 * entry for entry in inertia)
    return Body.about_origin(f"link{k + 1}", MASS_SCALE * mass, com, scaled)


def swinging_arm(duration: float = 10.0) -> Scenario:
    """The arm let go from a raised position without drives or friction: its energy is kept."""
    raised = {f"joint{k + 1}.position": angle for k, angle in enumerate((0.3, 0.8, 0.4, 0.2, 0.5, 0.1))}
    return Scenario(
        "swinging-arm",
        Machine("six-axis", six_axis_mechanism(), tunable=("link6.mass",)),
        duration,
        raised,
        solver=Solver("dopri5", rtol=1e-9, atol=1e-11),
        title="Six-axis arm swinging freely, energy kept",
    )
