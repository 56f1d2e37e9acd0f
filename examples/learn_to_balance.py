"""Can evolution learn to balance a pole? CMA-ES (Hansen 2016, package `cma`) on episodes of many carts at once.

A candidate is four gains and pushes 8 carts that begin differently; a generation of 16 is 128 carts and 200 steps of 20
ms. What counts is how long the poles stand, and how upright: 200 is all there is to get.
"""

import cma
import numpy as np

import robodyn as rd
from robodyn.exchange.gym import Episodes, Task
from robodyn.presentation.reporting.figures import panel_figure, write_figure

LEAN, STEPS, CANDIDATES, CARTS, GENERATIONS = 0.2, 200, 16, 8, 8
SEEN = ("cart.position", "cart.velocity", "pole.position", "pole.velocity")


def make_task() -> Task:
    """Stay upright, which is worth 1 a step, until the pole leans by more than 0.2 rad."""
    bodies = rd.Body("cart", mass=1.0), rd.Body("pole", 0.1, (0.0, 0.0, 0.5), (0.01, 0.01, 0.01))
    rail = rd.Joint("cart", "prismatic", rd.GROUND, "cart", axis=(1.0, 0.0, 0.0))
    hinge = rd.Joint("pole", "revolute", "cart", "pole", axis=(0.0, 1.0, 0.0))
    push = rd.Block("push", "constant_reference", parameters={"constant": 0.0})
    drive = rd.Block("drive", "torque_source", on="cart", inputs={"command": "push.value"})
    falls = rd.Event("falls", lambda angle: angle * angle - LEAN**2, {"angle": "pole.position"}, terminal=True)
    machine = rd.Machine("cart-pole", rd.Mechanism("cart-pole", bodies, (rail, hinge)), (push, drive))
    scenario = rd.Scenario("cart-pole", machine, 4.0, events=(falls,), solver=rd.Solver("rk4", step=0.01))
    start = {"initial.pole.position": (-0.05, 0.05), "initial.pole.velocity": (-0.05, 0.05)}
    return Task(scenario, {"push.constant": (-10.0, 10.0)}, SEEN, "1 - (pole.position / 0.2)^2", 0.02, random=start)


def find_returns(episodes: Episodes, gains: np.ndarray) -> np.ndarray:
    """What the poles of each candidate earn, on average."""
    own, seen = np.repeat(gains, CARTS, axis=0), episodes.reset(seed=1)
    standing, returns = np.ones(len(own), bool), np.zeros(len(own))
    for _ in range(STEPS):
        seen, rewards, fallen, *_ = episodes.step(np.clip(np.sum(own * seen, axis=1, keepdims=True), -10.0, 10.0))
        returns[standing] += rewards[standing]
        standing &= ~fallen
    return returns.reshape(-1, CARTS).mean(axis=1)


def main() -> dict[str, float]:
    episodes, curve = Episodes(make_task(), CANDIDATES * CARTS), {}
    search = cma.CMAEvolutionStrategy(np.zeros(4), 2.0, {"popsize": CANDIDATES, "seed": 1, "verbose": -9})
    for generation in range(1, GENERATIONS + 1):
        candidates = search.ask()
        returns = find_returns(episodes, np.array(candidates))
        search.tell(candidates, -returns)
        curve[f"generation {generation}"] = float(returns.max())
    return curve


def draw(path: str) -> None:
    curve, (figure, (axes,)) = main(), panel_figure(1)
    axes.plot(range(1, len(curve) + 1), list(curve.values()), "o-")
    axes.set(xlabel="generation", ylabel="best mean return, at most 200")
    write_figure(figure, path)


if __name__ == "__main__":
    for what, value in main().items():
        print(f"{what}: {value:.6g} of {STEPS}")
