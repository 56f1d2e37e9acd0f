"""Are signed components stacked without a gap, and does the line show their sum?"""

import numpy as np
import pytest

from robodyn.presentation.reporting import draw_stacked, plot_stacked
from robodyn.presentation.reporting.causes import add_crossings, stack_signed

pytest.importorskip("matplotlib")

TIME = np.linspace(0.0, 1.0, 11)
COMPONENTS = {
    "inertial": np.column_stack([TIME - 0.55, 2 * TIME]),
    "gravity": np.column_stack([np.full(11, 2.0), -np.ones(11)]),
    "Coriolis": np.column_stack([-np.sin(7 * TIME), np.zeros(11)]),
}
AXES = ("shoulder", "elbow")


@pytest.fixture
def figure():
    return draw_stacked(COMPONENTS, TIME, axes=AXES, unit="N m", title="torques")


def heights(area):
    """Area of a filled part, (its corners go around it once)."""
    x, y = area.get_paths()[0].vertices.T
    return 0.5 * abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


def test_borders_above_and_below_zero_add_up_to_the_total():
    values = np.array([part[:, 0] for part in COMPONENTS.values()])
    upper, lower = stack_signed(values)
    assert np.all(np.diff(upper, axis=0) >= 0)
    assert np.all(np.diff(lower, axis=0) <= 0)
    # Rounding of three summands of the size of 1.
    np.testing.assert_allclose(upper[-1] + lower[-1], values.sum(axis=0), atol=1e-15)
    np.testing.assert_allclose(np.diff(upper, axis=0) + np.diff(lower, axis=0), values, atol=1e-15)


def test_areas_change_side_where_the_line_between_samples_crosses_zero():
    time, values = add_crossings(np.array([0.0, 1.0, 2.0]), np.array([[-1.0, 3.0, 3.0], [1.0, 0.0, -1.0]]))
    np.testing.assert_allclose(time, [0.0, 0.25, 1.0, 2.0])
    np.testing.assert_allclose(values[0], [-1.0, 0.0, 3.0, 3.0], atol=1e-15)
    np.testing.assert_allclose(values[1], [1.0, 0.75, 0.0, -1.0])


def test_the_areas_are_the_integrals_of_positive_and_negative_parts(figure):
    """Of the ramp -0.55 to 0.45: triangles of 0.55^2/2 below and 0.45^2/2 above."""
    above, below = figure.axes[0].collections[:2]
    assert heights(above) == pytest.approx(0.45**2 / 2)
    assert heights(below) == pytest.approx(0.55**2 / 2)


def test_every_axis_has_a_panel_with_its_name_unit_and_total(figure):
    assert [ax.get_ylabel() for ax in figure.axes] == ["shoulder [N m]", "elbow [N m]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    for number, ax in enumerate(figure.axes):
        (total,) = [line for line in ax.get_lines() if line.get_gid() == "total"]
        np.testing.assert_array_equal(total.get_xdata(), TIME)
        np.testing.assert_allclose(total.get_ydata(), sum(part[:, number] for part in COMPONENTS.values()))


def test_the_legend_names_components_and_total(figure, texts):
    (legend,) = figure.legends
    assert texts(legend) == ["inertial", "gravity", "Coriolis", "total"]
    assert legend.get_title().get_text() == "torques"


def test_axes_may_have_units_of_their_own():
    figure = draw_stacked(COMPONENTS, TIME, axes=AXES, unit=("N", "N m"), along="share of the way")
    assert [ax.get_ylabel() for ax in figure.axes] == ["shoulder [N]", "elbow [N m]"]
    assert figure.axes[-1].get_xlabel() == "share of the way"


def test_a_picture_is_written(tmp_path):
    plot_stacked(COMPONENTS, TIME, tmp_path / "forces.png", axes=AXES, unit="N m")
    assert (tmp_path / "forces.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"components": {}}, "from 1 to 7 components"),
        ({"components": {str(k): np.zeros((11, 2)) for k in range(8)}}, "not 8"),
        ({"components": {"inertial": np.zeros((10, 2))}}, "inertial: shape .* is not 11 times by 2 axes"),
        ({"components": {"inertial": np.full((11, 2), np.nan)}}, "inertial: some values are not finite"),
        ({"time": TIME[::-1]}, "at least two values and increase"),
        ({"axes": ()}, "0 axes"),
        ({"unit": ("N",)}, "1 units for 2 axes"),
    ],
)
def test_what_cannot_be_stacked_is_refused(changes, complaint):
    message = {"components": COMPONENTS, "time": TIME, "axes": AXES, "unit": "N m"} | changes
    with pytest.raises(ValueError, match=complaint):
        draw_stacked(message.pop("components"), message.pop("time"), **message)
