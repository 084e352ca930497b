"""Every tag comes back exactly once, over the words that stand for its words."""

from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.documents.conftest import finished, identity, reverse, shout

from dragoman.documents.document import whole
from dragoman.documents.inline_tags import Translated
from dragoman.documents.markup import TagRules, parse_markup

PAIRS = ("b", "i", "em", "span", "a", "u", "sup")
SINGLES = ("<br>", "<img src='x'>", "<wbr/>", "<!-- a note -->")
BLANKS = (" ", "\n  ", "&nbsp;")


@st.composite
def fragments(draw: st.DrawFn, blanks: tuple[str, ...]) -> str:
    """Inline HTML in which every word and every tag is the only one of its kind."""
    counter = iter(range(1, 10_000))

    def words() -> str:
        parts = []
        for _ in range(draw(st.integers(1, 4))):
            word = f"word{next(counter)}q"
            parts.append(
                word + draw(st.sampled_from(("", "", " &amp;", ",", " &lt;b&gt;")))
            )
        return " ".join(parts)

    def content(depth: int) -> str:
        parts = []
        for _ in range(draw(st.integers(1, 4))):
            kind = draw(st.integers(0, 7 if depth < 5 else 3))
            if kind <= 3:
                parts.append(words())
            elif kind <= 5:
                name = draw(st.sampled_from(PAIRS))
                opening = f'<{name} id="{next(counter)}">'
                parts.append(f"{opening}{content(depth + 1)}</{name}>")
            elif kind == 6:
                parts.append(draw(st.sampled_from(SINGLES)))
            else:
                parts.append(f"<code>x = {next(counter)} &lt; y</code>")
            parts.append(draw(st.sampled_from(blanks)))
        return "".join(parts)

    return content(0)


class Reader(HTMLParser):
    """Notes the tags over each word, and checks that tags nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.over: dict[str, tuple[str, ...]] = {}
        self.tags: Counter[str] = Counter()
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        whole = self.get_starttag_text() or ""
        self.tags[whole] += 1
        if tag not in ("br", "img", "wbr"):
            self.stack.append(whole if attrs else tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.tags[self.get_starttag_text() or ""] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop().strip("<").startswith(tag)
        self.tags[f"</{tag}>"] += 1

    def handle_comment(self, data: str) -> None:
        self.tags[data] += 1

    def handle_data(self, data: str) -> None:
        self.text += data
        for word in data.split():
            for part in word.split("word"):
                if part[:1].isdigit():
                    name = part.partition("q")[0]
                    self.over[name] = tuple(self.stack)


many = settings(
    max_examples=2000,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)


@many
@given(fragments(BLANKS))  # a tag within a word would be torn apart
def test_words_keep_their_tags_when_their_order_is_turned_round(fragment: str) -> None:
    document = parse_markup(f"<p>{fragment}</p>", whole)
    done = finished(document, reverse)
    before, after = Reader(f"<p>{fragment}</p>"), Reader(done.text)
    assert after.tags == before.tags
    assert after.over == before.over
    assert not done.repairs


@many
@given(fragments(("", *BLANKS)))
def test_identity_gives_identical_bytes(fragment: str) -> None:
    document = parse_markup(fragment, whole)
    assert finished(document, identity).text == fragment


@many
@given(st.text(alphabet="<>/ab&;\"'= !-[]?x\n", max_size=80))
def test_whatever_markup_is_it_stays(text: str) -> None:
    document = parse_markup(text, whole)
    assert finished(document, identity).text == text


def test_changed_words_keep_their_tags_and_entities_stay_text() -> None:
    text = (
        "<p>one <b>two</b> &lt;script&gt;x&lt;/script&gt; <i>three &amp; four</i></p>"
    )
    document = parse_markup(text, whole)
    assert finished(document, shout).text == (
        "<p>ONE <b>TWO</b> &lt;SCRIPT&gt;X&lt;/SCRIPT&gt; <i>THREE &amp; FOUR</i></p>"
    )


def test_what_the_translation_invents_is_never_markup() -> None:
    document = parse_markup("<p>hello</p>", whole)
    [sentence] = document.sentences
    assert sentence.text == "hello"
    done = document.finish([Translated("a <script>", (0, None, None, None))])
    assert done.text == "<p>a &lt;script&gt;</p>"


def test_code_is_carried_over_and_a_lost_one_is_put_at_the_end() -> None:
    document = parse_markup("<p>Use <code>a < b</code> here</p>", whole)
    [sentence] = document.sentences
    assert sentence.text == 'Use <x id="1"/> here'
    done = document.finish([Translated("Hier verwenden", (2, 0))])
    assert done.text == "<p>Hier verwenden <code>a < b</code></p>"
    assert done.repairs == ("put at the end: <code>a < b</code>",)


def test_a_marker_that_comes_twice_is_left_out_once() -> None:
    document = parse_markup("<p>Use <code>x</code></p>", whole)
    done = document.finish([Translated('<x id="1"/> a <x id="1"/>', (1, 0, 1))])
    assert done.text == "<p><code>x</code> a </p>"
    assert done.repairs == ("an element came twice, and once was left out",)


def test_a_pair_without_words_is_kept_and_reported() -> None:
    document = parse_markup("<p>one <b>two</b></p>", whole)
    done = document.finish([Translated("eins", (0,))])
    assert Reader(done.text).tags == Reader("<p>one <b>two</b></p>").tags
    assert done.repairs == ("no words were found for <b>",)


def test_blocks_split_and_scripts_stay() -> None:
    text = (
        "<!doctype html><title>a page</title><script>if (a < b) {}</script>"
        "<ul><li>one<li>two <pre>keep me</pre></ul><p translate='no'>kept</p>"
        "<div>last <span class='x notranslate'>kept too</span></div>"
    )
    done = finished(parse_markup(text, whole), shout)
    assert done.text == (
        "<!doctype html><title>A PAGE</title><script>if (a < b) {}</script>"
        "<ul><li>ONE<li>TWO <pre>keep me</pre></ul><p translate='no'>kept</p>"
        "<div>LAST <span class='x notranslate'>kept too</span></div>"
    )


def test_a_tag_that_encloses_blocks_ends_segments() -> None:
    text = "<b>one<p>two</p>three</b> four"
    assert finished(parse_markup(text, whole), shout).text == (
        "<b>ONE<p>TWO</p>THREE</b> FOUR"
    )


def test_xml_carries_over_what_is_to_be_ignored() -> None:
    rules = TagRules(xml=True, ignored=frozenset({"x"}))
    document = parse_markup('Hi <x id="3"></x>, <g id="1">you</g>', whole, rules)
    [sentence] = document.sentences
    assert sentence.text == 'Hi <x id="1"/>, you'
    assert finished(document, identity).text == 'Hi <x id="3"></x>, <g id="1">you</g>'


@pytest.mark.parametrize(
    "text", ["<b>" * 3000 + "x", "<b>" * 2000 + "x" + "</b>" * 2000]
)
def test_deep_markup_is_worked_off(text: str) -> None:
    assert finished(parse_markup(text, whole), identity).text == text


def test_a_long_broken_tag_is_worked_off() -> None:
    text = '<a "' * 100_000 + ">"
    assert finished(parse_markup(text, whole), identity).text == text
