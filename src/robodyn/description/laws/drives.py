"""Motors and drives: which torque do they exert on their joint?"""

import math

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law


@law(
    voltage="V",
    velocity="{x}/s",
    current="A",
    torque="{F}",
    resistance="ohm",
    inductance="H",
    torque_constant="N m/A",
    gear="",
    torque_factor="",
    current_limit="A",
    states={"current": 1.0},
    limits={"current": ("-current_limit", "current_limit")},
    checks={"inductance": "positive", "resistance": "non-negative", "current_limit": "positive"},
    ideal={"current_limit": math.inf},
)
def dc_motor(
    voltage,
    velocity,
    current,
    *,
    resistance,
    inductance,
    torque_constant,
    gear=1.0,
    torque_factor=1.0,
    current_limit=math.inf,
):
    """Armature circuit of a geared motor, its current limited in the integrator (no wind-up).

        L i_dot = U - kT n w - R i,   |i| <= i_max,   tau = factor n kT i

    Args:
        gear: motor turns per joint turn, n (rad/m for a linear axis).
        torque_factor: sqrt(3)/2 for a three-phase motor whose kT is given per phase amplitude.
    """
    back_emf = torque_constant * gear * velocity
    return {
        "torque": torque_factor * gear * torque_constant * current,
        "current_dot": (voltage - back_emf - resistance * current) / inductance,
    }


@law(
    command="{F}",
    torque="{F}",
    torque_limit="{F}",
    checks={"torque_limit": "positive"},
    ideal={"torque_limit": math.inf},
)
def torque_source(command, *, torque_limit=math.inf):
    """An ideal drive: the commanded torque, clipped to its limit."""
    return {"torque": sym.clip(command, -torque_limit, torque_limit)}


@law(
    current_command="A",
    current="A",
    torque="{F}",
    torque_constant="N m/A",
    gear="",
    current_limit="A",
    checks={"current_limit": "positive"},
    ideal={"current_limit": math.inf},
)
def current_source(current_command, *, torque_constant, gear=1.0, current_limit=math.inf):
    """A motor with an ideal current loop: `tau = n kT i`, i clipped to its limit."""
    current = sym.clip(current_command, -current_limit, current_limit)
    return {"torque": gear * torque_constant * current, "current": current}


@law(
    voltage="V",
    velocity="{x}/s",
    current="A",
    torque="{F}",
    resistance="ohm",
    inductance="H",
    torque_constant="N m/A",
    states={"current": 1.0},
    checks={"inductance": "positive", "resistance": "non-negative"},
)
def servo_motor(voltage, velocity, current, *, resistance, inductance, torque_constant):
    """A servo motor on its own shaft, in the axis that makes torque; its current controller limits the current.

        L i_dot = U - kT w - R i,   tau = kT i

    Gear and rotor inertia belong to the coordinate it acts on (a `LinearCombination`). A permanent-magnet synchronous
    motor looks so in its rotor's frame, with power-invariant quantities and the other axis' current kept at zero.
    """
    return {
        "torque": torque_constant * current,
        "current_dot": (voltage - torque_constant * velocity - resistance * current) / inductance,
    }


@law(
    current_command="A",
    current="A",
    torque="{F}",
    torque_constant="N m/A",
    time_constant="s",
    states={"current": 1.0},
    checks={"time_constant": "positive"},
)
def current_lag(current_command, current, *, torque_constant, time_constant):
    """A servo motor with its closed current loop as a first-order lag: `T i_dot = i_cmd - i`, `tau = kT i`."""
    return {"torque": torque_constant * current, "current_dot": (current_command - current) / time_constant}


# --------------------------------------------------------------------------------------------------
# What a drive adds that its command does not ask for: cogging, ripple, saturation, dead time. Each is a torque of its
# own beside the ideal motor's, so that an error budget shows each.


WAVE_UNITS = {
    "position": "{x}",
    "torque": "{F}",
    "load": "{F}",
    "amplitude": "{F}",
    "order": "rad/{x}",
    "phase": "rad",
    "level": "{F}",
}


def cogging_energy(position, amplitude, order, phase):
    """Energy of a rotor between its preferred places: `A / n (1 - cos(n s + phi))`."""
    return amplitude / order * (1.0 - sym.cos(order * position + phase))


