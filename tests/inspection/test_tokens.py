from typing import Any

import pytest
import torch

from dragoman.inspection.inspection import Inspection
from dragoman.inspection.tokens import (
    BEGIN_SIGN,
    END_SIGN,
    make_tokens,
    merge_attention,
)
from dragoman.special_tokens import BEGIN, END
from dragoman.translator import Translator


class Spelled:
    """A tokenizer whose pieces are those it is given."""

    def __init__(self, *pieces: str) -> None:
        self.listed = ("<pad>", "<unk>", "<s>", "</s>", *pieces)

    def pieces(self, ids: list[int]) -> list[str]:
        return [self.listed[i] for i in ids]

    def decode(self, ids: list[int]) -> str:
        text = "".join(self.listed[i].removeprefix("##") for i in ids if i > 3)
        return text.replace("▁", " ").removeprefix(" ")


def words(*pieces: str) -> list[str]:
    tokenizer: Any = Spelled(*pieces)
    tokens = make_tokens(tokenizer, [BEGIN, *range(4, 4 + len(pieces)), END])
    starts = [word.start for word in tokens.words]
    ends = [word.end for word in tokens.words]
    assert starts == [0, *ends[:-1]]  # each piece belongs to exactly one word
    assert ends[-1] == len(tokens)
    texts = [word.text for word in tokens.words]
    assert (texts[0], texts[-1]) == (BEGIN_SIGN, END_SIGN)
    return texts[1:-1]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (("▁My", "▁sis", "ter"), ["My", "sister"]),
        (("▁the", "▁sea", "."), ["the", "sea", "."]),
        (("▁the", "▁s", "ea", "...", "!"), ["the", "sea", "...!"]),
        (("▁", "¿", "Dón", "de", "▁es", "tá", "?"), ["¿", "Dónde", "está", "?"]),
        (("▁¿", "Dónde"), ["¿", "Dónde"]),
        (("▁did", "n", "'", "t", "▁go"), ["didn't", "go"]),
        (("▁", "x", "▁-", "▁y"), ["x", "-", "y"]),
        (("▁wal", "##king", "##!"), ["walking", "!"]),
        (("▁日本", "語", "です", "。"), ["日本", "語", "です", "。"]),
        ((), []),
    ],
)
def test_pieces_become_words(pieces: tuple[str, ...], expected: list[str]) -> None:
    assert words(*pieces) == expected


def test_words_spell_the_sentence(toy: Translator) -> None:
    sentence = "My sister's house (near the sea) isn't small, is it?"
    ids = toy.tokenizers.source.encode(sentence)
    found = make_tokens(toy.tokenizers.source, ids).words
    assert "".join(word.text for word in found) == sentence.replace(" ", "")


def test_attention_to_a_word_is_a_sum_and_from_a_word_a_mean(seen: Inspection) -> None:
    weights = seen.attention("cross")
    merged = merge_attention(weights, seen.target_out, seen.source)
    rows, columns = seen.target_out.words, seen.source.words
    assert merged.shape[-2:] == (len(rows), len(columns))
    assert len(columns) < len(seen.source)
    torch.testing.assert_close(merged.sum(dim=-1), torch.ones(merged.shape[:-1]))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            block = weights[..., row.start : row.end, column.start : column.end]
            expected = block.sum(dim=-1).mean(dim=-1)
            torch.testing.assert_close(merged[..., i, j], expected)
