"""Decides which sentence pairs are fit to learn from, and says why others are not."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice

import numpy as np

from dragoman.config import DataConfig
from dragoman.text.normalization import normalize
from dragoman.text.pairs import Pair, RawPair, Reason, Reject, reject
from dragoman.text.seen import Seen

__all__ = ["Pair", "Reason", "Reject", "clean"]

_CHUNK = 8192


def clean(
    pairs: Iterable[RawPair | Reject], settings: DataConfig, seen: Seen | None = None
) -> Iterator[Pair | Reject]:
    """Keep or reject each pair, in order; `seen` carries duplicates across corpora."""
    memory = Seen() if seen is None else seen
    waiting = iter(pairs)
    while chunk := list(islice(waiting, _CHUNK)):
        judged = [
            pair if isinstance(pair, Reject) else _judge(pair, settings)
            for pair in chunk
        ]
        if settings.deduplicate:
            _reject_duplicates(judged, memory)
        yield from judged


def _judge(pair: RawPair, settings: DataConfig) -> Pair | Reject:
    try:
        source = pair.source.decode("utf-8")
        target = pair.target.decode("utf-8")
    except UnicodeDecodeError:
        return reject(pair.line, Reason.INVALID_UTF8, pair.source, pair.target)
    source = normalize(source, settings.normalization)
    target = normalize(target, settings.normalization)
    reason = _fault(source, target, settings)
    if reason is not None:
        return reject(pair.line, reason, pair.source, pair.target)
    return Pair(pair.line, source, target)


def _fault(source: str, target: str, settings: DataConfig) -> Reason | None:
    if "\0" in source or "\0" in target:
        return Reason.NUL
    if not source or not target or source.isspace() or target.isspace():
        return Reason.EMPTY
    shorter, longer = sorted((len(source), len(target)))
    if longer > settings.max_characters:
        return Reason.TOO_LONG
    if longer > settings.max_ratio * shorter:
        return Reason.RATIO
    return None


def _reject_duplicates(judged: list[Pair | Reject], seen: Seen) -> None:
    kept = [(at, pair) for at, pair in enumerate(judged) if isinstance(pair, Pair)]
    digests = b"".join(
        blake2b(f"{pair.source}\n{pair.target}".encode(), digest_size=8).digest()
        for _, pair in kept
    )
    # A fixed byte order, so that every machine remembers the same numbers.
    new = seen.add_many(np.frombuffer(digests, dtype="<u8").astype(np.uint64))
    for (at, pair), is_new in zip(kept, new.tolist(), strict=True):
        if not is_new:
            judged[at] = reject(pair.line, Reason.DUPLICATE, pair.source, pair.target)
