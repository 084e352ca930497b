from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.text.cleaning import Pair
from dragoman.training import preparation_text
from dragoman.training.preparation_text import KeptText

# A line never holds a line feed, but every other kind of line break may occur in it.
lines = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"], exclude_characters="\n"),
        st.sampled_from("\r\x0b\x0c\x1c\x85\u2028\u2029"),
    )
)


def kept(folder: Path, pairs: list[Pair]) -> KeptText:
    text = KeptText(folder, "some")
    for pair in pairs:
        text.add(pair)
    text.finish()
    return text


def numbered(count: int) -> list[Pair]:
    return [Pair(3 * i + 1, f"source {i}", f"target {i}") for i in range(count)]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(lines, lines), max_size=9), st.integers(1, 40))
def test_pairs_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[str, str]],
    portion_bytes: int,
) -> None:
    pairs = [Pair(number, *sides) for number, sides in enumerate(texts, 1)]
    text = kept(tmp_path_factory.mktemp("text"), pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparation_text, "PORTION_BYTES", portion_bytes)
        portions = list(text.portions())
    read = [
        Pair(*fields)
        for portion in portions
        for fields in zip(portion.lines, portion.sources, portion.targets, strict=True)
    ]
    assert read == pairs
    assert len(text) == len(pairs)
    assert list(text.sample("source", 100, 1)) == [pair.source for pair in pairs]


def test_sample_is_a_part_in_order_and_the_same_for_both_sides(tmp_path: Path) -> None:
    pairs = numbered(1000)
    text = kept(tmp_path, pairs)
    sources = list(text.sample("source", 100, seed=1))
    places = [int(line.removeprefix("source ")) for line in sources]
    assert 60 < len(places) <= 100
    assert places == sorted(set(places))
    assert min(places) < 50
    assert max(places) > 950
    assert list(text.sample("target", 100, seed=1)) == [f"target {i}" for i in places]
    assert list(text.sample("source", 100, seed=2)) != sources


@pytest.mark.parametrize("most", [7, 8, 9, 10, 11])
def test_sample_is_never_larger_than_asked_for(tmp_path: Path, most: int) -> None:
    text = kept(tmp_path, numbered(10))
    for seed in range(20):
        sample = list(text.sample("source", most, seed))
        assert len(set(sample)) == len(sample) <= most


def test_deleting_leaves_nothing(tmp_path: Path) -> None:
    kept(tmp_path, numbered(3)).delete()
    assert list(tmp_path.iterdir()) == []
