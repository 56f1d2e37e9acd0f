"""Control made from the model does what it must on any machine: trees, closed loops, floating bases.

Second methods: accelerations of the assembled machine under the law, its kinetic energy, `MachineDynamics`.
"""

import numpy as np
import pytest
from support.controlled import evaluate_signals, random_posed

from robodyn.computation.assembly import assemble
from robodyn.description.model import Block, ControlModel, Load

ROUNDING = 1e-8
"""Of accelerations, over the largest: constraints give way by 1e-8 of their mobility, refined twice."""
MACHINES = {
    "tree": (1, False, True),
    "floating base": (6, False, False),
    "loop": (5, True, True),
    "two loops": (26, True, True),
}
WITHOUT_BASE = [name for name in MACHINES if name != "floating base"]


@pytest.fixture(scope="module")
def posed_machines():
    return {name: random_posed(*how) for name, how in MACHINES.items()}


def drive(posed, law, parameters=None, inputs=None, **fields):
    return Block("control", law, None, inputs or {}, parameters or {}, acts={"torque": posed.axes}, **fields)


def of_axes(posed, part):
    return np.array([(posed.q | posed.v)[f"{axis}.{part}"] for axis in posed.axes])


def accelerations(scenario, posed, values):
    return evaluate_signals(scenario, tuple(f"{axis}.acceleration" for axis in posed.axes), values)


@pytest.mark.parametrize("name", MACHINES)
def test_computed_torque_makes_errors_linear_and_decoupled(posed_machines, name):
    """e'' + kd e' + kp e = 0, in the midst of a motion; of a floating base, for the joints that have motors."""
    posed = posed_machines[name]
    rng, n = np.random.default_rng(7), len(posed.axes)
    target, rate, wanted = (rng.uniform(-1, 1, n) for _ in range(3))
    inputs = {"target": tuple(target), "target_velocity": tuple(rate), "target_acceleration": tuple(wanted)}
    law = drive(posed, "computed_torque", {"stiffness": 40.0, "damping": 9.0}, inputs)
    found = accelerations(posed.scenario(law), posed, posed.q | posed.v)
    expected = wanted + 9.0 * (rate - of_axes(posed, "velocity")) + 40.0 * (target - of_axes(posed, "position"))
    assert found == pytest.approx(expected, abs=ROUNDING * np.max(np.abs(expected)))
    # Friction that the model knows of, on joints with and without motors, changes nothing.
    joints = [name.removesuffix(".velocity") for name in posed.v if name.endswith(".velocity")]
    damped = [Block(f"rub{k}", "viscous_friction", on, parameters={"viscous": 0.7}) for k, on in enumerate(joints)]
    knowing = law.replaced(model=ControlModel(friction=True))
    found = accelerations(posed.scenario(knowing, *damped), posed, posed.q | posed.v)
    assert found == pytest.approx(expected, abs=ROUNDING * np.max(np.abs(expected)))


@pytest.mark.parametrize("name", WITHOUT_BASE)
def test_gravity_compensation_holds_the_whole_machine(posed_machines, name):
    posed = posed_machines[name]
    assert len(posed.axes) == posed.free
    scenario = posed.scenario(drive(posed, "gravity_compensation"))
    system = assemble(scenario)
    every = tuple(info.name for info in system.signals if info.name.endswith(".acceleration"))
    free = evaluate_signals(posed.scenario(), every, posed.rest)
    assert evaluate_signals(system, every, posed.rest) == pytest.approx(0.0 * free, abs=ROUNDING * np.max(np.abs(free)))
    assert np.max(np.abs(free)) > 0.1


@pytest.mark.parametrize("name", WITHOUT_BASE)
def test_the_mass_matrix_of_the_axes_is_that_of_the_kinetic_energy(posed_machines, name):
    """E = s'^T L s' / 2 of the moving machine."""
    posed = posed_machines[name]

    def energy(model, position, velocity):
        rows = model.mass_matrix(position)
        return {"energy": sum(0.5 * a * m * b for a, row in zip(velocity, rows, strict=True)
                              for m, b in zip(row, velocity, strict=True))}  # fmt: skip

    scenario = posed.scenario(Block("look", energy, model=ControlModel(axes=posed.axes)))
    ours, theirs = evaluate_signals(scenario, ("look.energy", "energy.kinetic"), posed.q | posed.v)
    assert ours == pytest.approx(theirs, rel=ROUNDING)


