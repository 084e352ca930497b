import random

from dragoman.inspection.word_alignment import align_words

LEXICON = {"a": "A", "b": "B", "c": "C", "d": "D", "e": "E", "f": "F"}


def test_a_lexicon_is_learned_from_sentences_alone() -> None:
    chance = random.Random(1)
    pairs = []
    for _ in range(200):
        source = chance.sample(sorted(LEXICON), 4)
        # The second and third word change places, as languages do.
        target = [LEXICON[source[i]].lower() + "'" for i in (0, 2, 1, 3)]
        pairs.append((source, target))
    aligned = align_words(pairs)
    assert all(places == [0, 2, 1, 3] for places in aligned)


def test_a_word_with_no_counterpart_is_left_alone() -> None:
    pairs = [([f"w{n}"], [f"v{n}", "the"]) for n in range(50)]
    pairs += [([f"w{n}", f"w{n + 1}"], [f"v{n}", f"v{n + 1}"]) for n in range(49)]
    aligned = align_words(pairs)
    assert [places[0] for places in aligned[:50]] == [0] * 50


def test_order_breaks_ties() -> None:
    assert align_words([(["x", "x", "x"], ["y", "y", "y"])]) == [[0, 1, 2]]


def test_nothing_aligns_with_nothing() -> None:
    assert align_words([]) == []
    assert align_words([(["a"], []), ([], ["b"])]) == [[], [None]]
