"""Outcome: how did a run end, and may its numbers be used as what was asked for?"""

from enum import Enum

from robodyn.base.records import dataclass


class OutcomeKind(Enum):
    """Every way a run can end; the value says what the kind means."""

    FINISHED = "reached the end time"
    STOPPED = "a terminal event ended the run"
    SUSPECT = "carried through, but a check of the run itself failed"
    INTERRUPTED = "interrupted from outside"
    STEP_LIMIT = "the allowed number of steps is used up"
    WALL_TIME = "the allowed computing time is used up"
    NOT_A_NUMBER = "a value is not a finite number"
    STEP_TOO_SMALL = "the step size fell below its limit"
    OVERFLOW = "a value or a buffer outgrew its bounds"
    OUT_OF_REACH = "a coordinate or a law left its range"
    CHATTERING = "events follow each other without time passing"
    JAMMED = "no contact forces keep rigid bodies apart"
    RECORD_FULL = "the record is as large as allowed"
    NO_MEMORY = "there was no memory left"
    NOT_SOLVED = "the equations of a step could not be solved"
    SINGULAR = "the chosen independent joints no longer determine the others"
    DIVERGED = "coupled subsystems drove each other beyond all bounds"
    ILL_CONDITIONED = "the interface inertia of a subsystem does not exist"
    FAILED = "the run failed for another reason"


_OK = frozenset({OutcomeKind.FINISHED, OutcomeKind.STOPPED})
_CUT_SHORT = frozenset(
    {
        *(OutcomeKind.INTERRUPTED, OutcomeKind.STEP_LIMIT, OutcomeKind.WALL_TIME),
        *(OutcomeKind.RECORD_FULL, OutcomeKind.NO_MEMORY),
    }
)


@dataclass(frozen=True)
class Outcome:
    """How and when a run ended, with one sentence for its reader.

    Exactly one of `ok`, `suspect`, `cut_short`, `failed` holds.

    Args:
        time: simulated time at the end [s].
    """

    JSON = """
    kind: finished, stopped, suspect ...
    ok
    sentence
    time: [s]
    """
    kind: OutcomeKind
    sentence: str
    time: float

    @property
    def ok(self) -> bool:
        """The run is what was asked for: it reached its end time or a terminal event."""
        return self.kind in _OK

    @property
    def suspect(self) -> bool:
        """The run was carried through, but its certificate says that its numbers are wrong."""
        return self.kind is OutcomeKind.SUSPECT

    @property
    def carried_through(self) -> bool:
        """The run went as far as it was to go, whether its numbers are right or suspect."""
        return self.ok or self.suspect

    @property
    def cut_short(self) -> bool:
        """The numbers so far are good, but a person or a budget ended the run early."""
        return self.kind in _CUT_SHORT

    @property
    def failed(self) -> bool:
        """The equations could not be continued; the last rows may be unusable."""
        return not (self.ok or self.suspect or self.cut_short)
