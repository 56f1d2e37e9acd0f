"""Control made from the model: which forces on its axes does a controller command that knows the machine?

Symbols: s positions of the axes, y of the task, f forces on the axes, all of several values; e = target - position.
Every law takes the machine as its block's `model` describes it (`robodyn.assembly.model_dynamics`):

    f = L(s) s'' + b(s, s')     mass matrix L, and what is needed without acceleration: gravity, Coriolis, springs
"""

from robodyn import symbolic as sym
from robodyn.laws.definition import law

AXES = {
    **dict.fromkeys(("position", "target"), "{x}"),
    **dict.fromkeys(("velocity", "target_velocity"), "{x}/s"),
    "target_acceleration": "{x}/s^2",
    "torque": "{F}",
}
RATES = {"stiffness": "1/s^2", "damping": "1/s"}
SINGULAR = {"margin": "keep the task away from singular positions, or control fewer positions"}


def spread(value, count):
    """A number for each of several: one for all, or one each."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * count


def _each(target, names):
    """Values of a target, one for each name."""
    values = tuple(target) if isinstance(target, (tuple, list)) else (target,)
    if len(values) != len(names):
        raise ValueError(f"a target has {len(values)} values, needs {len(names)}: {', '.join(names)}")
    return values


def _differences(target, found):
    return tuple(one - other for one, other in zip(spread(target, len(found)), found, strict=True))


def _follow(errors, error_rates, stiffness, damping):
    """`kp e + kd e'`."""
    gains = zip(spread(stiffness, len(errors)), spread(damping, len(errors)), strict=True)
    return tuple(kp * e + kd * rate for (kp, kd), e, rate in zip(gains, errors, error_rates, strict=True))


def _sum(*parts):
    return tuple(sum(entries) for entries in zip(*parts, strict=True))


@law(units=AXES)
def gravity_compensation(model, position):
    """Forces that hold the machine where it is, with its springs and constant loads: `f = b(s, 0)`."""
    return {"torque": model.gravity(position)}


@law(units=AXES)
def inverse_dynamics_feed_forward(model, target, target_velocity, target_acceleration):
    """Forces that the wanted motion needs: `f = L(s_ref) s_ref'' + b(s_ref, s_ref')`."""
    wanted = (_each(signals, model.axes) for signals in (target, target_velocity, target_acceleration))
    return {"torque": model.inverse_dynamics(*wanted)}


@law(units=AXES | RATES)
def computed_torque(
    model, position, velocity, target, target_velocity=0.0, target_acceleration=0.0, *, stiffness, damping
):
    """Feedback linearisation of the axes: `f = L (s_ref'' + kd e' + kp e) + b`, so that `e'' + kd e' + kp e = 0`.

    Args:
        stiffness, damping: kp and kd, one for all axes or one each; kd = 2 sqrt(kp) is aperiodic.
    """
    errors = _differences(_each(target, model.axes), position), _differences(target_velocity, velocity)
    wanted = _sum(spread(target_acceleration, len(model.axes)), _follow(*errors, stiffness, damping))
    return {"torque": model.inverse_dynamics(position, velocity, wanted)}


def _damp_null_space(model, position, velocity, null_damping):
    """Forces that slow down what the task leaves free: the null space of `-d s'`."""
    braking = [-d * v for d, v in zip(spread(null_damping, len(velocity)), velocity, strict=True)]
    return model.null_space(position, braking)


@law(
    units=AXES | RATES | {"target": "", "target_velocity": "", "target_acceleration": ""},
    checks={"least_independence": "positive"},
    positive=SINGULAR,
)
def operational_space_control(
    model,
    position,
    velocity,
    target,
    target_velocity=0.0,
    target_acceleration=0.0,
    *,
    stiffness,
    damping,
    null_damping=0.0,
    least_independence=0.01,
):
    """Feedback linearisation of the task: `y'' = y_ref'' + kd e' + kp e` (Khatib 1987).

    Where there are more axes than the task has positions, the rest is slowed down without an effect on the task.

    Args:
        null_damping: of the axes [N m s/rad or N s/m], one for all or one each.
        least_independence: of the task's directions, 1 where they are, 0 at a singular position: a run ends there, at a
            `margin` of 0.
    """
    found = model.task_position(position), model.task_velocity(position, velocity)
    errors = _differences(_each(target, model.task), found[0]), _differences(target_velocity, found[1])
    wanted = _sum(spread(target_acceleration, len(model.task)), _follow(*errors, stiffness, damping))
    forces = model.task_dynamics(position, velocity, wanted)
    if len(model.axes) > len(model.task):
        forces = _sum(forces, _damp_null_space(model, position, velocity, null_damping))
    return {"torque": forces, "margin": model.independence(position) - least_independence}


@law(units=AXES, stiffness="N/m", damping="N s/m", target="", target_velocity="")
def impedance_control(model, position, velocity, target, target_velocity=0.0, *, stiffness, damping, null_damping=0.0):
    """The task held as by springs and dampers, without its weight: `f = b + J^T (K e + D e')` (Hogan 1985).

    Its masses stay as they are; at rest it gives way to a force F on it by K^-1 F.

    Args:
        stiffness, damping: K and D, one for all positions of the task or one each.
        null_damping: of the axes [N m s/rad or N s/m], where they are more than the task needs.
    """
    found = model.task_position(position), model.task_velocity(position, velocity)
    errors = _differences(_each(target, model.task), found[0]), _differences(target_velocity, found[1])
    push = model.task_push(position, _follow(*errors, stiffness, damping))
    still = (0.0,) * len(model.axes)
    forces = _sum(model.inverse_dynamics(position, velocity, still), push)
    if len(model.axes) > len(model.task):
        forces = _sum(forces, _damp_null_space(model, position, velocity, null_damping))
    return {"torque": forces}


@law(units=AXES, share="")
def friction_compensation(model, position, target_velocity, *, share=1.0):
    """Forces against the friction that the wanted motion meets: `f = -share tau_friction(s, s_ref')`.

    By the wanted velocity, not the measured one: the sign of that is noise at rest.

    Args:
        share: of friction that is compensated; above 1 an axis at rest would be driven on.
    """
    velocities = _each(target_velocity, model.axes)
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
