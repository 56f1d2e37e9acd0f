"""How much gain does a sampled loop bear? Its exact margin, delays and sampling included, before any run.

A mass m under a sampled velocity feedback with gain D and period T turns unstable at D T / m = 2.
"""

import robodyn as rd
from robodyn.analysis import find_margins, linearise_sampled
from robodyn.presentation.reporting import plot_signals

MASS, GAIN, PERIOD = 2.0, 40.0, 0.01


def describe_cart(factor: float = 1.0) -> rd.Scenario:
    """A cart that is to stop, by a loop whose gain is multiplied by a factor."""
    rail = rd.Joint("rail", "prismatic", rd.GROUND, "cart", axis=(1, 0, 0))
    inputs = {"target": 0.0, "position": 0.0, "velocity": "rail.velocity"}
    gains = {"proportional": 0.0, "derivative": factor * GAIN}
    blocks = (
        rd.Block("control", "pd_control", inputs=inputs, parameters=gains, period=PERIOD, unit="N"),
        rd.Block("drive", "torque_source", on="rail", inputs={"command": "control.command"}),
    )
    mechanism = rd.Mechanism("cart", (rd.Body("cart", MASS),), (rail,), gravity=(0, 0, 0))
    return rd.Scenario("cart", rd.Machine("cart", mechanism, blocks), 0.3, {"rail.velocity": 1.0})


def main() -> dict[str, float]:
    """The margin, and what is left of the speed after 30 samples with 95 and 105 % of it."""
    margin = find_margins(linearise_sampled(describe_cart()), "control.command").gain_to
    left = {share: abs(rd.simulate(describe_cart(share * margin)).final["rail.velocity"]) for share in (0.95, 1.05)}
    return {"margin": margin, "below": left[0.95], "beyond": left[1.05]}


def draw(path: str) -> None:
    """As it is, and at 95 and 105 % of what it bears."""
    margin = main()["margin"]
    runs = [rd.simulate(describe_cart(factor)) for factor in (1.0, 0.95 * margin, 1.05 * margin)]
    plot_signals(runs, ["rail.velocity"], path, labels=["as it is", "95 % of the margin", "105 %"])


if __name__ == "__main__":
    print(f"bears {main()['margin']:.9f} times its gain")
