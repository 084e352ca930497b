"""How surprised a language model is by a text: perplexity, and bits per character."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows)

from dragoman.model.decoder_only import DecoderOnly
from dragoman.special_tokens import BEGIN, PAD

ROWS_AT_ONCE = 16

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Perplexity:
    """What a text cost a model; the end of each line counts as a character."""

    nats: float  # the sum over all tokens of −log p
    tokens: int
    characters: int

    @property
    def per_token(self) -> float:
        """How many tokens the model hesitates between, on average."""
        return math.exp(min(self.nats / self.tokens, 50.0))

    @property
    def bits_per_character(self) -> float:
        """What coding a character by the model's predictions takes."""
        return self.nats / math.log(2) / self.characters

    def to_dict(self) -> dict[str, float]:
        """Give plain data for JSON."""
        return {
            "perplexity": self.per_token,
            "bits_per_character": self.bits_per_character,
            "tokens": self.tokens,
            "characters": self.characters,
        }

    def table(self) -> str:
        """Lay out as aligned rows."""
        return (
            f"perplexity per token  {self.per_token:.2f}\n"
            f"bits per character    {self.bits_per_character:.3f}\n"
            f"tokens                {self.tokens:,}\n"
            f"characters            {self.characters:,}"
        )


@dataclass(frozen=True)
class Stretch:
    """Tokens that are read together; the last `counted` of them are scored."""

    tokens: list[int]
    counted: int


def stretches(stream: Sequence[int], window: int) -> Iterator[Stretch]:
    """Cut a text so that each token is scored once, after half a window or more.

    Only those of the first window have to do with less.
    """
    first = min(window, len(stream))
    yield Stretch(list(stream[:first]), first)
    half = max(1, window // 2)
    for end in range(first, len(stream), half):
        after = min(end + half, len(stream))
        yield Stretch(list(stream[max(0, after - window) : after]), after - end)


@torch.inference_mode()
def text_nats(
    model: DecoderOnly, stream: Sequence[int], window: int, on_progress: OnProgress
) -> float:
    """Add up −log p over the tokens of a text."""
    cut, total = list(stretches(stream, window)), 0.0
    for start in range(0, len(cut), ROWS_AT_ONCE):
        on_progress(start, len(cut))
        total += _nats(model, cut[start : start + ROWS_AT_ONCE])
    on_progress(len(cut), len(cut))
    return total


def _nats(model: DecoderOnly, cut: Sequence[Stretch]) -> float:
    device = model.output_weight.device
    length = max(len(one.tokens) for one in cut)
    rows = [[*one.tokens, *[PAD] * (length - len(one.tokens))] for one in cut]
    target_out = torch.tensor(rows, device=device)
    begin = torch.full_like(target_out[:, :1], BEGIN)
    target_in = torch.cat([begin, target_out[:, :-1]], dim=1)
    logits = model.forward(target_out, target_in)
    nats = F.cross_entropy(logits.transpose(1, 2), target_out, reduction="none")
    return sum(
        float(row[len(one.tokens) - one.counted : len(one.tokens)].double().sum())
        for row, one in zip(nats, cut, strict=True)
    )
