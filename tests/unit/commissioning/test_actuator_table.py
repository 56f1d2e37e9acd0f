"""Actuator tables: torque over speed and efficiency of drives against the formulas of a motor and its friction."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis.commissioning.actuator_table import actuator_tables

FRICTION = {"coulomb": 0.5, "static": 0.6, "viscous": 0.1, "stribeck_velocity": 0.2}
LOSS = {"load_loss": 0.25, "smoothing_velocity": 0.01}
BRISTLES = {"stiffness": 1e4, "damping": 10.0}


def machine(*blocks, **fields):
    body = rd.Body("arm", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1))
    joint = rd.Joint("turn", "revolute", "ground", "arm", armature=0.3, **fields)
    return rd.Machine("one", rd.Mechanism("one", (body,), (joint,)), blocks=blocks)


def geared_motor():
    circuit = {"resistance": 0.5, "inductance": 1e-3, "torque_constant": 0.05, "gear": 40.0, "current_limit": 10.0}
    return (
        rd.Block("volts", "constant_reference", parameters={"constant": 24.0}, unit="V"),
        rd.Block("motor", "dc_motor", "turn", inputs={"voltage": "volts.value"}, parameters=circuit),
        rd.Block("rub", "lugre_friction", "turn", parameters=FRICTION | BRISTLES),
        rd.Block(
            "lost", "gear_loss", "turn", {"load": "motor.torque"}, {"load_loss": 0.25, "smoothing_velocity": 0.01}
        ),
    )


def test_a_geared_motor_gives_what_its_formulas_say():
    (table,) = actuator_tables(machine(*geared_motor(), effort_limit=15.0, speed_limit=6.0))
    w = np.array(table.speeds)
    rub = 0.5 + 0.1 * np.exp(-((w / 0.2) ** 2)) + 0.1 * w
    driven = np.minimum(15.0, 2.0 * 10.0)
    assert (w[0], w[-1]) == (0.0, 6.0)
    assert table.torques == pytest.approx((driven - rub) / 1.25)
    taken = driven * w + 0.5 * (driven / 2.0) ** 2
    assert table.efficiencies == pytest.approx(np.array(table.torques) * w / taken)
    assert (table.armature, table.gear_loss, table.delay) == (0.3, 0.25, pytest.approx(2e-3))


def test_a_supply_ends_the_torque_at_the_no_load_speed():
    inputs = {"value": "command.value", "velocity": "turn.velocity", "voltage": "supply.value"}
    driver = {"resistance": 0.5, "torque_constant": 2.0}
    blocks = (
        rd.Block("supply", "constant_reference", parameters={"constant": 24.0}, unit="V"),
        rd.Block("command", "constant_reference", parameters={"constant": 1.0}, unit="A"),
        rd.Block("driver", "inverter", inputs=inputs, parameters=driver),
        rd.Block("motor", "current_lag", "turn", {"current_command": "driver.output"},
                 {"torque_constant": 2.0, "time_constant": 1e-3}),
    )  # fmt: skip
    (table,) = actuator_tables(machine(*blocks, effort_limit=60.0))
    w = np.array(table.speeds)
    assert w[-1] == 12.0
    assert table.torques == pytest.approx(np.minimum(60.0, 2.0 * (24.0 - 2.0 * w) / 0.5))
