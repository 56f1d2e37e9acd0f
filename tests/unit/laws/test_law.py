"""Is every law documented, does it say the unit of all it takes and gives, and does it mean the same when traced?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.computation.native import compile_kernels
from robodyn.description import laws
from robodyn.description.laws import arguments_of, info_of, known_laws, law

STRIBECK = {"coulomb": 2.0, "static": 3.0, "stribeck_velocity": 0.1}
TIMES = {"times": (0.0, 0.5, 1.5), "points": (0.0, 1.0, -0.5)}
FLOW = {"openings": (-0.3, 0.0, 0.1, 0.3), "speeds": (-1.0, 0.0, 0.0, 0.8)}
OIL = {"bulk_modulus": 7e8, "internal_leakage": 1e-12, "flow_coefficient": 2e-7, "supply_pressure": 1e7}
# Parameters of each law; its other arguments are drawn at random between -2 and 2.
SAMPLED = {"proportional": 5.0, "integral": 2.0, "derivative": 1.0, "period": 1e-3}
EXAMPLES = {
    "viscous_friction": {"viscous": 0.4},
    "coulomb_friction": {"coulomb": 2.0, "smoothing_velocity": 0.01, "viscous": 0.4},
    "stick_friction": {"coulomb": 2.0, "static": 3.0, "viscous": 0.4},
    "two_way_stick_friction": {"coulomb": 2.0, "coulomb_back": 1.0, "static": 3.0, "static_back": 1.5, "viscous": 0.4},
    "brake": {"friction": 0.4, "static": 0.5, "arm": 0.1},
    "clutch": {"friction": 0.12, "radius": 0.08, "static": 0.15, "faces": 4.0},
    "one_way_clutch": {"capacity": 30.0, "drag": 0.1},
    "stribeck_friction": {**STRIBECK, "smoothing_velocity": 0.01, "viscous": 0.4, "exponent": 1.5},
    "lugre_friction": {**STRIBECK, "stiffness": 1e4, "damping": 10.0, "viscous": 0.4, "exponent": 2.0},
    "two_way_lugre_friction": {
        **STRIBECK,
        **{"coulomb_back": 1.5, "static_back": 2.5, "load": -3.0, "load_loss": 0.1},
        **{"stiffness": 1e4, "damping": 10.0, "viscous": 0.4, "exponent": 2.5},
    },
    "elasto_plastic_friction": {**STRIBECK, "stiffness": 2.0, "damping": 0.1, "viscous": 0.4, "breakaway": 0.5},
    "two_way_gear_loss": {"load_loss": 0.1, "load_loss_back": 0.3, "smoothing_velocity": 0.1},
    "uneven_friction": {"amplitude": 0.5, "order": 3.0, "smoothing_velocity": 0.1, "phase": 0.4},
    "servo_friction": {
        **{"coulomb": 0.1, "viscous": 0.02, "stribeck": 0.2, "motor_loss": 0.3, "load_loss": 0.1},
        **{"motor_stribeck": 0.2, "load_stribeck": 0.05, "motor_square": 0.01, "load_square": 0.02},
        **{"stribeck_velocity": 1.5, "exponent": 1.3},
    },
    "cogging_torque": {"amplitude": 0.5, "order": 12.0, "phase": 0.2},
    "torque_ripple": {"share": 0.02, "order": 6.0, "phase": 0.2},
    "saturation_loss": {"level": 2.0},
    "dead_time_error": {
        **{"voltage": 48.0, "dead_time": 1e-6, "frequency": 2e4, "resistance": 0.5, "inductance": 3e-4},
        **{"torque_constant": 0.1, "time_constant": 5e-4, "smoothing_current": 0.1},
    },
    "inverter": {"voltage": 3.0, "resistance": 0.5, "torque_constant": 0.1},
    "sagging_supply": {"source_voltage": 48.0, "resistance": 0.1, "capacitance": 1e-3},
    "motor_heat": {
        **{"resistance": 0.5, "winding_resistance": 4.0, "housing_resistance": 3.0},
        **{"winding_time": 30.0, "housing_time": 300.0},
    },
    "heat_loss_of_torque": {},
    "thermal_protection": {"derate": 0.5, "trip": 1.5, "reset": -1.0},
    "derated": {},
    "position_error": {"amplitude": 0.1, "order": 2.0, "phase": 0.3, "slope": 0.01},
    "transmission_error": {"stiffness": 50.0, "amplitude": 0.01, "order": 20.0, "damping": 0.1, "phase": 0.3},
    "transmission_reaction": {"amplitude": 0.01, "order": 20.0, "phase": 0.3},
    "gear_loss": {"load_loss": 0.1, "smoothing_velocity": 0.1},
    "warm_friction": {
        "coulomb": 2.0,
        "viscous": 0.4,
        "smoothing_velocity": 0.1,
        "softening": 3.0,
        "time_constant": 1.0,
    },
    "thermal_friction": {
        **{"coulomb": 2.0, "viscous": 0.4, "coulomb_slope": -0.02, "viscous_slope": -0.01},
        **{"reference": 293.0, "smoothing_velocity": 0.1},
    },
    "servo_motor": {"resistance": 2.0, "inductance": 1e-3, "torque_constant": 0.1},
    "current_lag": {"torque_constant": 0.1, "time_constant": 1e-3},
    "backlash_gear": {"stiffness": 1e3, "gap": 1.0, "damping": 10.0},
    "servo_position_loop": {"gears": 50.0, "proportional": 3.0, "integral": 20.0, "period": 1e-3},
    "servo_feed_forward": {
        **{"gears": 50.0, "torque_constant": 0.1, "inertia": 1e-4},
        **{"coulomb": 0.1, "viscous": 1e-3, "smoothing_velocity": 30.0},
    },
    "servo_velocity_loop": {"derivative": 0.5, "current_limit": 2.0},
    "servo_current_loop": {"proportional": 10.0, "integral": 300.0, "period": 1e-3, "voltage_limit": 8.0},
    "standing_reference": {"positions": (0.3, -0.2)},
    "sampled_set_points": {},
    "line_deviation": {"start_x": 0.1, "start_y": 0.2, "start_z": 0.3, "heading": 0.4, "rise": -0.2},
    "dc_motor": {"resistance": 2.0, "inductance": 1e-3, "torque_constant": 0.1, "gear": 50.0},
    "torque_source": {"torque_limit": 1.0},
    "current_source": {"torque_constant": 0.1, "gear": 50.0, "current_limit": 1.0},
    "measuring_circuit": {"gain": 200.0, "offset": 0.3},
    "valve_controller": {"gain": 0.3, "limit": 0.29},
    "servovalve": {"natural_frequency": 1443.0, "damping": 0.38},
    "actuator_feed_forward": {**FLOW, "leakage": 7e-5},
    "hydraulic_actuator": {**FLOW, "oil_compliance": 1e-6, "leakage": 7e-5},
    "piston_chamber": {"area": 2e-4, "volume": 4e-4, "middle": 0.1, "bulk_modulus": 7e8, "air": 0.01},
    "oil_volume": {"volume": 4e-4, "bulk_modulus": 7e8, "air": 0.01},
    "gas_accumulator": {"gas_volume": 2.0, "precharge": 1e5, "flow_coefficient": 2e-7},
    "valve_edge": {"flow_coefficient": 2e-7, "overlap": 0.1, "leakage": 1e-12},
    "four_way_valve": {"flow_coefficient": 2e-7, "overlap_s1": 0.1, "overlap_2t": -0.1, "leakage": 1e-12},
    "laminar_gap": {"leakage": 1e-12},
    "relief_valve": {"cracking_pressure": 0.1, "override": 0.8, "flow_coefficient": 2e-7},
    "hydraulic_line": {"length": 2.0, "diameter": 0.01, "loss_coefficient": 1.5},
    "hydraulic_pump": {"displacement": 1e-6, "leakage": 1e-12, "drag": 0.1},
    "vane_motor": {**OIL, "displacement": 1e-5, "volume": 4e-5},
    "spring": {"stiffness": 100.0, "rest": 0.1, "damping": 2.0, "preload": 1.0},
    "damper": {"damping": 2.0},
    "end_stop": {"lower": -0.5, "upper": 0.5, "stiffness": 1e3, "damping": 10.0},
    "constant_force": {"value": 3.0},
    "rotor": {"thrust_factor": 2.0, "drag_factor": 0.3},
    "drag": {"factor": 0.8},
    "pd_control": {"proportional": 5.0, "derivative": 1.0, "limit": 4.0},
    "pid_control": {"proportional": 5.0, "integral": 2.0, "derivative": 1.0, "limit": 4.0},
    "position_loop": {"proportional": 5.0, "limit": 4.0},
    "sampled_velocity_loop": {"proportional": 5.0, "integral": 2.0, "period": 1e-3, "limit": 4.0},
    "amplifier": {"gain": -3.0},
    "saturation": {"lower": -0.5, "upper": 1.0},
    "limited_integrator": {"lower": -0.5, "upper": 1.0},
    "low_pass": {"time_constant": 0.1},
    "lead_compensator": {"gain": 2.0, "pole": 3.0, "zero": 0.5},
    "kelvin_voigt": {"stiffness": 2.0, "damping": 0.5},
    "hunt_crossley": {"stiffness": 2.0, "dissipation": 0.5, "exponent": 1.5},
    "dry_friction": {"coefficient": 0.4},
    "sliding_friction": {"coefficient": 0.4, "smoothing_velocity": 0.1},
    "bristle_friction": {
        "coefficient": 0.4,
        "stiffness": 3.0,
        "damping": 0.2,
        "static_coefficient": 0.5,
        "stribeck_velocity": 0.3,
        "elastic": 0.5,
    },
    "step_reference": {"after": 2.0, "before": -1.0, "at": 0.3},
    "ramp_reference": {"rate": 2.0, "start": 1.0, "begin": 0.1, "end": 0.8},
    "trapezoid_reference": {"target": 1.0, "speed": 1.2, "top_acceleration": 4.0, "start": -0.2, "begin": 0.1},
    "s_curve_reference": {
        "time": 0.7,
        "target": 1.2,
        "speed": 1.0,
        "top_acceleration": 4.0,
        "top_jerk": 40.0,
        "start": 0.1,
    },
    "spline_reference": TIMES,
    "table_reference": TIMES,
    "sine_reference": {"amplitude": 2.0, "frequency": 1.5, "phase": 0.3, "offset": 0.1},
    "orientation_reference": {"target": (0.5, -0.5, 0.5, 0.5), "start": (0.6, 0.0, 0.8, 0.0)},
    "constant_reference": {"constant": 4.0},
    "tyre": {"coefficient": 1.0, "lateral_coefficient": 0.9, "stiffness": 19.0, "lateral_stiffness": 15.0},
    "walking_leg": {"thigh": 0.2, "shank": 0.2, "height": 0.3, "stride": 0.1, "lift": 0.05, "cycle_time": 0.4},
    "quantised": {"resolution": 0.3},
    "sampled_encoder": {"resolution": 0.3, "period": 1e-3},
    "sample_and_hold": {},
    "sampled_pid": {**SAMPLED, "limit": 4.0},
    "back_calculation_pid": {**SAMPLED, "limit": 4.0, "tracking_time": 0.1},
    "incremental_pid": {**SAMPLED, "limit": 4.0},
    "sampled_low_pass": {"frequency": 20.0, "damping": 0.6, "period": 1e-3},
    "sampled_notch": {"frequency": 20.0, "width": 0.5, "depth": 0.1, "period": 1e-3},
    "sampled_lead": {"frequency": 20.0, "lead": 0.5, "period": 1e-3, "gain": 2.0},
    "disturbance_observer": {"inertia": 2.0, "frequency": 10.0, "period": 1e-3},
    "reversal_feed_forward": {"coulomb": 2.0, "static": 3.0, "stribeck_velocity": 0.4, "viscous": 0.1},
    "zv_shaper": {"damping": 0.1},
    "zvd_shaper": {"damping": 0.1},
    "chirp_reference": {"amplitude": 2.0, "start_frequency": 1.0, "end_frequency": 9.0, "duration": 0.9, "offset": 0.1},
    "multisine_reference": {"sines": (2.0, 0.3), "cosines": (0.1, -0.4), "frequency": 1.5, "offset": 0.1},
    "noise": {"deviation": 0.3, "mean": 0.1, "seed": 3.0},
}
LAWS = {name: law for name, law in known_laws().items() if "model" not in {a.name for a in arguments_of(law)}}
"""All but those that are made from a machine's model: see `identities/test_control_models.py`."""


