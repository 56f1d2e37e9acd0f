"""Figure layout: what do all figures have in common? Their sizes, colours, legends and files."""

import base64
import inspect
import io
import math
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import ShownUnit, choose_unit, replacing, with_unit, write_unit

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito (2008): distinct with any colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999933")
LineStyle = str | tuple[int, tuple[int, ...]]
# The last is a dash and two dots: lines of dots alone are hardly seen over others.
LINE_STYLES: tuple[LineStyle, ...] = ("-", "--", "-.", (0, (4, 1, 1, 1, 1, 1)))
LINE_WIDTH = 1.2
MOST_PANELS_DRAWN = 24
# Inches.
_COLUMN_WIDTH, _PANEL_HEIGHT, _MARGIN_HEIGHT = 8.0, 2.1, 1.2
_ROWS_OF_ONE_COLUMN = 6
# Letters that fit beside a panel's height, into a legend beside a panel, and into one above a column of panels.
_LABEL_LETTERS, _LEGEND_LETTERS, _HEAD_LETTERS = 26, 26, 120
_DPI = 150
# Fonts a journal takes, and the same file from the same run.
_FILE_SETTINGS: Any = {"pdf.fonttype": 42, "svg.hashsalt": "robodyn"}
_NO_DATE: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def empty_figure(width: float, height: float) -> "Figure":
    """A figure [inch] with a canvas of its own: pyplot and its global state are never touched."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure that notebooks show: they know those of pyplot only."""

        def _repr_png_(self) -> bytes:
            return _to_png(self)

    figure = ShownFigure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _to_png(figure: "Figure") -> bytes:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=_DPI)
    return picture.getvalue()


