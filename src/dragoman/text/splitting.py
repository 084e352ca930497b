"""Splits a corpus so that nothing held out was seen, or nearly seen, in training."""

import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from dragoman.errors import CorpusError

# A group of related pairs above both bounds stays in training: holding out one of its
# sentences would cost the training set all the others.
LARGEST_GROUP = 100
LARGEST_GROUP_SHARE = 0.001


@dataclass(frozen=True)
class Split:
    """Where each pair went, as indices; each side is in random order."""

    train: tuple[int, ...]
    valid: tuple[int, ...]
    test: tuple[int, ...]
    dropped: int  # pairs related to a held-out one, and so fit for no side


def split_without_leaks(
    pairs: Sequence[tuple[str, str]], *, valid: int, test: int, seed: int
) -> Split:
    """Hold out pairs that share no sentence, however it is punctuated, with the rest.

    Pairs that share a source or a target, directly or through other pairs, form a
    group. Random pairs are held out, one of each group; their group goes with them.
    """
    groups = _groups(pairs)
    sizes = Counter(groups)
    largest = max(LARGEST_GROUP, int(len(pairs) * LARGEST_GROUP_SHARE))
    eligible = sum(size <= largest for size in sizes.values())
    if valid + test > min(eligible, len(sizes) - 1):
        raise CorpusError(
            f"cannot hold out {valid:,} validation and {test:,} test pairs: the "
            f"{len(pairs):,} pairs form only {len(sizes):,} groups that share no "
            "sentence, and training needs one; hold out fewer"
        )
    order = _random_order(pairs, seed)
    held_out: list[int] = []
    taken: set[int] = set()
    for index in order:
        if len(held_out) == valid + test:
            break
        if groups[index] not in taken and sizes[groups[index]] <= largest:
            taken.add(groups[index])
            held_out.append(index)
    train = tuple(index for index in order if groups[index] not in taken)
    return Split(
        train=train,
        valid=tuple(held_out[:valid]),
        test=tuple(held_out[valid:]),
        dropped=len(pairs) - len(train) - len(held_out),
    )


def comparable(text: str) -> str:
    """Reduce a sentence to what tells it apart: no case, punctuation or blanks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    bare = unicodedata.normalize("NFKC", folded).translate(_TELLING)
    return bare or text  # "?!" has nothing else, and "..." is another sentence


class _TellingCharacters(dict[int, int | None]):
    """A table for `str.translate` that learns each character when it first comes."""

    def __missing__(self, code: int) -> int | None:
        category = unicodedata.category(chr(code))
        silent = category[0] in "PZ" or category in ("Cc", "Cf")
        self[code] = None if silent else code
        return self[code]


_TELLING = _TellingCharacters()


def _groups(pairs: Sequence[tuple[str, str]]) -> list[int]:
    """Name the group of each pair by its first member: union-find over sentences."""
    parent = list(range(len(pairs)))
    first_with: dict[Hashable, int] = {}
    for index, pair in enumerate(pairs):
        for side, sentence in enumerate(pair):
            other = first_with.setdefault((side, comparable(sentence)), index)
            one, two = sorted((_root(parent, index), _root(parent, other)))
            parent[two] = one
    return [_root(parent, index) for index in range(len(pairs))]


def _root(parent: list[int], index: int) -> int:
    while parent[index] != index:
        parent[index] = parent[parent[index]]
        index = parent[index]
    return index


def _random_order(pairs: Sequence[tuple[str, str]], seed: int) -> list[int]:
    """Shuffle by a hash of each pair: the same on every machine and Python."""
    key = str(seed).encode()

    def draw(index: int) -> bytes:
        text = "\t".join(pairs[index]).encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=16, key=key).digest()

    return sorted(range(len(pairs)), key=draw)