def signals_of(name):
    """The arguments of a law that are no parameters."""
    return [a.name for a in arguments_of(LAWS[name]) if a.name not in EXAMPLES[name] and not a.has_default]


def test_every_law_has_an_example_here():
    assert set(EXAMPLES) == set(LAWS)


@pytest.mark.parametrize("name", sorted(LAWS))
def test_a_law_says_the_unit_of_all_it_takes_and_gives(name):
    units = info_of(LAWS[name]).units
    outputs = LAWS[name](**dict.fromkeys(signals_of(name), 0.5), **EXAMPLES[name])
    own = [key for key in outputs if not key.endswith(("_dot", "_next"))]
    missing = {*(argument.name for argument in arguments_of(LAWS[name])), *own} - units.keys()
    assert not missing


@pytest.mark.parametrize("name", sorted(known_laws()))
def test_a_law_is_documented(name):
    assert (known_laws()[name].__doc__ or "").split("\n")[0].strip().endswith((".", ":"))


@pytest.mark.parametrize("name", sorted(LAWS))
def test_a_law_gives_a_rate_for_each_state_and_a_new_value_for_each_memory(name):
    info = info_of(LAWS[name])
    outputs = LAWS[name](**dict.fromkeys(signals_of(name), 0.5), **EXAMPLES[name])
    wanted = {*(f"{state}_dot" for state in info.states), *(f"{memory}_next" for memory in info.memory)}
    assert {key for key in outputs if key.endswith(("_dot", "_next"))} == wanted


