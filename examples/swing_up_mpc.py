"""How does model-predictive control swing a pole up? By do-mpc, with little force on a short rail.

do-mpc optimises over the machine's own equations, as CasADi functions; the machine is simulated as always, the
controller is a sampled block of it in Python. Needs `pip install do-mpc`.
"""

import casadi as ca
import do_mpc
import numpy as np

import robodyn as rd
from robodyn.analysis import make_plant_model
from robodyn.presentation.reporting import plot_signals

PERIOD, HORIZON, FORCE, RAIL, DURATION = 0.05, 30, 20.0, 0.6, 3.0
STATES = ("rail.position", "hinge.position", "rail.velocity", "hinge.velocity")


def describe_cart(block: rd.Block) -> rd.Scenario:
    bodies = (rd.Body("cart", 2.0), rd.Body("pole", 0.5, (0, 0, 0.4), (0.02, 0.02, 0.001)))
    rail = rd.Joint("rail", "prismatic", rd.GROUND, "cart", axis=(1, 0, 0))
    hinge = rd.Joint("hinge", "revolute", "cart", "pole", axis=(0, 1, 0))
    machine = rd.Machine("cart", rd.Mechanism("cart", bodies, (rail, hinge)), (block,))
    return rd.Scenario("swing-up", machine, DURATION, initial={"hinge.position": np.pi})


def make_controller() -> do_mpc.controller.MPC:
    push = rd.Block("push", "constant_force", "rail", parameters={"value": 0.0})
    plant = make_plant_model(describe_cart(push), inputs=["push.value"], outputs=STATES)
    model = do_mpc.model.Model("continuous", "SX")
    x, u = model.set_variable("_x", "x", (4, 1)), model.set_variable("_u", "u")
    model.set_rhs("x", plant.rates(0.0, x, u))
    model.setup()
    mpc = do_mpc.controller.MPC(model)
    mpc.settings.n_horizon, mpc.settings.t_step, mpc.settings.store_full_solution = HORIZON, PERIOD, False
    mpc.settings.supress_ipopt_output()
    cost = 10 * (1 - ca.cos(x[1])) + x[0] ** 2 + 0.02 * x[3] ** 2
    mpc.set_objective(mterm=5 * cost, lterm=cost), mpc.set_rterm(u=1e-3)
    widest = np.array([[RAIL], [np.inf], [np.inf], [np.inf]])
    for side, sign in (("lower", -1), ("upper", 1)):
        mpc.bounds[side, "_u", "u"], mpc.bounds[side, "_x", "x"] = sign * FORCE, sign * widest
    mpc.setup()
    mpc.x0 = plant.start
    mpc.set_initial_guess()
    return mpc


def main() -> rd.Run:
    mpc = make_controller()

    def control(state):
        return {"force": float(mpc.make_step(np.reshape(state, (4, 1)))[0, 0])}

    held = {"period": PERIOD, "hold": {"force": 0.0}, "native": False}
    return rd.simulate(describe_cart(rd.Block("mpc", control, "rail", inputs={"state": STATES}, **held)))


def draw(path: str) -> None:
    """Cart, pole and force."""
    plot_signals(main(), ["rail.position", "hinge.position", "mpc.force"], path)


if __name__ == "__main__":
    print(main().summary())
