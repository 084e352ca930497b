import random
from collections.abc import Callable

import pytest

WORDS = ("the", "a", "small", "old", "dog", "house", "tree", "sees", "has", "likes")


@pytest.fixture(scope="session")
def references() -> list[str]:
    """Sixty made-up sentences of one to twelve words."""
    rng = random.Random(11)
    return [" ".join(rng.choices(WORDS, k=1 + n % 12)) + " ." for n in range(60)]


@pytest.fixture(scope="session")
def spoil() -> Callable[[list[str], float, int], list[str]]:
    """Replace a share of the words, as a poorer system would."""

    def spoil(sentences: list[str], share: float, seed: int) -> list[str]:
        rng = random.Random(seed)
        return [
            " ".join(
                rng.choice(WORDS) if rng.random() < share else word
                for word in sentence.split()
            )
            for sentence in sentences
        ]

    return spoil
