import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.number_formats import NumberFormats, places_of
from dragoman.text.spans import find_spans


def written(text: str, source: str = "en", target: str = "de") -> str:
    [span] = find_spans(text)
    return NumberFormats(source, target).write(span)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("1,234", "1.234"),
        ("1,234,567.89", "1.234.567,89"),
        ("$1,234.56", "$1.234,56"),
        ("3.5%", "3,5%"),
        ("-5.5°C", "-5,5°C"),
        ("3.5", "3.5"),  # may be a version
        ("1.2.3", "1.2.3"),
        ("12,34", "12,34"),  # no group of three
        ("2013-05-01", "2013-05-01"),
        ("10:30", "10:30"),
        ("25", "25"),
        ("+49 170 1234567", "+49 170 1234567"),
    ],
)
def test_only_what_can_be_nothing_else_is_rewritten(number: str, expected: str) -> None:
    assert written(number) == expected


def test_styles_go_both_ways_and_unknown_ones_change_nothing() -> None:
    assert written("1.234,56 €", "de", "en") == "1,234.56 €"
    assert written("1,234", "en", "fr") == "1\N{NO-BREAK SPACE}234"
    assert written("1,234", "source", "target") == "1,234"
    assert written("1,234", "en", "ja") == "1,234"


@given(st.integers(1000, 10**9), st.sampled_from(["de", "es", "fr", "ru", "en"]))
def test_no_digit_changes(number: int, target: str) -> None:
    new = written(f"{number:,}", target=target)
    assert [c for c in new if c.isdecimal()] == list(str(number))


def test_a_number_within_another_does_not_count() -> None:
    assert list(places_of("5", "15, 50, 1.5, 5.1 and 5.")) == [17 + 4]
    assert list(places_of("veinte", "Veinte o veintena")) == [0]
    assert list(places_of("$5", "$50 or $5")) == [7]
