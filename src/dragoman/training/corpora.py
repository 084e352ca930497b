"""The corpora of a run, as a person names them."""

from collections.abc import Sequence
from pathlib import Path

from dragoman.arguments import check_is, check_number, check_path
from dragoman.errors import ConfigError
from dragoman.text.corpus import Corpus

File = str | Path


def list_corpora(
    source: File | Sequence[File],
    target: File | Sequence[File | None] | None,
    weights: Sequence[float | None] | None,
) -> tuple[Corpus, ...]:
    """Pair source files with target files and weights, one of each or as many."""
    sources = _listed("source", source)
    targets = [None] * len(sources) if target is None else _listed("target", target)
    shares: list[float | None] = [None] * len(sources)
    if weights is not None:
        check_is("weights", weights, Sequence, "a list of numbers")
        shares = list(weights)
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
        if one is not None
    )


def _listed(name: str, files: File | Sequence[File | None] | None) -> list[File | None]:
    if isinstance(files, File):
        return [files]
    check_is(name, files, Sequence, "a path or a list of paths")
    listed = list(files or ())
    for file in listed:
        if file is not None or name == "source":
            check_path(name, file)
    return listed


def _refuse_unfit(shares: Sequence[float | None]) -> None:
    given = [share for share in shares if share is not None]
    if given and len(given) < len(shares):
        raise ConfigError(
            f"{len(given)} of {len(shares)} corpora have a weight: give each of them "
            "one, or none, and then every pair counts the same"
        )
    for share in given:
        check_number("a corpus's weight", share, above_0=False)
        if not 0 < share < float("inf"):
            raise ConfigError(
                f"a corpus cannot have the weight {share:g}: give a number above 0"
            )
