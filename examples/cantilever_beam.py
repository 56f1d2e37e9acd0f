"""How far does a link bend, and how fast does it ring? A clamped beam by a few modes, against Euler and Bernoulli.

sag = F l^3 / (3 E I),   f1 = 1.8751^2 / (2 pi) sqrt(E I / (rho A l^4))
"""

import math

import robodyn as rd
from robodyn.analysis import find_modes
from robodyn.description.structures import Reduction, Section, beam
from robodyn.presentation.reporting import plot_signals

LENGTH, WIDTH, YOUNG, DENSITY, FORCE = 1.0, 0.02, 7e10, 2700.0, 5.0
AREA, BENDING = WIDTH**2, YOUNG * WIDTH**4 / 12


def describe_beam(start: str = "given") -> rd.Scenario:
    """A square rod clamped to the wall; the force on its tip comes at once, or it has long been there."""
    section = Section.rectangle(WIDTH, WIDTH, young=YOUNG, shear=YOUNG / 2.6, density=DENSITY)
    rod = beam("rod", LENGTH, section, Reduction(modes=3, directions=("y", "rz")), damping=0.02)
    wall = rd.Joint("wall", "fixed", rd.GROUND, "rod")
    mechanism = rd.Mechanism("beam", (rod,), (wall,), rod.points(), gravity=(0, 0, 0))
    load = rd.Load("load", "rod.tip", force=(0, FORCE, 0))
    return rd.Scenario("cantilever", rd.Machine("beam", mechanism, loads=(load,)), 0.5, initialisation=start)


def expected() -> dict[str, float]:
    """Sag of the tip [m] and first frequency [Hz] by the closed forms."""
    frequency = 1.8751040687**2 / (2 * math.pi) * math.sqrt(BENDING / (DENSITY * AREA * LENGTH**4))
    return {"sag": FORCE * LENGTH**3 / (3 * BENDING), "frequency": frequency}


def main() -> dict[str, float]:
    """Sag at rest [m], first frequency [Hz], and how far the tip swings where the force comes at once [m]."""
    modes = find_modes(rd.assemble(describe_beam()))
    sag, swing = (rd.simulate(describe_beam(start))["rod.tip.position.y"].max for start in ("at_rest", "given"))
    return {"sag": sag, "frequency": min(mode.frequency for mode in modes.modes), "swing": swing}


def draw(path: str) -> None:
    """The tip swings about its sag."""
    plot_signals(rd.simulate(describe_beam()), ["rod.tip.position.y", "rod.strain_energy"], path)


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:<10} {value:.6g}")
