"""Contest of laws by simulation: which law of friction, which gear do measured runs of a machine ask for?

Each law takes the place of the friction on every axis, is fitted to the same samples, and is judged on samples it has
not seen and by information criteria. What the data cannot tell of a law is named before it is searched for, and such
a law takes no part. Laws that contain the simplest one start from what that one found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.analysis.fitting.experiments import Experiment, list_experiments
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.fitting.law_candidates import LAWS, SIMPLEST, Axis, Candidate, find_axes, propose
from robodyn.analysis.fitting.result import Fit
from robodyn.analysis.identification.contest import Contender, criteria, friction_blocks
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats
from robodyn.description.model import Scenario


def compare_laws(
    scenario: Scenario,
    data: Run | Experiment | Sequence[Run | Experiment],
    laws: Sequence[str] = LAWS,
    *,
    free: Sequence[str] = (),
    held_out: float = 0.25,
    link_side: Sequence[str] = (),
    **settings: Any,
) -> tuple[Contender, ...]:
    """Contenders in order of the Bayesian criterion; those that the data cannot tell come last, with the reason.

    Args:
        free: numbers that are fitted beside those of the laws, such as a mass.
        link_side: measured positions and speeds of joints that are taken behind an elastic gear; others are motors'.
        settings: of `fit_parameters`.

    Raises:
        ModelError: where the scenario has no friction, or a law is not known.
    """
    flaws = FlawList()
    flaws.add_unknown(laws, LAWS, "is no law of the contest")
    if not 0 < held_out < 1:
        flaws.add("held_out", f"must be above 0 and below 1, is {held_out:g}", "laws are judged by it")
    blocks = friction_blocks(scenario)
    flaws.raise_if_any("contest of laws")
    experiments = list_experiments(data)
    axes = find_axes(scenario, blocks, experiments)
    settings |= {"held_out": held_out}
    first = propose(SIMPLEST, scenario, blocks, axes, link_side)
    fits: dict[str, tuple[int, Fit | str]] = {SIMPLEST: _fit(first, experiments, free, settings)}
    begun, axes = _begin(scenario, axes, free, fits[SIMPLEST][1])
    for law in laws:
        if law not in fits:
            try:
                candidate = propose(law, begun, blocks, axes, link_side)
            except ModelError as error:
                fits[law] = (0, _reason(error))
                continue
            fits[law] = _fit(candidate, experiments, free, settings)
    return _judge({law: fits[law] for law in laws})


def _fit(
    candidate: Candidate, experiments: Sequence[Experiment], free: Sequence[str], settings: Mapping[str, Any]
) -> tuple[int, Fit | str]:
    """How many numbers are free, and the fit of one candidate or why there is none."""
    names = [*candidate.free, *free]
    own = dict(settings)
    if isinstance(own.get("noise"), Mapping):
        own["noise"] = {candidate.renamed.get(name, name): level for name, level in own["noise"].items()}
    try:
        renamed = [replace(one, data=_rename(one.data, candidate.renamed)) for one in experiments]
        return len(names), fit_parameters(candidate.scenario, renamed, names, **own)
    except ModelError as error:
        return len(names), _reason(error)


def _reason(error: ModelError) -> str:
    return "; ".join(str(flaw) for flaw in error.flaws)


def _rename(data: Run, renamed: Mapping[str, str]) -> Run:
    return replace(data, infos=tuple(replace(info, name=renamed.get(info.name, info.name)) for info in data.infos))


def _begin(
    scenario: Scenario, axes: Sequence[Axis], free: Sequence[str], fit: Fit | str
) -> tuple[Scenario, list[Axis]]:
    """The scenario and the levels of friction as the simplest law found them."""
    if isinstance(fit, str):
        return scenario, list(axes)
    values = fit.values
    begun = scenario.with_numbers({name: values[name] for name in free if name in values})
    found = [(values[f"{a.place}.{SIMPLEST}.coulomb"], values[f"{a.place}.{SIMPLEST}.viscous"]) for a in axes]
    return begun, [replace(a, coulomb=c, viscous=v) for a, (c, v) in zip(axes, found, strict=True)]


def _judge(fits: Mapping[str, tuple[int, Fit | str]]) -> tuple[Contender, ...]:
    done = {law: (count, fit) for law, (count, fit) in fits.items() if isinstance(fit, Fit)}
    failed = [Contender(law, fit, count, np.inf, np.inf, np.nan, np.nan)
              for law, (count, fit) in fits.items() if isinstance(fit, str)]  # fmt: skip
    if not done:
        raise ModelError([Flaw(c.law, c.tried) for c in failed], "contest of laws: none can be fitted")
    # Signals in their order: an elastic gear gives some of them other names.
    noise = np.min([[signal.noise for signal in fit.signals] for _, fit in done.values()], axis=0)
    squares = {law: _mean_squares(fit, noise) for law, (_, fit) in done.items()}
    best = min(squares, key=lambda law: squares[law][0])
    n = _independent(done[best][1])
    found = [
        Contender(law, _remark(fit), count, *criteria(n, squares[law][0], count), *(s**0.5 for s in squares[law]))
        for law, (count, fit) in done.items()
    ]
    return (*sorted(found, key=lambda contender: contender.bic), *failed)


def _remark(fit: Fit) -> str:
    """Numbers at their bounds: the law has become a simpler one."""
    bound = [p.name for p in fit.parameters if p.at_bound]
    hardly = [p.name for p in fit.parameters if not p.at_bound and p.value and p.upper - p.lower > 2 * abs(p.value)]
    words = [f"at its bound: {', '.join(bound)}"] if bound else []
    return "; ".join([*words, f"hardly told: {', '.join(hardly)}"] if hardly else words)


def _mean_squares(fit: Fit, noise: Floats) -> tuple[float, float]:
    """Of weighted residuals at fitted and at held-out samples."""
    level = dict(zip([signal.name for signal in fit.signals], noise, strict=True))
    fitted, held = list[Floats](), list[Floats]()
    for r in fit.recordings:
        for k, name in enumerate(r.measured.names):
            apart = (r.measured.values[:, k] - r.run[name].values) / level[name]
            seen = np.isfinite(r.residuals[:, k])
            fitted.append(apart[seen])
            held.append(apart[~seen & np.isfinite(apart)])
    return float(np.mean(np.concatenate(fitted) ** 2)), float(np.mean(np.concatenate(held) ** 2))


def _independent(fit: Fit) -> float:
    """How many independent samples residuals are worth: each row counts 1 / (1 + 2 sum of correlations) up to the first
    that is none (Bartlett 1935)."""
    total = 0.0
    for column in (column for r in fit.recordings for column in r.residuals.T):
        e = column[np.isfinite(column)]
        if e.size < 2 or not e.any():
            continue
        e = e - e.mean()
        power = np.abs(np.fft.rfft(e, 2 * e.size)) ** 2
        correlation = np.fft.irfft(power)[: e.size] / max(float(e @ e), 1e-300)
        end = int(np.argmax(correlation < 0.05)) or e.size
        total += e.size / (1 + 2 * float(np.sum(correlation[1:end])))
    return max(total, 2.0)
