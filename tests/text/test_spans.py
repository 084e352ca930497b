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
        ("I have 7 cats and 120 dogs.", ["7", "120"]),
        ("I am 100%sure, and 50% of us are.", ["100%", "50%"]),
        ("mp3, v2.10.3, the 1980s, 10.5kg", ["mp3", "v2.10.3", "1980", "10.5kg"]),
        ("{% if x %}Hi{% end %} {# a #}", ["{% if x %}", "{% end %}", "{# a #}"]),
        ("3.14 %1$s, 50 %", ["3.14", "%1$s", "50 %"]),
        ("Set $HOME now", ["$HOME"]),
        (r"Open C:\Users\me now", [r"C:\Users\me"]),
        ("See /usr/share/doc, ~/x/y now", ["/usr/share/doc", "~/x/y"]),
        ("Run `make test` or ```a\nb```.", ["`make test`", "```a\nb```"]),
        ("Ask @user_1, not me@home.", ["@user_1"]),
        ("the my_var and report_2.pdf.", ["my_var", "report_2.pdf"]),
        ("-5°C, 20 °F, 7°", ["-5°C", "20 °F", "7°"]),
        ("3/4 of it, 10–12 of 10-12", ["3/4", "10–12", "10-12"]),
        ("$5, US$5.50, 30 €, -$3, £20", ["$5", "US$5.50", "30 €", "-$3", "£20"]),
        ("at 2:30, 10:30:15, 7pm", ["2:30", "10:30:15", "7"]),
        ("on 5/12/2024 or 2024-12-05", ["5/12/2024", "2024-12-05"]),
        ("the 1st, 2nd and 25th", ["1", "2", "25"]),
        ("Call +49 170 1234567!", ["+49 170 1234567"]),
        ("Call (030) 123-4567 or 555-123-4567", ["(030) 123-4567", "555-123-4567"]),
        ("10 000 and 1 234,5", ["10 000", "1 234,5"]),
        ("MP3, A4, G-7, 3D, 4x4, CO2", ["MP3", "A4", "G-7", "3D", "4x4", "CO2"]),
        ("5km/h, 16GB, 3.5kg, .08", ["5km/h", "16GB", "3.5kg", ".08"]),
        ("第3章に5人", ["3", "5"]),
        ("a 10-minute walk", ["10"]),
    ],
)
def test_what_must_survive_is_found_and_neighbours_are_one(
    text: str, spans: list[str]
) -> None:
    assert texts(text) == spans


@pytest.mark.parametrize(
    "text",
    [
        "if a < b and c > d",
        "Salt & pepper; {two words} here.",
        "and/or, he/she",
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


@pytest.mark.parametrize(
    "unit",
    ["<a ", "{", "<a '", "a@", "%(", "1.", "&", "http://", "a_", "`", "/a", "1 ", "A1"],
)
def test_the_time_grows_with_the_length_alone(unit: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        find_spans(unit * count)
        return time.process_time() - start

    seconds(1000)
    assert seconds(20_000) < 40 * seconds(2_000) + 0.1


def test_the_kind_is_known() -> None:
    kinds = [span.kind for span in find_spans("<b> {x} a@b.org 12345 ⟦1⟧ `x`")]
    assert kinds == [
        Kind.TAG,
        Kind.VARIABLE,
        Kind.ADDRESS,
        Kind.NUMBER,
        Kind.MARK,
        Kind.CODE,
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


@given(st.text(alphabet=st.sampled_from("0123456789 .,:-/$%°CaxK+()"), max_size=40))
def test_every_digit_is_in_a_span(text: str) -> None:
    spans = find_spans(text)
    for place, character in enumerate(text):
        if character.isdecimal():
            assert any(span.start <= place < span.end for span in spans)
