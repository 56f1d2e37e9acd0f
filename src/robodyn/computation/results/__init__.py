"""Results of a run: named signals, events, outcome, statistics and provenance."""

from robodyn.base import imported_names

from .compare import Comparison, Difference, compare, identical
from .errors import ErrorBar, Errors, compare_solutions
from .exports import to_csv, to_mcap, to_netcdf, to_parquet, to_xarray
from .outcome import Certificate, Check, Outcome, OutcomeKind, PassedLimit
from .provenance import Provenance, Statistics
from .rows import RunFileError
from .run import EventRecord, Run, SignalInfo, join
from .signal import Probes, Signal
from .store import load, save

__all__ = imported_names(__name__)