def test_joints_follow_the_axes_that_are_wanted(posed_machines):
    """Feed-forward at another position than the machine's: what computed torque finds where the machine is there."""
    posed = posed_machines["loop"]
    there = posed.rest
    wanted = {"target": tuple(of_axes(posed, "position")), "target_velocity": (0.0,) * len(posed.axes)}
    wanted["target_acceleration"] = (1.0,) * len(posed.axes)
    names = tuple(f"control.torque.{k}" for k in range(len(posed.axes)))
    scenario = posed.scenario(drive(posed, "inverse_dynamics_feed_forward", None, wanted))
    expected = evaluate_signals(scenario, names, there)
    # All joints a little elsewhere, as those of a machine that is late.
    shifted = {name: value + 0.02 * (-1) ** k for k, (name, value) in enumerate(there.items())}
    assert evaluate_signals(scenario, names, shifted) == pytest.approx(expected, rel=1e-6)


def tool_of(posed):
    """Positions of a point at the machine's end that move, as many as there are axes at most."""
    point = posed.machine.mechanism.points[-1].name
    return point, tuple(f"{point}.position.{axis}" for axis in "xyz")


@pytest.mark.parametrize(("name", "n"), [("tree", 2), ("loop", 1)])
def test_the_task_accelerates_as_asked(posed_machines, name, n):
    """Of more axes than the task needs, what damps the others does not touch the task."""
    posed = posed_machines[name]
    _, positions = tool_of(posed)
    model = ControlModel(task=positions[:n], friction=True)
    inputs = {"target": (0.1, -0.2)[:n], "target_acceleration": (1.5, -2.0)[:n]}
    gains = {"stiffness": 30.0, "damping": 8.0, "null_damping": 5.0}
    law = drive(posed, "operational_space_control", gains, inputs, model=model)
    joints = [name.removesuffix(".velocity") for name in posed.v]
    damped = [Block(f"rub{k}", "viscous_friction", on, parameters={"viscous": 0.7}) for k, on in enumerate(joints)]
    system = assemble(posed.scenario(law, *damped))
    at, moving = (
        evaluate_signals(system, tuple(name.replace("position", part) for name in positions[:n]), posed.q | posed.v)
        for part in ("position", "velocity")
    )
    # y'' by differences of y' along the motion: no other function of the model takes part.
    names = [info.name for info in system.states if info.name in posed.q | posed.v]
    rates = _rates(system, posed, names)
    h = 1e-6
    moved = {name: (posed.q | posed.v)[name] + h * rates[name] for name in names}
    later = evaluate_signals(system, tuple(name.replace("position", "velocity") for name in positions[:n]), moved)
    expected = np.array(inputs["target_acceleration"]) - 8.0 * moving + 30.0 * (np.array(inputs["target"]) - at)
    assert (later - moving) / h == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.max(np.abs(expected)))


def _rates(system, posed, names):
    import casadi as ca

    x = [(posed.q | posed.v).get(info.name, info.start) for info in system.states]
    memory, numbers = [info.start for info in system.memory], [number.value for number in system.parameters]
    rhs = ca.Function("f", [*system.symbols], [system.expressions.rhs])(0.0, x, [], memory, numbers)
    values = np.array(rhs).ravel()
    return {info.name: values[k] for k, info in enumerate(system.states) if info.name in names}


@pytest.mark.parametrize("name", ["tree", "loop"])
def test_impedance_control_gives_way_as_stiffly_as_asked(posed_machines, name):
    """Where K e and a force on the tool balance, nothing accelerates: the stiffness at the tool is K."""
    posed = posed_machines[name]
    point, positions = tool_of(posed)
    place = evaluate_signals(posed.scenario(), positions[:1], posed.rest)
    model = ControlModel(task=positions[:1])
    law = drive(
        posed, "impedance_control", {"stiffness": 700.0, "damping": 3.0}, {"target": (place[0] + 0.03,)}, model=model
    )
    pushed = Load("push", point, (-0.03 * 700.0, 0.0, 0.0))
    held = accelerations(posed.scenario(law, loads=(pushed,)), posed, posed.rest)
    # The model knows of constant loads and would carry them: one that a signal drives is not in it.
    still = Block("still", "constant_reference", parameters={"constant": 1.0})
    driven = posed.scenario(law, still, loads=(pushed.replaced(times="still.value"),))
    free = np.max(np.abs(held))
    assert free > 1.0
    assert accelerations(driven, posed, posed.rest) == pytest.approx(0.0 * held, abs=ROUNDING * free)
