"""Small sampled loops that several tests need."""

from support.machines import cart, signals_only

from robodyn.description.model import Block

PERIOD = 0.1
SLOW, FAST = 8e-3, 2e-3


def integrate(value, command):
    return {"output": value, "value_dot": command}


def proportional(value, *, gain):
    return {"command": -gain * value}


def single_loop(gain=3.0, delay=0.0, **fields):
    """x' = u, u = -k x sampled."""
    plant = Block("plant", integrate, inputs={"command": "loop.command"}, states={"value": 0.0})
    wiring = {"inputs": {"value": "plant.value"}, "parameters": {"gain": gain}, "period": PERIOD, "delay": delay}
    return signals_only(plant, Block("loop", proportional, **wiring), **fields)


def cascade(slow_delay=3e-3, fast_delay=1e-3, offset=1e-3, **fields):
    """A cart under two rates, one of them shifted, both late."""
    outer = Block(
        "outer",
        "position_loop",
        inputs={"target": 0.0, "position": "rail.position", "feed_forward": 0.0},
        parameters={"proportional": 12.0},
        period=SLOW,
        delay=slow_delay,
    )
    inner = Block(
        "inner",
        "sampled_velocity_loop",
        on="rail",
        inputs={"velocity_command": "outer.velocity_command"},
        parameters={"proportional": 150.0, "integral": 900.0},
        period=FAST,
        offset=offset,
        delay=fast_delay,
    )
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "inner.torque_command"})
    return cart(outer, inner, drive, initial={"rail.position": 1e-3}, **fields)