def panel_figure(n_panels: int) -> tuple["Figure", list["Axes"]]:
    """A figure with panels below each other that share their x axis, in more columns where they are many."""
    if n_panels > MOST_PANELS_DRAWN:
        raise ValueError(
            f"{n_panels} panels do not fit in one figure, at most {MOST_PANELS_DRAWN} do: choose fewer signals"
        )
    columns = -(-n_panels // _ROWS_OF_ONE_COLUMN)
    rows = -(-n_panels // columns)
    width = _COLUMN_WIDTH * (1 + columns) / 2
    figure = empty_figure(width, _MARGIN_HEIGHT + _PANEL_HEIGHT * rows)
    grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
    axes = list(grid.T.ravel())
    for unused in axes[n_panels:]:
        unused.remove()
    return figure, axes[:n_panels]


def embed_figure(figure: "Figure") -> str:
    """A picture as the source of an image in a page that needs nothing from elsewhere."""
    from PIL import Image

    # Plots have few colours: a palette makes them a third as large.
    picture = io.BytesIO()
    Image.open(io.BytesIO(_to_png(figure))).convert("RGB").quantize(256).save(picture, "png", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(picture.getvalue()).decode('ascii')}"


def write_figure(figure: "Figure", path: str | Path, *, dark: bool = False) -> None:
    """Write a picture, all or nothing: PNG, SVG or PDF by the ending of the path; for a dark page if wished."""
    from matplotlib import rc_context

    path = Path(path)
    kind = path.suffix.lstrip(".").lower() or "png"
    supported = figure.canvas.get_supported_filetypes()
    if kind not in supported:
        raise ValueError(f"{path}: pictures end in .png, .svg or .pdf, not in .{kind}")
    if dark:
        darken(figure)
    with replacing(path) as draft, rc_context(_FILE_SETTINGS):
        figure.savefig(draft, format=kind, dpi=_DPI, metadata=_NO_DATE.get(kind))


def darken(figure: "Figure") -> None:
    """Turn a figure into one for a dark page: greys change sides, colours become lighter."""
    from matplotlib.artist import ArtistInspector, getp
    from matplotlib.axes import Axes
    from matplotlib.colors import to_rgba_array
    from matplotlib.figure import FigureBase
    from mpl_toolkits.mplot3d import Axes3D

    def invert(colours: Any) -> Any:
        if isinstance(colours, str) and colours in ("none", "auto"):
            return colours
        rgba = to_rgba_array(colours)
        grey = np.ptp(rgba[:, :3], axis=1) < 0.02
        rgba[grey, :3] = 0.93 - 0.85 * rgba[grey, :3]
        rgba[~grey, :3] = 0.75 * rgba[~grey, :3] + 0.25
        return rgba if len(rgba) != 1 else rgba[0]

    # Ticks are made when a figure is drawn. Panes, lines and grids of 3-D axes are no children of theirs.
    figure.draw_without_rendering()
    artists = figure.findobj()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis) if isinstance(ax, Axes3D) else ():
            artists += [axis.pane, axis.line]
            axis._axinfo["grid"]["color"] = "0.3"
    kinds = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")
    for artist in dict.fromkeys(artists):
        # Figures and axes only pass on the colours of their backgrounds, which are here themselves.
        if isinstance(artist, FigureBase | Axes):
            continue
        properties = set(ArtistInspector(artist).get_setters())
        # A single colour would paint over those of faces and edges; colours of a map stand for numbers.
        if "facecolor" in properties:
            properties.discard("color")
        if "array" in properties and getp(artist, "array") is not None:
            properties.discard("facecolor")
        colours = {kind: getp(artist, kind) for kind in kinds if kind in properties}
        artist.update({kind: invert(colour) for kind, colour in colours.items() if len(colour)})


def into_file(draw: "Callable[..., Figure]") -> Callable[..., None]:
    """The function that draws into a picture file: as `draw`, with the file's path behind what is drawn."""

    def plot(*what_and_path: Any, dark: bool = False, **options: Any) -> None:
        *what, path = what_and_path
        write_figure(draw(*what, **options), path, dark=dark)

    plot.__name__ = plot.__qualname__ = draw.__name__.replace("draw_", "plot_")
    plot.__module__ = draw.__module__
    plot.__doc__ = (
        "Draw into a picture file, PNG, SVG or PDF by its ending, for a dark page if wished; "
        f"the rest as `{draw.__name__}` takes it."
    )
    own = inspect.signature(draw)
    options = [one for one in own.parameters.values() if one.kind is one.KEYWORD_ONLY]
    what = [
        one.replace(kind=one.POSITIONAL_ONLY, default=one.empty)
        for one in own.parameters.values()
        if one not in options
    ]
    path = inspect.Parameter("path", inspect.Parameter.POSITIONAL_ONLY, annotation="str | Path")
    dark_option = inspect.Parameter("dark", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool")
    parameters = [*what, path, *options, dark_option]
    plot.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return plot


# Axes. Data are drawn in SI; label and ticks are in the unit that suits their size.


def finish_axes(ax: "Axes", label: str, unit: str = "", wanted: Sequence[str] = ()) -> None:
    """Label, grid and open frame of one panel, once all is drawn."""
    from matplotlib.ticker import ScalarFormatter

    label_axis(ax.yaxis, wrap_label(label), unit, wanted)
    if isinstance(ax.xaxis.get_major_formatter(), ScalarFormatter):
        _scale_ticks(ax.xaxis, ShownUnit(""))
    ax.grid(True, color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.02)


def label_axis(axis: "Axis", label: str, unit: str = "", wanted: Sequence[str] = ()) -> None:
    """Name an axis on which numbers of SI are drawn, with ticks in the unit that suits the largest of them."""
    shown = ShownUnit(write_unit(unit))
    if axis.get_scale() == "linear":
        ends = np.abs(axis.get_data_interval())
        if not np.all(np.isfinite(ends)):
            ends = np.abs(axis.get_view_interval())
        shown = choose_unit(unit, float(ends.max()), wanted)
        _scale_ticks(axis, shown)
    axis.set_label_text(wrap_label(with_unit(label, shown.name)))


def _scale_ticks(axis: "Axis", unit: ShownUnit) -> None:
    """Ticks at round numbers of a unit, and as many decimals as tell them apart."""
    from matplotlib.ticker import AutoLocator, Formatter

    class Places(AutoLocator):
        def tick_values(self, vmin: float, vmax: float) -> Any:
            return unit.size * np.asarray(super().tick_values(vmin / unit.size, vmax / unit.size))

    class Numbers(Formatter):
        power = 0

        def format_ticks(self, values: Any) -> list[str]:
            numbers = np.asarray(values, float) / unit.size
            largest = float(np.max(np.abs(self.axis.get_view_interval()))) / unit.size  # type: ignore[union-attr]
            exponent = math.floor(math.log10(largest)) if largest > 0 else 0
            self.power = exponent if exponent < -3 or exponent > 4 else 0
            numbers = numbers / 10.0**self.power
            gap = float(np.min(np.diff(numbers), initial=np.inf))
            decimals = max(0, -math.floor(math.log10(gap) + 1e-6)) if 0 < gap < np.inf else 0
            decimals += not math.isclose(gap * 10**decimals, round(gap * 10**decimals), rel_tol=1e-6)
            return [f"{number + 0.0:.{decimals}f}".replace("-", "\N{MINUS SIGN}") for number in numbers]

        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x / unit.size:g}"

        def get_offset(self) -> str:
            return rf"$\times\mathdefault{{10^{{{self.power}}}}}$" if self.power else ""

    axis.set_major_locator(Places())
    axis.set_major_formatter(Numbers())


def label_bottom(axes: Sequence["Axes"], label: str, unit: str = "", wanted: Sequence[str] = ()) -> None:
    """The x label under the last panel of each column, with tick numbers; labels at the sides in one line."""
    columns = {ax.get_subplotspec().colspan.start: ax for ax in axes}  # type: ignore[union-attr]
    for ax in columns.values():
        label_axis(ax.xaxis, label, unit, wanted)
        ax.tick_params(labelbottom=True)
    axes[0].get_figure().align_ylabels(axes)  # type: ignore[union-attr]


def legend_beside(ax: "Axes") -> None:
    """The panel's legend at its right, outside the data; long names are broken at their dots."""
    handles, labels = ax.get_legend_handles_labels()
    broken = (textwrap.wrap(label.replace(".", ". "), _LEGEND_LETTERS) for label in labels)
    texts = ["\n".join(lines).replace(". ", ".") for lines in broken]
    ax.legend(handles, texts, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")


def legend_above(figure: "Figure", handles: Sequence["Artist"], title: str | None = None) -> None:
    """A legend over all panels in as many columns as its names leave room for, under the figure's title."""
    letters = max((len(str(handle.get_label())) for handle in handles), default=0)
    columns = max(1, min(len(handles), int(_HEAD_LETTERS * figure.get_figwidth() / _COLUMN_WIDTH) // (letters + 6)))
    look: dict[str, Any] = {"frameon": False, "fontsize": "small", "title_fontsize": "medium"}
    legend = figure.legend(handles=handles, loc="outside upper center", ncols=columns, title=title, **look)
    legend.get_title().set_multialignment("center")


def wrap_label(label: str) -> str:
    """A label in lines that fit beside a panel."""
    return "\n".join(textwrap.wrap(label, _LABEL_LETTERS, break_long_words=False))
