"""What the paper sets against each other: recurrent networks and the Transformer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.config import Config, load_preset

RNN, GRU, LSTM = "RNN", "GRU", "LSTM"
LOOKING_BACK = "LSTM + attention"
TRANSFORMER = "Transformer"

PRESET: Mapping[str, str] = {
    RNN: "rnn",
    GRU: "gru",
    LSTM: "lstm",
    LOOKING_BACK: "lstm-attention",
    TRANSFORMER: "fast",
}


@dataclass(frozen=True)
class Contender:
    """A network of some size: the preset of its kind, and where it differs."""

    preset: str
    settings: Mapping[str, Any]

    def config(self) -> Config:
        """Give all of its settings."""
        return load_preset(self.preset).with_settings(self.settings)


def contender(
    name: str,
    d_model: int,
    num_layers: int,
    *,
    dropout: float = 0.0,
    one_way: bool = False,
) -> Contender:
    """Give a contender of this width and depth; all share optimizer and schedule."""
    settings: dict[str, Any] = {
        "model.d_model": d_model,
        "model.num_encoder_layers": num_layers,
        "model.num_decoder_layers": num_layers,
        "model.dropout": dropout,
        "training.save_every": 250,
        "training.average_last": 1,
    }
    if name == TRANSFORMER:
        settings["model.d_ff"] = 2 * d_model
        settings["model.positions"] = "sinusoidal"  # the paper's
    else:
        settings["model.bidirectional"] = not one_way
    return Contender(PRESET[name], settings)
