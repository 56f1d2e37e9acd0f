"""EPAAS robot under control made from its model: gravity held by the valves beforehand, gains by the masses felt.

    i = clip(K g (target - measured) + x_ff)

g = sqrt(m_0 / m) keeps the loop in proportion to the frequency of the oil under the mass m that a piston feels; x_ff is
the valve's opening at which the actuator carries the arm, and moves as the target does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robodyn import symbolic as sym
from robodyn.description.laws import law
from robodyn.description.model import Block, ControlModel
from robodyn_studies.catalog.epaas_drives import CURRENT_LIMIT, Circuit

NOMINAL_MASS = {"vane": 0.2139, "l3": 21.81, "l4": 13.73, "l1": 1.348, "l2": 0.2261}
"""That pistons feel at their centres, and the vane motor there, without payload [kg and kg m^2]: there gains are the
study's."""


@law(
    target="V",
    measured="V",
    opening="A",
    share="",
    current="A",
    gain="A/V",
    limit="A",
    checks={"limit": "positive"},
)
def scheduled_valve_controller(target, measured, opening, share, *, gain, limit):
    """Proportional controller with a gain by position and an opening known beforehand: I = clip(K g e + x_ff)."""
    return {"current": sym.clip(share * gain * (target - measured) + opening, -limit, limit)}


@dataclass(frozen=True)
class ModelControl:
    """What the controllers make of the model.

    Attributes:
        payload: that they know of [kg]; None for that of the robot.
        scheduled: whether gains follow the masses that the pistons feel; moving: whether valves open beforehand for the
            target's velocity too.
    """

    payload: float | None = None
    scheduled: bool = True
    moving: bool = False

    def shared_blocks(self, circuits: Sequence[Circuit]) -> tuple[Block, ...]:
        """Forces that carry the arm, `gravity.torque.k`, and shares of the gains, `schedule.gain.k`."""
        changes = {} if self.payload is None else {"payload.mass": self.payload}
        model = ControlModel(axes=tuple(circuit.place for circuit in circuits), changes=changes)
        nominal = tuple(NOMINAL_MASS[circuit.name] for circuit in circuits)
        numbers = {"nominal_mass": nominal, "exponent": 0.5 if self.scheduled else 0.0}
        return (
            Block("gravity", "gravity_compensation", model=model),
            Block("schedule", "mass_schedule", parameters=numbers, model=model),
        )

    def blocks(self, place: int, circuit: Circuit, target: Block, measured: str) -> tuple[Block, ...]:
        """The valve's opening that is known beforehand, `<name>.known`, and the controller.

        Args:
            place: of the circuit among the model's axes.
        """
        name = circuit.name
        actuator = {key: circuit.actuator[key] for key in ("openings", "speeds", "leakage")}
        known = {"force": f"gravity.torque.{place}"}
        if self.moving and target.law == "spline_reference":
            known["velocity"] = f"{target.name}.velocity"
        inputs = {"target": f"{name}.set_point.voltage", "measured": measured}
        inputs |= {"opening": f"{name}.known.opening", "share": f"schedule.gain.{place}"}
        parameters = {"gain": circuit.gain, "limit": CURRENT_LIMIT}
        return (
            Block(f"{name}.known", "actuator_feed_forward", None, known, actuator, unit="A"),
            Block(f"{name}.control", scheduled_valve_controller, inputs=inputs, parameters=parameters),
        )


CONTROLS: dict[str, ModelControl | None] = {
    "plain": None,
    "gravity": ModelControl(scheduled=False),
    "scheduled": ModelControl(),
    "moving": ModelControl(moving=True),
}
"""By name: the study's proportional loops; valves open beforehand for gravity; gains by the masses felt too; valves
open for the velocities of the targets too."""
