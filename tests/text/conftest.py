from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import settings

from dragoman.config import TokenizerConfig
from dragoman.text.tokenizer import Tokenizer, learn_tokenizer

# A busy machine may take its time.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

SENTENCES = (
    "Let's go!",
    "Where is the library?",
    "The library is over there, next to the theatre.",
    "I would like two coffees and a glass of water.",
    "She has been learning to play the violin for seven years.",
    "Gehen wir!",
    "Wo ist die Bibliothek?",
    "Die Bibliothek ist dort drüben, neben dem Theater.",
    "Ich hätte gern zwei Kaffee und ein Glas Wasser.",
    "Sie lernt seit sieben Jahren, Geige zu spielen.",
    "¿Dónde está la biblioteca?",
    "Kaffee und Wasser, Wasser und Kaffee.",
    "The water, the glass, the coffee, the theatre.",
)

Learn = Callable[[str], Tokenizer]


@pytest.fixture(scope="session")
def sentences() -> tuple[str, ...]:
    return SENTENCES


@pytest.fixture(scope="session")
def learn() -> Learn:
    @cache
    def learned(kind: str) -> Tokenizer:
        settings = TokenizerConfig(kind, 0, shared_vocabulary=True, sampling=0.0)
        return learn_tokenizer(settings, SENTENCES, 700, seed=1)

    return learned
