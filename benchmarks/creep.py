"""Does a loaded joint creep below its friction limit? A lever of 1 kg on 0.3 m, level, under dry friction of 5 N m.

Gravity asks for 2.943 N m, so that nothing may move. What is measured is how far the joint has gone after some time:
ours, MuJoCo as it comes and with its stiffest friction, Newton's solvers that know dry friction in joints. Drake 1.51
has none in joints (its issue 18932).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import robodyn as rd
from benchmarks.findings import Findings, Row, find_rival, require_agreement

MASS, ARM, FRICTION, GRAVITY = 1.0, 0.3, 5.0, 9.81
STILL = 1e-12
"""What ours may move [rad]: rounding."""
MJCF = """<mujoco><compiler angle="radian" autolimits="false"/><option timestep="{step}" gravity="0 0 -9.81" {option}/>
<worldbody><body name="lever" pos="0 0 1"><joint name="hinge" type="hinge" axis="0 -1 0" frictionloss="5" {joint}/>
<inertial pos="0.3 0 0" mass="1" diaginertia="0.01 0.03 0.03"/></body></worldbody></mujoco>"""
STIFFEST = {
    "step": 1e-4,
    "option": 'iterations="200" tolerance="1e-15" ls_iterations="100"',
    "joint": 'solimpfriction="0.9999 0.9999 0.001 0.5 2" solreffriction="0.0002 1"',
}
MUJOCO = {
    "as it comes, 2 ms": {"step": 2e-3, "option": "", "joint": ""},
    "its stiffest friction, 0.1 ms": STIFFEST,
}
NEWTON = {"Kamino": "SolverKamino", "Featherstone": "SolverFeatherstone"}
"""The second one leaves friction of joints out, as it seems: its lever falls."""


@dataclass(frozen=True)
class Size:
    duration: float = 10.0
    newton: float = 0.2


SIZES = {"smallest": Size(0.1, 0.0), "usual": Size()}


def measure(size: Size) -> Findings:
    """A row a rival: how far ours has gone, and how far the rival."""
    moved = abs(creep_ours(size.duration))
    rows, missing = [Row(f"creep in {size.duration:g} s", 1e6 * moved, "urad")], []
    if find_rival("mujoco"):
        rows += list(compare_mujoco(size.duration, moved))
    else:
        missing.append("mujoco")
    if size.newton and find_rival("newton"):
        rows += list(compare_newton(size.newton, moved))
    elif size.newton:
        missing.append("newton")
    return Findings(
        tuple(rows),
        agreements=(require_agreement("a loaded joint that sticks and its start", moved, STILL, "rad"),),
        missing=tuple(missing),
    )


def creep_ours(duration: float) -> float:
    rod = rd.Body("lever", mass=MASS, com=(ARM, 0.0, 0.0), inertia=(0.01, 0.03, 0.03))
    hinge = rd.Joint("hinge", "revolute", rd.GROUND, "lever", axis=(0.0, -1.0, 0.0))
    dry = {"coulomb": FRICTION, "static": FRICTION, "viscous": 0.0}
    friction = rd.Block("friction", "stick_friction", on="hinge", parameters=dry)
    machine = rd.Machine("lever", rd.Mechanism("lever", (rod,), (hinge,)), (friction,))
    run = rd.simulate(rd.Scenario("lever", machine, duration))
    return float(run["hinge.position"].final)


def compare_mujoco(duration: float, moved: float) -> Iterator[Row]:
    import mujoco

    for label, words in MUJOCO.items():
        model = mujoco.MjModel.from_xml_string(MJCF.format(**words))
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, nstep=round(duration / model.opt.timestep))
        theirs, name = 1e6 * abs(float(data.qpos[0])), f"MuJoCo {mujoco.__version__}, {label}"
        yield Row(f"creep in {duration:g} s, {name}", 1e6 * moved, "urad", rival=theirs, rival_name=name)


def compare_newton(duration: float, moved: float) -> Iterator[Row]:
    """On the processor, in single precision, in steps of 1 ms."""
    newton = importlib.import_module("newton")
    for label, solver_name in NEWTON.items():
        kind = getattr(newton.solvers, solver_name)
        builder = newton.ModelBuilder()
        if hasattr(kind, "register_custom_attributes"):
            kind.register_custom_attributes(builder)
        builder.add_mjcf(MJCF.format(step=1e-3, option="", joint=""))
        model = builder.finalize(device="cpu")
        solver, now, after, control = kind(model), model.state(), model.state(), model.control()
        newton.eval_fk(model, model.joint_q, model.joint_qd, now)
        for _ in range(round(duration / 1e-3)):
            now.clear_forces()
            solver.step(now, after, control, None, 1e-3)
            now, after = after, now
        newton.eval_ik(model, now, now.joint_q, now.joint_qd)
        theirs = 1e6 * abs(float(np.array(now.joint_q.numpy())[0]))
        name = f"Newton {newton.__version__} {label}, 1 ms"
        yield Row(f"creep in {duration:g} s, {name}", 1e6 * moved, "urad", rival=theirs, rival_name=name)
