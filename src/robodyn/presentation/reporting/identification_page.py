"""Identification as a page: what was found with its intervals, what is left, what the data could not tell."""

from __future__ import annotations

from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis.identification.result import Identification, ResidualTest, check_residuals, interval_heading
from robodyn.base.atomic import write_file

from .accuracy_sheet import STYLE
from .figures import COLOURS, embed_figure, finish_axes, label_bottom, panel_figure
from .fitted import draw_identification
from .policy import policy_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRONG = 0.9
"""Correlation of two estimates that is shown."""
MOST = 30


def write_identification(found: Identification, path: str | Path) -> Path:
    """Write one HTML page that needs nothing from elsewhere."""
    write_file(path, identification_page(found))
    return Path(path)


def identification_page(found: Identification) -> str:
    """One HTML page."""
    tests = check_residuals(found)
    numbers = "".join(_cells(f"<code>{escape(name)}</code>", f"{value:.6g}") for name, value in found.numbers.items())
    notes = "".join(f"<li>{escape(warning)}</li>" for warning in found.warnings) or "<li>nothing</li>"
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8">{policy_of(STYLE)}
<title>Identification</title><style>{STYLE}</style>
<h1>Identification by inverse dynamics</h1>
<p>Low-pass of {found.cutoff:.4g} Hz without phase, rows at {found.rate:.4g} Hz. Intervals are for noise of any
colour. Possible bodies lose {found.lost:.3g} in the sum of squares by the noise.</p>
<h2>Prediction</h2>
{_predictions(found, tests)}
<h2>Base parameters</h2>
{_base(found)}
<h2>What the data could not tell, or tell apart</h2><ul>{notes}{_correlated(found)}</ul>
<h2>Measured and predicted forces</h2>
<p>Shaded rows took no part in the fit; the band of what is left is two deviations of the noise.</p>
<img alt="Measured and predicted forces of all joints" src="{embed_figure(draw_identification(found))}">
<h2>What is left</h2>
<p>Correlation of what is left with itself and with the predicted force, at rows that the filter leaves independent. Of
white noise 95 % lie within the band.</p>
<img alt="Correlations of the residuals" src="{embed_figure(draw_residual_tests(tests))}">
<h2>New numbers</h2>
<p>Every body could exist; what the data do not tell is near what was given.</p>
<table><tbody>{numbers}</tbody></table></html>
"""


def _predictions(found: Identification, tests: tuple[ResidualTest, ...]) -> str:
    by_joint = {test.joint: test for test in tests}
    rows = []
    for p in found.predictions:
        test = by_joint.get(p.joint)
        shares = [f"{100 * share:.0f} %" for share in (test.white, test.independent)] if test else ["", ""]
        part = "held out" if p.held_out else "fitted"
        name = f"{escape(p.joint)}, {part}"
        rows.append(_cells(name, f"{p.rows}", f"{p.rms:.4g} {p.unit}", f"{p.percent:.2f} %", *shares))
    head = _cells("joint", "rows", "rms left", "of the force", "white", "independent", tag="th")
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _cells(first: str, *others: str, tag: str = "td") -> str:
    """A row of a table whose first cell is text and whose others are numbers."""
    return f"<tr><{tag}>{first}</{tag}>{''.join(f'<{tag} class=n>{other}</{tag}>' for other in others)}</tr>"


def _base(found: Identification) -> str:
    rows = []
    for p in found.base:
        interval = f"{p.lower:.5g} .. {p.upper:.5g}" if p.told else "not told"
        name, value, given = f"<code>{escape(p.name)}</code>", f"{p.value:.6g}", f"{p.given:.6g}"
        rows.append(_cells(name, value, interval, given, escape(p.unit)))
    head = _cells("base parameter", "value", interval_heading(found.doubt), "given", "unit", tag="th")
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _correlated(found: Identification) -> str:
    pairs = [(i, j) for i, j in combinations(range(len(found.base)), 2) if abs(found.correlation[i, j]) > STRONG]
    pairs.sort(key=lambda pair: -abs(found.correlation[pair]))
    names = [escape(estimate.name) for estimate in found.base]
    shown = [f"{names[i]} and {names[j]}: correlation {found.correlation[i, j]:+.3f}" for i, j in pairs[:MOST]]
    return "".join(f"<li>{sentence}</li>" for sentence in shown)


def draw_residual_tests(tests: tuple[ResidualTest, ...]) -> Figure:
    """A panel a joint: correlation with itself as bars, with the force as a line, and the 95 % band."""
    figure, axes = panel_figure(max(len(tests), 1))
    for ax, test in zip(axes, tests, strict=False):
        both = np.concatenate([-test.lag[::-1], [0.0], test.lag])
        ax.axhspan(-test.band, test.band, color="0.92")
        ax.vlines(test.lag, 0, test.own, color=COLOURS[0], gid="own")
        ax.plot(both, test.with_force, color=COLOURS[1], linewidth=1.0, gid="with_force")
        finish_axes(ax, test.joint)
    label_bottom(axes, "lag [s]")
    return figure
