from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.joining import join_sentences, join_texts

SOURCES = [f"This is sentence {n}." for n in range(1000)]
TARGETS = [f"Esta es la frase {n}." for n in range(1000)]


def test_a_share_of_the_pairs_goes_on_with_those_after_it() -> None:
    joined = join_sentences(SOURCES, TARGETS, share=0.2, seed=1)
    longer = [place for place, pair in enumerate(joined) if pair[0] != SOURCES[place]]
    assert 0.15 < len(longer) / len(SOURCES) < 0.25
    for place in longer[:-1]:
        source, target = joined[place]
        count = source.count(".")
        assert 2 <= count <= 4
        assert source == " ".join(SOURCES[place : place + count])
        assert target == " ".join(TARGETS[place : place + count])


@given(st.integers(0, 99))
def test_the_same_pairs_are_joined_each_time(seed: int) -> None:
    first = join_sentences(SOURCES[:50], TARGETS[:50], share=0.3, seed=seed)
    assert first == join_sentences(SOURCES[:50], TARGETS[:50], share=0.3, seed=seed)


def test_no_share_and_no_sentence_join_nothing() -> None:
    pairs = list(zip(SOURCES, TARGETS, strict=True))
    assert join_sentences(SOURCES, TARGETS, share=0.0, seed=1) == pairs
    titles = ["a title"] * 50
    assert join_sentences(titles, titles, share=1.0, seed=1) == [("a title",) * 2] * 50


def test_a_script_without_blanks_gets_none() -> None:
    assert join_texts("はい。", "元気？") == "はい。元気？"
    assert join_texts("Yes.", "No.") == "Yes. No."
