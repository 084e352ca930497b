import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text import sentences
from dragoman.text.sentences import split_line

DOCTOR = "  - Dr. Smith came at 5 p.m. yesterday. He left! See https://a.org/b. c?  "


def split(line: str) -> list[str]:
    return [piece.text for piece in split_line(line, "en") if piece.is_sentence]


# Half a surrogate pair is no text: no UTF-8 file can hold one.
@given(
    st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n"), max_size=80)
)
def test_pieces_are_the_line_and_sentences_have_no_blanks_around(line: str) -> None:
    pieces = split_line(line, "en")
    assert "".join(piece.text for piece in pieces) == line
    for piece in pieces:
        if piece.is_sentence:
            assert piece.text == piece.text.strip() != ""


@given(st.text(alphabet=st.sampled_from("aB. !?<b>/{x}1"), max_size=60))
def test_the_plain_splitter_keeps_every_character_too(line: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "has_splitter", lambda: False)
        assert "".join(piece.text for piece in split_line(line, "en")) == line


def test_abbreviations_end_no_sentence_and_list_marks_are_none(in_ci: bool) -> None:
    if not sentences.has_splitter():
        assert not in_ci, "sentencex is missing"
        pytest.skip("sentencex is not installed")
    assert split(DOCTOR)[:2] == ["Dr. Smith came at 5 p.m. yesterday.", "He left!"]
    assert split_line(DOCTOR, "en")[0].text == "  - "


def test_without_the_extra_sentences_end_at_full_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sentences, "has_splitter", lambda: False)
    assert split("1. One two. Three? «Four!» Five") == [
        "One two.",
        "Three?",
        "«Four!»",
        "Five",
    ]


def test_no_sentence_ends_within_a_variable() -> None:
    assert split("Hello {a. B}! Bye <i title='x. Y'>now</i>.")[-1].startswith("Bye <i")


def test_blank_lines_have_no_sentence() -> None:
    assert split("") == split("   ") == []
