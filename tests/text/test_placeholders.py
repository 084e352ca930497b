from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.config import TokenizerConfig
from dragoman.text.placeholders import MARKS, placeholder_ids, protect, restore
from dragoman.text.tokenizer import Tokenizer, learn_tokenizer

KINDS = ["bpe", "unigram", "characters", "words", "wordpiece"]
SPANS = [
    "<b>",
    "</b>",
    "<br/>",
    "{name}",
    "{{x}}",
    "%1$s",
    "%d",
    "12,345.67",
    "https://a.org/b",
    "me@a.org",
    *MARKS,
]
Learn = Callable[[str], Tokenizer]


def texts_with_spans() -> st.SearchStrategy[str]:
    part = st.one_of(st.sampled_from(SPANS), st.text(max_size=5), st.just(" "))
    return st.lists(part, max_size=25).map("".join)


@given(texts_with_spans())
def test_what_is_hidden_comes_back_where_it_was(text: str) -> None:
    protected = protect(text)
    assert restore(protected.text, protected.hidden) == text


@given(texts_with_spans())
def test_every_span_is_hidden_or_named_as_left(text: str) -> None:
    protected = protect(text)
    for mark in MARKS:
        hidden = sum(h.mark == mark for h in protected.hidden)
        assert protected.text.count(mark) == hidden
    if len(protected.hidden) < len(MARKS):
        assert not protected.left


def test_more_spans_than_marks_share_them_before_any_is_left() -> None:
    protected = protect("<br/> x " * 20)
    assert not protected.left
    assert {hidden.mark for hidden in protected.hidden} == {MARKS[0]}
    many = protect(" ".join(f"{{v{number}}}" for number in range(12)))
    assert len(many.hidden) == 9
    assert [span.text for span in many.left] == ["{v9}", "{v10}", "{v11}"]


@pytest.mark.parametrize(
    ("source", "translated", "restored"),
    [
        ("Click <b>here</b>.", "Haz clic ⟦1⟧ aquí ⟦2⟧.", "Haz clic <b>aquí</b>."),
        ("It is $1,000.", "Son ⟦1⟧.", "Son $1,000."),
        ("A 10-minute walk.", "Un paseo de ⟦1⟧ minutos.", "Un paseo de 10 minutos."),
        ("{n}x more", "⟦1⟧ x más", "{n}x más"),
        ("1.2.3 The", "⟦1⟧Los", "1.2.3 Los"),
        ("The 1.2.3", "Los⟦1⟧", "Los 1.2.3"),
        ("5 people came.", "⟦1⟧ 人が来た。", "5人が来た。"),
        ("About (1,000).", "Unos (unos ⟦1⟧).", "Unos (unos 1,000)."),
        ("About (1,000).", "Unos ( ⟦1⟧).", "Unos (1,000)."),
        ("<b>Where</b>", "⟦1⟧ ¿Dónde ⟦2⟧?", "<b>¿Dónde</b>?"),
        ("Hi {name}!", "¡Hola, ⟦1⟧ ⟦1⟧!", "¡Hola, {name} !"),
    ],
)
def test_spaces_follow_the_source(source: str, translated: str, restored: str) -> None:
    assert restore(translated, protect(source).hidden) == restored


@pytest.fixture(scope="module")
def learn_reserved(sentences: tuple[str, ...]) -> Learn:
    def learned(kind: str) -> Tokenizer:
        settings = TokenizerConfig(kind, 0, shared_vocabulary=True, sampling=0.0)
        return learn_tokenizer(settings, sentences, 700, seed=1, reserved=MARKS)

    return learned


@pytest.mark.parametrize("kind", KINDS)
def test_each_mark_is_one_token_of_every_tokenizer(
    kind: str, learn: Learn, learn_reserved: Learn
) -> None:
    tokenizer = learn_reserved(kind)
    ids = placeholder_ids(tokenizer)
    assert len(set(ids)) == len(MARKS)
    assert placeholder_ids(learn(kind)) == ()
    text = "Wo ist ⟦2⟧ , ⟦1⟧?"
    encoded = tokenizer.encode(text)
    assert [i for i in encoded if i in ids] == [ids[1], ids[0]]
    assert tokenizer.decode(encoded) == text


@pytest.mark.parametrize("kind", KINDS)
def test_a_mark_inside_a_word_is_plain_text(kind: str, learn_reserved: Learn) -> None:
    tokenizer = learn_reserved(kind)
    encoded = tokenizer.encode("Wasser⟦1⟧")
    assert not set(encoded) & set(placeholder_ids(tokenizer))
    assert tokenizer.decode(encoded) == "Wasser⟦1⟧"
