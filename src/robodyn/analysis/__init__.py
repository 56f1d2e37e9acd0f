"""Analyses, Run or System -> numbers: linear models, modes, forces, sensitivities, fits.

Names are loaded when first used: pictures need the results of analyses, not what computes them.
"""

from __future__ import annotations

from robodyn.base.lazy import load_when_used

_HOMES = {
    "accuracy.circle": "CircleTest measure_circle measure_hysteresis",
    "accuracy.iso9283": "measure_corner measure_path measure_pose measure_settling measure_velocity",
    "accuracy.sheet": "Sheet make_sheet",
    "budget.split": "Budget Part as_run split_deviation",
    "measurement.data_sheet": "DataSheet make_data_sheet",
    "measurement.measured": "drive_by_data match_measured read_measured ClockOffset synchronise",
    "measurement.responses": "LowPass differentiate resample MeasuredResponse estimate_response respond_between",
    "plant_model": "PlantModel make_plant_model",
    "coupling": "MacroSteps Limit find_limit",
    "fitting.contest": "compare_laws",
    "fitting.experiments": "Experiment",
    "fitting.fit": "FitProgress fit_parameters",
    "fitting.result": "Fit write_fit",
    "identification.regressor": "BaseParameters find_base_parameters Regressor make_regressor",
    "identification.contest": "Contender Contest compare_friction_laws",
    "identification.excitation": "Excitation design_excitation",
    "identification.identify": "identify plan_identification Identification",
    "linear.poles": "Truncation split_stable truncate find_poles HiddenPoles find_hidden_poles find_minimal "
    "CancelledPair find_cancelled_pairs find_zeros",
    "linear.constrained": "reduce_constraints",
    "linear.responses": "FrequencyResponse choose_frequencies respond TimeResponse respond_to_input respond_to_step",
    "linear.margins": "find_gains find_bandwidth respond_held respond_loop Margins find_margins",
    "linear.lead": "Lead close_with_lead design_lead",
    "linear.linear_model": "DelayedSignal LinearModel Variable approximate_delay",
    "linear.linearisation": "linearise OperatingPoint",
    "linear.loop_check": "LoopFinding check_loops",
    "linear.loop_table": "Loop LoopFigures LoopTable loop_table",
    "linear.modes": "Mode ModeSet find_modes Vibration animate_modes",
    "linear.model_comparison": "ModelComparison compare_models match_poles",
    "linear.sampling": "SampledModel linearise_sampled",
    "linear.stability": "PolePath StabilityLimit find_stability_limit follow_poles poles_at_rest",
    "linear.trim": "Trim find_trim",
    "mechanics.forces": "ForceComponents InertiaMatrix coupling_factors effective_inertia "
    "effective_inertia_along ForceSplit split_forces force_components",
    "mechanics.hamiltonian": "hamiltonian_system simulate_symplectic",
    "mechanics.kinetics": "Kinetics SampledMotion joint_motion spline_motion WorkspaceBoundary workspace_boundary",
    "mechanics.operations": "OperationCount compare_algorithms count_operations",
    "mechanics.parallel_kinematics": "ParallelKinematics Posture Singularity point_outwards WorkspaceMap map_workspace",
    "sensitivity.differentiable": "RunFunction run_function",
    "sensitivity.ranking": "measure_signal Sensitivity SensitivityTable rank_parameters",
    "sensitivity.system": "sensitivity_system",
    "sweeps.indices": "Index find_indices",
    "sweeps.plan": "SweepPlan plan_sweep",
    "sweeps.runner": "ClusterLost SweepProgress run_sweep",
    "sweeps.table": "Curves SweepTable",
    "sweeps.variation": "Distribution Factors",
    "sweeps.yields": "Yield find_yield",
    "tuning.tune": "Tuning TuneProgress tune_gains",
    "robodyn.computation.simulation.batch": "BatchResult",
    "robodyn.computation.feedback.gains": "Observer Regulator design_kalman_filter design_observer design_regulator",
    "robodyn.computation.feedback.sampled_plant": "SampledPlant sample_plant",
    "robodyn.computation.feedback.state_law": "state_controller state_observer",
    "validation": "Validation validate",
    "step_response": "Peak StepResponse measure_step",
}
__getattr__, __dir__ = load_when_used(
    __name__, {home if home.startswith("robodyn.") else f"{__name__}.{home}": names for home, names in _HOMES.items()}
)
__all__ = sorted(name for names in _HOMES.values() for name in names.split())
