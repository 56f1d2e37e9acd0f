"""Progress of a sweep: how far is it, how fast, how long will it take?"""

from __future__ import annotations

from dataclasses import dataclass


class ClusterLost(RuntimeError):
    """A cluster could not carry out a sweep; what had arrived is kept."""


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    Attributes:
        done: runs that are finished, of `total`; kept: those of them that were there before.
        simulated: time simulated by this call [s]; elapsed: time it took so far [s].
        workers: of a cluster, that take part; refused: address of a worker -> why it does not.
    """

    done: int
    total: int
    kept: int
    simulated: float
    elapsed: float
    workers: int | None = None
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def rate(self) -> float:
        """Runs a second of this call."""
        return (self.done - self.kept) / max(self.elapsed, 1e-9)

    @property
    def left(self) -> float:
        """Seconds until the end at this rate."""
        return (self.total - self.done) / self.rate if self.done > self.kept else float("inf")

    @property
    def sentence(self) -> str:
        """For who waits."""
        said = f"{self.done} of {self.total} runs"
        if self.workers is not None:
            said += f", {self.workers} workers" if self.workers else ", waiting for workers"
        if self.done > self.kept:
            said += f", {self.rate:.3g} runs/s, {self.simulated / self.elapsed:.3g} robots x seconds per second, "
            said += f"{_describe_time(self.left)} left"
        return said


def _describe_time(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
