"""Joins sentences of a corpus with those after them, so that long input is learned too.

A model that has met single sentences only loses most of a line that holds several, and
joining also teaches more from little text (Nguyen et al. 2021). Whether a pair is
joined, and with how many, is drawn from the pair itself and the seed.
"""

from collections.abc import Sequence
from hashlib import blake2b

_ENDS = ".!?…。！？\"'”’»)」』؟।"
_WITHOUT_BLANK = "。！？」』"
# How many sentences are joined, and how often: mostly two.
_COUNTS = ((0.6, 2), (0.85, 3), (1.0, 4))


def join_sentences(
    sources: Sequence[str], targets: Sequence[str], *, share: float, seed: int
) -> list[tuple[str, str]]:
    """Give each pair, a share of them followed by the one to three pairs after it."""
    pairs = list(zip(sources, targets, strict=True))
    return [
        _joined(pairs[place : place + _drawn(pair, share, seed)])
        for place, pair in enumerate(pairs)
    ]


def join_texts(first: str, second: str) -> str:
    """Put one sentence after another, with a blank where the script has them."""
    return first + ("" if first.endswith(tuple(_WITHOUT_BLANK)) else " ") + second


def _drawn(pair: tuple[str, str], share: float, seed: int) -> int:
    if share <= 0:
        return 1
    content = "\t".join(pair).encode("utf-8", "surrogatepass")
    drawn = blake2b(content, digest_size=16, key=f"join {seed}".encode()).digest()
    whether, how_many = (int.from_bytes(drawn[i : i + 8]) / 2**64 for i in (0, 8))
    if whether >= share:
        return 1
    return next(count for most, count in _COUNTS if how_many < most)


def _joined(pairs: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Join pairs as long as all of them are whole sentences on both sides."""
    source, target = pairs[0]
    for next_source, next_target in pairs[1:]:
        if source[-1] not in _ENDS or target[-1] not in _ENDS:
            break
        source = join_texts(source, next_source)
        target = join_texts(target, next_target)
    return source, target
