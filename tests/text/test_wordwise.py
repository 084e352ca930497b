"""The laws of encoding and decoding that every kind of tokenizer keeps."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.special_tokens import BEGIN, END, NAMES, PAD, UNKNOWN
from dragoman.text import wordwise
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.wordwise import WordwiseTokenizer

Learn = Callable[[str], Tokenizer]

KINDS = ("bpe", "unigram", "characters", "words", "wordpiece")
every_kind = pytest.mark.parametrize("kind", KINDS)

hard_parts = st.sampled_from(
    [
        *NAMES,
        *(
            " ",
            "  ",
            "\t",
            "\r",
            "\0",
            "\u00a0",
            "\u2028",
            "\u0085",
            "\u3000",
            "\ufeff",
        ),
        *("▁", "▁▁", "▅", "‿", "##", "#", "⁇", "<0x41>", "<0xE2>", "\ufffd", "Ġ"),
        *("library", "theatre", "Kaffee", "Wasser,", "dr\u00fcben", "dru\u0308ben"),
        *("🙂", "👩‍👩‍👧", "🇪🇸", "日本語", "ไทย", "עברית", "नमस्ते", "ᚠᚢᚦ", "\U0010ffff"),
    ]
)
lines = st.lists(
    hard_parts
    | st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])),
    max_size=12,
).map("".join)


@every_kind
@given(text=lines)
@example(text="")
@example(text=" ")
@example(text="▁")
@example(text=" ▁ ")
@example(text="</s>")
@example(text="x" * 3000)
@example(text="語" * 500)
def test_decoding_what_was_encoded_gives_the_text(
    learn: Learn, kind: str, text: str
) -> None:
    tokenizer = learn(kind)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert all(len(NAMES) <= i < tokenizer.vocabulary_size for i in ids)


@every_kind
@given(texts=st.lists(lines, max_size=5))
def test_many_are_encoded_as_each_one_is(
    learn: Learn, kind: str, texts: list[str]
) -> None:
    tokenizer = learn(kind)
    assert tokenizer.encode_many(texts) == [tokenizer.encode(text) for text in texts]


@every_kind
def test_special_ids_are_passed_over(learn: Learn, kind: str) -> None:
    tokenizer = learn(kind)
    ids = tokenizer.encode("Where is the library?")
    framed = [BEGIN, *ids[:2], PAD, *ids[2:], END, PAD, PAD]
    assert tokenizer.decode(framed) == "Where is the library?"
    assert tokenizer.decode([UNKNOWN]) == "⁇"
    assert tokenizer.decode([]) == ""
    assert tokenizer.pieces([PAD, UNKNOWN, BEGIN, END]) == list(NAMES)


@every_kind
@given(data=st.data())
def test_any_ids_decode_to_some_text(
    learn: Learn, kind: str, data: st.DataObject
) -> None:
    tokenizer = learn(kind)
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocabulary_size - 1)))
    tokenizer.decode(ids).encode("utf-8")
    assert len(tokenizer.pieces(ids)) == len(ids)


@every_kind
def test_every_id_has_a_readable_piece(learn: Learn, kind: str) -> None:
    tokenizer = learn(kind)
    pieces = tokenizer.pieces(range(tokenizer.vocabulary_size))
    assert all(piece and not piece.isspace() for piece in pieces)
    assert tokenizer.pieces([]) == []


@every_kind
def test_known_words_begin_with_a_mark(learn: Learn, kind: str) -> None:
    tokenizer = learn(kind)
    pieces = tokenizer.pieces(tokenizer.encode("the library"))
    assert "".join(pieces).replace("##", "") == "▁the▁library"
    if kind != "characters":
        assert pieces[0] == "▁the"


@every_kind
def test_half_a_surrogate_pair_becomes_a_replacement_character(
    learn: Learn, kind: str
) -> None:
    tokenizer = learn(kind)
    assert tokenizer.decode(tokenizer.encode("a \ud800b")) == "a \ufffdb"


@every_kind
def test_results_belong_to_the_caller(learn: Learn, kind: str) -> None:
    tokenizer = learn(kind)
    first = tokenizer.encode("theatre")
    expected = list(first)
    first.append(99)
    assert tokenizer.encode("theatre") == expected


class Counting(WordwiseTokenizer):
    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__("counting", [b""] * 4 + [bytes([b]) for b in range(256)])

    def _encode_word(self, word: str) -> list[int]:
        self.asked.append(word)
        return [byte + 4 for byte in f" {word}".encode()]


def test_a_word_is_worked_out_once_unless_it_is_long() -> None:
    tokenizer = Counting()
    long = "x" * 100
    tokenizer.encode_many(["a b a", "b a", f"{long} {long}"])
    assert tokenizer.asked == ["a", "b", long, long]


def test_the_memory_for_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordwise, "_MOST_WORDS", 3)
    tokenizer = Counting()
    for text in ("a b c", "a b c", "d", "a"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.asked == ["a", "b", "c", "d", "a"]
