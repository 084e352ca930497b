from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.long_sentences import split_long
from dragoman.text.placeholders import protect


@given(st.text(max_size=200), st.integers(1, 40))
def test_every_character_is_kept_and_every_part_fits(text: str, limit: int) -> None:
    parts = split_long(text, lambda part: len(part) <= limit)
    assert "".join(part.text + part.gap for part in parts) == text
    assert all(len(part.text) <= limit or len(part.text) < 2 for part in parts)
    assert all(not part.gap or part.gap.isspace() for part in parts)


def test_what_fits_is_one_part() -> None:
    [part] = split_long("Good morning!", lambda _: True)
    assert part.text == "Good morning!"


def test_it_is_cut_after_sentences_then_commas_then_words() -> None:
    def cut(text: str) -> list[str]:
        parts = split_long(text, lambda part: len(part) <= 20)
        return [part.text for part in parts]

    assert cut("One two three. Four, five six.") == [
        "One two three.",
        "Four, five six.",
    ]
    assert cut("One two three four, five six") == ["One two three four,", "five six"]
    assert cut("One two three four five six") == ["One two three", "four five six"]


def test_no_cut_goes_through_a_tag_or_an_address() -> None:
    text = 'x <a href="a, b, c, d, e, f">y</a> https://example.org/a,b,c.d z'
    parts = [
        part.text
        for part in split_long(text, lambda part: len(protect(part).text) < 10)
    ]
    assert any('<a href="a, b, c, d, e, f">' in part for part in parts)
    assert any("https://example.org/a,b,c.d" in part for part in parts)
