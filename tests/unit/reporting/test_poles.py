"""Do pictures of poles and zeros show those that were found?"""

import numpy as np
import pytest

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.responses import respond_to_step
from robodyn.analysis.linear.stability import PolePath
from robodyn.analysis.step_response import measure_step
from robodyn.presentation.reporting.linear import (
    draw_pole_path,
    draw_pole_zeros,
    draw_responses,
    plot_pole_path,
    plot_pole_zeros,
    plot_responses,
)

pytest.importorskip("matplotlib")

# (s + 3) / ((s + 1) (s + 2))
LEAD = LinearModel([[-3.0, -2.0], [1.0, 0.0]], [[1.0], [0.0]], [[1.0, 3.0]])
FAST = LinearModel([[-50.0]], [[1.0]], [[1.0]])


def drawn(figure):
    return {line.get_gid(): np.array(line.get_data()) for line in figure.axes[0].get_lines() if line.get_gid()}


def test_crosses_are_poles_and_circles_are_zeros(texts):
    figure = draw_pole_zeros([LEAD, FAST], labels=["lead", "fast"])
    lines = drawn(figure)
    np.testing.assert_allclose(sorted(lines["lead poles"][0]), [-2.0, -1.0], rtol=1e-12)
    np.testing.assert_allclose(lines["lead zeros"][0], [-3.0], rtol=1e-12)
    assert lines["fast zeros"].size == 0
    assert texts(figure.legends[0]) == ["pole", "zero", "lead", "fast"]


def test_far_roots_can_be_left_out():
    lines = drawn(draw_pole_zeros([LEAD, FAST], within=2.5))
    assert lines["model 2 poles"].size == 0
    assert lines["model 1 zeros"].size == 0


def test_a_path_has_a_line_for_each_branch_and_a_scale():
    poles = np.array([[-1.0 + 1j, -9.0], [-2.0 + 2j, complex(np.nan, np.nan)]])
    path = PolePath(("gain",), np.array([0.5, 1.0]), poles, ())
    figure = draw_pole_path(path, factor=2.0)
    lines = drawn(figure)
    np.testing.assert_allclose(lines["branch 1"], [[-1.0, -2.0], [1.0, 2.0]])
    dots = figure.axes[0].collections[0]
    assert len(dots.get_offsets()) == 3
    assert sorted(dots.get_array()) == [1.0, 1.0, 2.0]
    assert figure.axes[1].get_ylabel() == "gain"
    assert len(draw_pole_path(path, within=5.0).axes[0].collections[0].get_offsets()) == 2


def test_responses_have_a_panel_for_each_output(texts):
    two = LinearModel([[-1.0]], [[1.0]], [[1.0], [2.0]])
    found = [respond_to_step(two, output=name) for name in ("y1", "y2")]
    figure = draw_responses(found)
    assert [ax.get_ylabel() for ax in figure.axes] == ["y1", "y2"]
    assert texts(figure.legends[0]) == ["step of u1"]
    np.testing.assert_array_equal(figure.axes[1].get_lines()[0].get_ydata(), found[1].values)


def test_overshoot_rise_and_settling_are_marked_on_a_step(texts):
    # 1 / (s^2 + s + 1): damping 0.5, overshoot exp(-pi / sqrt 3) = 16.3 % at 2 pi / sqrt 3 = 3.63 s.
    ringing = LinearModel([[-1.0, -1.0], [1.0, 0.0]], [[1.0], [0.0]], [[0.0, 1.0]])
    response = respond_to_step(ringing, time=np.linspace(0, 20, 4001))
    step = measure_step(response.signal, start=0.0, final=response.settled)
    figure = draw_responses(response, labels=["loop"], steps=[step], within=0.05)
    lines = drawn(figure)
    np.testing.assert_allclose(lines["highest peak"][:, 0], [3.6276, 1.1630], atol=1e-3)
    np.testing.assert_allclose(lines["10 % and 90 %"][1], [0.1, 0.9], atol=1e-5)
    assert np.diff(lines["10 % and 90 %"][0])[0] == pytest.approx(step.rise_time(), rel=1e-12)
    assert lines["settled"][0, 0] == pytest.approx(step.settling_time(0.05), rel=1e-12)
    (said,) = texts(figure.legends[0])
    assert said == "loop: overshoot 16.3 %, rise 1.64 s, settled in 5.29 s"
    assert texts(figure.legends[1])[-1] == "± 5 % of the step"


def test_a_response_that_creeps_has_no_overshoot_to_mark(texts):
    response = respond_to_step(FAST)
    step = measure_step(response.signal, start=0.0, final=response.settled)
    figure = draw_responses([response, respond_to_step(LEAD)], labels=["lag", "lead"], steps=[step, None])
    assert drawn(figure)["highest peak"].size == 0
    said = texts(figure.legends[0])
    assert said[0].startswith("lag: no overshoot, rise 43.9 ms, settled in 78.2 ms")
    assert said[1] == "lead"


def test_pictures_are_written(tmp_path):
    plot_pole_zeros(LEAD, tmp_path / "zeros.png")
    plot_pole_path(PolePath(("k",), np.array([1.0]), np.array([[-1.0 + 0j]]), ()), tmp_path / "path.svg")
    plot_responses(respond_to_step(LEAD), tmp_path / "step.pdf")
    assert (tmp_path / "zeros.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "path.svg").read_text(encoding="utf-8")
    assert (tmp_path / "step.pdf").read_bytes().startswith(b"%PDF")
