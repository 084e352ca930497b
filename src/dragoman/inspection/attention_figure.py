"""A picture of one kind of attention: one matrix large, and every head beside it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from dragoman.errors import InspectionError, MissingExtraError
from dragoman.inspection.attention import Kind

COLOURS = "Blues"  # white is nothing: reads in print, in grey, to colour-blind eyes
ENDINGS = (".png", ".svg", ".pdf")
_LARGEST_CELL = 0.42  # inches
_WIDEST = 22.0
_LONGEST_NAME = 20

_NAMES: dict[Kind, str] = {
    "encoder": "words attend to words",
    "decoder": "each predicted word attends to what was read",
    "cross": "each predicted word attends to the source",
}


@dataclass(frozen=True)
class AttentionPicture:
    """What to draw: all weights of a kind, what names them, and which to draw large."""

    kind: Kind
    weights: Tensor  # (layer, head, row, column)
    rows: Sequence[str]
    columns: Sequence[str]
    layer: int
    head: int | None  # None: the mean of the layer's heads

    @property
    def large(self) -> Tensor:
        """The matrix (row, column) that is drawn large."""
        weights = self.weights[self.layer]
        return weights.mean(dim=0) if self.head is None else weights[self.head]


def draw_attention(picture: AttentionPicture, path: Path) -> None:
    """Draw one matrix large beside every single head; the file's ending decides how."""
    if path.suffix not in ENDINGS:
        raise InspectionError(
            f"a picture cannot be written to {path}: its name must end in "
            ".png, .svg or .pdf"
        )
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("drawing", "matplotlib", "inspection") from error

    layers, heads, rows, columns = picture.weights.shape
    cell = min(_LARGEST_CELL, _WIDEST / max(rows, columns))
    large = (max(4.0, cell * columns + 1.6), max(3.0, cell * rows + 1.4))
    small_width = 1.35 * heads
    height = max(large[1], 1.25 * layers + 0.8)
    figure = Figure(figsize=(large[0] + small_width + 0.6, height), dpi=150)
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
    halves: Any = figure.subfigures(1, 2, width_ratios=[large[0], small_width])
    left, right = halves
    _draw_large(left, picture, cell)
    _draw_heads(right, picture)
    with warnings.catch_warnings():
        # A script that the font lacks is drawn as boxes; the rest is as good as ever.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        figure.savefig(path)


def sharpest_layer(weights: Tensor) -> int:
    """Find the layer whose mean attention is least spread out (of lowest entropy)."""
    mean = weights.mean(dim=1)  # (layer, query, key)
    entropy = -(mean * mean.clamp_min(1e-9).log()).sum(dim=-1).mean(dim=-1)
    return int(entropy.argmin())


def _draw_large(figure: Any, picture: AttentionPicture, cell: float) -> None:  # noqa: ANN401
    axes = figure.subplots()
    weights = picture.large.numpy()
    axes.imshow(weights, cmap=COLOURS, vmin=0, vmax=weights.max(), aspect="auto")
    columns, rows = range(len(picture.columns)), range(len(picture.rows))
    size = min(10.0, max(3.0, 60 * cell))  # points
    # Dollars in a sentence are dollars, not mathematics.
    axes.set_xticks(
        columns,
        [_short(name) for name in picture.columns],
        rotation=45,
        ha="left",
        rotation_mode="anchor",
        parse_math=False,
        fontsize=size,
    )
    names = [_short(name) for name in picture.rows]
    axes.set_yticks(rows, names, parse_math=False, fontsize=size)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_color("0.8")
    if cell > 0.3:
        _write_weights(axes, weights)
    which = "mean of all heads" if picture.head is None else f"head {picture.head + 1}"
    axes.set_xlabel(f"{_NAMES[picture.kind]} (layer {picture.layer + 1}, {which})")


def _short(name: str) -> str:
    """Cut what would leave the matrix no room: a bad model may never use a blank."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _write_weights(axes: Any, weights: Any) -> None:  # noqa: ANN401
    for row, line in enumerate(weights):
        for column, weight in enumerate(line):
            if weight >= 0.095:
                axes.text(
                    column,
                    row,
                    f"{weight:.1f}".lstrip("0") if weight < 0.95 else "1",
                    ha="center",
                    va="center",
                    color="white" if weight > 0.6 * weights.max() else "black",
                    fontsize=7,
                )


def _draw_heads(figure: Any, picture: AttentionPicture) -> None:  # noqa: ANN401
    layers, heads = picture.weights.shape[:2]
    grid = figure.subplots(layers, heads, squeeze=False)
    for layer in range(layers):
        for head in range(heads):
            axes = grid[layer][head]
            weights = picture.weights[layer, head].numpy()
            axes.imshow(weights, cmap=COLOURS, vmin=0, vmax=1, aspect="auto")
            axes.set_xticks([])
            axes.set_yticks([])
            chosen = layer == picture.layer and picture.head in (None, head)
            for side in axes.spines.values():
                side.set_color("black" if chosen else "0.75")
                side.set_linewidth(1.4 if chosen else 0.8)
            if layer == 0:
                axes.set_title(f"head {head + 1}", fontsize=8)
            if head == 0:
                axes.set_ylabel(f"layer {layer + 1}", fontsize=8)
