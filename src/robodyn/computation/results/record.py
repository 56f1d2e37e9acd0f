"""Serialisation of a run: which plain values describe it beside its numbers, and how is it made from them again?"""

from typing import Any

import numpy as np

from .certificate import certificate_from
from .errors import errors_from
from .limits import PassedLimit
from .outcome import Outcome, OutcomeKind
from .provenance import Provenance
from .run import EventRecord, Run, SignalInfo
from .signal import Booleans, Floats, Probes
from .statistics import Statistics
from .types import checked


def to_record(run: Run) -> dict[str, Any]:
    """Everything of a run but its arrays, as JSON-able values; floats keep every bit."""
    return {
        "signals": [dict(vars(info)) for info in run.infos],
        "events": [dict(vars(event)) for event in run.events],
        "outcome": {
            "kind": run.outcome.kind.name,
            "sentence": run.outcome.sentence,
            "time": run.outcome.time,
        },
        "statistics": dict(vars(run.statistics)),
        "provenance": {**vars(run.provenance), "digest": run.provenance.digest},
        "warnings": list(run.warnings),
        "end": run.end,
        "found": run.found,
        "certificate": [dict(vars(check)) for check in run.certificate],
        "unchecked": list(run.certificate.unchecked),
        "passed_limits": [dict(vars(passed)) for passed in run.passed_limits],
        "errors": run.errors.to_plain() if run.errors else None,
    }


def from_record(
    record: dict[str, Any], time: Floats, values: Floats, knots: Booleans | None = None, probes: Floats | None = None
) -> Run:
    """The run of a record and its arrays; KeyError, TypeError or ValueError where the record is not one."""
    provenance = {key: value for key, value in record["provenance"].items() if key != "digest"}
    outcome = record["outcome"]
    run = Run(
        time,
        values,
        infos=tuple(SignalInfo(**info) for info in record["signals"]),
        outcome=Outcome(OutcomeKind[outcome["kind"]], outcome["sentence"], outcome["time"]),
        provenance=Provenance(**provenance),
        statistics=Statistics(**record["statistics"]),
        events=tuple(EventRecord(**event) for event in record["events"]),
        warnings=tuple(record["warnings"]),
        end=dict(record.get("end", {})),
        knots=knots,
        probes=None if probes is None else Probes(probes[:, 0], *np.split(probes[:, 1:], 2, axis=1)),
        found={name: (given, found) for name, (given, found) in record.get("found", {}).items()},
        certificate=certificate_from(record),
        errors=errors_from(record.get("errors")),
        passed_limits=tuple(PassedLimit(**passed) for passed in record.get("passed_limits", [])),
    )
    return checked(run)
