"""EPAAS test rig: one cylinder lifts and lowers a mass under position control.

Values: the published modelling study of the EPAAS robot. The step's height is not printed there; with 0.22 V, the
load's weight and against the level at rest, the responses are those of the study's tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.base.errors import Flaw, ModelError, nearest
from robodyn.description.model import GROUND, Block, Body, Joint, Machine, Mechanism, Scenario, Solver
from robodyn_studies.catalog.epaas_drives import CYLINDER, Circuit, make_circuit, step_target

LOAD_MASS = 5.1
STEP_VOLTS = 0.22
STEP_AT, REST = 0.01, 0.35
"""When the setpoint jumps, and how long after it the piston has come to rest [s]."""
RIG_FLOW = {
    "openings": (-0.3, -0.23, -0.0179, -0.0111, -0.0085, 0.0017, 0.194, 0.3),
    "speeds": (-0.62, -0.61, -0.009, 0.0, 0.0, 0.009, 0.71, 0.72),
}
RIG_CIRCUIT = Circuit("piston", gain=0.231, measuring_gain=186.0, actuator=CYLINDER | RIG_FLOW)
CYLINDERS = ("linear", "physical")
SOLVER = Solver("dopri5", rtol=1e-6, atol=1e-8)
# A cylinder that has the compliance, the leakage (at an opening of 0.03 A) and the gains of the study's, both ways. The
# study prints 70 bar for the supply; the other values are this project's choice of a 16 mm piston.
PHYSICAL_CYLINDER = {
    "area": 2.0e-4,
    "area_ratio": 0.6042,
    "volume_1": 4.492e-5,
    "volume_2": 2.714e-5,
    "bulk_modulus": 7.0e8,
    "internal_leakage": 6.54e-13,
    "flow_coefficient": 3.044e-7,
    "supply_pressure": 7.0e6,
}


def rig_mechanism(mass: float = LOAD_MASS, weight: bool = True) -> Mechanism:
    """A mass on a vertical piston, z up: the piston extends upwards."""
    gravity = (0.0, 0.0, -9.81 if weight else 0.0)
    joint = Joint("piston", "prismatic", GROUND, "load")
    return Mechanism("epaas-rig", (Body("load", mass),), (joint,), gravity=gravity)


def epaas_rig(
    amplitude: float = STEP_VOLTS,
    mass: float = LOAD_MASS,
    duration: float = STEP_AT + REST,
    cylinder: str = "linear",
    weight: bool = True,
) -> Scenario:
    """The hydraulic test rig of the EPAAS robot answers to a step of its setpoint: positive extends, negative retracts.

    Args:
        mass: of the load [kg].
        cylinder: "linear" is the study's; "physical" has two chambers and an orifice, with values of our own.
        weight: whether the load has any; without it the valve is as if balanced.
    """
    if cylinder not in CYLINDERS:
        raise ModelError([Flaw("cylinder", f"'{cylinder}' is unknown", nearest(cylinder, CYLINDERS))], "EPAAS rig")
    name = "epaas-rig-extend" if amplitude >= 0 else "epaas-rig-retract"
    blocks, delays = make_circuit(RIG_CIRCUIT, step_target(RIG_CIRCUIT, amplitude, STEP_AT))
    if cylinder == "physical":
        actuator = next(block for block in blocks if block.law == "hydraulic_actuator")
        parts = make_cylinder("piston", actuator.inputs["opening"], PHYSICAL_CYLINDER, RIG_CIRCUIT.centre)
        blocks = (*(block for block in blocks if block is not actuator), *parts)
    machine = Machine("epaas-rig", rig_mechanism(mass, weight), blocks, delays=delays, tunable=("load.mass",))
    verb = "extending" if amplitude >= 0 else "retracting"
    return Scenario(
        name,
        machine,
        duration,
        solver=SOLVER,
        initialisation="at_rest",
        title=f"EPAAS test rig, step of {abs(amplitude):g} V {verb}, {mass:g} kg",
    )


def make_cylinder(on: str, opening: str, size: Mapping[str, float], middle: float = 0.0) -> tuple[Block, ...]:
    """Valve, two chambers and the gap between them, from the numbers that `linearise_cylinder` takes."""
    shared = {"bulk_modulus": size["bulk_modulus"], "middle": middle}
    areas = {1: size["area"], 2: -size["area_ratio"] * size["area"]}
    pressures = {f"pressure_{k}": f"{on}.chamber_{k}.pressure" for k in areas}
    chambers = [
        Block(
            f"{on}.chamber_{k}",
            "piston_chamber",
            on=on,
            inputs={"flow_1": f"{on}.edges.flow_{k}", "flow_2": f"{on}.gap.{side}"},
            parameters=shared | {"area": area, "volume": size[f"volume_{k}"]},
        )
        for (k, area), side in zip(areas.items(), ("flow_in", "flow_out"), strict=True)
    ]
    edges = Block(
        f"{on}.edges",
        "four_way_valve",
        inputs={"opening": opening, "supply_pressure": size["supply_pressure"]} | pressures,
        parameters={"flow_coefficient": size["flow_coefficient"]},
        unit="A",
    )
    gap = Block(
        f"{on}.gap",
        "laminar_gap",
        inputs={"pressure_in": pressures["pressure_1"], "pressure_out": pressures["pressure_2"]},
        parameters={"leakage": size["internal_leakage"]},
    )
    return (edges, *chambers, gap)
