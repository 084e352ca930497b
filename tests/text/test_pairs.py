from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.pairs import SHOWN_CHARACTERS, Reason, reject, shown


@given(st.binary(max_size=2000) | st.text(max_size=2000))
def test_what_is_shown_is_one_short_printable_column(text: bytes | str) -> None:
    result = shown(text)
    assert len(result) <= SHOWN_CHARACTERS
    assert len(result.splitlines()) <= 1
    assert not set(result) & {"\t", "\r", "\n", "\0", "\u2028", "\u0085"}
    result.encode("utf-8")


def test_short_clean_text_is_shown_as_it_is() -> None:
    assert shown("Grüße, 世界 🙂") == "Grüße, 世界 🙂"
    assert shown("Grüße, 世界 🙂".encode()) == "Grüße, 世界 🙂"


def test_bad_bytes_and_controls_are_escaped() -> None:
    assert shown(b"a\xffb\0c\td") == r"a\xffb\x00c\td"


def test_long_text_ends_in_an_ellipsis_and_breaks_no_character() -> None:
    result = shown(("🙂" * 1000).encode())
    assert result == "🙂" * (SHOWN_CHARACTERS - 1) + "…"


def test_a_reject_keeps_line_reason_and_both_sides() -> None:
    rejected = reject(7, Reason.NUL, b"a\0", b"b")
    assert (rejected.line, rejected.reason) == (7, "contains NUL")
    assert (rejected.source, rejected.target) == (r"a\x00", "b")
