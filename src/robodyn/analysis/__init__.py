"""Analyses, Run or System -> numbers: linear models, modes, forces, sensitivities, fits.

Names are loaded when first used: pictures need the results of analyses, not what computes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base import load_when_used

if TYPE_CHECKING:
    from ..computation.assembly.control.feedback import (
        Observer,
        Regulator,
        SampledPlant,
        design_kalman_filter,
        design_observer,
        design_regulator,
        sample_plant,
        state_controller,
        state_observer,
    )
    from ..computation.results.table import Curves
    from ..computation.simulation.batch import BatchResult
    from .accuracy.circle import CircleTest, measure_circle, measure_hysteresis
    from .accuracy.iso9283 import measure_corner, measure_path, measure_pose, measure_settling, measure_velocity
    from .accuracy.sheet import Sheet, make_sheet
    from .budget import Budget, BudgetPart, as_run, split_deviation
    from .calibration import Calibration, PosePlan, Poses, calibrate, plan_poses, read_poses
    from .coupling import MacroSteps, StepLimit, find_limit
    from .fitting.fit import FitProgress, fit_parameters
    from .fitting.law_comparison import ComparedLaw, LawComparison, compare_friction_laws, compare_laws
    from .fitting.residuals import Experiment
    from .fitting.result import Fit, write_fit
    from .identification.excitation import AxisSeries, AxisSpline, Excitation, design_excitation
    from .identification.identify import Identification, identify, plan_identification
    from .identification.mapping_proposal import MappingProposal, propose_mapping
    from .identification.regressor import BaseParameters, Regressor, find_base_parameters, make_regressor
    from .key_result import KeyResult, key_results
    from .linear.exchange import PlantModel, make_plant_model
    from .linear.linear_model import DelayedSignal, LinearModel, Variable, approximate_delay
    from .linear.linearisation import OperatingPoint, linearise, reduce_constraints
    from .linear.loop_table import Loop, LoopFigures, LoopFinding, LoopTable, check_loops, loop_table
    from .linear.margins import Margins, find_bandwidth, find_gains, find_margins, respond_held, respond_loop
    from .linear.modes import Mode, ModeSet, Vibration, animate_modes, find_modes
    from .linear.poles import (
        CancelledPair,
        HiddenPoles,
        Truncation,
        find_cancelled_pairs,
        find_hidden_poles,
        find_minimal,
        find_poles,
        find_zeros,
        split_stable,
        truncate,
    )
    from .linear.responses import (
        FrequencyResponse,
        ModelComparison,
        TimeResponse,
        choose_frequencies,
        compare_models,
        match_poles,
        respond,
        respond_to_input,
        respond_to_step,
    )
    from .linear.sampling import SampledModel, linearise_sampled
    from .linear.stability import PolePath, StabilityLimit, find_stability_limit, follow_poles, poles_at_rest
    from .linear.trim import Trim, find_trim
    from .measurement.data_sheet import DataSheet, make_data_sheet
    from .measurement.measured import ClockOffset, drive_by_data, match_measured, read_measured, synchronise
    from .measurement.responses import (
        LowPass,
        MeasuredResponse,
        differentiate,
        estimate_response,
        resample,
        respond_between,
    )
    from .mechanics.forces import ForceComponents, ForceSplit, split_forces
    from .mechanics.hamiltonian import hamiltonian_system, simulate_symplectic
    from .mechanics.parallel_joints import ParallelJoint, SerialStandIn, map_parallel_joint
    from .mechanics.parallel_kinematics import (
        ParallelKinematics,
        Posture,
        Singularity,
        WorkspaceMap,
        map_workspace,
        point_outwards,
    )
    from .sensitivity.differentiable import RunFunction, run_function
    from .sensitivity.ranking import Sensitivity, SensitivityTable, measure_signal, rank_parameters
    from .sensitivity.system import sensitivity_system
    from .step_response import Peak, StepResponse, measure_step
    from .sweeps.plan import SweepPlan, plan_sweep
    from .sweeps.runner import ClusterLost, SweepProgress, run_sweep
    from .sweeps.table import SweepTable
    from .sweeps.uncertainty import Index, Yield, find_indices, find_yield
    from .sweeps.variation import Distribution, Factors
    from .tuning.tune import TuneProgress, Tuning, tune_gains
    from .validation import Validation, validate

__getattr__, __dir__, __all__ = load_when_used(__name__)
