"""Results of a run: named signals, events, outcome, statistics and provenance."""

from .certificate import Certificate, Check
from .compare import Comparison, Difference, compare, identical
from .errors import ErrorBar, Errors, compare_solutions
from .exports import to_csv, to_mcap, to_netcdf, to_parquet, to_xarray
from .limits import PassedLimit
from .outcome import Outcome, OutcomeKind
from .provenance import Provenance
from .run import EventRecord, Run, SignalInfo
from .sequence import join
from .signal import Probes, Signal
from .statistics import Statistics
from .store import RunFileError, load, save

__all__ = [
    "Certificate",
    "Check",
    "Comparison",
    "Difference",
    "ErrorBar",
    "Errors",
    "EventRecord",
    "Outcome",
    "OutcomeKind",
    "PassedLimit",
    "Probes",
    "Provenance",
    "Run",
    "RunFileError",
    "Signal",
    "SignalInfo",
    "Statistics",
    "compare",
    "compare_solutions",
    "identical",
    "join",
    "load",
    "save",
    "to_csv",
    "to_mcap",
    "to_netcdf",
    "to_parquet",
    "to_xarray",
]
