"""Carts whose deviations are known: on springs, with disturbances, wrong sensors, servo loops and elastic gears."""

from robodyn import Solver
from robodyn.description.laws import law
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    ElasticGear,
    Joint,
    LinearCombination,
    Machine,
    Mechanism,
    Recording,
    Scenario,
    with_elastic_joints,
)

MASS, STIFFNESS, DAMPING = 2.0, 800.0, 16.0
PULL, PUSH, BIAS = 3.0, 5.0, 2e-3
TIGHT = Solver("dopri5", rtol=1e-10, atol=1e-13)
WHOLE = Solver("rosw2", step=0.25e-3)


@law(position="m", velocity="m/s")
def stand_still(time, *, place=0.0):
    """A reference that does not move."""
    return {"position": place + 0 * time, "velocity": 0 * time}


@law(force="N", disturbance=True)
def push(*, level):
    """A constant force that nobody wants."""
    return {"force": level}


@law(value="m", measured="m", bias="m", ideal={"bias": 0.0})
def biased_sensor(value, *, bias):
    """A sensor that is wrong by a constant."""
    return {"measured": value + bias}


@law(force="N", target="m", position="m", velocity="m/s")
def hold(target, position, velocity, *, stiffness, damping):
    """A spring and a damper to the target."""
    return {"force": stiffness * (target - position) - damping * velocity}


def rail(pull=PULL, payload=0.0):
    """A cart on a rail that something pulls at: gravity along the rail; a payload on it."""
    cart = Mechanism(
        "cart",
        (Body("wagon", MASS),),
        (Joint("cart", "prismatic", GROUND, "wagon", axis=(1, 0, 0)),),
        gravity=(pull / MASS, 0.0, 0.0),
    )
    return cart.with_payload(Body("payload", payload), "wagon") if payload else cart


def held_cart(*more, payload=0.0, elastic=None, solver=TIGHT, duration=1.0, **fields):
    """A cart held by a spring and a damper, pushed, its sensor wrong."""
    blocks = (
        Block("reference", stand_still),
        Block("push", push, on="cart", parameters={"level": PUSH}),
        Block("sensor", biased_sensor, inputs={"value": "cart.position"}, parameters={"bias": BIAS}),
        Block(
            "control",
            hold,
            on="cart",
            inputs={"target": "reference.position", "position": "sensor.measured"},
            parameters={"stiffness": STIFFNESS, "damping": DAMPING},
        ),
    )
    machine = Machine("cart", rail(payload=payload), (*blocks, *more))
    if elastic:
        machine = with_elastic_joints(machine, {"cart": elastic})
    nominal = dict.fromkeys(("cart", "drive") if elastic else ("cart",), "reference.position")
    return Scenario("cart", machine, duration, solver=solver, recording=Recording(rate=200), nominal=nominal, **fields)


def elastic_cart(stiffness, damping, gap=0.0, solver=WHOLE, duration=2.0):
    """The held cart behind an elastic gear; its drive has a rotor."""
    scenario = held_cart(solver=solver, duration=duration, elastic=ElasticGear("drive", stiffness, damping, gap))
    machine = scenario.machine
    rotor = LinearCombination("motor", {"drive": 1.0}, inertia=1.0)
    return Scenario(
        "elastic-cart",
        Machine("cart", machine.mechanism, machine.blocks, (*machine.coordinates, rotor)),
        duration,
        solver=solver,
        recording=Recording(rate=200),
        nominal=scenario.nominal,
    )


FRICTION = {"stiffness": 2e5, "damping": 60.0, "viscous": 4.0, "coulomb": 6.0, "static": 8.0, "stribeck_velocity": 0.01}


def servo_cart(current_limit=2.0, voltage_limit=12.0):
    """A cart that follows a ramp there and back under a whole servo loop, at the limits of current and voltage."""
    path = {"times": (0.05, 0.25, 0.45), "points": (0.0, 0.05, 0.01)}
    wanted = {"velocities": "path.velocity", "accelerations": "path.acceleration"}
    gains = {"gears": 50.0, "proportional": 12.0, "integral": 80.0}
    blocks = (
        Block("path", "spline_reference", parameters=path),
        Block("friction", "lugre_friction", on="cart", parameters=FRICTION),
        Block(
            "encoder",
            "sampled_encoder",
            inputs={"value": "motor.position"},
            parameters={"resolution": 1e-3},
            period=0.25e-3,
        ),
        Block(
            "position_loop",
            "servo_position_loop",
            inputs={"targets": "path.position", "position": "encoder.measured", "excess": "velocity_loop.excess"},
            parameters=gains,
            period=1e-3,
            delay=0.25e-3,
        ),
        Block(
            "feed_forward",
            "servo_feed_forward",
            inputs=wanted,
            parameters={"gears": 50.0, "torque_constant": 0.2, "coulomb": 0.1, "smoothing_velocity": 0.05},
            period=1e-3,
        ),
        Block(
            "velocity_loop",
            "servo_velocity_loop",
            inputs={
                "position_command": "position_loop.command",
                "feed_forward": "feed_forward.current",
                "velocity_ref": "feed_forward.velocity_ref",
                "velocity": "encoder.measured_rate",
            },
            parameters={"derivative": 0.4, "current_limit": current_limit},
            period=0.25e-3,
        ),
        Block(
            "current_loop",
            "servo_current_loop",
            inputs={"current_command": "velocity_loop.command", "current": "drive.current"},
            parameters={"proportional": 10.0, "integral": 2e3, "voltage_limit": voltage_limit},
            period=0.25e-3,
        ),
        Block(
            "drive",
            "servo_motor",
            on="motor",
            inputs={"voltage": "current_loop.voltage"},
            parameters={"resistance": 1.0, "inductance": 5e-3, "torque_constant": 0.2},
        ),
    )
    machine = Machine("servo", rail(), blocks, (LinearCombination("motor", {"cart": 50.0}, inertia=5e-4),))
    fields = {"solver": WHOLE, "recording": Recording(rate=1000), "nominal": {"cart": "path.position"}}
    return Scenario("servo-cart", machine, 0.6, **fields)
