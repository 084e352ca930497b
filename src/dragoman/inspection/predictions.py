"""What the model would have said at each step, and how sure it was."""

from dataclasses import dataclass

from torch import Tensor

from dragoman.inspection.tokens import BEGIN_SIGN, END_SIGN
from dragoman.special_tokens import BEGIN, END
from dragoman.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Alternative:
    """One token that could come next."""

    token: int
    piece: str
    probability: float
    log_probability: float


@dataclass(frozen=True)
class Prediction:
    """One row of the decoder: it reads y(t−1) and predicts y(t)."""

    step: int  # t, from 1
    reads: str
    predicts: str
    token: int
    probability: float
    log_probability: float
    rank: int  # of the token that came, among all, from 1
    alternatives: tuple[Alternative, ...]  # the likeliest, best first


def readable_piece(tokenizer: Tokenizer, token: int) -> str:
    """Name one token, the beginning and the end by their signs."""
    match token:
        case _ if token == BEGIN:
            return BEGIN_SIGN
        case _ if token == END:
            return END_SIGN
        case _:
            return tokenizer.pieces([token])[0]


def predictions(
    log_probabilities: Tensor,  # (target_length, vocabulary)
    target_in: tuple[int, ...],
    target_out: tuple[int, ...],
    tokenizer: Tokenizer,
    count: int,
) -> tuple[Prediction, ...]:
    """List, for each step, the likeliest tokens and the one that came."""
    top = log_probabilities.topk(min(count, log_probabilities.shape[1]), dim=1)
    made = []
    for place, (read, token) in enumerate(zip(target_in, target_out, strict=True)):
        row = log_probabilities[place]
        alternatives = tuple(
            Alternative(i, readable_piece(tokenizer, i), float(p.exp()), float(p))
            for i, p in zip(top.indices[place].tolist(), top.values[place], strict=True)
        )
        made.append(
            Prediction(
                step=place + 1,
                reads=readable_piece(tokenizer, read),
                predicts=readable_piece(tokenizer, token),
                token=token,
                probability=float(row[token].exp()),
                log_probability=float(row[token]),
                rank=int((row > row[token]).sum()) + 1,
                alternatives=alternatives,
            )
        )
    return tuple(made)
