"""EPAAS study, pictures: how do its figures look, redrawn?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from robodyn.reporting import plot_fit, plot_modes, plot_signals, plot_stacked, plot_tornado
from robodyn.studies import Picture
from robodyn_studies import epaas_drawings as drawings
from robodyn_studies.epaas_estimation import fitted
from robodyn_studies.epaas_forces import SPEEDS, path_forces
from robodyn_studies.epaas_modes import oil_mode, oil_modes
from robodyn_studies.epaas_runs import LABELS, LOAD, rig_run
from robodyn_studies.epaas_sensitivity import QUANTITIES, sensitivities


def pictures() -> tuple[Picture, ...]:
    """Pictures like the study's figures of chapters 7 and 8, and of what goes beyond it."""
    return (
        Picture(
            "rig-steps", "Step responses of the test rig, with the peaks that the study prints", drawings.draw_rig_steps
        ),
        Picture("rig-inside", "Inside the rig: current, valve, oil force, extending 5.1 kg", _draw_rig_inside),
        Picture(
            "robot-steps", "Step of each axis of the robot, with the study's first peaks", drawings.draw_robot_steps
        ),
        Picture("robot-l3-joints", "A step of L3: joints 2 and 3, and the voltage of L4", drawings.draw_joints),
        *_force_pictures(),
        Picture("workspace", "Boundary of the wrist's workspace and its four trajectories", drawings.draw_workspace),
        Picture(
            "masses", "Effective mass of each actuator along that boundary, bare and with 4 kg", drawings.draw_masses
        ),
        Picture("modes", "Modes of the oil columns: L3, vane, L4, L1", _draw_modes),
        *_tornado_pictures(),
        Picture("order", "From the set point of L4 to its position: order 25 and order 15", drawings.draw_orders),
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