@law(
    units=WAVE_UNITS,
    checks={"amplitude": "non-negative", "order": "positive"},
    disturbance=True,
    stored=cogging_energy,
)
def cogging_torque(position, *, amplitude, order, phase=0.0):
    """Cogging of magnets and slots, without any current: `tau = -A sin(n s + phi)`, the slope of an energy.

    Several harmonics are several blocks. Zhu and Howe (2000): n is the least common multiple of slots and poles.

    Args:
        order: n, periods in 2 pi of the coordinate: those in a turn of the motor times the gear ratio.
    """
    return {"torque": -amplitude * sym.sin(order * position + phase)}


@law(units=WAVE_UNITS, share="", checks={"share": "non-negative"}, disturbance=True)
def torque_ripple(position, load, *, share, order, phase=0.0):
    """Ripple of a torque constant over a turn: `tau = a tau_motor sin(n s + phi)`. The supply gives its energy.

    Jahns and Soong (1996): order 6 per electrical period for sinusoidal machines, 1 and 2 of errors of current sensors.

    Args:
        load: torque of the motor; order: n, periods in 2 pi of the coordinate.
    """
    return {"torque": share * load * sym.sin(order * position + phase)}


@law(units=WAVE_UNITS, checks={"level": "positive"}, disturbance=True)
def saturation_loss(load, *, level):
    """Torque that magnetic saturation takes from a motor: `tau = u / sqrt(1 + (u / us)^2) - u`.

    A smooth curve of one number: 0.5 % are missing at a tenth of the level, 29 % at it, and more than it never comes.

    Args:
        load: u, torque of the motor without saturation; level: us.
    """
    return {"torque": load / sym.sqrt(1.0 + (load / level) ** 2) - load}


@law(
    units=WAVE_UNITS,
    current="A",
    voltage="V",
    dead_time="s",
    frequency="Hz",
    resistance="ohm",
    inductance="H",
    torque_constant="{F}/A",
    time_constant="s",
    smoothing_current="A",
    lagged="V",
    settled="V",
    states={"lagged": 1.0, "settled": 1.0},
    checks={
        "dead_time": "non-negative",
        "frequency": "positive",
        "resistance": "positive",
        "inductance": "positive",
        "time_constant": "positive",
        "smoothing_current": "positive",
    },
    disturbance=True,
    given_at_rest=True,
)
def dead_time_error(
    current, lagged, settled, *, voltage, dead_time, frequency, resistance, inductance, torque_constant,
    time_constant, smoothing_current,
):  # fmt: skip
    """Torque error of an inverter's dead time under a PI current loop that is a lag T: a kick where the current turns.

        V = -U td f tanh(i / i0),   T x_dot = V - x,   (L / R) y_dot = x - y,   tau = kT (T / L) (x - y)

    Jeong and Park (1991) for V; the current that the loop leaves of it is s V / (L (s + 1 / T) (s + R / L)).

    Args:
        current: of the motor; torque_constant: on the joint's side; smoothing_current: i0, the current's ripple.
    """
    lost = -voltage * dead_time * frequency * sym.tanh(current / smoothing_current)
    return {
        "torque": torque_constant * time_constant / inductance * (lagged - settled),
        "lagged_dot": (lost - lagged) / time_constant,
        "settled_dot": (lagged - settled) * resistance / inductance,
    }


# --------------------------------------------------------------------------------------------------
# Supply and heat: how much current can a drive have, and for how long?


@law(
    value="A",
    velocity="{x}/s",
    voltage="V",
    output="A",
    power="W",
    resistance="ohm",
    torque_constant="{F}/A",
    checks={"resistance": "positive"},
    ideal={"voltage": math.inf},
)
def inverter(value, velocity, voltage=math.inf, *, resistance, torque_constant):
    """Current that a voltage can drive: `i = clip(i_cmd, (-U - k w) / R, (U - k w) / R)`, `P = (R i + k w) i`.

    The torque-speed line of a motor. Args:
        voltage: of the supply; torque_constant: k, on the joint's side, which is the back EMF's constant as well.
    """
    induced = torque_constant * velocity
    current = sym.clip(value, (-voltage - induced) / resistance, (voltage - induced) / resistance)
    return {"output": current, "power": (resistance * current + induced) * current}


