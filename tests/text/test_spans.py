import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.spans import Kind, find_spans, unpaired_tags


def texts(text: str) -> list[str]:
    return [span.text for span in find_spans(text)]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Click <b>here</b> now.", ["<b>", "</b>"]),
        ('<a href="x>y" hidden>Go</a><br/>', ['<a href="x>y" hidden>', "</a><br/>"]),
        ("a<!-- not this -->b", ["<!-- not this -->"]),
        ("Fish &amp; chips&#160;!", ["&amp;", "&#160;"]),
        ("Hello {name}, you have {0} of {n:.2f}.", ["{name}", "{0}", "{n:.2f}"]),
        (
            "Dear {{ user.name }}, ${price} %{x}",
            ["{{ user.name }}", "${price}", "%{x}"],
        ),
        (
            "You have {n, plural, one {# item} other {# items}}.",
            ["{n, plural, one {# item} other {# items}}"],
        ),
        (
            "%1$s of %s and %d: %5.2f, %(name)s",
            ["%1$s", "%s", "%d", "%5.2f", "%(name)s"],
        ),
        ("See https://example.org/a_(b)?q=1.", ["https://example.org/a_(b)?q=1"]),
        ("(www.example.org), or", ["www.example.org"]),
        ("Write to ann.lee@example.org!", ["ann.lee@example.org"]),
        ("It cost 1,234.56 in 1984 on 2013-05-01.", ["1,234.56", "1984", "2013-05-01"]),
        ("Pi is 3.14.", ["3.14"]),
        ("It says ⟦3⟧.", ["⟦3⟧"]),
        ("<b>{name}</b> left", ["<b>{name}</b>"]),
    ],
)
def test_what_must_survive_is_found_and_neighbours_are_one(
    text: str, spans: list[str]
) -> None:
    assert texts(text) == spans


@pytest.mark.parametrize(
    "text",
    [
        "I have 7 cats and 120 dogs.",
        "I am 100%sure, and 50% of us are.",
        "if a < b and c > d",
        "Salt & pepper; {two words} here.",
        "mp3, v2.10.3, the 1980s, 10.5kg",
        "me@home",
        "Hello.World",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert texts(text) == []


@given(st.text(alphabet=st.sampled_from("<>{}%@&;⟦1⟧ab.:/\"'=- "), max_size=60))
def test_spans_are_stretches_of_the_text_in_order(text: str) -> None:
    end = -1
    for span in find_spans(text):
        assert span.start > end
        assert span.text == text[span.start : span.end] != ""
        end = span.end


@pytest.mark.parametrize("unit", ["<a ", "{", "<a '", "a@", "%(", "1.", "&", "http://"])
def test_the_time_grows_with_the_length_alone(unit: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        find_spans(unit * count)
        return time.process_time() - start

    seconds(1000)
    assert seconds(20_000) < 40 * seconds(2_000) + 0.1


def test_the_kind_is_known() -> None:
    kinds = [span.kind for span in find_spans("<b> {x} a@b.org 12345 ⟦1⟧")]
    assert kinds == [
        Kind.TAG,
        Kind.VARIABLE,
        Kind.ADDRESS,
        Kind.NUMBER,
        Kind.MARK,
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("<b>a</b> <i>b<br>c</i> <img/>", 0),
        ("<b><i></b></i>", 2),
        ("</b>a<b>", 2),
        ("<p>open", 1),
        ("a < b > c", 0),
    ],
)
def test_tags_that_do_not_enclose_each_other_are_counted(text: str, count: int) -> None:
    assert unpaired_tags(text) == count
