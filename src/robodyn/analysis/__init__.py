"""Analyses, Run or System -> numbers: linear models, modes, forces, sensitivities, fits.

Names are loaded when first used: pictures need the results of analyses, not what computes them.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "accuracy.circle": "CircleTest measure_circle measure_hysteresis",
    "accuracy.iso9283": "measure_corner measure_path measure_pose measure_settling measure_velocity",
    "accuracy.sheet": "Sheet make_sheet",
    "budget.result": "Budget Part as_run",
    "budget.split": "split_deviation",
    "measurement.data_sheet": "DataSheet describe_data_sheet make_data_sheet",
    "measurement.driven": "drive_by_data",
    "measurement.filtering": "LowPass differentiate resample",
    "measurement.measured": "match_measured read_measured",
    "measurement.responses": "MeasuredResponse estimate_response respond_between",
    "measurement.synchronisation": "ClockOffset synchronise",
    "plant_model": "PlantModel make_plant_model",
    "coupling.growth": "MacroSteps",
    "coupling.limits": "Limit find_limit",
    "fitting.contest": "compare_laws",
    "fitting.experiments": "Experiment",
    "fitting.fit": "FitProgress fit_parameters",
    "fitting.report": "describe_fit write_fit",
    "fitting.result": "Fit",
    "identification.base_parameters": "BaseParameters find_base_parameters",
    "identification.contest": "Contender compare_friction_laws describe_contest",
    "identification.excitation": "Excitation design_excitation",
    "identification.identify": "identify plan_identification",
    "identification.regressor": "Regressor make_regressor",
    "identification.result": "Identification describe_identification",
    "linear.balanced": "Truncation split_stable truncate",
    "linear.constrained": "reduce_constraints",
    "linear.frequency": "FrequencyResponse choose_frequencies respond",
    "linear.gains": "find_gains",
    "linear.lead": "Lead close_with_lead design_lead",
    "linear.linear_model": "DelayedSignal LinearModel Variable",
    "linear.linearisation": "linearise",
    "linear.loop_check": "LoopFinding check_loops",
    "linear.loop_gain": "find_bandwidth respond_held respond_loop",
    "linear.loop_table": "Loop LoopFigures LoopTable loop_table",
    "linear.margins": "Margins find_margins",
    "linear.modes": "Mode ModeSet find_modes",
    "linear.operating_point": "OperatingPoint",
    "linear.pade": "approximate_delay",
    "linear.poles": "find_poles",
    "linear.model_comparison": "ModelComparison compare_models match_poles",
    "linear.responses": "TimeResponse respond_to_input respond_to_step",
    "linear.sampled_model": "SampledModel",
    "linear.sampling": "linearise_sampled",
    "linear.stability": "PolePath StabilityLimit find_stability_limit follow_poles poles_at_rest",
    "linear.subspaces": "HiddenPoles find_hidden_poles find_minimal",
    "linear.trim": "Trim find_trim",
    "linear.vibration": "Vibration animate_modes",
    "linear.zeros": "CancelledPair find_cancelled_pairs find_zeros",
    "mechanics.forces": "ForceComponents force_components",
    "mechanics.hamiltonian": "hamiltonian_system simulate_symplectic",
    "mechanics.inertia": "InertiaMatrix coupling_factors effective_inertia effective_inertia_along",
    "mechanics.kinetics": "Kinetics",
    "mechanics.operations": "OperationCount compare_algorithms count_operations",
    "mechanics.parallel_kinematics": "ParallelKinematics Posture Singularity point_outwards",
    "mechanics.parallel_workspace": "WorkspaceMap map_workspace",
    "mechanics.splines": "SampledMotion joint_motion spline_motion",
    "mechanics.workspace": "WorkspaceBoundary workspace_boundary",
    "sensitivity.differentiable": "RunFunction run_function",
    "sensitivity.measures": "measure_signal",
    "sensitivity.ranking": "Sensitivity SensitivityTable rank_parameters",
    "sensitivity.system": "sensitivity_system",
    "sweeps.grid": "Factors",
    "sweeps.indices": "Index find_indices",
    "sweeps.plan": "SweepPlan plan_sweep",
    "sweeps.progress": "ClusterLost SweepProgress",
    "sweeps.runner": "run_sweep",
    "sweeps.sampling": "Distribution",
    "sweeps.table": "Curves SweepTable",
    "sweeps.reporting": "describe_sweep",
    "sweeps.track": "Track",
    "sweeps.yields": "Yield find_yield",
    "tuning.result": "Tuning describe_tuning",
    "tuning.tune": "TuneProgress tune_gains",
    ".feedback.gains": "Observer Regulator design_kalman_filter design_observer design_regulator",
    ".feedback.sampled_plant": "SampledPlant sample_plant",
    ".feedback.state_law": "state_controller state_observer",
    "validation": "Validation describe_validation validate",
    "step_response": "Peak StepResponse measure_step",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'robodyn.analysis' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_HOME_OF[name]}", "robodyn.analysis"), name)


def __dir__() -> list[str]:
    return sorted(_HOME_OF)
