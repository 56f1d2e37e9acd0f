"""Can a policy balance a pole on a cart? An environment of Gymnasium, and four gains as its policy.

The force is held over steps of 20 ms; an episode ends where the pole leans by more than 0.2 rad, or after 10 s.
"""

import numpy as np

import robodyn as rd
from robodyn.exchange.gym import ScenarioEnv, Task
from robodyn.presentation.reporting import plot_signals

CART, POLE, HALF_LENGTH, LEAN, STEP, GAINS = 1.0, 0.1, 0.5, 0.2, 0.02, np.array([1.0, 1.6, 24.0, 5.3])
SIGNALS = ("cart.position", "cart.velocity", "pole.position", "pole.velocity")


def describe_cart_pole() -> rd.Scenario:
    """A uniform pole on a cart on rails, pushed by a force."""
    pole = rd.Body("pole", POLE, (0.0, 0.0, HALF_LENGTH), (POLE * HALF_LENGTH**2 / 3,) * 3)
    joints = (
        rd.Joint("cart", "prismatic", rd.GROUND, "cart", axis=(1.0, 0.0, 0.0)),
        rd.Joint("pole", "revolute", "cart", "pole", axis=(0.0, 1.0, 0.0)),
    )
    push = rd.Block("push", "constant_reference", parameters={"constant": 0.0})
    drive = rd.Block("drive", "torque_source", on="cart", inputs={"command": "push.value"})
    lean = rd.Event("falls", lambda angle: angle * angle - LEAN**2, {"angle": "pole.position"}, terminal=True)
    mechanism = rd.Mechanism("cart-pole", (rd.Body("cart", mass=CART), pole), joints)
    machine = rd.Machine("cart-pole", mechanism, (push, drive))
    return rd.Scenario("cart-pole", machine, duration=10.0, events=(lean,), solver=rd.Solver(rtol=1e-6, atol=1e-8))


def make_task() -> Task:
    """Push the cart, see its motion and the pole's; what counts is that it stands."""
    start = {"initial.pole.position": (-0.05, 0.05), "initial.pole.velocity": (-0.05, 0.05)}
    actions, reward = {"push.constant": (-10.0, 10.0)}, "1 - (pole.position / 0.2)^2"
    return Task(describe_cart_pole(), actions, SIGNALS, reward, STEP, random=start)


def main() -> dict[str, float]:
    """Return and steps of an episode with the gains, and of one without a push."""
    found = {}
    for name, gains in (("balanced", GAINS), ("left alone", 0.0 * GAINS)):
        env = ScenarioEnv(make_task())
        seen, _ = env.reset(seed=1)
        total, ended, steps = 0.0, False, 0
        while not ended:
            action = np.clip([gains @ seen], -10.0, 10.0)
            seen, reward, fallen, over, _ = env.step(action)
            total, ended, steps = total + reward, fallen or over, steps + 1
        found |= {f"{name}: return": total, f"{name}: steps": steps}
    return found


def draw(path: str) -> None:
    """The pole left alone, until it leans too far."""
    plot_signals(rd.simulate(describe_cart_pole().with_numbers({"initial.pole.position": 0.05})), SIGNALS, path)


if __name__ == "__main__":
    for what, value in main().items():
        print(f"{what:<20} {value:.6g}")
