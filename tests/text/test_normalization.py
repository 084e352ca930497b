import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.normalization import normalize

lines = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))


@given(lines, st.sampled_from(["nfc", "nfkc", "none"]))
def test_normalizing_twice_is_normalizing_once(text: str, form: str) -> None:
    once = normalize(text, form)
    assert normalize(once, form) == once


@given(lines)
def test_none_changes_nothing(text: str) -> None:
    assert normalize(text, "none") == text


@given(lines)
def test_nfc_changes_blanks_and_nothing_else(text: str) -> None:
    def without_blanks(any_text: str) -> str:
        return "".join(c for c in any_text if c not in " \t\r\f\v")

    normal = normalize(text, "nfc")
    assert "  " not in normal
    assert normal == normal.strip(" \t\r\f\v")
    assert unicodedata.is_normalized("NFC", normal)
    assert without_blanks(normal) == without_blanks(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        (" a \t\r b\v\fc ", "nfc", "a b c"),
        ("a\rb", "nfc", "a b"),
        ("e\u0301", "nfc", "é"),
        ("10\u00a0km", "nfc", "10\u00a0km"),
        ("10\u00a0km", "nfkc", "10 km"),
        ("\ufb01ne", "nfc", "\ufb01ne"),
        ("\ufb01ne", "nfkc", "fine"),
        ("a\u2028b\u0085c", "nfc", "a\u2028b\u0085c"),
        ("\u3000a", "nfc", "\u3000a"),
    ],
)
def test_chosen_cases(text: str, form: str, expected: str) -> None:
    assert normalize(text, form) == expected
