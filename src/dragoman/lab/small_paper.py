"""The paper's model and recipe at a size that trains on a small machine.

Widths are a quarter of the paper's base model and layers half as many; what the recipe
says of dropout, label smoothing, norms, Adam and the schedule stays. Only its highest
rate is set by hand: the formula was not made for so few updates.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shape:
    """The size of a model in the words of Table 3."""

    d_model: int
    d_ff: int
    num_heads: int
    num_layers: int

    def settings(self) -> dict[str, Any]:
        """Give the settings that make this model."""
        return {
            "model.d_model": self.d_model,
            "model.d_ff": self.d_ff,
            "model.num_heads": self.num_heads,
            "model.num_encoder_layers": self.num_layers,
            "model.num_decoder_layers": self.num_layers,
        }


SMALL = Shape(d_model=128, d_ff=512, num_heads=8, num_layers=3)
TOY = Shape(d_model=32, d_ff=64, num_heads=4, num_layers=2)  # for quick runs

PEAK, WARMUP = 0.003, 0.2  # the highest rate, and when it is reached


def recipe(shape: Shape, steps: int, batch_tokens: int) -> dict[str, Any]:
    """Give the settings, on top of the preset `base`, to train so many updates."""
    # What the paper's formula gives at its peak, turned round.
    factor = PEAK * (shape.d_model * max(1.0, WARMUP * steps)) ** 0.5
    return {
        **shape.settings(),
        "training.learning_rate": factor,
        "training.warmup_share": WARMUP,
        "training.batch_tokens": batch_tokens,
        "training.valid_every": max(1, steps // 5),
        "training.valid_sentences": 0,
        "training.save_every": max(1, steps // 5),
        "training.average_last": 1,  # the rate ends at zero, which averages by itself
        "data.placeholders": False,  # the paper knows none
        "data.join_share": 0.0,
    }
