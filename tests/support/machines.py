"""Small machines that several tests need."""

from robodyn.model import GROUND, Block, Body, Joint, Machine, Mechanism, Point, Scenario


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
