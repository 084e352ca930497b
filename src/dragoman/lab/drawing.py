"""Panels as pictures: vectors for print and pages, pixels for everything else.

Lines differ in colour, marker and dashes at once, so that they can be told apart in
grey and by colour-blind eyes; the colours are those of Okabe and Ito.
"""

import importlib.util
import math
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from dragoman.errors import MissingExtraError
from dragoman.lab.findings import Bars, Curves, Heatmap, Panel

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
TWO_WAYS = "PuOr"  # both ends differ in lightness from the middle, and in hue
PANEL = (4.6, 3.8)  # inches
MANY_TIMES = 300  # from the lowest to the highest: beyond this, only powers of ten


def require_drawing() -> None:
    """Say what is missing before minutes are spent on what could not be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("the lab", "matplotlib", "inspection")


def draw(panels: Sequence[Panel], paths: Sequence[Path]) -> None:
    """Draw the panels side by side, two in a row, into each of the files."""
    require_drawing()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    # The same numbers give the same file, to the byte.
    with mpl.rc_context({"svg.hashsalt": "dragoman", "font.size": 9}):
        height = max(_height(panel) for panel in panels)
        figure = Figure(figsize=(PANEL[0] * columns, height * rows), dpi=150)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        grid = figure.subplots(rows, columns, squeeze=False).flatten()
        for axes, panel in zip(grid, panels, strict=False):
            _draw_panel(figure, axes, panel)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        for path in paths:
            date = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(path, metadata=date)


def _height(panel: Panel) -> float:
    bars = len(panel.labels) if isinstance(panel, Bars) else 0
    return max(PANEL[1], 1.0 + 0.22 * bars)


def _draw_panel(figure: Any, axes: Any, panel: Panel) -> None:  # noqa: ANN401
    axes.set_title(panel.title, fontsize=10)
    match panel:
        case Curves():
            _draw_curves(axes, panel)
        case Bars():
            _draw_bars(axes, panel)
        case Heatmap():
            _draw_heatmap(figure, axes, panel)


def _draw_curves(axes: Any, panel: Curves) -> None:  # noqa: ANN401
    looks = cycle(zip(COLOURS, MARKERS, DASHES, strict=True))
    for line in panel.lines:
        if line.expected:
            axes.plot(line.x, line.y, color="0.5", linewidth=1, label=line.label)
            continue
        colour, marker, dashes = next(looks)
        many = len(line.x) > 40
        axes.plot(
            line.x,
            line.y,
            color=colour,
            linestyle=dashes,
            marker=None if many else marker,
            markersize=4,
            linewidth=1.5,
            label=line.label,
        )
        if line.low is not None and line.high is not None:
            axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.15)
    if panel.log_x:
        axes.set_xscale("log")
        places = sorted({x for line in panel.lines for x in line.x})
        axes.set_xticks(places, [f"{place:g}" for place in places])
        axes.minorticks_off()
    if panel.log_y:
        axes.set_yscale("log")
        _number_plainly(axes.yaxis)
    _label(axes, panel.x_label, panel.y_label)
    # Below the panel, where it can hide no line.
    axes.legend(
        fontsize=8,
        frameon=False,
        ncols=2,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
    )


def _number_plainly(axis: Any) -> None:  # noqa: ANN401
    """Write 40 for 4 x 10¹ where a logarithmic axis spans little; name decades else."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    low, high = axis.get_view_interval()
    if high / low > MANY_TIMES:
        axis.set_minor_formatter(NullFormatter())
        return
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(
        FuncFormatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "25" else "")
    )


def _draw_bars(axes: Any, panel: Bars) -> None:  # noqa: ANN401
    places = range(len(panel.labels))
    means = [value.mean for value in panel.values]
    ranges = [
        [value.mean - value.low for value in panel.values],
        [value.high - value.mean for value in panel.values],
    ]
    axes.barh(
        places, means, xerr=ranges, color=COLOURS[0], alpha=0.85, capsize=3, height=0.6
    )
    axes.set_yticks(places, panel.labels)
    axes.invert_yaxis()
    if panel.log:
        axes.set_xscale("log")
    _label(axes, panel.x_label, "")


def _draw_heatmap(figure: Any, axes: Any, panel: Heatmap) -> None:  # noqa: ANN401
    # Zero is white, and both sides reach equally far.
    most = max(abs(value) for row in panel.values for value in row)
    image = axes.imshow(
        panel.values,
        cmap=TWO_WAYS,
        aspect="auto",
        origin="lower",
        vmin=-most,
        vmax=most,
    )
    figure.colorbar(image, ax=axes, shrink=0.9)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)


def _label(axes: Any, x_label: str, y_label: str) -> None:  # noqa: ANN401
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(visible=True, color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
