"""What a vocabulary shortlist costs in quality, and what it saves in time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from dragoman.evaluation.metrics import score
from dragoman.evaluation.report import plainly
from dragoman.special_tokens import END
from dragoman.text.normalization import normalize
from dragoman.translator import Translator


@dataclass(frozen=True)
class ShortlistCost:
    """The same sentences translated with all tokens and with the shortlist."""

    sentences: int
    vocabulary: int
    mean_size: float  # tokens that a sentence may call for
    same: int  # translations that did not change
    bleu: tuple[float, float]  # with all tokens, with the shortlist
    seconds: tuple[float, float]

    def __str__(self) -> str:
        """Give the result as a few lines of text."""
        (all_tokens, short), (longer, shorter) = self.bleu, self.seconds
        return "\n".join(
            (
                f"{'sentences':<22}{self.sentences:,}, {self.same:,} of them "
                "translated as before",
                f"{'tokens scored':<22}{self.mean_size:,.0f} of {self.vocabulary:,} "
                "for a sentence",
                f"{'BLEU':<22}{short:.2f} instead of {all_tokens:.2f} "
                f"({short - all_tokens:+.2f})",
                f"{'time':<22}{shorter:.1f} s instead of {longer:.1f} s "
                f"({longer / shorter:.2f} times as fast)",
            )
        )


def shortlist_cost(
    translator: Translator, sources: Sequence[str], references: Sequence[str]
) -> ShortlistCost:
    """Translate the sentences both ways with PyTorch, and compare."""
    shortlist = translator.saved.shortlist
    assert shortlist is not None, "there is something to compare"
    encode, form = translator.tokenizers.source.encode, translator.config.data
    read = [encode(normalize(text, form.normalization)) for text in sources]
    tokens = [len(shortlist.tokens(torch.tensor([[*ids, END]]))) for ids in read]
    plain = plainly(translator.options)
    translator.translate(sources[:50], options=plain)  # warms up
    texts, seconds = [], []
    for options in (plain, replace(plain, shortlist=True)):
        start = time.perf_counter()
        texts.append(translator.translate(sources, options=options))
        seconds.append(time.perf_counter() - start)
    before, after = (score(found, references).bleu.score for found in texts)
    return ShortlistCost(
        sentences=len(sources),
        vocabulary=translator.tokenizers.target.vocabulary_size,
        mean_size=sum(tokens) / len(tokens),
        same=sum(a == b for a, b in zip(*texts, strict=True)),
        bleu=(before, after),
        seconds=(seconds[0], seconds[1]),
    )
