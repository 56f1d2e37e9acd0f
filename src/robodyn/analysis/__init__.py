"""Analyses, Run or System -> numbers: linear models, modes, forces, sensitivities, fits.

Names are loaded when first used: pictures need the results of analyses, not what computes them.
"""

from __future__ import annotations

from robodyn.base.lazy import load_when_used

_HOMES = {
    "accuracy.circle": "CircleTest measure_circle measure_hysteresis",
    "accuracy.iso9283": "measure_corner measure_path measure_pose measure_settling measure_velocity",
    "accuracy.sheet": "Sheet make_sheet",
    "budget": "Budget BudgetPart as_run split_deviation",
    "measurement.data_sheet": "DataSheet make_data_sheet",
    "measurement.measured": "drive_by_data match_measured read_measured ClockOffset synchronise",
    "measurement.responses": "LowPass differentiate resample MeasuredResponse estimate_response respond_between",
    "linear.exchange": "PlantModel make_plant_model",
    "calibration": "Calibration PosePlan Poses calibrate plan_poses read_poses",
    "key_results": "KeyResult key_results",
    "coupling": "MacroSteps StepLimit find_limit",
    "fitting.law_comparison": "ComparedLaw LawComparison compare_friction_laws compare_laws",
    "fitting.residuals": "Experiment",
    "fitting.fit": "FitProgress fit_parameters",
    "fitting.result": "Fit write_fit",
    "identification.regressor": "BaseParameters find_base_parameters Regressor make_regressor",
    "identification.excitation": "Excitation design_excitation",
    "identification.identify": "identify plan_identification Identification",
    "identification.mapping_proposal": "MappingProposal propose_mapping",
    "linear.poles": "Truncation split_stable truncate find_poles HiddenPoles find_hidden_poles find_minimal "
    "CancelledPair find_cancelled_pairs find_zeros",
    "linear.linearisation": "reduce_constraints linearise OperatingPoint",
    "linear.responses": "FrequencyResponse choose_frequencies respond TimeResponse respond_to_input respond_to_step "
    "ModelComparison compare_models match_poles",
    "linear.margins": "find_gains find_bandwidth respond_held respond_loop Margins find_margins",
    "linear.linear_model": "DelayedSignal LinearModel Variable approximate_delay",
    "linear.loop_table": "LoopFinding check_loops Loop LoopFigures LoopTable loop_table",
    "linear.modes": "Mode ModeSet find_modes Vibration animate_modes",
    "linear.sampling": "SampledModel linearise_sampled",
    "linear.stability": "PolePath StabilityLimit find_stability_limit follow_poles poles_at_rest",
    "linear.trim": "Trim find_trim",
    "mechanics.forces": "ForceComponents ForceSplit split_forces",
    "mechanics.hamiltonian": "hamiltonian_system simulate_symplectic",
    "mechanics.parallel_joints": "ParallelJoint SerialStandIn map_parallel_joint",
    "mechanics.parallel_kinematics": "ParallelKinematics Posture Singularity point_outwards WorkspaceMap map_workspace",
    "sensitivity.differentiable": "RunFunction run_function",
    "sensitivity.ranking": "measure_signal Sensitivity SensitivityTable rank_parameters",
    "sensitivity.system": "sensitivity_system",
    "sweeps.uncertainty": "Index find_indices Yield find_yield",
    "sweeps.plan": "SweepPlan plan_sweep",
    "sweeps.runner": "ClusterLost SweepProgress run_sweep",
    "sweeps.table": "Curves SweepTable",
    "sweeps.variation": "Distribution Factors",
    "tuning.tune": "Tuning TuneProgress tune_gains",
    "robodyn.computation.simulation.batch": "BatchResult",
    "robodyn.computation.assembly.control.feedback": (
        "Observer Regulator SampledPlant design_kalman_filter design_observer design_regulator sample_plant "
        "state_controller state_observer"
    ),
    "validation": "Validation validate",
    "step_response": "Peak StepResponse measure_step",
}
__getattr__, __dir__ = load_when_used(
    __name__, {home if home.startswith("robodyn.") else f"{__name__}.{home}": names for home, names in _HOMES.items()}
)
__all__ = sorted(name for names in _HOMES.values() for name in names.split())
