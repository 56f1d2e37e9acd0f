"""Control made from the model: which forces on its axes does a controller command that knows the machine?

Symbols: s positions of the axes, y of the task, f forces on the axes, all of several values; e = target - position.
Every law takes the machine as its block's `model` describes it (`robodyn.computation.assembly.control.model_dynamics`):

    f = L(s) s'' + b(s, s')     mass matrix L, and what is needed without acceleration: gravity, Coriolis, springs
"""

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law

AXES = {
    **dict.fromkeys(("position", "target"), "{x}"),
    **dict.fromkeys(("velocity", "target_velocity"), "{x}/s"),
    "target_acceleration": "{x}/s^2",
    "torque": "{F}",
}
RATES = {"stiffness": "1/s^2", "damping": "1/s"}


def spread(value, count):
    """A number for each of several: one for all, or one each."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * count


def each(target, names):
    """Values of a target, one for each name."""
    values = tuple(target) if isinstance(target, (tuple, list)) else (target,)
    if len(values) != len(names):
        raise ValueError(f"a target has {len(values)} values, needs {len(names)}: {', '.join(names)}")
    return values


def differences(target, found):
    return tuple(one - other for one, other in zip(spread(target, len(found)), found, strict=True))


def follow(errors, error_rates, stiffness, damping):
    """`kp e + kd e'`."""
    gains = zip(spread(stiffness, len(errors)), spread(damping, len(errors)), strict=True)
    return tuple(kp * e + kd * rate for (kp, kd), e, rate in zip(gains, errors, error_rates, strict=True))


def add(*parts):
    return tuple(sum(entries) for entries in zip(*parts, strict=True))


@law(units=AXES)
def gravity_compensation(model, position):
    """Forces that hold the machine where it is, with its springs and constant loads: `f = b(s, 0)`."""
    return {"torque": model.gravity(position)}


@law(units=AXES)
def inverse_dynamics_feed_forward(model, target, target_velocity, target_acceleration):
    """Forces that the wanted motion needs: `f = L(s_ref) s_ref'' + b(s_ref, s_ref')`."""
    wanted = (each(signals, model.axes) for signals in (target, target_velocity, target_acceleration))
    return {"torque": model.inverse_dynamics(*wanted)}


@law(units=AXES | RATES)
def computed_torque(
    model, position, velocity, target, target_velocity=0.0, target_acceleration=0.0, *, stiffness, damping
):
    """Feedback linearisation of the axes: `f = L (s_ref'' + kd e' + kp e) + b`, so that `e'' + kd e' + kp e = 0`.

    Args:
        stiffness, damping: kp and kd, one for all axes or one each; kd = 2 sqrt(kp) is aperiodic.
    """
    errors = differences(each(target, model.axes), position), differences(target_velocity, velocity)
    wanted = add(spread(target_acceleration, len(model.axes)), follow(*errors, stiffness, damping))
    return {"torque": model.inverse_dynamics(position, velocity, wanted)}


@law(units=AXES, share="")
def friction_compensation(model, position, target_velocity, *, share=1.0):
    """Forces against the friction that the wanted motion meets: `f = -share tau_friction(s, s_ref')`.

    By the wanted velocity, not the measured one: the sign of that is noise at rest.

    Args:
        share: of friction that is compensated; above 1 an axis at rest would be driven on.
    """
    velocities = each(target_velocity, model.axes)
    return {"torque": tuple(-share * force for force in model.friction(position, velocities))}


@law(units=AXES, mass="{F} s^2/{x}", gain="", nominal_mass="{F} s^2/{x}", checks={"nominal_mass": "positive"})
def mass_schedule(model, position, *, nominal_mass, exponent=0.5):
    """Gains by the masses that the axes feel where they are: `gain = (m_nominal / m)^p`, `m = L_kk`.

    A hydraulic axis oscillates with sqrt(stiffness / m): exponent 1/2 keeps the gain in proportion to that. A torque
    per error, in contrast, must grow with the mass: exponent -1.

    Args:
        nominal_mass: at which the gain is 1, one for all axes or one each.
    """
    masses = tuple(row[k] for k, row in enumerate(model.mass_matrix(position)))
    nominal = spread(nominal_mass, len(masses))
    gains = tuple(sym.power(one / mass, exponent) for one, mass in zip(nominal, masses, strict=True))
    return {"gain": gains, "mass": masses}
