"""EPAAS study, pictures: how do its figures look, redrawn?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from robodyn.presentation.reporting import plot_fit, plot_modes, plot_signals, plot_stacked, plot_tornado
from robodyn.presentation.studies import Picture
from robodyn_studies import epaas_drawings as drawings
from robodyn_studies import epaas_more_drawings as more
from robodyn_studies.epaas_estimation import fitted
from robodyn_studies.epaas_forces import SPEEDS, path_forces
from robodyn_studies.epaas_modes import oil_mode, oil_modes
from robodyn_studies.epaas_runs import LABELS, LOAD, rig_run
from robodyn_studies.epaas_sensitivity import QUANTITIES, sensitivities


def pictures() -> tuple[Picture, ...]:
    """The study's figures of chapters 6 to 8 redrawn, in its order, then what goes beyond it."""
    return (*_estimated(), *_simulated(), *_analysed(), *_beyond())


def _estimated() -> tuple[Picture, ...]:
    """Chapter 6."""
    return (
        Picture(
            "measuring-phase",
            "phase from simulated noise, the model's delay, and the study's one reading",
            more.draw_measuring_phase,
            "Figures 6.1.2-2 and 6.1.2-3: phase of the measuring circuit, measured and modelled",
        ),
        Picture(
            "valve-response",
            "response of valve and bare piston to simulated noise, the valve alone, and the study's readings. Oil and "
            "friction make the piston 0.5 ms late, which the study counts as the valve's",
            more.draw_valve_response,
            "Figures 6.1.3-1 and 6.1.3-2: amplitude and phase of the servovalve",
        ),
        Picture(
            "flow-tables",
            "the printed tables",
            more.draw_flow_tables,
            "Figures 6.1.4.1-1 and 6.2.4.1-1: speed without load of rig and vane motor",
        ),
        Picture(
            "damping",
            "the printed pairs, the estimates, and what the procedure reads from simulated noise",
            more.draw_damping,
            "Figure 6.1.4.2-1: relative damping by mass",
        ),
    )


def _simulated() -> tuple[Picture, ...]:
    """Chapter 7."""
    return (
        Picture(
            "rig-steps",
            "our steps with the first peaks that the study prints, simulated and measured",
            drawings.draw_rig_steps,
            "Figures 7.1.2-1 and 7.1.2-2: steps of the rig, simulated beside measured",
        ),
        Picture(
            "rig-inside",
            "current, valve, oil force and speed, extending 5.1 kg",
            _draw_rig_inside,
            "Figure 7.1.2-3: what happens inside the rig",
        ),
        Picture(
            "robot-steps",
            "our steps with the study's first peaks",
            drawings.draw_robot_steps,
            "Figures 7.2.3-1 to 7.2.3-5: steps of the robot, simulated beside measured",
        ),
        Picture(
            "robot-l3-joints",
            "joints 2 and 3, and the voltage of L4",
            drawings.draw_joints,
            "Figures 7.2.3-2b and c: other variables while L3 steps",
        ),
        Picture(
            "modes",
            "modes of the oil columns: L3, vane, L4, L1",
            _draw_modes,
            "Figures 7.3.2-2 to 7.3.3-3: measured mode shapes",
        ),
        Picture(
            "hammer",
            "acceleration of the elbow for a blow on the wrist, upper arm and gripper elastic, valves shut",
            more.draw_hammer,
            "Figures 7.3.2-1 and 7.3.3-1: transfer functions between points of the robot, without and with 2.5 kg",
        ),
    )


def _analysed() -> tuple[Picture, ...]:
    """Chapter 8."""
    forces = _force_pictures()
    return (
        Picture(
            "variations",
            "the same nine numbers varied, all of the run",
            more.draw_variations,
            "Figures 8.1-1 to 8.1-9: the rig's step with less and more of nine numbers",
        ),
        Picture(
            "workspace",
            "boundary of the wrist's workspace and its four trajectories, with strokes of our choice",
            drawings.draw_workspace,
            "Figure 8.2.2-1: boundaries of the workspace",
        ),
        Picture(
            "masses",
            "effective mass of each actuator along that boundary, bare and with 4 kg",
            drawings.draw_masses,
            "Figures 8.2.2-2 to 8.2.2-5: effective masses",
        ),
        *(replace(picture, beside=beside) for picture, beside in zip(forces, FORCE_FIGURES, strict=True)),
    )


FORCE_FIGURES = (
    "Figures 8.2.4-2 and 8.2.4-3: joint torques along its path",
    "Figures 8.2.4-6 and 8.2.4-7: the same with 4 kg",
    "Figure 8.2.4-8: the same at five times the speed",
    "Figures 8.2.4-4 and 8.2.4-5: forces of the actuators along its path",
    "Figure 8.2.4-9: the same at five times the speed",
)


def _beyond() -> tuple[Picture, ...]:
    return (
        Picture("readings", "Which height, level and weight suit all tables of steps", more.draw_readings),
        Picture("wrist-path", "All five axes along places of the wrist, L2 coupled to L4", more.draw_wrist_path),
        *_tornado_pictures(),
        Picture("order", "From the setpoint of L4 to its position: order 25 and order 15", drawings.draw_orders),
        Picture("order-steps", "Steps of L3 and L4 with order 25 and 15", drawings.draw_order_steps),
        Picture("friction", "L3 after its step with three descriptions of dry friction", drawings.draw_friction),
        Picture("fit", "Parameters fitted to synthetic measurements of the rig", lambda path: plot_fit(fitted(), path)),
    )


def _force_pictures() -> tuple[Picture, ...]:
    usual = "Torques along the catalogue's path by origin, vane up to 138 deg/s"
    chosen: tuple[tuple[str, str, float, float, bool], ...] = (
        ("forces-normal", usual, 1.0, 0.0, False),
        ("forces-4kg", f"{usual}, 4 kg in the gripper", 1.0, LOAD, False),
        ("forces-fast", "The same path at five times the speed, no load", SPEEDS["fast"], 0.0, False),
        ("forces-actuators", "Forces of the actuators along the path by role", 1.0, 0.0, True),
        ("forces-actuators-fast", "The same at five times the speed", SPEEDS["fast"], 0.0, True),
    )
    return tuple(Picture(name, caption, _stacked(f, m, a)) for name, caption, f, m, a in chosen)


def _stacked(faster: float, payload: float, actuators: bool) -> Callable[[Path], None]:
    def draw(path: Path) -> None:
        found = path_forces(faster, payload, actuators)
        names = LABELS if actuators else [f"joint {k}" for k in range(1, 6)]
        plot_stacked(found.components, found.time, path, axes=names, unit=found.units)

    return draw


def _tornado_pictures() -> tuple[Picture, ...]:
    def draw(quantity: str) -> Callable[[Path], None]:
        return lambda path: plot_tornado(sensitivities().of(quantity), path, unit=QUANTITIES[quantity])

    return tuple(
        Picture(f"tornado-{name.replace('_', '-')}", f"What moves the rig's {name.replace('_', ' ')}", draw(name))
        for name in QUANTITIES
    )


def _draw_rig_inside(path: Path) -> None:
    names = ["piston.control.current", "piston.valve.opening", "piston.actuator.oil_force", "piston.velocity"]
    plot_signals(rig_run("extend", 5.1), names, path)


def _draw_modes(path: Path) -> None:
    plot_modes(oil_modes(), path, modes=[oil_mode(axis) for axis in ("l3", "vane", "l4", "l1")])
