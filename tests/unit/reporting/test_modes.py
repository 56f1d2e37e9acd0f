"""Do pictures of modes and poles show the shapes and poles that were found?"""

import numpy as np
import pytest

from robodyn import assemble
from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.modes import find_modes
from robodyn.description.catalog import double_pendulum
from robodyn.presentation.reporting import draw_modes, draw_poles, plot_modes, plot_poles

pytest.importorskip("matplotlib")

HANGING = {"shoulder.position": 0.0, "elbow.position": 0.0}


@pytest.fixture(scope="module")
def swinging():
    return find_modes(assemble(double_pendulum()), at=HANGING)


def lines_of(ax):
    return {line.get_gid(): np.array(line.get_data_3d()).T for line in ax.get_lines()}


def test_a_panel_shows_the_mean_pose_and_both_phases(swinging):
    figure = draw_modes(swinging)
    assert len(figure.axes) == 2
    for ax, mode in zip(figure.axes, swinging, strict=True):
        lines = lines_of(ax)
        assert set(lines) == {"mean", "there", "back"}
        # The last edge ends at the tip; a gap follows each edge.
        np.testing.assert_allclose(lines["there"][-2], mode.displaced.there[-1], atol=1e-12)
        np.testing.assert_allclose(lines["back"][-2], mode.displaced.back[-1], atol=1e-12)
        np.testing.assert_allclose(lines["mean"][-2], [0, 0, -2], atol=1e-12)


def test_the_title_tells_frequency_and_damping(swinging):
    titles = [ax.get_title() for ax in draw_modes(swinging).axes]
    assert titles[0].startswith(f"{swinging[0].frequency:.4g} Hz, damping ratio 0 %")
    assert titles[0].endswith("\nshoulder")


def test_chosen_modes_are_drawn_in_their_order(swinging):
    figure = draw_modes(swinging, modes=[swinging[1]])
    assert len(figure.axes) == 1
    assert figure.axes[0].get_title().startswith(f"{swinging[1].frequency:.4g} Hz")


def test_modes_without_a_mechanism_cannot_be_drawn(swinging):
    with pytest.raises(ValueError, match="cannot be drawn in 3-D"):
        draw_modes(find_modes(LinearModel([[0.0, 1.0], [-4.0, 0.0]])))
    with pytest.raises(ValueError, match="no mode oscillates"):
        draw_modes(swinging, modes=[])
    with pytest.raises(ValueError, match="at most 9 modes"):
        draw_modes(swinging, modes=[*swinging] * 5)


def test_poles_of_each_model_are_drawn_with_their_conjugates(swinging, texts):
    other = LinearModel([[-1.0]])
    figure = draw_poles([swinging, other], labels=["pendulum", "lag"])
    (ax,) = figure.axes
    drawn = {line.get_gid(): line.get_data() for line in ax.get_lines()}
    expected = np.array([mode.pole for mode in swinging])
    found = drawn["pendulum poles"][0] + 1j * drawn["pendulum poles"][1]
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(np.concatenate([expected, expected.conj()])))
    assert drawn["lag poles"][0] == [-1.0]
    assert texts(figure.legends[0]) == ["pendulum", "lag"]


def test_far_poles_can_be_left_out():
    (ax,) = draw_poles(LinearModel(np.diag([-1.0, -100.0])), within=10.0).axes
    assert [list(line.get_xdata()) for line in ax.get_lines() if line.get_gid()] == [[-1.0]]


def test_labels_must_be_as_many_as_models():
    with pytest.raises(ValueError, match="1 labels for 2 models"):
        draw_poles([LinearModel([[-1.0]])] * 2, labels=["a"])
    with pytest.raises(ValueError, match="models can be drawn"):
        draw_poles([])


def test_pictures_are_written(swinging, tmp_path):
    plot_modes(swinging, tmp_path / "modes.png")
    plot_poles(swinging, tmp_path / "poles.svg")
    assert (tmp_path / "modes.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "poles.svg").read_text(encoding="utf-8")
