import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.sentence_ends import split_sentences

SENTENCES = [
    "Where is the station?",
    "I am hungry.",
    "It costs 3.50 today!",
    "See https://example.org/a.b for more.",
    "Mr. Smith met Dr. Who at 5 p.m. in Boston.",
    "Go to {place. x}!",
    "He lives at No. 5.",
    "“Really?”",
    "J. S. Bach wrote it…",
]


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=10))
def test_joined_sentences_come_apart_again(sentences: list[str]) -> None:
    found = split_sentences(" ".join(sentences), "en")
    assert [sentence for sentence, _ in found] == sentences


@given(st.text(max_size=80), st.sampled_from(["en", "de", "xx"]))
def test_no_character_is_lost(text: str, language: str) -> None:
    assert "".join(a + b for a, b in split_sentences(text, language)) == text


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("Am 5. Mai kam er. Dann ging er.", "de", 2),
        ("In 1990. Then he left.", "en", 2),
        ("1. First do this. Then that.", "en", 2),
        ("¿Qué? ¡No! Sí.", "es", 3),
        ("今日は。元気？はい。", "ja", 3),
        ("No. I don't.", "en", 2),
        ("He said “Go.” and left.", "en", 1),
        ("Version 1.2. is out", "en", 1),
        ("<b>Hi.</b> You.", "en", 1),
    ],
)
def test_the_language_decides(text: str, language: str, count: int) -> None:
    assert len(split_sentences(text, language)) == count
