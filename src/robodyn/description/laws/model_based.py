"""Control made from the model, of axes and of tasks: which forces does a controller command that knows the machine?

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


# --------------------------------------------------------------------------------------------------
# Control of a task made from the model: which forces on the axes move a tool, or hold it as springs would?
#
# Symbols: e error of the task, wanted minus present positions and rotation vectors from present to wanted orientations;
# J its Jacobian by the axes, f forces on the axes, s their positions.


SINGULAR = {"margin": "keep the task away from singular positions, or control fewer positions"}
TASK = dict.fromkeys(("target", "target_velocity", "target_acceleration", "target_orientation"), "") | {
    "target_angular_velocity": "rad/s",
    "target_angular_acceleration": "rad/s^2",
    "posture": "{x}",
}


def _is_empty(value):
    return isinstance(value, (tuple, list)) and not value


def _task_gains(name, value, rows):
    """A gain for each row of a task: one for all, or one each; none where there are no rows."""
    if not rows and not _is_empty(value):
        raise ValueError(f"{name} has no effect: the task has no such directions")
    given = spread(value, len(rows))
    if len(given) != len(rows):
        raise ValueError(f"{name} has {len(given)} values, needs {len(rows)}: {', '.join(rows) or 'none'}")
    return given


def _hold_posture(model, position, velocity, posture, null_stiffness, null_damping):
    """Forces that pull spare axes to a posture, `k (posture - s) - d s'`; None where nothing does."""
    given = [not _is_empty(value) for value in (posture, null_stiffness, null_damping)]
    if not any(given):
        return None
    if len(model.axes) <= len(model.task):
        raise ValueError(f"null_stiffness and null_damping have no effect: the task needs all {len(model.axes)} axes")
    if given[0] != given[1]:
        raise ValueError("posture and null_stiffness have no effect without each other")
    stiffness, damping = (0.0 if _is_empty(gain) else gain for gain in (null_stiffness, null_damping))
    errors = differences(each(posture, model.axes), position) if given[0] else (0.0,) * len(position)
    return follow(errors, tuple(-v for v in velocity), stiffness, damping)


@law(
    units=AXES | RATES | TASK | {"null_stiffness": "1/s^2", "null_damping": "1/s"},
    checks={"least_independence": "positive"},
    positive=SINGULAR,
)
def operational_space_control(
    model,
    position,
    velocity,
    target=(),
    target_velocity=(),
    target_acceleration=(),
    target_orientation=(),
    target_angular_velocity=(),
    target_angular_acceleration=(),
    posture=(),
    *,
    stiffness,
    damping,
    null_stiffness=(),
    null_damping=(),
    least_independence=0.01,
):
    """Feedback linearisation of the task, positions and orientations: `e'' + kd e' + kp e = 0` (Khatib 1987).

    Orientation errors are rotation vectors, at most half a turn. Where there are more axes than the task needs, the
    rest follows `s'' = k (posture - s) - d s'` as far as that has no effect on the task.

    Args:
        target: of the task's positions; target_orientation: quaternion w, x, y, z of each point that rotates;
            target_angular_velocity, target_angular_acceleration: in the axes of the wanted orientation.
        stiffness, damping: kp and kd, one for all directions of the task or one each.
        null_stiffness, null_damping: k and d, one for all axes or one each.
        least_independence: of the task's directions, 1 where they are, 0 at a singular position: a run ends there, at a
            `margin` of 0.
    """
    linear, angular = (
        (target, target_velocity, target_acceleration),
        (target_orientation, target_angular_velocity, target_angular_acceleration),
    )
    aim = model.task_target(*linear, *angular)
    errors = model.task_error(position, aim), model.task_error_rate(position, velocity, aim)
    gains = (_task_gains(name, value, model.task) for name, value in (("stiffness", stiffness), ("damping", damping)))
    wanted = tuple(-pull for pull in follow(*errors, *gains))
    forces = model.task_dynamics(position, velocity, wanted, aim)
    rest = _hold_posture(model, position, velocity, posture, null_stiffness, null_damping)
    if rest is not None:
        pulls = tuple(sum(m * a for m, a in zip(row, rest, strict=True)) for row in model.mass_matrix(position))
        forces = add(forces, model.null_space(position, pulls, aim))
    return {"torque": forces, "margin": model.independence(position) - least_independence}


@law(
    units=AXES | TASK | {"null_stiffness": "{F}/{x}", "null_damping": "{F} s/{x}"},
    stiffness="N/m",
    damping="N s/m",
    rotational_stiffness="N m/rad",
    rotational_damping="N m s/rad",
)
def impedance_control(
    model,
    position,
    velocity,
    target=(),
    target_velocity=(),
    target_orientation=(),
    target_angular_velocity=(),
    posture=(),
    *,
    stiffness=(),
    damping=(),
    rotational_stiffness=(),
    rotational_damping=(),
    null_stiffness=(),
    null_damping=(),
):
    """The task held as by springs and dampers, without its weight: `f = b + J^T (K e + D e')` (Hogan 1985).

    Its masses stay as they are; at rest it gives way to a force F by K^-1 F, to a moment about a principal axis by
    that angle. Orientation errors are rotation vectors: the springs have the energy e^T K e / 2.

    Args:
        target: of the task's positions; target_orientation: quaternion w, x, y, z of each point that rotates;
            target_angular_velocity: in the axes of the wanted orientation.
        stiffness, damping: K and D of the task's positions, one for all or one each; rotational_stiffness,
            rotational_damping: of its rotations.
        null_stiffness, null_damping: pull axes that the task does not need to a posture.
    """
    aim = model.task_target(target, target_velocity, (), target_orientation, target_angular_velocity)
    errors = model.task_error(position, aim), model.task_error_rate(position, velocity, aim)
    springs = _springs(model.rows, "stiffness", stiffness, rotational_stiffness)
    dampers = _springs(model.rows, "damping", damping, rotational_damping)
    push = model.task_push(position, follow(*errors, springs, dampers), aim)
    still = (0.0,) * len(model.axes)
    forces = add(model.inverse_dynamics(position, velocity, still), push)
    rest = _hold_posture(model, position, velocity, posture, null_stiffness, null_damping)
    return {"torque": forces if rest is None else add(forces, model.null_space(position, rest, aim))}


def _springs(rows, name, moving, turning):
    """A number for each row of a task, from those of positions and those of rotations."""
    kinds = {False: (name, moving), True: (f"rotational_{name}", turning)}
    given = {
        rotates: iter(_task_gains(key, value, [row.name for row in rows.all if row.rotates is rotates]))
        for rotates, (key, value) in kinds.items()
    }
    return tuple(next(given[row.rotates]) for row in rows.all)
