"""Report of a fit: a table for people, numbers for a file."""

from __future__ import annotations

import json
from pathlib import Path

from robodyn.analysis.fitting.result import Fit
from robodyn.errors import Flaw, ModelError
from robodyn.results.atomic import replacing

ENDINGS = (".toml", ".json")


def describe_fit(fit: Fit) -> str:
    """Values, intervals, correlations, signals, starts and warnings as text."""
    lines = [f"{'parameter':<36} {'value':>12} {'95 % interval':>27} {'given':>12}  unit"]
    for p in fit.parameters:
        interval = f"{p.lower:.5g} .. {p.upper:.5g}" if not p.at_bound else "at its bound"
        lines.append(f"{p.name:<36} {p.value:>12.6g} {interval:>27} {p.given:>12.6g}  {p.unit}".rstrip())
    if len(fit.parameters) > 1:
        lines += ["", "correlation", *_correlation_lines(fit)]
    lines += ["", f"{'signal':<36} {'rms':>12} {'noise':>12} {'R^2':>12} {'samples':>8}  unit"]
    for s in fit.signals:
        numbers = f"{s.rms:>12.5g} {s.noise:>12.5g} {s.r_squared:>12.8f} {s.samples:>8}"
        lines.append(f"{s.name:<36} {numbers}  {s.unit}".rstrip())
    lines += _proof_lines(fit)
    lines += ["", _starts_line(fit), f"slopes: {fit.jacobian}"]
    lines += [f"warning: {warning}" for warning in fit.warnings]
    return "\n".join(lines)


def _proof_lines(fit: Fit) -> list[str]:
    """Errors at held-out samples, with the recording's name where there are several."""
    several = len(fit.recordings) > 1
    rows = [(f"{r.label}: {e.name}" if several else e.name, e) for r in fit.recordings for e in r.held_out]
    if not rows:
        return []
    head = ["", f"{'held-out samples of':<36} {'rms':>12} {'%':>8} {'samples':>8}  unit"]
    return head + [f"{name:<36} {e.rms:>12.5g} {e.percent:>8.2f} {e.rows:>8}  {e.unit}".rstrip() for name, e in rows]


def _correlation_lines(fit: Fit) -> list[str]:
    return [
        f"{p.name:<36} " + " ".join(f"{fit.correlation[i, j]:>+7.3f}" for j in range(i + 1))
        for i, p in enumerate(fit.parameters)
    ]


def _starts_line(fit: Fit) -> str:
    count, evaluations = len(fit.starts), sum(start.evaluations for start in fit.starts)
    runs = f"{evaluations} simulations"
    if count == 1:
        return f"one start, {runs}"
    return f"{fit.agreeing} of {count} starts found this fit, {runs}"


def write_fit(fit: Fit, path: str | Path) -> Path:
    """The fitted numbers in a file: JSON with everything, or TOML with names and values."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise ModelError([Flaw(str(path), f"must end in {' or '.join(ENDINGS)}")])
    text = json.dumps(fit.as_plain(), indent=2) if path.suffix == ".json" else _as_toml(fit)
    with replacing(path) as draft:
        draft.write_text(text + "\n", encoding="utf-8")
    return path


def _as_toml(fit: Fit) -> str:
    lines = [f"# fitted to {', '.join(recording.label for recording in fit.recordings)}", "[numbers]"]
    for p in fit.parameters:
        interval = "at its bound" if p.at_bound else f"95 %: {p.lower:.6g} .. {p.upper:.6g}"
        lines.append(f'"{p.name}" = {p.value!r}  # {p.unit + ", " if p.unit else ""}{interval}')
    return "\n".join(lines)
