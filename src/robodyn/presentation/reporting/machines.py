"""Machines drawn: workspace maps, the fastest way along a path, and where a robot file's elements went."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import show_quantity

from .displays import Display, DisplayFigure, Part, Table, shows
from .figures import COLOURS, empty_figure, finish_axes, into_file, label_bottom, panel_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robodyn.analysis.commissioning import Dressed, FastMove, Move
    from robodyn.analysis.mechanics.parallel_joints import ParallelJoint
    from robodyn.analysis.mechanics.parallel_kinematics import WorkspaceMap
    from robodyn.description.model import Machine, Scenario
    from robodyn.description.robots import BalanceSheet


# Workspace map: where can a mechanism with closed loops bring its point, and how well does it move there?

# Inches.
_WIDTH, _HEIGHT = 7.4, 5.6
_LEVELS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)


def draw_workspace(workspace: WorkspaceMap) -> Figure:
    """A figure of the plane in which a map's grid lies: filled where it can be reached, darker the better conditioned.

    The colour is the condition number of the Jacobian from motors to point, 1 where it moves alike in all directions.

    Raises:
        ValueError: where the grid is not a plane, with one axis of a single value.
    """
    from matplotlib.colors import BoundaryNorm

    wide = [k for k, column in enumerate(workspace.values) if len(column) > 1]
    if len(wide) != 2 or any(len(column) == 0 for column in workspace.values):
        raise ValueError(f"only a plane can be drawn, this grid has {len(wide)} axes: give one value for each other")
    first, second = wide
    figure = empty_figure(_WIDTH, _HEIGHT)
    ax = figure.add_subplot()
    values = np.ma.masked_invalid(workspace.condition.squeeze())
    look: dict[str, Any] = {"cmap": "viridis_r", "norm": BoundaryNorm(_LEVELS, 256, extend="max"), "shading": "nearest"}
    filled = ax.pcolormesh(workspace.values[first], workspace.values[second], values.T, rasterized=True, **look)
    filled.set_gid("condition")
    figure.colorbar(filled, ax=ax, label="condition number of the Jacobian", extend="max", format="%g")
    edge = workspace.reachable.squeeze().T.astype(float)
    ax.contour(workspace.values[first], workspace.values[second], edge, [0.5], colors="black")
    ax.set_xlabel(f"{workspace.point} {workspace.axes[first]} [m]")
    finish_axes(ax, f"{workspace.point} {workspace.axes[second]} [m]")
    ax.set_aspect("equal")
    return figure


plot_workspace = into_file(draw_workspace)




# Parallel joint: which torques and errors has it over its angles?


def draw_parallel_joint(joint: ParallelJoint) -> Figure:
    """A figure of each angle's largest torque over the stand-in's, and of what its constant map and rotors get wrong:
    curves of one angle, maps of two.

    Raises:
        ValueError: where there are more than two angles.
    """
    if len(joint.angles) > 2:
        raise ValueError(f"only one or two angles can be drawn, here are {len(joint.angles)}")
    panels = [
        (f"torque of {name} over the stand-in's", joint.torque_ratios[..., k], "viridis")
        for k, name in enumerate(joint.angles)
    ]
    error = np.degrees(np.max(np.abs(joint.angle_errors), axis=-1))
    panels += [
        ("error of the stand-in's angles [deg]", error, "magma_r"),
        ("error of its rotors, coupling included, over them", joint.rotor_errors, "magma_r"),
    ]
    degrees = [np.degrees(column) for column in joint.values]
    if len(joint.angles) == 1:
        figure, axes = panel_figure(len(panels))
        for ax, (label, values, _) in zip(axes, panels, strict=True):
            ax.plot(degrees[0], values, color=COLOURS[0])
            finish_axes(ax, label)
        label_bottom(axes, f"{joint.angles[0]} [deg]")
        return figure
    figure = empty_figure(2 * _HEIGHT, 1.6 * _HEIGHT)
    home = np.degrees(joint.stand_in.at)
    for ax, (label, values, colours) in zip(figure.subplots(2, 2).ravel(), panels, strict=True):
        shown = np.ma.masked_invalid(values.T)
        filled = ax.pcolormesh(*degrees, shown, cmap=colours, shading="nearest", rasterized=True)
        figure.colorbar(filled, ax=ax, format="%g")
        ax.plot(*home, "+", color="black")
        ax.set_title(label, fontsize="medium")
        ax.set_xlabel(f"{joint.angles[0]} [deg]")
        finish_axes(ax, f"{joint.angles[1]} [deg]")
    return figure


plot_parallel_joint = into_file(draw_parallel_joint)


@shows
def show_parallel_joint(joint: ParallelJoint) -> Display:
    """The torque map where the stand-in is taken, the stand-in, and how far it holds."""
    figures, stand_in = joint.figures, joint.stand_in
    place = ", ".join(f"{name} {np.degrees(y):.4g}" for name, y in zip(joint.angles, stand_in.at, strict=True))
    rates = [(name, *(figures[name].motor_rates[motor] for motor in joint.motors)) for name in joint.angles]
    heads = ("angle", "from [deg]", "to [deg]", "torque [N m]", "speed [rad/s]", "rotor [kg m^2]")
    ends = [
        (name, np.degrees(one.lower), np.degrees(one.upper), one.torque, one.speed, one.rotor)
        for name, one in figures.items()
    ]
    loads = [
        (name, 100 * one.least_torque, 100 * one.largest_torque, np.degrees(one.angle_error))
        for name, one in figures.items()
    ]
    parts: list[Part] = [
        f"at {place} deg: motor speed per angle rate, which is also torque about the angle per motor torque",
        Table(("angle", *joint.motors), rates),
        "serial stand-in there, one angle at a time:",
        Table(heads, ends),
        f"of these torques {100 * stand_in.together:.3g} % can act at once; of the box of the ranges "
        f"{100 * stand_in.there:.3g} % can be reached",
        "over the reachable range, in % of the stand-in's torque, with the error of motors that follow its map:",
        Table(("angle", "least torque [%]", "largest torque [%]", "angle error [deg]"), loads),
        DisplayFigure("Torques and errors over the angles", lambda: draw_parallel_joint(joint), "plot"),
    ]
    said: list[Part] = []
    if np.isfinite(joint.coupling):
        said.append(
            f"rotors couple the angles by up to {100 * joint.coupling:.3g} % of the geometric mean of their inertias"
        )
    if np.isfinite(joint.rotor_error):
        said.append(f"the stand-in's rotors are wrong by up to {100 * joint.rotor_error:.3g} %, coupling included")
    parts[-1:-1] = said
    return Display(f"Parallel joint {' and '.join(joint.angles)}", parts)


# Fast-path plot: how fast is a path gone along in the least time, and which share of the limits does it use?


def draw_fast_move(move: FastMove) -> Figure:
    """A figure over the way: the speed beside the fastest trapezoid's, each joint's effort by its limit, and the
    largest share of any limit, friction included."""
    figure, axes = panel_figure(2)
    duration = move.duration - float(move.time[0])
    axes[0].plot(move.way, move.speed, color=COLOURS[0], label=f"fastest, {duration:.4g} s")
    axes[0].plot(move.way, move.trapezoid_speed, color=COLOURS[1], label=f"trapezoid, {move.trapezoid:.4g} s")
    axes[0].legend(fontsize="small", frameon=False)
    finish_axes(axes[0], "speed [m/s]")
    assert move.limits is not None
    for k, (joint, limit) in enumerate(zip(move.joints, move.limits.effort, strict=True)):
        if np.isfinite(limit):
            share = 100 * move.effort[:, k] / limit
            axes[1].plot(move.way, share, color=COLOURS[k % len(COLOURS)], label=joint)
    axes[1].plot(move.way, 100 * move.use, color="black", linestyle=":", label="largest of any limit")
    axes[1].legend(fontsize="small", frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    finish_axes(axes[1], "effort without friction [%]")
    label_bottom(axes, "distance along the path [m]")
    return figure


plot_fast_move = into_file(draw_fast_move)


# Displays of machines, scenarios, robot files and moves.


@shows
def show_machine(machine: Machine) -> Display:
    """Joints and blocks, and how much else there is."""
    mechanism, joints = machine.any_mechanism, []
    masses = {number.name: number.value for number in mechanism.numbers()}
    for joint in mechanism.joints:
        mass = masses.get(f"{joint.child}.mass", "")
        joints.append((joint.name, joint.kind, f"{joint.parent} → {joint.child}", mass))
    blocks = [(block.name, block.law_name, "" if block.period is None else block.period) for block in machine.blocks]
    parts: list[Part] = []
    counts = {"constraints": machine.constraints, "contacts": machine.contacts, "loads": machine.loads}
    if others := ", ".join(f"{len(some)} {what}" for what, some in counts.items() if some):
        parts.append(others)
    parts += [Table(("joint", "kind", "from → to", "mass [kg]"), joints)] if joints else []
    parts += [Table(("block", "law", "period [s]"), blocks)] if blocks else []
    return Display(f"Machine {machine.name}", parts)


@shows
def show_scenario(scenario: Scenario) -> Display:
    """How long and how it is simulated, its machine, and where it starts."""
    solver = scenario.solver
    how = f"{scenario.duration:g} s by {solver.method}" + (f", rtol {solver.rtol:g}" if solver.adaptive else "")
    starts = [Table(("start", "value"), list(scenario.initial.items()))] if scenario.initial else []
    machine = show_machine(scenario.machine)
    return Display(f"Scenario {scenario.name}", (scenario.title, how, *machine.parts, *starts))


@shows
def show_balance(sheet: BalanceSheet) -> Display:
    """Where every element and attribute of a robot file went."""
    rows = [(entry.line, entry.path, entry.value, entry.column, entry.note) for entry in sheet.entries]
    heads = ("line", "element or attribute", "value", "column", "how, or why not")
    sentence = f"{sheet.source}: {len(rows)} elements and attributes, each in one column."
    return Display(f"Balance sheet of {sheet.source}", (sentence, Table(heads, rows, kinds=3)), text=sheet.text())


@shows
def show_move(move: Move) -> Display:
    """Largest speed, acceleration and effort of each joint; of a fast one its rival and what it uses of the limits."""
    joints = move.scenario.machine.any_mechanism.joints if move.scenario else ()
    slides = {joint.name for joint in joints if joint.kind == "prismatic"}
    rows = []
    for name, peak in move.peaks.items():
        units = ("m/s", "m/s^2", "N") if name in slides else ("rad/s", "rad/s^2", "N m")
        sizes = zip(astuple(peak), units if joints else ("", "", ""), strict=True)
        rows.append((name, *(show_quantity(value, unit) for value, unit in sizes)))
    heads = ("joint", "speed", "acceleration", "effort")
    parts: list[Part] = [f"ends at {move.duration:.4g} s; largest values:", Table(heads, rows)]
    return Display("Move", parts)


@shows
def show_fast_move(move: FastMove) -> Display:
    """The move, the fastest trapezoid beside it, and the largest share of any limit."""
    begin, rival = float(move.time[0]), move.trapezoid_end
    longer = 100 * ((rival - begin) / (move.duration - begin) - 1)
    comparison = (
        f"the fastest trapezoid within the same limits ends at {rival:.4g} s, {longer:.3g} % longer; "
        f"the highest use of any limit is {100 * move.greatest_use:.4g} %"
    )
    return Display(
        "Fast move",
        (*show_move(move).parts, comparison, DisplayFigure("Speed and efforts", lambda: draw_fast_move(move))),
    )


CASCADE = ("position gain", "P", "I", "by friction"), ("1/s", "N m s/rad", "N m/rad", "mrad or mm")
COMPUTED = ("kp", "kd"), ("1/s²", "1/s")
OF_PRISMATIC = "P and I are N s/m and N/m of prismatic joints; "
BY_FRICTION = (
    "by friction: position error from dry friction when a joint starts or reverses, F / (P position gain + I).",
    "Rotors that are light compared with their links limit the gains. Weight also twists elastic gears, which",
    "encoders on the motors do not see.",
)


@shows
def show_dressing(dressed: Dressed) -> Display:
    """Drives, gains and margins of each joint, then every number with its source; alike numbers share a line."""
    rows, cascade = [], False
    for part in dressed.axes:
        sized, numbers = part.axis.sized, list(astuple(part.gains))
        match part.gains:
            case object(proportional=proportional, position=position, integral=integral):
                cascade = True
                friction = 0.0 if part.axis.drive.friction == "none" else sized["coulomb"]
                numbers.append(1e3 * friction / (proportional * position + integral))
        numbers += [math.degrees(part.margins.phase), part.margins.gain]
        drive = f"{sized.family} {sized.size} x {sized.scale:.3g}" + ("" if sized.elastic else ", rigid")
        inertia = f"{part.least_inertia:.3g} ... {part.most_inertia:.3g}"
        shown = (f"{value:.3g}" for value in numbers)
        rows.append((part.axis.name, drive, f"{sized['ratio']:.4g}", inertia, *shown))
    names, units = CASCADE if cascade else COMPUTED
    rows.insert(0, ("", "", "", "kg m² or kg", *units, "deg", ""))
    heads = ("joint", "drive", "ratio", "inertia", *names, "phase margin", "gain margin")
    shared: dict[tuple[str, str, str], list[str]] = {}
    for joint, key, value, source in dressed.assumptions():
        shared.setdefault((key, f"{value:.4g}", source), []).append(joint)
    sources = sorted((key, value, ", ".join(joints), source) for (key, value, source), joints in shared.items())
    parts = [
        Table(heads, rows),
        "",
        f"{OF_PRISMATIC if cascade else ''}inertia: least ... largest over poses, rotor included.",
        *(BY_FRICTION if cascade else ()),
        *(f"{name}: not dressed, {why}" for name, why in dressed.undressed.items()),
        *dressed.notes,
        "",
        Table(("number", "value", "joints", "source"), sources, most=200),
    ]
    return Display("Dressed robot", parts)
