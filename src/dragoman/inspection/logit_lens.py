"""What a model would say if it ended after each sublayer."""

from dataclasses import dataclass

from torch import Tensor

from dragoman.inspection.capture import project
from dragoman.inspection.observation import Observation
from dragoman.inspection.predictions import readable_piece
from dragoman.inspection.stacks import stacks
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


def logit_lens(seen: Observation) -> tuple[LensRow, ...]:
    """Read the residual stream after each sublayer as if it were the last.

    It is that of the stack which predicts: the decoder's, where there is one.
    """
    predicting = list(stacks(seen.model))[-1:]
    return tuple(
        LensRow(sublayer.layer, sublayer.name, _guesses(seen, sublayer.after))
        for stack in predicting
        for sublayer in seen.sublayers(stack)
    )


def _guesses(seen: Observation, stream: Tensor) -> tuple[Guess, ...]:
    log_probabilities = project(seen.model, stream).log_softmax(dim=-1)
    best = log_probabilities.max(dim=1)
    guesses = []
    for place, token in enumerate(seen.target_out.ids):
        row = log_probabilities[place]
        likeliest = int(best.indices[place])
        guesses.append(
            Guess(
                token=likeliest,
                piece=readable_piece(seen.tokenizer, likeliest),
                probability=float(best.values[place].exp()),
                final_probability=float(row[token].exp()),
                final_rank=int((row > row[token]).sum()) + 1,
            )
        )
    return tuple(guesses)