@law(
    power="W",
    voltage="V",
    source_voltage="V",
    resistance="ohm",
    capacitance="F",
    states={"voltage": 10.0},
    checks={"source_voltage": "positive", "resistance": "positive", "capacitance": "positive"},
    positive={"voltage": "the supply voltage collapses: reduce the power, or the resistance of supply and cables"},
)
def sagging_supply(power, voltage, *, source_voltage, resistance, capacitance):
    """Supply behind a resistance with a capacitor: `C U_dot = (U0 - U) / Rs - P / U`; no more than U0^2 / (4 Rs)."""
    return {"voltage_dot": ((source_voltage - voltage) / resistance - power / voltage) / capacitance}


HEAT_UNITS = {
    "current": "A", "loss": "W", "winding": "K", "housing": "K", "resistance": "ohm", "ambient": "K",
    "winding_resistance": "K/W", "housing_resistance": "K/W", "winding_time": "s", "housing_time": "s",
    "torque_share": "", "power": "W",
}  # fmt: skip
COPPER, MAGNET, REFERENCE = 0.00393, -0.0012, 298.15
"""Per kelvin: resistance of copper (IEC 60034-1), remanence of NdFeB magnets (-0.11 to -0.12 %); at 25 deg C."""


def winding_loss(current, temperature, resistance, copper=COPPER):
    """Copper loss at a temperature: `R (1 + a (T - 25 deg C)) i^2`."""
    return resistance * (1.0 + copper * (temperature - REFERENCE)) * current * current


@law(
    units=HEAT_UNITS,
    copper="1/K",
    magnet="1/K",
    states={"winding": 100.0, "housing": 100.0},
    checks=dict.fromkeys(
        ("resistance", "winding_resistance", "housing_resistance", "winding_time", "housing_time"), "positive"
    ),
    given_at_rest=True,
)
def motor_heat(
    current, winding, housing, loss=0.0, *, resistance, winding_resistance, housing_resistance, winding_time,
    housing_time, ambient=REFERENCE, copper=COPPER, magnet=MAGNET,
):  # fmt: skip
    """Winding and housing that warm up, as data sheets of motors describe them.

        tw Tw_dot = R1 P - (Tw - Th),   th Th_dot = R2 / R1 (Tw - Th) + R2 loss - (Th - Ta)
        P = R (1 + a (Tw - 25 deg C)) i^2,   torque_share = 1 + b (Th - 25 deg C)

    Args:
        loss: of iron and bearings, into the housing; resistance: ohms at 25 deg C that carry the current.
        winding_resistance: R1, winding to housing; housing_resistance: R2, housing to surroundings.
        winding_time, housing_time: tw and th; copper, magnet: a and b.
    """
    power = winding_loss(current, winding, resistance, copper)
    flow = (winding - housing) / winding_resistance
    return {
        "power": power,
        "torque_share": 1.0 + magnet * (housing - REFERENCE),
        "winding_dot": (winding_resistance * power - (winding - housing)) / winding_time,
        "housing_dot": (housing_resistance * (flow + loss) - (housing - ambient)) / housing_time,
    }


@law(units=WAVE_UNITS, torque_share="", disturbance=True)
def heat_loss_of_torque(load, torque_share):
    """Torque that warm magnets take from a motor: `tau = (share - 1) u`."""
    return {"torque": (torque_share - 1.0) * load}


@law(
    temperature="K",
    derate="K",
    trip="K",
    reset="K",
    share="",
    tripped="",
    memory={"tripped": 0.0},
    checks={"trip": "above derate"},
)
def thermal_protection(temperature, tripped, *, derate, trip, reset=0.0):
    """Torque that a drive's firmware allows: all up to `derate`, less and less towards `trip`, then nothing.

        share = clip((T_trip - T) / (T_trip - T_derate), 0, 1),   0 from T_trip on until the winding is below T_reset

    Args:
        reset: temperature at which a tripped drive starts again; 0 K never.
    """
    off = sym.where(temperature >= trip, 1.0, sym.where(temperature < reset, 0.0, tripped))
    share = sym.clip((trip - temperature) / sym.maximum(trip - derate, 1e-9), 0.0, 1.0)
    return {"share": sym.where(off > 0.5, 0.0, share), "tripped_next": off}


@law(value="{u}", output="{u}", share="", ideal={"share": 1.0})
def derated(value, share):
    """A command by the share that is allowed of it: `y = share u`."""
    return {"output": share * value}