def test_traced_laws_have_the_values_of_the_plain_functions():
    functions = {}
    for name, function in LAWS.items():
        symbols = ca.SX.sym("s", len(signals_of(name)))
        results = function(**dict(zip(signals_of(name), ca.vertsplit(symbols), strict=True)), **EXAMPLES[name])
        functions[name] = ca.Function(name, [symbols], [ca.vertcat(*results.values())])
    kernels = compile_kernels(functions, cache=False).kernels
    generator = np.random.default_rng(3)
    for name, function in LAWS.items():
        for values in generator.uniform(-2, 2, (30, len(signals_of(name)))):
            plain = function(**dict(zip(signals_of(name), values.tolist(), strict=True)), **EXAMPLES[name])
            # Rounding only: sums may be ordered differently, the C library's exp differs in the last bit.
            expected = list(plain.values())
            np.testing.assert_allclose(kernels[name](values), expected, rtol=1e-12, atol=1e-12, err_msg=name)


def test_a_law_keeps_being_a_plain_function():
    assert laws.friction.viscous_friction(3.0, viscous=2.0) == {"torque": -6.0}


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"checks": {"stifness": "positive"}}, "no argument 'stifness'"),
        ({"checks": {"stiffness": "postive"}}, "unknown rule 'postive'"),
        ({"checks": {"stiffness": "above ceiling"}}, "unknown rule"),
        ({"states": {"z": 1.0}}, "no argument 'z'"),
        ({"folded": ("points",)}, "no argument 'points'"),
        ({"limits": {"position": (0.0, 1.0)}}, "none of its states"),
    ],
)
def test_the_decorator_refuses_what_would_have_no_effect(said, complaint):
    with pytest.raises(TypeError, match=complaint):
        law(**said)(lambda position, *, stiffness: -stiffness * position)


def test_arguments_that_have_no_name_are_refused():
    with pytest.raises(TypeError, match="must be named"):
        arguments_of(lambda *everything: 0.0)
