"""What the decoder would say if it ended after each sublayer."""

from dataclasses import dataclass

from torch import Tensor

from dragoman.inspection.capture import project
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.predictions import readable_piece
from dragoman.inspection.stream import SublayerName


@dataclass(frozen=True)
class Guess:
    """The likeliest token at one place after one sublayer, and that which came."""

    token: int
    piece: str
    probability: float
    final_probability: float  # of the token that stands in the target
    final_rank: int  # its rank, from 1


@dataclass(frozen=True)
class LensRow:
    """The guesses of all places after one sublayer."""

    layer: int
    name: SublayerName
    guesses: tuple[Guess, ...]


def logit_lens(inspection: Inspection) -> tuple[LensRow, ...]:
    """Read the residual stream after each decoder sublayer as if it were the last."""
    return tuple(
        LensRow(sublayer.layer, sublayer.name, _guesses(inspection, sublayer.after))
        for sublayer in inspection.sublayers("decoder")
    )


def _guesses(inspection: Inspection, stream: Tensor) -> tuple[Guess, ...]:
    translator = inspection.translator
    log_probabilities = project(translator.saved.model, stream).log_softmax(dim=-1)
    best = log_probabilities.max(dim=1)
    guesses = []
    for place, token in enumerate(inspection.target_out.ids):
        row = log_probabilities[place]
        likeliest = int(best.indices[place])
        guesses.append(
            Guess(
                token=likeliest,
                piece=readable_piece(translator.tokenizers.target, likeliest),
                probability=float(best.values[place].exp()),
                final_probability=float(row[token].exp()),
                final_rank=int((row > row[token]).sum()) + 1,
            )
        )
    return tuple(guesses)
