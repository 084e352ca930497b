"""The corpora of a run, as a person names them."""

from collections.abc import Sequence
from pathlib import Path

from dragoman.errors import ConfigError
from dragoman.text.corpus import Corpus

File = str | Path


def list_corpora(
    source: File | Sequence[File],
    target: File | Sequence[File | None] | None,
    weights: Sequence[float | None] | None,
) -> tuple[Corpus, ...]:
    """Pair source files with target files and weights, one of each or as many."""
    sources = [source] if isinstance(source, File) else list(source)
    targets: list[File | None] = [None] * len(sources)
    if target is not None:
        targets = [target] if isinstance(target, File) else list(target)
    shares = [None] * len(sources) if weights is None else list(weights)
    if not len(sources) == len(targets) == len(shares):
        raise ConfigError(
            f"{len(sources)} source files, {len(targets)} target files and "
            f"{len(shares)} weights do not make corpora: give as many of each "
            "(None as target of a .tsv or .jsonl file)"
        )
    _refuse_unfit(shares)
    return tuple(
        Corpus(Path(one), None if other is None else Path(other), share)
        for one, other, share in zip(sources, targets, shares, strict=True)
    )


def _refuse_unfit(shares: Sequence[float | None]) -> None:
    given = [share for share in shares if share is not None]
    if given and len(given) < len(shares):
        raise ConfigError(
            f"{len(given)} of {len(shares)} corpora have a weight: give each of them "
            "one, or none, and then every pair counts the same"
        )
    for share in given:
        if not 0 < share < float("inf"):
            raise ConfigError(
                f"a corpus cannot have the weight {share:g}: give a number above 0"
            )
