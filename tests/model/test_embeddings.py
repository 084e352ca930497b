import math

import pytest
import torch
from torch import nn

from dragoman.model.dropout import Dropout
from dragoman.model.embeddings import Embed, token_embedding
from dragoman.model.positions import LearnedPositions, SinusoidalPositions


def test_an_embedding_is_its_scaled_row_plus_its_place() -> None:
    tokens, positions = token_embedding(9, 6), LearnedPositions(6, 20)
    embed = Embed(tokens, positions, dropout=0.0)
    words = torch.tensor([[4, 8, 8], [0, 5, 3]])
    for start in (0, 7):
        embedded = embed(words, start=start)
        assert embedded.shape == (2, 3, 6)
        for row in range(2):
            for column in range(3):
                torch.testing.assert_close(
                    embedded[row, column],
                    tokens.weight[words[row, column]] * math.sqrt(6)
                    + positions.table[start + column],
                )


def test_words_and_places_begin_about_equally_strong() -> None:
    embed = Embed(token_embedding(1000, 64), SinusoidalPositions(64), dropout=0.0)
    words = embed.tokens.weight.detach() * embed.scale
    places = embed.positions(0, 200)
    assert float(words.square().mean()) == pytest.approx(1.0, rel=0.05)
    assert float(places.square().mean()) == pytest.approx(0.5, rel=0.05)


def test_rows_begin_with_a_length_of_about_one() -> None:
    lengths = token_embedding(1000, 256).weight.norm(dim=1)
    assert float(lengths.detach().mean()) == pytest.approx(1.0, rel=0.02)


def test_dropout_falls_on_the_sum_of_word_and_place() -> None:
    embed = Embed(token_embedding(9, 64), SinusoidalPositions(64), dropout=0.5)
    words = torch.tensor([[4, 8, 8]])
    whole = embed.eval()(words)
    embed.train()
    torch.manual_seed(3)
    result = embed(words)
    torch.manual_seed(3)
    assert torch.equal(result, Dropout(0.5)(whole))
    assert 0 < int(result.eq(0).sum()) < result.numel()


def test_a_word_that_drops_out_leaves_its_place_and_the_others_as_they_are() -> None:
    embed = Embed(token_embedding(9, 64), SinusoidalPositions(64), 0.0, 0.25)
    words = torch.randint(0, 9, (100, 80))
    places = embed.positions(0, 80).expand(100, -1, -1)
    whole = embed.eval()(words)
    torch.manual_seed(3)
    result = embed.train()(words)
    known = (result == whole).all(dim=-1)
    assert torch.equal(result[~known], places[~known])
    assert float(known.float().mean()) == pytest.approx(0.75, abs=0.02)
    assert not torch.equal(known[0], known[1]), "each sentence has blanks of its own"
    assert torch.equal(embed.eval()(words), whole)


def test_a_blank_teaches_its_word_nothing() -> None:
    embed = Embed(token_embedding(9, 8), SinusoidalPositions(8), 0.0, 0.5).train()
    torch.manual_seed(3)
    words = torch.arange(9)[None]
    result = embed(words)
    blank = (result == embed.positions(0, 9)).all(dim=-1)[0]
    assert 0 < int(blank.sum()) < 9
    result.sum().backward()
    gradient = embed.tokens.weight.grad
    assert gradient is not None
    assert torch.equal(gradient.eq(0).all(dim=-1), blank)


def test_one_embedding_may_serve_two_places() -> None:
    tokens: nn.Embedding = token_embedding(9, 6)
    first = Embed(tokens, SinusoidalPositions(6), 0.0)
    second = Embed(tokens, SinusoidalPositions(6), 0.0)
    assert first.tokens.weight is second.tokens.weight
