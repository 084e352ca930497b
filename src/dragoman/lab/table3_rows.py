"""The rows of the paper's Table 3: what it measured, and the same change made here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.lab.small_paper import Shape

BASE = "base"


@dataclass(frozen=True)
class Row:
    """A variation, what the paper measured on newstest2013, and the settings for it."""

    group: str
    name: str  # as in the paper, at the paper's size
    perplexity: float  # per wordpiece
    bleu: float
    settings: Mapping[str, Any]


def table3_rows(shape: Shape) -> tuple[Row, ...]:
    """Give every row, each change in proportion to this base model."""
    return (
        Row("", BASE, 4.92, 25.8, {}),
        *_heads(shape),
        *_keys(shape),
        *_sizes(shape),
        Row("(D)", "P_drop=0.0", 5.77, 24.6, {"model.dropout": 0.0}),
        Row("(D)", "P_drop=0.2", 4.95, 25.5, {"model.dropout": 0.2}),
        Row("(D)", "ε_ls=0.0", 4.67, 25.3, {"training.label_smoothing": 0.0}),
        Row("(D)", "ε_ls=0.2", 5.47, 25.7, {"training.label_smoothing": 0.2}),
        Row("(E)", "learned positions", 4.92, 25.7, {"model.positions": "learned"}),
        Row("big", "big", 4.33, 26.4, _big(shape)),
    )


def _heads(shape: Shape) -> tuple[Row, ...]:
    """Rows (A): more or fewer heads at the same cost, relative to the base's number."""

    def row(name: str, perplexity: float, bleu: float, times: float) -> Row:
        heads = max(1, round(times * shape.num_heads))
        return Row("(A)", name, perplexity, bleu, {"model.num_heads": heads})

    one = {"model.num_heads": 1}
    return (
        Row("(A)", "h=1", 5.29, 24.9, one),
        row("h=4", 5.00, 25.5, 1 / 2),
        row("h=16", 4.91, 25.8, 2),
        row("h=32", 5.01, 25.4, 4),
    )


def _keys(shape: Shape) -> tuple[Row, ...]:
    """Rows (B): narrower keys."""
    width = shape.d_model // shape.num_heads
    return (
        Row("(B)", "d_k=16", 5.16, 25.1, {"model.d_head": max(1, width // 4)}),
        Row("(B)", "d_k=32", 5.01, 25.4, {"model.d_head": max(1, width // 2)}),
    )


def _sizes(shape: Shape) -> tuple[Row, ...]:
    """Rows (C): bigger and smaller models."""

    def layers(name: str, perplexity: float, bleu: float, times: float) -> Row:
        count = max(1, round(times * shape.num_layers))
        settings = {
            "model.num_encoder_layers": count,
            "model.num_decoder_layers": count,
        }
        return Row("(C)", name, perplexity, bleu, settings)

    wide, inner = shape.d_model, shape.d_ff
    return (
        layers("N=2", 6.11, 23.7, 1 / 3),
        layers("N=4", 5.19, 25.3, 2 / 3),
        layers("N=8", 4.88, 25.5, 4 / 3),
        Row("(C)", "d_model=256", 5.75, 24.5, {"model.d_model": wide // 2}),
        Row("(C)", "d_model=1024", 4.66, 26.0, {"model.d_model": wide * 2}),
        Row("(C)", "d_ff=1024", 5.12, 25.4, {"model.d_ff": inner // 2}),
        Row("(C)", "d_ff=4096", 4.75, 26.2, {"model.d_ff": inner * 2}),
    )


def _big(shape: Shape) -> dict[str, Any]:
    """Give the last row: twice as wide, more dropout (and in the paper more steps)."""
    return {
        "model.d_model": 2 * shape.d_model,
        "model.d_ff": 2 * shape.d_ff,
        "model.num_heads": 2 * shape.num_heads,
        "model.dropout": 0.3,
    }
