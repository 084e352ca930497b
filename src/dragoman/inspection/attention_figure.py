"""A picture of the attention between source and translation, head by head."""

import warnings
from pathlib import Path
from typing import Any

from torch import Tensor

from dragoman.errors import MissingExtraError
from dragoman.inspection.attention_maps import AttentionMaps

COLOURS = "Blues"  # white is nothing: reads in print, in grey, to colour-blind eyes


def draw_cross_attention(maps: AttentionMaps, path: Path) -> None:
    """Draw the mean over heads of the sharpest layer, large, beside every single head.

    The file's ending decides the format: .png, .svg or .pdf.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("drawing", "matplotlib", "inspection") from error

    layers, heads, rows, columns = maps.cross.shape
    cell = 0.42
    large = (max(4.0, cell * columns + 1.6), max(3.0, cell * rows + 1.4))
    small_width = 1.35 * heads
    height = max(large[1], 1.25 * layers + 0.8)
    figure = Figure(figsize=(large[0] + small_width + 0.6, height), dpi=150)
    figure.set_layout_engine("constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=[large[0], small_width])
    left, right = halves
    sharpest = sharpest_layer(maps.cross)
    _draw_large(left, maps, sharpest)
    _draw_heads(right, maps.cross)
    with warnings.catch_warnings():
        # A script that the font lacks is drawn as boxes; the rest is as good as ever.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        figure.savefig(path)


def sharpest_layer(cross: Tensor) -> int:
    """Find the layer whose mean attention is least spread out (of lowest entropy)."""
    mean = cross.mean(dim=1)  # (layer, query, key)
    entropy = -(mean * mean.clamp_min(1e-9).log()).sum(dim=-1).mean(dim=-1)
    return int(entropy.argmin())


def _draw_large(figure: Any, maps: AttentionMaps, layer: int) -> None:  # noqa: ANN401
    axes = figure.subplots()
    weights = maps.cross[layer].mean(dim=0).numpy()
    most = weights.max()
    axes.imshow(weights, cmap=COLOURS, vmin=0, vmax=most, aspect="auto")
    columns, rows = range(len(maps.source)), range(len(maps.target_out))
    # Dollars in a sentence are dollars, not mathematics.
    axes.set_xticks(columns, maps.source, rotation=45, ha="left", parse_math=False)
    axes.set_yticks(rows, maps.target_out, parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for row, line in enumerate(weights):
        for column, weight in enumerate(line):
            if weight >= 0.095:
                colour = "white" if weight > 0.6 * most else "black"
                axes.text(
                    column,
                    row,
                    f"{weight:.1f}".lstrip("0") if weight < 0.95 else "1",
                    ha="center",
                    va="center",
                    color=colour,
                    fontsize=7,
                )
    axes.set_xlabel(f"source (layer {layer + 1}, mean of all heads)")
    axes.set_ylabel("each predicted word attends to …")


def _draw_heads(figure: Any, cross: Tensor) -> None:  # noqa: ANN401
    layers, heads = cross.shape[:2]
    grid = figure.subplots(layers, heads, squeeze=False)
    for layer in range(layers):
        for head in range(heads):
            axes = grid[layer][head]
            axes.imshow(
                cross[layer, head].numpy(), cmap=COLOURS, vmin=0, vmax=1, aspect="auto"
            )
            axes.set_xticks([])
            axes.set_yticks([])
            if layer == 0:
                axes.set_title(f"head {head + 1}", fontsize=8)
            if head == 0:
                axes.set_ylabel(f"layer {layer + 1}", fontsize=8)
