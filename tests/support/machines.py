"""Small machines that several tests need."""

from robodyn.description.model import GROUND, Block, Body, Joint, LinearCombination, Machine, Mechanism, Point, Scenario


def slider(mass: float = 2.0, gravity: float = 0.0) -> Mechanism:
    """A mass on a rail along x (gravity along x too)."""
    joint = Joint("rail", "prismatic", GROUND, "cart", axis=(1, 0, 0))
    return Mechanism("slider", (Body("cart", mass),), (joint,), (Point("nose", "cart"),), (gravity, 0.0, 0.0))


def cart(*blocks: Block, duration: float = 1.0, mass: float = 2.0, gravity: float = 0.0, **fields) -> Scenario:
    """A cart with blocks on it."""
    machine_fields = {key: fields.pop(key) for key in ("coordinates", "delays", "loads", "tunable") if key in fields}
    machine = Machine("cart", slider(mass, gravity), blocks, **machine_fields)
    return Scenario("cart", machine, duration, **fields)


def signals_only(*blocks: Block, duration: float = 1.0, **fields) -> Scenario:
    """Blocks without any mechanism."""
    delays = fields.pop("delays", ())
    return Scenario("signals", Machine("signals", None, blocks, delays=delays), duration, **fields)


MOVE = {"start": 0.3, "target": 0.5, "speed": 1.0, "top_acceleration": 5.0, "top_jerk": 100.0, "begin": 0.1}


def servo(resolution=1e-4, delay=0.0, integral=3000.0, stiffness=2000.0, friction=(), **fields):
    """An axis that lifts a load through an elastic gear, at rest: encoder on its motor, sampled cascade, current."""
    bodies = (Body("rotor", inertia=(0.1, 0.1, 0.1, 0, 0, 0)), Body("load", 3.0, (0.4, 0, 0), (0.1, 0.1, 0.1, 0, 0, 0)))
    pairs = (("motor", "rotor"), ("arm", "load"))
    joints = tuple(Joint(name, "revolute", "ground", child, axis=(0, 1, 0)) for name, child in pairs)
    twist = LinearCombination("twist", {"arm": 1.0, "motor": -1.0})
    blocks = (
        Block("gear", "spring", on="twist", parameters={"stiffness": stiffness, "damping": 2.0}),
        Block("goal", "s_curve_reference", parameters=MOVE, unit="rad"),
        Block(
            "encoder",
            "sampled_encoder",
            inputs={"value": "motor.position"},
            parameters={"resolution": resolution},
            period=1e-3,
        ),
        Block(
            "position_loop",
            "position_loop",
            inputs={"target": "goal.position", "feed_forward": "goal.velocity", "position": "encoder.measured"},
            parameters={"proportional": 20.0},
            period=1e-3,
            unit="rad",
        ),
        Block(
            "velocity_loop",
            "sampled_velocity_loop",
            inputs={"velocity_command": "position_loop.velocity_command", "velocity": "encoder.measured_rate"},
            parameters={"proportional": 15.0, "integral": integral, "limit": 60.0},
            period=1e-3,
            delay=delay,
            unit="rad",
        ),
        Block(
            "current",
            "amplifier",
            inputs={"value": "velocity_loop.torque_command"},
            parameters={"gain": 1.0},
            unit="A",
        ),
        Block(
            "drive",
            "current_lag",
            on="motor",
            inputs={"current_command": "current.output"},
            parameters={"torque_constant": 1.0, "time_constant": 1e-3},
        ),
        *friction,
    )
    machine = Machine("servo", Mechanism("servo", bodies, joints), blocks, coordinates=(twist,))
    start = {"motor.position": 0.3, "arm.position": 0.3}
    return Scenario("servo", machine, 0.2, start, **{"initialisation": "at_rest"} | fields)
