import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import CorpusError
from dragoman.text import splitting
from dragoman.text.splitting import Split, comparable, split_without_leaks

Pairs = list[tuple[str, str]]

# Few words, so that sentences often meet again in other case and punctuation.
sentences = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "¡", "  "]),
    st.sampled_from([f"{a} {b}" for a in "aAbBcC" for b in "xyzXYZÉé"]),
    st.sampled_from(["", ".", " !", "?!", "…"]),
)
corpora = st.lists(st.tuples(sentences, sentences), max_size=60)
distinct = [(f"source {number}", f"target {number}") for number in range(200)]


def texts(pairs: Pairs, indices: tuple[int, ...], side: int) -> set[str]:
    return {comparable(pairs[index][side]) for index in indices}


def split_if_possible(pairs: Pairs, valid: int, test: int, seed: int) -> Split | None:
    try:
        return split_without_leaks(pairs, valid=valid, test=test, seed=seed)
    except CorpusError:
        return None


@given(corpora, st.integers(0, 6), st.integers(0, 6), st.integers(0, 9))
def test_no_side_shares_a_sentence_with_another(
    pairs: Pairs, valid: int, test: int, seed: int
) -> None:
    split = split_if_possible(pairs, valid, test, seed)
    if split is None:
        return
    assert (len(split.valid), len(split.test)) == (valid, test)
    for side in (0, 1):
        train = texts(pairs, split.train, side)
        held_out = texts(pairs, split.valid + split.test, side)
        assert not train & held_out
        assert len(held_out) == valid + test  # none twice, in either set or across


@given(corpora, st.integers(0, 3), st.integers(0, 3), st.integers(0, 9))
def test_every_pair_is_on_one_side_or_counted_as_dropped(
    pairs: Pairs, valid: int, test: int, seed: int
) -> None:
    split = split_if_possible(pairs, valid, test, seed)
    if split is None:
        return
    placed = split.train + split.valid + split.test
    assert len(set(placed)) == len(placed) == len(pairs) - split.dropped
    assert split.train


@given(corpora, st.integers(0, 9))
def test_what_is_dropped_is_related_to_something_held_out(
    pairs: Pairs, seed: int
) -> None:
    split = split_if_possible(pairs, 1, 1, seed)
    if split is None:
        return
    reached = set(split.valid + split.test)
    while True:
        sources = texts(pairs, tuple(reached), 0)
        targets = texts(pairs, tuple(reached), 1)
        more = {
            index
            for index, (source, target) in enumerate(pairs)
            if comparable(source) in sources or comparable(target) in targets
        }
        if more == reached:
            break
        reached = more
    assert set(split.train) == set(range(len(pairs))) - reached


def test_a_seed_decides_the_split_and_the_order_of_the_corpus_does_not() -> None:
    def held_out(pairs: Pairs, seed: int) -> list[tuple[str, str]]:
        split = split_without_leaks(pairs, valid=10, test=10, seed=seed)
        return [pairs[index] for index in split.valid + split.test]

    assert held_out(distinct, 1) == held_out(distinct, 1)
    assert held_out(distinct, 1) == held_out(distinct[::-1], 1)
    assert held_out(distinct, 1) != held_out(distinct, 2)


def test_the_test_set_is_a_random_sample_in_random_order() -> None:
    split = split_without_leaks(distinct, valid=50, test=50, seed=3)
    for side in (split.train, split.valid, split.test):
        assert 60 < sum(side) / len(side) < 140  # neither the corpus's head nor tail
        assert list(side) != sorted(side)


def test_a_gigantic_group_stays_in_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "LARGEST_GROUP", 20)
    hub: Pairs = [("Yes.", f"answer {number}") for number in range(100)]
    split = split_without_leaks(hub + distinct[:20], valid=9, test=10, seed=1)
    assert len(split.train) == 101
    assert split.dropped == 0


def test_holding_out_more_than_there_is_says_so() -> None:
    pairs = [("One.", "Uno."), ("One!", "¡Uno!"), ("Two.", "Dos.")]
    with pytest.raises(CorpusError) as raised:
        split_without_leaks(pairs, valid=1, test=1, seed=1)
    assert str(raised.value) == (
        "cannot hold out 1 validation and 1 test pairs: the 3 pairs form only 2 groups "
        "that share no sentence, and training needs one; hold out fewer"
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Let's go!", "let’s  GO."),
        ("¡Vamos!", "Vamos"),
        ("Straße", "STRASSE"),
        ("ﬁne", "Fine…"),
        ("cafe\u0301", "CAFÉ"),
        ("a\u200bb", "a b"),
    ],
)
def test_case_punctuation_and_blanks_tell_no_sentences_apart(
    one: str, two: str
) -> None:
    assert comparable(one) == comparable(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [("él", "el"), ("5 €", "5 $"), ("?!", "..."), ("की", "का"), ("", "!")],
)
def test_letters_signs_and_accents_do_tell_sentences_apart(one: str, two: str) -> None:
    assert comparable(one) != comparable(two)
