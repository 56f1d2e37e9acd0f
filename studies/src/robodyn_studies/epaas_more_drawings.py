"""EPAAS study, curves of chapters 6 and 8.1, and of what goes beyond the study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robodyn.presentation.reporting import (
    COLOURS,
    LINE_WIDTH,
    empty_figure,
    finish_axes,
    legend_above,
    panel_figure,
    write_figure,
)
from robodyn_studies import epaas_hammer as hammer
from robodyn_studies import epaas_noise as noise
from robodyn_studies import epaas_published as published
from robodyn_studies.catalog import epaas_rig
from robodyn_studies.catalog.epaas_cartesian import PLACES
from robodyn_studies.catalog.epaas_drives import MEASURING_DELAY, ROBOT_FLOW, VANE
from robodyn_studies.catalog.epaas_rig import RIG_FLOW, STEP_AT
from robodyn_studies.epaas_drawings import write_panels
from robodyn_studies.epaas_flexible import HELD_LOAD
from robodyn_studies.epaas_readings import LEVELS, RIG_HEIGHTS, ROBOT_HEIGHTS, rig_met, robot_met, run_steps
from robodyn_studies.epaas_sensitivity import SHORT
from robodyn_studies.epaas_wrist import wrist_run
from robodyn_studies.hydraulic_estimation import predict_resonance

MEASURED: dict[str, Any] = {"color": COLOURS[1], "marker": "o", "linestyle": "none"}


def draw_measuring_phase(path: Path) -> None:
    """Phase of the measuring circuit: from noise, the model, and the study's reading."""
    figure, (ax,) = panel_figure(1)
    found = noise.noise_response(noise.BARE_PISTON, "piston.position", "piston.measured.output")
    seen = found.reliable & (found.frequency > 10) & (found.frequency < 400)
    f = found.frequency[seen]
    phase = np.degrees(np.unwrap(np.angle(found.values[seen])))
    ax.semilogx(f, phase, color=COLOURS[0], linewidth=LINE_WIDTH, label="simulated noise")
    ax.semilogx(f, -360 * f * MEASURING_DELAY, color="black", linestyle="--", label="delay of 0.658 ms")
    ax.plot([193.0], [-45.7], label="the study's reading", **MEASURED)
    finish_axes(ax, "phase [deg]")
    write_panels(figure, [ax], "frequency [Hz]", path)


def draw_valve_response(path: Path) -> None:
    """Amplitude and phase of the valve with a bare piston."""
    figure, (upper, lower) = panel_figure(2)
    found = noise.noise_response(noise.BARE_PISTON)
    seen = found.reliable & (found.frequency > 8) & (found.frequency < 400)
    # Held samples are half a period late.
    f, values = found.frequency[seen], (found.values * np.exp(1j * np.pi * found.frequency * noise.PERIOD))[seen]
    level = np.abs(values[(f >= noise.LOW[0]) & (f <= noise.LOW[1])]).mean()
    upper.semilogx(f, 20 * np.log10(np.abs(values) / level), color=COLOURS[0], label="simulated noise")
    lower.semilogx(f, np.degrees(np.unwrap(np.angle(values))), color=COLOURS[0])
    grid = np.geomspace(8.0, 400.0, 300)
    exact = noise.valve_response(grid)
    upper.semilogx(grid, 20 * np.log10(np.abs(exact)), color="black", linestyle="--", label="the valve alone")
    lower.semilogx(grid, np.degrees(np.unwrap(np.angle(exact))), color="black", linestyle="--")
    upper.plot([169.0], [3.0], label="the study's reading", **MEASURED)
    lower.plot([240.0], [-290.0 + 360 * 240.0 * MEASURING_DELAY], **MEASURED)
    finish_axes(upper, "amplitude [dB]")
    finish_axes(lower, "phase, measuring circuit taken out [deg]")
    write_panels(figure, [upper, lower], "frequency [Hz]", path)


def draw_flow_tables(path: Path) -> None:
    """Speeds without load by current: rig, cylinders of the robot, vane motor."""
    figure, axes = panel_figure(2)
    for table, label, colour in ((RIG_FLOW, "rig", COLOURS[0]), (ROBOT_FLOW, "robot, L1 and L2", COLOURS[1])):
        axes[0].plot(table["openings"], table["speeds"], color=colour, marker="o", label=label)
    axes[1].plot(
        np.asarray(VANE["openings"]), np.asarray(VANE["speeds"]), color=COLOURS[2], marker="o", label="vane motor"
    )
    finish_axes(axes[0], "speed [m/s]")
    finish_axes(axes[1], "speed [rad/s]")
    write_panels(figure, axes, "current [A]", path, [*axes[0].get_lines(), *axes[1].get_lines()])


