"""Pictures are whole files of the kind their name says, made without global state."""

import os
import subprocess
import sys

import numpy as np
import pytest

from robodyn.presentation.reporting import plot_difference, plot_path, plot_phase, plot_signals
from robodyn.presentation.reporting.figures import darken, empty_figure

pytest.importorskip("matplotlib")

KINDS = [("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG")]


@pytest.mark.parametrize(("name", "magic"), KINDS)
def test_the_ending_of_the_path_chooses_the_kind_of_picture(make_run, tmp_path, name, magic):
    path = tmp_path / "new" / name
    plot_signals(make_run(), ["elbow.torque"], path)
    assert path.read_bytes().startswith(magic)
    assert [file.name for file in path.parent.iterdir()] == [name]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_run_gives_the_same_file(make_arc, tmp_path, ending):
    one, two = (tmp_path / f"{number}.{ending}" for number in (1, 2))
    for path in (one, two):
        plot_path(make_arc(), "tool", path)
    assert one.read_bytes() == two.read_bytes()


def test_every_kind_of_figure_is_written(make_arc, tmp_path):
    run = make_arc()
    plot_phase(run, "tool.position.x", ["tool.position.y"], tmp_path / "against.svg")
    plot_difference(run, make_arc(2.0), ["tool.position.y"], tmp_path / "difference.svg")
    for name, gid in (("against", "start"), ("difference", "tool.position.y")):
        assert f'<g id="{gid}">' in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")


def test_a_dark_picture_has_no_black_text_and_no_black_line():
    """Of polar and of 3-D axes, too, whose ticks and lines come into being when they are drawn."""
    from matplotlib.colors import to_rgb
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    figure = empty_figure(8, 4)
    figure.add_subplot(1, 2, 1, projection="polar").plot([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    space = figure.add_subplot(1, 2, 2, projection="3d")
    space.plot([0.0, 1.0], [0.0, 1.0], [0.0, 1.0], color="black")
    figure.draw_without_rendering()
    outline = figure.axes[0].spines["polar"].get_path().vertices.copy()
    darken(figure)
    figure.draw_without_rendering()
    shown = [one for kind in (Text, Line2D) for one in figure.findobj(kind) if one.get_visible()]
    assert len(shown) > 30
    assert all(max(to_rgb(one.get_color())) > 0.2 for one in [*shown, space.xaxis.line])
    np.testing.assert_array_equal(figure.axes[0].spines["polar"].get_path().vertices, outline)


def test_an_unknown_ending_is_refused_and_nothing_is_left(make_run, tmp_path):
    with pytest.raises(ValueError, match=r"not in \.bmpx"):
        plot_signals(make_run(), None, tmp_path / "a.bmpx")
    assert not list(tmp_path.iterdir())


def test_text_in_vector_pictures_stays_searchable(make_run, tmp_path):
    plot_signals(make_run(), ["elbow.torque"], tmp_path / "a.pdf")
    # Type 3 fonts, which journals refuse, would be named so.
    assert b"/Subtype /Type3" not in (tmp_path / "a.pdf").read_bytes()


def test_reporting_is_imported_without_the_plotting_library():
    code = (
        "import sys, robodyn.presentation.reporting\n"
        "print([name for name in ('matplotlib', 'xarray', 'pyarrow', 'pandas') if name in sys.modules])"
    )
    assert _print_of(code) == "[]"


def test_pyplot_and_its_global_state_are_not_touched(tmp_path):
    code = (
        "import sys, numpy as np\n"
        "from robodyn.presentation.reporting import plot_path\n"
        "from robodyn.computation.results import *\n"
        "infos = tuple(SignalInfo(f'tip.position.{axis}', 'm') for axis in 'xyz')\n"
        "run = Run(np.zeros(1), np.zeros((1, 3)), infos, Outcome(OutcomeKind.FINISHED, '', 0.0), Provenance('a'))\n"
        f"plot_path(run, 'tip', {str(tmp_path / 'a.png')!r})\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    assert _print_of(code) == "False"


def _print_of(code):
    """What a new process prints, which finds the package where this one found it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()