def draw_damping(path: Path) -> None:
    """Resonance and damping by mass: as measured, as estimated, and as they are read from simulated noise."""
    figure, axes = panel_figure(2)
    data = np.array(published.RESONANCES)
    mass = np.linspace(2.0, 9.5, 200)
    model = predict_resonance(mass, compliance=1.25e-6, leakage=7.46e-5, friction=501.0)
    true = predict_resonance(mass, compliance=1.0e-6, leakage=7.46e-5, friction=501.0)
    read = np.array([(pair.frequency, pair.damping) for pair in noise.resonances(corrected=False)])
    for k, (ax, text) in enumerate(zip(axes, ("resonance [Hz]", "relative damping"), strict=True)):
        ax.plot(mass, model[k], color=COLOURS[1], label="c0 = 1.25e-6 m/N, estimated")
        ax.plot(data[:, 0], data[:, k + 1], label="measured", **MEASURED)
        ax.plot(mass, true[k], color=COLOURS[0], label="c0 = 1.0e-6 m/N, simulated with")
        look: dict[str, Any] = {"color": COLOURS[0], "marker": "s", "fillstyle": "none", "linestyle": "none"}
        ax.plot(data[:, 0], read[:, k], label="read from simulated noise", **look)
        finish_axes(ax, text)
    write_panels(figure, axes, "mass [kg]", path)


def draw_variations(path: Path) -> None:
    """The rig's step with less and more of each of nine parameters."""
    scenario = epaas_rig(duration=0.07)
    numbers = scenario.numbers()
    figure = empty_figure(9.0, 8.0)
    axes = figure.subplots(3, 3, sharex=True, sharey=True).ravel()
    looks = {-1: {"color": COLOURS[1]}, 0: {"color": "black"}, 1: {"color": COLOURS[0]}}
    for ax, (name, varied) in zip(axes, published.VARIATIONS.items(), strict=True):
        rows = [{name: numbers[name].value * (1 + side * varied.change)} for side in looks]
        for signal, look in zip(run_steps(scenario, rows, "piston.measured.output"), looks.values(), strict=True):
            ax.plot(1e3 * (signal.time - STEP_AT), signal.values, linewidth=LINE_WIDTH, **look)
        finish_axes(ax, f"{SHORT[name].replace('_', ' ')}, {100 * varied.change:g} % [V]")
        ax.set_xlim(0, 60)
    for ax in axes[-3:]:
        ax.set_xlabel("time after the step [ms]")
    legend = [line for line, _ in zip(axes[0].get_lines(), looks, strict=True)]
    for line, text in zip(legend, ("less", "as estimated", "more"), strict=True):
        line.set_label(text)
    legend_above(figure, legend)
    write_figure(figure, path)


def draw_readings(path: Path) -> None:
    """How many of all values are met by height of the step, for each way to read the tables."""
    figure, (upper, lower) = panel_figure(2)
    for weight, style in ((True, "-"), (False, ":")):
        label = "with the weight" if weight else "without"
        for level, colour in zip(LEVELS, COLOURS, strict=False):
            counts = [sum(rig_met(weight, height, level)) for height in RIG_HEIGHTS]
            upper.plot(RIG_HEIGHTS, counts, style, color=colour, marker=".", label=f"{label}, level {level}")
        counts = np.array(list(robot_met(weight).values())).max(axis=1)
        lower.plot(ROBOT_HEIGHTS, counts.sum(axis=0), style, color="black", marker=".")
    finish_axes(upper, "rig: met of 69 values")
    finish_axes(lower, "robot: met of 12, one height for all")
    write_panels(figure, [upper, lower], "height of the step [V]; dotted: without weight", path)


def draw_hammer(path: Path) -> None:
    """Accelerances along both directions, without and with a load, and the modes that the study read from its own."""
    figure, axes = panel_figure(2)
    for ax, (way, axis) in zip(axes, (("plane", "z"), ("phi", "y")), strict=True):
        for payload, colour in ((0.0, COLOURS[0]), (HELD_LOAD, COLOURS[1])):
            found = hammer.accelerance(axis, axis, payload)
            label = "no load" if not payload else f"{payload:g} kg in the gripper"
            ax.semilogy(found.frequency, found.magnitude, color=colour, linewidth=LINE_WIDTH, label=label)
        for k, mode in enumerate(hammer.SEEN[way]):
            ax.axvline(mode, color="0.6", linestyle="--", label="" if k else "measured modes")
        finish_axes(ax, f"{'along z' if way == 'plane' else 'along phi'} [m/s² per N]")
    write_panels(figure, axes, "frequency [Hz]", path)


def draw_wrist_path(path: Path) -> None:
    """The wrist in the plane of the arm and the angle phi, wanted and as it moves."""
    run = wrist_run()
    t = np.linspace(0.0, run.time[-1], 1200)
    x, y, z = (run[f"wrist.position.{axis}"](t) for axis in "xyz")
    figure = empty_figure(8.0, 7.0)
    upper, lower = figure.subplots(2, 1)
    upper.plot(
        [p.r for p in PLACES], [p.z for p in PLACES], color="black", marker="o", label="places, straight between"
    )
    upper.plot(np.hypot(x, y), z, color=COLOURS[0], linewidth=LINE_WIDTH, label="wrist")
    upper.set_xlabel("r [m]")
    finish_axes(upper, "z [m]")
    lower.plot(t, np.degrees(run["joint1.position"](t)), color=COLOURS[0], label="phi")
    lower.plot(t, np.degrees(run["joint5.position"](t)), color=COLOURS[1], label="psi, roll of the gripper")
    lower.set_xlabel("time [s]")
    finish_axes(lower, "angle [deg]")
    legend_above(figure, [*upper.get_lines(), *lower.get_lines()])
    write_figure(figure, path)
